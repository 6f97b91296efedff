/** The distinct byte strings of one column, numbered; in the memory of a kernel. */
import type { Texts } from '../../../core/mapping/column-batch.ts';
import type { Kernel } from './kernel/kernel.ts';
import {
  columnBytes,
  countAt,
  flagsAt,
  fullBytesAt,
  hashesAt,
  lastAt,
  lengthAt,
  nextAt,
  recordBytes,
  recordsAt,
  roomAt,
  slotMaskAt,
  slotsAt,
  textAt,
  textsAt,
  textsRoomAt,
  textsUsedAt,
} from './kernel/layout.ts';
import type { TextBytes } from './text-bytes.ts';

/** Beyond either a column is one of texts that hardly come twice. */
const textsMax = 1 << 16;
const bytesMax = 4_000_000;

const startTexts = 1 << 8;
const startBytes = 1 << 12;

/** The number of the empty text, which every dictionary begins with. */
const emptyCode = 0;

export class Dictionary implements Texts {
  generation = 0;
  /** Where the kernel finds it. */
  readonly column: number;
  readonly #kernel: Kernel;
  readonly #encoding: TextBytes;
  #strings: (string | undefined)[] = [];
  /** Texts that the encoding cannot write, so that no row has them. */
  readonly #unwritable = new Map<string, number>();
  /** Room for a text on its way into the dictionary. */
  #scratch = 0;
  #scratchBytes = 0;

  /** @param column described there; a place of `columnBytes` */
  constructor(kernel: Kernel, encoding: TextBytes, column = kernel.allocate(columnBytes)) {
    this.#kernel = kernel;
    this.#encoding = encoding;
    this.column = column;
    kernel.set(column + textsAt, kernel.allocate(startBytes));
    kernel.set(column + textsRoomAt, startBytes);
    this.#makeRecords(startTexts);
    this.#empty();
  }

  get size(): number {
    return this.#kernel.get(this.column + countAt);
  }

  text(code: number): string {
    return (this.#strings[code] ??= this.#decode(code));
  }

  code(text: string): number {
    const bytes = this.#encoding.encode(text);
    return bytes === undefined ? this.#codeOfUnwritable(text) : this.#codeOf(bytes);
  }

  /** The number of the text that stands so in the memory of the kernel. */
  find(from: number, end: number): number {
    const kernel = this.#kernel;
    for (;;) {
      const code = kernel.call.find(kernel.context, this.column, from, end - from);
      if (code >= 0) return code;
      this.grow();
    }
  }

  /** To be called between batches: numbers the texts anew where there are too many. */
  bound(): void {
    this.#kernel.set(this.column + lastAt, emptyCode);
    if (this.size <= textsMax && this.#kernel.get(this.column + textsUsedAt) <= bytesMax) return;
    this.generation++;
    this.#strings = [];
    this.#unwritable.clear();
    this.#empty();
  }

  /** Makes the room that was missing, as the context says. */
  grow(): void {
    const kernel = this.#kernel;
    const { column } = this;
    const used = kernel.get(column + textsUsedAt);
    const needed = used + kernel.get(kernel.context + fullBytesAt);
    if (needed > kernel.get(column + textsRoomAt)) this.#moveTexts(used, 2 * needed);
    if (this.size >= kernel.get(column + roomAt)) this.#makeRecords(4 * this.size);
  }

  #empty(): void {
    const kernel = this.#kernel;
    const { column } = this;
    const slots = kernel.get(column + slotsAt);
    kernel.bytes.fill(0, slots, slots + 4 * (kernel.get(column + slotMaskAt) + 1));
    kernel.set(column + countAt, 0);
    kernel.set(column + textsUsedAt, 0);
    kernel.set(column + lastAt, emptyCode);
    this.find(column, column);
  }

  #decode(code: number): string {
    const { ints, bytes } = this.#kernel;
    const record = (this.#kernel.get(this.column + recordsAt) + code * recordBytes) >> 2;
    const start = ints[record + (textAt >> 2)] as number;
    return this.#encoding.decode(bytes, start, start + (ints[record + (lengthAt >> 2)] as number));
  }

  #codeOf(bytes: Buffer): number {
    const kernel = this.#kernel;
    if (bytes.length > this.#scratchBytes || this.#scratch === 0) {
      this.#scratchBytes = 2 * bytes.length;
      this.#scratch = kernel.allocate(this.#scratchBytes);
    }
    bytes.copy(kernel.bytes, this.#scratch);
    return this.find(this.#scratch, this.#scratch + bytes.length);
  }

  #codeOfUnwritable(text: string): number {
    const known = this.#unwritable.get(text);
    if (known !== undefined) return known;
    const kernel = this.#kernel;
    const code = this.size;
    if (code >= kernel.get(this.column + roomAt)) this.#makeRecords(4 * code);
    const record = kernel.get(this.column + recordsAt) + code * recordBytes;
    for (const place of [textAt, lengthAt, nextAt, flagsAt]) kernel.set(record + place, 0);
    kernel.set(this.column + countAt, code + 1);
    this.#strings[code] = text;
    this.#unwritable.set(text, code);
    return code;
  }

  #moveTexts(used: number, room: number): void {
    const kernel = this.#kernel;
    const { column } = this;
    const to = kernel.allocate(room);
    const from = kernel.get(column + textsAt);
    kernel.bytes.copyWithin(to, from, from + used);
    const records = kernel.get(column + recordsAt);
    for (let code = 0; code < this.size; code++) {
      const place = records + code * recordBytes + textAt;
      kernel.set(place, kernel.get(place) - from + to);
    }
    kernel.set(column + textsAt, to);
    kernel.set(column + textsRoomAt, room);
  }

  /** Room for so many texts, a power of two; those that are there keep their numbers. */
  #makeRecords(room: number): void {
    const kernel = this.#kernel;
    const { column, size } = this;
    const [records, hashes] = [kernel.get(column + recordsAt), kernel.get(column + hashesAt)];
    const newRecords = kernel.allocate(room * recordBytes);
    const newHashes = kernel.allocate(room * 4);
    const newSlots = kernel.allocate(2 * room * 4);
    const { bytes, ints } = kernel;
    bytes.copyWithin(newRecords, records, records + size * recordBytes);
    bytes.copyWithin(newHashes, hashes, hashes + size * 4);
    const mask = 2 * room - 1;
    const unwritable = new Set(this.#unwritable.values());
    for (let code = 0; code < size; code++) {
      if (unwritable.has(code)) continue;
      let slot = (ints[(newHashes >> 2) + code] as number) & mask;
      while (ints[(newSlots >> 2) + slot] !== 0) slot = (slot + 1) & mask;
      ints[(newSlots >> 2) + slot] = code + 1;
    }
    kernel.set(column + recordsAt, newRecords);
    kernel.set(column + hashesAt, newHashes);
    kernel.set(column + slotsAt, newSlots);
    kernel.set(column + slotMaskAt, mask);
    kernel.set(column + roomAt, room);
  }
}
