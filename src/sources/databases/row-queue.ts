/** Hands rows that a driver's events bring over to whoever reads them, and asks the driver for more only as they are taken. */
import type { Row } from '../../core/model.ts';

const batchRows = 1000;
/** Rows may be long: then a batch has fewer of them. */
const batchCharsMax = 4_000_000;

export class RowQueue {
  readonly #more: () => void;
  #rows: Row[] = [];
  #chars = 0;
  #isReleased = false;
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #taker: PromiseWithResolvers<void> | undefined;

  /** @param more is called when a batch was taken: the driver may bring the next one */
  constructor(more: () => void) {
    this.#more = more;
  }

  /** Whether there is a whole batch: the driver should bring no more. */
  get isFull(): boolean {
    return this.#rows.length >= batchRows || this.#chars >= batchCharsMax;
  }

  /** How many rows like those of the batch at hand make a whole one. */
  get rowsToAskFor(): number {
    const share = Math.floor((batchCharsMax * this.#rows.length) / Math.max(1, this.#chars));
    return Math.min(batchRows, Math.max(1, share));
  }

  push(row: Row): void {
    this.#rows.push(row);
    for (const field of row) this.#chars += field.length;
    if (this.isFull) this.#wake();
  }

  /** What there is may be taken: the driver brings no more until then. */
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
    while (this.#failure === undefined && !this.#isEnded && !this.#isReleased && !this.isFull) {
      this.#taker = Promise.withResolvers();
      await this.#taker.promise;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    const rows = this.#rows;
    if (rows.length === 0) return undefined;
    this.#rows = [];
    this.#chars = 0;
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
