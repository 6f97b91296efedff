/** The points of drivers as the bytes of a body. */
import type { Month } from '../model.ts';
import { type Stamp, stampSeconds } from '../time/month.ts';
import { BlobReader } from './blob.ts';
import {
  type BodyKernel,
  openBodyKernel,
  placeBytes,
  placeLengthAt,
  placeMonthAt,
  textBytesMax,
  words,
} from './body-kernel.ts';

/** 85 years of months. More points than that take these places again and again, without the first one. */
const places = 1024;
const firstPlace = placeBytes;
const secondPlace = firstPlace + placeBytes;
/** A place that has the text of no month. */
const endOfPlaces = firstPlace + places * placeBytes;
const pointsAt = endOfPlaces + placeBytes;
const pageBytes = 1 << 16;
/** So many bytes may be read and written behind what counts. */
const slackBytes = 16;
/** Of a point beside its value. */
export const pointBytesMax = textBytesMax;

const noMonth = -1;

/** What stands between the value of one point and the time of the next one. */
const betweenPoints = '"},';

/** One for all bodies: each driver is written at once, and copied from here. */
let shared: PointBytes | undefined;

/** Writes the points of a driver into `out`, from `at` on, but for what stands behind the last value. @returns where the next byte goes */
export function writePoints(out: Buffer, at: number, points: Uint8Array, stamp: Stamp): number {
  shared ??= new PointBytes();
  return shared.write(out, at, points, stamp);
}

class PointBytes {
  readonly #kernel: BodyKernel = openBodyKernel();
  readonly #texts = new Map<Month, Buffer>();
  #stamp: Stamp | undefined;
  #bytes = Buffer.from(this.#kernel.memory.buffer);
  #words = new Int32Array(this.#kernel.memory.buffer);

  write(out: Buffer, at: number, points: Uint8Array, stamp: Stamp): number {
    if (stamp !== this.#stamp) this.#begin(stamp);
    const reader = new BlobReader(points);
    const count = reader.varint();
    const textAt = pointsAt + points.length + slackBytes;
    this.#reserve(textAt + points.length + count * pointBytesMax + slackBytes);
    this.#bytes.set(points, pointsAt);
    const end = this.#write(pointsAt + reader.at, count, textAt);
    this.#bytes.copy(out, at, textAt, end);
    return at + end - textAt;
  }

  /** @returns where the text ends that begins at `textAt` */
  #write(pointAt: number, count: number, textAt: number): number {
    const state = this.#words;
    state[words.read] = pointAt;
    state[words.left] = count;
    state[words.place] = firstPlace;
    state[words.month] = 0;
    state[words.at] = textAt;
    while (this.#kernel.write() === 0) {
      const place = state[words.place] as number;
      if (place === endOfPlaces) state[words.place] = secondPlace;
      else this.#putText(place, state[words.wanted] as Month);
    }
    return state[words.at] as number;
  }

  #putText(place: number, month: Month): void {
    let text = this.#texts.get(month);
    if (text === undefined) {
      text = Buffer.from(`${betweenPoints}{"time":"${stampSeconds(month, this.#stamp as Stamp)}","value":"`);
      this.#texts.set(month, text);
    }
    if (place === firstPlace) text = text.subarray(betweenPoints.length);
    this.#bytes.set(text, place);
    this.#words[(place + placeMonthAt) / 4] = month;
    this.#words[(place + placeLengthAt) / 4] = text.length;
  }

  #begin(stamp: Stamp): void {
    this.#stamp = stamp;
    this.#texts.clear();
    for (let place = firstPlace; place <= endOfPlaces; place += placeBytes) {
      this.#words[(place + placeMonthAt) / 4] = noMonth;
    }
  }

  #reserve(bytes: number): void {
    const { memory } = this.#kernel;
    if (bytes <= memory.buffer.byteLength) return;
    memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / pageBytes));
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
  }
}
