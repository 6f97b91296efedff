/** Drivers in the blobs of `packing.ts`, as `pack-cells.ts` writes those that are left to it. */
import {
  average,
  cellAddedMantissaAt,
  cellAddedScaleAt,
  cellBytes,
  cellMantissaAt,
  cellMonthAt,
  cellNanosAt,
  cellNextAt,
  cellReadingsAt,
  cellRowAt,
  cellScaleAt,
  cellSecondsAt,
  cellsAt,
  count,
  driverBytes,
  driverNanosAt,
  driverNewestAt,
  driverRowAt,
  driverRuleAt,
  driverSecondsAt,
  driversAt,
  marksAt,
  none,
  originsEndAt,
  packedCellsMax,
  pointsEndAt,
  scaleMask,
  spellingShift,
  textBytes,
  textIsBeside,
  textIsElsewhere,
  textIsValue,
  textsAt,
} from '../layout';
import {
  currencyMask,
  currencyShift,
  hasGroups,
  hasSpace,
  inBrackets,
  marksShift,
  minusBehind,
  negated,
} from '../../../numbers/spelling-bits';

const minus: u8 = 0x2d;
const point: u8 = 0x2e;
const zero: u8 = 0x30;
const space: u8 = 0x20;
const opening: u8 = 0x28;
const closing: u8 = 0x29;

/** All writers return where what they wrote ends. */
function varint(at: usize, value: u64): usize {
  let rest = value;
  while (rest >= 128) {
    store<u8>(at++, <u8>(rest | 128));
    rest >>= 7;
  }
  store<u8>(at, <u8>rest);
  return at + 1;
}

function seconds(at: usize, value: f64): usize {
  return varint(at, value >= 0 ? <u64>value * 2 : <u64>-value * 2 - 1);
}

// @ts-ignore: decorator
@inline
function digitsOf(value: u32): i32 {
  let digits = 1;
  for (let rest = value / 10; rest > 0; rest /= 10) digits++;
  return digits;
}

/** Longer than any text of 15 digits. */
const spelledMax: usize = 40;

/** Eight digits at a time: a division of 64 bits takes as long as many of 32. */
const eightDigits: u64 = 100000000;

/** A decimal behind its length plus `bias`. */
function decimal(at: usize, mantissa: f64, scale: i32, bias: u8): usize {
  const isNegative = mantissa < 0;
  const all = <u64>abs(mantissa);
  const high = <u32>(all / eightDigits);
  let left = <u32>(all % eightDigits);
  const significant = high > 0 ? digitsOf(high) + 8 : digitsOf(left);
  const digits = significant > scale ? significant : scale + 1;
  const length = digits + (isNegative ? 1 : 0) + (scale > 0 ? 1 : 0);
  store<u8>(at, <u8>length + bias);
  if (isNegative) store<u8>(at, minus, 1);
  const end = at + 1 + length;
  let to = end;
  for (let digit = 0; digit < digits; digit++) {
    if (digit == 8) left = high;
    if (digit == scale && scale > 0) store<u8>(--to, point);
    store<u8>(--to, zero + <u8>(left % 10));
    left /= 10;
  }
  return end;
}

/** The bytes of a currency sign in UTF-8, the first one the lowest; see `currencySigns` in `core/numbers/spelling.ts`. */
function currencyBytes(sign: i32): u32 {
  if (sign == 1) return 0xac82e2;
  return sign == 2 ? 0x24 : sign == 3 ? 0xa3c2 : 0;
}

/** The text of a number as it was written, behind its length plus `bias`: as `spelledText` of `core/numbers/spelling.ts`. */
function spelled(fold: usize, at: usize, mantissa: f64, scale: i32, spelling: i32, bias: u8): usize {
  const marks = <usize>load<u32>(fold, marksAt) + (<usize>(spelling >> marksShift) << 1);
  const isNegative = (spelling & negated) == 0 ? mantissa < 0 : mantissa > 0;
  const isBracketed = isNegative && (spelling & inBrackets) != 0;
  const isBehind = isNegative && (spelling & minusBehind) != 0;
  const isGrouped = (spelling & hasGroups) != 0;
  const currency = currencyBytes((spelling >> currencyShift) & currencyMask);
  let left = <u64>abs(mantissa);
  // Backwards, from where the longest text would end.
  const end = at + 1 + spelledMax;
  let to = end;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const byte = <u8>(currency >> shift);
    if (byte != 0) store<u8>(--to, byte);
  }
  if ((spelling & hasSpace) != 0) store<u8>(--to, space);
  if (isBracketed) store<u8>(--to, closing);
  if (isBehind) store<u8>(--to, minus);
  for (let digit = 0; left > 0 || digit <= scale; digit++) {
    if (digit == scale && scale > 0) store<u8>(--to, load<u8>(marks));
    if (isGrouped && digit > scale && (digit - scale) % 3 == 0) store<u8>(--to, load<u8>(marks, 1));
    store<u8>(--to, zero + <u8>(left % 10));
    left /= 10;
  }
  if (isBracketed) store<u8>(--to, opening);
  else if (isNegative && !isBehind) store<u8>(--to, minus);
  const length = end - to;
  store<u8>(at, <u8>length + bias);
  memory.copy(at + 1, to, length);
  return at + 1 + length;
}

