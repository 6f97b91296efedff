/** Finds readings of one driver and time that differ, while a part is folded. */
import { enlarged } from '../enlarged.ts';
import { compareDecimals } from '../numbers/arithmetic.ts';
import type { Readings } from '../mapping/reading.ts';
import { type CellTable, valueOfCell } from './cell-table.ts';
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
  /** By cell, its newest reading where that is not the one that it takes; row 0 where it is. Made when it is needed. */
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

  /** To be called before the cell takes the reading. */
  note(cell: number, readings: Readings, at: number, { takes, rule }: TakenBy): void {
    const { seconds, nanos } = readings.moment(at);
    const cells = this.#cells;
    const passed = this.#passed;
    const passedRow = passed?.row[cell] ?? 0;
    const from = passed !== undefined && passedRow > 0 ? passed : cells;
    if (from.seconds[cell] === seconds && from.nanos[cell] === nanos && (from.row[cell] as number) > this.#from) {
      const scale = readings.scales[at] as number;
      const isEqual = scale >= 0 && scale === from.scale[cell] && readings.mantissas[at] === from.mantissa[cell];
      if (!isEqual) this.#compare(cell, from, { readings, at, rule });
    }
    if (!takes) this.#pass(cell, readings, at);
    else if (passed !== undefined && passedRow > 0) passed.row[cell] = 0;
  }

  #compare(
    cell: number,
    from: PassedReadings | CellTable,
    { readings, at, rule }: { readings: Readings; at: number; rule: 'last' | 'first' },
  ): void {
    const { seconds, nanos } = readings.moment(at);
    const value = valueOfCell(from, cell);
    const newValue = readings.value(at);
    if (compareDecimals(newValue, value) === 0) return;
    const before: TiedReading = { value, row: from.row[cell] as number, part: this.#part };
    const now: TiedReading = { value: newValue, row: readings.rows[at] as number, part: this.#part };
    const [left, kept] = rule === 'last' ? [before, now] : [now, before];
    const known = this.#ties.get(cell);
    // As across parts: by `last` the one whose left reading is the latest is told, by `first` the earliest.
    const later = known === undefined ? 0 : seconds - known.seconds || nanos - known.nanos || left.row - known.left.row;
    if (known === undefined || later > 0 === (rule === 'last')) this.#ties.set(cell, { seconds, nanos, left, kept });
  }

  #pass(cell: number, readings: Readings, at: number): void {
    const { seconds, nanos } = readings.moment(at);
    const scale = readings.scales[at] as number;
    const passed = (this.#passed ??= new PassedReadings());
    passed.fit(this.#cells.month.length);
    passed.seconds[cell] = seconds;
    passed.nanos[cell] = nanos;
    passed.row[cell] = readings.rows[at] as number;
    passed.mantissa[cell] = readings.mantissas[at] as number;
    passed.scale[cell] = scale;
    if (scale < 0) passed.value.set(cell, readings.values[at] as string);
  }
}

/** As the cells, by cell. */
class PassedReadings {
  seconds = new Float64Array(0);
  nanos = new Uint32Array(0);
  row = new Float64Array(0);
  mantissa = new Float64Array(0);
  scale = new Int8Array(0);
  readonly value = new Map<number, string>();

  fit(capacity: number): void {
    if (this.row.length >= capacity) return;
    this.seconds = enlarged(this.seconds, new Float64Array(capacity));
    this.nanos = enlarged(this.nanos, new Uint32Array(capacity));
    this.row = enlarged(this.row, new Float64Array(capacity));
    this.mantissa = enlarged(this.mantissa, new Float64Array(capacity));
    this.scale = enlarged(this.scale, new Int8Array(capacity));
  }
}
