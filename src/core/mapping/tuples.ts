/** Numbers the distinct combinations of the codes of some columns. */
import { enlarged } from '../enlarged.ts';

const startCapacity = 1 << 8;
const none = -1;

/** Combinations that are kept; beyond it they are numbered anew. */
const tuplesMax = 120_000;

/** The rows of a batch that are read: all of them, or those of a list. */
export interface ReadRows {
  readonly count: number;
  readonly list: Int32Array | undefined;
}

export class Tuples {
  count = 0;
  readonly #width: number;
  #columns: readonly Int32Array[] = [];
  /** `width` codes for each combination. */
  #keys: Int32Array;
  /** By combination: the combination that followed it last time. */
  #next = new Int32Array(startCapacity);
  /** Open addressing, at most half full. */
  #slots = new Int32Array(startCapacity * 2).fill(none);
  #last = none;

  /** @param width how many columns, at least two */
  constructor(width: number) {
    this.#width = width;
    this.#keys = new Int32Array(startCapacity * width);
  }

  get isFull(): boolean {
    return this.count > tuplesMax;
  }

  clear(): void {
    this.count = 0;
    this.#last = none;
    this.#slots.fill(none);
  }

  /** The numbers of the combinations of rows, by row. @param columns codes by row */
  find(columns: readonly Int32Array[], { count, list }: ReadRows, into: Int32Array): void {
    this.#columns = columns;
    let last = this.#last;
    for (let index = 0; index < count; index++) {
      const row = list === undefined ? index : (list[index] as number);
      // Rows tend to name drivers in one order.
      const guess = last === none ? none : (this.#next[last] as number);
      last = guess !== none && this.#isOf(guess, row) ? guess : this.#findAfter(last, row);
      into[row] = last;
    }
    this.#last = last;
  }

  #isOf(tuple: number, row: number): boolean {
    const columns = this.#columns;
    const start = tuple * this.#width;
    // The last column tells combinations apart soonest: templates go from the general to the particular.
    for (let at = columns.length - 1; at >= 0; at--) {
      if (this.#keys[start + at] !== (columns[at] as Int32Array)[row]) return false;
    }
    return true;
  }

  #findAfter(last: number, row: number): number {
    if (this.count * 2 >= this.#slots.length) this.#grow();
    const made = this.count;
    const start = made * this.#width;
    for (let at = 0; at < this.#width; at++) {
      this.#keys[start + at] = (this.#columns[at] as Int32Array)[row] as number;
    }
    const mask = this.#slots.length - 1;
    let slot = this.#hash(start) & mask;
    let tuple = this.#slots[slot] as number;
    while (tuple !== none && !this.#isOf(tuple, row)) {
      slot = (slot + 1) & mask;
      tuple = this.#slots[slot] as number;
    }
    if (tuple === none) {
      tuple = made;
      this.count++;
      this.#next[made] = none;
      this.#slots[slot] = made;
    }
    if (last !== none) this.#next[last] = tuple;
    return tuple;
  }

  #hash(start: number): number {
    let hash = 0;
    for (let at = start; at < start + this.#width; at++) {
      hash = Math.imul(hash ^ (this.#keys[at] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  #grow(): void {
    const capacity = this.#slots.length;
    this.#keys = enlarged(this.#keys, new Int32Array(capacity * this.#width));
    this.#next = enlarged(this.#next, new Int32Array(capacity));
    this.#slots = new Int32Array(capacity * 2).fill(none);
    const mask = this.#slots.length - 1;
    for (let tuple = 0; tuple < this.count; tuple++) {
      let slot = this.#hash(tuple * this.#width) & mask;
      while (this.#slots[slot] !== none) slot = (slot + 1) & mask;
      this.#slots[slot] = tuple;
    }
  }
}
