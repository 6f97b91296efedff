/** Numbers the distinct combinations of the codes of some columns. */
import { enlarged } from '../enlarged.ts';

const startCapacity = 1 << 8;
const none = -1;

/** Combinations that are kept; beyond it they are numbered anew. */
const tuplesMax = 120_000;

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

  /** The codes of the rows that are asked for next. */
  use(columns: readonly Int32Array[]): void {
    this.#columns = columns;
  }

  clear(): void {
    this.count = 0;
    this.#last = none;
    this.#slots.fill(none);
  }

  /** The number of a row's combination: `count` before the call, where it is a new one. */
  of(row: number): number {
    // Rows tend to name drivers in one order.
    const guess = this.#last === none ? none : (this.#next[this.#last] as number);
    const tuple = guess !== none && this.#isOf(guess, row) ? guess : this.#find(row);
    this.#last = tuple;
    return tuple;
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

  #find(row: number): number {
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
    if (this.#last !== none) this.#next[this.#last] = tuple;
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
