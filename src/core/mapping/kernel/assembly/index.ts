/**
 * What mapping does for each row. The agent's side is `tuples.ts`, `keyed.ts` and `plain-rows.ts`, which have the contracts. Rows are those
 * of a list of 32-bit integers, or all of them where its address is 0. Each function goes on until something is to be done that is not
 * done for each row, and returns how far it came.
 */
import {
  columnsAt,
  countAt,
  entriesAt,
  entryAt,
  keysAt,
  lastAt,
  mantissasAt,
  negatedAt,
  namedAt,
  namesAt,
  nextAt,
  none,
  readAt,
  readMantissasAt,
  readScalesAt,
  roomAt,
  rowsAt,
  scaleMaxAt,
  scalesAt,
  slotMaskAt,
  slotsAt,
  spelledAt,
  timedAt,
  timesAt,
  unitBytes,
  unitSpelledAt,
  widthAt,
} from '../layout';

// @ts-ignore: decorator
@inline
function rowOf(list: usize, index: u32): u32 {
  return list == 0 ? index : load<u32>(list + (<usize>index << 2));
}

// @ts-ignore: decorator
@inline
function intOf(array: usize, at: u32): i32 {
  return load<i32>(array + (<usize>at << 2));
}

// @ts-ignore: decorator
@inline
function isKeyOf(key: usize, columns: usize, width: u32, row: u32): bool {
  // The last column tells combinations apart soonest: templates go from the general to the particular.
  for (let at = width; at > 0; at--) {
    if (intOf(key, at - 1) != intOf(<usize>intOf(columns, at - 1), row)) return false;
  }
  return true;
}

function hashOf(key: usize, width: u32): u32 {
  let hash: u32 = 0;
  for (let at: u32 = 0; at < width; at++) {
    hash = (hash ^ <u32>intOf(key, at)) * 0x9e3779b1;
    hash ^= hash >> 15;
  }
  return hash;
}

/** The slot of a combination, or the free one for it. */
function slotOf(tuples: usize, key: usize): usize {
  const width = load<u32>(tuples, widthAt);
  const keys = <usize>load<u32>(tuples, keysAt);
  const slots = <usize>load<u32>(tuples, slotsAt);
  const mask = load<u32>(tuples, slotMaskAt);
  let slot = hashOf(key, width) & mask;
  while (true) {
    const place = slots + (<usize>slot << 2);
    const tuple = load<i32>(place);
    if (tuple == none) return place;
    const known = keys + ((<usize>tuple * width) << 2);
    let at: u32 = 0;
    while (at < width && intOf(known, at) == intOf(key, at)) at++;
    if (at == width) return place;
    slot = (slot + 1) & mask;
  }
}

/** Puts all combinations into slots that are empty. */
export function fillSlots(tuples: usize): void {
  const width = load<u32>(tuples, widthAt);
  const keys = <usize>load<u32>(tuples, keysAt);
  const count = load<i32>(tuples, countAt);
  for (let tuple = 0; tuple < count; tuple++) {
    store<i32>(slotOf(tuples, keys + ((<usize>tuple * width) << 2)), tuple);
  }
}

