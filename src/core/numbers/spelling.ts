/** Texts of numbers as bits: what people wrote, such as `(1.234,50)`, is the number, its scale and how it is written. */
import * as bits from './spelling-bits.ts';

/** The marks that numbers are written with. */
export interface NumberMarks {
  /** One character of ASCII. */
  readonly decimal: string;
  /** Between groups of three digits; one character of ASCII. */
  readonly group: string | undefined;
}

export const canonicalMarks: NumberMarks = { decimal: '.', group: undefined };

/** Currency signs that bits can say, by number. */
export const currencySigns = ['', '€', '$', '£'] as const;

/**
 * The text of a number.
 * @param mantissa of the value, with its `scale`; @param spelling that is `written`; @param marks by number
 */
export function spelledText(mantissa: number, scale: number, spelling: number, marks: readonly NumberMarks[]): string {
  const { decimal, group = '' } = marks[spelling >> bits.marksShift] as NumberMarks;
  const isNegative = (spelling & bits.negated) === 0 ? mantissa < 0 : mantissa > 0;
  const digits = String(Math.abs(mantissa)).padStart(scale + 1, '0');
  const point = digits.length - scale;
  const whole = digits.slice(0, point);
  const grouped = (spelling & bits.hasGroups) === 0 ? whole : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, group);
  const number = scale === 0 ? grouped : `${grouped}${decimal}${digits.slice(point)}`;
  const currency = currencySigns[(spelling >> bits.currencyShift) & bits.currencyMask];
  return `${signed(number, isNegative, spelling)}${(spelling & bits.hasSpace) === 0 ? '' : ' '}${currency}`;
}

function signed(number: string, isNegative: boolean, spelling: number): string {
  if (!isNegative) return number;
  if ((spelling & bits.inBrackets) !== 0) return `(${number})`;
  return (spelling & bits.minusBehind) === 0 ? `-${number}` : `${number}-`;
}
