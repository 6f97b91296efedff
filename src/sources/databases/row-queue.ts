/**
 * Rows that a driver's events bring, until they are read. The server is asked for more only as they are taken, and a row that
 * would fill the memory is refused before all of it has arrived.
 */
import type { Row } from '../../core/model.ts';
import { batchLengthMax } from '../limits.ts';
import { batchRows, longRowError, rowBytesAllowed } from './long-rows.ts';

export class RowQueue {
  readonly #place: string;
  readonly #more: () => void;
  #columns = 1;
  #rows: Row[] = [];
  #chars = 0;
  #rowsTaken = 0;
  /** Bytes of the row that is arriving, with at most one chunk of rows before it. */
  #rowBytes = 0;
  #isReleased = false;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #taker: PromiseWithResolvers<void> | undefined;

  /**
   * @param place of the database, for messages
   * @param more is called when a batch was taken: the driver may bring the next one
   */
  constructor(place: string, more: () => void) {
    this.#place = place;
    this.#more = more;
  }

  /** Whether the driver should bring no more: there is a whole batch, or a failure. */
  get isFull(): boolean {
    return this.#rows.length >= batchRows || this.#chars >= batchLengthMax || this.#failure !== undefined;
  }

  /** How many rows like those of the batch at hand make a whole one. */
  get rowsToAskFor(): number {
    const share = Math.floor((batchLengthMax * this.#rows.length) / Math.max(1, this.#chars));
    return Math.min(batchRows, Math.max(1, share));
  }

  /** How many columns the rows to come have. */
  expect(columns: number): void {
    this.#columns = columns;
  }

  /** So many bytes arrived, which the driver has not read yet. Fails where they are too many for the row they belong to. */
  receive(bytes: number): void {
    this.#rowBytes += bytes;
    if (this.#rowBytes <= rowBytesAllowed(this.#columns)) return;
    this.fail(longRowError(`${this.#place}: row ${this.#rowsTaken + this.#rows.length + 1}`, this.#columns));
  }

  push(row: Row): void {
    this.#rows.push(row);
    this.#rowBytes = 0;
    for (const field of row) this.#chars += field.length;
    if (this.isFull) this.#wake();
  }

  /** Lets a batch that is not full be taken: the driver brings no more until then. */
  release(): void {
    this.#isReleased = true;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The first failure counts; rows that were not taken yet are dropped. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** The next batch; `undefined` after the last row. Rejects with what `fail` was given. */
  async take(): Promise<readonly Row[] | undefined> {
    while (!this.#isEnded && !this.#isReleased && !this.isFull) {
      this.#taker = Promise.withResolvers();
      await this.#taker.promise;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    const rows = this.#rows;
    if (rows.length === 0) return undefined;
    this.#rows = [];
    this.#chars = 0;
    this.#rowsTaken += rows.length;
    this.#isReleased = false;
    // Meanwhile the server works on the next batch.
    if (!this.#isEnded) this.#more();
    return rows;
  }

  #wake(): void {
    this.#taker?.resolve();
    this.#taker = undefined;
  }
}
