/**
 * Records of JSON to columns: plain JavaScript over bytes, without a string for a record. A record is plain where it is an
 * object without lists and objects in it.
 *
 * What stands between two values (a comma, the next key, its colon) is mostly what stood there in the record before. It is
 * compared with that first, and taken apart only where it differs.
 */
import type { Batch, ColumnNeed } from '../../../core/mapping/column-batch.ts';
import type { Row } from '../../../core/model.ts';
import { Block, type Words, lineFeed, notPlain, quoteMark, wordsOf } from './block.ts';
import { ValueScan } from './columns.ts';
import { JsonCodedScan } from './json-coded.ts';
import { JsonFields, jsonText } from './json-fields.ts';
import type { JsonKeys } from './json-keys.ts';
import { batchRowsOf, plainRowBytesMax } from './scanner.ts';

const openObject = 0x7b;
const closeObject = 0x7d;
const openList = 0x5b;
const closeList = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

const isSpaceInLine = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r')) isSpaceInLine[byte] = 1;
const isSpace = Uint8Array.from(isSpaceInLine);
isSpace[lineFeed] = 1;

/** How records follow each other: one in a line, or as the list that is all of a document. */
export type JsonLayout = 'lines' | 'list';

/** What may come next between records: a record where it is `first` or `record`. */
type Next = 'list' | 'first' | 'record' | 'more' | 'nothing';

/** What stands between a value and the one before it. */
interface Lead extends Words {
  readonly column: number;
}

/** No column: a record has no more values. */
const none = -1;

const noRagged: ReadonlyMap<number, number> = new Map();

export class JsonScanner {
  readonly block: Block;
  /** Records of the last scan. */
  count = 0;
  /** Whether the last scan ended because a batch holds no more. */
  isFull = false;
  readonly #layout: JsonLayout;
  readonly #keys: JsonKeys;
  readonly #fields: JsonFields;
  readonly #isSpace: Uint8Array;
  readonly #coded: readonly (JsonCodedScan | undefined)[];
  readonly #values: readonly (ValueScan | undefined)[];
  /** The columns that are coded or values. */
  readonly #needed: readonly number[];
  /** Where the records of the last scan begin. */
  readonly #starts: Int32Array;
  /** Where it ended. */
  #end = 0;
  /** By place in a record. */
  readonly #leads: Lead[] = [];
  /** The number of the present record; by column, that of the last record that has it. */
  #record = 0;
  readonly #lastRecords: number[] = [];
  #next: Next;
  /** The column of the value whose lead was read last. */
  #column = 0;

  /** @param needs by column of `keys`; none where the keys are still to be learned */
  constructor(layout: JsonLayout, keys: JsonKeys, { needs, bytes }: { needs: readonly ColumnNeed[]; bytes: number }) {
    const rowsMax = batchRowsOf(needs);
    const block = new Block(comma, bytes);
    const fields = new JsonFields(block);
    this.block = block;
    this.#layout = layout;
    this.#next = layout === 'lines' ? 'record' : 'list';
    this.#keys = keys;
    this.#fields = fields;
    this.#isSpace = layout === 'lines' ? isSpaceInLine : isSpace;
    this.#coded = needs.map(({ isCoded }) => (isCoded ? new JsonCodedScan(block, fields, rowsMax) : undefined));
    this.#values = needs.map(({ isValue }) => (isValue ? new ValueScan(block, fields, rowsMax) : undefined));
    this.#needed = needs.flatMap(({ isCoded, isValue }, column) => (isCoded || isValue ? [column] : []));
    this.#starts = new Int32Array(rowsMax);
  }

