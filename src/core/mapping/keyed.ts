/** Works something out once for each distinct combination of the texts of some columns, and not for each row. */
import type { BatchColumns } from './batch-columns.ts';
import type { Texts } from './column-batch.ts';
import { Tuples } from './tuples.ts';

export class Keyed<T> {
  readonly #columns: readonly number[];
  readonly #resolve: (at: number) => T;
  readonly #tuples: Tuples | undefined;
  /** By combination, or by code where there is one column. */
  #known: (T | undefined)[] = [];
  /** The codes of the only column, where there is one. */
  #codes: Int32Array | undefined;
  #texts: readonly Texts[] = [];
  #generations: number[] = [];

  /**
   * @param columns whose texts decide; none: it is the same in every row
   * @param resolve for a row of the batch at hand; never `undefined`
   */
  constructor(columns: readonly number[], resolve: (at: number) => T) {
    this.#columns = columns;
    this.#resolve = resolve;
    this.#tuples = columns.length < 2 ? undefined : new Tuples(columns.length);
  }

  /** To be called before the rows of a batch are asked for. */
  begin(batch: BatchColumns): void {
    const coded = this.#columns.map((column) => batch.coded(column));
    const generations = coded.map(({ texts }) => texts.generation);
    const isSame = coded.every(
      ({ texts }, at) => texts === this.#texts[at] && texts.generation === this.#generations[at],
    );
    if (!isSame || this.#tuples?.isFull === true) this.clear();
    this.#texts = coded.map(({ texts }) => texts);
    this.#generations = generations;
    this.#codes = coded[0]?.codes;
    this.#tuples?.use(coded.map(({ codes }) => codes));
  }

  /** Works out everything anew from here on. Only between batches. */
  clear(): void {
    this.#known = [];
    this.#tuples?.clear();
  }

  of(at: number): T {
    const key =
      this.#tuples === undefined ? (this.#codes === undefined ? 0 : (this.#codes[at] as number)) : this.#tuples.of(at);
    return this.#known[key] ?? this.#add(key, at);
  }

  #add(key: number, at: number): T {
    const made = this.#resolve(at);
    // Codes need not come in their order: an array with holes would be a slow one.
    while (this.#known.length < key) this.#known.push(undefined);
    this.#known[key] = made;
    return made;
  }
}
