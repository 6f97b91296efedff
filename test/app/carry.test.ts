import { describe, expect, test } from 'vitest';
import { collapsing, gridFile, ids, judged, longFile, longSource, sourceOf, world } from '../support/world.ts';

const usage = { code: 'usage', exit: 64 };
const folder = (keys: object = {}) => ({ sources: { sales: longSource('in/*.csv', keys) } });
const summed = { sources: { sales: collapsing('sum', 'in/*.csv') } };
const one = longFile({ A: { '2026-01': 1 }, shared: { '2026-01': 10 } });
const two = longFile({ B: { '2026-01': 2 }, shared: { '2026-01': 20 } });
const files = { 'in/1.csv': one, 'in/2.csv': two };
const unchanged = { exit: 0, outcome: 'unchanged' };

describe('a part that disappears', () => {
  test('is carried: said once by the exit code, and by status until it is forgotten', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.plan()).toMatchObject(judged(3, 'sales', { carried: ['in/1.csv'] }));
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    expect(await w.status()).toMatchObject({ sources: [{ carried: ['in/1.csv'] }] });
    expect(w.drivers()).toHaveLength(3);
    expect(await w.forget('sales', 'in/1.csv')).toMatchObject({ changes: { drivers: { delete: 1 } } });
    expect(w.drivers()).toHaveLength(3);
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ B: { '2026-01': '2' }, shared: { '2026-01': '20' } });
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('is carried no more when it is back, changed or not', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.write('in/1.csv', longFile({ A: { '2026-01': 5 } }));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(w.points()).toMatchObject({ A: { '2026-01': '5' }, shared: { '2026-01': '20' } });
  });

  test('is not forgotten while it is there, nor what was never there', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await expect(w.forget('sales')).rejects.toMatchObject(usage);
    await expect(w.forget('sales', 'in/2.csv')).rejects.toMatchObject(usage);
    await expect(w.forget('nobody')).rejects.toMatchObject(usage);
    await w.remove('in/1.csv');
    await w.sync();
    await expect(w.forget('sales', 'in/2.csv')).rejects.toMatchObject(usage);
  });

  test('is forgotten with all others of its source where none is named', async () => {
    await using w = await world({ config: folder(), files: { ...files, 'in/3.csv': gridFile(['C']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.remove('in/3.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { carried: ['in/1.csv', 'in/3.csv'] }));
    await w.forget('sales');
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(Object.keys(w.points())).toEqual(['B', 'shared']);
  });

  test('is all that is forgotten with it: a part that goes later stays', async () => {
    await using w = await world({ config: folder(), files: { ...files, 'in/3.csv': gridFile(['C']) } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.forget('sales');
    // So the request waits for a read, which finds the other one gone too.
    await w.loseBuffer();
    await w.remove('in/3.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { carried: ['in/3.csv'] }));
    expect(Object.keys(w.points())).toEqual(['B', 'C', 'shared']);
  });

  test('is all that is forgotten of its source where that leaves the config meanwhile', async () => {
    const other = { other: longSource('other.csv') };
    await using w = await world({
      config: { sources: { ...folder().sources, ...other } },
      files: { ...files, 'other.csv': gridFile(['O']) },
    });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    expect(await w.forget('sales')).toMatchObject({ changes: { drivers: { delete: 1 } } });
    await w.reconfigure({ sources: other });
    expect(await w.sync()).toMatchObject(
      judged(4, 'sales', { state: 'held', reason: 'the source left the config and 2 drivers would be deleted' }),
    );
    expect(Object.keys(w.points())).toEqual(['B', 'O', 'shared']);
  });

  test('is all that is forgotten of its source where that gets another name meanwhile', async () => {
    await using w = await world({
      config: folder(),
      files: { 'in/1.csv': one, 'in/2.csv': gridFile(ids(1, 10)) },
    });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.forget('sales');
    await w.reconfigure({ sources: { revenue: longSource('in/*.csv') } });
    await w.write('in/2.csv', gridFile(ids(1, 4)));
    expect((await w.sync()).exit).toBe(4);
    expect(w.points()).toMatchObject(Object.fromEntries(ids(1, 10).map((id) => [id, { '2026-01': '1' }])));
  });

  test('says so again when another one goes', async () => {
    await using w = await world({ config: folder(), files: { ...files, 'in/3.csv': gridFile(['C']) } });
    await w.sync();
    await w.remove('in/1.csv');
    expect((await w.sync()).exit).toBe(3);
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { carried: ['in/1.csv', 'in/2.csv'] }));
    expect(w.drivers()).toHaveLength(4);
  });

  test('that was forgotten stays forgotten where its source was not read then', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    await w.forget('sales', 'in/1.csv');
    await w.write('in/2.csv', '');
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged', push: { drivers: 2 } });
    await w.write('in/2.csv', two);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(w.drivers()).toHaveLength(2);
  });

  test('is explained by the part that it was', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.sync();
    expect(await w.explain('A')).toMatchObject({ points: [{ part: 'in/1.csv', value: '1' }] });
  });

  test('is deleted with removed: delete, as far as the guard lets it', async () => {
    const many = {
      'in/1.csv': gridFile(ids(1, 20)),
      'in/2.csv': gridFile(ids(21, 25)),
      'in/3.csv': gridFile(ids(26, 40)),
    };
    await using w = await world({ config: folder({ removed: 'delete' }), files: many });
    await w.sync();
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { state: 'accepted' }), push: { drivers: 35 } });
    await w.remove('in/3.csv');
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
    expect(w.drivers()).toHaveLength(35);
  });

  test('is not read where it was the last one that the glob matches', async () => {
    await using w = await world({ config: folder(), files: { 'in/1.csv': one } });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { state: 'unread' }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ exit: 3 });
  });

  test('was renamed where a new one has its content: nothing is carried', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/9.csv', one);
    expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
    expect(w.points()).toMatchObject({ shared: { '2026-01': '30' } });
  });

  test('was not renamed where another one with the same content was', async () => {
    await using w = await world({ config: summed, files: { 'in/1.csv': one, 'in/2.csv': one } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.remove('in/2.csv');
    await w.write('in/9.csv', one);
    const report = await w.sync();
    expect(report.outcome).toBe('unchanged');
    expect(sourceOf(report, 'sales').carried).toHaveLength(1);
    expect(w.points()).toMatchObject({ shared: { '2026-01': '20' } });
  });

  test('was renamed also where a pass came between', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { carried: ['in/1.csv'] }));
    await w.write('in/9.csv', one);
    expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
  });

  test('is carried beside a new one, where the last reading wins', async () => {
    await using w = await world({ config: folder(), files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', longFile({ C: { '2026-01': 3 } }));
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'acknowledged' });
    expect(Object.keys(w.points())).toEqual(['A', 'B', 'C', 'shared']);
  });
});

