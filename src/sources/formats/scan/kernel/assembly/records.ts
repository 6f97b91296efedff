/** JSON records to columns. The agent's side is `json-scanner.ts`. */
import {
  blockAt,
  codesAt,
  columnBytes,
  columnsAt,
  done,
  endAt,
  full,
  hasMoreColumns,
  isListAt,
  leadBytes,
  leadColumnAt,
  leadLengthAt,
  leadTextAt,
  leadsAt,
  leadsCountAt,
  linesSkippedAt,
  maybeCut,
  needsAt,
  needsCodes,
  needsValues,
  nextRecordAt,
  noColumn,
  notPlain,
  placeAt,
  recordAt,
  recordsSeenAt,
  rowAt,
  rowStartsAt,
  rowsAt,
  rowsMaxAt,
  seenInAt,
  stopAt,
  strangeLead,
  valueAt,
  valueColumnAt,
  widthAt,
  nextIsFirst,
  nextIsList,
  nextIsMore,
  nextIsNothing,
  nextIsRecord,
} from '../layout';
import { areEqual, carriageReturn, lineFeed } from './bytes';
import { fullField, notPlainField } from './ends';
import { leaveValue } from './fields';
import { fail, readRecordCode, readRecordValue, skipValue } from './values';

const openObject: u32 = 0x7b;
const closeObject: u32 = 0x7d;
const openList: u32 = 0x5b;
const closeList: u32 = 0x5d;
const comma: u32 = 0x2c;

/** Between the records of lines a line feed is no space. */
// @ts-ignore: decorator
@inline
function isSpace(byte: u32, isList: u32): bool {
  return byte == 0x20 || byte == 0x09 || byte == carriageReturn || (isList != 0 && byte == lineFeed);
}

function skipSpace(from: usize, isList: u32): usize {
  let at = from;
  while (isSpace(load<u8>(at), isList)) at++;
  return at;
}

/** What may come between records behind a byte; -1: nothing that begins so. */
function nextBehind(byte: u32, next: i32, isList: u32): i32 {
  if (isList == 0) return byte == lineFeed ? nextIsRecord : -1;
  if (byte == openList) return next == nextIsList ? nextIsFirst : -1;
  if (byte == closeList) return next == nextIsFirst || next == nextIsMore ? nextIsNothing : -1;
  return byte == comma && next == nextIsMore ? nextIsRecord : -1;
}

/** Where the next record begins; the block's end where there is none. */
function toRecord(context: usize, from: usize, end: usize, isList: u32): usize {
  let next = load<i32>(context, nextRecordAt);
  let at = skipSpace(from, isList);
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte == openObject && (next == nextIsRecord || next == nextIsFirst)) return at;
    next = nextBehind(byte, next, isList);
    if (next < 0) return notPlainField;
    if (isList == 0) store<u32>(context, load<u32>(context, linesSkippedAt) + 1, linesSkippedAt);
    store<i32>(context, next, nextRecordAt);
    at = skipSpace(at + 1, isList);
  }
  return end;
}

/** Behind the record, where it ends here; else 0. A brace opens it. */
function recordEnd(from: usize, place: u32, isList: u32): usize {
  let at = skipSpace(from, isList);
  if (place == 0) at = skipSpace(at + 1, isList);
  return load<u8>(at) == closeObject ? at + 1 : notPlainField;
}

/** For the columns that a record has not. */
function leaveOut(context: usize, row: u32, record: u32): void {
  const width = load<u32>(context, widthAt);
  const seenIn = <usize>load<u32>(context, seenInAt);
  let column = <usize>load<u32>(context, columnsAt);
  for (let at: u32 = 0; at < width; at++, column += columnBytes) {
    if (load<u32>(seenIn + (at << 2)) == record) continue;
    const needs = load<u32>(column, needsAt);
    if ((needs & needsCodes) != 0) store<u32>(<usize>load<u32>(column, codesAt) + (row << 2), 0);
    if ((needs & needsValues) != 0) leaveValue(column, row, -1);
  }
}

/** Behind a value, which is read for its column. */
function readValueOf(context: usize, index: u32, from: usize, row: u32): usize {
  if (index >= load<u32>(context, widthAt)) return skipValue(context, from);
  const column = <usize>load<u32>(context, columnsAt) + index * columnBytes;
  const needs = load<u32>(column, needsAt);
  if (needs == 0) return skipValue(context, from);
  let end = from;
  if ((needs & needsCodes) != 0) end = readRecordCode(context, column, from, row);
  if (end > fullField && (needs & needsValues) != 0) end = readRecordValue(context, column, from, row);
  return end;
}

