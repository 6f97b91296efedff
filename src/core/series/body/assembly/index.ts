/**
 * Drivers as the text of a body. V8 checks the bounds of each access of JavaScript and here of none, and no driver becomes an object: 6 M
 * points take a quarter of the time.
 *
 * A section, as `snapshot-blocks.ts` has it, has for each driver the length (u32 LE) and the JSON of a list that begins with source, id, rule
 * and path, and the length and the bytes of its points. Texts are copied eight bytes at a time, so that up to fifteen bytes behind
 * them are written, and written over.
 */
import {
  done,
  driversAt,
  firstPlace,
  idTextAt,
  idTextLength,
  isBroken,
  isFirstAt,
  isFull,
  leftAt,
  monthAt,
  noPointsEndTextAt,
  noPointsEndTextLength,
  pathTextAt,
  pathTextLength,
  placeAt,
  placeBytes,
  placeLengthAt,
  placeMonthAt,
  pointsEndTextAt,
  pointsEndTextLength,
  readAt,
  readEndAt,
  seriesTextAt,
  seriesTextLength,
  textAt,
  textEndAt,
  wantedAt,
  wantsText,
} from '../layout';

const quotationMark: u32 = 0x22;
const backslash: u32 = 0x5c;

/** Where reading and writing are. */
let read: usize = 0;
let at: usize = 0;
let left: i32 = 0;
let place: usize = 0;
let month: u32 = 0;

function begin(): void {
  read = load<u32>(readAt);
  at = load<u32>(textAt);
  left = load<i32>(leftAt);
  place = load<u32>(placeAt);
  month = load<u32>(monthAt);
}

/** @param wanted see `wantedAt` */
function leave(said: i32, wanted: u32): i32 {
  store<u32>(readAt, <u32>read);
  store<u32>(textAt, <u32>at);
  store<i32>(leftAt, left);
  store<u32>(placeAt, <u32>place);
  store<u32>(monthAt, month);
  store<u32>(wantedAt, wanted);
  return said;
}

// @ts-ignore: decorator
@inline
function copyWord(from: usize, offset: usize): void {
  store<u64>(at + offset, load<u64>(from + offset));
}

/** Writes a text of up to sixteen bytes. */
// @ts-ignore: decorator
@inline
function writeShort(from: usize, count: u32): void {
  copyWord(from, 0);
  copyWord(from, 8);
  at += count;
}

/** Copies the bytes from the one numbered `first` on. */
function copyBytes(from: usize, count: u32, first: u32): void {
  for (let copied = first; copied < count; copied += 8) copyWord(from, copied);
}

/** From the quotation mark that a text of JSON begins with to behind the one that ends it. */
function behindText(from: usize): usize {
  let to = from + 1;
  while (load<u8>(to) != quotationMark) to += load<u8>(to) == backslash ? 2 : 1;
  return to + 1;
}

/** What a text of JSON says that is JSON itself: of all escapes it has only those of a quotation mark and of a backslash. */
function writeJsonIn(from: usize): void {
  let to = from + 1;
  while (load<u8>(to) != quotationMark) {
    if (load<u8>(to) == backslash) to++;
    store<u8>(at++, load<u8>(to++));
  }
}

/** Unsigned LEB128. */
// @ts-ignore: decorator
@inline
function readVarint(): u32 {
  let byte = <u32>load<u8>(read++);
  if (byte < 0x80) return byte;
  let number = byte & 0x7f;
  let shift: u32 = 0;
  do {
    shift += 7;
    byte = load<u8>(read++);
    number |= (byte & 0x7f) << shift;
  } while (byte >= 0x80);
  return number;
}

/** A length that a disk has changed may lead anywhere, also before where it begins. */
// @ts-ignore: decorator
@inline
function isWithin(found: usize, from: usize): bool {
  return found >= from && found <= <usize>load<u32>(readEndAt);
}

/** @returns `done` where the driver has begun, else what `write` is to say */
function beginDriver(): i32 {
  const head = read + 4;
  const headBytes = load<u32>(read);
  const points = head + headBytes;
  if (!isWithin(points, head)) return isBroken;
  const pointBytes = load<u32>(points);
  if (!isWithin(points + 4 + pointBytes, points)) return isBroken;
  // A point has three bytes at least, of which the value is not more than all, and 36 of text stand before it.
  if (at + (pointBytes << 4) + headBytes + 128 > <usize>load<u32>(textEndAt)) return isFull;
  const skipped = load<u32>(isFirstAt);
  writeShort(idTextAt + skipped, idTextLength - skipped);
  store<u32>(isFirstAt, 0);
  store<u32>(driversAt, load<u32>(driversAt) + 1);
  // Behind the bracket that the list begins with, its source, and a comma.
  const id = behindText(head + 1) + 1;
  const idEnd = behindText(id);
  copyBytes(id, <u32>(idEnd - id), 0);
  at += idEnd - id;
  writeShort(pathTextAt, pathTextLength);
  writeJsonIn(behindText(idEnd + 1) + 1);
  writeShort(seriesTextAt, seriesTextLength);
  read = points + 4;
  left = readVarint();
  place = firstPlace;
  month = 0;
  return done;
}

/** Writes drivers, and goes on where it left off when it is called again. @returns see `done` and the others */
export function write(): i32 {
  begin();
  while (true) {
    if (left == -1) {
      if (read == <usize>load<u32>(readEndAt)) return leave(done, 0);
      const said = beginDriver();
      if (said != done) return leave(said, 0);
    }
    while (left != 0) {
      const from = read;
      const next = month + readVarint();
      const length = readVarint();
      if (load<u32>(place, placeMonthAt) != next) {
        read = from;
        return leave(wantsText, next);
      }
      month = next;
      for (let offset = 0; offset < 40; offset += 8) copyWord(place, offset);
      at += load<u32>(place, placeLengthAt);
      copyWord(read, 0);
      copyWord(read, 8);
      // Hardly any value is that long.
      if (length > 16) copyBytes(read, length, 16);
      at += length;
      read += length;
      place += placeBytes;
      left--;
    }
    if (place == firstPlace) writeShort(noPointsEndTextAt, noPointsEndTextLength);
    else writeShort(pointsEndTextAt, pointsEndTextLength);
    left = -1;
  }
}
