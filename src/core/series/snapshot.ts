/**
 * The canonical body of a snapshot: no white space, drivers by the UTF-8 bytes of their id, points by
 * month, values as they were accepted. Equal data gives equal bytes.
 */
import type { Stamp } from '../time/month.ts';
import { writeSection } from './body/text.ts';
import type { PackedPoints } from './packing.ts';

export interface BodyFormat {
  readonly shouldDeleteMissing: boolean;
  readonly stamp: Stamp;
}

const firstBytes = 1 << 16;
/** A body that is longer than the first chunk: each chunk passes through several hands on its way to a socket. */
const chunkBytes = 1 << 18;
const endOfBody = Buffer.from(']}');

/** Gives `take` the bytes of a body, in chunks that are only valid during the call. */
export function encodeBody(
  drivers: Iterable<PackedPoints>,
  format: BodyFormat,
  take: (chunk: Uint8Array) => void,
): void {
  const encoder = new BodyEncoder(format, take);
  for (const driver of drivers) encoder.add(driver);
  encoder.end();
}

/** The same for drivers that come one by one or in sections, in order, each id once. */
export class BodyEncoder {
  readonly #take: (chunk: Uint8Array) => void;
  readonly #isKept: boolean;
  readonly #stamp: Stamp;
  #out = Buffer.allocUnsafeSlow(firstBytes);
  #at: number;
  #isFirst = true;

  /** @param kept `kept`: whoever takes a chunk may keep it, and the next one has memory of its own */
  constructor({ shouldDeleteMissing, stamp }: BodyFormat, take: (chunk: Uint8Array) => void, kept?: 'kept') {
    this.#take = take;
    this.#isKept = kept === 'kept';
    this.#stamp = stamp;
    this.#at = this.#out.write(`{"shouldDeleteMissing":${shouldDeleteMissing},"extDrivers":[`);
  }

  add(driver: PackedPoints): void {
    this.#write(sectionOf(driver), (text) => {
      this.#reserve(text.length);
      this.#out.set(text, this.#at);
      this.#at += text.length;
    });
  }

  /** @returns how many drivers it has */
  addSection(section: Uint8Array): number {
    this.#flush();
    return this.#write(section, (text) => this.#take(this.#isKept ? copyOf(text) : text));
  }

  end(): void {
    this.#reserve(endOfBody.length);
    this.#out.set(endOfBody, this.#at);
    this.#at += endOfBody.length;
    this.#flush();
  }

  #write(section: Uint8Array, take: (text: Buffer) => void): number {
    const drivers = writeSection(section, { stamp: this.#stamp, isFirst: this.#isFirst, chunkBytes }, take);
    if (drivers > 0) this.#isFirst = false;
    return drivers;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    this.#flush();
    if (bytes > this.#out.length) this.#out = Buffer.allocUnsafeSlow(Math.max(bytes, chunkBytes));
  }

  #flush(): void {
    if (this.#at > 0) this.#take(this.#out.subarray(0, this.#at));
    this.#at = 0;
    if (this.#isKept) this.#out = Buffer.allocUnsafeSlow(this.#out.length);
  }
}

function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/** A driver as the only one of a section, without what a body does not have. */
function sectionOf({ id, path, points }: PackedPoints): Buffer {
  const head = JSON.stringify(['', id, '', path]);
  const headBytes = Buffer.byteLength(head);
  const section = Buffer.allocUnsafe(8 + headBytes + points.length);
  section.writeUInt32LE(headBytes, 0);
  section.write(head, 4);
  section.writeUInt32LE(points.length, 4 + headBytes);
  section.set(points, 8 + headBytes);
  return section;
}

/** Orders texts by their UTF-8 bytes, as SQLite does; JavaScript's own order differs beyond the basic plane. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const unitA = a.charCodeAt(index);
    const unitB = b.charCodeAt(index);
    if (unitA === unitB) continue;
    // Surrogates stand for code points above all others, yet sort below U+E000 to U+FFFF as units.
    const isHighA = unitA >= 0xd800 && unitA <= 0xdfff;
    const isHighB = unitB >= 0xd800 && unitB <= 0xdfff;
    if (isHighA !== isHighB) return isHighA ? 1 : -1;
    return unitA - unitB;
  }
  return a.length - b.length;
}
