/** The hash of a query's rows, whatever the batches they came in. Sees every text, and refuses those that no source may give. */
import { createHash, hash } from 'node:crypto';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { isFieldTooLong } from '../limits.ts';
import { longFieldError } from './long-rows.ts';

export interface RowHashOptions {
  /** Of the database, for messages. */
  readonly place: string;
  readonly columns: readonly string[];
  /** Whether the same rows in another order are other content. */
  readonly isOrdered: boolean;
}

export class RowHash {
  readonly #hash = createHash('sha256');
  readonly #options: RowHashOptions;
  /** Of rows in any order: their hashes added up, in 32 bits each. Unlike with XOR, rows that are the same count. */
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
    // JSON keeps apart what joining the texts could run together; one call for all rows costs half of one for each.
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

/** What a bad text looks like in JSON, and a few that are none. */
function mayHoldBadText(json: string): boolean {
  return json.includes('\uFFFD') || json.includes('\\u0000');
}
