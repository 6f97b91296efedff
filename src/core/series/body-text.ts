/** Sections of drivers as text of a body, in chunks. See `body-kernel.ts`. */
import type { Month } from '../model.ts';
import { type Stamp, stampSeconds } from '../time/month.ts';
import {
  type BodyKernel,
  done,
  firstPlace,
  fixedTexts,
  isBroken,
  openBodyKernel,
  placeBytes,
  placeLengthAt,
  placeMonthAt,
  wantsText,
  words,
} from './body-kernel.ts';

/** 85 years of months. More points than that take these places again and again, without the first one. */
const places = 1024;
const secondPlace = firstPlace + placeBytes;
/** A place that has the text of no month. */
const endOfPlaces = firstPlace + places * placeBytes;
const sectionAt = endOfPlaces + placeBytes;
const pageBytes = 1 << 16;
/** So many bytes may be read and written behind what counts. */
const slackBytes = 16;
const noMonth = -1;

/** What stands between the value of one point and the time of the next one. */
const betweenPoints = '"},';

export interface TextOf {
  readonly stamp: Stamp;
  /** No driver stands before these. */
  readonly isFirst: boolean;
  /** Chunks have at most so many bytes, but where one driver has more. */
  readonly chunkBytes: number;
}

/** One for all bodies: each section is written at once. */
let shared: BodyText | undefined;

/**
 * Gives `take` the text of the drivers in a section, in chunks that are only valid during the call.
 * @returns how many drivers it has
 * @throws Error where the last one does not end with it
 */
export function writeSection(section: Uint8Array, of: TextOf, take: (chunk: Buffer) => void): number {
  shared ??= new BodyText();
  return shared.write(section, of, take);
}

class BodyText {
  readonly #kernel: BodyKernel = openBodyKernel();
  readonly #texts = new Map<Month, Buffer>();
  #stamp: Stamp | undefined;
  #bytes = Buffer.from(this.#kernel.memory.buffer);
  #words = new Int32Array(this.#kernel.memory.buffer);

  constructor() {
    for (const [text, at] of fixedTexts) this.#bytes.write(text, at);
  }

  write(section: Uint8Array, { stamp, isFirst, chunkBytes }: TextOf, take: (chunk: Buffer) => void): number {
    if (stamp !== this.#stamp) this.#begin(stamp);
    const sectionEnd = sectionAt + section.length;
    const textAt = sectionEnd + slackBytes;
    let textBytes = chunkBytes;
    this.#reserve(textAt + textBytes);
    this.#bytes.set(section, sectionAt);
    this.#set({ read: sectionAt, readEnd: sectionEnd, at: textAt, atEnd: textAt + textBytes });
    this.#set({ left: -1, drivers: 0, isFirst: Number(isFirst) });
    for (;;) {
      const said = this.#kernel.write();
      if (said === wantsText) {
        this.#putText();
        continue;
      }
      const end = this.#words[words.at] as number;
      if (end > textAt) take(this.#bytes.subarray(textAt, end));
      if (said === isBroken) throw new Error('a section of drivers is damaged');
      if (said === done) return this.#words[words.drivers] as number;
      if (end === textAt) {
        // A driver that is larger than a chunk.
        textBytes *= 2;
        this.#reserve(textAt + textBytes);
      }
      this.#set({ at: textAt, atEnd: textAt + textBytes });
    }
  }

  #set(values: Partial<Record<keyof typeof words, number>>): void {
    for (const [name, value] of Object.entries(values)) this.#words[words[name as keyof typeof words]] = value;
  }

  /** Puts the text of the month that is wanted where it is wanted. */
  #putText(): void {
    const place = this.#words[words.place] as number;
    if (place === endOfPlaces) {
      this.#words[words.place] = secondPlace;
      return;
    }
    const month = this.#words[words.wanted] as Month;
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
    const more = bytes + slackBytes - memory.buffer.byteLength;
    if (more <= 0) return;
    memory.grow(Math.ceil(more / pageBytes));
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
  }
}
