/**
 * Collapse: readings of one driver in one month become one point. Every rule is a fold that merges, so parts are folded
 * alone and then together (`merge-folds.ts`), and the result depends on no order of arrival.
 */
import { addDecimals, compareDecimals } from '../../numbers/arithmetic.ts';
import type { Readings, ReadingSink } from '../../mapping/reading.ts';
import type { Rule } from '../../model.ts';
import { isExact, rescaled } from '../../numbers/mantissa.ts';
import { canonical, elsewhere } from '../../numbers/spelling-bits.ts';
import { CellTable } from './cell-table.ts';
import { DriverTable } from './driver-table.ts';
import { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';
import { CellPacker } from './pack-cells.ts';
import { ReadingsIn } from './readings-in.ts';
import type { PackedDriver } from '../packing.ts';
import { isAdding } from '../rule.ts';
import { TieFinder, takenBy } from './tie-finder.ts';

const { none, textIsElsewhere, textIsValue } = place;

/** Folds the readings of one part, which come in the order of its rows. */
export class Fold implements ReadingSink {
  readonly #part: number;
  readonly #kernel = new FoldKernel();
  readonly #cells = new CellTable(this.#kernel);
  readonly #drivers = new DriverTable(this.#kernel);
  readonly #readings = new ReadingsIn(this.#kernel);
  readonly #ties: TieFinder;
  readonly #packer: CellPacker;

  /** `part`: the number that cells name this part by. */
  constructor(part: number) {
    this.#part = part;
    this.#ties = new TieFinder(part, this.#kernel, this.#cells);
    this.#packer = new CellPacker(this.#kernel, this.#cells, this.#ties);
  }

  /** To be called when all of it was taken: its memory is another's then. */
  [Symbol.dispose](): void {
    this.#kernel.memory[Symbol.dispose]();
  }

  /** How many cells, drivers and ties it holds: its memory grows with them. */
  get size(): number {
    return this.#cells.count + this.#drivers.count + this.#ties.size;
  }

  /** @throws AgentError `part.unreadable` where two entries make one driver by different rules. */
  take(readings: Readings): void {
    const { count } = readings;
    this.#begin(readings, count);
    // Those that a database collapsed stand for several each.
    if (readings.latest.length > 0) {
      for (let at = 0; at < count; at++) this.#add(readings, at);
      return;
    }
    const { call, context } = this.#kernel;
    this.#readings.put(readings);
    for (let at = 0; at < count; at++) {
      at = call.take(context, at, count);
      if (at < count) this.#add(readings, at);
    }
  }

  /** Adds one of the readings. @throws as `take` */
  add(readings: Readings, at: number): void {
    this.#begin(readings, 1);
    this.#add(readings, at);
  }

  /** Makes room for so many readings. */
  #begin(readings: Readings, count: number): void {
    this.#drivers.use(readings.names);
    this.#cells.marks = readings.marks;
    this.#cells.reserve(count);
    this.#ties.reserve(this.#cells.count + count);
  }

  #add(readings: Readings, at: number): void {
    const month = readings.times.months[readings.timed[at] as number] as number;
    const latest = readings.latest.length === 0 ? undefined : readings.latest[at];
    const { moment, row } = latest ?? { moment: readings.moment(at), row: readings.rows[at] as number };
    const drivers = this.#drivers;
    const driver = drivers.find(readings.named[at] as number, readings.entries[at] as number, moment, row);
    const rule = drivers.rule(driver);
    const cells = this.#cells;
    let cell = cells.find(driver, month);
    if (cell === none) {
      cell = cells.create(driver, month, drivers.newest(driver));
      drivers.setNewest(driver, cell);
      this.#setValue(cell, readings, at);
      this.#place(rule, cell, readings, at);
    } else if (this.#fold(rule, cell, readings, at)) this.#place(rule, cell, readings, at);
    cells.addReadings(cell, readings.counts[at] as number);
    drivers.setCell(driver, cell);
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
    for (const driver of numbers) {
      const { id, path, rule } = drivers.name(driver);
      const { seconds, nanos, row } = drivers.latest(driver);
      const pathPlace = { seconds, nanos, row: rowsBefore + row, part: this.#part };
      const otherPath = drivers.otherPaths.get(driver);
      yield {
        id,
        path: JSON.stringify(path),
        rule,
        otherPath: otherPath && JSON.stringify(otherPath),
        entry: drivers.entry(driver),
        ...this.#packer.pack({ driver, newest: drivers.newest(driver), rule, pathPlace, rowsBefore }),
      };
    }
    this.#ties.clear();
    drivers.clear();
    this.#cells.clear();
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
    this.#cells.setValue(cell, mantissas[at] as number, scale, values[at] as string);
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
    cells.setPlace(cell, {
      seconds: readings.times.seconds[time] as number,
      nanos: readings.times.nanos[time] as number,
      row: readings.rows[at] as number,
    });
    const spelling = readings.spelled[at] as number;
    const scale = readings.scales[at] as number;
    if (spelling === canonical && !isAdding(rule)) cells.setText(cell, 0, textIsValue, '');
    else if (spelling === elsewhere || scale < 0) cells.setText(cell, 0, textIsElsewhere, readings.text(at));
    else cells.setText(cell, readings.mantissas[at] as number, scale | (spelling << place.spellingShift), '');
  }
}
