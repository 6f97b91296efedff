/** Works something out once for each distinct combination of the texts of some columns, and not for each row. */
import { MemoryArray } from '../memory.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { Texts } from './column-batch.ts';
import type { MappingKernel, ReadRows } from './kernel/kernel.ts';
import { none } from './kernel/layout.ts';
import { Tuples } from './tuples.ts';

/** The number of the first one that is bad; the next ones are below it. */
const firstBad = -2;
const startCapacity = 1 << 6;

/** @typeParam Bad what is worked out where there is no number */
export class Keyed<Bad> {
  readonly #kernel: MappingKernel;
  readonly #columns: readonly number[];
  readonly #resolve: (at: number) => number | Bad;
  readonly #tuples: Tuples | undefined;
  readonly #numbers: MemoryArray<Int32Array>;
  /** By combination, or by code where there is one column. */
  readonly #known: MemoryArray<Int32Array>;
  #bad: Bad[] = [];
  /** Whether `numbers` has the one number that there is without columns. */
  #isFilled = false;
  #texts: readonly Texts[] = [];
  #generations: number[] = [];

  /**
   * @param columns whose texts decide; none: it is the same in every row
   * @param resolve for a row of the batch at hand: a number from 0 on, or why there is none
   */
  constructor(kernel: MappingKernel, columns: readonly number[], resolve: (at: number) => number | Bad) {
    this.#kernel = kernel;
    this.#columns = columns;
    this.#resolve = resolve;
    this.#tuples = columns.length < 2 ? undefined : new Tuples(kernel, columns.length);
    this.#numbers = new MemoryArray(kernel.memory, Int32Array, 0);
    this.#known = new MemoryArray(kernel.memory, Int32Array, startCapacity);
    this.#known.view.fill(none);
  }

  /** By row of the batch, for the rows that are read. Below zero: see `badOf`. */
  get numbers(): Int32Array {
    return this.#numbers.view;
  }

  /** Where the numbers are in the memory of the kernel. */
  get address(): number {
    return this.#numbers.address;
  }

  /** Finds the numbers of the rows of a batch. */
  read(batch: BatchColumns, rows: ReadRows): void {
    const coded = this.#columns.map((column) => batch.coded(column));
    const generations = coded.map(({ texts }) => texts.generation);
    const isSame = coded.every(
      ({ texts }, at) => texts === this.#texts[at] && texts.generation === this.#generations[at],
    );
    if (!isSame || this.#tuples?.isFull === true) this.clear();
    this.#texts = coded.map(({ texts }) => texts);
    this.#generations = generations;
    if (this.#numbers.length < batch.count) {
      this.#numbers.grow(Math.max(batch.count, 2 * this.#numbers.length));
      this.#isFilled = false;
    }
    const [first, ...others] = this.#columns.map((column) => batch.codesAddress(column));
    if (first === undefined) this.#fill(rows);
    else if (this.#tuples === undefined) this.#lookUp(first, rows);
    else {
      this.#tuples.find([first, ...others], rows, this.address);
      this.#lookUp(this.address, rows);
    }
  }

  /** What was worked out for a row whose number is below zero. */
  badOf(at: number): Bad {
    return this.#bad[firstBad - (this.numbers[at] as number)] as Bad;
  }

  /** Works out everything anew from here on. Only between batches. */
  clear(): void {
    this.#known.view.fill(none);
    this.#bad = [];
    this.#isFilled = false;
    this.#tuples?.clear();
  }

  /** The same in every row. */
  #fill(rows: ReadRows): void {
    if (rows.count === 0 || this.#isFilled) return;
    const known = this.#known.view[0] as number;
    const number = known === none ? this.#add(0, this.#kernel.rowAt(rows, 0)) : known;
    this.numbers.fill(number);
    this.#isFilled = true;
  }

  /** @param keys where they are, by row */
  #lookUp(keys: number, rows: ReadRows): void {
    const { call, memory } = this.#kernel;
    const { count, list } = rows;
    for (let index = 0; ;) {
      const { address: known, length } = this.#known;
      index = call.lookUp(keys, known, length, list, index, count, this.address);
      if (index >= count) return;
      const at = this.#kernel.rowAt(rows, index);
      this.#add(memory.get(keys + 4 * at), at);
    }
  }

  #add(key: number, at: number): number {
    const found = this.#resolve(at);
    const made = typeof found === 'number' ? found : firstBad + 1 - this.#bad.push(found);
    const known = this.#known;
    const { length } = known;
    if (key >= length) {
      known.grow(Math.max(2 * length, key + 1));
      known.view.fill(none, length);
    }
    known.view[key] = made;
    return made;
  }
}
