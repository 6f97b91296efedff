/** The values of fields. What is no number here is left to whoever asks for its text. */
import {
  canonical,
  currencyShift,
  hasGroups,
  hasSpace,
  inBrackets,
  minusBehind,
} from '../../../../../core/numbers/spelling-bits';
import {
  blockAt,
  currenciesAt,
  currencyBytes,
  currencySigns,
  digitsAt,
  mantissasAt,
  marksAt,
  placesAt,
  scalesAt,
  spelledAt,
  spellingAt,
} from '../layout';
import { areEqual, quoteMark } from './bytes';
import { isEnd, notPlainField } from './ends';

const space: u32 = 0x20;
const opening: u32 = 0x28;
const closing: u32 = 0x29;
const minus: u32 = 0x2d;
const point: u32 = 0x2e;
const zero: u32 = 0x30;
const digitsMax: u32 = 15;

/** Eight digits, the first one in the lowest byte. */
// @ts-ignore: decorator
@inline
function eightDigits(digits: u64): u64 {
  const pairs = (digits * 2561) >> 8;
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >> 32;
}

/** Reads a canonical decimal of up to 15 digits; `notPlainField` where the field is anything else. */
// @ts-ignore: decorator
@inline
export function readDecimal(context: usize, column: usize, from: usize, row: u32): usize {
  const isQuoted = load<u8>(from) == quoteMark;
  const start = from + <usize>isQuoted;
  const isNegative = load<u8>(start) == minus;
  const first = start + <usize>isNegative;
  const digits = i8x16.sub(v128.load(first), i8x16.splat(<i8>zero));
  const areDigits = i8x16.bitmask(i8x16.lt_u(digits, i8x16.splat(10)));
  const whole = <u32>ctz(~areDigits);
  let scale: u32 = 0;
  let end = first + whole;
  let isCanonical = whole > 0;
  if (load<u8>(end) == point) {
    scale = <u32>ctz(~(areDigits >> (whole + 1)));
    end += scale + 1;
    isCanonical = isCanonical && scale > 0;
  }
  if (isQuoted) {
    isCanonical = isCanonical && load<u8>(end) == quoteMark;
    end++;
  }
  isCanonical =
    isCanonical &&
    whole + scale <= digitsMax &&
    isEnd(context, load<u8>(end)) &&
    (whole == 1 || load<u8>(first) != zero);
  if (!isCanonical) return notPlainField;
  const inPlace = i8x16.swizzle(digits, v128.load(context + (((whole << 4) + scale) << 4), digitsAt));
  const mantissa =
    eightDigits(i64x2.extract_lane(inPlace, 0)) * 100000000 + eightDigits(i64x2.extract_lane(inPlace, 1));
  if (isNegative && mantissa == 0) return notPlainField;
  const signed = isNegative ? -(<i64>mantissa) : <i64>mantissa;
  store<f64>(<usize>load<u32>(column, mantissasAt) + (row << 3), <f64>signed);
  store<i8>(<usize>load<u32>(column, scalesAt) + row, <i8>scale);
  return end;
}

/** How the currency sign at a place is written, and the space before it; 0 where there is none. */
function currencyAt(column: usize, at: usize): u32 {
  const isSpaced = load<u8>(at) == space;
  const signs = <usize>load<u32>(column, currenciesAt);
  for (let sign = 1; sign <= currencySigns; sign++) {
    const bytes = signs + sign * currencyBytes;
    const length = load<u8>(bytes);
    if (length == 0 || !areEqual(bytes + 1, at + <usize>isSpaced, length)) continue;
    return (<u32>sign << currencyShift) | (isSpaced ? hasSpace : 0);
  }
  return 0;
}

function currencyLength(column: usize, currency: u32): usize {
  const sign = currency >> currencyShift;
  const length = load<u8>(<usize>load<u32>(column, currenciesAt) + sign * currencyBytes);
  return <usize>length + ((currency & hasSpace) != 0 ? 1 : 0);
}

/**
 * Reads a decimal by the marks of its column, as `core/numbers/formatted.ts` reads texts; `notPlainField` where the field is anything else.
 * A loop over bytes: groups put the digits at places that differ from field to field.
 */
export function readMarked(context: usize, column: usize, from: usize, row: u32, delimiter: u32): usize {
  const marks = load<u32>(column, marksAt);
  const isAccounting = marks >> 16 != 0;
  const isQuoted = load<u8>(from) == quoteMark;
  // A delimiter is a mark only within quotes. No field holds a zero byte.
  const end: u32 = isQuoted ? 0 : delimiter;
  const mark = (marks & 0xff) == end ? 0 : marks & 0xff;
  const group = ((marks >> 8) & 0xff) == end ? 0 : (marks >> 8) & 0xff;
  let at = from + <usize>isQuoted;
  const isBracketed = isAccounting && load<u8>(at) == opening;
  let isNegative = isBracketed || load<u8>(at) == minus;
  if (isNegative) at++;
  const first = at;
  let spelling: u32 = isBracketed ? inBrackets : canonical;
  let mantissa: u64 = 0;
  let digits: u32 = 0;
  let sinceGroup: u32 = 0;
  for (; ; at++) {
    const byte = <u32>load<u8>(at);
    const digit = byte - zero;
    if (digit <= 9) {
      if (++digits > digitsMax) return notPlainField;
      mantissa = mantissa * 10 + digit;
      sinceGroup++;
      continue;
    }
    if (group == 0 || byte != group) break;
    if ((spelling & hasGroups) == 0 ? sinceGroup == 0 || sinceGroup > 3 : sinceGroup != 3) return notPlainField;
    spelling |= hasGroups;
    sinceGroup = 0;
  }
  const whole = digits;
  if (whole == 0 || ((spelling & hasGroups) != 0 && sinceGroup != 3)) return notPlainField;
  if (whole > 1 && load<u8>(first) == zero) return notPlainField;
  if (mark != 0 && load<u8>(at) == mark) {
    for (at++; ; at++) {
      const digit = <u32>load<u8>(at) - zero;
      if (digit > 9) break;
      if (++digits > digitsMax) return notPlainField;
      mantissa = mantissa * 10 + digit;
    }
    if (digits == whole) return notPlainField;
  }
  if (isBracketed) {
    if (load<u8>(at++) != closing) return notPlainField;
  } else if (isAccounting && !isNegative && load<u8>(at) == minus) {
    isNegative = true;
    spelling |= minusBehind;
    at++;
  } else if (isAccounting) {
    const currency = currencyAt(column, at);
    spelling |= currency;
    at += currencyLength(column, currency);
  }
  if (isQuoted && load<u8>(at++) != quoteMark) return notPlainField;
  if (!isEnd(context, load<u8>(at)) || (isNegative && mantissa == 0)) return notPlainField;
  const scale = digits - whole;
  const isCanonical = spelling == canonical && (scale == 0 || mark == point);
  store<f64>(<usize>load<u32>(column, mantissasAt) + (row << 3), isNegative ? -(<f64>mantissa) : <f64>mantissa);
  store<i8>(<usize>load<u32>(column, scalesAt) + row, <i8>scale);
  store<u32>(
    <usize>load<u32>(column, spelledAt) + (row << 2),
    isCanonical ? canonical : spelling | load<u32>(column, spellingAt),
  );
  store<i32>(<usize>load<u32>(column, placesAt) + (row << 2), <i32>(from - <usize>load<u32>(context, blockAt)));
  return at;
}
