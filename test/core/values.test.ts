/** How values are compared and measured for the value guard. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareDecimals, multiplyDecimals } from '../../src/core/numbers/arithmetic.ts';
import { type ReachingFinding, notCovered } from '../../src/core/values/finding.ts';
import { factorRange } from '../../src/core/values/factor-range.ts';
import { diffDrivers, pairDrivers } from '../../src/core/series/diff.ts';
import { DriverLook } from '../../src/core/values/look.ts';
import { Reach } from '../../src/core/values/reach.ts';
import { ValueReview } from '../../src/core/values/review.ts';
import { findMove } from '../../src/core/values/moved.ts';
import { Series, exactFactor, exactFactorText, isSameValue } from '../../src/core/values/series.ts';
import { driver } from '../support/packed.ts';

/** A series of these values, from 2020-01 on. */
function series(values: readonly string[], first = 0): Series {
  const loaded = new Series();
  const month = (at: number): string => `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`;
  loaded.load(driver('a', Object.fromEntries(values.map((value, at) => [month(first + at), value]))).points);
  return loaded;
}

const canonical = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.nat(12))
  .map(([isNegative, mantissa, scale]) => {
    const digits = mantissa.toString().padStart(scale + 1, '0');
    const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
    return isNegative && mantissa !== 0n ? `-${text}` : text;
  });

test('two values are the same where their decimals are, however many zeros stand behind them', () => {
  fc.assert(
    fc.property(canonical, canonical, fc.nat(4), (one, other, zeros) => {
      const longer = one.includes('.') ? one + '0'.repeat(zeros) : zeros === 0 ? one : `${one}.${'0'.repeat(zeros)}`;
      expect(isSameValue(series([one]), 0, series([longer]), 0)).toBe(true);
      expect(isSameValue(series([one]), 0, series([other]), 0)).toBe(compareDecimals(one, other) === 0);
    }),
  );
});

test('a power of ten and a sign are found exactly, and nothing else is', () => {
  const powers = fc.tuple(fc.integer({ min: -9, max: 9 }), fc.boolean());
  fc.assert(
    fc.property(canonical, powers, (value, [power, isTurned]) => {
      fc.pre(/[1-9]/.test(value));
      const factor = exactFactorText(power * 2 + Number(isTurned));
      const product = multiplyDecimals(value, factor);
      const found = exactFactor(series([value]), 0, series([product]), 0);
      expect(found === undefined ? undefined : exactFactorText(found)).toBe(factor);
    }),
  );
  fc.assert(
    fc.property(canonical, canonical, (one, other) => {
      const found = exactFactor(series([one]), 0, series([other]), 0);
      const product = found === undefined ? other : multiplyDecimals(one, exactFactorText(found));
      expect(compareDecimals(product, other)).toBe(0);
    }),
  );
});

test.each([
  ['1.00', '1.08', 1.08],
  ['-2.50', '2.70', -1.08],
  ['250', '0.25', 0.001],
  ['3', '0', 0.001],
])('from %s to %s the factor may be %s', (one, other, factor) => {
  const range = factorRange(series([one]), 0, series([other]), 0);
  expect(range?.from).toBeLessThanOrEqual(factor);
  expect(range?.to).toBeGreaterThanOrEqual(factor);
});

test.each([
  ['9'.repeat(400), 'a value of hundreds of digits'],
  [`0.${'0'.repeat(400)}1`, 'a value of hundreds of decimals'],
  [`1${'0'.repeat(320)}.${'0'.repeat(330)}1`, 'a value of both'],
])('no value is too long or too small to be looked at (%#: %s)', (value) => {
  const months = (last: number, values: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      values.map((text, at) => [
        `${2020 + Math.floor((at + last) / 12)}-${String(((at + last) % 12) + 1).padStart(2, '0')}`,
        text,
      ]),
    );
  const year = Array.from({ length: 24 }, (_, at) => `${at + 1}.50`);
  for (const [before, after] of [
    [year, [...year, value]],
    [
      [...year, value],
      [...year, value, '1.00'],
    ],
    [year, year.map(() => value)],
    [year.map(() => value), year],
  ] as const) {
    const change = [driver('a', months(0, before)), driver('a', months(0, after))] as const;
    const review = new ValueReview({ isJudged: true, closedUpTo: undefined, deletes: true });
    for (const one of diffDrivers([change[0]], [change[1]])) review.see(one);
    expect(review.findings(() => pairDrivers([change[0]], [change[1]]))).toEqual([]);
  }
});

test('a step that was recorded a month too early is a correction, and no move', () => {
  const rate = (step: number): string[] => Array.from({ length: 24 }, (_, at) => (at < step ? '2.00' : '2.25'));
  expect(findMove(series(rate(12)), series(rate(13)))).toBeUndefined();
});

test('values that moved are found among corrections', () => {
  const values = Array.from({ length: 24 }, (_, at) => String((at * 7919) % 1009));
  const later = series([...values.slice(0, 10), '5', ...values.slice(11)], 2);
  expect(findMove(series(values), later)).toEqual({ months: 2, points: 23 });
});

