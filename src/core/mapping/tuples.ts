/** Numbers the distinct combinations of the codes of some columns. */
import { type Memory, MemoryArray } from '../memory.ts';
import type { MappingKernel, ReadRows } from './kernel/kernel.ts';
import * as place from './kernel/layout.ts';

const startCapacity = 1 << 8;

/** Combinations that are kept; beyond it they are numbered anew. */
const tuplesMax = 120_000;

export class Tuples {
  readonly #kernel: MappingKernel;
  readonly #memory: Memory;
  readonly #width: number;
  /** Where the kernel finds them. */
  readonly #address: number;
  readonly #columns: MemoryArray<Int32Array>;
  /** `width` codes for each combination. */
  readonly #keys: MemoryArray<Int32Array>;
  /** By combination: the combination that followed it last time. */
  readonly #next: MemoryArray<Int32Array>;
  /** Open addressing, at most half full. */
  readonly #slots: MemoryArray<Int32Array>;

  /** @param width how many columns, at least two */
  constructor(kernel: MappingKernel, width: number) {
    const { memory } = kernel;
    this.#kernel = kernel;
    this.#memory = memory;
    this.#width = width;
    this.#columns = new MemoryArray(memory, Int32Array, width);
    this.#keys = new MemoryArray(memory, Int32Array, startCapacity * width);
    this.#next = new MemoryArray(memory, Int32Array, startCapacity);
    this.#slots = new MemoryArray(memory, Int32Array, startCapacity * 2);
    this.#address = memory.allocate(place.tuplesBytes);
    this.#set(place.widthAt, width);
    this.#set(place.columnsAt, this.#columns.address);
    this.#describe();
    this.clear();
  }

  get isFull(): boolean {
    return this.#memory.get(this.#address + place.countAt) > tuplesMax;
  }

  clear(): void {
    this.#set(place.countAt, 0);
    this.#set(place.lastAt, place.none);
    this.#slots.view.fill(place.none);
  }

  /** The numbers of the combinations of rows, by row. @param columns where the codes of each are, by row; @param into where the numbers go */
  find(columns: readonly number[], { count, list }: ReadRows, into: number): void {
    this.#columns.view.set(columns);
    for (let index = 0; ;) {
      index = this.#kernel.call.findTuples(this.#address, list, index, count, into);
      if (index >= count) return;
      this.#grow();
    }
  }

  #set(at: number, value: number): void {
    this.#memory.set(this.#address + at, value);
  }

  #grow(): void {
    const capacity = this.#slots.length;
    this.#keys.grow(capacity * this.#width);
    this.#next.grow(capacity);
    this.#slots.grow(capacity * 2);
    this.#slots.view.fill(place.none);
    this.#describe();
    this.#kernel.call.fillSlots(this.#address);
  }

  #describe(): void {
    this.#set(place.keysAt, this.#keys.address);
    this.#set(place.nextAt, this.#next.address);
    this.#set(place.slotsAt, this.#slots.address);
    this.#set(place.slotMaskAt, this.#slots.length - 1);
  }
}
