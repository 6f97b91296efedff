/**
 * The cells of a fold, kept as records of numbers and bytes. As objects they would take most of a fold's memory: each
 * reading replaces the texts of an old object, and the garbage collector moves and keeps them (1 M rows of 10 000 drivers:
 * 0.5 s of 3.3 and 150 MB of 280).
 */
import type { Month } from '../model.ts';
import { mantissaText } from '../numbers/mantissa.ts';

/** Few: making room for 4 096 cells takes 40 us, as long as folding a small part. */
const startCapacity = 1 << 6;
/** Room for so many more cells is made at once. */
const roomMax = 1 << 16;
const none = -1;

/**
 * A cell is a record of 64 bytes, as long as what a processor reads of its memory at once: where rows name drivers in no order, each cell
 * is one look at memory, and would be ten as a row of ten columns.
 */
const cellBytes = 64;
/** Numbers of a record, of 8 bytes each. */
export const cellNumbers = cellBytes / 8;
export const secondsIn = 0;
export const rowIn = 1;
/** How many readings were folded into the cell. */
export const readingsIn = 2;
/** The value as an integer, see `core/numbers/mantissa.ts`; for an average its sum. Where that does not fit: its place in `texts`. */
export const mantissaIn = 3;
/** The text of the latest reading that was added, as an integer: mantissa and scale are the same for the value. Or its place in `texts`. */
const addedMantissaIn = 4;
/** Integers of a record, of 4 bytes each. */
export const cellIntegers = cellBytes / 4;
export const nanosIn = 10;
export const monthIn = 11;
const driverIn = 12;
const nextIn = 13;
/** How many digits of the value are decimals; -1: the value is one of `texts`. */
export const scaleIn = 14;
/** The scale of the latest reading that was added, or `textIsElsewhere` or `textIsValue`. */
export const addedScaleIn = 15;
/** Instead of a scale: one of `texts` is the text as read, which is neither the value itself nor such an integer. */
export const textIsElsewhere = -1;
/** Instead of a scale: the text as read is the value. */
export const textIsValue = -2;

/** Cells are numbered from 0. Those of one driver are a list, the newest first. */
export class CellTable {
  /** Cells in use. */
  count = 0;
  /** The records, in both forms. */
  numbers!: Float64Array;
  integers!: Int32Array;
  /** Values that do not fit an integer, and texts as read. */
  readonly #texts = new TextPool();
  #records!: ArrayBuffer;
  #capacity = startCapacity;
  /** Open addressing over driver and month, at most half full. */
  #slots = new Int32Array(startCapacity * 2).fill(none);

  constructor() {
    this.#look(new ArrayBuffer(startCapacity * cellBytes));
  }

  /** The cell of a driver and month, or -1. */
  find(driver: number, month: Month): number {
    return this.#slots[this.#slotOf(driver, month)] as number;
  }

