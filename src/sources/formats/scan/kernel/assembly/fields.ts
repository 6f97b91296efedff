/** The fields of delimited text. A place is that of a field's first byte, or behind it; 0: it is not plain. */
import {
  endAt,
  flagsAt,
  hasBreaksAt,
  holdsLineBreak,
  holdsQuote,
  lastAt,
  lengthAt,
  limitAt,
  marksAt,
  needsQuotes,
  nextAt,
  placesAt,
  blockAt,
  scalesAt,
  textAt,
  textsAt,
  textsUsedAt,
} from '../layout';
import { areEqual, bitsBefore, carriageReturn, lineFeed, quoteMark, setBits } from './bytes';
import { fullField, isEnd, notPlainField } from './ends';
import { readDecimal, readMarked } from './numbers';
import { find, hasRoom, noRoom, recordOf, take } from './texts';

// @ts-ignore: decorator
@inline
function noteBreaks(context: usize, at: usize): void {
  if (at < <usize>load<u32>(context, endAt)) store<u32>(context, 1, hasBreaksAt);
}

/** Behind a field. */
// @ts-ignore: decorator
@inline
export function skip(context: usize, from: usize, delimiter: u32): usize {
  return load<u8>(from) == quoteMark ? skipQuoted(context, from + 1) : skipPlain(from, delimiter);
}

// @ts-ignore: decorator
@inline
function skipPlain(from: usize, delimiter: u32): usize {
  let at = from;
  while (true) {
    const bytes = v128.load(at);
    const quotes = i8x16.eq(bytes, i8x16.splat(<i8>quoteMark));
    const ends = v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>delimiter)),
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>lineFeed)), i8x16.eq(bytes, i8x16.splat(<i8>carriageReturn))),
    );
    const found = i8x16.bitmask(v128.or(quotes, ends));
    if (found != 0) {
      at += ctz(found);
      return load<u8>(at) == quoteMark ? notPlainField : at;
    }
    at += 16;
  }
}

/** @param from behind the opening quote */
function skipQuoted(context: usize, from: usize): usize {
  let at = from;
  while (true) {
    const bytes = v128.load(at);
    const quotes = setBits(bytes, quoteMark);
    const before = quotes == 0 ? 0xffff : bitsBefore(ctz(quotes));
    const breaks = (setBits(bytes, lineFeed) | setBits(bytes, carriageReturn)) & before;
    if (breaks != 0) noteBreaks(context, at + ctz(breaks));
    if (quotes == 0) {
      at += 16;
      continue;
    }
    at += ctz(quotes);
    const next = <u32>load<u8>(at, 1);
    if (isEnd(context, next)) return at + 1;
    if (next != quoteMark) return notPlainField;
    at += 2;
  }
}

/**
 * Numbers the text of a field. Rows tend to name things in one order, so the text that followed the last one before is compared first:
 * outside quotes it holds no end of a field and never a quote, so that equal bytes before an end are the whole field.
 */
// @ts-ignore: decorator
@inline
export function readCode(context: usize, column: usize, from: usize, row: u32, delimiter: u32): usize {
  const guess = load<u32>(recordOf(column, load<u32>(column, lastAt)), nextAt);
  const record = recordOf(column, guess);
  const length = load<u32>(record, lengthAt);
  const isQuoted = load<u8>(from) == quoteMark;
  const at = from + <usize>isQuoted;
  if (areEqual(load<u32>(record, textAt), at, length)) {
    const flags = load<u32>(record, flagsAt);
    const end = at + length;
    const byte = <u32>load<u8>(end);
    if (!isQuoted) {
      if (isEnd(context, byte) && (flags & needsQuotes) == 0) {
        take(column, guess, row);
        return end;
      }
    } else if (byte == quoteMark && isEnd(context, load<u8>(end, 1))) {
      if ((flags & holdsLineBreak) != 0) store<u32>(context, 1, hasBreaksAt);
      take(column, guess, row);
      return end + 1;
    }
  }
  return isQuoted ? lookUpQuoted(context, column, from + 1, row) : lookUp(context, column, from, row, delimiter);
}

function lookUp(context: usize, column: usize, from: usize, row: u32, delimiter: u32): usize {
  const end = skipPlain(from, delimiter);
  if (end == notPlainField || end >= <usize>load<u32>(context, limitAt)) return end;
  return takeText(context, column, from, <u32>(end - from), row) ? end : fullField;
}

/** @param from behind the opening quote */
function lookUpQuoted(context: usize, column: usize, from: usize, row: u32): usize {
  let at = from;
  let quotes = setBits(v128.load(at), quoteMark);
  while (quotes == 0) {
    at += 16;
    quotes = setBits(v128.load(at), quoteMark);
  }
  at += ctz(quotes);
  const next = <u32>load<u8>(at, 1);
  const limit = <usize>load<u32>(context, limitAt);
  if (isEnd(context, next)) {
    if (at + 1 >= limit) return at + 1;
    return takeText(context, column, from, <u32>(at - from), row) ? at + 1 : fullField;
  }
  if (next != quoteMark) return notPlainField;
  const end = skipQuoted(context, from);
  if (end == notPlainField || end >= limit) return end;
  // The text goes where it would be kept, with one quote for each two.
  if (!hasRoom(context, column, <u32>(end - from))) return fullField;
  const text = <usize>load<u32>(column, textsAt) + load<u32>(column, textsUsedAt);
  let length: u32 = 0;
  for (at = from; at < end - 1; at++) {
    const byte = load<u8>(at);
    store<u8>(text + length++, byte);
    if (byte == quoteMark) at++;
  }
  return takeText(context, column, text, length, row) ? end : fullField;
}

function takeText(context: usize, column: usize, from: usize, length: u32, row: u32): bool {
  const code = find(context, column, from, length);
  if (code == noRoom) return false;
  const flags = load<u32>(recordOf(column, code), flagsAt);
  if ((flags & holdsLineBreak) != 0) store<u32>(context, 1, hasBreaksAt);
  // A text with a quote in it stands in the file with two.
  if ((flags & holdsQuote) == 0) store<u32>(recordOf(column, load<u32>(column, lastAt)), code, nextAt);
  take(column, code, row);
  return true;
}

/** Reads a decimal, or leaves the field to whoever asks for its text. */
// @ts-ignore: decorator
@inline
export function readValue(context: usize, column: usize, from: usize, row: u32, delimiter: u32): usize {
  const end =
    load<u32>(column, marksAt) == 0
      ? readDecimal(context, column, from, row)
      : readMarked(context, column, from, row, delimiter);
  if (end != notPlainField) return end;
  leaveValue(column, row, <i32>(from - <usize>load<u32>(context, blockAt)));
  return skip(context, from, delimiter);
}

/** Leaves a value to whoever asks for its text. @param place of the field in the block; -1: there is none */
export function leaveValue(column: usize, row: u32, place: i32): void {
  store<i8>(<usize>load<u32>(column, scalesAt) + row, -1);
  store<i32>(<usize>load<u32>(column, placesAt) + (row << 2), place);
}