describe('a sum, an average or a count', () => {
  const corrected = longFile({ A: { '2026-01': 1 }, shared: { '2026-01': 11 } });

  test('carries a part that disappears, and takes a new one', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    await using other = await world({ config: summed, files });
    await other.sync();
    await other.write('in/3.csv', two);
    expect(await other.sync()).toMatchObject({ exit: 0 });
    expect(other.points()).toMatchObject({ shared: { '2026-01': '50' } });
  });

  test.each(['sum', 'average', 'count'])('is held where a part disappears and another comes: %s', async (rule) => {
    await using w = await world({ config: { sources: { sales: collapsing(rule, 'in/*.csv') } }, files });
    await w.sync();
    const before = w.points();
    await w.remove('in/1.csv');
    await w.write('in/1-corrected.csv', corrected);
    expect(await w.sync()).toMatchObject({ ...judged(4, 'sales', { state: 'held' }), outcome: 'unchanged' });
    expect(await w.sync()).toMatchObject({ ...judged(4, 'sales', { state: 'held' }), outcome: 'unchanged' });
    expect(w.points()).toEqual(before);
  });

  test('is not held where what disappears is not carried', async () => {
    const sources = { sales: collapsing('sum', 'in/*.csv', { removed: 'delete' }) };
    await using w = await world({ config: { sources }, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/1-corrected.csv', corrected);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ shared: { '2026-01': '31' } });
  });

  test('is not held where only the newest part counts', async () => {
    const sources = { sales: collapsing('sum', 'in/*.csv', { parts: 'newest' }) };
    await using w = await world({ config: { sources }, files: { 'in/1.csv': one } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/2.csv', corrected);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { state: 'accepted', carried: [] }));
    expect(w.points()).toMatchObject({ shared: { '2026-01': '11' } });
  });

  test('is right once the part that is gone is forgotten', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/1-corrected.csv', corrected);
    await w.sync();
    await w.forget('sales', 'in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '2' }, shared: { '2026-01': '31' } });
  });

  test('says what is deleted when the part of a held read is forgotten', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', longFile({ C: { '2026-01': 3 } }));
    await w.sync();
    expect(await w.forget('sales', 'in/1.csv')).toMatchObject({ changes: { drivers: { delete: 1 } } });
    await w.sync();
    expect(w.points()).toEqual({ B: { '2026-01': '2' }, C: { '2026-01': '3' }, shared: { '2026-01': '20' } });
  });

  test('counts both where that is approved', async () => {
    await using w = await world({ config: summed, files });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', corrected);
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ shared: { '2026-01': '41' } });
    expect(await w.sync()).toMatchObject(unchanged);
  });
});

