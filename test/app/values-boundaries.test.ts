/** Where findings begin and end: least numbers and shares, the groups that are named, and what ordinary reads look like. */
import { describe, expect, test } from 'vitest';
import { type Values, accepted, changed, merged, named, negated, timesTen, twoYears } from '../support/value-world.ts';
import { months } from '../support/world.ts';

const groups = ['North', 'South', 'West'];
const names = groups.flatMap((group) => named(group, 10));
const before = twoYears(names);
const nextMonth = twoYears(names, 25, 25);
const times1000 = (value: string): string => timesTen(value, 3);
const among =
  (some: readonly string[]) =>
  (name: string): boolean =>
    some.includes(name);

async function foundIn(after: Values, from = before) {
  await using w = await accepted(from);
  await w.export(after);
  const { state, findings, exit } = await w.pass();
  return { state, exit, findings };
}

const isHeld = async (after: Values, from?: Values): Promise<boolean> => (await foundIn(after, from)).state === 'held';

describe('the groups that are named', () => {
  test.each([
    ['two of three subtrees', named('North', 10).concat(named('South', 10)), [['North'], ['South']]],
    [
      'two drivers of a subtree',
      ['North / N02', 'North / N07'],
      [
        ['North', 'N02'],
        ['North', 'N07'],
      ],
    ],
    ['a subtree and a driver of another', [...named('North', 10), 'West / W05'], [['North'], ['West', 'W05']]],
    ['all but one driver', names.slice(1), [[]]],
  ])('are those that a factor fills: %s', async (_what, some, expected) => {
    const { findings } = await foundIn(changed(before, times1000, among(some)));
    expect(findings.map(({ group }) => group)).toEqual(expected);
    for (const { points, of, onlyChanged } of findings) {
      expect(onlyChanged).toBeUndefined();
      expect(points * 10).toBeGreaterThanOrEqual(of * 9);
    }
  });

  test('are the group around them where it is scattered over more than fifty drivers', async () => {
    const many = named('North', 120);
    const from = twoYears(many, 1, 12);
    const { findings } = await foundIn(changed(from, times1000, among(many.filter((_, at) => at % 2 === 0))), from);
    expect(findings).toMatchObject([{ group: [], points: 720, of: 720, onlyChanged: true }]);
    expect(findings[0]?.examples).toHaveLength(3);
  });

  test('are the whole of what changed where a unit is wrong from some month on', async () => {
    const late = changed(before, (value, month) => (month >= '2025-07' ? times1000(value) : value));
    const { findings } = await foundIn(late);
    expect(findings[0]).toMatchObject({ kind: 'factor', group: [], points: 180, of: 180, onlyChanged: true });
  });

  test('have two kinds of slip at once', async () => {
    const after = changed(changed(before, times1000, among(named('North', 10))), negated, among(named('South', 10)));
    expect((await foundIn(after)).findings).toMatchObject([
      { kind: 'factor', group: ['South'], factor: '-1' },
      { kind: 'factor', group: ['North'], factor: '1000' },
    ]);
  });
});

