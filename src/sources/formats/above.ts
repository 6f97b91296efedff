/** Cuts off the lines above the first one that counts, before anything reads the text. */
import type { Pattern } from '../../core/mapping/pattern.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** A longer line cannot be the header, and is not kept. */
const lineBytesMax = 10_000_000;

export interface AboveSettings {
  readonly skipRows: number;
  readonly skipUntil?: Pattern | undefined;
  readonly comment?: string | undefined;
}

/**
 * Cuts at line ends alone, so that a single quote mark in a title opens no quoted field: first the lines of `skipRows`,
 * then every line before the first that matches `skipUntil` and is not a comment.
 */
export class LinesAbove {
  /** Bytes cut off so far. */
  bytesCut = 0;
  linesCut = 0;
  readonly #skipUntil: Pattern | undefined;
  readonly #comment: string | undefined;
  #linesToSkip: number;
  /** The start of a line whose end is still to come. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #isAfterCr = false;
  #isCut: boolean;

  constructor({ skipRows, skipUntil, comment }: AboveSettings) {
    this.#linesToSkip = skipRows;
    this.#skipUntil = skipUntil;
    this.#comment = comment;
    this.#isCut = skipRows === 0 && skipUntil === undefined;
  }

  /** Whether the first line that counts was found. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The part of this text that counts. A line is held back until it is known whether it does. */
  cut(chunk: Buffer): Buffer {
    if (this.#isCut && !this.#isAfterCr) return chunk;
    let at = 0;
    while (at < chunk.length) {
      if (this.#isAfterCr) {
        this.#isAfterCr = false;
        if (chunk[at] === lineFeed) {
          at++;
          this.bytesCut++;
          continue;
        }
      }
      if (this.#isCut) break;
      if (this.#linesToSkip === 0 && this.#skipUntil === undefined) {
        this.#isCut = true;
        break;
      }
      const end = lineEndFrom(chunk, at);
      this.#keep(chunk.subarray(at, end));
      if (end === chunk.length) return chunk.subarray(end);
      if (this.#isWanted()) return this.#begin(chunk.subarray(end));
      this.bytesCut += this.#lineBytes + 1;
      this.linesCut++;
      this.#drop();
      this.#isAfterCr = chunk[end] === carriageReturn;
      at = end + 1;
    }
    return chunk.subarray(at);
  }

  /** The last line, where it counts and no line end follows it. */
  end(): Buffer {
    const isLast = !this.#isCut && this.#lineBytes > 0 && this.#isWanted();
    return isLast ? this.#begin(Buffer.alloc(0)) : Buffer.alloc(0);
  }

  #keep(piece: Buffer): void {
    this.#lineBytes += piece.length;
    if (this.#linesToSkip === 0 && this.#lineBytes <= lineBytesMax) this.#line.push(piece);
    else this.#line = [];
  }

  #begin(rest: Buffer): Buffer {
    const text = Buffer.concat([...this.#line, rest]);
    this.#isCut = true;
    this.#drop();
    return text;
  }

  #drop(): void {
    this.#line = [];
    this.#lineBytes = 0;
  }

  /** Whether the line that ends here is the first that counts. */
  #isWanted(): boolean {
    if (this.#linesToSkip > 0) {
      this.#linesToSkip--;
      return false;
    }
    if (this.#lineBytes > lineBytesMax) return false;
    const line = Buffer.concat(this.#line).toString();
    if (this.#comment !== undefined && line.startsWith(this.#comment)) return false;
    return this.#skipUntil?.test(line) === true || this.#skipUntil?.test(line.replaceAll('"', '')) === true;
  }
}

/** Cuts off what was read before. */
export class BytesAbove {
  readonly isCut = true;
  readonly bytesCut: number;
  readonly linesCut: number;
  #bytesLeft: number;

  constructor(bytes: number, lines: number) {
    this.bytesCut = bytes;
    this.linesCut = lines;
    this.#bytesLeft = bytes;
  }

  cut(chunk: Buffer): Buffer {
    const left = chunk.subarray(this.#bytesLeft);
    this.#bytesLeft -= chunk.length - left.length;
    return left;
  }

  end(): Buffer {
    return Buffer.alloc(0);
  }
}

/** Where the next line end is, or the end of the text. */
function lineEndFrom(text: Buffer, from: number): number {
  for (let at = from; at < text.length; at++) {
    const byte = text[at];
    if (byte === lineFeed || byte === carriageReturn) return at;
  }
  return text.length;
}
