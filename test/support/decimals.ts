/** Formats of numbers, and any canonical text of one. */
import fc from 'fast-check';
import { type DecimalFormat, plainDecimal } from '../../src/core/numbers/decimal.ts';

export const german: DecimalFormat = { ...plainDecimal, decimal: ',', group: { mark: '.', sizes: [3] } };
export const english: DecimalFormat = { ...plainDecimal, group: { mark: ',', sizes: [3] } };
export const accounting: DecimalFormat = { ...english, accounting: true };

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 }).map((list) => list.join(''));
export const canonical = fc
  .tuple(fc.boolean(), digits, fc.option(digits, { nil: '' }))
  .map(([isNegative, whole, fraction]) => {
    const size = whole.replace(/^0+(?=\d)/, '') + (fraction === '' ? '' : `.${fraction}`);
    return isNegative && /[1-9]/.test(size) ? `-${size}` : size;
  });
