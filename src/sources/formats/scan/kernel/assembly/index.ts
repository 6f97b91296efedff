/**
 * Delimited text to columns. The agent's side is `scanner.ts`, which has the contract; what is here is told by the context and the columns
 * of `layout.ts`, and keeps nothing of its own.
 */
import {
  blockAt,
  codesAt,
  columnBytes,
  columnsAt,
  commentAt,
  delimiterAt,
  done,
  endAt,
  full,
  isLastAt,
  isOneColumnAt,
  linesSkippedAt,
  maybeComment,
  needsAt,
  needsCodes,
  needsValues,
  noCommentAt,
  notPlain,
  oneField,
  raggedAt,
  raggedRowsAt,
  rowAt,
  rowEndAt,
  rowStartsAt,
  rowsAt,
  rowsMaxAt,
  stopAt,
  widthAt,
} from '../layout';
import { carriageReturn, lineFeed, quoteMark } from './bytes';
import { fullField, notPlainField } from './ends';
import { leaveValue, readCode, readValue, skip } from './fields';

export { find } from './texts';
export { scanRecords } from './records';

/** No line end is known yet. */
const none: usize = 0;

/** Where the line behind a line end begins. */
// @ts-ignore: decorator
@inline
function behindLineEnd(at: usize, end: usize, isLast: u32): usize {
  // The file may end without a line end. A sentinel behind that one is in a quoted field that nothing closes.
  if (at >= end) return isLast != 0 && at == end ? end : none;
  if (load<u8>(at) == lineFeed) return at + 1;
  if (at + 1 == end) return isLast != 0 ? end : none;
  return load<u8>(at, 1) == lineFeed ? at + 2 : at + 1;
}

/** A row that has fewer or more fields than the header. */
export function takeRagged(context: usize, row: u32, fields: u32): void {
  const width = load<u32>(context, widthAt);
  const count = load<u32>(context, raggedRowsAt);
  const pair = <usize>load<u32>(context, raggedAt) + (count << 3);
  store<u32>(pair, row);
  store<u32>(pair, fields, 4);
  store<u32>(context, count + 1, raggedRowsAt);
  for (let field = fields; field < width; field++) {
    const column = <usize>load<u32>(context, columnsAt) + field * columnBytes;
    const needs = load<u32>(column, needsAt);
    if ((needs & needsCodes) != 0) store<u32>(<usize>load<u32>(column, codesAt) + (row << 2), 0);
    if ((needs & needsValues) != 0) leaveValue(column, row, -1);
  }
}

/** Whether a row of one field is surely more than white space. */
// @ts-ignore: decorator
@inline
function isSurelyText(byte: u32): bool {
  return byte > 0x20 && byte < 0x7f && byte != quoteMark;
}

/** Reads rows until something else is to be done: see the outcomes in `layout.ts`. @param bytesMax of a row; @param fieldsMax of a row */
export function scan(context: usize, bytesMax: u32, fieldsMax: u32): i32 {
  const block = <usize>load<u32>(context, blockAt);
  const stop = <usize>load<u32>(context, stopAt);
  const end = <usize>load<u32>(context, endAt);
  const isLast = load<u32>(context, isLastAt);
  const rowsMax = load<u32>(context, rowsMaxAt);
  const width = load<u32>(context, widthAt);
  const columns = <usize>load<u32>(context, columnsAt);
  const rowStarts = <usize>load<u32>(context, rowStartsAt);
  const delimiter = load<u32>(context, delimiterAt);
  const comment = load<u32>(context, commentAt);
  const isOneColumn = load<u32>(context, isOneColumnAt);
  let row = load<u32>(context, rowsAt);
  let at = <usize>load<u32>(context, rowAt);
  let outcome: i32 = done;
  while (at < stop && row < rowsMax) {
    const byte = <u32>load<u8>(at);
    if (byte == lineFeed || byte == carriageReturn) {
      const next = behindLineEnd(at, end, isLast);
      if (next == none) break;
      store<u32>(context, load<u32>(context, linesSkippedAt) + 1, linesSkippedAt);
      at = next;
      continue;
    }
    if (byte == comment && at != <usize>load<u32>(context, noCommentAt)) {
      outcome = maybeComment;
      break;
    }
    let column = columns;
    let fields: u32 = 0;
    let place = at;
    for (;;) {
      const from = place;
      if (fields < width) {
        const needs = load<u32>(column, needsAt);
        if (needs == needsCodes) place = readCode(context, column, from, row, delimiter);
        else if (needs == needsValues) place = readValue(context, column, from, row, delimiter);
        else if (needs == 0) place = skip(context, from, delimiter);
        else {
          place = readCode(context, column, from, row, delimiter);
          if (place > fullField) place = readValue(context, column, from, row, delimiter);
        }
        column += columnBytes;
      } else place = skip(context, from, delimiter);
      fields++;
      if (place <= fullField || load<u8>(place) != delimiter) break;
      place++;
    }
    if (place <= fullField) {
      outcome = place == notPlainField ? notPlain : full;
      break;
    }
    if (<u32>(place - at) > bytesMax || fields > fieldsMax) {
      outcome = notPlain;
      break;
    }
    const next = behindLineEnd(place, end, isLast);
    if (next == none) {
      if (isLast != 0) outcome = notPlain;
      break;
    }
    if (fields == 1 && isOneColumn == 0 && !isSurelyText(load<u8>(at))) {
      store<u32>(context, <u32>place, rowEndAt);
      outcome = oneField;
      break;
    }
    store<u32>(rowStarts + (row << 2), <u32>(at - block));
    if (fields != width) takeRagged(context, row, fields);
    row++;
    at = next;
  }
  store<u32>(context, row, rowsAt);
  store<u32>(context, <u32>at, rowAt);
  return outcome;
}
