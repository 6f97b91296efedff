/**
 * The cells of a fold, kept as records of numbers and bytes. As objects they would take most of a fold's memory: each
 * reading replaces the texts of an old object, and the garbage collector moves and keeps them (1 M rows of 10 000 drivers:
 * 0.5 s of 3.3 and 150 MB of 280).
 */
import { MemoryArray } from '../../memory.ts';
import type { Month } from '../../model.ts';
import { mantissaText } from '../../numbers/mantissa.ts';
import { canonical } from '../../numbers/spelling-bits.ts';
import { type NumberMarks, spelledText } from '../../numbers/spelling.ts';
import type { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';
import { Records } from './records.ts';

const { none, textBytes, textIsBeside, textIsElsewhere, textIsValue } = place;

/** Few: to make room for 4 096 cells takes as long as folding a small part. */
const startSlots = 1 << 7;

/** Cells are numbered from 0. Those of one driver are a list, the newest first. */
export class CellTable {
  /** What texts as read are written with. */
  marks: readonly NumberMarks[] = [];
  readonly #kernel: FoldKernel;
  readonly #records: Records;
  /** Open addressing over driver and month, at most half full. */
  readonly #slots: MemoryArray<Int32Array>;
  /** Values that do not fit an integer, and texts as read. */
  readonly #texts: TextPool;

  constructor(kernel: FoldKernel) {
    this.#kernel = kernel;
    this.#records = new Records(kernel.memory, place.cellBytes);
    this.#slots = new MemoryArray(kernel.memory, Int32Array, startSlots);
    this.#slots.view.fill(none);
    this.#texts = new TextPool(kernel);
    this.#describe();
  }

  /** Cells in use. */
  get count(): number {
    return this.#kernel.get(place.cellCountAt);
  }

  /** Makes room for so many more. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (this.#records.reserve(needed)) this.#describe();
    if (2 * needed <= this.#slots.length) return;
    let slots = this.#slots.length;
    while (slots < 2 * needed) slots *= 2;
    this.#slots.grow(slots);
    this.#slots.view.fill(none);
    this.#describe();
    this.#kernel.call.fillSlots(this.#kernel.context);
  }

  /** The cell of a driver and month, or -1. */
  find(driver: number, month: Month): number {
    return this.#kernel.memory.get(this.#slotOf(driver, month));
  }

  /** Makes a cell that is not there yet, empty but for its month. `next`: where the driver's list begins so far, or -1. */
  create(driver: number, month: Month, next: number): number {
    this.reserve(1);
    const { call, context } = this.#kernel;
    return call.create(context, driver, month, next, this.#slotOf(driver, month));
  }

  month(cell: number): Month {
    return this.#records.int(cell, place.cellMonthAt);
  }

  nanos(cell: number): number {
    return this.#records.int(cell, place.cellNanosAt);
  }

  scale(cell: number): number {
    return this.#records.int(cell, place.cellScaleAt);
  }

  seconds(cell: number): number {
    return this.#records.double(cell, place.cellSecondsAt);
  }

  row(cell: number): number {
    return this.#records.double(cell, place.cellRowAt);
  }

  readings(cell: number): number {
    return this.#records.double(cell, place.cellReadingsAt);
  }

  mantissa(cell: number): number {
    return this.#records.double(cell, place.cellMantissaAt);
  }

  /** Counts readings that were folded into a cell. */
  addReadings(cell: number, count: number): void {
    this.#records.setDouble(cell, place.cellReadingsAt, this.readings(cell) + count);
  }

  /** Sets the place of the reading that a cell has. */
  setPlace(cell: number, { seconds, nanos, row }: { seconds: number; nanos: number; row: number }): void {
    this.#records.setDouble(cell, place.cellSecondsAt, seconds);
    this.#records.setDouble(cell, place.cellRowAt, row);
    this.#records.setInt(cell, place.cellNanosAt, nanos);
  }

  /** Sets the value of a cell: an integer and its scale, or below zero `text`. */
  setValue(cell: number, mantissa: number, scale: number, text: string): void {
    const before = this.scale(cell) < 0 ? this.mantissa(cell) : none;
    this.#records.setInt(cell, place.cellScaleAt, scale);
    this.#records.setDouble(cell, place.cellMantissaAt, scale < 0 ? this.#texts.set(before, text) : mantissa);
    if (scale >= 0) this.#texts.free(before);
  }

  /** Sets the text as read: the value itself, an integer with its scale and spelling, or `text`, as `addedScale` says. */
  setText(cell: number, mantissa: number, addedScale: number, text: string): void {
    const isElsewhere = this.#records.int(cell, place.cellAddedScaleAt) === textIsElsewhere;
    const before = isElsewhere ? this.#records.double(cell, place.cellAddedMantissaAt) : none;
    this.#records.setInt(cell, place.cellAddedScaleAt, addedScale);
    const added = addedScale === textIsElsewhere ? this.#texts.set(before, text) : mantissa;
    this.#records.setDouble(cell, place.cellAddedMantissaAt, added);
    if (addedScale !== textIsElsewhere) this.#texts.free(before);
  }

  /** The value of a cell as decimal text; for an average its sum. */
  valueText(cell: number): string {
    const scale = this.scale(cell);
    const mantissa = this.mantissa(cell);
    return scale < 0 ? this.#texts.get(mantissa) : mantissaText(mantissa, scale);
  }

  /** The text as read of the reading that a cell has; '' where it is the value. */
  readText(cell: number): string {
    const scale = this.#records.int(cell, place.cellAddedScaleAt);
    if (scale === textIsValue) return '';
    const mantissa = this.#records.double(cell, place.cellAddedMantissaAt);
    if (scale === textIsElsewhere) return this.#texts.get(mantissa);
    const spelling = scale >> place.spellingShift;
    if (spelling === canonical) return mantissaText(mantissa, scale);
    return spelledText(mantissa, scale & place.scaleMask, spelling, this.marks);
  }

  /** A list from one of its cells on, by month. */
  inOrder(first: number): number[] {
    const cells: number[] = [];
    for (let cell = first; cell !== none; cell = this.#records.int(cell, place.cellNextAt)) cells.push(cell);
    return cells.sort((a, b) => this.month(a) - this.month(b));
  }

  /** Empties the table; its memory is used again. */
  clear(): void {
    this.#kernel.set(place.cellCountAt, 0);
    this.#slots.view.fill(none);
    this.#texts.clear();
  }

  #slotOf(driver: number, month: Month): number {
    return this.#kernel.call.slotOf(this.#kernel.context, driver, month);
  }

  #describe(): void {
    this.#kernel.set(place.cellsAt, this.#records.address);
    this.#kernel.set(place.cellSlotsAt, this.#slots.address);
    this.#kernel.set(place.cellSlotMaskAt, this.#slots.length - 1);
  }
}

/** Texts, each at a place of its own: short Latin-1 texts in the memory of the kernel, others beside. */
class TextPool {
  readonly #kernel: FoldKernel;
  readonly #records: Records;
  #count = 0;
  readonly #free: number[] = [];
  readonly #others = new Map<number, string>();

  constructor(kernel: FoldKernel) {
    this.#kernel = kernel;
    this.#records = new Records(kernel.memory, textBytes);
    this.#describe();
  }

  /** @param known where a text is that this one takes the place of, or -1. @returns where it is */
  set(known: number, text: string): number {
    const at = known === none ? (this.#free.pop() ?? this.#add()) : known;
    const start = this.#startOf(at);
    const { bytes } = this.#kernel.memory;
    const { length } = text;
    let isShort = length < textBytes;
    for (let index = 0; isShort && index < length; index++) {
      const code = text.charCodeAt(index);
      isShort = code < 256;
      bytes[start + index + 1] = code;
    }
    if (bytes[start] === textIsBeside) this.#others.delete(at);
    bytes[start] = isShort ? length : textIsBeside;
    if (!isShort) this.#others.set(at, text);
    return at;
  }

  get(at: number): string {
    const start = this.#startOf(at);
    const { bytes } = this.#kernel.memory;
    const length = bytes[start] as number;
    if (length === textIsBeside) return this.#others.get(at) as string;
    return bytes.toString('latin1', start + 1, start + 1 + length);
  }

  /** @param at of a text that nobody needs any more, or -1 */
  free(at: number): void {
    if (at === none) return;
    const { bytes } = this.#kernel.memory;
    const start = this.#startOf(at);
    if (bytes[start] === textIsBeside) this.#others.delete(at);
    bytes[start] = 0;
    this.#free.push(at);
  }

  clear(): void {
    this.#count = 0;
    this.#free.length = 0;
    this.#others.clear();
  }

  #startOf(at: number): number {
    return this.#records.address + at * textBytes;
  }

  #add(): number {
    const at = this.#count++;
    if (this.#records.reserve(this.#count)) this.#describe();
    this.#kernel.memory.bytes[this.#startOf(at)] = 0;
    return at;
  }

  #describe(): void {
    this.#kernel.set(place.textsAt, this.#records.address);
  }
}
