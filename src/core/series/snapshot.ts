/**
 * The canonical body of a snapshot: no white space, drivers by the UTF-8 bytes of their id, points by
 * month, values as they were accepted. Equal data gives equal bytes.
 */
import type { Month } from '../model.ts';
import { type Stamp, stampSeconds } from '../time/month.ts';
import { type PackedPoints, PointWalk, pointCount } from './packing.ts';

export interface BodyFormat {
  readonly shouldDeleteMissing: boolean;
  readonly stamp: Stamp;
}

const chunkBytes = 1 << 16;

/**
 * The bytes of a body, in chunks that are only valid until the next one is asked for.
 * `drivers` come in order, each id once.
 */
export function* encodeBody(drivers: Iterable<PackedPoints>, format: BodyFormat): Generator<Uint8Array> {
  const texts = new PointTexts(format.stamp);
  let out = Buffer.allocUnsafe(chunkBytes);
  let at = out.write(`{"shouldDeleteMissing":${format.shouldDeleteMissing},"extDrivers":[`);
  let first = true;
  for (const driver of drivers) {
    const head = `${first ? '' : ','}{"id":${JSON.stringify(driver.id)},"path":${driver.path},"timeSeries":[`;
    first = false;
    // A point is at most 40 bytes beside its value, and its value is in the blob.
    const need = head.length * 3 + driver.points.length + pointCount(driver.points) * 48 + 8;
    if (at + need > out.length) {
      if (at > 0) yield out.subarray(0, at);
      at = 0;
      if (need > out.length) out = Buffer.allocUnsafe(need);
    }
    at += out.write(head, at);
    const { points } = driver;
    const walk = new PointWalk(points);
    for (let index = 0; walk.next(); index++) {
      const text = texts.before(walk.month, index);
      out.set(text, at);
      at += text.length;
      // Byte by byte: texts this short cost more to hand to a copy.
      for (let from = walk.start; from < walk.end; from++) out[at++] = points[from] as number;
    }
    at += out.write(pointCount(points) > 0 ? '"}]}' : ']}', at);
  }
  if (at + 2 > out.length) {
    yield out.subarray(0, at);
    at = 0;
  }
  at += out.write(']}', at);
  yield out.subarray(0, at);
}

/** What stands before each value: the end of the point before it, and its own time. */
class PointTexts {
  readonly #stamp: Stamp;
  readonly #byMonth = new Map<Month, Uint8Array>();
  /** Series mostly have the same months in the same places, and looking at one place costs less than a look-up. */
  readonly #byPlace: { readonly month: Month; readonly text: Uint8Array }[] = [];

  constructor(stamp: Stamp) {
    this.#stamp = stamp;
  }

  before(month: Month, index: number): Uint8Array {
    const guess = this.#byPlace[index];
    if (guess?.month === month) return guess.text;
    const text = index === 0 ? this.#of(month).subarray(3) : this.#of(month);
    this.#byPlace[index] = { month, text };
    return text;
  }

  #of(month: Month): Uint8Array {
    let text = this.#byMonth.get(month);
    if (text === undefined) {
      text = Buffer.from(`"},{"time":"${stampSeconds(month, this.#stamp)}","value":"`);
      this.#byMonth.set(month, text);
    }
    return text;
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
