/** The bytes of packed drivers: LEB128 varints, texts behind their length, and places. See `packing.ts`. */
import type { Place } from '../model.ts';

/** So many bytes are copied one by one: for fewer the objects of a copy take longer. */
const shortBytes = 24;

/** The digits of a number, the last one first. */
const digits = new Uint8Array(32);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads what a `BlobWriter` wrote. */
export class BlobReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  varint(): number {
    let byte = this.#next();
    let value = byte & 0x7f;
    // Beyond 2^31 shifts would wrap, so multiply: seconds need 39 bits.
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = this.#next();
      value += (byte & 0x7f) * unit;
    }
    return value;
  }

  text(length: number): string {
    const start = this.at;
    this.at += length;
    return utf8.decode(this.#bytes.subarray(start, this.at));
  }

  place(): Place {
    const zigzag = this.varint();
    const seconds = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    return { seconds, nanos: this.varint(), row: this.varint(), part: this.varint() };
  }

  skipVarint(): void {
    while (this.#next() >= 128);
  }

  /** Passes what `writeCell` writes of so many cells into the origins. */
  skipOrigins(cells: number, hasSum: boolean): void {
    const bytes = this.#bytes;
    let at = this.at;
    for (let left = cells; left > 0; left--) {
      // A place and a count.
      for (let varints = 5; varints > 0; varints--) while ((bytes[at++] as number) >= 128);
      const text = bytes[at++] as number;
      if (text === 0 && !hasSum) continue;
      this.at = at - 1;
      this.#skipText(1);
      if (hasSum) this.#skipText(0);
      at = this.at;
    }
    this.at = at;
    if (at > bytes.length) throw new Error('a packed driver ends too early');
  }

  /** Passes one cell of the origins. @returns how many readings it was folded from */
  readingsOfCell(hasSum: boolean): number {
    for (let varints = 4; varints > 0; varints--) this.skipVarint();
    const readings = this.varint();
    this.#skipText(1);
    if (hasSum) this.#skipText(0);
    return readings;
  }

  /** A text behind its length, which has this `bias` where it is not 0. */
  #skipText(bias: number): void {
    const length = this.varint();
    this.at += Math.max(0, length - bias);
  }

  #next(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Error('a packed driver ends too early');
    return byte;
  }
}

/** Used again for the next blob: packing is synchronous and each result is a copy. */
export class BlobWriter {
  #bytes = Buffer.allocUnsafe(1 << 16);
  #at = 0;
  #start = 0;

  /** @param room bytes for the number of `copyBehind` */
  reset(room = 0): void {
    this.#at = 0;
    this.#reserve(room);
    this.#start = room;
    this.#at = room;
  }

  copy(): Uint8Array {
    return Buffer.from(this.#bytes.subarray(this.#start, this.#at));
  }

  /** The same behind a number that stands for what was written, and is known only now. */
  copyBehind(count: number): Uint8Array {
    const end = this.#at;
    let bytes = 1;
    for (let rest = count; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
    this.#start -= bytes;
    this.#at = this.#start;
    this.varint(count);
    this.#at = end;
    return this.copy();
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
  }

  /** Length in bytes plus `bias`, then UTF-8. */
  text(text: string, bias: number): void {
    const length = Buffer.byteLength(text);
    this.varint(length + bias);
    this.#reserve(length);
    this.#bytes.write(text, this.#at);
    this.#at += length;
  }

  /** A decimal of an integer and its scale, behind its length plus `bias`: as `text` of its canonical text. */
  decimal(mantissa: number, scale: number, bias: number): void {
    let left = Math.abs(mantissa);
    let length = 0;
    while (left > 0 || length <= scale) {
      const rest = Math.floor(left / 10);
      digits[length++] = 0x30 + left - 10 * rest;
      left = rest;
    }
    const isNegative = mantissa < 0;
    this.#reserve(24);
    const bytes = this.#bytes;
    // At most a sign, a point and 15 digits: one byte is enough for the length.
    bytes[this.#at++] = length + (isNegative ? 1 : 0) + (scale > 0 ? 1 : 0) + bias;
    if (isNegative) bytes[this.#at++] = 0x2d;
    while (length > scale) bytes[this.#at++] = digits[--length] as number;
    if (scale > 0) bytes[this.#at++] = 0x2e;
    while (length > 0) bytes[this.#at++] = digits[--length] as number;
  }

  /** Bytes as they stand in another blob. */
  bytes(from: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    const bytes = this.#bytes;
    if (length > shortBytes) bytes.set(from.subarray(start, end), this.#at);
    else for (let at = 0; at < length; at++) bytes[this.#at + at] = from[start + at] as number;
    this.#at += length;
  }

  place(place: Place): void {
    this.seconds(place.seconds);
    this.varint(place.nanos);
    this.varint(place.row);
    this.varint(place.part);
  }

  /** May be negative: zigzag. */
  seconds(seconds: number): void {
    this.varint(seconds >= 0 ? seconds * 2 : -seconds * 2 - 1);
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe((this.#at + more) * 2);
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
