/** Finds readings of one driver and time that differ, while a part is folded. */
import { enlarged } from '../enlarged.ts';
import { compareDecimals } from '../numbers/arithmetic.ts';
import type { Readings } from '../mapping/reading.ts';
import { mantissaText } from '../numbers/mantissa.ts';
import type { CellTable } from './cell-table.ts';
import type { Tie, TiedReading } from './packing.ts';

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

/**
 * Compares each reading with the one before it in its cell. In a file that is sorted by time this finds every point that has such
 * readings, and in any file it does not depend on how the part was cut into pieces.
 */
export class TieFinder {
  readonly #part: number;
  readonly #cells: CellTable;
  /** By cell, the one that is told. */
  readonly #ties = new Map<number, Tie>();
  /** Only readings behind this row are compared. */
  #from = -Infinity;
  /** Made when it is needed. */
  #passed: PassedReadings | undefined;

  constructor(part: number, cells: CellTable) {
    this.#part = part;
    this.#cells = cells;
  }

  get size(): number {
    return this.#ties.size;
  }

  /** See `Fold.cutTies`. */
  cut(row: number): void {
    this.#from = row;
  }

  of(cell: number): Tie | undefined {
    return this.#ties.get(cell);
  }

  clear(): void {
    this.#ties.clear();
    this.#passed = undefined;
  }

  /** Whether a cell has another reading than its newest one: only then a later reading of another time has to be noted. */
  get hasPassed(): boolean {
    return this.#passed !== undefined;
  }

  /** To be called before the cell takes the reading. */
  note(cell: number, readings: Readings, at: number, { takes, rule }: TakenBy): void {
    const { seconds, nanos } = readings.moment(at);
    const cells = this.#cells;
    const passed = this.#passed;
    const isPassed = passed !== undefined && passed.row(cell) > 0;
    const from = isPassed ? passed : cells;
    if (from.seconds(cell) === seconds && from.nanos(cell) === nanos && from.row(cell) > this.#from) {
      const scale = readings.scales[at] as number;
      const isEqual = scale >= 0 && scale === from.scale(cell) && readings.mantissas[at] === from.mantissa(cell);
      if (!isEqual) this.#compare(cell, from, { readings, at, rule });
    }
    if (!takes) (this.#passed ??= new PassedReadings()).set(cell, readings, at);
    else if (isPassed) passed.forget(cell);
  }

  #compare(
    cell: number,
    from: PassedReadings | CellTable,
    { readings, at, rule }: { readings: Readings; at: number; rule: 'last' | 'first' },
  ): void {
    const { seconds, nanos } = readings.moment(at);
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

/** A record of 32 bytes for each cell, as `CellTable` has them: its time, row and value. */
const passedNumbers = 4;
const passedIntegers = 8;
const secondsIn = 0;
const rowIn = 1;
const mantissaIn = 2;
const nanosIn = 6;
const scaleIn = 7;

/** By cell, its newest reading where that is not the one that it has; row 0 where it is. */
class PassedReadings {
  #numbers = new Float64Array(0);
  #integers = new Int32Array(0);
  readonly #value = new Map<number, string>();

  row(cell: number): number {
    return this.#numbers[cell * passedNumbers + rowIn] ?? 0;
  }

  seconds(cell: number): number {
    return this.#numbers[cell * passedNumbers + secondsIn] as number;
  }

  nanos(cell: number): number {
    return this.#integers[cell * passedIntegers + nanosIn] as number;
  }

  scale(cell: number): number {
    return this.#integers[cell * passedIntegers + scaleIn] as number;
  }

  mantissa(cell: number): number {
    return this.#numbers[cell * passedNumbers + mantissaIn] as number;
  }

  valueText(cell: number): string {
    const scale = this.scale(cell);
    return scale < 0 ? (this.#value.get(cell) as string) : mantissaText(this.mantissa(cell), scale);
  }

  set(cell: number, readings: Readings, at: number): void {
    if ((cell + 1) * passedNumbers > this.#numbers.length) this.#grow(cell + 1);
    const { seconds, nanos } = readings.moment(at);
    const numbers = cell * passedNumbers;
    const integers = cell * passedIntegers;
    const scale = readings.scales[at] as number;
    this.#numbers[numbers + secondsIn] = seconds;
    this.#numbers[numbers + rowIn] = readings.rows[at] as number;
    this.#numbers[numbers + mantissaIn] = readings.mantissas[at] as number;
    this.#integers[integers + nanosIn] = nanos;
    this.#integers[integers + scaleIn] = scale;
    if (scale < 0) this.#value.set(cell, readings.values[at] as string);
  }

  forget(cell: number): void {
    this.#numbers[cell * passedNumbers + rowIn] = 0;
  }

  #grow(cells: number): void {
    const larger = new Float64Array(Math.max(2 * this.#numbers.length, cells * passedNumbers));
    this.#numbers = enlarged(this.#numbers, larger);
    this.#integers = new Int32Array(larger.buffer);
  }
}
