/** Statements on one of the agent's own databases, with SQLite's failures in our words. */
import type { Database } from 'better-sqlite3';
import { translating } from './sqlite.ts';

export class Statements {
  readonly db: Database;
  readonly file: string;

  constructor(db: Database, file: string) {
    this.db = db;
    this.file = file;
  }

  /** Runs something in one transaction, or as part of the one that is open. */
  write<T>(run: () => T): T {
    return translating(this.file, () => (this.db.inTransaction ? run() : this.db.transaction(run).immediate()));
  }

  all<T = unknown>(sql: string, ...values: unknown[]): T[] {
    return translating(this.file, () => this.db.prepare(sql).all(...values) as T[]);
  }

  run(sql: string, ...values: unknown[]): { lastInsertRowid: number | bigint } {
    return translating(this.file, () => this.db.prepare(sql).run(...values));
  }
}
