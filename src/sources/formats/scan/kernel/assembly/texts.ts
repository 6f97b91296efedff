/** The distinct byte strings of a column, numbered. */
import {
  codesAt,
  countAt,
  delimiterAt,
  flagsAt,
  fullBytesAt,
  fullColumnAt,
  hashesAt,
  holdsLineBreak,
  holdsQuote,
  lastAt,
  lengthAt,
  needsQuotes,
  nextAt,
  recordBytes,
  recordsAt,
  roomAt,
  slotMaskAt,
  slotsAt,
  textAt,
  textsAt,
  textsRoomAt,
  textsUsedAt,
} from '../layout';
import { areEqual, bitsBefore, carriageReturn, hashOf, lineFeed, quoteMark, setBits } from './bytes';

/** Instead of a number: the column has no room for the text. */
export const noRoom: i32 = -1;

// @ts-ignore: decorator
@inline
export function recordOf(column: usize, code: u32): usize {
  return <usize>load<u32>(column, recordsAt) + code * recordBytes;
}

/** Gives a row the number of its text. */
// @ts-ignore: decorator
@inline
export function take(column: usize, code: u32, row: u32): void {
  store<u32>(<usize>load<u32>(column, codesAt) + (row << 2), code);
  store<u32>(column, code, lastAt);
}

/** The number of the text, or `noRoom`: the context says then what is missing. */
export function find(context: usize, column: usize, from: usize, length: u32): i32 {
  const hash = hashOf(from, length);
  const slots = <usize>load<u32>(column, slotsAt);
  const hashes = <usize>load<u32>(column, hashesAt);
  const mask = load<u32>(column, slotMaskAt);
  let slot = hash & mask;
  while (true) {
    const code = load<u32>(slots + (slot << 2)) - 1;
    if (code == <u32>-1) {
      const made = add(context, column, from, length);
      if (made == noRoom) return noRoom;
      store<u32>(hashes + (made << 2), hash);
      store<u32>(slots + (slot << 2), made + 1);
      return made;
    }
    const record = recordOf(column, code);
    const isSame =
      load<u32>(hashes + (code << 2)) == hash &&
      load<u32>(record, lengthAt) == length &&
      areEqual(load<u32>(record, textAt), from, length);
    if (isSame) return code;
    slot = (slot + 1) & mask;
  }
}

/** Whether so many bytes more fit; else the context says that they do not. */
export function hasRoom(context: usize, column: usize, bytes: u32): bool {
  const fits =
    load<u32>(column, countAt) < load<u32>(column, roomAt) &&
    load<u32>(column, textsUsedAt) + bytes <= load<u32>(column, textsRoomAt);
  if (fits) return true;
  store<u32>(context, <u32>column, fullColumnAt);
  store<u32>(context, bytes, fullBytesAt);
  return false;
}

function add(context: usize, column: usize, from: usize, length: u32): i32 {
  if (!hasRoom(context, column, length)) return noRoom;
  const code = load<u32>(column, countAt);
  const used = load<u32>(column, textsUsedAt);
  const text = <usize>load<u32>(column, textsAt) + used;
  memory.copy(text, from, length);
  const flags = flagsOf(context, text, length);
  const record = recordOf(column, code);
  store<u32>(record, <u32>text, textAt);
  store<u32>(record, length, lengthAt);
  store<u32>(record, flags, flagsAt);
  // Many columns repeat the text of the row above. One with a quote in it is never guessed.
  store<u32>(record, (flags & holdsQuote) == 0 ? code : 0, nextAt);
  store<u32>(column, code + 1, countAt);
  store<u32>(column, used + length, textsUsedAt);
  return code;
}

function flagsOf(context: usize, text: usize, length: u32): u32 {
  const delimiter = load<u32>(context, delimiterAt);
  let quotes: u32 = 0;
  let breaks: u32 = 0;
  let delimiters: u32 = 0;
  for (let at: u32 = 0; at < length; at += 16) {
    const bytes = v128.load(text + at);
    const counted = length - at < 16 ? bitsBefore(length - at) : 0xffff;
    quotes |= setBits(bytes, quoteMark) & counted;
    breaks |= (setBits(bytes, lineFeed) | setBits(bytes, carriageReturn)) & counted;
    delimiters |= setBits(bytes, delimiter) & counted;
  }
  let flags: u32 = 0;
  if (quotes != 0) flags |= needsQuotes | holdsQuote;
  if (breaks != 0) flags |= needsQuotes | holdsLineBreak;
  if (delimiters != 0) flags |= needsQuotes;
  return flags;
}
