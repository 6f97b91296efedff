/** Reads and folds a range of the bytes of a file; the same in a thread of its own and outside of one. */
import { isAgentError } from '../../../core/errors.ts';
import type { MonthRules } from '../../../core/mapping/entry-reader.ts';
import { columnNeeds } from '../../../core/mapping/columns.ts';
import { type PortableMapping, unpackMapping } from '../../../core/mapping/portable.ts';
import { RowMapper, rowText } from '../../../core/mapping/row-mapper.ts';
import type { Reject, SharedTexts } from '../../../core/model.ts';
import { Fold } from '../../../core/series/fold/fold.ts';
import type { PackedDriver } from '../../../core/series/packing.ts';
import type { HashedBlocks } from '../../files/blocks.ts';
import { Kernel } from './kernel/kernel.ts';
import { type RangeFormat, type RangeScanner, guessRow, rangeScanner } from './range-scanner.ts';

/**
 * Drivers that are handed over at once: few enough for whoever takes them to do other things in between. Several of them may wait, and are taken
 * without a turn for timers (`onTheWayMax` in `thread.ts`, times threads): with 200, a timer is late by 60 ms instead of 40.
 */
const driversMax = 60;
/** Read at once. */
const chunkBytesDefault = 256 * 1024;

/**
 * What is decided on the way, such as which ties are looked for, is decided at multiples of this many bytes of the file, and ranges
 * begin there: then it does not depend on how many ranges there are.
 */
export const gridBytesDefault = 1024 * 1024;

/** What all ranges of a file have in common. Can be cloned. */
export interface RangeJob {
  readonly format: RangeFormat;
  readonly columns: readonly string[];
  /** See `Batch`. */
  readonly shared: SharedTexts;
  /** How long the file is. */
  readonly bytes: number;
  readonly mapping: PortableMapping;
  readonly rules: MonthRules;
  readonly part: number;
  readonly rejectsMax: number;
  readonly foldMax: number;
  readonly chunkBytes?: number | undefined;
  /** See `gridBytesDefault`. */
  readonly gridBytes?: number | undefined;
}

/** Bytes of the file. A row is of the range that it begins in. */
export interface ByteRange {
  /** The first range begins where a row begins; for the others that is guessed. */
  readonly from: number;
  readonly to: number;
  readonly isFirst: boolean;
}

/** Where the range before has ended: what is true, whatever was guessed. */
export interface RangeBefore {
  readonly end: number;
  readonly rows: number;
}

/** What is known of a range once it was read. */
export interface RangeEnd {
  /** Where its last row ends, and the first of the next range begins. */
  readonly end: number;
  readonly rows: number;
  readonly passed: number;
  readonly rejected: number;
  /** The first of them, with their numbers in the part. */
  readonly rejects: readonly Reject[];
  /** The blocks of the file that were hashed on the way. */
  readonly hashed?: HashedBlocks;
}

/** What a range needs while it is read. */
export interface RangePort {
  /** Bytes of the file into a buffer; how many there were. */
  read(into: Buffer, position: number): number;
  /** Where the range really begins. Comes back when the ranges before it were read. */
  before(): Promise<RangeBefore>;
  /** The range was read; it may still hand over drivers. */
  ended(end: RangeEnd): void;
  /** Comes back when there is room for more. */
  add(drivers: readonly PackedDriver[]): Promise<void>;
  progress(bytes: number, rows: number): void;
}

/**
 * Hands over the drivers of a range.
 * @returns false where it is not plain: the whole part is to be read in another way then
 */
export async function readRange(job: RangeJob, range: ByteRange, port: RangePort): Promise<boolean> {
  const guess = range.isFirst ? range.from : guessStart(job, range, port);
  using reading = new RangeReading(job, port, guess ?? range.to, range.to);
  // Where the guess found no line end, only the range before can tell.
  const isPlain = guess === undefined ? true : await reading.run();
  const { end, rows } = await reading.before();
  if (end === (guess ?? -1)) {
    if (isPlain) await reading.finish(rows);
    return isPlain;
  }
  using again = new RangeReading(job, { ...port, before: async () => ({ end, rows }) }, end, range.to);
  const isPlainAgain = await again.run();
  if (isPlainAgain) await again.finish(rows);
  return isPlainAgain;
}

function guessStart(
  { bytes, format, chunkBytes = chunkBytesDefault }: RangeJob,
  { from, to }: ByteRange,
  port: RangePort,
): number | undefined {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, bytes - from + 1));
  // With the line end that may stand right before it.
  const length = port.read(chunk, from - 1);
  const row = guessRow(chunk.subarray(0, length), format);
  return row === undefined || from - 1 + row > to ? undefined : from - 1 + row;
}

function gridAfter(offset: number, { gridBytes = gridBytesDefault }: RangeJob): number {
  return (Math.floor(offset / gridBytes) + 1) * gridBytes;
}

