/** Reads numbers as canonical decimal text. No value ever becomes a JavaScript number. */
import { isZero, multiplyDecimals, negateDecimal, roundDecimal } from './arithmetic.ts';
import { isWhiteSpace, quote, trimWhiteSpace } from '../text.ts';

/** How a column writes its numbers. */
export interface DecimalFormat {
  /** The decimal mark, one character. Default `.` */
  readonly decimal: string;
  /** The grouping mark and the sizes of the groups from the right, the last one repeated; `undefined`: no grouping. */
  readonly group: { readonly mark: string; readonly sizes: readonly number[] } | undefined;
  /** Brackets, trailing minus, currency signs and codes, `%`, and a lone `-` as zero. */
  readonly accounting: boolean;
  /** Canonical decimal text that every value is multiplied by, exactly. */
  readonly scale: string | undefined;
  readonly negate: boolean;
  /** Decimals that every value is rounded to, halves away from zero as in ledgers; `undefined`: no rounding. */
  readonly round: number | undefined;
}

export const plainDecimal: DecimalFormat = {
  decimal: '.',
  group: undefined,
  accounting: false,
  scale: undefined,
  negate: false,
  round: undefined,
};

/** Exponents beyond this are rejects: no real figure has a hundred zeros. */
const exponentMax = 100;

/**
 * The canonical text of a number (`-?(0|[1-9]\d*)(\.\d+)?`), scale, sign and rounding applied; `undefined` if `text` is not one in
 * this format. Marks are declared, never guessed; trailing zeros stay as written.
 */
export function parseDecimal(text: string, format: DecimalFormat): string | undefined {
  const read = isCanonical(text, format) ? text : readDecimal(text, format);
  if (read === undefined) return undefined;
  const scaled = format.scale === undefined ? read : multiplyDecimals(read, format.scale);
  const signed = format.negate ? negateDecimal(scaled) : scaled;
  return format.round === undefined ? signed : roundDecimal(signed, format.round);
}

/** Whether `text` is canonical already, as nearly every cell of most files is. */
function isCanonical(text: string, format: DecimalFormat): boolean {
  const end = text.length;
  const isNegative = text.charCodeAt(0) === minus;
  const start = isNegative ? 1 : 0;
  let i = start;
  while (i < end && isDigit(text.charCodeAt(i))) i++;
  if (i === start || (i > start + 1 && text.charCodeAt(start) === zero)) return false;
  if (i < end) {
    if (text.charCodeAt(i) !== point || format.decimal !== '.') return false;
    const fraction = ++i;
    while (i < end && isDigit(text.charCodeAt(i))) i++;
    if (i === fraction || i < end) return false;
  }
  return !isNegative || !isZero(text);
}

/** A number without its sign and whatever is printed around it. */
interface Bare {
  readonly text: string;
  readonly isNegative: boolean;
  /** A minus stood behind it. */
  readonly hasMinusBehind?: boolean;
}

function readDecimal(text: string, format: DecimalFormat): string | undefined {
  const trimmed = trimWhiteSpace(text);
  const bare = format.accounting ? peelAccounting(trimmed) : peelSign(trimmed);
  if (bare === undefined || isFlatPrice(bare, format)) return undefined;
  const read = readUnsigned(bare.text, format);
  return bare.isNegative && read !== undefined ? negateDecimal(read) : read;
}

/** `1.234,-` is a price without cents where it is written so, and not a negative one; nothing in the text tells which. */
function isFlatPrice({ text, hasMinusBehind = false }: Bare, { decimal }: DecimalFormat): boolean {
  return hasMinusBehind && text.endsWith(decimal);
}

function peelSign(text: string): Bare {
  const code = text.charCodeAt(0);
  if (isMinus(code)) return { text: text.slice(1), isNegative: true };
  return { text: code === plus ? text.slice(1) : text, isNegative: false };
}

/** Digits with at most one decimal mark, groups where declared, and an exponent. */
function readUnsigned(text: string, format: DecimalFormat): string | undefined {
  const exponentAt = text.search(/[eE]/);
  const mantissa = exponentAt < 0 ? text : text.slice(0, exponentAt);
  const exponent = exponentAt < 0 ? 0 : readExponent(text.slice(exponentAt + 1));
  if (exponent === undefined) return undefined;

  const markAt = mantissa.indexOf(format.decimal);
  const whole = ungroup(markAt < 0 ? mantissa : mantissa.slice(0, markAt), format);
  const fraction = markAt < 0 ? '' : mantissa.slice(markAt + format.decimal.length);
  if (whole === undefined || !isDigits(fraction) || whole.length + fraction.length === 0) return undefined;
  return placePoint(whole + fraction, fraction.length - exponent);
}

function readExponent(text: string): number | undefined {
  const match = /^([+\u2212-]?)0*([0-9]{1,3})$/.exec(text);
  if (match === null) return undefined;
  const size = Number(match[2]);
  if (size > exponentMax) return undefined;
  return match[1] === '' || match[1] === '+' ? size : -size;
}

