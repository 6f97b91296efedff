/**
 * Records of JSON to columns, without a string for a record. A record is plain where it is an object without lists and objects in it.
 *
 * What stands between two values (a comma, the next key, its colon) is mostly what stood there in the record before. The kernel compares
 * it with that first; where it differs, it is taken apart here.
 */
import type { Batch, ColumnNeed } from '../../../core/mapping/column-batch.ts';
import type { Row } from '../../../core/model.ts';
import { Block, countLineFeeds, lineFeed, notPlain, quoteMark } from './block.ts';
import { type ScanColumns, placeColumns } from './columns.ts';
import { JsonFields, jsonText } from './json-fields.ts';
import type { JsonKeys } from './json-keys.ts';
import type { Kernel } from './kernel/kernel.ts';
import * as place from './kernel/layout.ts';
import { batchRowsOf, plainRowBytesMax } from './scanner.ts';

const closeObject = 0x7d;
const comma = 0x2c;
const colon = 0x3a;

const isSpaceInLine = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r')) isSpaceInLine[byte] = 1;
/** By byte, 1 for what may stand between records. */
export const isSpace = Uint8Array.from(isSpaceInLine);
isSpace[lineFeed] = 1;

/** How records follow each other: one in a line, or as the list that is all of a document. */
export type JsonLayout = 'lines' | 'list';

/** No column: a record has no more values. */
const none = place.noColumn;

const noRagged: ReadonlyMap<number, number> = new Map();

export class JsonScanner {
  readonly block: Block;
  /** Records of the last scan. */
  count = 0;
  /** Whether the last scan ended because a batch holds no more. */
  isFull = false;
  /** Bytes that were scanned before the block's start. */
  offset = 0;
  readonly #kernel: Kernel;
  readonly #layout: JsonLayout;
  readonly #keys: JsonKeys;
  readonly #fields: JsonFields;
  readonly #isSpace: Uint8Array;
  readonly #columns: ScanColumns;
  readonly #leads: Leads;
  readonly #rowsMax: number;
  /** Where the records of the last scan begin. */
  #starts!: Int32Array;
  /** Where it ended. */
  #end = 0;
  /** Lines of the file before the block's start, where records are lines. */
  #lines = 0;
  /** The column of the value whose lead was taken apart last. */
  #column: number = none;

