import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  divideDecimal,
  negateDecimal,
  roundDecimal,
} from '../../src/core/numbers/arithmetic.ts';
import { parseDecimal, plainDecimal } from '../../src/core/numbers/decimal.ts';

describe('rounding', () => {
  test('is half away from zero, to exactly so many digits', () => {
    expect(['2.345', '-2.345', '2.344', '7', '-0.004', '0.005'].map((text) => roundDecimal(text, 2))).toEqual([
      '2.35',
      '-2.35',
      '2.34',
      '7.00',
      '0.00',
      '0.01',
    ]);
    expect(roundDecimal('0.5', 0)).toBe('1');
  });

  test('never moves a value by more than half of its last digit', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat(20), fc.nat(20), (mantissa, scale, digits) => {
        const text = parseDecimal(`${mantissa}e-${scale}`, plainDecimal) as string;
        const moved = addDecimals(roundDecimal(text, digits), negateDecimal(text)).replace('-', '');
        expect(compareDecimals(moved, digits === 0 ? '0.5' : `0.${'0'.repeat(digits)}5`)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('equal shares', () => {
  test('give the rest that cannot be divided to the last ones', () => {
    expect(divideDecimal('200.00', 3, 'fixed')).toEqual(['66.66', '66.67', '66.67']);
    expect(divideDecimal('-2', 3, 'fixed')).toEqual(['0', '-1', '-1']);
    expect(divideDecimal('9.90', 3, 'fixed')).toEqual(['3.30', '3.30', '3.30']);
    expect(divideDecimal('9.90', 3, 'free')).toEqual(['3.3', '3.3', '3.3']);
    expect(divideDecimal('0.01', 3, 'fixed')).toEqual(['0.00', '0.00', '0.01']);
  });

  test('add up to exactly what was divided, and differ by a unit at most', () => {
    fc.assert(
      fc.property(
        fc.bigInt(),
        fc.nat(6),
        fc.constantFrom(3, 12),
        fc.constantFrom('fixed', 'free'),
        (mantissa, scale, count, scaleOf) => {
          const text = parseDecimal(`${mantissa}e-${scale}`, plainDecimal) as string;
          const shares = divideDecimal(text, count, scaleOf);
          expect(shares).toHaveLength(count);
          expect(compareDecimals(shares.reduce(addDecimals), text)).toBe(0);
          const gap = addDecimals(shares.at(-1)!, negateDecimal(shares[0]!)).replace('-', '');
          const unit = scaleOf === 'fixed' ? `1e-${(text.split('.')[1] ?? '').length}` : '1e-6';
          expect(compareDecimals(gap, parseDecimal(unit, plainDecimal)!)).toBeLessThanOrEqual(0);
          expect(shares).toEqual([...shares].sort((a, b) => compareDecimals(a, b) * (text.startsWith('-') ? -1 : 1)));
        },
      ),
    );
  });
});
