/** The hash of a query's rows, however they were batched. It sees every text, and refuses those that no source may give. */
import { createHash, hash } from 'node:crypto';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { isFieldTooLong } from '../limits.ts';
import { longFieldError } from './long-rows.ts';

export interface RowHashOptions {
  /** The database, as messages name it. */
  readonly place: string;
  readonly columns: readonly string[];
  /** Whether the same rows in another order count as a change. */
  readonly isOrdered: boolean;
}

export class RowHash {
  readonly #hash = createHash('sha256');
  readonly #options: RowHashOptions;
  /** For rows in any order: the sum of their hashes, in numbers of 32 bits. Unlike with XOR, equal rows count each. */
  readonly #sums = new Uint32Array(8);
  #rows = 0;

  constructor(options: RowHashOptions) {
    this.#options = options;
    this.#hash.update(`${JSON.stringify(options.columns)}\n`);
  }

  /**
   * @throws AgentError `part.unreadable` where a text is over 10 MB, or holds a NUL, or U+FFFD, which stands where bytes
   * were invalid
   */
  add(rows: readonly Row[]): void {
    this.#refuseLongText(rows);
    if (this.#options.isOrdered) this.#addInOrder(rows);
    else for (const row of rows) this.#addToSums(row);
  }

  #addInOrder(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    // JSON keeps fields apart, which joined texts would not; one call for all rows costs half of one call for each.
    const json = JSON.stringify(rows);
    if (mayHoldBadText(json)) this.#refuseBadText(rows);
    // Without the brackets, or the hash would depend on the batches.
    this.#hash.update(json.slice(1, -1)).update(',');
    this.#rows += rows.length;
  }

  #addToSums(row: Row): void {
    const json = JSON.stringify(row);
    if (mayHoldBadText(json)) this.#refuseBadText([row]);
    const digest = hash('sha256', json, 'buffer');
    const sums = this.#sums;
    for (let index = 0; index < sums.length; index++) sums[index]! += digest.readUInt32LE(index * 4);
    this.#rows++;
  }

  digest(): string {
    return this.#hash.update(`${this.#rows}`).update(this.#sums).digest('hex');
  }

  #refuseLongText(rows: readonly Row[]): void {
    for (const [at, row] of rows.entries()) {
      const index = row.findIndex(isFieldTooLong);
      if (index !== -1) throw longFieldError(this.#where(at, index));
    }
  }

  /** @param at of the rows that are being added */
  #where(at: number, index: number): string {
    const { place, columns } = this.#options;
    return `${place}: row ${this.#rows + at + 1}, column ${columns[index] ?? index + 1}`;
  }

  #refuseBadText(rows: readonly Row[]): void {
    for (const [at, row] of rows.entries()) {
      const index = row.findIndex((text) => /[\0\uFFFD]/.test(text));
      if (index === -1) continue;
      throw new AgentError(
        'part.unreadable',
        `${this.#where(at, index)}: a text that is not utf-8 or holds a NUL character`,
        {
          hint: 'correct it in the database, or leave that row out in the query',
        },
      );
    }
  }
}

/** Whether JSON may hold a bad text: some good ones look the same. */
function mayHoldBadText(json: string): boolean {
  return json.includes('\uFFFD') || json.includes('\\u0000');
}
