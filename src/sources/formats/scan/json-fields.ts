/** Values of JSON in the bytes of a block: where they end, whether they are valid, and what their text is. */
import { type Block, notPlain, quoteMark } from './block.ts';
import { endOfField } from './kernel/layout.ts';
import { type TextBytes, utf8 } from './text-bytes.ts';

const backslash = 0x5c;
const minus = 0x2d;
const zero = 0x30;

/** By the byte behind a backslash: how many bytes the escape has after that. */
const escapes = new Int8Array(256).fill(-1);
for (const character of '"\\/bfnrt') escapes[character.charCodeAt(0)] = 0;
escapes['u'.charCodeAt(0)] = 4;

/** Bytes that may stand in a string as they are. */
const isPlainInString = new Uint8Array(256).fill(1);
isPlainInString.fill(0, 0, 0x20);
isPlainInString[quoteMark] = 0;
isPlainInString[backslash] = 0;

const literals = new Map(['true', 'false', 'null'].map((text) => [text.charCodeAt(0), Buffer.from(text)]));
const nullStart = 'n'.charCodeAt(0);

/** Strings as they stand between their quotes, with their escapes: one text may stand there in several ways. */
export const jsonText: TextBytes = {
  decode(bytes, start, end) {
    const text = utf8.decode(bytes, start, end);
    return text.includes('\\') ? String(JSON.parse(`"${text}"`)) : text;
  },
  encode: (text) => (text.isWellFormed() ? Buffer.from(JSON.stringify(text).slice(1, -1)) : undefined),
  isText: (bytes) => utf8.isText(bytes),
};

export class JsonFields {
  /** Where the last value stopped being plain. At the end of a block, what follows may make it plain. */
  reached = 0;
  readonly #block: Block;

  constructor(block: Block) {
    this.#block = block;
    for (const byte of Buffer.from(', }]\t')) block.classes[byte] = endOfField;
  }

  /** Behind a value that is no list and no object; `notPlain` where it is one, or is invalid. */
  skip(from: number): number {
    const first = this.#block.bytes[from] as number;
    if (first === quoteMark) return this.skipString(from);
    return this.isNumber(from) ? this.#skipNumber(from) : this.#skipLiteral(from);
  }

  /** Whether the value that begins there is a number. */
  isNumber(from: number): boolean {
    const first = this.#block.bytes[from] as number;
    return first === minus || (first >= zero && first <= 0x39);
  }

  /** Behind a string. @param from its opening quote */
  skipString(from: number): number {
    const { bytes } = this.#block;
    for (let at = from + 1; ;) {
      while (isPlainInString[bytes[at] as number] === 1) at++;
      if (bytes[at] === quoteMark) return at + 1;
      if (bytes[at] !== backslash) return this.#fail(at);
      at = this.#skipEscape(at);
      if (at === notPlain) return notPlain;
    }
  }

  isNull(from: number): boolean {
    return this.#block.bytes[from] === nullStart;
  }

  /** The text of a value that is plain; of `null` the empty one. */
  text(from: number): string {
    const { bytes } = this.#block;
    if (this.isNull(from)) return '';
    const end = this.skip(from);
    return bytes[from] === quoteMark ? jsonText.decode(bytes, from + 1, end - 1) : bytes.toString('latin1', from, end);
  }

  #fail(at: number): number {
    this.reached = at;
    return notPlain;
  }

  /** Behind an escape. A NUL and half a surrogate pair are not plain. */
  #skipEscape(from: number): number {
    const unit = this.#unitOf(from);
    if (unit === notPlain) return notPlain;
    const end = from + 2 + (escapes[this.#block.bytes[from + 1] as number] as number);
    if (unit === 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return this.#fail(from);
    if (unit < 0xd800 || unit > 0xdbff) return end;
    if (this.#block.bytes[end] !== backslash) return this.#fail(end);
    const second = this.#unitOf(end);
    if (second === notPlain) return notPlain;
    return second >= 0xdc00 && second <= 0xdfff ? end + 6 : this.#fail(end);
  }

  /** The UTF-16 unit of an escape `\u`; of any other escape 1. */
  #unitOf(from: number): number {
    const { bytes } = this.#block;
    const digits = escapes[bytes[from + 1] as number] as number;
    if (digits < 0) return this.#fail(from + 1);
    if (digits === 0) return 1;
    let unit = 0;
    for (let at = from + 2; at < from + 6; at++) {
      const byte = bytes[at] as number;
      const digit = byte <= 0x39 ? byte - zero : (byte | 0x20) - 0x57;
      if (digit < 0 || digit > 15 || (byte > 0x39 && digit < 10)) return this.#fail(at);
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #skipNumber(from: number): number {
    const { bytes } = this.#block;
    let at = bytes[from] === minus ? from + 1 : from;
    const whole = at;
    at = this.#skipDigits(at);
    if (at === whole || (at > whole + 1 && bytes[whole] === zero)) return this.#fail(at);
    if (bytes[at] === 0x2e) {
      const fraction = at + 1;
      at = this.#skipDigits(fraction);
      if (at === fraction) return this.#fail(at);
    }
    if (((bytes[at] as number) | 0x20) === 0x65) {
      at++;
      if (bytes[at] === minus || bytes[at] === 0x2b) at++;
      const exponent = at;
      at = this.#skipDigits(exponent);
      if (at === exponent) return this.#fail(at);
    }
    return at;
  }

  #skipDigits(from: number): number {
    const { bytes } = this.#block;
    let at = from;
    while ((bytes[at] as number) >= zero && (bytes[at] as number) <= 0x39) at++;
    return at;
  }

  #skipLiteral(from: number): number {
    const { bytes } = this.#block;
    const literal = literals.get(bytes[from] as number);
    if (literal === undefined) return this.#fail(from);
    for (let at = 1; at < literal.length; at++) if (bytes[from + at] !== literal[at]) return this.#fail(from + at);
    return from + literal.length;
  }
}
