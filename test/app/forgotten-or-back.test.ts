/** A part that somebody asked to forget: it is back, or another part takes its place. */
import { describe, expect, test } from 'vitest';
import {
  type TestWorld,
  collapsing,
  ids,
  judged,
  longFile,
  longSource,
  months,
  sourceOf,
  world,
} from '../support/world.ts';

const drivers = ids(1, 30);
const written = (factor: number): string =>
  longFile(Object.fromEntries(drivers.map((id, at) => [id, { '2026-01': (at + 7) * factor }])));
const other = longFile({ other: { '2026-01': 1 } });
const config = { sources: { sales: longSource('in/*.csv') } };

/** Whose `in/1.csv` is gone, carried, and to be forgotten by the next pass. */
async function forgetting(): Promise<Awaited<ReturnType<typeof world>>> {
  const w = await world({ config, files: { 'in/1.csv': written(1), 'in/2.csv': other } });
  await w.sync();
  await w.remove('in/1.csv');
  await w.sync();
  await w.forget('sales', 'in/1.csv');
  return w;
}

describe('a part that is back', () => {
  test('is not forgotten: nothing changes', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1));
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'unchanged' });
    expect(w.drivers()).toHaveLength(31);
    expect((await w.status()).decisions).toMatchObject([{ kind: 'forget', state: 'not needed', why: 'it is back' }]);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('is held against what it had', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1000));
    const reason = '30 of 31 values of the source are 1000 times what they were';
    const held = judged(4, 'sales', { state: 'held', reason });
    expect(await w.plan()).toMatchObject(held);
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toMatchObject({ [drivers[0]!]: { '2026-01': '7' } });
    await expect(w.forget('sales', 'in/1.csv')).rejects.toMatchObject({ code: 'usage', exit: 64 });
  });

  test('in a source that cannot be read is forgotten, and comes again', async () => {
    await using w = await forgetting();
    await w.write('in/1.csv', written(1));
    await w.write('in/2.csv', '');
    expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'acknowledged', push: { drivers: 1 } });
    await w.write('in/2.csv', other);
    await w.sync();
    expect(w.drivers()).toHaveLength(31);
  });
});

describe('where another part takes its place', () => {
  const quarter = ['2026-01', '2026-02', '2026-03'];
  const bookings = (ofMonths: readonly string[], factor = 1): string =>
    longFile(
      Object.fromEntries(
        drivers.map((id, at) => [id, Object.fromEntries(ofMonths.map((month) => [month, (at + 7) * factor]))]),
      ),
    );
  const byMonth = Object.fromEntries(quarter.map((month) => [`in/${month}.csv`, bookings([month])]));
  const adding = { sources: { sales: collapsing('sum', 'in/*.csv') } };

  test('nothing goes while the read that has it is held: parts that one file replaces are forgotten one by one', async () => {
    await using w = await world({ config: adding, files: byMonth });
    await w.sync();
    const before = w.points();
    for (const month of quarter) await w.remove(`in/${month}.csv`);
    await w.write('in/all.csv', bookings(quarter));
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
    for (const [at, month] of quarter.entries()) {
      expect(w.points()).toEqual(before);
      await w.forget('sales', `in/${month}.csv`);
      expect((await w.plan()).exit).toBe(at < 2 ? 4 : 0);
      expect((await w.sync()).exit).toBe(at < 2 ? 4 : 0);
    }
    expect(w.points()).toEqual(before);
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'unchanged' });
  });

  test.each([
    ['ten times its values', 10, /10 times/],
    ['the other sign', -1, /other sign/],
  ])('%s are found, and approved at once with it', async (_what, factor, words) => {
    await using w = await world({ config: adding, files: byMonth });
    await w.sync();
    const before = w.points();
    await w.remove('in/2026-03.csv');
    await w.write('in/2026-03 final.csv', bookings(['2026-03'], factor));
    await w.sync();
    await w.forget('sales', 'in/2026-03.csv');
    const report = await w.sync();
    expect(report).toMatchObject(judged(4, 'sales', { state: 'held', reason: expect.stringMatching(words) }));
    expect(w.points()).toEqual(before);
    expect((await w.sync()).exit).toBe(4);
    await w.approve(sourceOf(report, 'sales').digest ?? '');
    expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'acknowledged' });
    expect(w.points()[drivers[0]!]).toMatchObject({ '2026-01': '7', '2026-03': String(7 * factor) });
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  });

  test('a closed month keeps its values until they are approved', async () => {
    await using w = await world({ config: { ...adding, lastClose: '2026-01' }, files: byMonth });
    await w.sync();
    const before = w.points();
    await w.remove('in/2026-01.csv');
    await w.write('in/2026-01 final.csv', bookings(['2026-01']).replace(',7\n', ',8\n'));
    await w.sync();
    await w.open(async ({ ledger, clock }) => {
      await ledger.requests.add({ kind: 'forget', source: 'sales', part: 'in/2026-01.csv' }, clock.now().getTime(), {});
    });
    expect(await w.sync()).toMatchObject(
      judged(4, 'sales', { state: 'held', reason: expect.stringMatching(/1 point of a closed month/) }),
    );
    expect(w.points()).toEqual(before);
  });
});

