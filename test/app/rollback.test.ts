import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { collapsing, gridFile, ids, judged, longFile, longSource, sourceOf, world } from '../support/world.ts';

const config = { sources: { sales: longSource('in/*.csv') } };
const usage = { code: 'usage', exit: 64 };

/** Two pushes: A and B, then A changed and C beside them. */
async function pushed() {
  const w = await world({ config, files: { 'in/1.csv': longFile({ A: { '2026-01': '1.50' }, B: { '2026-01': 1 } }) } });
  const first = (await w.sync()).push;
  await w.write('in/1.csv', longFile({ A: { '2026-01': 2 }, B: { '2026-01': 1 }, C: { '2026-01': 1 } }));
  const second = (await w.sync()).push;
  return Object.assign(w, { first: first?.id ?? NaN, second: second?.id ?? NaN, digest: first?.digest });
}

describe('rollback', () => {
  test('pushes an acknowledged snapshot again, byte for byte', async () => {
    await using w = await pushed();
    const before = w.requests().at(-1)?.sha256;
    expect(await w.rollback(w.first)).toMatchObject({ outcome: 'acknowledged', push: { digest: w.digest } });
    expect(w.requests()[0]?.sha256).toBe(before);
    expect(w.points()).toEqual({ A: { '2026-01': '1.50' }, B: { '2026-01': '1' } });
  });

  test('stops the daemon from pushing anything else, across restarts, and status says so', async () => {
    await using w = await pushed();
    await w.rollback(w.first);
    const sent = w.requests().length;
    await w.write('in/1.csv', longFile({ A: { '2026-01': 9 }, B: { '2026-01': 9 } }));
    for (const push of ['ifNeeded', 'ifNeeded', 'no'] as const) {
      expect((await w.sync({ resume: false, push })).outcome).toBe('blocked');
    }
    expect(w.requests()).toHaveLength(sent);
    const status = await w.status();
    expect(status.rolledBackTo).toBe(w.first);
    expect(status.blocked?.reason).toMatch(/rolled back/);
  });

  test('is over with the next sync, which takes the sources as they are', async () => {
    await using w = await pushed();
    await w.rollback(w.first);
    await w.sync({ resume: false });
    expect(await w.plan()).toMatchObject({ exit: 2, changes: { drivers: { create: 1, update: 1, delete: 0 } } });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(w.points()).toEqual({ A: { '2026-01': '2' }, B: { '2026-01': '1' }, C: { '2026-01': '1' } });
    expect((await w.status()).rolledBackTo).toBeUndefined();
    expect(await w.sync({ resume: false })).toMatchObject({ outcome: 'unchanged', exit: 0 });
  });

  test('makes later reads be judged against what the service then holds', async () => {
    await using w = await world({ config, files: { 'in/1.csv': gridFile(ids(1, 40)) } });
    const first = (await w.sync()).push?.id ?? NaN;
    await w.write('in/1.csv', gridFile(ids(21, 40)));
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', push: { drivers: 20 } });
    await w.rollback(first);
    expect(w.drivers()).toHaveLength(40);
    const report = await w.sync();
    expect(report).toMatchObject({ ...judged(4, 'sales', { state: 'held' }), outcome: 'unchanged' });
    expect(sourceOf(report, 'sales').changes.drivers.delete).toBe(20);
    expect(w.drivers()).toHaveLength(40);
  });

  test('takes deletes back: they do not count for those of the next 24 hours', async () => {
    const rows = (count: number): string => gridFile(ids(1, count));
    await using w = await world({ config: { sources: { a: longSource('a.csv') } }, files: { 'a.csv': rows(60) } });
    await w.sync();
    w.clock.jump(1000);
    await w.write('a.csv', rows(54));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.rollback(1);
    expect(w.drivers()).toHaveLength(60);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(54);
    await w.write('a.csv', rows(48));
    expect(sourceOf(await w.sync(), 'a').reason).toMatch(/after 6 in the last 24 hours/u);
  });

  test('changes nothing where the sources are as they were then', async () => {
    await using w = await pushed();
    await w.rollback(w.first);
    await w.write('in/1.csv', longFile({ A: { '2026-01': '1.50' }, B: { '2026-01': 1 } }));
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
  });

  test('lets a sum go on from its parts', async () => {
    const files = { 'in/1.csv': longFile({ A: { '2026-01': 1 } }), 'in/2.csv': longFile({ A: { '2026-01': 10 } }) };
    await using w = await world({ config: { sources: { sales: collapsing('sum', 'in/*.csv') } }, files });
    const first = (await w.sync()).push?.id ?? NaN;
    await w.write('in/1.csv', longFile({ A: { '2026-01': 2 } }));
    await w.sync();
    await w.rollback(first);
    expect(w.points()).toEqual({ A: { '2026-01': '11' } });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '12' } });
  });

  test('lets a sum go on that carries a part', async () => {
    const files = { 'in/1.csv': longFile({ A: { '2026-01': 1 } }), 'in/2.csv': longFile({ A: { '2026-02': 10 } }) };
    await using w = await world({ config: { sources: { sales: collapsing('sum', 'in/*.csv') } }, files });
    const first = (await w.sync()).push?.id ?? NaN;
    await w.remove('in/2.csv');
    await w.sync();
    await w.write('in/1.csv', longFile({ A: { '2026-01': 2 } }));
    await w.sync();
    await w.rollback(first);
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', sources: [{ state: 'accepted' }] });
    expect(w.points()).toEqual({ A: { '2026-01': '2', '2026-02': '10' } });
  });

  test('leaves out a source that came later, until it goes on from the sources', async () => {
    await using w = await pushed();
    await w.write('other.csv', gridFile(['x']));
    await w.reconfigure({ sources: { ...config.sources, other: longSource('other.csv') } });
    await w.sync();
    await w.rollback(w.first);
    expect(w.drivers()).toHaveLength(2);
    await w.sync({ resume: false });
    expect(w.drivers()).toHaveLength(2);
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.drivers()).toHaveLength(4);
  });

  test('explains its numbers as they were read then', async () => {
    await using w = await pushed();
    await w.rollback(w.first);
    expect(await w.explain('A')).toMatchObject({
      points: [{ value: '1.50', part: 'in/1.csv', row: 1, text: '1.50', firstPush: expect.any(Number) }],
    });
  });

  test('keeps carrying a part that is gone', async () => {
    const files = { 'in/1.csv': gridFile(['A']), 'in/2.csv': gridFile(['B']) };
    await using w = await world({ config, files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.sync();
    await w.write('in/1.csv', gridFile(['A', 'C']));
    const second = await w.sync();
    await w.rollback((second.push?.id ?? NaN) - 1);
    expect(w.drivers().map(({ id }) => id)).toEqual(['A', 'B']);
    const report = await w.sync();
    expect(sourceOf(report, 'sales')).toMatchObject({ carried: ['in/2.csv'] });
    expect(w.drivers().map(({ id }) => id)).toEqual(['A', 'B', 'C']);
  });

  test('brings a source back that left the config, and its leaving has to be approved again', async () => {
    const both = { sources: { sales: longSource('in/*.csv'), other: longSource('other.csv') } };
    await using w = await world({ config: both, files: { 'in/1.csv': gridFile(['A']), 'other.csv': gridFile(['x']) } });
    const first = (await w.sync()).push?.id ?? NaN;
    await w.reconfigure(config);
    await w.approve(sourceOf(await w.sync(), 'other').digest ?? '');
    await w.sync();
    expect(w.drivers()).toHaveLength(1);
    await w.rollback(first);
    expect(w.drivers()).toHaveLength(2);
    expect(await w.sync()).toMatchObject(judged(4, 'other', { state: 'held' }));
    expect(w.drivers()).toHaveLength(2);
  });

  test('may be rolled back itself', async () => {
    await using w = await pushed();
    await w.rollback(w.first);
    expect(await w.rollback(w.second)).toMatchObject({ outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(3);
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
  });

  test('works with every source unplugged and the buffer lost', async () => {
    await using w = await pushed();
    await w.remove('in/1.csv');
    await w.loseBuffer();
    expect(await w.rollback(w.first)).toMatchObject({ outcome: 'acknowledged' });
    expect(w.drivers()).toHaveLength(2);
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 3 });
    expect(w.drivers()).toHaveLength(2);
  });

  test('that does not arrive changes nothing of what is accepted', async () => {
    await using w = await pushed();
    w.emulator.faults({ status: 400 });
    expect(await w.rollback(w.first)).toMatchObject({ outcome: 'refused' });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.drivers()).toHaveLength(3);
  });

  test('is refused for what is no acknowledged push of this address', async () => {
    await using w = await pushed();
    await expect(w.rollback(99)).rejects.toMatchObject(usage);
    w.emulator.faults({ status: 400 });
    await w.write('in/1.csv', longFile({ A: { '2026-01': 3 }, B: { '2026-01': 1 }, C: { '2026-01': 1 } }));
    const refused = await w.sync();
    expect(refused).toMatchObject({ outcome: 'refused', exit: 5 });
    await expect(w.rollback(refused.push?.id ?? NaN)).rejects.toMatchObject(usage);
    await using second = await startEmulator();
    await w.reconfigure({ ...config, destination: { url: second.url } });
    await expect(w.rollback(w.first)).rejects.toMatchObject(usage);
    expect(second.requests()).toEqual([]);
  });
});

test('an approval of what was seen before a rollback is none of what the same export would delete after it', async () => {
  const file = (count: number): string => gridFile(ids(1, count));
  await using w = await world({ config, files: { 'in/1.csv': file(40) } });
  const first = (await w.sync()).push?.id ?? NaN;
  await w.write('in/1.csv', file(20));
  await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
  await w.sync();
  await w.write('in/1.csv', file(15));
  const { digest = '' } = sourceOf(await w.plan(), 'sales');
  await w.rollback(first);
  expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
  await expect(w.approve(digest)).rejects.toMatchObject(usage);
  await w.sync();
  expect(w.drivers()).toHaveLength(40);
});