  /** @param needs by column of `keys`; none where the keys are still to be learned */
  constructor(
    kernel: Kernel,
    layout: JsonLayout,
    keys: JsonKeys,
    { needs, bytes }: { needs: readonly ColumnNeed[]; bytes: number },
  ) {
    const rowsMax = batchRowsOf(needs);
    const block = new Block(kernel, comma, bytes);
    const fields = new JsonFields(block);
    this.#kernel = kernel;
    this.block = block;
    this.#layout = layout;
    this.#keys = keys;
    this.#fields = fields;
    this.#isSpace = layout === 'lines' ? isSpaceInLine : isSpace;
    this.#rowsMax = rowsMax;
    this.#columns = placeColumns(kernel, needs, {
      encoding: jsonText,
      rowsMax,
      textAt: (from) => fields.text(from),
      // Numbers of JSON have one way to be written.
      isMarked: false,
      numberAt: (from) => fields.isNumber(from),
    });
    this.#leads = new Leads(kernel, needs.length);
    const starts = kernel.allocate(4 * rowsMax);
    this.#set(place.rowStartsAt, starts);
    this.#set(place.rowsMaxAt, rowsMax);
    this.#set(place.delimiterAt, quoteMark);
    this.#set(place.isListAt, layout === 'list' ? 1 : 0);
    this.#set(place.nextRecordAt, layout === 'list' ? place.nextIsList : place.nextIsRecord);
    this.#set(place.recordAt, 0);
    this.#set(place.recordsSeenAt, 0);
    kernel.follow(() => {
      this.#starts = kernel.ints.subarray(starts >> 2, (starts >> 2) + rowsMax);
    });
  }

  /** Whether the last scan ended at the beginning of a record. */
  get isAtRow(): boolean {
    return this.#end < this.block.end && this.#get(place.nextRecordAt) === place.nextIsRecord;
  }

  #get(at: number): number {
    return this.#kernel.get(this.#kernel.context + at);
  }

  #set(at: number, value: number): void {
    this.#kernel.set(this.#kernel.context + at, value);
  }

  /**
   * Reads records from the block's start, as many as there are or a batch can hold.
   * @param isLast whether the file ends where the block does
   * @param stop no record is read that begins there or later
   * @returns whether they are plain
   */
  scan(isLast: boolean, stop = this.block.end): boolean {
    const { block } = this;
    const { address, start, end } = block;
    for (const column of this.#columns.coded) column?.texts.bound();
    this.#set(place.rowsAt, 0);
    this.#set(place.linesSkippedAt, 0);
    this.#set(place.blockAt, address);
    this.#set(place.rowAt, address + start);
    this.#set(place.stopAt, address + stop);
    this.#set(place.endAt, address + end);
    if (!this.#readRecords(isLast)) return false;
    const at = this.#get(place.rowAt) - address;
    this.count = this.#get(place.rowsAt);
    this.#end = at;
    this.isFull = this.count === this.#rowsMax;
    const isWhole = this.#layout === 'lines' || this.#get(place.nextRecordAt) === place.nextIsNothing;
    return (isWhole || !isLast || this.isFull) && jsonText.isText(block.bytes.subarray(start, at));
  }

  #readRecords(isLast: boolean): boolean {
    const { call, context } = this.#kernel;
    for (;;) {
      switch (call.scanRecords(context, plainRowBytesMax)) {
        case place.notPlain:
          return false;
        case place.full:
          this.#columns.coded[this.#get(place.valueColumnAt)]?.texts.grow();
          break;
        case place.maybeCut:
          return this.#isCut(isLast, this.#get(place.reachedAt) - this.block.address);
        case place.strangeLead:
          if (this.#readLead()) break;
          this.#set(place.rowAt, this.#get(place.recordAt));
          this.#set(place.recordAt, 0);
          return this.#isCut(isLast, this.#fields.reached);
        default:
          return true;
      }
    }
  }

  /** Whether a record that is not plain may be so with the bytes that are still to come. @param reached where it stopped being plain */
  #isCut(isLast: boolean, reached: number): boolean {
    const { end, address } = this.block;
    const from = this.#get(place.rowAt) - address;
    return !isLast && reached >= end && end - from <= plainRowBytesMax;
  }

  /** Takes apart what stands before the next value. @returns whether it is plain */
  #readLead(): boolean {
    const { address } = this.block;
    const at = this.#takeApart(this.#get(place.valueAt) - address, this.#get(place.placeAt));
    if (at === notPlain) return false;
    this.#set(place.valueAt, address + at);
    this.#set(place.valueColumnAt, this.#column);
    return true;
  }

  /** What was scanned; the block begins behind it then. */
  take(): Batch {
    const { block } = this;
    let counted = { at: block.start, line: this.#lines + 1 };
    this.#lines += this.#get(place.linesSkippedAt);
    this.offset += this.#end - block.start;
    block.start = this.#end;
    return {
      columns: this.#keys.columns,
      count: this.count,
      ...this.#columns,
      ragged: noRagged,
      row: (at) => this.#rowOf(this.#starts[at] as number),
      ...(this.#layout === 'lines' && {
        line: (at: number) => {
          const to = this.#starts[at] as number;
          // From the record that was asked for last, in either direction.
          const more =
            to < counted.at
              ? -countLineFeeds(block.bytes, to, counted.at)
              : countLineFeeds(block.bytes, counted.at, to);
          counted = { at: to, line: counted.line + more };
          return counted.line;
        },
      }),
    };
  }

  /** Where the value behind a lead begins, whose column is `#column` then; behind the record where it has no more values. */
  #takeApart(from: number, at: number): number {
    const { block } = this;
    const { bytes } = block;
    let to = this.#skipSpace(from);
    // A brace opens the record; between its values are commas.
    const isFollowed = at > 0 && bytes[to] === comma;
    if (at === 0 || isFollowed) to = this.#skipSpace(to + 1);
    if (bytes[to] === closeObject && !isFollowed) {
      this.#column = none;
      return to + 1;
    }
    if (bytes[to] !== quoteMark || (at > 0 && !isFollowed)) return this.#fail(to);
    const keyEnd = this.#fields.skipString(to);
    if (keyEnd === notPlain) return notPlain;
    const column = this.#keys.find(block.address + to + 1, block.address + keyEnd - 1);
    if (column === notPlain) return this.#fail(to);
    to = this.#skipSpace(keyEnd);
    if (block.bytes[to] !== colon) return this.#fail(to);
    to = this.#skipSpace(to + 1);
    if (to >= block.end) return this.#fail(to);
    this.#leads.set(at, column, block.bytes.subarray(from, to));
    this.#column = column;
    return to;
  }

  #rowOf(from: number): Row {
    const row = this.#keys.columns.map(() => '');
    let at = from;
    for (let index = 0; ; index++) {
      at = this.#takeApart(at, index);
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

/** By place in a record, what stood before its value last time; by column, the last record that has it. In the memory of the kernel. */
class Leads {
  readonly #kernel: Kernel;
  /** How long a lead may be where it is now. */
  readonly #rooms: number[] = [];
  #leadsMax = 0;
  #columnsMax = 0;

  constructor(kernel: Kernel, columns: number) {
    this.#kernel = kernel;
    kernel.set(kernel.context + place.leadsCountAt, 0);
    this.#fit(startLeads, Math.max(startLeads, columns));
  }

  set(at: number, column: number, text: Buffer): void {
    const kernel = this.#kernel;
    const { length } = text;
    // Making room may move what `text` is a view of.
    const copy = Buffer.from(text);
    this.#fit(at + 1, column + 1);
    const lead = kernel.get(kernel.context + place.leadsAt) + at * place.leadBytes;
    if ((this.#rooms[at] ?? 0) < length) {
      this.#rooms[at] = 2 * length;
      kernel.set(lead + place.leadTextAt, kernel.allocate(2 * length));
    }
    copy.copy(kernel.bytes, kernel.get(lead + place.leadTextAt));
    kernel.set(lead + place.leadLengthAt, length);
    kernel.set(lead + place.leadColumnAt, column);
    const count = kernel.context + place.leadsCountAt;
    kernel.set(count, Math.max(kernel.get(count), at + 1));
  }

  #fit(leads: number, columns: number): void {
    if (leads > this.#leadsMax) this.#leadsMax = this.#move(place.leadsAt, place.leadBytes, this.#leadsMax, 2 * leads);
    if (columns > this.#columnsMax) this.#columnsMax = this.#move(place.seenInAt, 4, this.#columnsMax, 2 * columns);
  }

  #move(at: number, bytes: number, before: number, room: number): number {
    const kernel = this.#kernel;
    const to = kernel.allocate(bytes * room);
    const from = kernel.get(kernel.context + at);
    kernel.bytes.copyWithin(to, from, from + bytes * before);
    kernel.set(kernel.context + at, to);
    return room;
  }
}

const startLeads = 32;
