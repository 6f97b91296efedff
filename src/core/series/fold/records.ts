/** Records of numbers in a memory, numbered from 0: objects would be spread over the memory. */
import type { Memory } from '../../memory.ts';

const startCapacity = 1 << 5;
/** Beyond it there is room for `reservedMin` at once: records that move leave their old place behind, and memory that nobody has written to costs nothing. */
const movedMax = 1 << 13;
const reservedMin = 1 << 18;

export class Records {
  address: number;
  capacity = startCapacity;
  readonly #memory: Memory;
  readonly #bytes: number;

  /** @param bytes of each, a multiple of 8 */
  constructor(memory: Memory, bytes: number) {
    this.#memory = memory;
    this.#bytes = bytes;
    this.address = memory.allocate(startCapacity * bytes);
  }

  /** Makes room for so many in all. @returns whether they are at another address now */
  reserve(count: number): boolean {
    if (count <= this.capacity) return false;
    const used = this.capacity * this.#bytes;
    while (this.capacity < count) this.capacity *= 2;
    if (this.capacity > movedMax) this.capacity = Math.max(this.capacity, reservedMin);
    const before = this.address;
    this.address = this.#memory.allocate(this.capacity * this.#bytes);
    this.#memory.bytes.copyWithin(this.address, before, before + used);
    return true;
  }

  int(record: number, at: number): number {
    return this.#memory.ints[(this.address + record * this.#bytes + at) >> 2] as number;
  }

  setInt(record: number, at: number, value: number): void {
    this.#memory.ints[(this.address + record * this.#bytes + at) >> 2] = value;
  }

  double(record: number, at: number): number {
    return this.#memory.doubles[(this.address + record * this.#bytes + at) >> 3] as number;
  }

  setDouble(record: number, at: number, value: number): void {
    this.#memory.doubles[(this.address + record * this.#bytes + at) >> 3] = value;
  }

  /** Sets so many of the first to zero. */
  clear(count: number): void {
    this.#memory.bytes.fill(0, this.address, this.address + count * this.#bytes);
  }
}
