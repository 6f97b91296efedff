/**
 * Collapse: readings of one driver in one month become one point. Every rule is a fold that merges, so parts are folded
 * alone and then together (`merge-folds.ts`), and the result depends on no order of arrival.
 */
import { addDecimals, compareDecimals } from '../numbers/arithmetic.ts';
import type { Readings, ReadingSink } from '../mapping/reading.ts';
import type { Rule } from '../model.ts';
import { isExact, rescaled } from '../numbers/mantissa.ts';
import {
  CellTable,
  addedScaleIn,
  cellIntegers,
  cellNumbers,
  mantissaIn,
  monthIn,
  nanosIn,
  readingsIn,
  rowIn,
  scaleIn,
  secondsIn,
  textIsElsewhere,
  textIsValue,
} from './cell-table.ts';
import {
  DriverTable,
  cellIn,
  driverIntegers,
  driverNumbers,
  isLastRuleIn,
  latestEntryIn,
  latestNanosIn,
  latestRowIn,
  latestSecondsIn,
  namedIn,
  newestIn,
} from './driver-table.ts';
import { packCells } from './pack-cells.ts';
import type { PackedDriver } from './packing.ts';
import { isAdding } from './rule.ts';
import { TieFinder, takenBy } from './tie-finder.ts';

const none = -1;

/** Folds the readings of one part, which come in the order of its rows. */
export class Fold implements ReadingSink {
  readonly #part: number;
  readonly #cells = new CellTable();
  readonly #drivers = new DriverTable();
  readonly #ties: TieFinder;

  /** `part`: the number that cells name this part by. */
  constructor(part: number) {
    this.#part = part;
    this.#ties = new TieFinder(part, this.#cells);
  }

  /** How many cells, drivers and ties it holds: its memory grows with them. */
  get size(): number {
    return this.#cells.count + this.#drivers.count + this.#ties.size;
  }

  /** @throws AgentError `part.unreadable` where two entries make one driver by different rules. */
  take(readings: Readings): void {
    this.#drivers.use(readings.names);
    const { count } = readings;
    for (let at = 0; at < count; at++) {
      // Where a cell has passed a reading, each one has to be noted: rows are in no order of time then.
      if (!this.#ties.hasPassed && readings.latest.length === 0) at = this.#takeLatest(readings, at);
      if (at < count) this.#add(readings, at);
    }
  }

  /** Adds one of the readings. @throws as `take` */
  add(readings: Readings, at: number): void {
    this.#drivers.use(readings.names);
    this.#add(readings, at);
  }

  /**
   * Takes readings as long as they are what most are: the latest one of their driver and of its newest cell, by the rule `last`, with a value
   * that is an integer. All that each of them does is to take the place of the one before.
   * @returns the first one that is not
   */
  #takeLatest(readings: Readings, from: number): number {
    const { count, named, timed, rows, mantissas, scales, spelled, entries, counts } = readings;
    const { months, seconds, nanos } = readings.times;
    const { byName, numbers: driverNumber, integers: driverInteger } = this.#drivers;
    const { numbers, integers } = this.#cells;
    for (let at = from; at < count; at++) {
      const name = named[at] as number;
      const driver = byName[name] as number;
      const ofDriver = driver * driverIntegers;
      if (driver === none || driverInteger[ofDriver + namedIn] !== name) return at;
      const cell = driverInteger[ofDriver + cellIn] as number;
      if (cell === none || driverInteger[ofDriver + isLastRuleIn] === 0) return at;
      const time = timed[at] as number;
      const second = seconds[time] as number;
      const number = cell * cellNumbers;
      const integer = cell * cellIntegers;
      const isLatest =
        integers[integer + monthIn] === months[time] &&
        (integers[integer + scaleIn] as number) >= 0 &&
        integers[integer + addedScaleIn] === textIsValue &&
        second > (numbers[number + secondsIn] as number) &&
        second > (driverNumber[driver * driverNumbers + latestSecondsIn] as number);
      const scale = scales[at] as number;
      if (!isLatest || scale < 0 || spelled[at] !== 0) return at;
      const nano = nanos[time] as number;
      const row = rows[at] as number;
      driverNumber[driver * driverNumbers + latestSecondsIn] = second;
      driverNumber[driver * driverNumbers + latestRowIn] = row;
      driverInteger[ofDriver + latestNanosIn] = nano;
      driverInteger[ofDriver + latestEntryIn] = entries[at] as number;
      numbers[number + secondsIn] = second;
      numbers[number + rowIn] = row;
      numbers[number + readingsIn] = (numbers[number + readingsIn] as number) + (counts[at] as number);
      numbers[number + mantissaIn] = mantissas[at] as number;
      integers[integer + nanosIn] = nano;
      integers[integer + scaleIn] = scale;
    }
    return count;
  }

  #add(readings: Readings, at: number): void {
    const { times } = readings;
    const time = readings.timed[at] as number;
    const month = times.months[time] as number;
    const latest = readings.latest.length === 0 ? undefined : readings.latest[at];
    const { moment, row } = latest ?? { moment: readings.moment(at), row: readings.rows[at] as number };
    const drivers = this.#drivers;
    const driver = drivers.find(readings.named[at] as number, readings.entries[at] as number, moment, row);
    const rule = drivers.rule(driver);
    const ofDriver = driver * driverIntegers;
    const cells = this.#cells;
    let cell = drivers.integers[ofDriver + cellIn] as number;
    if (cell !== none && cells.integers[cell * cellIntegers + monthIn] !== month) cell = cells.find(driver, month);
    if (cell === none) {
      cell = cells.create(driver, month, drivers.integers[ofDriver + newestIn] as number);
      drivers.integers[ofDriver + newestIn] = cell;
      cells.numbers[cell * cellNumbers + readingsIn] = readings.counts[at] as number;
      this.#setValue(cell, readings, at);
      this.#place(rule, cell, readings, at);
    } else {
      const counted = cell * cellNumbers + readingsIn;
      cells.numbers[counted] = (cells.numbers[counted] as number) + (readings.counts[at] as number);
      if (this.#fold(rule, cell, readings, at)) this.#place(rule, cell, readings, at);
    }
    drivers.integers[ofDriver + cellIn] = cell;
  }