/** Instead of a place: the text is beside, or has a character that is more than one byte in UTF-8. */
const noText: usize = 0;

/** A text behind its length plus `bias`. */
function text(at: usize, texts: usize, number: f64, bias: u8): usize {
  const from = texts + <usize>number * textBytes;
  const length = load<u8>(from);
  if (length == textIsBeside) return noText;
  store<u8>(at, length + bias);
  for (let index: usize = 1; index <= length; index++) {
    const character = load<u8>(from + index);
    if (character >= 128) return noText;
    store<u8>(at + index, character);
  }
  return at + 1 + length;
}

/** Whether a text that was written with bias 1 is the one that was written without. */
function isSame(one: usize, other: usize): bool {
  const length = load<u8>(one);
  if (length != load<u8>(other) - 1) return false;
  for (let index: usize = 1; index <= length; index++) {
    if (load<u8>(one + index) != load<u8>(other + index)) return false;
  }
  return true;
}

/** Puts the numbers of a driver's cells in the order of their months. @returns how many; more than there may be: it has too many */
function sorted(cells: usize, newest: i32, into: usize): i32 {
  let many = 0;
  for (let number = newest; number != none; ) {
    if (many == packedCellsMax) return many + 1;
    const cell = cells + <usize>number * cellBytes;
    const month = load<i32>(cell, cellMonthAt);
    let at = many++;
    for (; at > 0; at--) {
      const other = load<i32>(into + (<usize>(at - 1) << 2));
      if (load<i32>(cells + <usize>other * cellBytes, cellMonthAt) < month) break;
      store<i32>(into + (<usize>at << 2), other);
    }
    store<i32>(into + (<usize>at << 2), number);
    number = load<i32>(cell, cellNextAt);
  }
  return many;
}

/**
 * Packs a driver whose values and texts are integers or short texts of ASCII, and that is no average.
 * @param part that its origins name; @param rowsBefore how many rows of the part stand before those that were counted from 1
 * @param order room for the numbers of its cells
 * @returns whether it is such a driver
 */
export function pack(
  fold: usize,
  number: i32,
  part: u32,
  rowsBefore: f64,
  order: usize,
  pointsInto: usize,
  originsInto: usize,
): bool {
  const driver = <usize>load<u32>(fold, driversAt) + <usize>number * driverBytes;
  const rule = load<i32>(driver, driverRuleAt);
  if (rule == average) return false;
  const cells = <usize>load<u32>(fold, cellsAt);
  const texts = <usize>load<u32>(fold, textsAt);
  const many = sorted(cells, load<i32>(driver, driverNewestAt), order);
  if (many > packedCellsMax) return false;
  let points = varint(pointsInto, many);
  let origins = seconds(originsInto, load<f64>(driver, driverSecondsAt));
  origins = varint(origins, load<u32>(driver, driverNanosAt));
  origins = varint(origins, <u64>(rowsBefore + load<f64>(driver, driverRowAt)));
  origins = varint(origins, part);
  let monthBefore = 0;
  for (let index = 0; index < many; index++) {
    const cell = cells + <usize>load<i32>(order + (<usize>index << 2)) * cellBytes;
    const mantissa = load<f64>(cell, cellMantissaAt);
    const scale = load<i32>(cell, cellScaleAt);
    const readings = load<f64>(cell, cellReadingsAt);
    const month = load<i32>(cell, cellMonthAt);
    points = varint(points, month - monthBefore);
    monthBefore = month;
    origins = seconds(origins, load<f64>(cell, cellSecondsAt));
    origins = varint(origins, load<u32>(cell, cellNanosAt));
    origins = varint(origins, <u64>(rowsBefore + load<f64>(cell, cellRowAt)));
    origins = varint(origins, part);
    origins = varint(origins, <u64>readings);

    const isCount = rule == count;
    const value = points;
    if (isCount) points = decimal(points, readings, 0, 0);
    else if (scale >= 0) points = decimal(points, mantissa, scale, 0);
    else {
      points = text(points, texts, mantissa, 0);
      if (points == noText) return false;
    }
    const added = load<f64>(cell, cellAddedMantissaAt);
    let addedScale = load<i32>(cell, cellAddedScaleAt);
    const isEmpty = addedScale == textIsElsewhere && load<u8>(texts + <usize>added * textBytes) == 0;
    if (isEmpty) addedScale = textIsValue;
    if (addedScale == textIsValue && !isCount) {
      store<u8>(origins++, 0);
      continue;
    }
    const read = origins;
    if (addedScale > scaleMask) {
      origins = spelled(fold, origins, added, addedScale & scaleMask, addedScale >> spellingShift, 1);
    } else if (addedScale >= 0) origins = decimal(origins, added, addedScale, 1);
    else if (addedScale == textIsElsewhere) origins = text(origins, texts, added, 1);
    else if (scale >= 0) origins = decimal(origins, mantissa, scale, 1);
    else origins = text(origins, texts, mantissa, 1);
    if (origins == noText) return false;
    if (!isSame(value, read)) continue;
    store<u8>(read, 0);
    origins = read + 1;
  }
  store<u32>(fold, <u32>points, pointsEndAt);
  store<u32>(fold, <u32>origins, originsEndAt);
  return true;
}
