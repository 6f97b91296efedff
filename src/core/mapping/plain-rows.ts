/** Rows that are what most are: with a name, a time of one month and a value that is an integer, for each entry. */
import { MemoryArray } from '../memory.ts';
import type { MappingKernel, ReadRows } from './kernel/kernel.ts';
import { readAt, unitBytes } from './kernel/layout.ts';
import { type Readings, type ReadingSink, readingsMax } from './reading.ts';

/** What an entry reads in a row, or in one of its long rows. Where things are in the memory of the kernel, by row. */
export interface PlainUnit {
  readonly names: number;
  readonly times: number;
  readonly mantissas: number;
  readonly scales: number;
  /** A canonical decimal of at most so many decimals is its own value. */
  readonly scaleMax: number;
  readonly entry: number;
  /** How numbers are written; 0: as their value. */
  readonly spelled: number;
  /** What is set in the spelling of each number, whose sign is turned then; 0: none is. */
  readonly negated: number;
}

const unitInts = unitBytes / 4;

export class PlainRows {
  readonly #kernel: MappingKernel;
  readonly #readings: Readings;
  readonly #units: MemoryArray<Int32Array>;
  #count = 0;

  constructor(kernel: MappingKernel, readings: Readings) {
    this.#kernel = kernel;
    this.#readings = readings;
    this.#units = new MemoryArray(kernel.memory, Int32Array, 0);
  }

  /**
   * To be called before the rows of a batch are read.
   * @param units in the order in which a row's readings come
   * @returns whether there can be such rows
   */
  begin(units: readonly (PlainUnit | undefined)[]): boolean {
    if (!units.every((unit) => unit !== undefined)) return false;
    this.#count = units.length;
    if (this.#units.length < units.length * unitInts) this.#units.grow(units.length * unitInts);
    for (const [at, unit] of units.entries()) {
      const { names, times, mantissas, scales, scaleMax, entry, spelled, negated } = unit;
      // In the order of `layout.ts`.
      this.#units.view.set([names, times, mantissas, scales, scaleMax, entry, spelled, negated], at * unitInts);
    }
    return true;
  }

  /**
   * Reads rows as long as they are such rows; hands readings over where there is no more room for those of a row.
   * @param from an index of the rows; @param rowsBefore how many rows of the part came before the batch
   * @returns the index of the first one that was not read
   */
  read(
    { count, list }: ReadRows,
    { from, rowsBefore }: { readonly from: number; readonly rowsBefore: number },
    sink: ReadingSink,
  ): number {
    const readings = this.#readings;
    const { call, memory } = this.#kernel;
    const units = this.#count;
    for (let index = from; ;) {
      if (readings.count + units > readingsMax) readings.handOver(sink);
      readings.reserve(units, units * (count - index));
      memory.set(readings.address + readAt, readings.count);
      index = call.readPlain(this.#units.address, units, list, index, count, rowsBefore, readings.address);
      readings.counted();
      if (index >= count || readings.room >= units) return index;
    }
  }
}
