/** What one thing that is found of a candidate says of the others, and of drivers that the service had before. */
import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/app/review/decision.ts';
import { lookWithArrivals } from '../../src/app/review/decide.ts';
import type { KeptPart } from '../support/kept-reads.ts';
import { driver } from '../support/packed.ts';
import { type ReviewWorld, type ReviewedSource, grid, reviewWorld } from '../support/review-world.ts';
import { ids } from '../support/world.ts';

const year = Array.from({ length: 12 }, (_, at) => `2025-${String(at + 1).padStart(2, '0')}`);
const ten = ids(1, 10);
type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Drivers whose values differ, so that a slip in them can be told. */
function valued(drivers: readonly string[], zeros = '', months = year): Values {
  const valueOf = (id: string, at: number): string => `${101 + ((at * 37) % 89) + Number(id.slice(1)) * 11}${zeros}`;
  return Object.fromEntries(
    drivers.map((id) => [id, Object.fromEntries(months.map((month, at) => [month, valueOf(id, at)]))]),
  );
}

const without = (values: Values, isGone: (id: string, month: string) => boolean): Values =>
  Object.fromEntries(
    Object.entries(values).map(([id, points]) => [
      id,
      Object.fromEntries(Object.entries(points).filter(([month]) => !isGone(id, month))),
    ]),
  );

function judged(accepted: KeptPart, candidate: KeptPart, keys: ReviewedSource = {}): ReviewWorld {
  const w = reviewWorld({ a: keys });
  w.keep('a accepted', { 'a.csv': accepted });
  w.keep('a candidate', { 'a.csv': candidate });
  return w;
}

async function verdict(w: ReviewWorld) {
  await using _w = w;
  return (await w.review())['a'];
}

describe('what goes is explained by a slip', () => {
  test('though most drivers begin later, or lack a month between others', async () => {
    for (const isGone of [
      (id: string, month: string) => id !== 'D10' && month === '2025-01',
      (_id: string, month: string) => month === '2025-06',
    ]) {
      const plain = await verdict(judged({ points: valued(ten) }, { points: without(valued(ten), isGone) }));
      expect(plain).toMatchObject({ state: 'held', reason: expect.stringMatching(/oldest months|2025-06, between/) });
      const slipped = await verdict(judged({ points: valued(ten) }, { points: without(valued(ten, '000'), isGone) }));
      expect(slipped).toMatchObject({ state: 'held', findings: [{ kind: 'factor' }] });
      expect(slipped?.reason).not.toMatch(/oldest|between/);
    }
  });

  test('and so are readings of the oldest month where values moved', async () => {
    const before = { points: valued(ten), rule: 'sum', count: 30 } as const;
    const later = Object.entries(valued(ten)).map(([id, points]) => {
      const texts = Object.values(points);
      return [id, Object.fromEntries(year.map((month, at) => [month, texts[at === 0 ? 11 : at - 1]!]))] as const;
    });
    const w = reviewWorld({ a: { rules: ['sum'] } });
    w.keep('a accepted', { 'a.csv': before });
    w.keep('a candidate', {
      'a.csv': {
        points: Object.fromEntries(later.map(([id, points]) => [id, { '2025-01': points['2025-01']! }])),
        rule: 'sum',
        count: 10,
      },
      'b.csv': {
        points: without(Object.fromEntries(later), (_id, month) => month === '2025-01'),
        rule: 'sum',
        count: 30,
      },
    });
    const found = await verdict(w);
    expect(found).toMatchObject({ state: 'held', findings: [{ kind: 'moved', months: 1 }] });
    expect(found?.reason).not.toContain('fewer readings');
  });
});

test('an approval covers a newer read whose oldest month has still fewer readings, where these hold nothing', async () => {
  const some = (count: number, hash: string): Readonly<Record<string, KeptPart>> => ({
    'a.csv': { points: valued(ids(1, 3), String(count), ['2025-09']), rule: 'sum', count, hash },
    'b.csv': { points: valued(ten, '', ['2025-09', '2025-10', '2025-11']), rule: 'sum', count: 30 },
  });
  const w = reviewWorld({ a: { rules: ['sum'] } });
  await using _w = w;
  w.keep('a accepted', { ...some(30, 'first'), 'c.csv': grid(ids(20, 40)) });
  w.keep('a candidate', some(20, 'second'));
  expect(await w.review()).toMatchObject({ a: { state: 'held' } });
  await w.approve('a');
  w.keep('a candidate', some(10, 'third'));
  expect(await w.review()).toMatchObject({ a: { state: 'accepted' } });
});

test('nothing is said where nothing is found, and deletes that nobody approved count in the next ones', async () => {
  const w = judged(grid(ten), grid(ids(2, 10)));
  await using _w = w;
  const { a } = await w.review();
  expect(a?.state).toBe('accepted');
  expect(a).not.toHaveProperty('warnings');
  const sinceMs = w.clock.now().getTime() - 86_400_000;
  expect(await w.deps.ledger.holds.deletesSince(['a'], sinceMs, '')).toMatchObject({ drivers: 1 });
});

test('a part that has lost readings is found also where drivers come from elsewhere in the same pass', async () => {
  await using w = reviewWorld({ a: { rules: ['sum'] } });
  const others = { 'b.csv': { points: valued(ids(11, 40)), rule: 'sum', count: 10 } } as const;
  w.keep('a accepted', { 'a.csv': { points: valued(ten), rule: 'sum', count: 10 }, ...others });
  w.keep('a candidate', { 'a.csv': { points: valued(ten, '7'), rule: 'sum', count: 3, hash: 'new' }, ...others });
  const facts = { source: 'a', settings: w.deps.settings.sources[0], isFirst: false } as Facts;
  for (const departed of [[], [driver('D99', { '2025-01': '1' })]]) {
    const { values } = (await lookWithArrivals(w.deps, facts, { moves: [], departed }, [])).facts;
    expect(values.all).toMatchObject([{ kind: 'fewer-readings', part: 'a.csv', points: 840, of: 1200 }]);
  }
});

describe('drivers that the service had before', () => {
  /** What is found in a candidate beside what the service had of A, whose numbers were a thousandth. */
  async function found(isFirst: boolean, lastClose?: object) {
    await using w = reviewWorld({ a: {} }, { ...(lastClose && ({ lastClose } as object)) });
    if (!isFirst) w.keep('a accepted', { 'a.csv': { points: valued(ids(2, 30)) } });
    w.keep('a candidate', { 'a.csv': { points: { ...valued(['D01'], '000'), ...valued(ids(2, 30)) } } });
    const departed = [driver('D01', valued(['D01'])['D01']!)];
    const facts = { source: 'a', settings: w.deps.settings.sources[0], isFirst } as Facts;
    const look = async (some: typeof departed) =>
      (await lookWithArrivals(w.deps, facts, { moves: [], departed: some }, [])).facts.values.all;
    return { with: await look(departed), without: await look([]) };
  }

  test.each([false, true])(
    'are compared with what they were, and nobody else is (a first read: %s)',
    async (isFirst) => {
      const { with: slips, without: none } = await found(isFirst);
      expect(slips).toMatchObject([{ kind: 'factor', group: ['D01'], points: 12, of: 12 }]);
      expect(none).toEqual([]);
    },
  );

  test('are created anew in closed months, whatever they were', async () => {
    const { with: slips, without: closed } = await found(false, { kind: 'month', month: 2025 * 12 + 5 });
    expect(slips.map(({ kind, points }) => [kind, points])).toEqual([
      ['closed', 6],
      ['factor', 12],
    ]);
    expect(closed.map(({ kind }) => kind)).toEqual(['closed']);
  });
});
