/**
 * Delimited text to columns, without a string for a row.
 *
 * At the start of a row its whole state is the place of that row in the file and how many rows and lines stand before it:
 * dictionaries and guesses change how fast a row is read, and no result. Any row can be the first of a range.
 */
import type { Batch, ColumnNeed } from '../../../core/mapping/column-batch.ts';
import type { Row } from '../../../core/model.ts';
import { isBlankRow, trimWhiteSpace } from '../../../core/text.ts';
import { rowFieldsMax } from '../../limits.ts';
import { Block, carriageReturn, countLineEnds, lineFeed, quoteMark } from './block.ts';
import { type ScanColumns, placeColumns } from './columns.ts';
import type { Kernel } from './kernel/kernel.ts';
import * as place from './kernel/layout.ts';
import { type TextBytes, fieldText } from './text-bytes.ts';

/** A text of so many bytes is within the limits of a field and a row in every encoding, where none takes more than three. */
export const plainRowBytesMax = 3_000_000;

/** Enough for the work around a batch to be small, and few enough for its columns to stay in the processor's cache. */
const batchRowsMax = 8192;

/** The fields of a batch that are kept: up to 17 bytes each. */
const batchFieldsMax = 1 << 17;

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

/** What the kernel takes for a part of a number without looking whether it ends the field. */
const accountingMarks = '()-$ ';

const noRagged: ReadonlyMap<number, number> = new Map();

export class Scanner {
  readonly block: Block;
  /** Rows of the last scan. */
  count = 0;
  /** Whether the last scan ended because a batch holds no more. */
  isFull = false;
  /** Any scan ends at the beginning of a row, or behind the last one. */
  readonly isAtRow = true;
  /** Before the block's start: bytes that were scanned, and lines of the file. */
  offset = 0;
  lines: number;
  readonly #layout: ScanLayout;
  readonly #kernel: Kernel;
  readonly #columns: ScanColumns;
  /** Where the rows of the last scan begin, and behind them where it ended. */
  #rowStarts!: Int32Array;

