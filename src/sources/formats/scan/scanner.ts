/**
 * Delimited text to columns: plain JavaScript over bytes, without a string for a row.
 *
 * At the start of a row its whole state is the place of that row in the file and how many rows and lines stand before it:
 * dictionaries and guesses change how fast a row is read, and no result. Any row can be the first of a range.
 */
import type { Batch, ColumnNeed } from '../../../core/mapping/column-batch.ts';
import type { Row } from '../../../core/model.ts';
import { trimWhiteSpace } from '../../../core/text.ts';
import { rowFieldsMax } from '../../limits.ts';
import { Block, carriageReturn, countLineEnds, lineFeed, notPlain } from './block.ts';
import { CodedScan, ValueScan, delimitedFields } from './columns.ts';
import { Dictionary } from './dictionary.ts';
import { type TextBytes, fieldText } from './text-bytes.ts';

/** A text of so many bytes is within the limits of a field and a row in every encoding, where none takes more than three. */
export const plainRowBytesMax = 3_000_000;

/** Enough for the work around a batch to be small, and few enough for its columns to stay in the processor's cache. */
const batchRowsMax = 8192;

/** The fields of a batch that are kept: up to 13 bytes each. */
const batchFieldsMax = 1 << 19;

/** How many rows a batch of such columns has at most. */
export function batchRowsOf(needs: readonly ColumnNeed[]): number {
  const fields = needs.filter(({ isCoded, isValue }) => isCoded || isValue).length;
  return Math.min(batchRowsMax, Math.max(1, Math.floor(batchFieldsMax / Math.max(1, fields))));
}

export interface ScanLayout {
  readonly encoding: TextBytes;
  readonly columns: readonly string[];
  /** By column. */
  readonly needs: readonly ColumnNeed[];
  /** A byte that no number holds. */
  readonly delimiter: number;
  readonly comment: Buffer | undefined;
  /** Whether the first row has one field, so that a row of white space is a row. */
  readonly isOneColumn: boolean;
  /** How many rows a batch has at most. */
  readonly rowsMax: number;
}

export class Scanner {
  readonly block: Block;
  /** Rows of the last scan. */
  count = 0;
  /** Whether the last scan ended because a batch holds no more. */
  isFull = false;
  /** Before the block's start: bytes that were scanned, and lines of the file. */
  offset = 0;
  lines: number;
  readonly #layout: ScanLayout;
  readonly #coded: readonly (CodedScan | undefined)[];
  readonly #values: readonly (ValueScan | undefined)[];
  readonly #width: number;
  /** Where the rows of the last scan begin, and behind them where it ended. */
  readonly #rowStarts: Int32Array;
  #ragged = new Map<number, number>();
  #linesSkipped = 0;
  #fields = 0;

