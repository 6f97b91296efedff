/** From which numbers and shares on a slip in the values is plain to see, and which groups name it. docs/RULES.md has the same in words. */
import { describe, expect, test } from 'vitest';
import { Group, type Measure, type Tally, type Totals, explain } from '../../src/core/values/groups.ts';
import {
  type Sought,
  anyFactorSought,
  closedSought,
  copiedSought,
  exactFactorSought,
  exchangedSought,
  movedSought,
  newScaleSought,
  newSignSought,
  newZerosSought,
  zerosSought,
} from '../../src/core/values/measures.ts';

const thousand = exactFactorSought(6);

type Repeats = { readonly did: readonly number[]; readonly known: readonly number[] };

function groupOf(totals: Partial<Totals>, sought: Sought, tally: Partial<Tally>, repeats?: Repeats): Group {
  const group = new Group();
  Object.assign(group.totals, totals);
  Object.assign(group.tally(sought.key), tally);
  if (repeats !== undefined) {
    group.repeats = { did: Uint32Array.from(repeats.did), known: Uint32Array.from(repeats.known) };
  }
  return group;
}

function isSlip(sought: Sought, totals: Partial<Totals>, tally: Partial<Tally>, repeats?: Repeats): boolean {
  const group = groupOf(totals, sought, tally, repeats);
  return sought.measure.isSlip(group, group.tally(sought.key));
}

describe('plain to see is', () => {
  const limits: readonly [string, Sought, Partial<Totals>, Partial<Tally>, boolean][] = [
    ['a power of ten in six of six values', thousand, { valued: 6 }, { points: 6 }, true],
    ['not in five of five', thousand, { valued: 5 }, { points: 5 }, false],
    ['in nine of ten', thousand, { valued: 10 }, { points: 9 }, true],
    ['not in 89 of 100', thousand, { valued: 100 }, { points: 89 }, false],
    ['any factor in 24 of 24', anyFactorSought('1.08'), { valued: 24 }, { points: 24, evidence: 48 }, true],
    ['not in 23 of 23', anyFactorSought('1.08'), { valued: 23 }, { points: 23, evidence: 48 }, false],
    ['in 95 of 100', anyFactorSought('1.08'), { valued: 100 }, { points: 95, evidence: 48 }, true],
    ['not in 94 of 100', anyFactorSought('1.08'), { valued: 100 }, { points: 94, evidence: 48 }, false],
    ['not where they tell 47 bits', anyFactorSought('1.08'), { valued: 24 }, { points: 24, evidence: 47 }, false],
    ['ten zeros of twenty values', zerosSought, { valued: 20 }, { points: 10 }, true],
    ['not ten of 21', zerosSought, { valued: 21 }, { points: 10 }, false],
    ['not nine of nine', zerosSought, { valued: 9 }, { points: 9 }, false],
    ['ten drivers of twenty with new zeros', newZerosSought, { unzeroed: 20 }, { drivers: 10 }, true],
    ['not ten of 21', newZerosSought, { unzeroed: 21 }, { drivers: 10 }, false],
    ['not nine of nine', newZerosSought, { unzeroed: 9 }, { drivers: 9 }, false],
    ['eight drivers of ten that moved', movedSought(1), { movableDrivers: 10 }, { drivers: 8 }, true],
    ['not seven of nine', movedSought(1), { movableDrivers: 9 }, { drivers: 7 }, false],
    ['six drivers of six at a new scale', newScaleSought(3), { scaled: 6 }, { drivers: 6 }, true],
    ['not five of five', newScaleSought(3), { scaled: 5 }, { drivers: 5 }, false],
    ['eight of ten', newScaleSought(3), { scaled: 10 }, { drivers: 8 }, true],
    ['not seven of nine', newScaleSought(3), { scaled: 9 }, { drivers: 7 }, false],
    ['six drivers of six with another sign', newSignSought, { signed: 6 }, { drivers: 6 }, true],
    ['not five of five', newSignSought, { signed: 5 }, { drivers: 5 }, false],
    ['eight of ten', newSignSought, { signed: 10 }, { drivers: 8 }, true],
    ['not seven of nine', newSignSought, { signed: 9 }, { drivers: 7 }, false],
    ['ten drivers of ten that copy a month', copiedSought, { repeating: 10 }, { drivers: 10 }, true],
    ['not nine of nine', copiedSought, { repeating: 9 }, { drivers: 9 }, false],
    ['nine of ten', copiedSought, { repeating: 10 }, { drivers: 9 }, true],
    ['not 17 of 19', copiedSought, { repeating: 19 }, { drivers: 17 }, false],
    ['one of two drivers that changed places', exchangedSought, { exchangeable: 1 }, { drivers: 1 }, true],
    ['six of six', exchangedSought, { exchangeable: 6 }, { drivers: 6 }, true],
    ['not five of five', exchangedSought, { exchangeable: 5 }, { drivers: 5 }, false],
    ['eight of ten', exchangedSought, { exchangeable: 10 }, { drivers: 8 }, true],
    ['not seven of nine', exchangedSought, { exchangeable: 9 }, { drivers: 7 }, false],
    ['one point of a closed month', closedSought, { closed: 9 }, { points: 1 }, true],
    ['not none', closedSought, { closed: 9 }, { points: 0 }, false],
  ];
  test.each(limits.map(([what, sought, ...rest]) => [sought.key, what, sought, ...rest] as const))(
    '%s: %s',
    (...row) => {
      const [, , sought, totals, tally, expected] = row;
      expect(isSlip(sought, totals, tally)).toBe(expected);
    },
  );

  test.each([
    [24, 24, true],
    [23, 23, false],
    [95, 100, true],
    [94, 100, false],
  ])('a power of ten in %i of %i values that changed, beside others that did not: %s', (points, changes, expected) => {
    const group = groupOf({ valued: 1000, changed: changes }, thousand, { points });
    expect(thousand.measure.isSlip(group, group.tally(thousand.key))).toBe(false);
    expect(thousand.measure.isSlipInChanged?.(group, group.tally(thousand.key))).toBe(expected);
  });

  const year = (at: number, value: number): number[] =>
    Array.from({ length: 12 }, (_, month) => (month === at ? value : 0));

  test.each([
    [0, 5, 10, false],
    [11, 5, 10, false],
    [4, 3, 5, false],
    [4, 2, 5, true],
    [4, 4, 4, true],
  ])('no copy where in month %i before %i drivers of %i did so too: %s', (month, did, known, expected) => {
    const repeats = { did: year(month, did), known: year(month, known) };
    expect(isSlip(copiedSought, { repeating: 10 }, { drivers: 10 }, repeats)).toBe(expected);
  });

  test('a copy where a thirteenth month is not looked at', () => {
    const repeats = { did: [...year(0, 0), 10], known: [...year(0, 0), 10] };
    expect(isSlip(copiedSought, { repeating: 10 }, { drivers: 10 }, repeats)).toBe(true);
  });
});