describe('with parts: newest', () => {
  const newest = folder({ parts: 'newest' });
  const at = (day: string) => new Date(`2026-03-${day}T00:00:00Z`);
  const older = longFile({ A: { '2026-01': 1 } });
  const newer = longFile({ A: { '2026-01': 2 }, B: { '2026-01': 2 } });

  /** The older one has the later name. */
  async function exports() {
    const w = await world({ config: newest });
    await w.write('in/z-older.csv', older, at('01'));
    await w.write('in/a-newer.csv', newer, at('02'));
    expect(await w.sync()).toMatchObject({ exit: 0, push: { drivers: 2 } });
    return w;
  }

  test('only the newest file counts', async () => {
    await using w = await exports();
    expect(w.points()).toEqual({ A: { '2026-01': '2' }, B: { '2026-01': '2' } });
    await w.write('in/m.csv', longFile({ A: { '2026-01': 3 }, B: { '2026-01': 3 } }), at('03'));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { parts: 1, carried: [] }));
    expect(w.points()).toEqual({ A: { '2026-01': '3' }, B: { '2026-01': '3' } });
  });

  test('an old file that was only touched changes nothing', async () => {
    await using w = await exports();
    await w.write('in/m.csv', newer.replace('A,2026-01,2', 'A,2026-01,7'), at('03'));
    await w.sync();
    await w.write('in/a-newer.csv', newer, at('09'));
    expect(await w.sync()).toMatchObject(unchanged);
    expect(await w.sync()).toMatchObject(unchanged);
    expect(w.points()).toMatchObject({ A: { '2026-01': '7' } });
  });

  test('an old file that was touched and was never the newest changes nothing', async () => {
    await using w = await exports();
    await w.write('in/z-older.csv', older, at('09'));
    expect(await w.sync()).toMatchObject(unchanged);
    expect(w.points()).toEqual({ A: { '2026-01': '2' }, B: { '2026-01': '2' } });
  });

  test('an old file that was written anew is the newest', async () => {
    await using w = await exports();
    await w.write('in/z-older.csv', longFile({ A: { '2026-01': 5 }, B: { '2026-01': 5 } }), at('09'));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ A: { '2026-01': '5' }, B: { '2026-01': '5' } });
  });

  test('what was seen while the clock was ahead hides nothing that comes once it is right', async () => {
    await using w = await exports();
    w.clock.jump(7 * 3_600_000);
    await w.write('in/m.csv', longFile({ A: { '2026-01': 3 }, B: { '2026-01': 3 } }), w.clock.now());
    await w.sync();
    w.clock.jump(-7 * 3_600_000);
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '3' }, B: { '2026-01': '3' } });
    w.clock.jump(60_000);
    await w.write('in/n.csv', longFile({ A: { '2026-01': 4 }, B: { '2026-01': 4 } }), w.clock.now());
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '4' }, B: { '2026-01': '4' } });
    // Also one that is written anew as it was then.
    await w.write('in/m.csv', longFile({ A: { '2026-01': 3 }, B: { '2026-01': 3 } }), w.clock.now());
    await w.sync();
    w.clock.jump(60_000);
    await w.write('in/o.csv', longFile({ A: { '2026-01': 5 }, B: { '2026-01': 5 } }), w.clock.now());
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '5' }, B: { '2026-01': '5' } });
  });

  test('the newest one that was touched changes nothing either', async () => {
    await using w = await exports();
    await w.write('in/a-newer.csv', newer, at('09'));
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('the newest one that is gone is carried until a newer one comes', async () => {
    await using w = await exports();
    await w.remove('in/a-newer.csv');
    expect(await w.sync()).toMatchObject({
      ...judged(3, 'sales', { carried: ['in/a-newer.csv'] }),
      outcome: 'unchanged',
    });
    expect(await w.sync()).toMatchObject(unchanged);
    await w.write('in/b.csv', longFile({ A: { '2026-01': 4 }, B: { '2026-01': 4 } }), at('03'));
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(w.points()).toEqual({ A: { '2026-01': '4' }, B: { '2026-01': '4' } });
  });

  test('the newest one that is forgotten gives way to the one before', async () => {
    await using w = await exports();
    await w.remove('in/a-newer.csv');
    await w.sync();
    await w.forget('sales', 'in/a-newer.csv');
    await w.sync();
    expect(w.points()).toEqual({ A: { '2026-01': '1' } });
  });

  test('the newest one that is gone is carried also where the buffer was lost', async () => {
    await using w = await exports();
    await w.remove('in/a-newer.csv');
    await w.sync();
    await w.loseBuffer();
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', sources: [{ carried: ['in/a-newer.csv'] }] });
    expect(w.points()).toMatchObject({ A: { '2026-01': '2' } });
  });

  test('an old one that is gone is nothing', async () => {
    await using w = await exports();
    await w.remove('in/z-older.csv');
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('is judged like any other read', async () => {
    await using w = await exports();
    await w.write('in/b.csv', longFile({ C: { '2026-01': 4 } }), at('03'));
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
  });
});
