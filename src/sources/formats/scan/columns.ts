/** Fields to numbers: one column of the rows of a batch. A field is read in one walk over its bytes. */
import type { CodedColumn, ValueColumn } from '../../../core/mapping/column-batch.ts';
import { mantissaText } from '../../../core/numbers/mantissa.ts';
import { type Block, endOfField, notPlain, plainByte, quoteMark, withoutQuotes, wordsOf } from './block.ts';
import { type Dictionary, emptyCode, holdsLineBreak, holdsQuote, needsQuotes } from './dictionary.ts';
import { type TextBytes, fieldText } from './text-bytes.ts';

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const digitsMax = 15;
/** Of an integer of 32 bits. */
const smallDigitsMax = 9;

/** Numbers the texts of a column. */
export class CodedScan implements CodedColumn {
  readonly texts: Dictionary;
  readonly codes: Int32Array;
  readonly #block: Block;
  #last = emptyCode;

  constructor(block: Block, texts: Dictionary, rowsMax: number) {
    this.#block = block;
    this.texts = texts;
    this.codes = new Int32Array(rowsMax);
  }

  /** To be called between batches. */
  begin(): void {
    this.#last = emptyCode;
    this.texts.bound();
  }

  /**
   * Reads the field that begins at `from`. Rows tend to name things in one order, so the text that followed the last one
   * before is compared first: outside quotes it holds no end of a field and never a quote, so that equal bytes before an
   * end are the whole field.
   * @returns where the field ends, or `notPlain`
   */
  scan(from: number, row: number): number {
    const { bytes, classes } = this.#block;
    const { texts } = this;
    const guess = texts.next[this.#last] as number;
    const known = texts.bytes;
    const end = texts.starts[guess + 1] as number;
    let seen = texts.starts[guess] as number;
    const isQuoted = bytes[from] === quoteMark;
    let at = isQuoted ? from + 1 : from;
    const words = this.#block.words;
    const knownWords = texts.words;
    while (seen + 4 <= end && knownWords.getInt32(seen, true) === words.getInt32(at, true)) {
      seen += 4;
      at += 4;
    }
    while (seen < end && known[seen] === bytes[at]) {
      seen++;
      at++;
    }
    if (seen === end) {
      const flags = texts.flags[guess] as number;
      if (!isQuoted) {
        if (classes[bytes[at] as number] === endOfField && (flags & needsQuotes) === 0) {
          this.codes[row] = this.#last = guess;
          return at;
        }
      } else if (bytes[at] === quoteMark && classes[bytes[at + 1] as number] === endOfField) {
        if ((flags & holdsLineBreak) !== 0) this.#block.hasBreaks = true;
        this.codes[row] = this.#last = guess;
        return at + 1;
      }
    }
    return isQuoted ? this.#lookUpQuoted(from + 1, row) : this.#lookUp(from, row);
  }

  #lookUp(from: number, row: number): number {
    const { bytes, classes, limit } = this.#block;
    let at = from;
    while (classes[bytes[at] as number] === plainByte) at++;
    if (classes[bytes[at] as number] !== endOfField) return notPlain;
    if (at < limit) this.#take(this.texts.find(this.#block, from, at), row);
    return at;
  }

  /** @param from behind the opening quote */
  #lookUpQuoted(from: number, row: number): number {
    const { bytes, classes, limit } = this.#block;
    let at = from;
    while (bytes[at] !== quoteMark) at++;
    const next = bytes[at + 1] as number;
    if (classes[next] === endOfField) {
      if (at + 1 < limit) this.#take(this.texts.find(this.#block, from, at), row);
      return at + 1;
    }
    if (next !== quoteMark) return notPlain;
    const end = this.#block.skip(from - 1);
    if (end === notPlain) return notPlain;
    const text = withoutQuotes(bytes, from - 1, end);
    if (end < limit) this.#take(this.texts.find(wordsOf(text), 0, text.length), row);
    return end;
  }

  #take(code: number, row: number): void {
    const { texts } = this;
    const flags = texts.flags[code] as number;
    this.codes[row] = code;
    if ((flags & holdsLineBreak) !== 0) this.#block.hasBreaks = true;
    // A text with a quote in it stands in the file with two.
    if ((flags & holdsQuote) === 0) texts.next[this.#last] = code;
    this.#last = code;
  }

  /** For a row that has no such field. */
  leaveOut(row: number): void {
    this.codes[row] = emptyCode;
  }
}

