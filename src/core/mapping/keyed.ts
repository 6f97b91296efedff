/** Works something out once for each distinct combination of the texts of some columns, and not for each row. */
import { enlarged } from '../enlarged.ts';
import type { BatchColumns } from './batch-columns.ts';
import type { Texts } from './column-batch.ts';
import { type ReadRows, Tuples } from './tuples.ts';

/** Instead of a number: it is still to be worked out. */
const unknown = -1;
/** The number of the first one that is bad; the next ones are below it. */
const firstBad = -2;

/** @typeParam Bad what is worked out where there is no number */
export class Keyed<Bad> {
  /** By row of the batch, for the rows that are read. Below zero: see `badOf`. */
  numbers = new Int32Array(0);
  readonly #columns: readonly number[];
  readonly #resolve: (at: number) => number | Bad;
  readonly #tuples: Tuples | undefined;
  /** By combination, or by code where there is one column. */
  #known = new Int32Array(1 << 6).fill(unknown);
  #bad: Bad[] = [];
  /** Whether `numbers` has the one number that there is without columns. */
  #isFilled = false;
  #texts: readonly Texts[] = [];
  #generations: number[] = [];

  /**
   * @param columns whose texts decide; none: it is the same in every row
   * @param resolve for a row of the batch at hand: a number from 0 on, or why there is none
   */
  constructor(columns: readonly number[], resolve: (at: number) => number | Bad) {
    this.#columns = columns;
    this.#resolve = resolve;
    this.#tuples = columns.length < 2 ? undefined : new Tuples(columns.length);
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
    if (this.numbers.length < batch.count) {
      this.numbers = new Int32Array(batch.count);
      this.#isFilled = false;
    }
    const [only] = coded;
    if (only === undefined) this.#fill(rows);
    else if (this.#tuples === undefined) this.#lookUp(only.codes, rows);
    else {
      this.#tuples.find(
        coded.map(({ codes }) => codes),
        rows,
        this.numbers,
      );
      this.#lookUp(this.numbers, rows);
    }
  }

  /** What was worked out for a row whose number is below zero. */
  badOf(at: number): Bad {
    return this.#bad[firstBad - (this.numbers[at] as number)] as Bad;
  }

  /** Works out everything anew from here on. Only between batches. */
  clear(): void {
    this.#known.fill(unknown);
    this.#bad = [];
    this.#isFilled = false;
    this.#tuples?.clear();
  }

  /** The same in every row. */
  #fill({ count, list }: ReadRows): void {
    if (count === 0 || this.#isFilled) return;
    const known = this.#known[0] as number;
    this.numbers.fill(known === unknown ? this.#add(0, list === undefined ? 0 : (list[0] as number)) : known);
    this.#isFilled = true;
  }

  /** @param keys by row */
  #lookUp(keys: Int32Array, { count, list }: ReadRows): void {
    const { numbers } = this;
    let known = this.#known;
    for (let index = 0; index < count; index++) {
      const at = list === undefined ? index : (list[index] as number);
      const key = keys[at] as number;
      let number = key < known.length ? (known[key] as number) : unknown;
      if (number === unknown) {
        number = this.#add(key, at);
        known = this.#known;
      }
      numbers[at] = number;
    }
  }

  #add(key: number, at: number): number {
    const found = this.#resolve(at);
    const made = typeof found === 'number' ? found : firstBad + 1 - this.#bad.push(found);
    const { length } = this.#known;
    if (key >= length) {
      const larger = Math.max(2 * length, key + 1);
      this.#known = enlarged(this.#known, new Int32Array(larger).fill(unknown, length));
    }
    this.#known[key] = made;
    return made;
  }
}
