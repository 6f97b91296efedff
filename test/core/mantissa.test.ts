/** Decimals as an integer and a scale, where that is exact: what is no canonical text, or too long for it, stays text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExact, mantissaText, readMantissa, rescaled } from '../../src/core/numbers/mantissa.ts';
import { canonical } from '../support/decimals.ts';

/** `undefined` where the text is not read so. */
function mantissaOf(text: string): readonly [mantissa: number, scale: number] | undefined {
  const into = { mantissas: new Float64Array([7, 7]), scales: new Int8Array([7, 7]) };
  readMantissa(text, 1, into);
  expect([into.mantissas[0], into.scales[0]]).toEqual([7, 7]);
  return into.scales[1] === -1 ? undefined : [into.mantissas[1] as number, into.scales[1] as number];
}

describe('canonical text', () => {
  test.each<[string, number, number]>([
    ['0', 0, 0],
    ['7', 7, 0],
    ['-12.50', -1250, 2],
    ['0.05', 5, 2],
    ['-0.9', -9, 1],
    ['0.00', 0, 2],
    ['100', 100, 0],
    ['19.09', 1909, 2],
    ['999999999999999', 999_999_999_999_999, 0],
    ['-99999999999999.9', -999_999_999_999_999, 1],
    ['0.00000000000001', 1, 14],
  ])('%s is %d at the scale %i', (text, mantissa, scale) => {
    expect(mantissaOf(text)).toEqual([mantissa, scale]);
    expect(mantissaText(mantissa, scale)).toBe(text);
  });

  test('of at most 15 digits is read and written again, and longer text is not read', () => {
    fc.assert(
      fc.property(canonical, (text) => {
        const read = mantissaOf(text);
        const isShort = text.replaceAll(/[-.]/g, '').length <= 15;
        expect(read && mantissaText(...read)).toBe(isShort ? text : undefined);
      }),
    );
  });
});

test.each(
  ['', '-', '.', '-.', '.5', '-.5', '5.', '-5.', '05', '-05', '00', '00.5', '1.2.3', '1..2', '--1', '1-', '+1'].concat([
    '-0',
    '-0.0',
    '1e3',
    ' 1',
    '1 ',
    '1:',
    '1/',
    '1,5',
    '1234567890123456',
    '0.000000000000001',
    '123456789012345.6',
  ]),
)('%j is not read', (text) => {
  expect(mantissaOf(text)).toBeUndefined();
});

test('an integer at a larger scale is exact, or NaN', () => {
  expect(rescaled(1250, 2, 2)).toBe(1250);
  expect(rescaled(-125, 1, 4)).toBe(-125_000);
  expect(rescaled(1e14, 0, 1)).toBeNaN();
  expect(rescaled(-1e14, 0, 1)).toBeNaN();
  expect(rescaled(999, 0, 12)).toBe(999e12);
  expect(rescaled(99_999_999_999_999, 3, 4)).toBe(999_999_999_999_990);
});

test('a sum is exact below 10^15', () => {
  expect([999_999_999_999_999, -999_999_999_999_999, 0].every(isExact)).toBe(true);
  expect([1e15, -1e15, 2e15, NaN].some(isExact)).toBe(false);
});
