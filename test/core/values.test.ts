/** How values are compared and measured for the value guard. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDecimals, multiplyDecimals } from '../../src/core/numbers/arithmetic.ts';
import { covers, type Finding } from '../../src/core/values/finding.ts';
import { factorRange } from '../../src/core/values/factor-range.ts';
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

test('a step that was recorded a month too early is a correction, and no move', () => {
  const rate = (step: number): string[] => Array.from({ length: 24 }, (_, at) => (at < step ? '2.00' : '2.25'));
  expect(findMove(series(rate(12)), series(rate(13)))).toBeUndefined();
});

test('values that moved are found among corrections', () => {
  const values = Array.from({ length: 24 }, (_, at) => String((at * 7919) % 1009));
  const later = series([...values.slice(0, 10), '5', ...values.slice(11)], 2);
  expect(findMove(series(values), later)).toEqual({ months: 2, points: 23 });
});

test.each<[string, Partial<Finding>, boolean]>([
  ['the same', {}, true],
  ['fewer points', { points: 3 }, true],
  ['a part of the group', { group: ['Sales', 'North'] }, true],
  ['more points', { points: 7 }, false],
  ['a wider group', { group: [] }, false],
  ['another group', { group: ['Costs'] }, false],
  ['another factor', { factor: '100' }, false],
  ['another kind', { kind: 'new-scale' }, false],
  ['another month', { inMonths: ['2026-02'] }, false],
])('an approval covers %s: %s', (_name, change, isCovered) => {
  const approved: Finding = { kind: 'factor', group: ['Sales'], points: 6, of: 6, factor: '1000', examples: [] };
  const dated = { ...approved, inMonths: ['2026-01'] };
  expect(covers(dated, { ...dated, ...change })).toBe(isCovered);
});