/** The digits of an integer part; `undefined` where a group mark is not between whole groups. */
function ungroup(text: string, { group }: DecimalFormat): string | undefined {
  if (isDigits(text)) return text;
  if (group === undefined) return undefined;
  let digits = '';
  let end = text.length;
  let place = 0;
  for (let i = text.length - 1; i >= 0; i--) {
    const code = text.charCodeAt(i);
    if (isDigit(code)) continue;
    if (!isMark(code, group.mark) || end - i - 1 !== groupSize(group.sizes, place)) return undefined;
    digits = text.slice(i + 1, end) + digits;
    end = i;
    place++;
  }
  // No group begins with 0: 0.123 is a fraction with another mark than declared, and 123 would be a guess.
  if (text.charCodeAt(0) === zero) return undefined;
  return end >= 1 && end <= groupSize(group.sizes, place) ? text.slice(0, end) + digits : undefined;
}

function groupSize(sizes: readonly number[], place: number): number {
  return sizes[Math.min(place, sizes.length - 1)] ?? 3;
}

/** All white space is one mark, and so are both apostrophes, since programs differ in which they write. */
function isMark(code: number, mark: string): boolean {
  const declared = mark.charCodeAt(0);
  if (isWhiteSpace(declared)) return isWhiteSpace(code);
  if (isApostrophe(declared)) return isApostrophe(code);
  return code === declared;
}

/** @param scale how many of `digits` are decimals; negative: how many zeros follow them */
function placePoint(digits: string, scale: number): string {
  if (scale <= 0) return dropLeadingZeros(digits + '0'.repeat(-scale));
  const padded = digits.length > scale ? digits : digits.padStart(scale + 1, '0');
  return `${dropLeadingZeros(padded.slice(0, -scale))}.${padded.slice(-scale)}`;
}

function dropLeadingZeros(digits: string): string {
  let start = 0;
  while (start < digits.length - 1 && digits.charCodeAt(start) === zero) start++;
  return digits.slice(start);
}

/** The signs and codes of currencies in the text of a number: `$`, `US$`, `EUR`. */
export function currenciesIn(text: string): readonly string[] {
  return text.match(/\p{Lu}{0,3}\p{Sc}|[A-Z]{3}/gu) ?? [];
}

let currencyCodes: ReadonlySet<string> | undefined;

/** Whether it is a present or former code of ISO 4217. The first call takes 8 ms, which only accounting formats need. */
function isCurrencyCode(text: string): boolean {
  currencyCodes ??= new Set(Intl.supportedValuesOf('currency'));
  return currencyCodes.has(text);
}

/**
 * Removes what accounting prints around a number, from both ends: one sign (minus or plus before, minus after, or brackets), one
 * currency sign (`€`, `US$`), one currency code, one `%`. Spreadsheets print a lone minus for zero (`$ -`).
 */
function peelAccounting(text: string): Bare | undefined {
  const taken = new Set<Piece['kind']>();
  let rest = text;
  let isNegative = false;
  let hasMinusBehind = false;
  for (;;) {
    const piece = firstPiece(rest) ?? lastPiece(rest);
    if (piece === undefined) break;
    hasMinusBehind ||= piece.kind === 'minus' && piece.start === 0;
    // Two signs, two currencies or nested brackets have no certain meaning.
    const kind = piece.kind === 'plus' || piece.kind === 'brackets' ? 'minus' : piece.kind;
    if (taken.has(kind)) return undefined;
    taken.add(kind);
    if (piece.kind === 'brackets') taken.add('brackets');
    isNegative ||= kind === 'minus' && piece.kind !== 'plus';
    rest = trimWhiteSpace(rest.slice(piece.start, piece.end));
  }
  if (rest !== '') return { text: rest, isNegative, hasMinusBehind };
  const isLoneMinus = isNegative && !taken.has('brackets') && !taken.has('percent');
  return isLoneMinus ? { text: '0', isNegative: false } : undefined;
}

/** Something beside a number. The rest is what lies between `start` and `end`. */
interface Piece {
  readonly kind: 'minus' | 'plus' | 'brackets' | 'sign' | 'code' | 'percent';
  readonly start: number;
  readonly end: number;
}

function firstPiece(text: string): Piece | undefined {
  const code = text.charCodeAt(0);
  if (isDigit(code) || text === '') return undefined;
  const end = text.length;
  if (isMinus(code)) return { kind: 'minus', start: 1, end };
  if (code === plus) return { kind: 'plus', start: 1, end };
  if (code === percent) return { kind: 'percent', start: 1, end };
  if (code === opening) return text.endsWith(')') ? { kind: 'brackets', start: 1, end: end - 1 } : undefined;
  const sign = /^[A-Z]{0,3}\p{Sc}/u.exec(text);
  if (sign !== null) return { kind: 'sign', start: sign[0].length, end };
  return isCurrencyCode(text.slice(0, 3)) ? { kind: 'code', start: 3, end } : undefined;
}