  /** @param at lines of the file before the first byte; bytes of a block */
  constructor(layout: ScanLayout, at: { readonly lines: number; readonly bytes: number }) {
    const { encoding, delimiter, needs, rowsMax } = layout;
    this.#layout = layout;
    this.lines = at.lines;
    this.block = new Block(delimiter, at.bytes);
    this.#coded = needs.map(({ isCoded }) =>
      isCoded ? new CodedScan(this.block, new Dictionary(encoding, delimiter), rowsMax) : undefined,
    );
    const fields = delimitedFields(this.block, encoding);
    this.#values = needs.map(({ isValue }) => (isValue ? new ValueScan(this.block, fields, rowsMax) : undefined));
    this.#width = layout.columns.length;
    this.#rowStarts = new Int32Array(rowsMax + 1);
  }

  /**
   * Reads rows from the block's start, as many as there are or a batch can hold.
   * @param isLast whether the file ends where the block does
   * @param stop no row is read that begins there or later
   * @returns whether they are plain
   */
  scan(isLast: boolean, stop = this.block.end): boolean {
    const { block } = this;
    const { end } = block;
    const { comment, rowsMax } = this.#layout;
    const commentStart = comment?.[0] ?? lineFeed;
    this.count = 0;
    this.#linesSkipped = 0;
    this.#ragged = new Map();
    block.hasBreaks = false;
    block.limit = isLast ? end + 1 : end;
    for (const column of this.#coded) column?.begin();
    let at = block.start;
    while (at < stop && this.count < rowsMax) {
      const byte = block.bytes[at];
      if (byte === lineFeed || byte === carriageReturn || byte === commentStart) {
        const next = this.#skipLine(at, isLast);
        if (next < 0 && end - at > plainRowBytesMax) return false;
        if (next < 0) break;
        if (next > at) {
          this.#linesSkipped++;
          at = next;
          continue;
        }
      }
      const rowEnd = this.#row(at);
      if (rowEnd === notPlain || rowEnd - at > plainRowBytesMax || this.#fields > rowFieldsMax) return false;
      const next = this.#behindLineEnd(rowEnd, isLast);
      if (next < 0) {
        if (isLast) return false;
        break;
      }
      this.#rowStarts[this.count] = at;
      if (this.#fields === 1 && this.#isWhiteSpace(at, rowEnd)) this.#linesSkipped++;
      else this.#takeRow();
      at = next;
    }
    this.#rowStarts[this.count] = at;
    this.isFull = this.count === rowsMax;
    return this.#layout.encoding.isText(block.bytes.subarray(block.start, at));
  }

  /** Reads the fields of a row into the places of the next row. @returns where its line ends, or `notPlain` */
  #row(from: number): number {
    const { block } = this;
    const { delimiter } = block;
    const row = this.count;
    const width = this.#width;
    let at = from;
    for (let field = 0; ; field++) {
      let end = 0;
      if (field < width) {
        const coded = this.#coded[field];
        const value = this.#values[field];
        if (coded !== undefined) end = coded.scan(at, row);
        if (value !== undefined && end !== notPlain) end = value.scan(at, row);
        if (coded === undefined && value === undefined) end = block.skip(at);
      } else end = block.skip(at);
      if (end === notPlain || block.bytes[end] !== delimiter) {
        this.#fields = field + 1;
        return end;
      }
      at = end + 1;
    }
  }

  /** Behind a blank line or a comment; `at` itself where the line is a row, -1 where its end is still to come. */
  #skipLine(at: number, isLast: boolean): number {
    const { bytes } = this.block;
    const { comment } = this.#layout;
    let end = at;
    if (bytes[at] !== lineFeed && bytes[at] !== carriageReturn) {
      if (comment === undefined || comment.compare(bytes, at, at + comment.length) !== 0) return at;
      while (bytes[end] !== lineFeed && bytes[end] !== carriageReturn) end++;
    }
    return this.#behindLineEnd(end, isLast);
  }

  /** Where the next line begins; -1 where it is not known yet. */
  #behindLineEnd(at: number, isLast: boolean): number {
    const { bytes, end } = this.block;
    // The file may end without a line end. A sentinel behind that one is in a quoted field that nothing closes.
    if (at >= end) return isLast && at === end ? end : -1;
    if (bytes[at] === lineFeed) return at + 1;
    if (at + 1 === end) return isLast ? end : -1;
    return bytes[at + 1] === lineFeed ? at + 2 : at + 1;
  }

  /** Whether the one field of a row is no field, but a line with nothing on it. */
  #isWhiteSpace(from: number, end: number): boolean {
    const { isOneColumn, encoding } = this.#layout;
    return !isOneColumn && trimWhiteSpace(fieldText(this.block.bytes, from, end, encoding)) === '';
  }

  #takeRow(): void {
    const row = this.count++;
    if (this.#fields === this.#width) return;
    this.#ragged.set(row, this.#fields);
    for (let column = this.#fields; column < this.#width; column++) {
      this.#coded[column]?.leaveOut(row);
      this.#values[column]?.leaveOut(row);
    }
  }

  /**
   * What was scanned, without its last rows: the block begins with these then.
   * @param heldBack how many they are
   */
  take(heldBack: number): Batch {
    const { block, lines: linesBefore } = this;
    const { columns } = this.#layout;
    const { start, bytes } = block;
    const count = Math.max(0, this.count - heldBack);
    const rowStarts = this.#rowStarts;
    const isWhole = count === this.count;
    const end = rowStarts[count] as number;
    const isCounted = isWhole && !block.hasBreaks;
    this.lines += isCounted ? count + this.#linesSkipped : countLineEnds(bytes, start, end);
    this.offset += end - start;
    block.start = end;
    let counted = { at: start, line: linesBefore + 1 };
    return {
      columns,
      count,
      coded: this.#coded,
      values: this.#values,
      ragged: this.#ragged,
      row: (at) => this.#fieldsOf(rowStarts[at] as number),
      line: (at) => {
        const to = rowStarts[at] as number;
        // From the row that was asked for last, in either direction.
        const more = to < counted.at ? -countLineEnds(bytes, to, counted.at) : countLineEnds(bytes, counted.at, to);
        counted = { at: to, line: counted.line + more };
        return counted.line;
      },
    };
  }

  #fieldsOf(from: number): Row {
    const { block } = this;
    const row: string[] = [];
    for (let at = from; ; at++) {
      const end = block.skip(at);
      row.push(fieldText(block.bytes, at, end, this.#layout.encoding));
      at = end;
      if (block.bytes[end] !== block.delimiter) return row;
    }
  }
}