/**
 * Reads the values of the record at hand from where the context says.
 * @returns behind it; `notPlainField`; `fullField` where a text does not fit, or where a lead is strange, as `valueColumnAt` tells
 */
function readRecord(context: usize, from: usize, row: u32, record: u32): usize {
  const end = <usize>load<u32>(context, endAt);
  const isList = load<u32>(context, isListAt);
  const leads = <usize>load<u32>(context, leadsAt);
  const leadsCount = load<u32>(context, leadsCountAt);
  const seenIn = <usize>load<u32>(context, seenInAt);
  let place = load<u32>(context, placeAt);
  let at = <usize>load<u32>(context, valueAt);
  let column = load<i32>(context, valueColumnAt);
  while (true) {
    if (column == hasMoreColumns) {
      const lead = leads + place * leadBytes;
      const length = load<u32>(lead, leadLengthAt);
      const behind = at + length;
      // More space may follow than in the record before.
      if (
        place < leadsCount &&
        behind < end &&
        areEqual(load<u32>(lead, leadTextAt), at, length) &&
        !isSpace(load<u8>(behind), isList)
      ) {
        column = load<i32>(lead, leadColumnAt);
        at = behind;
      } else {
        const behindRecord = recordEnd(at, place, isList);
        if (behindRecord == notPlainField) {
          store<u32>(context, place, placeAt);
          store<u32>(context, <u32>at, valueAt);
          store<i32>(context, hasMoreColumns, valueColumnAt);
          return fullField;
        }
        at = behindRecord;
        column = noColumn;
      }
    }
    if (column == noColumn) break;
    // The second value of a column.
    if (load<u32>(seenIn + (column << 2)) == record) return fail(context, from);
    const behind = readValueOf(context, column, at, row);
    if (behind == notPlainField) return notPlainField;
    if (behind == fullField) {
      store<u32>(context, place, placeAt);
      store<u32>(context, <u32>at, valueAt);
      store<i32>(context, column, valueColumnAt);
      return fullField;
    }
    store<u32>(seenIn + (column << 2), record);
    at = behind;
    place++;
    column = hasMoreColumns;
  }
  if (place < load<u32>(context, widthAt)) leaveOut(context, row, record);
  return at;
}

/** Reads records until something else is to be done: see the outcomes in `layout.ts`. @param bytesMax of a record */
export function scanRecords(context: usize, bytesMax: u32): i32 {
  const block = <usize>load<u32>(context, blockAt);
  const end = <usize>load<u32>(context, endAt);
  const stop = <usize>load<u32>(context, stopAt);
  const rowsMax = load<u32>(context, rowsMaxAt);
  const isList = load<u32>(context, isListAt);
  const rowStarts = <usize>load<u32>(context, rowStartsAt);
  let row = load<u32>(context, rowsAt);
  let at = <usize>load<u32>(context, rowAt);
  let outcome: i32 = done;
  while (row < rowsMax) {
    let from = <usize>load<u32>(context, recordAt);
    if (from == 0) {
      from = toRecord(context, at, end, isList);
      if (from == notPlainField) {
        outcome = notPlain;
        break;
      }
      at = from;
      if (from >= stop) break;
      store<u32>(context, <u32>from, recordAt);
      store<u32>(context, load<u32>(context, recordsSeenAt) + 1, recordsSeenAt);
      store<u32>(context, 0, placeAt);
      store<u32>(context, <u32>from, valueAt);
      store<i32>(context, hasMoreColumns, valueColumnAt);
    }
    const behind = readRecord(context, from, row, load<u32>(context, recordsSeenAt));
    if (behind == fullField) {
      outcome = load<i32>(context, valueColumnAt) == hasMoreColumns ? strangeLead : full;
      break;
    }
    store<u32>(context, 0, recordAt);
    if (behind == notPlainField || <u32>(behind - from) > bytesMax) {
      at = from;
      outcome = behind == notPlainField ? maybeCut : notPlain;
      break;
    }
    store<u32>(rowStarts + (row << 2), <u32>(from - block));
    store<i32>(context, nextIsMore, nextRecordAt);
    row++;
    at = behind;
  }
  store<u32>(context, row, rowsAt);
  store<u32>(context, <u32>at, rowAt);
  return outcome;
}
