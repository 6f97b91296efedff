/**
 * What folding does for each reading whose value is an integer and whose text can be made of it. The agent's side is `fold.ts`, which has the contract and does
 * the same for all other readings.
 */
import {
  average,
  bestAt,
  byNameAt,
  cellAddedMantissaAt,
  cellAddedScaleAt,
  cellBytes,
  cellCountAt,
  cellDriverAt,
  cellMantissaAt,
  cellMonthAt,
  cellNanosAt,
  cellNextAt,
  cellReadingsAt,
  cellRowAt,
  cellScaleAt,
  cellSecondsAt,
  cellSlotMaskAt,
  cellSlotsAt,
  cellsAt,
  driverBytes,
  driverCellAt,
  driverEntryAt,
  driverNamedAt,
  driverNanosAt,
  driverNewestAt,
  driverRowAt,
  driverRuleAt,
  driverSecondsAt,
  driversAt,
  entriesAt,
  first,
  last,
  mantissasAt,
  max,
  min,
  monthsAt,
  namedAt,
  nanosAt,
  none,
  passedAt,
  passedBytes,
  passedMantissaAt,
  passedNanosAt,
  passedRowAt,
  passedScaleAt,
  passedSecondsAt,
  rowsAt,
  scalesAt,
  secondsAt,
  spelledAt,
  spellingShift,
  sum,
  textIsElsewhere,
  textIsValue,
  tiesFromAt,
  timedAt,
} from '../layout';
import { canonical, elsewhere } from '../../../numbers/spelling-bits';

export { pack } from './pack';

/** Integers below it have at most 15 digits, which a double holds exactly. */
const integerMax: f64 = 1e15;

// @ts-ignore: decorator
@inline
function intOf(array: usize, at: i32): i32 {
  return load<i32>(array + (<usize>at << 2));
}

// @ts-ignore: decorator
@inline
function doubleOf(array: usize, at: i32): f64 {
  return load<f64>(array + (<usize>at << 3));
}

/** Where the number of the cell of a driver and month stands, or -1 stands and it would. */
export function slotOf(fold: usize, driver: i32, month: i32): usize {
  const slots = <usize>load<u32>(fold, cellSlotsAt);
  const cells = <usize>load<u32>(fold, cellsAt);
  const mask = load<u32>(fold, cellSlotMaskAt);
  let slot = ((<u32>driver * 0x9e3779b1) ^ (<u32>month * 0x85ebca6b)) >> 7;
  while (true) {
    slot &= mask;
    const place = slots + (<usize>slot << 2);
    const number = load<i32>(place);
    if (number == none) return place;
    const cell = cells + <usize>number * cellBytes;
    if (load<i32>(cell, cellDriverAt) == driver && load<i32>(cell, cellMonthAt) == month) return place;
    slot++;
  }
}

/** Puts all cells into slots that are empty. */
export function fillSlots(fold: usize): void {
  const cells = <usize>load<u32>(fold, cellsAt);
  const count = load<i32>(fold, cellCountAt);
  for (let number = 0; number < count; number++) {
    const cell = cells + <usize>number * cellBytes;
    store<i32>(slotOf(fold, load<i32>(cell, cellDriverAt), load<i32>(cell, cellMonthAt)), number);
  }
}

/** Makes a cell that is not there yet, empty but for its month. @param slot its own. @returns its number */
export function create(fold: usize, driver: i32, month: i32, next: i32, slot: usize): i32 {
  const number = load<i32>(fold, cellCountAt);
  const cell = <usize>load<u32>(fold, cellsAt) + <usize>number * cellBytes;
  store<i32>(fold, number + 1, cellCountAt);
  store<i32>(slot, number);
  store<i32>(cell, month, cellMonthAt);
  store<i32>(cell, driver, cellDriverAt);
  store<i32>(cell, next, cellNextAt);
  store<f64>(cell, 0, cellReadingsAt);
  store<i32>(cell, 0, cellScaleAt);
  store<i32>(cell, textIsValue, cellAddedScaleAt);
  return number;
}

/** An integer at a larger scale; NaN where it has too many digits for that. */
function rescaled(mantissa: f64, from: i32, to: i32): f64 {
  let scaled = mantissa;
  for (let scale = from; scale < to; scale++) scaled *= 10;
  return from == to || abs(scaled) < integerMax ? scaled : NaN;
}