class RangeReading {
  readonly #job: RangeJob;
  readonly #port: RangePort;
  readonly #from: number;
  readonly #to: number;
  readonly #fold: Fold;
  readonly #mapper: RowMapper;
  readonly #kernel = new Kernel();
  readonly #scanner: RangeScanner;
  readonly #rejects: Reject[] = [];
  #before: Promise<RangeBefore> | undefined;
  #rows = 0;
  #passed = 0;
  #rejected = 0;
  #end: number;
  /** The next multiple that a row may begin at. */
  #gridEnd: number;

  constructor(job: RangeJob, port: RangePort, from: number, to: number) {
    const { columns, chunkBytes = chunkBytesDefault } = job;
    const mapping = unpackMapping(job.mapping);
    const needs = columnNeeds(mapping, columns);
    this.#job = job;
    this.#port = port;
    this.#from = from;
    this.#to = to;
    this.#end = from;
    this.#gridEnd = gridAfter(from, job);
    this.#fold = new Fold(job.part);
    this.#mapper = new RowMapper(mapping, columns, job.rules, job);
    this.#scanner = rangeScanner(this.#kernel, job.format, { columns, needs, bytes: 2 * chunkBytes });
  }

  [Symbol.dispose](): void {
    this.#fold[Symbol.dispose]();
    this.#mapper[Symbol.dispose]();
    this.#kernel[Symbol.dispose]();
  }

  before(): Promise<RangeBefore> {
    return (this.#before ??= this.#port.before());
  }

  /**
   * Reads the rows that begin in the range.
   * @returns false where they are not plain, or where the range does not begin where it was thought to
   */
  async run(): Promise<boolean> {
    try {
      return await this.#run();
    } catch (error) {
      // What is wrong with the part is said by whoever reads it in the other way.
      if (isAgentError(error)) return false;
      throw error;
    }
  }

  async #run(): Promise<boolean> {
    const { bytes, chunkBytes = chunkBytesDefault } = this.#job;
    const { block } = this.#scanner;
    let position = this.#from;
    for (;;) {
      // At multiples of its length, so that blocks of the file come whole.
      const room = chunkBytes - (position % chunkBytes);
      const length = position < bytes ? this.#port.read(block.room(room), position) : 0;
      block.extend(length);
      position += length;
      const isLast = length === 0 || position >= bytes;
      if (!(await this.#scan(isLast))) return false;
      if ((this.#end >= this.#to && this.#scanner.isAtRow) || isLast) return true;
    }
  }

  /** Reads the rows that are in the block. @param isLast whether the file ends with it */
  async #scan(isLast: boolean): Promise<boolean> {
    const { block } = this.#scanner;
    for (;;) {
      // Where the range or the step of the grid ends, in the block.
      const left = Math.max(0, Math.min(this.#to, this.#gridEnd) - this.#end);
      if (!this.#scanner.scan(isLast, Math.min(block.start + left, block.end))) return false;
      this.#take();
      if (this.#end >= this.#gridEnd && this.#scanner.isAtRow) {
        if (!(await this.#step())) return false;
      } else if (!this.#scanner.isFull) return true;
    }
  }

  /** @returns false where the range does not begin where it was thought to */
  async #step(): Promise<boolean> {
    this.#gridEnd = gridAfter(this.#end, this.#job);
    this.#port.progress(this.#end - this.#from, this.#rows);
    this.#fold.cutTies(this.#rows);
    if (this.#fold.size <= this.#job.foldMax) return true;
    const { end, rows } = await this.before();
    if (end !== this.#from) return false;
    await this.#drain(rows);
    return true;
  }

  #take(): void {
    const before = this.#scanner.offset;
    const batch = this.#scanner.take(0);
    const rowsBefore = this.#rows;
    const { rejectsMax } = this.#job;
    this.#passed += this.#mapper.read(batch, rowsBefore, this.#fold, {
      reject: (at, reason) => {
        this.#rejected++;
        if (this.#rejects.length >= rejectsMax) return;
        this.#rejects.push({ row: rowsBefore + at + 1, reason, text: rowText(batch.row(at)) });
      },
    });
    this.#rows += batch.count;
    this.#end += this.#scanner.offset - before;
  }

  /** @param rowsBefore of the ranges before */
  async finish(rowsBefore: number): Promise<void> {
    this.#port.ended({
      end: this.#end,
      rows: this.#rows,
      passed: this.#passed,
      rejected: this.#rejected,
      rejects: this.#rejects.map((reject) => ({ ...reject, row: rowsBefore + reject.row })),
    });
    await this.#drain(rowsBefore);
  }

  async #drain(rowsBefore: number): Promise<void> {
    let drivers: PackedDriver[] = [];
    for (const driver of this.#fold.drain(rowsBefore)) {
      drivers.push(driver);
      if (drivers.length < driversMax) continue;
      await this.#port.add(drivers);
      drivers = [];
    }
    if (drivers.length > 0) await this.#port.add(drivers);
  }
}