/** The fields of a block, as its format writes them. */
export interface Fields {
  /** Behind the field that begins at `from`, or `notPlain`. */
  skip(from: number): number;
  text(from: number): string;
}

/** The fields of delimited text. */
export function delimitedFields(block: Block, encoding: TextBytes): Fields {
  return {
    skip: (from) => block.skip(from),
    text: (from) => fieldText(block.bytes, from, block.skip(from), encoding),
  };
}

/** So many digits, with a point among them or not, as an integer. */
function mantissaAt(bytes: Buffer, first: number, digits: number): number {
  let mantissa = 0;
  for (let at = first, read = 0; read < digits; at++) {
    if (bytes[at] === point) continue;
    mantissa = mantissa * 10 + (bytes[at] as number) - zero;
    read++;
  }
  return mantissa;
}

/** Reads the decimals of a column. */
export class ValueScan implements ValueColumn {
  readonly mantissas: Float64Array;
  readonly scales: Int8Array;
  /** Where the fields begin whose scale is -1; -1 where the row has no such field. */
  readonly #starts: Int32Array;
  readonly #block: Block;
  readonly #fields: Fields;

  constructor(block: Block, fields: Fields, rowsMax: number) {
    this.#block = block;
    this.#fields = fields;
    this.mantissas = new Float64Array(rowsMax);
    this.scales = new Int8Array(rowsMax);
    this.#starts = new Int32Array(rowsMax);
  }

  /** @returns where the field ends, or `notPlain` */
  scan(from: number, row: number): number {
    const { bytes, classes } = this.#block;
    let at = from;
    const isQuoted = bytes[at] === quoteMark;
    if (isQuoted) at++;
    const isNegative = bytes[at] === minus;
    if (isNegative) at++;
    const first = at;
    // In 32 bits, which is faster than a double; where there are more digits than they hold, the digits are read again.
    let small = 0;
    let digit = (bytes[at] as number) - zero;
    while (digit >= 0 && digit <= 9) {
      small = (Math.imul(small, 10) + digit) | 0;
      digit = (bytes[++at] as number) - zero;
    }
    const whole = at - first;
    let scale = 0;
    let isWhole = true;
    if (digit === point - zero) {
      digit = (bytes[++at] as number) - zero;
      while (digit >= 0 && digit <= 9) {
        small = (Math.imul(small, 10) + digit) | 0;
        digit = (bytes[++at] as number) - zero;
      }
      scale = at - first - whole - 1;
      isWhole = false;
    }
    const isClosed = !isQuoted || bytes[at] === quoteMark;
    if (isQuoted) at++;
    const isCanonical =
      isClosed &&
      classes[bytes[at] as number] === endOfField &&
      whole > 0 &&
      (isWhole || scale > 0) &&
      whole + scale <= digitsMax &&
      (whole === 1 || bytes[first] !== zero);
    if (!isCanonical) return this.#leave(from, row);
    const mantissa = whole + scale <= smallDigitsMax ? small : mantissaAt(bytes, first, whole + scale);
    if (isNegative && mantissa === 0) return this.#leave(from, row);
    this.mantissas[row] = isNegative ? -mantissa : mantissa;
    this.scales[row] = scale;
    return at;
  }

  #leave(from: number, row: number): number {
    this.scales[row] = -1;
    this.#starts[row] = from;
    return this.#fields.skip(from);
  }

  /** For a row that has no such field. */
  leaveOut(row: number): void {
    this.scales[row] = -1;
    this.#starts[row] = -1;
  }

  text(row: number): string {
    const scale = this.scales[row] as number;
    if (scale >= 0) return mantissaText(this.mantissas[row] as number, scale);
    const start = this.#starts[row] as number;
    return start < 0 ? '' : this.#fields.text(start);
  }
}