  /** @param kernel that nothing else uses; @param at lines of the file before the first byte; bytes of a block */
  constructor(kernel: Kernel, layout: ScanLayout, at: { readonly lines: number; readonly bytes: number }) {
    const { encoding, delimiter, needs, rowsMax, comment, isOneColumn } = layout;
    this.#kernel = kernel;
    this.#layout = layout;
    this.lines = at.lines;
    this.block = new Block(kernel, delimiter, at.bytes);
    this.#columns = placeColumns(kernel, needs, {
      encoding,
      rowsMax,
      isMarked: !accountingMarks.includes(String.fromCharCode(delimiter)),
      textAt: (from) => fieldText(this.block.bytes, from, this.block.skip(from), encoding),
    });
    const rowStarts = kernel.allocate(4 * (rowsMax + 1));
    this.#set(place.rowStartsAt, rowStarts);
    this.#set(place.raggedAt, kernel.allocate(8 * rowsMax));
    this.#set(place.rowsMaxAt, rowsMax);
    this.#set(place.delimiterAt, delimiter);
    this.#set(place.commentAt, comment?.[0] ?? lineFeed);
    this.#set(place.isOneColumnAt, isOneColumn ? 1 : 0);
    kernel.follow(() => {
      this.#rowStarts = kernel.ints.subarray(rowStarts >> 2, (rowStarts >> 2) + rowsMax + 1);
    });
  }

  #get(at: number): number {
    return this.#kernel.get(this.#kernel.context + at);
  }

  #set(at: number, value: number): void {
    this.#kernel.set(this.#kernel.context + at, value);
  }

  /**
   * Reads rows from the block's start, as many as there are or a batch can hold.
   * @param isLast whether the file ends where the block does
   * @param stop no row is read that begins there or later
   * @returns whether they are plain
   */
  scan(isLast: boolean, stop = this.block.end): boolean {
    const { block } = this;
    const { address, start, end } = block;
    for (const column of this.#columns.coded) column?.texts.bound();
    for (const at of [place.rowsAt, place.raggedRowsAt, place.linesSkippedAt, place.hasBreaksAt, place.noCommentAt]) {
      this.#set(at, 0);
    }
    this.#set(place.blockAt, address);
    this.#set(place.rowAt, address + start);
    this.#set(place.stopAt, address + stop);
    this.#set(place.endAt, address + end);
    this.#set(place.limitAt, address + (isLast ? end + 1 : end));
    this.#set(place.isLastAt, isLast ? 1 : 0);
    if (!this.#readRows(isLast)) return false;
    const at = this.#get(place.rowAt) - address;
    this.count = this.#get(place.rowsAt);
    this.#rowStarts[this.count] = at;
    this.isFull = this.count === this.#layout.rowsMax;
    return this.#layout.encoding.isText(block.bytes.subarray(start, at));
  }

  #readRows(isLast: boolean): boolean {
    const { call, context } = this.#kernel;
    for (;;) {
      switch (call.scan(context, plainRowBytesMax, rowFieldsMax)) {
        case place.notPlain:
          return false;
        case place.full:
          this.#growTexts();
          break;
        case place.maybeComment: {
          const found = this.#skipComment(isLast);
          if (found !== 'skipped') return found === 'cut';
          break;
        }
        case place.oneField:
          this.#takeOneField(isLast);
          break;
        default:
          return true;
      }
    }
  }

  #growTexts(): void {
    const column = this.#get(place.fullColumnAt);
    this.#columns.coded.find((coded) => coded?.texts.column === column)?.texts.grow();
  }

  /** Leaves out a comment, or says that the line is a row; `cut` where its end is still to come, `notPlain` where it is too long. */
  #skipComment(isLast: boolean): 'skipped' | 'cut' | 'notPlain' {
    const { block } = this;
    const { bytes, address } = block;
    const { comment } = this.#layout;
    const at = this.#get(place.rowAt) - address;
    if (comment === undefined || comment.compare(bytes, at, at + comment.length) !== 0) {
      this.#set(place.noCommentAt, address + at);
      return 'skipped';
    }
    let end = at;
    while (bytes[end] !== lineFeed && bytes[end] !== carriageReturn) end++;
    const next = this.#behindLineEnd(end, isLast);
    if (next < 0) return block.end - at > plainRowBytesMax ? 'notPlain' : 'cut';
    this.#skipTo(next);
    return 'skipped';
  }

  /** Takes a row of one field, or leaves out a line with nothing but white space. */
  #takeOneField(isLast: boolean): void {
    const { call, context } = this.#kernel;
    const { bytes, address } = this.block;
    const at = this.#get(place.rowAt) - address;
    const end = this.#get(place.rowEndAt) - address;
    const next = this.#behindLineEnd(end, isLast);
    if (trimWhiteSpace(fieldText(bytes, at, end, this.#layout.encoding)) === '') {
      this.#skipTo(next);
      return;
    }
    const row = this.#get(place.rowsAt);
    this.#rowStarts[row] = at;
    if (this.#layout.columns.length !== 1) call.takeRagged(context, row, 1);
    this.#set(place.rowsAt, row + 1);
    this.#set(place.rowAt, address + next);
  }

  #skipTo(next: number): void {
    this.#set(place.linesSkippedAt, this.#get(place.linesSkippedAt) + 1);
    this.#set(place.rowAt, this.block.address + next);
  }

  /** Where the next line begins; -1 where it is not known yet. */
  #behindLineEnd(at: number, isLast: boolean): number {
    const { bytes, end } = this.block;
    if (at >= end) return isLast && at === end ? end : -1;
    if (bytes[at] === lineFeed) return at + 1;
    if (at + 1 === end) return isLast ? end : -1;
    return bytes[at + 1] === lineFeed ? at + 2 : at + 1;
  }

  #ragged(): ReadonlyMap<number, number> {
    const count = this.#get(place.raggedRowsAt);
    if (count === 0) return noRagged;
    const at = this.#get(place.raggedAt) >> 2;
    const { ints } = this.#kernel;
    return new Map(
      Array.from({ length: count }, (_, pair) => [ints[at + 2 * pair] as number, ints[at + 2 * pair + 1] as number]),
    );
  }

  /**
   * How many rows at the end may be the footer, and blank rows in it and below it: see `Footer` in `table.ts`. `undefined` where that
   * is more than half of a batch.
   * @param footer how many rows it has that are not blank
   */
  heldBack(footer: number): number | undefined {
    let at = this.count;
    for (let left = footer; left > 0 && at > 0;) if (!this.#isBlank(--at)) left--;
    const rows = this.count - at;
    return 2 * rows > this.#layout.rowsMax ? undefined : rows;
  }

  #isBlank(row: number): boolean {
    const { bytes, delimiter } = this.block;
    const from = this.#rowStarts[row] as number;
    const first = bytes[from] as number;
    const isSurelyText = first > 0x20 && first < 0x7f && first !== quoteMark && first !== delimiter;
    return !isSurelyText && isBlankRow(this.#fieldsOf(from));
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
    const isCounted = isWhole && this.#get(place.hasBreaksAt) === 0;
    this.lines += isCounted ? count + this.#get(place.linesSkippedAt) : countLineEnds(bytes, start, end);
    this.offset += end - start;
    block.start = end;
    let counted = { at: start, line: linesBefore + 1 };
    return {
      columns,
      count,
      ...this.#columns,
      ragged: this.#ragged(),
      row: (at) => this.#fieldsOf(this.#rowStarts[at] as number),
      line: (at) => {
        const to = this.#rowStarts[at] as number;
        // From the row that was asked for last, in either direction.
        const more =
          to < counted.at ? -countLineEnds(block.bytes, to, counted.at) : countLineEnds(block.bytes, counted.at, to);
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
