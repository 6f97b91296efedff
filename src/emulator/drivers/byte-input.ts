/** Cuts JSON text that arrives in chunks into its values, without decoding them. */

export class JsonError extends Error {
  override readonly name = 'JsonError';
  /** Counted from 0. */
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.offset = offset;
  }
}

/** The bytes of one value with balanced brackets. A parser checks whether it is JSON. */
export interface JsonSlice {
  readonly bytes: Buffer;
  /** Where it begins in the whole text. */
  readonly offset: number;
  /** Colons outside of strings. In valid JSON this is the number of members of all its objects, duplicates included. */
  readonly members: number;
}

/** A coroutine that is resumed when more bytes have arrived, or the text has ended. */
export type Waiting<Result> = Generator<void, Result, void>;

/** Deeper values are refused, so that recursion over one cannot run out of stack. */
const depthMax = 64;

/** A value must fit into memory as text and parsed. This is a driver of a few hundred thousand points. */
const valueBytesMax = 16 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

const empty = Buffer.alloc(0);

const mark = Buffer.from('\uFEFF');

export class ByteInput {
  #chunk: Buffer = empty;
  #at = 0;
  #chunkOffset = 0;
  #ended = false;

  /** Gives the next bytes. Those before must be consumed, which they are whenever the coroutine waits. */
  feed(chunk: Uint8Array): void {
    this.#chunkOffset += this.#chunk.length;
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#at = 0;
  }

  end(): void {
    this.feed(empty);
    this.#ended = true;
  }

  get offset(): number {
    return this.#chunkOffset + this.#at;
  }

  /** Consumes white space and shows the byte after it; `undefined` at the end. */
  *peek(): Waiting<number | undefined> {
    for (;;) {
      while (this.#at < this.#chunk.length) {
        const byte = this.#chunk[this.#at] as number;
        if (!isSpace(byte)) return byte;
        this.#at += 1;
      }
      if (this.#ended) return undefined;
      yield;
    }
  }

  /** Consumes a byte order mark, which some editors write before a text. */
  *byteOrderMark(): Waiting<void> {
    for (const [index, byte] of mark.entries()) {
      const next = yield* this.peek();
      const isNext = next === byte && this.offset === index;
      if (!isNext && index === 0) return;
      if (!isNext) throw new JsonError('invalid UTF-8', 0);
      this.#at += 1;
    }
  }

  /** Consumes white space and one of these characters, and returns the character. */
  *oneOf(characters: string, what: string): Waiting<string> {
    const character = yield* this.look(characters, what);
    this.#at += 1;
    return character;
  }

  /** Consumes white space, and returns the character after it, which must be one of these. */
  *look(characters: string, what: string): Waiting<string> {
    const byte = yield* this.peek();
    if (byte === undefined) throw new JsonError(`it ends where ${what} should follow`, this.offset);
    const character = String.fromCharCode(byte);
    if (!characters.includes(character))
      throw new JsonError(`${describeByte(byte)} where ${what} should be`, this.offset);
    return character;
  }

  /** Consumes white space and the value after it. */
  *value(): Waiting<JsonSlice> {
    const first = yield* this.peek();
    const offset = this.offset;
    if (first === undefined) throw new JsonError('it ends where a value should follow', offset);
    const extent = new ValueExtent();
    const held: Buffer[] = [];
    let heldBytes = 0;
    for (;;) {
      const start = this.#at;
      const done = this.#advance(extent);
      const piece = this.#chunk.subarray(start, this.#at);
      heldBytes += piece.length;
      if (heldBytes > valueBytesMax) throw new JsonError(`a value of more than ${valueBytesMax} bytes begins`, offset);
      if (done || (this.#ended && extent.isScalar)) {
        if (heldBytes === 0) throw new JsonError(`${describeByte(first)} where a value should be`, offset);
        const bytes = held.length === 0 ? piece : Buffer.concat([...held, piece]);
        return { bytes, offset, members: extent.members };
      }
      if (this.#ended) throw new JsonError('it ends within a value that begins', offset);
      held.push(piece);
      yield;
    }
  }

  /** Follows the value through the chunk; true if it ended there. Every byte of a body goes through this loop. */
  #advance(extent: ValueExtent): boolean {
    const chunk = this.#chunk;
    let { depth, members, inString, escaped } = extent;
    let at = this.#at;
    let done = false;
    for (; at < chunk.length && !done; at++) {
      const byte = chunk[at] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) {
          inString = false;
          done = depth === 0;
        }
      } else if (byte === quote) inString = true;
      else if (byte === colon) members += 1;
      else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (depth > depthMax) throw new JsonError('nested too deeply', this.#chunkOffset + at);
      } else if (byte === closeBrace || byte === closeBracket) {
        // A bracket that closes the surrounding object or array ends the value and is not consumed.
        if (depth === 0) break;
        depth -= 1;
        done = depth === 0;
      } else if (depth === 0 && (byte === comma || isSpace(byte))) break;
    }
    const ended = done || at < chunk.length;
    Object.assign(extent, { depth, members, inString, escaped });
    this.#at = at;
    return ended;
  }
}

/** State of the scan within a value. */
class ValueExtent {
  depth = 0;
  members = 0;
  inString = false;
  escaped = false;

  /** A number or a word: the next character ends it, and so does the end of the text. */
  get isScalar(): boolean {
    return this.depth === 0 && !this.inString;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function describeByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
