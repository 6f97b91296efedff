/**
 * The cells of a fold, kept as columns of numbers and bytes. As objects they would take most of a fold's memory: each
 * reading replaces the texts of an old object, and the garbage collector moves and keeps them (1 M rows of 10 000 drivers:
 * 0.5 s of 3.3 and 150 MB of 280).
 */
import { enlarged } from '../enlarged.ts';
import type { Month } from '../model.ts';
import { mantissaText } from '../numbers/mantissa.ts';

/** Few: making room for 4 096 cells takes 40 us, as long as folding a small part. */
const startCapacity = 1 << 6;
const none = -1;

/** Cells are numbered from 0. Those of one driver are a list, the newest first. */
export class CellTable {
  /** Cells in use. */
  count = 0;
  month = new Int32Array(startCapacity);
  seconds = new Float64Array(startCapacity);
  nanos = new Uint32Array(startCapacity);
  row = new Float64Array(startCapacity);
  /** How many readings were folded into the cell. */
  readings = new Float64Array(startCapacity);
  /** The value as an integer, see `core/numbers/mantissa.ts`; for an average its sum. */
  mantissa = new Float64Array(startCapacity);
  /** How many digits of the value are decimals; -1: the value stands in `value`. */
  scale = new Int8Array(startCapacity);
  /** Values that do not fit an integer. */
  readonly value = new TextColumn();
  /** The text of the latest reading that was added, as an integer: `mantissa` and `scale` are the same for the value. */
  addedMantissa = new Float64Array(startCapacity);
  addedScale = new Int8Array(startCapacity);
  /** Texts as read that are neither the value itself nor such an integer. */
  readonly text = new TextColumn();
  #driver = new Int32Array(startCapacity);
  #next = new Int32Array(startCapacity);
  /** Open addressing over driver and month, at most half full. */
  #slots = new Int32Array(startCapacity * 2).fill(none);

  /** The cell of a driver and month, or -1. */
  find(driver: number, month: Month): number {
    return this.#slots[this.#slotOf(driver, month)] as number;
  }

  /** Makes a cell that is not there yet, empty but for its month. `next`: where the driver's list begins so far, or -1. */
  create(driver: number, month: Month, next: number): number {
    if (this.count === this.month.length) this.#grow();
    const cell = this.count++;
    this.#driver[cell] = driver;
    this.month[cell] = month;
    this.#next[cell] = next;
    this.#slots[this.#slotOf(driver, month)] = cell;
    return cell;
  }

  /** A list from one of its cells on, by month. */
  inOrder(first: number): number[] {
    const cells: number[] = [];
    for (let cell = first; cell !== none; cell = this.#next[cell] as number) cells.push(cell);
    return cells.sort((a, b) => (this.month[a] as number) - (this.month[b] as number));
  }

  /** Empties the table; its memory is used again. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(none);
    for (const column of [this.value, this.text]) column.clear();
  }

  #slotOf(driver: number, month: Month): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(driver, 0x9e3779b1) ^ Math.imul(month, 0x85ebca6b)) >>> 7;
    for (;;) {
      slot &= mask;
      const cell = this.#slots[slot] as number;
      if (cell === none || (this.#driver[cell] === driver && this.month[cell] === month)) return slot;
      slot++;
    }
  }

  #grow(): void {
    const capacity = this.month.length * 2;
    this.month = enlarged(this.month, new Int32Array(capacity));
    this.seconds = enlarged(this.seconds, new Float64Array(capacity));
    this.nanos = enlarged(this.nanos, new Uint32Array(capacity));
    this.row = enlarged(this.row, new Float64Array(capacity));
    this.readings = enlarged(this.readings, new Float64Array(capacity));
    this.mantissa = enlarged(this.mantissa, new Float64Array(capacity));
    this.scale = enlarged(this.scale, new Int8Array(capacity));
    this.addedMantissa = enlarged(this.addedMantissa, new Float64Array(capacity));
    this.addedScale = enlarged(this.addedScale, new Int8Array(capacity));
    this.#driver = enlarged(this.#driver, new Int32Array(capacity));
    this.#next = enlarged(this.#next, new Int32Array(capacity));
    this.#slots = new Int32Array(capacity * 2).fill(none);
    for (let cell = 0; cell < this.count; cell++) {
      this.#slots[this.#slotOf(this.#driver[cell] as number, this.month[cell] as number)] = cell;
    }
  }
}

/** Values by cell: an integer and its scale, or, where the scale is negative, a text. */
interface CellValues {
  readonly mantissa: Float64Array;
  readonly scale: Int8Array;
  readonly value: { get(cell: number): string | undefined };
}

/** The value of a cell as decimal text; for an average its sum. */
export function valueOfCell({ mantissa, scale, value }: CellValues, cell: number): string {
  const decimals = scale[cell] as number;
  return decimals < 0 ? (value.get(cell) ?? '') : mantissaText(mantissa[cell] as number, decimals);
}

/** Bytes for each text: its length, then its characters. */
const textBytes = 32;
const isElsewhere = 255;

/** Short Latin-1 texts in place, others beside. A text that was never set is empty. */
class TextColumn {
  #bytes = Buffer.alloc(0);
  readonly #others = new Map<number, string>();

  set(cell: number, text: string): void {
    const start = cell * textBytes;
    if (start >= this.#bytes.length) {
      if (text === '') return;
      this.#grow(start);
    }
    const bytes = this.#bytes;
    const { length } = text;
    let isShort = length < textBytes;
    for (let index = 0; isShort && index < length; index++) {
      const code = text.charCodeAt(index);
      isShort = code < 256;
      bytes[start + index + 1] = code;
    }
    if (bytes[start] === isElsewhere) this.#others.delete(cell);
    bytes[start] = isShort ? length : isElsewhere;
    if (!isShort) this.#others.set(cell, text);
  }

  get(cell: number): string {
    const start = cell * textBytes;
    const length = this.#bytes[start] ?? 0;
    if (length === 0) return '';
    if (length === isElsewhere) return this.#others.get(cell) ?? '';
    return this.#bytes.toString('latin1', start + 1, start + 1 + length);
  }

  clear(): void {
    this.#bytes.fill(0);
    this.#others.clear();
  }

  #grow(start: number): void {
    const larger = Buffer.alloc(Math.max(startCapacity * textBytes, start * 2));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
