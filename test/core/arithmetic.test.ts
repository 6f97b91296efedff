import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DecimalSum,
  addDecimals,
  averageDecimal,
  compareDecimals,
  isZero,
  multiplyDecimals,
  negateDecimal,
} from '../../src/core/numbers/arithmetic.ts';
import { canonical } from '../support/decimals.ts';

test('a sum keeps the longer scale, a product adds scales', () => {
  expect(addDecimals('1.50', '2')).toBe('3.50');
  expect(addDecimals('0.1', '-0.10')).toBe('0.00');
  expect(multiplyDecimals('1000', '1.50')).toBe('1500.00');
  expect(multiplyDecimals('-0.5', '0')).toBe('0.0');
});

test.each([
  ['10', 4, '2.5'],
  ['1', 3, '0.333333'],
  ['2', 3, '0.666667'],
  ['-2', 3, '-0.666667'],
  ['0.01', 3, '0.00333333'],
  ['0.000001', 2, '0.0000005'],
  ['1', 2_000_000, '0'],
  ['3', 2_000_000, '0.000002'],
  ['-1', 2_000_000, '0'],
  ['-3', 2_000_000, '-0.000002'],
  ['5', 2_000_000, '0.000002'],
  ['100', 1, '100'],
  ['1.50', 1, '1.5'],
  ['0.00', 7, '0'],
])('the average of %s over %i is %s', (sum, count, expected) => {
  expect(averageDecimal(sum, count)).toBe(expected);
});

/** A decimal as a whole number of 10^-80, in which every test value is exact. */
const units = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(80, '0'));
};
const sign = (value: bigint): number => (value > 0n ? 1 : value < 0n ? -1 : 0);

test('agrees with exact fractions', () => {
  fc.assert(
    fc.property(canonical, canonical, (a, b) => {
      expect(units(addDecimals(a, b))).toBe(units(a) + units(b));
      expect(units(multiplyDecimals(a, b)) * 10n ** 80n).toBe(units(a) * units(b));
      expect(Math.sign(compareDecimals(a, b))).toBe(sign(units(a) - units(b)));
      expect(units(negateDecimal(a))).toBe(-units(a));
      expect(addDecimals(a, b)).toBe(addDecimals(b, a));
    }),
  );
});

test('compares by value, not by scale', () => {
  expect(compareDecimals('1.50', '1.5')).toBe(0);
  expect(compareDecimals('0.00', '0')).toBe(0);
  expect(compareDecimals('-2', '-10')).toBeGreaterThan(0);
  expect(compareDecimals('9.99', '10')).toBeLessThan(0);
  expect(compareDecimals('-1', '0.5')).toBeLessThan(0);
});

test('an average is never further from its fraction than half its last digit', () => {
  fc.assert(
    fc.property(canonical, fc.integer({ min: 1, max: 1_000_000 }), (sum, count) => {
      const scale = sum.includes('.') ? sum.length - sum.indexOf('.') - 1 : 0;
      const unit = 10n ** BigInt(80 - scale - 6);
      const error = units(averageDecimal(sum, count)) * BigInt(count) - units(sum);
      expect((error < 0n ? -error : error) * 2n).toBeLessThanOrEqual(unit * BigInt(count));
    }),
  );
});

test('many values add up to what they do two by two', () => {
  fc.assert(
    fc.property(fc.array(canonical), (values) => {
      const sum = new DecimalSum();
      for (const value of values) sum.add(value);
      expect(sum.text).toBe(values.reduce(addDecimals, '0'));
    }),
  );
  const sum = new DecimalSum();
  for (const value of ['1.5', '2', '-0.25', '10.00']) sum.add(value);
  expect(sum.text).toBe('13.25');
});

test('scales beyond what is kept of powers of ten are as exact', () => {
  const tiny = `0.${'0'.repeat(69)}1`;
  expect(addDecimals('1', tiny)).toBe(`1.${'0'.repeat(69)}1`);
  expect(addDecimals(tiny, '1')).toBe(`1.${'0'.repeat(69)}1`);
});

test('zero is zero with any decimals, and nothing else is', () => {
  expect(['0', '0.00', '-0'].every(isZero)).toBe(true);
  expect(['1', '0.01', '9', '-0.9', '10'].some(isZero)).toBe(false);
});

test.each([
  ['1.5', '1.50', 0],
  ['1', '1.00', 0],
  ['1.00', '1', 0],
  ['1', '1.01', -1],
  ['1.01', '1', 1],
  ['-1', '-1.01', 1],
  ['-1.01', '-1', -1],
  ['-1.5', '-1.50', 0],
  ['9', '10', -1],
  ['-9', '-10', 1],
  ['2.9', '2.10', 1],
  ['1.2', '1.21', -1],
  ['-3', '2', -1],
  ['2', '-3', 1],
])('%s beside %s', (a, b, order) => {
  expect(Math.sign(compareDecimals(a, b))).toBe(order);
});
