/**
 * The canonical body of a snapshot: no white space, drivers by the UTF-8 bytes of their id, points by
 * month, values as they were accepted. Equal data gives equal bytes.
 */
import type { Stamp } from '../time/month.ts';
import { type PackedPoints, pointCount } from './packing.ts';
import { pointBytesMax, writePoints } from './point-bytes.ts';

export interface BodyFormat {
  readonly shouldDeleteMissing: boolean;
  readonly stamp: Stamp;
}

const firstBytes = 1 << 16;
/** A body that is longer than the first chunk: each chunk passes through several hands on its way to a socket. */
const chunkBytes = 1 << 18;
const endOfDriver = Buffer.from(']}');
const endOfPoints = Buffer.from('"}]}');
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

/** The same for drivers that come one by one, in order, each id once. */
export class BodyEncoder {
  readonly #take: (chunk: Uint8Array) => void;
  readonly #isKept: boolean;
  readonly #stamp: Stamp;
  #out = Buffer.allocUnsafeSlow(firstBytes);
  #at: number;
  #isFirst = true;

  /** @param kept `kept`: whoever takes a chunk may keep it, and the next one has memory of its own, which costs less than copies */
  constructor({ shouldDeleteMissing, stamp }: BodyFormat, take: (chunk: Uint8Array) => void, kept?: 'kept') {
    this.#take = take;
    this.#isKept = kept === 'kept';
    this.#stamp = stamp;
    this.#at = this.#out.write(`{"shouldDeleteMissing":${shouldDeleteMissing},"extDrivers":[`);
  }

  add({ id, path, points }: PackedPoints): void {
    const head = `${this.#isFirst ? '' : ','}{"id":${JSON.stringify(id)},"path":${path},"timeSeries":[`;
    this.#isFirst = false;
    const count = pointCount(points);
    // The values are in the blob.
    this.#reserve(head.length * 3 + points.length + count * pointBytesMax + endOfPoints.length);
    const from = this.#at + this.#out.write(head, this.#at);
    this.#at = writePoints(this.#out, from, points, this.#stamp);
    const end = count > 0 ? endOfPoints : endOfDriver;
    // Byte by byte: `write` would cost 0.1 us.
    for (let index = 0; index < end.length; index++) this.#out[this.#at++] = end[index] as number;
  }

  end(): void {
    this.#reserve(endOfBody.length);
    this.#out.set(endOfBody, this.#at);
    this.#take(this.#out.subarray(0, this.#at + endOfBody.length));
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    if (this.#at > 0) this.#take(this.#out.subarray(0, this.#at));
    this.#at = 0;
    if (!this.#isKept && Math.max(bytes, chunkBytes) <= this.#out.length) return;
    this.#out = Buffer.allocUnsafeSlow(Math.max(bytes, chunkBytes));
  }
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
