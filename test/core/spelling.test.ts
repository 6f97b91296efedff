/** How a value was written, as bits: its text is made of them again. */
import { expect, test } from 'vitest';
import * as bits from '../../src/core/numbers/spelling-bits.ts';
import { type NumberMarks, canonicalMarks, currencySigns, spelledText } from '../../src/core/numbers/spelling.ts';

const marks: readonly NumberMarks[] = [canonicalMarks, { decimal: ',', group: '.' }];
const german = 1 << bits.marksShift;
const currency = (sign: (typeof currencySigns)[number]): number => currencySigns.indexOf(sign) << bits.currencyShift;

test.each<[text: string, mantissa: number, scale: number, spelling: number]>([
  ['0', 0, 0, 0],
  ['0.00', 0, 2, 0],
  ['-12.50', -1250, 2, 0],
  ['0.05', 5, 2, 0],
  ['-0.5', -5, 1, 0],
  ['1234567', 1_234_567, 0, 0],
  ['1234567,89', 123_456_789, 2, german],
  ['1.234.567,89', 123_456_789, 2, german | bits.hasGroups],
  ['123,45', 12_345, 2, german | bits.hasGroups],
  ['1.234', 1234, 0, german | bits.hasGroups],
  ['-123.456', -123_456, 0, german | bits.hasGroups],
  ['(5)', -5, 0, bits.inBrackets],
  ['5', 5, 0, bits.inBrackets],
  ['(1.234,50)', -123_450, 2, german | bits.hasGroups | bits.inBrackets],
  ['5-', -5, 0, bits.minusBehind],
  ['5', 5, 0, bits.minusBehind],
  ['0', 0, 0, bits.negated],
  ['0', 0, 0, bits.minusBehind],
  ['-5', 5, 0, bits.negated],
  ['5', -5, 0, bits.negated],
  ['(5)', 5, 0, bits.negated | bits.inBrackets],
  ['5€', 5, 0, currency('€')],
  ['5 €', 5, 0, currency('€') | bits.hasSpace],
  ['-5 $', -5, 0, currency('$') | bits.hasSpace],
  ['5.00£', 500, 2, currency('£')],
])('%s', (text, mantissa, scale, spelling) => {
  expect(spelledText(mantissa, scale, spelling, marks)).toBe(text);
});

test('a mark between groups that there is not is nothing', () => {
  expect(spelledText(1_234_567, 0, bits.hasGroups, marks)).toBe('1234567');
});
