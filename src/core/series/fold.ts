/**
 * Collapse: readings of one driver in one month become one point. Every rule is a fold that merges, so parts are folded
 * alone and then together (`merge-folds.ts`), and the result depends on no order of arrival.
 */
import { addDecimals, compareDecimals } from '../numbers/arithmetic.ts';
import { enlarged } from '../enlarged.ts';
import { AgentError } from '../errors.ts';
import type { DriverName, DriverNames, Readings, ReadingSink } from '../mapping/reading.ts';
import type { Moment, Rule } from '../model.ts';
import { isExact, rescaled } from '../numbers/mantissa.ts';
import { CellTable, valueOfCell } from './cell-table.ts';
import { samePath } from './merge-folds.ts';
import { packCells } from './pack-cells.ts';
import type { PackedDriver } from './packing.ts';
import { isAdding } from './rule.ts';
import { TieFinder, takenBy } from './tie-finder.ts';

const none = -1;
const startDrivers = 1 << 5;

/** Folds the readings of one part, which come in the order of its rows. */
export class Fold implements ReadingSink {
  readonly #part: number;
  readonly #cells = new CellTable();
  readonly #ties: TieFinder;
  /** Drivers are numbered from 0. Columns of them, since objects would be spread over the memory. */
  readonly #numbers = new Map<string, number>();
  #names: DriverName[] = [];
  #rules: Rule[] = [];
  /** By driver: the number that readings name it by as it is called in `#names`, or -1. */
  #named = new Int32Array(startDrivers);
  /** Place of the latest reading, and the entry that made it. */
  #seconds = new Float64Array(startDrivers);
  #nanos = new Int32Array(startDrivers);
  #row = new Float64Array(startDrivers);
  #entry = new Int32Array(startDrivers);
  /** Cell of the newest reading: rows of one driver and month tend to follow each other. */
  #cell = new Int32Array(startDrivers);
  /** The driver's newest cell, where the list of its cells begins. */
  #newest = new Int32Array(startDrivers);
  readonly #otherPaths = new Map<number, readonly string[]>();
  /** By the number of a name, the driver of that name, or -1: with one numbering of names. */
  #drivers = new Int32Array(startDrivers).fill(none);
  #numbering: DriverNames | undefined;
  #generation = 0;

  /** `part`: the number that cells name this part by. */
  constructor(part: number) {
    this.#part = part;
    this.#ties = new TieFinder(part, this.#cells);
  }

  /** How many cells, drivers and ties it holds: its memory grows with them. */
  get size(): number {
    return this.#cells.count + this.#names.length + this.#ties.size;
  }

  /** @throws AgentError `part.unreadable` where two entries make one driver by different rules. */
  take(readings: Readings): void {
    const { count } = readings;
    this.#begin(readings.names);
    for (let at = 0; at < count; at++) this.#add(readings, at);
  }

  /** Adds one of the readings. @throws as `take` */
  add(readings: Readings, at: number): void {
    this.#begin(readings.names);
    this.#add(readings, at);
  }

