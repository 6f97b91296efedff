/**
 * The chain of the ledger: a record for each state that a push, an approval, a request (forget, rollback) or a file of the
 * archive was in. A record's sha256 is that of the one before it, a line end, and its content; so none can be changed, taken
 * out or put in without changing all that follow.
 *
 * The content is JSON: `{"kind":"push","row":{…}}` has the row of that table as it was then, a blob as its sha256 and length.
 * An acknowledged push has `carried` beside it: see `CarriedHash`. The first record is `{"kind":"begin","earlier":{…}}`,
 * with the number of rows that the ledger had before it had a chain; their records follow.
 */
import { createHash } from 'node:crypto';
import type { Statements } from './statements.ts';

/** The tables whose rows are recorded, and their keys. */
export const recorded = { push: 'id', approval: 'id', request: 'id', snapshot: 'digest' } as const;

export type Recorded = keyof typeof recorded;

/** A file of the archive. */
export interface SnapshotFile {
  /** sha256 (hex) of the body that is made from it. */
  readonly digest: string;
  /** sha256 (hex) of its own bytes. */
  readonly fileSha256: string;
}

export const beforeFirst = '0'.repeat(64);

export class Chain {
  readonly #tables: Statements;

  constructor(tables: Statements) {
    this.#tables = tables;
  }

  /** Begins where there is no record yet: with the rows that are there, and the files of the archive. */
  begin(earlierFiles: () => Iterable<SnapshotFile>): void {
    if (this.#last() !== undefined) return;
    // Reading the archive may take minutes, in which no command should have to wait for the ledger.
    const files = [...earlierFiles()];
    this.#tables.write(() => {
      if (this.#last() !== undefined) return;
      for (const { digest, fileSha256 } of files) {
        this.#tables.run('INSERT OR REPLACE INTO snapshot VALUES (?, ?, 1)', digest, fileSha256);
      }
      const keys = Object.entries(recorded).map(([table, key]) => {
        const rows = this.#tables.all<{ key: string | number }>(`SELECT ${key} AS key FROM ${table} ORDER BY 1`);
        return [table as Recorded, rows.map((row) => row.key)] as const;
      });
      const earlier = Object.fromEntries(keys.map(([table, all]) => [table, all.length]));
      this.#append({ kind: 'begin', earlier });
      const carried = carriedByPush(this.#tables);
      for (const [table, all] of keys) {
        for (const key of all) this.note(table, key, table === 'push' ? carried.get(Number(key)) : {});
      }
    });
  }

  /** Records a row as it is now. Part of the transaction that changed it. */
  note(table: Recorded, key: string | number, more: object = {}): void {
    const [row] = this.#tables.all<object>(`SELECT * FROM ${table} WHERE ${recorded[table]} = ?`, key);
    this.#append({ kind: table, row: plainRow(row!), ...more });
  }

  /** `N:SHA256` of the newest record. */
  head(): string {
    const last = this.#last();
    return headOf(last?.n ?? 0, last?.sha256 ?? beforeFirst);
  }

  #last(): { n: number; sha256: string } | undefined {
    return this.#tables.all<{ n: number; sha256: string }>('SELECT n, sha256 FROM chain ORDER BY n DESC LIMIT 1')[0];
  }

  #append(content: object): void {
    const { n, sha256 } = this.#last() ?? { n: 0, sha256: beforeFirst };
    const text = JSON.stringify(content);
    this.#tables.run('INSERT INTO chain VALUES (?, ?, ?)', n + 1, text, recordSha256(sha256, text));
  }
}

export function headOf(n: number, sha256: string): string {
  return `${n}:${sha256}`;
}

export function recordSha256(before: string, content: string | Uint8Array): string {
  return createHash('sha256').update(`${before}\n`).update(content).digest('hex');
}

/** A row as a record has it. */
export function plainRow(row: object): Record<string, unknown> {
  const entries = Object.entries(row).map(([column, value]: [string, unknown]) => [
    column,
    value instanceof Uint8Array
      ? { sha256: createHash('sha256').update(value).digest('hex'), bytes: value.length }
      : value,
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** What a push carried first: sha256 over the length, a colon and the bytes of each driver and its months, in order. */
export class CarriedHash {
  readonly #hash = createHash('sha256');
  #drivers = 0;

  add(driver: string, months: Uint8Array): void {
    this.#drivers++;
    this.#hash.update(`${Buffer.byteLength(driver)}:${driver}${months.length}:`).update(months);
  }

  /** Nothing where it carried nothing. */
  summary(): { readonly carried?: { readonly drivers: number; readonly sha256: string } } {
    return this.#drivers === 0 ? {} : { carried: { drivers: this.#drivers, sha256: this.#hash.digest('hex') } };
  }
}

/** The same of all pushes, from the table. */
export function carriedByPush(tables: Statements): ReadonlyMap<number, ReturnType<CarriedHash['summary']>> {
  const hashes = new Map<number, CarriedHash>();
  const sql = 'SELECT push, driver, months FROM change ORDER BY driver, push';
  for (const row of tables.db.prepare(sql).iterate()) {
    const { push, driver, months } = row as { push: number; driver: string; months: Uint8Array };
    const hash = hashes.get(push) ?? new CarriedHash();
    hashes.set(push, hash);
    hash.add(driver, months);
  }
  return new Map([...hashes].map(([push, hash]) => [push, hash.summary()]));
}