describe('where what was accepted is known from a snapshot alone, and the read without it is held', () => {
  const many = ids(1, 12);
  const halfYear = months(1, 6);
  const of = (which: readonly string[], inMonths: readonly string[], value: number): string =>
    longFile(Object.fromEntries(which.map((id) => [id, Object.fromEntries(inMonths.map((month) => [month, value]))])));
  const next = months(7, 7);

  /** The file of the seventh month is gone and another is there, and another file lost two drivers. */
  async function replaced(rule: string): Promise<TestWorld> {
    const files = { 'in/1.csv': of(many, halfYear, 1), 'in/2.csv': of(many.slice(0, 3), next, 5) };
    const w = await world({ config: { sources: { sales: collapsing(rule, 'in/*.csv') } }, files });
    await w.sync();
    await w.remove('in/2.csv');
    await w.write('in/3.csv', of(many.slice(0, 3), next, 7));
    await w.write('in/1.csv', of(many.slice(0, 10), halfYear, 1));
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held' }));
    await w.forget('sales', 'in/2.csv');
    return w;
  }
  const held = judged(4, 'sales', { state: 'held', reason: expect.stringMatching(/12 of 72 points/) });
  const ways: readonly (readonly [string, (w: TestWorld) => Promise<unknown>])[] = [
    ['the buffer was lost', (w) => w.loseBuffer()],
    ['somebody went back to a push', (w) => w.rollback(1)],
    [
      'the buffer was lost, and the file could not be read at first',
      async (w) => {
        await w.loseBuffer();
        await w.write('in/3.csv', '');
        expect((await w.sync()).exit).toBe(3);
        await w.write('in/3.csv', of(many.slice(0, 3), next, 7));
      },
    ],
  ];

  test.each(['sum', 'last'].flatMap((rule) => ways.map(([what, happens]) => [rule, what, happens] as const)))(
    '%s: nothing goes until it is accepted: %s',
    async (rule, _what, happens) => {
      await using w = await replaced(rule);
      await w.sync();
      const before = w.points();
      await happens(w);
      for (let pass = 0; pass < 3; pass++) {
        expect(await w.plan()).toMatchObject(held);
        expect(await w.sync()).toMatchObject({ ...held, outcome: 'unchanged' });
        expect(w.points()).toEqual(before);
      }
      expect((await w.status()).decisions).toMatchObject([{ kind: 'forget', state: 'pending' }]);
      await w.approve(sourceOf(await w.sync(), 'sales').digest ?? '');
      expect(await w.sync()).toMatchObject({ ...judged(0, 'sales', { carried: [] }), outcome: 'acknowledged' });
      expect(w.points()).toMatchObject({ [many[0]!]: { [next[0]!]: '7' } });
      expect(w.drivers()).toHaveLength(10);
      expect((await w.status()).decisions).toMatchObject([{ kind: 'approval' }, { kind: 'forget', state: 'done' }]);
      expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    },
  );

  test('what takes its place is judged against what it had', async () => {
    const files = { 'in/1.csv': of(drivers, next, 1), 'in/2.csv': written(1) };
    await using w = await world({ config: { sources: { sales: collapsing('sum', 'in/*.csv') } }, files });
    await w.sync();
    const before = w.points();
    await w.remove('in/2.csv');
    await w.write('in/3.csv', written(10));
    await w.sync();
    await w.forget('sales', 'in/2.csv');
    await w.loseBuffer();
    const reason = expect.stringMatching(/10 times/) as string;
    expect(await w.sync()).toMatchObject(judged(4, 'sales', { state: 'held', reason }));
    expect(w.points()).toEqual(before);
  });
});

describe('while the source cannot be read', () => {
  const one = longFile({ A: { '2026-01': 7, '2026-02': 7 } });
  const added = { sources: { sales: collapsing('sum', 'in/*.csv') } };

  test('a request that waits for a held read goes on waiting', async () => {
    await using w = await world({ config: added, files: { 'in/1.csv': one, 'in/2.csv': other } });
    await w.sync();
    await w.remove('in/1.csv');
    await w.write('in/3.csv', longFile({ A: { '2026-01': -7, '2026-02': -7 } }));
    await w.sync();
    await w.forget('sales', 'in/1.csv');
    const before = w.points();
    await w.write('in/2.csv', '');
    for (let pass = 0; pass < 2; pass++) {
      expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
      expect((await w.status()).decisions).toMatchObject([{ kind: 'forget', state: 'pending' }]);
    }
    await w.write('in/2.csv', other);
    await w.sync();
    await w.write('in/3.csv', one);
    expect(await w.sync()).toMatchObject(judged(0, 'sales', { carried: [] }));
    expect(w.points()).toEqual(before);
  });

  test('nothing goes whose place a file has taken that was read before', async () => {
    await using w = await world({ config: added, files: { 'in/1.csv': one, 'in/2.csv': other } });
    await w.sync();
    await w.remove('in/1.csv');
    // It is carried, and that is accepted.
    await w.sync();
    const before = w.points();
    await w.write('in/3.csv', longFile({ A: { '2026-01': -7, '2026-02': -7 } }));
    expect((await w.sync()).exit).toBe(4);
    await w.write('in/2.csv', '');
    await w.sync();
    await w.forget('sales', 'in/1.csv');
    await w.sync();
    expect(w.points()).toEqual(before);
    expect((await w.status()).decisions).toMatchObject([{ kind: 'forget', state: 'pending' }]);
  });
});
