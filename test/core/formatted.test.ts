import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DecimalFormat, parseDecimal, plainDecimal } from '../../src/core/numbers/decimal.ts';
import { formattedReader } from '../../src/core/numbers/formatted.ts';
import { mantissaText } from '../../src/core/numbers/mantissa.ts';

const formats: readonly DecimalFormat[] = ['.', ','].flatMap((decimal) =>
  [undefined, decimal === '.' ? ',' : '.', ' ', "'"].flatMap((mark) =>
    [[3], [3, 2]].flatMap((sizes) =>
      [true, false].map((accounting) => ({
        ...plainDecimal,
        decimal,
        group: mark === undefined ? undefined : { mark, sizes },
        accounting,
      })),
    ),
  ),
);

/** What was read, as canonical text; `undefined` where that is left to `parseDecimal`. */
function readFormatted(text: string, format: DecimalFormat): { value: string; spelling: string } | undefined {
  const into = { mantissas: new Float64Array(1), scales: new Int8Array(1) };
  const spelling = formattedReader(format)!(text, 0, into);
  return spelling === 'unread' ? undefined : { value: mantissaText(into.mantissas[0]!, into.scales[0]!), spelling };
}

const german: DecimalFormat = { ...plainDecimal, decimal: ',', group: { mark: '.', sizes: [3] }, accounting: true };

test.each([
  ['1.234,50', '1234.50'],
  ['-1.234.567', '-1234567'],
  ['(0,5)', '-0.5'],
  ['12,00-', '-12.00'],
  ['1.234,50 €', '1234.50'],
  ['100', '100'],
])('%s is read from its characters', (text, value) => {
  expect(readFormatted(text, german)).toEqual({ value, spelling: text === value ? 'canonical' : 'other' });
});

test.each([
  '-0',
  '(0,00)',
  '007',
  '0.123',
  '1234.567',
  '1.23',
  '12.34,5',
  '5,',
  ',5',
  '1e5',
  ' 1',
  '1 000',
  '(-1)',
  '-1-',
  '€',
  '1234567890123456',
  '',
])('%j is left to the reader of all spellings', (text) => {
  expect(readFormatted(text, german)).toBeUndefined();
});

test('formats that change values are left to it', () => {
  for (const change of [{ scale: '1000' }, { negate: true }, { round: 2 }]) {
    expect(formattedReader({ ...german, ...change })).toBeUndefined();
  }
});

test('what is read is what the reader of all spellings reads', () => {
  const piece = fc.constantFrom(
    ...'0123456789'.split(''),
    '000',
    '123',
    '12',
    '.',
    ',',
    ' ',
    "'",
    '-',
    '+',
    '(',
    ')',
    '€',
    ' €',
    '$',
    'e',
    '%',
    '\u2212',
  );
  const text = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''));
  const signs = fc.constantFrom<readonly [string, string]>(
    ['', ''],
    ['-', ''],
    ['(', ')'],
    ['', '-'],
    ['', ' €'],
    ['-', '$'],
  );
  const number = fc
    .tuple(signs, fc.integer({ min: 0, max: 9_999_999 }), fc.constantFrom('.', ',', ' '), fc.constantFrom('.', ','))
    .map(
      ([[before, after], digits, group, mark]) =>
        `${before}${String(digits).replaceAll(/\B(?=(?:\d{3})+$)/g, group)}${mark}${digits % 100}${after}`,
    );
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(text, number), fc.constantFrom(...formats), (written, format) => {
      const found = readFormatted(written, format);
      if (found === undefined) return;
      read++;
      expect(parseDecimal(written, format)).toBe(found.value);
      expect(found.spelling === 'canonical').toBe(written === found.value);
    }),
    { numRuns: 20_000 },
  );
  expect(read).toBeGreaterThan(1000);
});
