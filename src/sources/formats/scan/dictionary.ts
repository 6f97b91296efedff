/** The distinct byte strings of one column, numbered. */
import { enlarged } from '../../../core/enlarged.ts';
import type { Texts } from '../../../core/mapping/column-batch.ts';
import { type Words, carriageReturn, lineFeed, quoteMark, wordsOf } from './block.ts';
import type { TextBytes } from './text-bytes.ts';

/** Beyond either a column is one of texts that hardly come twice. */
const textsMax = 1 << 16;
const bytesMax = 4_000_000;

/** A text that can stand in a file only within quotes. */
export const needsQuotes = 1;
/** It holds a quote, which the file has twice. */
export const holdsQuote = 2;
export const holdsLineBreak = 4;

/** The number of the empty text, which every dictionary begins with. */
export const emptyCode = 0;

export class Dictionary implements Texts, Words {
  generation = 0;
  size = 0;
  /** The texts, one behind the other. */
  bytes: Buffer;
  words: DataView;
  /** Where each text begins in `bytes`, and behind them where the last one ends. */
  starts = new Int32Array(1 << 8);
  /** By number: the text that came after it last time. */
  next = new Int32Array(1 << 8);
  /** By number: `needsQuotes`, `holdsQuote`, `holdsLineBreak`. */
  flags = new Uint8Array(1 << 8);
  #hashes = new Int32Array(1 << 8);
  /** Numbers plus one, by hash; open addressing. */
  #slots = new Int32Array(1 << 10);
  #strings: (string | undefined)[] = [];
  /** Texts that the encoding cannot write, so that no row has them. */
  readonly #unwritable = new Map<string, number>();
  readonly #encoding: TextBytes;
  readonly #delimiter: number;

  constructor(encoding: TextBytes, delimiter: number) {
    this.#encoding = encoding;
    this.#delimiter = delimiter;
    ({ bytes: this.bytes, words: this.words } = wordsOf(Buffer.alloc(1 << 12)));
    this.find(this, 0, 0);
  }

  text(code: number): string {
    return (this.#strings[code] ??= this.#encoding.decode(
      this.bytes,
      this.starts[code] ?? 0,
      this.starts[code + 1] ?? 0,
    ));
  }

  code(text: string): number {
    const bytes = this.#encoding.encode(text);
    if (bytes !== undefined) return this.find(wordsOf(bytes), 0, bytes.length);
    let code = this.#unwritable.get(text);
    if (code === undefined) {
      code = this.#add(this.bytes, 0, 0);
      this.#strings[code] = text;
      this.#unwritable.set(text, code);
    }
    return code;
  }

  /** To be called between batches: numbers the texts anew where there are too many. */
  bound(): void {
    if (this.size <= textsMax && (this.starts[this.size] as number) <= bytesMax) return;
    this.generation++;
    this.size = 0;
    this.#strings = [];
    this.#unwritable.clear();
    this.#slots.fill(0);
    this.find(this, 0, 0);
  }

  /** The number of the text that stands from `start` to before `end`. */
  find(from: Words, start: number, end: number): number {
    const hash = hashOf(from, start, end);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const code = (slots[slot] as number) - 1;
      if (code < 0) return this.#insert(slot, this.#add(from.bytes, start, end), hash);
      if (this.#hashes[code] === hash && this.#isText(code, from, { start, end })) return code;
    }
  }

  #isText(code: number, { bytes, words }: Words, { start, end }: { start: number; end: number }): boolean {
    const known = this.bytes;
    const knownWords = this.words;
    let at = this.starts[code] as number;
    if ((this.starts[code + 1] as number) - at !== end - start) return false;
    let from = start;
    for (; from + 4 <= end; from += 4, at += 4)
      if (knownWords.getInt32(at, true) !== words.getInt32(from, true)) return false;
    for (; from < end; from++, at++) if (known[at] !== bytes[from]) return false;
    return true;
  }

  #insert(slot: number, code: number, hash: number): number {
    this.#hashes[code] = hash;
    this.#slots[slot] = code + 1;
    if (2 * this.size > this.#slots.length) this.#rehash();
    return code;
  }

  #rehash(): void {
    const slots = new Int32Array(4 * this.#slots.length);
    const mask = slots.length - 1;
    const used = this.#slots.filter((code) => code > 0);
    for (const code of used) {
      let slot = (this.#hashes[code - 1] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = code;
    }
    this.#slots = slots;
  }

  #add(from: Buffer, start: number, end: number): number {
    const code = this.size++;
    if (code + 2 > this.starts.length) this.#grow();
    const at = code === 0 ? 0 : (this.starts[code] as number);
    const to = at + end - start;
    if (to > this.bytes.length) {
      const bytes = Buffer.alloc(2 * to);
      this.bytes.copy(bytes, 0, 0, at);
      this.bytes = bytes;
      this.words = wordsOf(bytes).words;
    }
    let flags = 0;
    for (let i = start, into = at; i < end; i++, into++) {
      const byte = from[i] as number;
      this.bytes[into] = byte;
      if (byte === quoteMark) flags |= needsQuotes | holdsQuote;
      else if (byte === lineFeed || byte === carriageReturn) flags |= needsQuotes | holdsLineBreak;
      else if (byte === this.#delimiter) flags |= needsQuotes;
    }
    this.starts[code] = at;
    this.starts[code + 1] = to;
    this.flags[code] = flags;
    // Many columns repeat the text of the row above. One with a quote in it is never guessed.
    this.next[code] = (flags & holdsQuote) === 0 ? code : emptyCode;
    this.#strings[code] = undefined;
    return code;
  }

  #grow(): void {
    const length = 2 * this.starts.length;
    this.starts = enlarged(this.starts, new Int32Array(length));
    this.next = enlarged(this.next, new Int32Array(length));
    this.flags = enlarged(this.flags, new Uint8Array(length));
    this.#hashes = enlarged(this.#hashes, new Int32Array(length));
  }
}

function hashOf({ bytes, words }: Words, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = mixed(hash ^ words.getInt32(at, true));
  for (; at < end; at++) hash = mixed(hash ^ (bytes[at] as number));
  return hash ^ (hash >>> 15);
}

function mixed(hash: number): number {
  const product = Math.imul(hash, 0x9e37_79b1);
  return product ^ (product >>> 16);
}
