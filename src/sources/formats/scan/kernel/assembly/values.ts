/** The values of JSON records. A place is behind a value; 0: it is not plain, and the context says where it stopped being so. */
import { blockAt, lastAt, lengthAt, needsAt, needsKinds, nextAt, reachedAt, textAt } from '../layout';
import { areEqual, quoteMark, setBits } from './bytes';
import { fullField, notPlainField } from './ends';
import { leaveValue } from './fields';
import { readDecimal } from './numbers';
import { find, noRoom, recordOf, take } from './texts';

const backslash: u32 = 0x5c;
const minus: u32 = 0x2d;
const plus: u32 = 0x2b;
const point: u32 = 0x2e;
const zero: u32 = 0x30;
const nine: u32 = 0x39;
const firstOfNull: u32 = 0x6e;

export function fail(context: usize, at: usize): usize {
  store<u32>(context, <u32>at, reachedAt);
  return notPlainField;
}

// @ts-ignore: decorator
@inline
function isDigit(byte: u32): bool {
  return byte - zero <= 9;
}

/** Behind a value that is no list and no object. */
export function skipValue(context: usize, from: usize): usize {
  const first = <u32>load<u8>(from);
  if (first == quoteMark) return skipString(context, from);
  return first == minus || isDigit(first) ? skipNumber(context, from) : skipLiteral(context, from);
}

/** @param from its opening quote */
function skipString(context: usize, from: usize): usize {
  let at = from + 1;
  while (true) {
    const bytes = v128.load(at);
    const controls = i8x16.bitmask(i8x16.lt_u(bytes, i8x16.splat(0x20)));
    const found = controls | setBits(bytes, quoteMark) | setBits(bytes, backslash);
    if (found == 0) {
      at += 16;
      continue;
    }
    at += ctz(found);
    const byte = <u32>load<u8>(at);
    if (byte == quoteMark) return at + 1;
    if (byte != backslash) return fail(context, at);
    at = skipEscape(context, at);
    if (at == notPlainField) return notPlainField;
  }
}

/** Behind an escape. A NUL and half a surrogate pair are not plain. */
function skipEscape(context: usize, from: usize): usize {
  const escaped = <u32>load<u8>(from, 1);
  if (escaped != 0x75) return isShortEscape(escaped) ? from + 2 : fail(context, from + 1);
  const unit = unitOf(context, from);
  if (unit < 0) return notPlainField;
  if (unit == 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return fail(context, from);
  const end = from + 6;
  if (unit < 0xd800 || unit > 0xdbff) return end;
  if (load<u8>(end) != backslash) return fail(context, end);
  if (load<u8>(end, 1) != 0x75) return isShortEscape(load<u8>(end, 1)) ? fail(context, end) : fail(context, end + 1);
  const second = unitOf(context, end);
  if (second < 0) return notPlainField;
  return second >= 0xdc00 && second <= 0xdfff ? end + 6 : fail(context, end);
}

/** `"`, `\`, `/`, b, f, n, r, t. */
function isShortEscape(byte: u32): bool {
  switch (byte) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

/** The UTF-16 unit of an escape `\u`, or -1. */
function unitOf(context: usize, from: usize): i32 {
  let unit: i32 = 0;
  for (let at = from + 2; at < from + 6; at++) {
    const byte = <u32>load<u8>(at);
    const digit = byte <= nine ? byte - zero : (byte | 0x20) - 0x57;
    if (digit > 15 || (byte > nine && digit < 10)) {
      fail(context, at);
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

// @ts-ignore: decorator
@inline
function skipDigits(from: usize): usize {
  let at = from;
  while (isDigit(load<u8>(at))) at++;
  return at;
}

function skipNumber(context: usize, from: usize): usize {
  const whole = load<u8>(from) == minus ? from + 1 : from;
  let at = skipDigits(whole);
  if (at == whole || (at > whole + 1 && load<u8>(whole) == zero)) return fail(context, at);
  if (load<u8>(at) == point) {
    const fraction = at + 1;
    at = skipDigits(fraction);
    if (at == fraction) return fail(context, at);
  }
  if ((<u32>load<u8>(at) | 0x20) == 0x65) {
    at++;
    const sign = <u32>load<u8>(at);
    if (sign == minus || sign == plus) at++;
    const exponent = at;
    at = skipDigits(exponent);
    if (at == exponent) return fail(context, at);
  }
  return at;
}

/** `true`, `false` and `null`, each as the letters behind the first one. */
function skipLiteral(context: usize, from: usize): usize {
  switch (<u32>load<u8>(from)) {
    case 0x74:
      return skipLetters(context, from, 0x657572, 3);
    case 0x66:
      return skipLetters(context, from, 0x65736c61, 4);
    case firstOfNull:
      return skipLetters(context, from, 0x6c6c75, 3);
    default:
      return fail(context, from);
  }
}

function skipLetters(context: usize, from: usize, letters: u32, count: u32): usize {
  for (let at: u32 = 1; at <= count; at++) {
    if (load<u8>(from + at) != <u8>(letters >> ((at - 1) << 3))) return fail(context, from + at);
  }
  return from + count + 1;
}

/** Numbers the text of a value; that of `null` is the empty one. `fullField` where it does not fit. */
export function readRecordCode(context: usize, column: usize, from: usize, row: u32): usize {
  const guess = load<u32>(recordOf(column, load<u32>(column, lastAt)), nextAt);
  const record = recordOf(column, guess);
  const length = load<u32>(record, lengthAt);
  const isString = load<u8>(from) == quoteMark;
  const start = from + <usize>isString;
  const isEqual = areEqual(load<u32>(record, textAt), start, length);
  // Within quotes a known text before a closing quote is all of the value.
  if (isString && isEqual && load<u8>(start + length) == quoteMark) {
    take(column, guess, row);
    return start + length + 1;
  }
  const end = skipValue(context, from);
  if (end == notPlainField) return notPlainField;
  if (!isString && load<u8>(from) == firstOfNull) {
    take(column, 0, row);
    return end;
  }
  const textEnd = end - <usize>isString;
  const code = isEqual && start + length == textEnd ? <i32>guess : find(context, column, start, <u32>(textEnd - start));
  if (code == noRoom) return fullField;
  store<u32>(recordOf(column, load<u32>(column, lastAt)), code, nextAt);
  take(column, code, row);
  return end;
}

/** Reads a decimal, or leaves the value to whoever asks for its text. */
export function readRecordValue(context: usize, column: usize, from: usize, row: u32): usize {
  if (load<u8>(from) != quoteMark || (load<u32>(column, needsAt) & needsKinds) == 0) {
    const end = readDecimal(context, column, from, row);
    if (end != notPlainField) return end;
  }
  leaveValue(column, row, <i32>(from - <usize>load<u32>(context, blockAt)));
  return skipValue(context, from);
}