  /**
   * Reads records from the block's start, as many as there are or a batch can hold.
   * @param isLast whether the file ends where the block does
   * @returns whether they are plain
   */
  scan(isLast: boolean): boolean {
    const { block } = this;
    const rowsMax = this.#starts.length;
    this.count = 0;
    for (const column of this.#coded) column?.begin();
    let at = block.start;
    while (this.count < rowsMax) {
      at = this.#toRecord(at);
      if (at === notPlain) return false;
      if (at === block.end) break;
      const end = this.#readRecord(at);
      if ((end === notPlain ? block.end : end) - at > plainRowBytesMax) return false;
      if (end === notPlain) {
        if (isLast || this.#fields.reached < block.end) return false;
        break;
      }
      this.#starts[this.count++] = at;
      this.#next = 'more';
      at = end;
    }
    this.#end = at;
    this.isFull = this.count === rowsMax;
    const isCut = isLast && !this.isFull && this.#layout === 'list' && this.#next !== 'nothing';
    return !isCut && jsonText.isText(block.bytes.subarray(block.start, at));
  }

  /** What was scanned; the block begins behind it then. */
  take(): Batch {
    this.block.start = this.#end;
    const starts = this.#starts;
    return {
      columns: this.#keys.columns,
      count: this.count,
      coded: this.#coded,
      values: this.#values,
      ragged: noRagged,
      row: (at) => this.#rowOf(starts[at] as number),
    };
  }

  /** Where the next record begins; the block's end where there is none. */
  #toRecord(from: number): number {
    const { bytes, end } = this.block;
    for (let at = this.#skipSpace(from); at < end; at = this.#skipSpace(at + 1)) {
      const byte = bytes[at] as number;
      if (byte === openObject && (this.#next === 'record' || this.#next === 'first')) return at;
      const next = this.#layout === 'lines' ? (byte === lineFeed ? 'record' : undefined) : nextInList(this.#next, byte);
      if (next === undefined) return notPlain;
      this.#next = next;
    }
    return end;
  }

  /** Behind the record that begins at `from`, or `notPlain`. */
  #readRecord(from: number): number {
    const row = this.count;
    const record = ++this.#record;
    let at = from;
    let place = 0;
    for (; ; place++) {
      at = this.#toValue(at, place);
      const column = this.#column;
      if (at === notPlain || column === none) break;
      // The second value of a column.
      if (this.#lastRecords[column] === record) return this.#fail(from);
      this.#lastRecords[column] = record;
      const coded = this.#coded[column];
      const value = this.#values[column];
      const start = at;
      if (coded !== undefined) at = coded.scan(start, row);
      if (value !== undefined && at !== notPlain) at = value.scan(start, row);
      if (coded === undefined && value === undefined) at = this.#fields.skip(start);
      if (at === notPlain) break;
    }
    if (at !== notPlain && place < this.#coded.length) this.#leaveOut(row, record);
    return at;
  }

  /** Where the next value begins, whose column is `#column` then; behind the record where it has no more values. */
  #toValue(from: number, place: number): number {
    const { bytes, words, end } = this.block;
    const lead = this.#leads[place];
    if (lead === undefined) return this.#takeApart(from, place);
    const { length } = lead.bytes;
    const behind = from + length;
    if (behind >= end) return this.#takeApart(from, place);
    let at = 0;
    while (at + 4 <= length && lead.words.getInt32(at, true) === words.getInt32(from + at, true)) at += 4;
    while (at < length && lead.bytes[at] === bytes[from + at]) at++;
    // More space may follow than in the record before.
    if (at < length || this.#isSpace[bytes[behind] as number] === 1) return this.#takeApart(from, place);
    this.#column = lead.column;
    return behind;
  }

  #takeApart(from: number, place: number): number {
    const { block } = this;
    const { bytes } = block;
    let at = this.#skipSpace(from);
    // A brace opens the record; between its values are commas.
    const isFollowed = place > 0 && bytes[at] === comma;
    if (place === 0 || isFollowed) at = this.#skipSpace(at + 1);
    if (bytes[at] === closeObject && !isFollowed) {
      this.#column = none;
      return at + 1;
    }
    if (bytes[at] !== quoteMark || (place > 0 && !isFollowed)) return this.#fail(at);
    const keyEnd = this.#fields.skipString(at);
    if (keyEnd === notPlain) return notPlain;
    const column = this.#keys.find(block, at + 1, keyEnd - 1);
    if (column === notPlain) return this.#fail(at);
    at = this.#skipSpace(keyEnd);
    if (bytes[at] !== colon) return this.#fail(at);
    at = this.#skipSpace(at + 1);
    if (at >= block.end) return this.#fail(at);
    this.#leads[place] = { ...wordsOf(Buffer.from(bytes.subarray(from, at))), column };
    this.#column = column;
    return at;
  }

  #leaveOut(row: number, record: number): void {
    for (const column of this.#needed) {
      if (this.#lastRecords[column] === record) continue;
      this.#coded[column]?.leaveOut(row);
      this.#values[column]?.leaveOut(row);
    }
  }

  #rowOf(from: number): Row {
    const row = this.#keys.columns.map(() => '');
    let at = from;
    for (let place = 0; ; place++) {
      at = this.#toValue(at, place);
      if (this.#column === none) return row;
      row[this.#column] = this.#fields.text(at);
      at = this.#fields.skip(at);
    }
  }

  #skipSpace(from: number): number {
    const { bytes } = this.block;
    let at = from;
    while (this.#isSpace[bytes[at] as number] === 1) at++;
    return at;
  }

  #fail(at: number): number {
    this.#fields.reached = at;
    return notPlain;
  }
}

function nextInList(next: Next, byte: number): Next | undefined {
  if (byte === openList) return next === 'list' ? 'first' : undefined;
  if (byte === closeList) return next === 'first' || next === 'more' ? 'nothing' : undefined;
  return byte === comma && next === 'more' ? 'record' : undefined;
}