/** Whether a reading comes after another one, or is at its place. */
// @ts-ignore: decorator
@inline
function isLater(seconds: f64, nanos: i32, row: f64, otherSeconds: f64, otherNanos: i32, otherRow: f64): bool {
  if (seconds != otherSeconds) return seconds > otherSeconds;
  if (nanos != otherNanos) return nanos > otherNanos;
  return row >= otherRow;
}

/** Whether a reading that was passed has the same time and another value, or another scale: see `TieFinder`. */
// @ts-ignore: decorator
@inline
function isTied(other: usize, seconds: f64, nanos: i32, mantissa: f64, scale: i32, tiesFrom: f64): bool {
  if (load<f64>(other, passedSecondsAt) != seconds || load<i32>(other, passedNanosAt) != nanos) return false;
  if (load<f64>(other, passedRowAt) <= tiesFrom) return false;
  return load<i32>(other, passedScaleAt) != scale || load<f64>(other, passedMantissaAt) != mantissa;
}

// @ts-ignore: decorator
@inline
function storePassed(other: usize, seconds: f64, nanos: i32, row: f64, mantissa: f64, scale: i32): void {
  store<f64>(other, seconds, passedSecondsAt);
  store<f64>(other, row, passedRowAt);
  store<f64>(other, mantissa, passedMantissaAt);
  store<i32>(other, nanos, passedNanosAt);
  store<i32>(other, scale, passedScaleAt);
}

/**
 * Takes readings from one on, in a table that has room for a cell for each of them.
 * @returns the first one that is not such a reading, or that differs from another one of its time. Nothing of it was taken.
 */
