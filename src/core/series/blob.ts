/** The bytes of packed drivers: LEB128 varints, texts behind their length, and places. See `packing.ts`. */
import type { Place } from '../model.ts';

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

  skipPlace(): void {
    for (let left = 4; left > 0; left--) this.skipVarint();
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

  reset(): void {
    this.#at = 0;
  }

  copy(): Uint8Array {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
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
    this.#reserve(end - start);
    const bytes = this.#bytes;
    for (let at = start; at < end; at++) bytes[this.#at++] = from[at] as number;
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
