/**
 * Where the frames of a zstd file end (RFC 8878, section 3). Node's own expander stops at the end of a frame that is
 * not also the end of a write, without a word about what follows; and tools that compress in parallel write many.
 */
import { type Archive, cutShort, noArchive, notTheEnd } from './archive.ts';

const frameMagic = 0xfd2fb528;
/** The last four bits are free. */
const skippableMagic = 0x184d2a50;

/** Bytes of a dictionary's id and of the content's size, by their two bits of a frame's descriptor. */
const dictionaryBytes = [0, 1, 2, 4] as const;
const sizeBytes = [0, 2, 4, 8] as const;

const reservedBlock = 3;
const repeatedByteBlock = 1;

/** The stored bytes, cut so that each piece belongs to one frame. @throws AgentError `part.unreadable` */
export async function* zstdPieces({ name, stored }: Archive): AsyncGenerator<Buffer, void, void> {
  const frames = new Frames();
  let bytes = 0;
  for await (const chunk of stored) {
    for (let at = 0; at < chunk.length;) {
      const end = frames.walk(chunk, at);
      if (end === undefined) {
        throw frames.complete === 0 ? noArchive(name, 'zstd') : notTheEnd(name, 'zstd', bytes + at);
      }
      yield chunk.subarray(at, end);
      at = end;
    }
    bytes += chunk.length;
  }
  if (!frames.isBetween || frames.complete === 0) throw cutShort(name, 'zstd');
}

type Field = 'magic' | 'skippableSize' | 'descriptor' | 'header' | 'blockHeader' | 'block' | 'checksum';

/** Walks over fields whose sizes the ones before them tell; nothing is expanded. */
class Frames {
  /** How many ended so far. */
  complete = 0;
  #field: Field = 'magic';
  /** Bytes of the field that are still to come, and the number that those seen make, where it is one. */
  #left = 4;
  #shift = 0;
  #number = 0;
  #hasChecksum = false;
  #isLastBlock = false;

  /** Whether nothing of a frame has been seen that has not ended. */
  get isBetween(): boolean {
    return this.#field === 'magic' && this.#left === 4;
  }

  /** Where in the chunk the present frame ends, or its length; `undefined` where no frame begins there. */
  walk(chunk: Buffer, from: number): number | undefined {
    let at = from;
    while (at < chunk.length || this.#left === 0) {
      if (this.#left === 0) {
        const before = this.complete;
        if (!this.#endField()) return undefined;
        if (this.complete > before) return at;
        continue;
      }
      if (isNumber[this.#field]) {
        // Four bytes do not fit the 31 bits that shifting keeps positive.
        this.#number += (chunk[at] ?? 0) * 2 ** this.#shift;
        this.#shift += 8;
        this.#left--;
        at++;
      } else {
        const step = Math.min(this.#left, chunk.length - at);
        this.#left -= step;
        at += step;
      }
    }
    return at;
  }

  #next(field: Field, bytes: number): true {
    this.#field = field;
    this.#left = bytes;
    this.#shift = 0;
    this.#number = 0;
    return true;
  }

  #endFrame(): true {
    this.complete++;
    return this.#next('magic', 4);
  }

  #endField(): boolean {
    const number = this.#number;
    switch (this.#field) {
      case 'magic':
        if (number === frameMagic) return this.#next('descriptor', 1);
        return number - (number % 16) === skippableMagic && this.#next('skippableSize', 4);
      case 'skippableSize':
        this.#isLastBlock = true;
        this.#hasChecksum = false;
        return this.#next('block', number);
      case 'descriptor': {
        this.#hasChecksum = (number & 4) !== 0;
        const isSingle = (number & 32) !== 0;
        const size = sizeBytes[(number >> 6) & 3] ?? 0;
        const dictionary = dictionaryBytes[number & 3] ?? 0;
        return this.#next('header', dictionary + (isSingle ? Math.max(size, 1) : size + 1));
      }
      case 'header':
        return this.#next('blockHeader', 3);
      case 'blockHeader': {
        const type = (number >> 1) & 3;
        this.#isLastBlock = (number & 1) !== 0;
        // The expander refuses a reserved block, and says why.
        return this.#next('block', type === repeatedByteBlock ? 1 : type === reservedBlock ? 0 : number >> 3);
      }
      case 'block':
        if (!this.#isLastBlock) return this.#next('blockHeader', 3);
        return this.#hasChecksum ? this.#next('checksum', 4) : this.#endFrame();
      case 'checksum':
        return this.#endFrame();
    }
  }
}

const isNumber: Readonly<Record<Field, boolean>> = {
  magic: true,
  skippableSize: true,
  descriptor: true,
  header: false,
  blockHeader: true,
  block: false,
  checksum: false,
};