export function take(fold: usize, from: i32, to: i32): i32 {
  const cells = <usize>load<u32>(fold, cellsAt);
  const drivers = <usize>load<u32>(fold, driversAt);
  const byName = <usize>load<u32>(fold, byNameAt);
  const passed = <usize>load<u32>(fold, passedAt);
  const best = <usize>load<u32>(fold, bestAt);
  const months = <usize>load<u32>(fold, monthsAt);
  const secondsOf = <usize>load<u32>(fold, secondsAt);
  const nanosOf = <usize>load<u32>(fold, nanosAt);
  const named = <usize>load<u32>(fold, namedAt);
  const timed = <usize>load<u32>(fold, timedAt);
  const mantissas = <usize>load<u32>(fold, mantissasAt);
  const scales = <usize>load<u32>(fold, scalesAt);
  const spelled = <usize>load<u32>(fold, spelledAt);
  const rows = <usize>load<u32>(fold, rowsAt);
  const entries = <usize>load<u32>(fold, entriesAt);
  const tiesFrom = load<f64>(fold, tiesFromAt);
  for (let at = from; at < to; at++) {
    const name = intOf(named, at);
    const driverNumber = intOf(byName, name);
    const scale = <i32>load<i8>(scales + at);
    const spelling = intOf(spelled, at);
    if (driverNumber == none || scale < 0 || spelling == elsewhere) return at;
    const driver = drivers + <usize>driverNumber * driverBytes;
    if (load<i32>(driver, driverNamedAt) != name) return at;
    const rule = load<i32>(driver, driverRuleAt);
    const time = intOf(timed, at);
    const month = intOf(months, time);
    const seconds = doubleOf(secondsOf, time);
    const nanos = intOf(nanosOf, time);
    const row = doubleOf(rows, at);
    const mantissa = doubleOf(mantissas, at);

    let number = load<i32>(driver, driverCellAt);
    let slot: usize = 0;
    if (number == none || load<i32>(cells + <usize>number * cellBytes, cellMonthAt) != month) {
      slot = slotOf(fold, driverNumber, month);
      number = load<i32>(slot);
    }
    let takesPlace = true;
    let newMantissa = mantissa;
    let newScale = scale;
    let cell: usize;
    if (number == none) {
      number = create(fold, driverNumber, month, load<i32>(driver, driverNewestAt), slot);
      cell = cells + <usize>number * cellBytes;
      store<i32>(driver, number, driverNewestAt);
    } else {
      cell = cells + <usize>number * cellBytes;
      const cellScale = load<i32>(cell, cellScaleAt);
      const cellMantissa = load<f64>(cell, cellMantissaAt);
      if (cellScale < 0 || load<i32>(cell, cellAddedScaleAt) == textIsElsewhere) return at;
      const cellSeconds = load<f64>(cell, cellSecondsAt);
      const cellNanos = load<i32>(cell, cellNanosAt);
      const cellRow = load<f64>(cell, cellRowAt);
      takesPlace = isLater(seconds, nanos, row, cellSeconds, cellNanos, cellRow);
      if (rule == last || rule == first) {
        if (rule == first) takesPlace = !takesPlace;
        const newest = passed + <usize>number * passedBytes;
        const isPassed = passed != 0 && load<f64>(newest, passedRowAt) > 0;
        // As `TieFinder.note`, which says what readings that differ mean.
        if (isPassed && isTied(newest, seconds, nanos, mantissa, scale, tiesFrom)) return at;
        const isBehindCut = cellRow > tiesFrom;
        const bestOfCell = best + <usize>number * passedBytes;
        if (isBehindCut) {
          if (seconds == cellSeconds && nanos == cellNanos && (scale != cellScale || mantissa != cellMantissa)) {
            return at;
          }
        } else if (best != 0 && isTied(bestOfCell, seconds, nanos, mantissa, scale, tiesFrom)) return at;
        if (!takesPlace) {
          if (passed == 0 || (best == 0 && !isBehindCut)) return at;
          storePassed(newest, seconds, nanos, row, mantissa, scale);
          if (!isBehindCut) {
            const bestRow = load<f64>(bestOfCell, passedRowAt);
            const bestSeconds = load<f64>(bestOfCell, passedSecondsAt);
            const bestNanos = load<i32>(bestOfCell, passedNanosAt);
            const isLaterThanBest = isLater(seconds, nanos, row, bestSeconds, bestNanos, bestRow);
            if (bestRow <= tiesFrom || isLaterThanBest == (rule == last)) {
              storePassed(bestOfCell, seconds, nanos, row, mantissa, scale);
            }
          }
          newMantissa = cellMantissa;
          newScale = cellScale;
        } else if (isPassed) store<f64>(newest, 0, passedRowAt);
      } else if (rule <= max) {
        if (scale != cellScale) return at;
        if (mantissa != cellMantissa) takesPlace = mantissa < cellMantissa == (rule == min);
        if (!takesPlace) newMantissa = cellMantissa;
      } else if (rule <= average) {
        newScale = scale > cellScale ? scale : cellScale;
        newMantissa = rescaled(cellMantissa, cellScale, newScale) + rescaled(mantissa, scale, newScale);
        if (!(abs(newMantissa) < integerMax)) return at;
      } else {
        newMantissa = cellMantissa;
        newScale = cellScale;
      }
    }
    store<f64>(cell, load<f64>(cell, cellReadingsAt) + 1, cellReadingsAt);
    store<f64>(cell, newMantissa, cellMantissaAt);
    store<i32>(cell, newScale, cellScaleAt);
    if (takesPlace) {
      store<f64>(cell, seconds, cellSecondsAt);
      store<f64>(cell, row, cellRowAt);
      store<i32>(cell, nanos, cellNanosAt);
      if (rule >= sum || spelling != canonical) {
        store<f64>(cell, mantissa, cellAddedMantissaAt);
        store<i32>(cell, scale | (spelling << spellingShift), cellAddedScaleAt);
      } else store<i32>(cell, textIsValue, cellAddedScaleAt);
    }
    store<i32>(driver, number, driverCellAt);
    const isLatest = isLater(
      seconds,
      nanos,
      row,
      load<f64>(driver, driverSecondsAt),
      load<i32>(driver, driverNanosAt),
      load<f64>(driver, driverRowAt),
    );
    if (isLatest) {
      store<f64>(driver, seconds, driverSecondsAt);
      store<f64>(driver, row, driverRowAt);
      store<i32>(driver, nanos, driverNanosAt);
      store<i32>(driver, intOf(entries, at), driverEntryAt);
    }
  }
  return to;
}
