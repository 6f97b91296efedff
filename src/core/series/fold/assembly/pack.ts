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
  none,
  originsEndAt,
  packedCellsMax,
  pointsEndAt,
  sum,
  textIsElsewhere,
  textIsValue,
} from '../layout';

const minus: u8 = 0x2d;
const point: u8 = 0x2e;
const zero: u8 = 0x30;

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
 * Packs a driver whose values and texts are all integers.
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
    const scale = load<i32>(cell, cellScaleAt);
    const addedScale = load<i32>(cell, cellAddedScaleAt);
    if (scale < 0 || addedScale == textIsElsewhere) return false;
    const mantissa = load<f64>(cell, cellMantissaAt);
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
    const value = isCount ? readings : mantissa;
    const valueScale = isCount ? 0 : scale;
    points = decimal(points, value, valueScale, 0);
    const isValue = rule < sum || addedScale == textIsValue;
    const text = isValue ? mantissa : load<f64>(cell, cellAddedMantissaAt);
    const textScale = isValue ? scale : addedScale;
    if (text == value && textScale == valueScale) store<u8>(origins++, 0);
    else origins = decimal(origins, text, textScale, 1);
  }
  store<u32>(fold, <u32>points, pointsEndAt);
  store<u32>(fold, <u32>origins, originsEndAt);
  return true;
}
