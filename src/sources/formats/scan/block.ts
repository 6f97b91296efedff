/** Bytes of text on their way through a scanner. */
import { classesAt, endOfField, plainByte, strayQuote } from './kernel/layout.ts';
import type { Kernel } from './kernel/kernel.ts';

export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const quoteMark = 0x22;

/** Instead of the place where a field ends: the bytes are for csv-parse to judge. */
export const notPlain = -1;

/** Read behind the end without a check: a line end, a quote that closes what is open, and a line end behind that. */
const sentinels = [lineFeed, quoteMark, lineFeed];

/** A buffer in the memory of a kernel that the rows of a file pass through. Every loop over it ends at its sentinels, so that none has to count. */
export class Block {
  bytes!: Buffer;
  /** Where the first row begins that is still to be read. */
  start = 0;
  /** Where the sentinels stand. */
  end = 0;
  /** By byte: `plainByte`, `endOfField`, or another where a field that began without a quote is not plain. */
  classes!: Uint8Array;
  readonly delimiter: number;
  /** Of `bytes` in the memory of the kernel. */
  address: number;
  #room: number;
  readonly #kernel: Kernel;

  constructor(kernel: Kernel, delimiter: number, bytes: number) {
    this.#kernel = kernel;
    this.delimiter = delimiter;
    this.#room = bytes + sentinels.length;
    this.address = kernel.allocate(this.#room);
    kernel.follow(() => {
      this.#look();
      this.classes = kernel.bytes.subarray(kernel.context + classesAt, kernel.context + classesAt + 256);
    });
    for (const byte of [delimiter, lineFeed, carriageReturn]) this.classes[byte] = endOfField;
    this.classes[quoteMark] = strayQuote;
    this.#seal();
  }

  /** Appends bytes; those before `start` go. */
  append(chunk: Buffer): void {
    chunk.copy(this.room(chunk.length));
    this.extend(chunk.length);
  }

  /** Where so many bytes may be put behind the others, of which those before `start` go. `extend` says how many were. */
  room(wanted: number): Buffer {
    const kept = this.end - this.start;
    const needed = kept + wanted + sentinels.length;
    const from = this.address + this.start;
    if (needed > this.#room) {
      this.address = this.#kernel.allocate(2 * needed);
      this.#room = 2 * needed;
      this.#look();
    }
    if (from !== this.address) this.#kernel.bytes.copyWithin(this.address, from, from + kept);
    this.start = 0;
    this.end = kept;
    return this.bytes.subarray(kept, kept + wanted);
  }

  extend(length: number): void {
    this.end += length;
    this.#seal();
  }

  #look(): void {
    this.bytes = this.#kernel.bytes.subarray(this.address, this.address + this.#room);
  }

  #seal(): void {
    this.bytes.set(sentinels, this.end);
  }

  /** Behind a field: its delimiter, its line end, or the sentinel. */
  skip(from: number): number {
    const { bytes, classes } = this;
    if (bytes[from] === quoteMark) return this.#skipQuoted(from + 1);
    let at = from;
    while (classes[bytes[at] as number] === plainByte) at++;
    return classes[bytes[at] as number] === endOfField ? at : notPlain;
  }

  /** @param from behind the opening quote */
  #skipQuoted(from: number): number {
    const { bytes } = this;
    for (let at = from; ; at++) {
      if (bytes[at] !== quoteMark) continue;
      const next = bytes[at + 1] as number;
      if (this.classes[next] === endOfField) return at + 1;
      if (next !== quoteMark) return notPlain;
      at++;
    }
  }
}

/** Counts `\n`, `\r\n` and a lone `\r` as one line end each. No `\r\n` may begin before `to` and end behind it. */
export function countLineEnds(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === lineFeed ? at === from || bytes[at - 1] !== carriageReturn : byte === carriageReturn) lines++;
  }
  return lines;
}

export function countLineFeeds(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) if (bytes[at] === lineFeed) lines++;
  return lines;
}

/** The bytes of a quoted field from its opening quote to behind its closing one, as the text that they stand for. */
export function withoutQuotes(bytes: Buffer, from: number, to: number): Buffer {
  const text = Buffer.allocUnsafe(to - from);
  let length = 0;
  for (let at = from + 1; at < to - 1; at++) {
    const byte = bytes[at] as number;
    text[length++] = byte;
    if (byte === quoteMark) at++;
  }
  return text.subarray(0, length);
}
