/** Sections of drivers as text of a body, in chunks. The loop is a program in WebAssembly: `assembly/`. */
import type { Month } from '../../model.ts';
import { type Stamp, stampSeconds } from '../../time/month.ts';
import { wasmMemory } from '../../memory.ts';
import { startProgram, wasmPageBytes } from '../../wasm.ts';
import * as place from './layout.ts';
import { program } from './program.ts';

const { firstPlace, placeBytes, placeLengthAt, placeMonthAt } = place;

/** 85 years of months. More points than that take these places again and again, without the first one. */
const places = 1024;
const secondPlace = firstPlace + placeBytes;
/** A place that has the text of no month. */
const endOfPlaces = firstPlace + places * placeBytes;
const sectionAt = endOfPlaces + placeBytes;
/** So many bytes may be read and written behind what counts. */
const slackBytes = 16;
const noMonth = -1;

/** What the program copies, where it looks for it. */
const fixedTexts = [
  [',{"id":', place.idTextAt],
  [',"path":', place.pathTextAt],
  [',"timeSeries":[', place.seriesTextAt],
  ['"}]}', place.pointsEndTextAt],
  [']}', place.noPointsEndTextAt],
] as const;

interface Program {
  write(): number;
}

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
  readonly #memory = wasmMemory();
  readonly #program = startProgram<Program>(program, this.#memory);
  readonly #texts = new Map<Month, Buffer>();
  #stamp: Stamp | undefined;
  #bytes = Buffer.from(this.#memory.buffer);
  #words = new Int32Array(this.#memory.buffer);

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
    this.#set(place.readAt, sectionAt);
    this.#set(place.readEndAt, sectionEnd);
    this.#writeTo(textAt, textBytes);
    this.#set(place.leftAt, -1);
    this.#set(place.driversAt, 0);
    this.#set(place.isFirstAt, Number(isFirst));
    for (;;) {
      const said = this.#program.write();
      if (said === place.wantsText) {
        this.#putText();
        continue;
      }
      const end = this.#get(place.textAt);
      if (end > textAt) take(this.#bytes.subarray(textAt, end));
      if (said === place.isBroken) throw new Error('a section of drivers is damaged');
      if (said === place.done) return this.#get(place.driversAt);
      if (end === textAt) {
        // A driver that is larger than a chunk.
        textBytes *= 2;
        this.#reserve(textAt + textBytes);
      }
      this.#writeTo(textAt, textBytes);
    }
  }

  #get(at: number): number {
    return this.#words[at / 4] as number;
  }

  #set(at: number, value: number): void {
    this.#words[at / 4] = value;
  }

  #writeTo(at: number, bytes: number): void {
    this.#set(place.textAt, at);
    this.#set(place.textEndAt, at + bytes);
  }

  /** Puts the text of the month that is wanted where it is wanted. */
  #putText(): void {
    const at = this.#get(place.placeAt);
    if (at === endOfPlaces) {
      this.#set(place.placeAt, secondPlace);
      return;
    }
    const month: Month = this.#get(place.wantedAt);
    let text = this.#texts.get(month);
    if (text === undefined) {
      text = Buffer.from(`${betweenPoints}{"time":"${stampSeconds(month, this.#stamp as Stamp)}","value":"`);
      this.#texts.set(month, text);
    }
    if (at === firstPlace) text = text.subarray(betweenPoints.length);
    this.#bytes.set(text, at);
    this.#set(at + placeMonthAt, month);
    this.#set(at + placeLengthAt, text.length);
  }

  #begin(stamp: Stamp): void {
    this.#stamp = stamp;
    this.#texts.clear();
    for (let at = firstPlace; at <= endOfPlaces; at += placeBytes) this.#set(at + placeMonthAt, noMonth);
  }

  #reserve(bytes: number): void {
    const memory = this.#memory;
    const more = bytes + slackBytes - memory.buffer.byteLength;
    if (more <= 0) return;
    memory.grow(Math.ceil(more / wasmPageBytes));
    this.#bytes = Buffer.from(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
  }
}
