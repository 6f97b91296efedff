/** Finds readings of one driver and time that differ, while a part is folded. */
import { compareDecimals } from '../../numbers/arithmetic.ts';
import type { Readings } from '../../mapping/reading.ts';
import { mantissaText } from '../../numbers/mantissa.ts';
import type { CellTable } from './cell-table.ts';
import type { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';
import { Records } from './records.ts';
import type { Tie, TiedReading } from '../packing.ts';

/** What becomes of a reading, and by which rule. */
interface TakenBy {
  readonly takes: boolean;
  readonly rule: 'last' | 'first';
}

/** One object for each case: none is made for a row. */
export const takenBy: Readonly<Record<'last' | 'first', readonly [TakenBy, TakenBy]>> = {
  last: [
    { takes: false, rule: 'last' },
    { takes: true, rule: 'last' },
  ],
  first: [
    { takes: false, rule: 'first' },
    { takes: true, rule: 'first' },
  ],
};

interface NotedReading {
  readonly readings: Readings;
  readonly at: number;
  readonly rule: 'last' | 'first';
}

/**
 * Compares each reading with the one before it in its cell and with the one that is taken so far. So every tie that decides a point is
 * found, and in a file that is sorted by time every other one, too. Of both only readings behind the last cut count: what is found does
 * not depend on how the part was cut into pieces.
 */
export class TieFinder {
  readonly #part: number;
  readonly #kernel: FoldKernel;
  readonly #cells: CellTable;
  /** By cell, the one that is told. */
  readonly #ties = new Map<number, Tie>();
  /** Only readings behind this row are compared. */
  #from = -Infinity;
  /** How many cells there may be before `reserve` is called again: a kernel makes them, and looks at what each has passed. */
  #cellsMax = 0;
  /** Each is made when it is needed. By cell, the newest reading where that is not taken. */
  #passed: OtherReadings | undefined;
  /** What would be taken so far if the readings began behind the cut, in cells that took one before it. */
  #best: OtherReadings | undefined;

  constructor(part: number, kernel: FoldKernel, cells: CellTable) {
    this.#part = part;
    this.#kernel = kernel;
    this.#cells = cells;
    this.cut(this.#from);
  }

  get size(): number {
    return this.#ties.size;
  }

  /** See `Fold.cutTies`. */
  cut(row: number): void {
    this.#from = row;
    this.#kernel.memory.doubles[(this.#kernel.context + place.tiesFromAt) >> 3] = row;
  }

  of(cell: number): Tie | undefined {
    return this.#ties.get(cell);
  }

  /** To be called before the cells are cleared. */
  clear(): void {
    this.#ties.clear();
    this.#passed?.clear();
    this.#best?.clear();
  }

  /** To be called before so many cells are there. */
  reserve(cells: number): void {
    this.#cellsMax = cells;
    this.#passed?.reserve(cells);
    this.#best?.reserve(cells);
  }

  /** To be called before the cell takes the reading. */
  note(cell: number, readings: Readings, at: number, { takes, rule }: TakenBy): void {
    const passed = this.#passed;
    const isPassed = passed !== undefined && passed.row(cell) > 0;
    const isBehindCut = this.#cells.row(cell) > this.#from;
    const taken = isBehindCut ? this.#cells : this.#best;
    if (isPassed) this.#compare(cell, passed, { readings, at, rule });
    if (taken !== undefined) this.#compare(cell, taken, { readings, at, rule });
    if (takes) {
      if (isPassed) passed.forget(cell);
      return;
    }
    (this.#passed ??= new OtherReadings(this.#kernel, place.passedAt, this.#cellsMax)).set(cell, readings, at);
    if (!isBehindCut) this.#noteBest(cell, { readings, at, rule });
  }

  /** Of readings that the cell does not take, since it has taken one before the cut. */
  #noteBest(cell: number, { readings, at, rule }: NotedReading): void {
    const best = (this.#best ??= new OtherReadings(this.#kernel, place.bestAt, this.#cellsMax));
    const { seconds, nanos } = readings.moment(at);
    // Rows come in their order.
    const isLater = (seconds - best.seconds(cell) || nanos - best.nanos(cell)) >= 0;
    if (best.row(cell) <= this.#from || isLater === (rule === 'last')) best.set(cell, readings, at);
  }

  #compare(cell: number, from: OtherReadings | CellTable, { readings, at, rule }: NotedReading): void {
    const { seconds, nanos } = readings.moment(at);
    if (from.seconds(cell) !== seconds || from.nanos(cell) !== nanos || from.row(cell) <= this.#from) return;
    const scale = readings.scales[at] as number;
    if (scale >= 0 && scale === from.scale(cell) && readings.mantissas[at] === from.mantissa(cell)) return;
    const value = from.valueText(cell);
    const newValue = readings.value(at);
    if (compareDecimals(newValue, value) === 0) return;
    const before: TiedReading = { value, row: from.row(cell), part: this.#part };
    const now: TiedReading = { value: newValue, row: readings.rows[at] as number, part: this.#part };
    const [left, kept] = rule === 'last' ? [before, now] : [now, before];
    const known = this.#ties.get(cell);
    // As across parts: by `last` the one whose left reading is the latest is told, by `first` the earliest.
    const later = known === undefined ? 0 : seconds - known.seconds || nanos - known.nanos || left.row - known.left.row;
    if (known === undefined || later > 0 === (rule === 'last')) this.#ties.set(cell, { seconds, nanos, left, kept });
  }
}

/** By cell, a reading that is not the one that it has: see `passedBytes`. */
class OtherReadings {
  readonly #kernel: FoldKernel;
  /** Where the kernel finds them. */
  readonly #at: number;
  readonly #records: Records;
  readonly #value = new Map<number, string>();

  constructor(kernel: FoldKernel, at: number, cells: number) {
    this.#kernel = kernel;
    this.#at = at;
    this.#records = new Records(kernel.memory, place.passedBytes);
    this.#records.reserve(cells);
    this.#describe();
  }

  row(cell: number): number {
    return this.#records.double(cell, place.passedRowAt);
  }

  seconds(cell: number): number {
    return this.#records.double(cell, place.passedSecondsAt);
  }

  nanos(cell: number): number {
    return this.#records.int(cell, place.passedNanosAt);
  }

  scale(cell: number): number {
    return this.#records.int(cell, place.passedScaleAt);
  }

  mantissa(cell: number): number {
    return this.#records.double(cell, place.passedMantissaAt);
  }

  valueText(cell: number): string {
    const scale = this.scale(cell);
    return scale < 0 ? (this.#value.get(cell) as string) : mantissaText(this.mantissa(cell), scale);
  }

  set(cell: number, readings: Readings, at: number): void {
    const records = this.#records;
    const { seconds, nanos } = readings.moment(at);
    const scale = readings.scales[at] as number;
    records.setDouble(cell, place.passedSecondsAt, seconds);
    records.setDouble(cell, place.passedRowAt, readings.rows[at] as number);
    records.setDouble(cell, place.passedMantissaAt, readings.mantissas[at] as number);
    records.setInt(cell, place.passedNanosAt, nanos);
    records.setInt(cell, place.passedScaleAt, scale);
    if (scale < 0) this.#value.set(cell, readings.values[at] as string);
  }

  clear(): void {
    this.#records.clear(this.#kernel.get(place.cellCountAt));
    this.#value.clear();
  }

  forget(cell: number): void {
    this.#records.setDouble(cell, place.passedRowAt, 0);
  }

  /** Makes room for so many cells in all. */
  reserve(cells: number): void {
    if (this.#records.reserve(cells)) this.#describe();
  }

  #describe(): void {
    this.#kernel.set(this.#at, this.#records.address);
  }
}