  /** Makes a cell that is not there yet, empty but for its month. `next`: where the driver's list begins so far, or -1. */
  create(driver: number, month: Month, next: number): number {
    if (this.count === this.#capacity) this.#grow();
    const cell = this.count++;
    const at = cell * cellIntegers;
    this.integers[at + driverIn] = driver;
    this.integers[at + monthIn] = month;
    this.integers[at + nextIn] = next;
    this.integers[at + scaleIn] = 0;
    this.integers[at + addedScaleIn] = textIsValue;
    this.#slots[this.#slotOf(driver, month)] = cell;
    return cell;
  }

  month(cell: number): Month {
    return this.integers[cell * cellIntegers + monthIn] as Month;
  }

  nanos(cell: number): number {
    return this.integers[cell * cellIntegers + nanosIn] as number;
  }

  scale(cell: number): number {
    return this.integers[cell * cellIntegers + scaleIn] as number;
  }

  addedScale(cell: number): number {
    return this.integers[cell * cellIntegers + addedScaleIn] as number;
  }

  seconds(cell: number): number {
    return this.numbers[cell * cellNumbers + secondsIn] as number;
  }

  row(cell: number): number {
    return this.numbers[cell * cellNumbers + rowIn] as number;
  }

  /** Sets the value of a cell: an integer and its scale, or below zero `text`. */
  setValue(cell: number, mantissa: number, scale: number, text: string): void {
    const number = cell * cellNumbers + mantissaIn;
    const before = this.scale(cell) < 0 ? (this.numbers[number] as number) : none;
    this.integers[cell * cellIntegers + scaleIn] = scale;
    this.numbers[number] = scale < 0 ? this.#texts.set(before, text) : mantissa;
    if (scale >= 0) this.#texts.free(before);
  }

  /** Sets the text as read: the value itself, an integer and its scale, or `text`, as `addedScale` says. */
  setText(cell: number, mantissa: number, addedScale: number, text: string): void {
    const number = cell * cellNumbers + addedMantissaIn;
    const before = this.addedScale(cell) === textIsElsewhere ? (this.numbers[number] as number) : none;
    this.integers[cell * cellIntegers + addedScaleIn] = addedScale;
    this.numbers[number] = addedScale === textIsElsewhere ? this.#texts.set(before, text) : mantissa;
    if (addedScale !== textIsElsewhere) this.#texts.free(before);
  }

  readings(cell: number): number {
    return this.numbers[cell * cellNumbers + readingsIn] as number;
  }

  mantissa(cell: number): number {
    return this.numbers[cell * cellNumbers + mantissaIn] as number;
  }

  /** The value of a cell as decimal text; for an average its sum. */
  valueText(cell: number): string {
    const scale = this.scale(cell);
    const mantissa = this.mantissa(cell);
    return scale < 0 ? this.#texts.get(mantissa) : mantissaText(mantissa, scale);
  }

  /** The text as read of the reading that a cell has; '' where it is the value. */
  readText(cell: number): string {
    const scale = this.addedScale(cell);
    const mantissa = this.numbers[cell * cellNumbers + addedMantissaIn] as number;
    if (scale === textIsValue) return '';
    return scale === textIsElsewhere ? this.#texts.get(mantissa) : mantissaText(mantissa, scale);
  }

  /** A list from one of its cells on, by month. */
  inOrder(first: number): number[] {
    const cells: number[] = [];
    for (let cell = first; cell !== none; cell = this.integers[cell * cellIntegers + nextIn] as number)
      cells.push(cell);
    return cells.sort((a, b) => this.month(a) - this.month(b));
  }

  /** Empties the table; its memory is used again. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(none);
    this.#texts.clear();
  }

  #slotOf(driver: number, month: Month): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(driver, 0x9e3779b1) ^ Math.imul(month, 0x85ebca6b)) >>> 7;
    for (;;) {
      slot &= mask;
      const cell = this.#slots[slot] as number;
      if (cell === none) return slot;
      const at = cell * cellIntegers;
      if (this.integers[at + driverIn] === driver && this.integers[at + monthIn] === month) return slot;
      slot++;
    }
  }

  #grow(): void {
    // Less than twice as much where it is large: the room that nobody uses is memory too.
    this.#capacity += Math.min(this.#capacity, Math.max(roomMax, Math.floor(this.#capacity / 2)));
    // What was there is given back at once: the collector would let it lie for a while.
    this.#look(this.#records.transfer(this.#capacity * cellBytes));
    if (this.#slots.length < this.#capacity * 2) this.#makeSlots();
  }

  #makeSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(none);
    for (let cell = 0; cell < this.count; cell++) {
      const at = cell * cellIntegers;
      this.#slots[this.#slotOf(this.integers[at + driverIn] as number, this.integers[at + monthIn] as number)] = cell;
    }
  }

  #look(records: ArrayBuffer): void {
    this.#records = records;
    this.numbers = new Float64Array(records);
    this.integers = new Int32Array(records);
  }
}

/** Bytes for each text: its length, then its characters. */
const textBytes = 32;
const isElsewhere = 255;

/** Texts, each at a place of its own: short Latin-1 texts in bytes, others beside. */
class TextPool {
  #bytes = Buffer.alloc(0);
  #count = 0;
  readonly #free: number[] = [];
  readonly #others = new Map<number, string>();

  /** @param place where a text is that this one takes the place of, or -1. @returns where it is */
  set(place: number, text: string): number {
    const at = place === none ? (this.#free.pop() ?? this.#add()) : place;
    const start = at * textBytes;
    const bytes = this.#bytes;
    const { length } = text;
    let isShort = length < textBytes;
    for (let index = 0; isShort && index < length; index++) {
      const code = text.charCodeAt(index);
      isShort = code < 256;
      bytes[start + index + 1] = code;
    }
    if (bytes[start] === isElsewhere) this.#others.delete(at);
    bytes[start] = isShort ? length : isElsewhere;
    if (!isShort) this.#others.set(at, text);
    return at;
  }

  get(place: number): string {
    const start = place * textBytes;
    const length = this.#bytes[start] as number;
    if (length === isElsewhere) return this.#others.get(place) as string;
    return this.#bytes.toString('latin1', start + 1, start + 1 + length);
  }

  /** @param place of a text that nobody needs any more, or -1 */
  free(place: number): void {
    if (place === none) return;
    if (this.#bytes[place * textBytes] === isElsewhere) this.#others.delete(place);
    this.#bytes[place * textBytes] = 0;
    this.#free.push(place);
  }

  clear(): void {
    this.#count = 0;
    this.#free.length = 0;
    this.#others.clear();
  }

  #add(): number {
    const at = this.#count++;
    if ((at + 1) * textBytes > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(startCapacity * textBytes, this.#bytes.length * 2));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes[at * textBytes] = 0;
    return at;
  }
}
