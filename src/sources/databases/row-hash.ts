/** The hash of a query's rows, however they were batched. It sees every text, and refuses those that no source may give. */
import { createHash, hash } from 'node:crypto';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { isFieldTooLong } from '../limits.ts';
import { longFieldError } from './long-rows.ts';
import type { WireBatch } from './wire-batch.ts';

export interface RowHashOptions {
  /** The database, as messages name it. */
  readonly place: string;
  readonly columns: readonly string[];
  /** Which columns hold numbers, where their texts alone do not say what they mean. */
  readonly numbers?: readonly string[];
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
    if (options.numbers !== undefined) this.#hash.update(`${JSON.stringify(options.numbers)}\n`);
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
      throw badTextError(this.#where(at, index));
    }
  }
}

/**
 * The hash of rows as columns, with the refusals of `RowHash`. It depends on the batches, which have to depend on the rows
 * alone, and on what the mapping needs: a mapping that changes reads its parts anew in any case.
 */
export class ColumnHash {
  readonly #hash = createHash('sha256');
  readonly #columns: readonly string[];
  #rows = 0;

  constructor(columns: readonly string[]) {
    this.#columns = columns;
    this.#hash.update(`${JSON.stringify(columns)}\n`);
  }

  /** @param rows the same rows as texts @throws AgentError `part.unreadable` as `RowHash.add`, without the place */
  add({ count, columns }: WireBatch, rows: readonly Row[]): void {
    for (const [column, { generation, added, codes, mantissas, scales, numbers, texts }] of columns.entries()) {
      const text = texts?.text ?? '';
      if (/[\0\uFFFD]/.test(text) || added.some((one) => /[\0\uFFFD]/.test(one))) this.#refuse(column, rows);
      this.#hash.update(JSON.stringify([count, generation, added, text.length])).update(text);
      for (const array of [codes, mantissas, scales, texts?.ends, numbers])
        if (array !== undefined) this.#hash.update(array);
    }
    this.#rows += rows.length;
  }

  digest(): string {
    return this.#hash.update(`${this.#rows}`).digest('hex');
  }

  #refuse(column: number, rows: readonly Row[]): never {
    const at = rows.findIndex((row) => /[\0\uFFFD]/.test(row[column] ?? ''));
    throw badTextError(`row ${this.#rows + at + 1}, column ${this.#columns[column]}`);
  }
}

/** @param where row and column */
function badTextError(where: string): AgentError {
  return new AgentError('part.unreadable', `${where}: a text that is not utf-8 or holds a NUL character`, {
    hint: 'correct it in the database, or leave that row out in the query',
  });
}

/** Whether JSON may hold a bad text: some good ones look the same. */
function mayHoldBadText(json: string): boolean {
  return json.includes('\uFFFD') || json.includes('\\u0000');
}