function lastPiece(text: string): Piece | undefined {
  const end = text.length;
  const code = text.charCodeAt(end - 1);
  if (isDigit(code) || text === '') return undefined;
  if (isMinus(code)) return { kind: 'minus', start: 0, end: end - 1 };
  if (code === percent) return { kind: 'percent', start: 0, end: end - 1 };
  // A currency sign with its letters has at most five UTF-16 units.
  const sign = /[A-Z]{0,3}\p{Sc}$/u.exec(text.slice(-5));
  if (sign !== null) return { kind: 'sign', start: 0, end: end - sign[0].length };
  return isCurrencyCode(text.slice(-3)) ? { kind: 'code', start: 0, end: end - 3 } : undefined;
}

/** Why `parseDecimal` returned `undefined`: one line for the list of rejects. */
export function describeBadDecimal(text: string, format: DecimalFormat): string {
  const trimmed = trimWhiteSpace(text);
  if (trimmed === '') return 'value is empty; say missing: [""] if that means no value';
  return `value ${quote(trimmed)} is not a number: ${explain(trimmed, format)}`;
}

function explain(text: string, format: DecimalFormat): string {
  if (/[\p{Nd}--[0-9]]/v.test(text)) return 'only the digits 0 to 9 are read';
  if (/^[-+\u2212]$/.test(text)) return explainSign(text, format);
  if (!/[0-9]/.test(text)) {
    return 'it has no digits; list it under missing if it means "no value"';
  }
  if (!format.accounting && /[()%\p{Sc}]|^[A-Z]{3}|[A-Z]{3}$|[-\u2212]$/u.test(text)) {
    return 'say accounting: true if it is written for accounting (brackets, currency, %, trailing minus)';
  }
  const bare = format.accounting ? peelAccounting(text) : peelSign(text);
  if (bare === undefined) return 'it has more than one sign, currency or %';
  if (isFlatPrice(bare, format)) return `a dash behind the decimal mark is a minus to some, and "no cents" to others`;
  const exponentAt = bare.text.search(/[eE]/);
  const exponent = exponentAt < 0 ? '0' : bare.text.slice(exponentAt + 1);
  if (/^[+\u2212-]?[0-9]+$/.test(exponent) && readExponent(exponent) === undefined) {
    return `its exponent is not from -${exponentMax} to ${exponentMax}`;
  }
  return explainMark(bare.text, format);
}

/** A template may have made it: the sign of a column that says the side, before a field that is empty. */
function explainSign(text: string, { accounting }: DecimalFormat): string {
  const sign = text === '+' ? '-' : text;
  const missing = `it is a sign without a number; say missing: ["", "+", "${sign}"] if that means no value`;
  return accounting || text === '+' ? missing : `${missing}, or accounting: true if every lone ${quote(text)} means 0`;
}

/** About the first character that is neither a digit nor the decimal mark. */
function explainMark(text: string, { decimal, group }: DecimalFormat): string {
  if (text.split(decimal).length > 2) return `${quote(decimal)} is the decimal mark and occurs more than once`;
  // A blank before a word groups nothing: it is the word that does not belong there.
  const at = [...text.replaceAll(/\s+(?=\D)/gu, '')].find((one) => !/[0-9]/.test(one) && one !== decimal);
  if (at === undefined) return 'it has no digits';
  if (group !== undefined && isMark(at.charCodeAt(0), group.mark)) {
    const sizes = group.sizes.length === 1 ? `${group.sizes[0]}` : group.sizes.join(', ');
    if (text.startsWith('0')) return `no group begins with 0, so ${quote(at)} does not seem to be a group mark here`;
    return `${quote(at)} must stand between groups of ${sizes} digits, before the decimal mark`;
  }
  if (at === '.' || at === ',') {
    const other =
      group !== undefined
        ? ''
        : text.includes(decimal) && text.indexOf(at) > text.indexOf(decimal)
          ? `; say decimal: ${quote(at)}, group: ${quote(decimal)} where ${quote(decimal)} groups`
          : `; say group: ${quote(at)} if it groups, decimal: ${quote(at)} if it does not`;
    return `${quote(at)} is neither the decimal mark nor the grouping mark${other}`;
  }
  if (isWhiteSpace(at.charCodeAt(0)) || isApostrophe(at.charCodeAt(0))) {
    const mark = isApostrophe(at.charCodeAt(0)) ? "'" : ' ';
    return `${quote(at)} is not declared as a group mark; say group: ${quote(mark)} if it groups`;
  }
  return `${quote(at)} does not belong there`;
}

const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const percent = 0x25;
const opening = 0x28;

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

/** True for the empty text too. */
function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isDigit(text.charCodeAt(i))) return false;
  return true;
}

function isMinus(code: number): boolean {
  return code === minus || code === 0x2212;
}

function isApostrophe(code: number): boolean {
  return code === 0x27 || code === 0x2019;
}
