/** The rows of a ledger from SQLite to PostgreSQL and back: the tables are the same, and so are the records of the chain. */
import { rmSync } from 'node:fs';
import { openLedger } from '../state/ledger.ts';
import { openDatabase } from '../state/sqlite.ts';
import type { SharedDatabase, Statements } from './database.ts';

const tables = ['push', 'change', 'held', 'approval', 'deletion', 'request', 'state', 'snapshot', 'chain'] as const;

/** Rows that are in memory at once. */
const batchMax = 1000;

/** A new ledger on SQLite with the rows of one moment. */
export async function copyToSqlite(database: SharedDatabase, file: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  await openLedger(file, 'migrate').close();
  const db = openDatabase(file, { synchronous: 'FULL' });
  try {
    db.exec('BEGIN; DELETE FROM chain; DELETE FROM state');
    await database.snapshot(async (statements) => {
      for (const table of tables) {
        for await (const row of rowsOf(statements, table)) {
          const columns = Object.keys(row);
          const places = columns.map(() => '?').join(', ');
          db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
        }
      }
    });
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

/** In the order of their keys, a thousand at a time. */
async function* rowsOf(statements: Statements, table: string): AsyncGenerator<Record<string, unknown>> {
  await statements.run(`DECLARE rows CURSOR FOR SELECT * FROM ~${table} ORDER BY 1, 2`);
  for (;;) {
    const rows = await statements.all<Record<string, unknown>>(`FETCH ${batchMax} FROM rows`);
    yield* rows;
    if (rows.length < batchMax) break;
  }
  await statements.run('CLOSE rows');
}

/** Puts the rows of a ledger on SQLite in the place of all that is there. Part of one transaction. */
export async function copyFromSqlite(statements: Statements, file: string): Promise<void> {
  const db = openDatabase(file, { readonly: true, synchronous: 'FULL' });
  try {
    for (const table of tables) {
      await statements.run(`DELETE FROM ~${table}`);
      let batch: Record<string, unknown>[] = [];
      for (const row of db.prepare(`SELECT * FROM ${table}`).iterate()) {
        batch.push(row as Record<string, unknown>);
        if (batch.length < batchMax) continue;
        await insert(statements, table, batch);
        batch = [];
      }
      await insert(statements, table, batch);
    }
  } finally {
    db.close();
  }
}

async function insert(statements: Statements, table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const places = rows.map(
    (_, row) => `(${columns.map((__, index) => `$${row * columns.length + index + 1}`).join(', ')})`,
  );
  const sql = `INSERT INTO ~${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`;
  await statements.run(sql, ...rows.flatMap((row) => Object.values(row)));
}

/** Whether the chain of a ledger on SQLite has a record, as `N:SHA256`. */
export function hasRecordIn(file: string, record: string): boolean {
  const [n = '', sha256 = ''] = record.split(':');
  const db = openDatabase(file, { readonly: true, synchronous: 'FULL' });
  try {
    return db.prepare('SELECT 1 FROM chain WHERE n = ? AND sha256 = ?').get(Number(n), sha256) !== undefined;
  } finally {
    db.close();
  }
}
