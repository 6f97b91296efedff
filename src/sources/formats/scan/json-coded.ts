/** Numbers the texts of a column of JSON. */
import type { CodedColumn } from '../../../core/mapping/column-batch.ts';
import { type Block, notPlain, quoteMark } from './block.ts';
import { Dictionary, emptyCode } from './dictionary.ts';
import { type JsonFields, jsonText } from './json-fields.ts';

export class JsonCodedScan implements CodedColumn {
  readonly texts = new Dictionary(jsonText, quoteMark);
  readonly codes: Int32Array;
  readonly #block: Block;
  readonly #fields: JsonFields;
  #last = emptyCode;

  constructor(block: Block, fields: JsonFields, rowsMax: number) {
    this.#block = block;
    this.#fields = fields;
    this.codes = new Int32Array(rowsMax);
  }

  /** To be called between batches. */
  begin(): void {
    this.#last = emptyCode;
    this.texts.bound();
  }

  /**
   * Reads the value that begins at `from`. The text that followed the last one before is compared first, as delimited text
   * does it: a known text before a closing quote is all of the value.
   * @returns behind the value, or `notPlain`
   */
  scan(from: number, row: number): number {
    const { bytes, words } = this.#block;
    const { texts } = this;
    const guess = texts.next[this.#last] as number;
    const end = texts.starts[guess + 1] as number;
    let seen = texts.starts[guess] as number;
    const isString = bytes[from] === quoteMark;
    const start = isString ? from + 1 : from;
    let at = start;
    while (seen + 4 <= end && texts.words.getInt32(seen, true) === words.getInt32(at, true)) {
      seen += 4;
      at += 4;
    }
    while (seen < end && texts.bytes[seen] === bytes[at]) {
      seen++;
      at++;
    }
    // Without quotes a known text may be more than the value, and `null` is another text than "null".
    const isGuessed =
      seen === end &&
      (isString ? bytes[at] === quoteMark : at > from && !this.#fields.isNull(from) && this.#fields.skip(from) === at);
    if (!isGuessed) return this.#lookUp(from, row);
    this.codes[row] = this.#last = guess;
    return isString ? at + 1 : at;
  }

  #lookUp(from: number, row: number): number {
    const block = this.#block;
    const end = this.#fields.skip(from);
    if (end === notPlain) return notPlain;
    const { texts } = this;
    const isString = block.bytes[from] === quoteMark;
    const code = isString
      ? texts.find(block, from + 1, end - 1)
      : this.#fields.isNull(from)
        ? emptyCode
        : texts.find(block, from, end);
    this.codes[row] = code;
    texts.next[this.#last] = code;
    this.#last = code;
    return end;
  }

  /** For a record that has no such key. */
  leaveOut(row: number): void {
    this.codes[row] = emptyCode;
  }
}