test('a year that is pasted over the next one is a move, and a forecast that begins with it is none', () => {
  const [one, other] = [1, 500].map((from) =>
    Array.from({ length: 12 }, (_, at) => String(((at + from) * 7919) % 1009)),
  );
  const [year = [], next = []] = [one, other];
  expect(findMove(series([...year, ...next]), series([...year, ...year]))).toEqual({ months: 12, points: 12 });
  expect(findMove(series(year), series([...year, ...year]))).toBeUndefined();
  const half = year.slice(0, 6);
  expect(findMove(series(year), series([...half, ...half]))).toEqual({ months: 6, points: 6 });
});

test('what a finding reaches is noted by driver up to 100 000, and beyond that as a whole', () => {
  const look = new DriverLook();
  look.load(undefined, driver('a', { '2020-01': '1.50' }));
  const rules = { isJudged: true, closedUpTo: look.now.month(0), deletes: true };
  const reachOf = (count: number): readonly string[] => {
    const reach = new Reach();
    for (let at = 0; at < count; at++) reach.addClosed({ ...driver('', {}), id: `D${at}` }, look, rules);
    return reach.noted();
  };
  expect(new Set(reachOf(100_000)).size).toBe(100_000);
  const beyond = reachOf(100_001);
  expect(beyond).toHaveLength(1);
  expect(reachOf(100_001)).toEqual(beyond);
  expect(reachOf(100_002)).not.toEqual(beyond);
});

describe('an approval', () => {
  const areCovered = (found: readonly ReachingFinding[], approved: readonly ReachingFinding[]): boolean =>
    notCovered(found, approved).length === 0;
  const one: ReachingFinding = {
    kind: 'factor',
    group: ['Sales'],
    points: 6,
    of: 6,
    factor: '1000',
    examples: [],
    reach: ['x', 'y'],
  };
  const dated: ReachingFinding = { ...one, kind: 'closed', inMonths: ['2026-01'] };

  test.each<[string, { readonly [K in keyof ReachingFinding]?: ReachingFinding[K] | undefined }, boolean]>([
    ['the same', {}, true],
    ['fewer points', { points: 3 }, true],
    ['a part of the group', { group: ['Sales', 'North'] }, true],
    ['more points', { points: 7 }, false],
    ['a wider group', { group: [] }, false],
    ['another group', { group: ['Costs'] }, false],
    ['another factor', { factor: '100' }, false],
    ['another kind', { kind: 'zeros' }, false],
    ['another month', { inMonths: ['2026-02'] }, false],
    ['another month beside the same one', { inMonths: ['2026-01', '2026-02'] }, false],
    ['values that moved by so many months', { months: 1 }, false],
    ['all months', { inMonths: undefined }, false],
    ['some of the drivers', { reach: ['y'] }, true],
    ['another driver', { reach: ['y', 'z'] }, false],
    ['what an older agent found', { reach: undefined }, false],
  ])('covers %s: %s', (_name, change, isCovered) => {
    expect(areCovered([{ ...dated, ...change } as ReachingFinding], [dated])).toBe(isCovered);
  });

  test('covers some of its months, and no group beside its own', () => {
    const both = { ...dated, inMonths: ['2026-01', '2026-02'] };
    expect(areCovered([{ ...dated, inMonths: ['2026-02'] }], [both])).toBe(true);
    expect(areCovered([{ ...one, group: ['Sales', 'South'] }], [{ ...one, group: ['Sales', 'North'] }])).toBe(false);
  });

  test('that an older agent recorded covers nothing, since it did not note which drivers it reached', () => {
    expect(areCovered([one], [{ ...one, reach: undefined }])).toBe(false);
  });

  test('covers no more points in parts than in one', () => {
    const part = (name: string, points: number): ReachingFinding => ({ ...one, group: ['Sales', name], points });
    expect(areCovered([part('North', 3), part('South', 3)], [one])).toBe(true);
    expect(areCovered([part('North', 3), part('South', 4)], [one])).toBe(false);
    expect(areCovered([part('North', 3), part('South', 4)], [one, part('South', 4)])).toBe(true);
  });

  test.each([
    ['1.0837', '1.084', true],
    ['1.0837', '1.09', false],
    ['1.0837', '-1.0837', false],
    ['1000', '1000.5', false],
    ['999.5', '1000', false],
    ['0.001', '0.0010005', false],
    ['31', '31.01', true],
  ])('of the factor %s covers %s: %s', (approved, factor, isCovered) => {
    expect(areCovered([{ ...one, factor }], [{ ...one, factor: approved }])).toBe(isCovered);
  });

  test('of drivers that changed places in a group covers each two of them', () => {
    const group: ReachingFinding = { kind: 'exchanged', group: ['Sales'], points: 48, of: 48, examples: [], reach: [] };
    const pair = (other: string): ReachingFinding => ({
      ...group,
      group: ['Sales', 'A'],
      points: 24,
      with: [other, 'B'],
    });
    expect(areCovered([pair('Sales')], [group])).toBe(true);
    expect(areCovered([pair('Costs')], [group])).toBe(false);
    expect(areCovered([group], [pair('Sales')])).toBe(false);
    expect(areCovered([{ ...group, group: ['Sales', 'A'] }], [pair('Sales')])).toBe(false);
    expect(areCovered([{ ...group, with: ['Sales', 'B'] }], [{ ...group, with: ['Costs'] }])).toBe(false);
  });
});
