/** What is said of a text that is no number in its format: what to declare, or what is wrong with it. */
import { describe, expect, test } from 'vitest';
import { describeBadDecimal, parseDecimal, plainDecimal } from '../../src/core/numbers/decimal.ts';
import { accounting, english, german } from '../support/decimals.ts';

describe('the reason of a reject', () => {
  test.each([
    ['', plainDecimal, 'value is empty; say missing: [""] if that means no value'],
    ['1.234', { ...plainDecimal, decimal: ',' }, 'say group: "." if it groups'],
    ['1,5', plainDecimal, 'decimal: "," if it does not'],
    ['12.345,60', plainDecimal, 'say decimal: ",", group: "." where "." groups'],
    ['1.23', german, '"." must stand between groups of 3 digits'],
    ['(5)', plainDecimal, 'say accounting: true'],
    ['5-', plainDecimal, 'say accounting: true'],
    ['(-5)', accounting, 'more than one sign'],
    ['5,-', { ...german, accounting: true }, 'a dash behind the decimal mark'],
    ['\u20ac 1.234,-', { ...german, accounting: true }, 'a dash behind the decimal mark'],
    ['5.- CHF', accounting, 'a dash behind the decimal mark'],
    ['1e101', plainDecimal, 'its exponent is not from -100 to 100'],
    ['1e-101', plainDecimal, 'its exponent is not from -100 to 100'],
    ['1e+101', plainDecimal, 'its exponent is not from -100 to 100'],
    ['1ex101', plainDecimal, '"e" does not belong there'],
    ['1e101x', plainDecimal, '"e" does not belong there'],
    ['1,2,3', english, '"," must stand between groups of 3 digits, before the decimal mark'],
    ['1,23', { ...english, group: { mark: ',', sizes: [3, 2] } }, 'between groups of 3, 2 digits'],
    ['0.123', german, 'no group begins with 0, so "." does not seem to be a group mark here'],
    ['1,234.5', plainDecimal, 'say group: "," if it groups, decimal: "," if it does not'],
    ['x', plainDecimal, 'it has no digits'],
    [
      '-',
      plainDecimal,
      'it is a sign without a number; say missing: ["", "+", "-"] if that means no value, or accounting',
    ],
    ['\u2212', german, 'say missing: ["", "+", "\u2212"] if that means no value'],
    ['+', german, 'say missing: ["", "+", "-"] if that means no value'],
    ['+', accounting, 'say missing: ["", "+", "-"] if that means no value'],
    ['-x', plainDecimal, 'it has no digits'],
    ['x-', plainDecimal, 'it has no digits'],
    ['1ABC2', plainDecimal, '"A" does not belong there'],
    ['A5', plainDecimal, '"A" does not belong there'],
    ['5A', plainDecimal, '"A" does not belong there'],
    ['1-2', plainDecimal, '"-" does not belong there'],
    ['EUR5', plainDecimal, 'say accounting: true'],
    ['1.2.3', plainDecimal, '"." is the decimal mark and occurs more than once'],
    ['1\u00a0234', plainDecimal, 'say group: " " if it groups'],
    ['1\u2019234', plainDecimal, `say group: "'" if it groups`],
    ['1_000', plainDecimal, '"_" does not belong there'],
    ['5 CR', { ...plainDecimal, accounting: true }, '"C" does not belong there'],
    ['NaN', plainDecimal, 'it has no digits'],
    ['١٢', plainDecimal, 'only the digits 0 to 9 are read'],
  ])('of %j says what to declare', (text, format, expected) => {
    expect(parseDecimal(text, format)).toBeUndefined();
    expect(describeBadDecimal(text, format)).toContain(expected);
  });

  test('of a plus alone says nothing of accounting, which reads a lone minus only', () => {
    expect(describeBadDecimal('+', plainDecimal)).not.toContain('accounting');
  });

  test('of a mark beside a declared group says no more than that', () => {
    const spaced = { ...german, group: { mark: ' ', sizes: [3] } };
    expect(describeBadDecimal('1.234', spaced)).toMatch(/"\." is neither the decimal mark nor the grouping mark$/);
  });

  test('is one line that shows at most 40 characters of the text', () => {
    const reason = describeBadDecimal(`line\nbreak${'x'.repeat(100)}`, plainDecimal);
    expect(reason).toContain(`value "line\\nbreak${'x'.repeat(30)}…" is not a number`);
    expect(reason).not.toContain('\n');
  });
});