  /**
   * From here on ties are looked for only among the rows to come. A reader that cuts a part calls this at places that depend
   * on the part alone, so that the ties do so too.
   * @param row the last one so far
   */
  cutTies(row: number): void {
    this.#ties.cut(row);
  }

  /**
   * Hands over what was folded so far, roughly in the order of ids, and starts anew once all of it was taken. Readers take
   * drivers in that order and then find neighbours together (6 M points: read in a third of the time).
   * @param rowsBefore how many rows of the part stand before those that were counted from 1 here
   */
  *drain(rowsBefore = 0): Generator<PackedDriver> {
    const drivers = this.#drivers;
    const idOf = (driver: number): string => drivers.name(driver).id;
    const numbers = Array.from({ length: drivers.count }, (_, driver) => driver);
    numbers.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const columns = { cells: this.#cells, ties: this.#ties };
    for (const driver of numbers) {
      const { id, path, rule } = drivers.name(driver);
      const number = driver * driverNumbers;
      const integer = driver * driverIntegers;
      const pathPlace = {
        seconds: drivers.numbers[number + latestSecondsIn] as number,
        nanos: drivers.integers[integer + latestNanosIn] as number,
        row: rowsBefore + (drivers.numbers[number + latestRowIn] as number),
        part: this.#part,
      };
      const otherPath = drivers.otherPaths.get(driver);
      const cells = this.#cells.inOrder(drivers.integers[integer + newestIn] as number);
      yield {
        id,
        path: JSON.stringify(path),
        rule,
        otherPath: otherPath && JSON.stringify(otherPath),
        entry: drivers.integers[integer + latestEntryIn],
        ...packCells(cells, columns, { rule, pathPlace, rowsBefore }),
      };
    }
    drivers.clear();
    this.#cells.clear();
    this.#ties.clear();
  }

  /** Folds a reading's value into a cell of the same part. Returns whether the cell takes the reading's place too. */
  #fold(rule: Rule, cell: number, readings: Readings, at: number): boolean {
    const cells = this.#cells;
    const time = readings.timed[at] as number;
    const seconds = readings.times.seconds[time] as number;
    const nanos = readings.times.nanos[time] as number;
    // Rows come in their order, but for those that a database collapsed.
    const later =
      seconds - cells.seconds(cell) || nanos - cells.nanos(cell) || (readings.rows[at] as number) - cells.row(cell);
    const isLater = later >= 0;
    switch (rule) {
      case 'last':
      case 'first': {
        const takes = isLater === (rule === 'last');
        this.#ties.note(cell, readings, at, takenBy[rule][takes ? 1 : 0]);
        if (takes) this.#setValue(cell, readings, at);
        return takes;
      }
      case 'min':
      case 'max': {
        const difference = this.#compare(cell, readings, at);
        const takes = difference === 0 ? isLater : difference < 0 === (rule === 'min');
        if (takes) this.#setValue(cell, readings, at);
        return takes;
      }
      case 'sum':
      case 'average':
        this.#addTo(cell, readings, at);
        return isLater;
      case 'count':
        return isLater;
    }
  }

  #setValue(cell: number, { mantissas, scales, values }: Readings, at: number): void {
    const scale = scales[at] as number;
    this.#cells.setValue(cell, mantissas[at] as number, scale, scale < 0 ? (values[at] as string) : '');
  }

  /** Negative, zero or positive: the reading's value against that of a cell. */
  #compare(cell: number, readings: Readings, at: number): number {
    const cells = this.#cells;
    const scale = readings.scales[at] as number;
    if (scale >= 0 && scale === cells.scale(cell)) return (readings.mantissas[at] as number) - cells.mantissa(cell);
    return compareDecimals(readings.value(at), cells.valueText(cell));
  }

  #addTo(cell: number, readings: Readings, at: number): void {
    const cells = this.#cells;
    const scale = cells.scale(cell);
    const added = readings.scales[at] as number;
    if (scale >= 0 && added >= 0) {
      const longest = Math.max(scale, added);
      const sum =
        rescaled(cells.mantissa(cell), scale, longest) + rescaled(readings.mantissas[at] as number, added, longest);
      if (isExact(sum)) {
        cells.setValue(cell, sum, longest, '');
        return;
      }
    }
    cells.setValue(cell, 0, -1, addDecimals(cells.valueText(cell), readings.value(at)));
  }

  #place(rule: Rule, cell: number, readings: Readings, at: number): void {
    const cells = this.#cells;
    const time = readings.timed[at] as number;
    cells.numbers[cell * cellNumbers + secondsIn] = readings.times.seconds[time] as number;
    cells.integers[cell * cellIntegers + nanosIn] = readings.times.nanos[time] as number;
    cells.numbers[cell * cellNumbers + rowIn] = readings.rows[at] as number;
    const isSpelled = readings.spelled[at] === 1;
    const scale = readings.scales[at] as number;
    if (isAdding(rule)) {
      const isNumber = !isSpelled && scale >= 0;
      const text = isNumber ? '' : readings.text(at);
      cells.setText(cell, readings.mantissas[at] as number, isNumber ? scale : textIsElsewhere, text);
    } else if (isSpelled) cells.setText(cell, 0, textIsElsewhere, readings.texts[at] as string);
    else cells.setText(cell, 0, textIsValue, '');
  }
}
