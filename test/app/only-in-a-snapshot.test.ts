/** Parts that are gone and that only a snapshot stands for, after a rollback or a loss of the buffer: nothing is guessed. */
import { describe, expect, test } from 'vitest';
import { type TestWorld, collapsing, judged, longFile, longSource, months, sourceOf, world } from '../support/world.ts';

const unchanged = { exit: 0, outcome: 'unchanged' };
const held = judged(4, 'sales', { state: 'held' });
const value = (driver: string, number: number) => longFile({ [driver]: { '2026-01': number } });
const both = { 'in/1.csv': value('A', 10), 'in/2.csv': value('A', 10) };

/** The buffer was lost once these files were pushed. */
async function lost(source: object, files: Readonly<Record<string, string>>, more: object = {}): Promise<TestWorld> {
  const w = await world({ config: { ...more, sources: { sales: source } }, files });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  await w.loseBuffer();
  return w;
}

describe('where readings add up', () => {
  test.each(['in/1.csv', 'in/2.csv'])('%s is held, and plan shows what going on without it changes', async (gone) => {
    await using w = await lost(collapsing('sum', 'in/*.csv'), both);
    await w.remove(gone);
    const report = await w.sync();
    expect(report).toMatchObject({ ...held, outcome: 'unchanged' });
    expect(sourceOf(report, 'sales')).toMatchObject({
      reason: `readings are missing: ${gone} is gone, and the last snapshot does not say what it added to sums, averages and counts`,
      hint: expect.stringContaining('put the part that is gone back'),
    });
    const planned = await w.plan();
    expect(planned.sources).toMatchObject([{ largest: [{ driver: 'A', month: '2026-01', old: '20', new: '10' }] }]);
    await w.approve(sourceOf(report, 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '10' } });
    expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
  });

  test('is right again once the part is back, before an approval and after it', async () => {
    await using w = await lost(collapsing('sum', 'in/*.csv'), both);
    await w.remove('in/1.csv');
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    await w.write('in/1.csv', both['in/1.csv']);
    expect(await w.sync()).toMatchObject(unchanged);
    await w.remove('in/1.csv');
    await w.sync();
    await w.loseBuffer();
    await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    await w.write('in/1.csv', both['in/1.csv']);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': '20' } });
  });

  test('is held still where the config says meanwhile that nothing is deleted', async () => {
    await using w = await lost(collapsing('sum', 'in/*.csv'), both);
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject(held);
    await w.reconfigure({
      destination: { shouldDeleteMissing: false },
      sources: { sales: collapsing('sum', 'in/*.csv') },
    });
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toEqual({ A: { '2026-01': '20' } });
  });

  test('is forgotten for every later pass', async () => {
    await using w = await lost(collapsing('sum', 'in/*.csv'), both);
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject(held);
    await w.forget('sales', 'in/1.csv');
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(w.points()).toEqual({ A: { '2026-01': '10' } });
    expect(await w.sync()).toMatchObject(unchanged);
  });

  test('is carried where each point is one reading: then the snapshot says it all', async () => {
    const files = { 'in/1.csv': value('A', 1), 'in/2.csv': longFile({ A: { '2026-02': 2 } }) };
    await using w = await lost(collapsing('sum', 'in/*.csv'), files);
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    await w.write('in/3.csv', value('A', 1.5));
    expect(await w.sync()).toMatchObject(held);
  });

  test('is not read where the guard holds nothing', async () => {
    const destination = { shouldDeleteMissing: false };
    await using w = await lost(collapsing('sum', 'in/*.csv'), both, { destination });
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({
      ...judged(3, 'sales', { state: 'unread', reason: expect.stringContaining('in/1.csv is gone') as string }),
      outcome: 'unchanged',
    });
    expect(w.points()).toEqual({ A: { '2026-01': '20' } });
  });
});

describe('where one reading counts', () => {
  test.each([
    ['min', { 'in/1.csv': value('A', 5), 'in/2.csv': value('A', 3) }, 10],
    ['max', { 'in/1.csv': value('A', 5), 'in/2.csv': value('A', 7) }, 2],
  ])('is held once the one that counted gives way: %s', async (rule, files, next) => {
    await using w = await lost(collapsing(rule, 'in/*.csv'), files);
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
    await w.write('in/2.csv', value('A', next));
    const report = await w.sync();
    expect(report).toMatchObject({ ...held, outcome: 'unchanged' });
    expect(sourceOf(report, 'sales').reason).toBe(
      'readings are missing: in/1.csv is gone, and the last snapshot does not say whether it had a reading of driver "A" in 2026-01, which would count now',
    );
    await w.approve(sourceOf(report, 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toEqual({ A: { '2026-01': String(next) } });
  });

  test('goes on where the new one would have counted beside any other', async () => {
    await using w = await lost(collapsing('min', 'in/*.csv'), { 'in/1.csv': value('A', 5), 'in/2.csv': value('A', 3) });
    await w.remove('in/1.csv');
    await w.sync();
    await w.write('in/2.csv', value('A', 2));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    await w.write('in/2.csv', longFile({ A: { '2026-01': 2 }, B: { '2026-01': 1 } }));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  });

  test.each(['last', 'first'])('is held where the point of another part goes: %s', async (rule) => {
    const days = (one: number, two: number) => ({
      'in/1.csv': `id,time,value\nA,2026-01-0${one},1\n`,
      'in/2.csv': `id,time,value\nA,2026-01-0${two},2\nB,2026-01-01,1\n`,
    });
    await using w = await lost(collapsing(rule, 'in/*.csv'), rule === 'last' ? days(1, 2) : days(2, 1));
    await w.remove('in/1.csv');
    expect(await w.sync()).toMatchObject({ exit: 3 });
    await w.write('in/2.csv', value('B', 1));
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toMatchObject({ A: { '2026-01': '2' } });
    await w.write('in/1.csv', 'id,time,value\nA,2026-01-01,1\n');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ A: { '2026-01': '1' } });
  });

  test('is forgotten for every later pass, and stays at the service while another part holds the read', async () => {
    const many = { '2026-01': '1', '2026-02': '1', '2026-03': '1', '2026-04': '1' };
    const files = { 'in/1.csv': value('A', 1), 'in/2.csv': longFile({ B: many }) };
    await using w = await lost(longSource('in/*.csv'), files);
    await w.remove('in/1.csv');
    await w.write('in/2.csv', longFile({ B: { '2026-02': 1 } }));
    expect(await w.sync()).toMatchObject({ ...held, outcome: 'unchanged' });
    expect(await w.forget('sales', 'in/1.csv')).toMatchObject({ changes: { drivers: { delete: 1 } } });
    for (const report of [await w.sync(), await w.sync()]) expect(sourceOf(report, 'sales').carried).toEqual([]);
    expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: many });
    await w.write('in/2.csv', files['in/2.csv']);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toEqual({ B: many });
  });
});

