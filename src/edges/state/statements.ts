/** Statements on one of the agent's own databases, with SQLite's failures in our words. */
import type { Database, Statement } from 'better-sqlite3';
import { readRows } from './kept-json.ts';
import { damagedDatabase, translating } from './sqlite.ts';

/** Texts with a list of any length in them are many. */
const preparedMax = 200;

export class Statements {
  readonly db: Database;
  readonly file: string;
  /** By their text: to prepare one takes longer than to run most of them. */
  readonly #prepared = new Map<string, Statement>();

  constructor(db: Database, file: string) {
    this.db = db;
    this.file = file;
  }

  /** Runs something in one transaction, or as part of the one that is open. */
  write<T>(run: () => T): T {
    return translating(this.file, () => (this.db.inTransaction ? run() : this.db.transaction(run).immediate()));
  }

  all<T = unknown>(sql: string, ...values: unknown[]): T[] {
    return translating(this.file, () => this.#prepare(sql).all(...values) as T[]);
  }

  /** Rows as `read` understands them. @throws AgentError `ledger.corrupt` where one is not as it was written */
  read<Row, T>(read: (row: Row) => T, sql: string, ...values: unknown[]): T[] {
    return readRows(this.all<Row>(sql, ...values), read, (cause) => damagedDatabase(this.file, cause));
  }

  run(sql: string, ...values: unknown[]): { lastInsertRowid: number | bigint } {
    return translating(this.file, () => this.#prepare(sql).run(...values));
  }

  /** Lets go of what a pass needs and waiting does not. */
  shrink(): void {
    this.#prepared.clear();
    this.db.pragma('shrink_memory');
  }

  #prepare(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.db.prepare(sql);
    if (this.#prepared.size === preparedMax) this.#prepared.clear();
    this.#prepared.set(sql, statement);
    return statement;
  }
}