describe('a slip is named by', () => {
  const { key, measure } = thousand;

  /** How many values of a driver show it, of how many, and how many changed in another way. */
  type Counts = readonly [shown: number, of: number, otherwise?: number];

  /** Drivers under their path: `['North / A', [6, 6]]`. Groups have what is below them. */
  function treeOf(drivers: readonly (readonly [path: string, counts: Counts])[]): Group {
    const root = new Group();
    for (const [path, [shown, of, otherwise = 0]] of drivers) {
      for (const group of [root, ...root.to(path.split(' / '))]) {
        group.totals.valued += of;
        group.totals.changed += shown + otherwise;
        if (shown === 0) continue;
        const tally = group.tally(key);
        tally.points += shown;
        tally.drivers += 1;
      }
    }
    return root;
  }

  const named = (drivers: Parameters<typeof treeOf>[0], by: Measure = measure): readonly string[] =>
    explain(treeOf(drivers), key, by).map(({ path }) => path.join(' / '));
  const many = (group: string, count: number, counts: Counts) =>
    Array.from({ length: count }, (_, at) => [`${group} / D${at}`, counts] as const);

  test('nothing where nothing shows it', () => {
    expect(named(many('North', 3, [0, 6]))).toEqual([]);
  });

  test('nothing where it fills no group', () => {
    expect(named([...many('North', 3, [2, 6]), ...many('South', 3, [2, 6])])).toEqual([]);
  });

  test('the largest group that it fills', () => {
    expect(named([...many('North', 3, [6, 6]), ...many('South', 3, [6, 6])])).toEqual(['']);
    expect(named([...many('North', 3, [6, 6]), ...many('South', 3, [0, 6])])).toEqual(['North']);
  });

  test('the groups that it fills where they have nearly all of it', () => {
    const drivers = [...many('North', 2, [48, 50]), ...many('West', 3, [6, 6]), ...many('South', 3, [0, 60])];
    expect(named(drivers)).toEqual(['North', 'West']);
  });

  test('the group around them where much of it lies elsewhere', () => {
    const drivers = [...many('North', 2, [10, 10]), ...many('South', 20, [5, 50])];
    expect(named(drivers)).toEqual(['']);
    // 95 of 100 are nearly all.
    expect(named([...many('North', 5, [19, 19]), ...many('South', 5, [1, 50])])).toEqual(['North']);
    expect(named([...many('North', 2, [47, 47]), ...many('South', 6, [1, 50])])).toEqual(['']);
  });

  test('those that it fills where it is not plain in what changed around them', () => {
    expect(named([...many('North', 3, [6, 6]), ...many('South', 40, [1, 60, 10])])).toEqual(['North']);
  });

  test('two that have 95 of 100 between them', () => {
    const both = [...many('North', 5, [10, 10]), ...many('West', 5, [9, 9])];
    expect(named([...both, ...many('South', 5, [1, 50])])).toEqual(['North', 'West']);
    expect(named([...both, ...many('South', 6, [1, 50])])).toEqual(['']);
  });

  test.each([
    ['half', 2, ''],
    ['less than half', 3, 'North'],
  ])('one that has 95 of 100 where it fills both, and of the other one %s', (_what, of, name) => {
    expect(named([...many('North', 5, [19, 19]), ...many('South', 5, [1, of])])).toEqual([name]);
  });

  test('nothing where what changed is not looked at', () => {
    const plain: Measure = {
      count: (...of) => measure.count(...of),
      isSlip: (...of) => measure.isSlip(...of),
    };
    expect(named(many('North', 5, [20, 100]))).toEqual(['']);
    expect(named(many('North', 5, [20, 100]), plain)).toEqual([]);
  });

  test('the group around more than fifty of them', () => {
    const scattered = (count: number): readonly string[] => {
      const half = Array.from({ length: 2 * count }, (_, at) => [`D${at}`, [at % 2 === 0 ? 6 : 0, 6]] as const);
      return named(half);
    };
    expect(scattered(50)).toHaveLength(50);
    expect(scattered(51)).toEqual(['']);
  });

  test('that driver alone where one has it', () => {
    expect(named([['North / A', [6, 6]]])).toEqual(['North / A']);
    expect(named([['North / A', [30, 100]]])).toEqual(['North / A']);
  });

  test('the source where an element that all drivers share says no more', () => {
    expect(named(many('Sales', 4, [6, 6]))).toEqual(['']);
    expect(named([...many('Sales / North', 4, [60, 60]), ...many('Sales / South', 2, [0, 6])])).toEqual([
      'Sales / North',
    ]);
  });
});