/** Numbers the combinations of rows, by row. Ends before a row whose combination needs more room. */
export function findTuples(tuples: usize, list: usize, from: u32, to: u32, into: usize): u32 {
  const width = load<u32>(tuples, widthAt);
  const keys = <usize>load<u32>(tuples, keysAt);
  const next = <usize>load<u32>(tuples, nextAt);
  const columns = <usize>load<u32>(tuples, columnsAt);
  let last = load<i32>(tuples, lastAt);
  let index = from;
  for (; index < to; index++) {
    const row = rowOf(list, index);
    // Rows tend to name drivers in one order.
    let tuple = last == none ? none : intOf(next, last);
    if (tuple == none || !isKeyOf(keys + ((<usize>tuple * width) << 2), columns, width, row)) {
      const made = load<u32>(tuples, countAt);
      if (made * 2 > load<u32>(tuples, slotMaskAt)) break;
      const key = keys + ((<usize>made * width) << 2);
      for (let at: u32 = 0; at < width; at++) {
        store<i32>(key + (<usize>at << 2), intOf(<usize>intOf(columns, at), row));
      }
      const slot = slotOf(tuples, key);
      tuple = load<i32>(slot);
      if (tuple == none) {
        tuple = made;
        store<i32>(slot, made);
        store<i32>(next + (<usize>made << 2), none);
        store<u32>(tuples, made + 1, countAt);
      }
      if (last != none) store<i32>(next + (<usize>last << 2), tuple);
    }
    store<i32>(into + (<usize>row << 2), tuple);
    last = tuple;
  }
  store<i32>(tuples, last, lastAt);
  return index;
}

/** Puts the known number of each row's key in its place. Ends before a row whose key has none. */
export function lookUp(keys: usize, known: usize, knownCount: u32, list: usize, from: u32, to: u32, into: usize): u32 {
  let index = from;
  for (; index < to; index++) {
    const row = rowOf(list, index);
    const key = <u32>intOf(keys, row);
    const number = key < knownCount ? intOf(known, key) : none;
    if (number == none) break;
    store<i32>(into + (<usize>row << 2), number);
  }
  return index;
}

/**
 * Reads all units of rows as long as each has a name, a time and a decimal that the scanner read, and as there is room.
 * @param units of `count`; @param rowsBefore how many rows of the part came before these
 */
export function readPlain(
  units: usize,
  count: u32,
  list: usize,
  from: u32,
  to: u32,
  rowsBefore: f64,
  readings: usize,
): u32 {
  const end = units + <usize>count * unitBytes;
  const room = load<u32>(readings, roomAt);
  const named = <usize>load<u32>(readings, namedAt);
  const timed = <usize>load<u32>(readings, timedAt);
  const mantissas = <usize>load<u32>(readings, readMantissasAt);
  const scales = <usize>load<u32>(readings, readScalesAt);
  const spelled = <usize>load<u32>(readings, spelledAt);
  const rows = <usize>load<u32>(readings, rowsAt);
  const entries = <usize>load<u32>(readings, entriesAt);
  let read = load<u32>(readings, readAt);
  let index = from;
  for (; index < to && read + count <= room; index++) {
    const row = rowOf(list, index);
    const number = rowsBefore + <f64>(row + 1);
    let into = read;
    let unit = units;
    for (; unit < end; unit += unitBytes) {
      const scale = <i32>load<i8>(<usize>load<u32>(unit, scalesAt) + row);
      const name = intOf(<usize>load<u32>(unit, namesAt), row);
      const time = intOf(<usize>load<u32>(unit, timesAt), row);
      if (scale < 0 || scale > load<i32>(unit, scaleMaxAt) || name < 0 || time < 0) break;
      store<i32>(named + (<usize>into << 2), name);
      store<i32>(timed + (<usize>into << 2), time);
      const spellings = <usize>load<u32>(unit, unitSpelledAt);
      let spelling = spellings == 0 ? 0 : intOf(spellings, row);
      let mantissa = load<f64>(<usize>load<u32>(unit, mantissasAt) + (<usize>row << 3));
      const negated = load<i32>(unit, negatedAt);
      if (negated != 0 && mantissa != 0) {
        mantissa = -mantissa;
        spelling |= negated;
      }
      store<f64>(mantissas + (<usize>into << 3), mantissa);
      store<i8>(scales + into, <i8>scale);
      store<i32>(spelled + (<usize>into << 2), spelling);
      store<f64>(rows + (<usize>into << 3), number);
      store<i32>(entries + (<usize>into << 2), load<i32>(unit, entryAt));
      into++;
    }
    if (unit < end) break;
    read = into;
  }
  store<u32>(readings, read, readAt);
  return index;
}