describe('the least numbers and shares', () => {
  const drivers = (count: number): string[] => named('North', count);
  /** So many drivers get a new month, of which so many slip. */
  const gaining = (count: number, slipped: number, slip: (value: string) => string): [Values, Values] => [
    twoYears(drivers(count)),
    merged(twoYears(drivers(count)), changed(twoYears(drivers(count), 25, 25), slip, among(drivers(slipped)))),
  ];

  test.each([
    [6, 6, true],
    [5, 5, false],
    [10, 8, true],
    [10, 7, false],
  ])('of %i drivers %i new values of another size, or of the other sign: held is %s', async (count, slipped, held) => {
    for (const slip of [times1000, negated]) {
      const [from, after] = gaining(count, slipped, slip);
      expect(await isHeld(after, from)).toBe(held);
    }
  });

  test.each([
    [10, 9, true],
    [10, 8, false],
    [9, 9, false],
  ])('of %i drivers %i that copy the month before: held is %s', async (count, copied, held) => {
    const from = twoYears(drivers(count));
    const copies = Object.fromEntries(
      drivers(copied).map((name) => [name, { '2026-01': from[name]?.['2025-12'] ?? '' }]),
    );
    expect(await isHeld(merged(merged(from, twoYears(drivers(count), 25, 25)), copies), from)).toBe(held);
  });

  test.each([
    [20, 10, true],
    [20, 9, false],
    [22, 10, false],
    [18, 9, false],
  ])('of %i values %i that became 0: held is %s', async (count, zeroed, held) => {
    const from = twoYears(drivers(1), 1, count);
    const after = changed(from, (value, month) => (months(1, zeroed).includes(month) ? '0' : value));
    expect(await isHeld(after, from)).toBe(held);
  });

  test('zeros of before are no part of the half', async () => {
    const from = merged(twoYears(drivers(1), 1, 20), twoYears(drivers(1), -11, 0));
    const zeros = changed(from, (value, month) => (month < '2024-01' ? '0' : value));
    expect(
      await isHeld(
        changed(zeros, (value, month) => (month < '2024-11' ? '0' : value)),
        zeros,
      ),
    ).toBe(true);
  });

  test.each([
    [6, true],
    [5, false],
  ])('a driver of %i points that moved by a month: held is %s', async (count, held) => {
    const from = twoYears(drivers(3), 1, count);
    const [first = '', ...others] = drivers(3);
    const at = (month: string): string => months(1, count)[months(1, count).indexOf(month) - 1] ?? '';
    const moved = changed(from, (_value, month) => from[first]?.[at(month)] ?? '1.00', among([first]));
    expect(others).toHaveLength(2);
    expect(await isHeld(moved, from)).toBe(held);
  });

  test('four drivers of five that moved name the source, and three name themselves', async () => {
    const from = twoYears(drivers(5));
    const moved = (count: number): Values =>
      Object.fromEntries(
        drivers(5).map((name, at) => [
          name,
          at >= count
            ? from[name]!
            : Object.fromEntries(Object.values(from[name]!).map((value, month) => [months(2, 25)[month]!, value])),
        ]),
      );
    const groupsOf = async (count: number) =>
      (await foundIn(moved(count), from)).findings.filter(({ kind }) => kind === 'moved').map(({ group }) => group);
    expect(await groupsOf(4)).toEqual([[]]);
    expect(await groupsOf(3)).toEqual([
      ['North', 'N01'],
      ['North', 'N02'],
      ['North', 'N03'],
    ]);
  });

  const every = (step: number, count: number): string[] =>
    Array.from({ length: count }, (_, at) => months(1 + at * step, 1 + at * step)[0]!);
  const swapped = (from: Values): Values => {
    const [one = '', other = ''] = Object.keys(from);
    return { ...from, [one]: from[other]!, [other]: from[one]! };
  };
  test.each([
    ['six months', every(1, 6), true],
    ['five months', every(1, 5), false],
    ['six quarters', every(3, 6), true],
    ['six years', every(12, 6), true],
  ])('two drivers of %s that were exchanged: held is %s', async (_what, inMonths, held) => {
    const value = (at: number, driver: number): string => `${100 + driver * 61 + ((at * 37) % 23)}.${10 + at}`;
    const from = Object.fromEntries(
      ['North / A', 'North / B', 'South / C'].map((name, driver) => [
        name,
        Object.fromEntries(inMonths.map((month, at) => [month, value(at, driver)])),
      ]),
    );
    const after = merged(swapped(from), { 'South / C': { '2031-01': '7.77' } });
    const { findings } = await foundIn(after, from);
    expect(findings.map(({ kind }) => kind)).toEqual(held ? ['exchanged', 'exchanged'] : []);
  });

  test('two drivers that were equal for a third of their months are exchanged too', async () => {
    const from = twoYears(['North / A', 'North / B']);
    const alike = merged(from, {
      'North / B': Object.fromEntries(months(1, 8).map((month) => [month, from['North / A']![month]!])),
    });
    const { findings } = await foundIn(swapped(alike), alike);
    expect(findings).toMatchObject([{ kind: 'exchanged' }, { kind: 'exchanged' }]);
  });

  test('a driver that never changes and one that does are exchanged too', async () => {
    const from = { ...twoYears(['North / A']), 'North / B': twoYears(['North / B'])['North / B']! };
    const constant = changed(from, () => '4150.00', among(['North / B']));
    const { findings } = await foundIn(merged(swapped(constant), twoYears(['North / A'], 25, 25)), constant);
    expect(findings).toMatchObject([{ kind: 'exchanged' }, { kind: 'exchanged' }]);
  });
});

describe('ordinary reads pass', () => {
  const zeros = (count: number): Values => changed(twoYears(names, 25, 24 + count), () => '0');

  test('the months of a new year that nobody has planned yet', async () => {
    expect(await foundIn(merged(before, zeros(12)))).toMatchObject({ state: 'accepted', findings: [] });
    expect(await foundIn(merged(merged(before, zeros(12)), nextMonth))).toMatchObject({ findings: [] });
  });

  test.each([1, 3])('which is more than %i months: so few of zeros are held', async (count) => {
    expect((await foundIn(merged(before, zeros(count)))).findings).toMatchObject([{ kind: 'zeros', group: [] }]);
  });

  test('a year that adds up and begins anew in January', async () => {
    const toDate = changed(twoYears(names, 1, 25), (_value, month) => `${Number(month.slice(5)) * 1234}.50`);
    const old = Object.fromEntries(
      Object.entries(toDate).map(([name, points]) => [
        name,
        Object.fromEntries(Object.entries(points).filter(([month]) => month < '2026-01')),
      ]),
    );
    expect(await foundIn(toDate, old)).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('a month that is planned and then has happened', async () => {
    const planned = changed(merged(before, twoYears(names, 25, 36)), (value, month) =>
      month < '2026-01' ? value : `${Math.round(Number(value))}.00`,
    );
    const happened = changed(planned, (value, month) =>
      month === '2026-01' ? (Number(value) * 1.07).toFixed(2) : value,
    );
    expect(await foundIn(happened, planned)).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('a driver set that is new, beside one that stays', async () => {
    const other = changed(twoYears(named('East', 10)), times1000);
    expect(await foundIn(merged(merged(before, nextMonth), other))).toMatchObject({ state: 'accepted', findings: [] });
  });

  test('amounts that were booked to another driver, in some months', async () => {
    const some = months(19, 21);
    const booked = changed(
      changed(before, (value, month) => (some.includes(month) ? '0' : value), among(['North / N01'])),
      (value, month) => (some.includes(month) ? (Number(value) * 2).toFixed(2) : value),
      among(['North / N02']),
    );
    expect(await foundIn(booked)).toMatchObject({ state: 'accepted', findings: [] });
  });
});