test('what a snapshot stands for goes on being known from snapshot to snapshot', async () => {
  await using w = await lost(longSource('in/*.csv'), { 'in/1.csv': value('A', 1), 'in/2.csv': value('B', 1) });
  await w.remove('in/1.csv');
  await w.write('in/2.csv', value('B', 2));
  expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged' });
  await w.loseBuffer();
  await w.write('in/9.csv', value('A', 1));
  expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
});

test('a snapshot of an older version, which knows only names and times, carries all the same', async () => {
  await using w = await lost(longSource('in/*.csv'), { 'in/1.csv': value('A', 1), 'in/2.csv': value('B', 1) });
  await w.open(async ({ ledger, archive }) => {
    const snapshot = await archive.open((await ledger.pushes.lastAcknowledged())?.digest ?? '');
    if (snapshot === undefined) throw new Error('the snapshot is not kept');
    const bare = snapshot.origins.map(({ id, source, name, revisedAtMs }) => ({ id, source, name, revisedAtMs }));
    await archive.write(snapshot.read(), snapshot.format, bare);
  });
  await w.remove('in/1.csv');
  expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { carried: ['in/1.csv'] }), outcome: 'unchanged' });
  await w.write('in/2.csv', value('B', 2));
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  expect(w.points()).toEqual({ A: { '2026-01': '1' }, B: { '2026-01': '2' } });
});

test('months of history do not make a part of a file that is long gone', async () => {
  const source = longSource('in/*.csv', { history: 'carry', parts: 'newest' });
  await using w = await world({ config: { sources: { sales: source } }, files: { 'in/1.csv': value('A', 1) } });
  await w.sync();
  await w.write('in/2.csv', longFile({ A: { '2026-02': 2 } }));
  await w.remove('in/1.csv');
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  await w.loseBuffer();
  await w.reconfigure({ sources: { sales: longSource('in/*.csv', { history: 'carry' }) } });
  expect(await w.sync()).toMatchObject({ ...unchanged, ...judged(0, 'sales', { carried: [] }) });
  expect(w.points()).toEqual({ A: { '2026-01': '1', '2026-02': '2' } });
});

describe('with history: carry', () => {
  const of = (first: number, last: number, number: number): Record<string, number> =>
    Object.fromEntries(months(first, last).map((month) => [month, number]));
  const source = collapsing('sum', 'in/*.csv', { history: 'carry' });
  const all = { A: of(1, 9, 1), B: of(1, 9, 1), C: of(1, 9, 2) };
  const textsOf = (numbers: Record<string, number>): Record<string, string> =>
    Object.fromEntries(Object.entries(numbers).map(([month, number]) => [month, String(number)]));
  const texts = { A: textsOf(all.A), B: textsOf(all.B), C: textsOf(all.C) };
  const recent = longFile({ A: of(2, 9, 1), B: of(2, 9, 1) });

  /** Two parts, which show recent months only, one of them gone: the month before is history. */
  async function shortened(): Promise<TestWorld> {
    const files = { 'in/1.csv': longFile({ A: all.A, B: all.B }), 'in/2.csv': longFile({ C: all.C }) };
    const w = await world({ config: { sources: { sales: source } }, files });
    await w.sync();
    await w.write('in/1.csv', recent);
    await w.write('in/2.csv', longFile({ C: of(2, 9, 2) }));
    await w.sync();
    await w.remove('in/2.csv');
    expect(await w.sync()).toMatchObject(judged(3, 'sales', { carried: ['in/2.csv'] }));
    return w;
  }

  test('an older month of a part that is gone opens no window: that of the others stays', async () => {
    await using w = await shortened();
    await w.loseBuffer();
    expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
    await w.write('in/1.csv', longFile({ A: of(2, 9, 1), B: of(2, 9, 3) }));
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
    expect(w.points()).toEqual({ ...texts, B: { ...textsOf(of(2, 9, 3)), '2024-01': '1' } });
  });

  test('nor where all parts were gone when the snapshot was taken for them, and one comes back', async () => {
    await using w = await shortened();
    await w.loseBuffer();
    await w.remove('in/1.csv');
    await w.sync();
    await w.write('in/1.csv', recent);
    await w.sync();
    await w.sync();
    expect(w.points()).toEqual(texts);
  });
});