  #begin(names: DriverNames): void {
    if (names !== this.#numbering || names.generation !== this.#generation) {
      this.#numbering = names;
      this.#generation = names.generation;
      this.#drivers.fill(none);
      this.#named.fill(none);
    }
    const { length } = this.#drivers;
    if (names.size <= length) return;
    this.#drivers = enlarged(this.#drivers, new Int32Array(Math.max(names.size, 2 * length)).fill(none, length));
  }

  #add(readings: Readings, at: number): void {
    const moment = readings.moment(at);
    const latest = readings.latest.length === 0 ? undefined : readings.latest[at];
    const named = readings.named[at] as number;
    const entry = readings.entries[at] as number;
    const driver =
      latest === undefined
        ? this.#driverOf(named, entry, moment, readings.rows[at] as number)
        : this.#driverOf(named, entry, latest.moment, latest.row);
    const rule = this.#rules[driver] as Rule;
    const cells = this.#cells;
    const { month } = moment;
    let cell = this.#cell[driver] as number;
    if (cell !== none && cells.month[cell] !== month) cell = cells.find(driver, month);
    if (cell === none) {
      cell = cells.create(driver, month, this.#newest[driver] as number);
      this.#newest[driver] = cell;
      cells.readings[cell] = readings.counts[at] as number;
      this.#setValue(cell, readings, at);
      this.#place(rule, cell, readings, at);
    } else {
      cells.readings[cell] = (cells.readings[cell] as number) + (readings.counts[at] as number);
      if (this.#fold(rule, cell, readings, at)) this.#place(rule, cell, readings, at);
    }
    this.#cell[driver] = cell;
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
    const numbers = [...this.#names.keys()].sort((a, b) => (this.#id(a) < this.#id(b) ? -1 : 1));
    const columns = { cells: this.#cells, ties: this.#ties };
    for (const driver of numbers) {
      const { id, path, rule } = this.#names[driver] as DriverName;
      const pathPlace = {
        seconds: this.#seconds[driver] as number,
        nanos: this.#nanos[driver] as number,
        row: rowsBefore + (this.#row[driver] as number),
        part: this.#part,
      };
      const otherPath = this.#otherPaths.get(driver);
      yield {
        id,
        path: JSON.stringify(path),
        rule,
        otherPath: otherPath && JSON.stringify(otherPath),
        entry: this.#entry[driver],
        ...packCells(this.#cells.inOrder(this.#newest[driver] as number), columns, { rule, pathPlace, rowsBefore }),
      };
    }
    this.#names = [];
    this.#rules = [];
    this.#numbers.clear();
    this.#otherPaths.clear();
    this.#cells.clear();
    this.#ties.clear();
    this.#drivers.fill(none);
  }

  #id(driver: number): string {
    return (this.#names[driver] as DriverName).id;
  }

  /** The number of the reading's driver, which also takes its place and path if it is the latest. */
  #driverOf(named: number, entry: number, { seconds, nanos }: Moment, row: number): number {
    let driver = this.#drivers[named] as number;
    if (driver === none) driver = this.#meet(named);
    const later =
      seconds - (this.#seconds[driver] as number) ||
      nanos - (this.#nanos[driver] as number) ||
      row - (this.#row[driver] as number);
    if (this.#named[driver] !== named) this.#rename(driver, named, later >= 0);
    if (later < 0) return driver;
    this.#seconds[driver] = seconds;
    this.#nanos[driver] = nanos;
    this.#row[driver] = row;
    this.#entry[driver] = entry;
    return driver;
  }

  /** The driver of a name that readings have not named by this number before. */
  #meet(named: number): number {
    const name = (this.#numbering as DriverNames).of(named);
    const driver = this.#numbers.get(name.id) ?? this.#create(name, named);
    this.#drivers[named] = driver;
    return driver;
  }

  #create(name: DriverName, named: number): number {
    const driver = this.#names.length;
    if (driver === this.#cell.length) {
      const length = 2 * driver;
      this.#seconds = enlarged(this.#seconds, new Float64Array(length));
      this.#nanos = enlarged(this.#nanos, new Int32Array(length));
      this.#row = enlarged(this.#row, new Float64Array(length));
      this.#entry = enlarged(this.#entry, new Int32Array(length));
      this.#cell = enlarged(this.#cell, new Int32Array(length));
      this.#newest = enlarged(this.#newest, new Int32Array(length));
      this.#named = enlarged(this.#named, new Int32Array(length));
    }
    this.#names.push(name);
    this.#rules.push(name.rule);
    this.#numbers.set(name.id, driver);
    this.#named[driver] = named;
    // Whatever comes is later.
    this.#seconds[driver] = -Infinity;
    this.#cell[driver] = none;
    this.#newest[driver] = none;
    return driver;
  }

  /** @throws AgentError `part.unreadable` where the names differ in their rule */
  #rename(driver: number, named: number, isLater: boolean): void {
    const before = this.#names[driver] as DriverName;
    const name = (this.#numbering as DriverNames).of(named);
    if (before.rule !== name.rule) {
      throw new AgentError(
        'part.unreadable',
        `driver "${name.id}" is made with collapse ${before.rule} and ${name.rule}`,
        {
          hint: 'give the entries that make this id the same collapse, or different ids',
        },
      );
    }
    if (!samePath(before.path, name.path)) this.#otherPaths.set(driver, isLater ? before.path : name.path);
    if (!isLater) return;
    this.#names[driver] = name;
    this.#named[driver] = named;
  }

  /** Folds a reading's value into a cell of the same part. Returns whether the cell takes the reading's place too. */
  #fold(rule: Rule, cell: number, readings: Readings, at: number): boolean {
    const cells = this.#cells;
    const { seconds, nanos } = readings.moment(at);
    // Rows come in their order, but for those that a database collapsed.
    const time = seconds - (cells.seconds[cell] as number) || nanos - (cells.nanos[cell] as number);
    const isLater = (time || (readings.rows[at] as number) - (cells.row[cell] as number)) >= 0;
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
    const cells = this.#cells;
    const scale = scales[at] as number;
    cells.mantissa[cell] = mantissas[at] as number;
    cells.scale[cell] = scale;
    if (scale < 0) cells.value.set(cell, values[at] as string);
  }

  /** Negative, zero or positive: the reading's value against that of a cell. */
  #compare(cell: number, readings: Readings, at: number): number {
    const cells = this.#cells;
    const scale = readings.scales[at] as number;
    if (scale >= 0 && scale === cells.scale[cell]) {
      return (readings.mantissas[at] as number) - (cells.mantissa[cell] as number);
    }
    return compareDecimals(readings.value(at), valueOfCell(cells, cell));
  }

  #addTo(cell: number, readings: Readings, at: number): void {
    const cells = this.#cells;
    const scale = cells.scale[cell] as number;
    const added = readings.scales[at] as number;
    if (scale >= 0 && added >= 0) {
      const longest = Math.max(scale, added);
      const sum =
        rescaled(cells.mantissa[cell] as number, scale, longest) +
        rescaled(readings.mantissas[at] as number, added, longest);
      if (isExact(sum)) {
        cells.mantissa[cell] = sum;
        cells.scale[cell] = longest;
        return;
      }
    }
    const sum = addDecimals(valueOfCell(cells, cell), readings.value(at));
    cells.scale[cell] = -1;
    cells.value.set(cell, sum);
  }

  #place(rule: Rule, cell: number, readings: Readings, at: number): void {
    const cells = this.#cells;
    const { seconds, nanos } = readings.moment(at);
    const scale = readings.scales[at] as number;
    cells.seconds[cell] = seconds;
    cells.nanos[cell] = nanos;
    cells.row[cell] = readings.rows[at] as number;
    // An empty text means that it equals the value, as in nearly every cell of most files.
    const isNumber = readings.texts[at] === '' && scale >= 0;
    if (isAdding(rule)) {
      cells.addedMantissa[cell] = readings.mantissas[at] as number;
      cells.addedScale[cell] = isNumber ? scale : -1;
      cells.text.set(cell, isNumber ? '' : readings.text(at));
    } else {
      cells.text.set(cell, readings.texts[at] as string);
    }
  }
}
