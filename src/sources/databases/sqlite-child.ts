/**
 * The process in which one SQLite database is read. SQLite works within a call that only the end of its process interrupts.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { type Batch, type ChildReader, Refusal, serve } from './child-server.ts';
import type { Failure } from './child-session.ts';
import { fieldTooLong, longFieldHint } from './long-rows.ts';
import type { QueryColumn } from './connection.ts';

let database: Sqlite.Database | undefined;
let results: IterableIterator<unknown[]> | undefined;
let watchdog: Worker | undefined;
const parent = process.ppid;

const reader: ChildReader<string> = {
  /** Takes the lock: the whole read sees one state of the database. In WAL mode, writers are not locked out. */
  async open(file) {
    const { default: Database } = await import('better-sqlite3');
    const opened = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      opened.exec('BEGIN');
      opened.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
      checkWhole(opened, file);
    } catch (error) {
      opened.close();
      throw error;
    }
    database = opened;
  },
  describe: async (sql) => columnsOf(prepare(sql)),
  async start(sql) {
    const statement = prepare(sql);
    watchParent();
    results = statement.raw().safeIntegers().iterate() as IterableIterator<unknown[]>;
  },
  async read(batch) {
    while (!batch.isFull) {
      const next = results?.next();
      if (next === undefined || next.done === true) return true;
      // The driver makes an array for each row, which nobody else has: a second one would be a tenth of the read.
      const row = next.value;
      let numbers: boolean[] | undefined;
      for (let at = 0; at < row.length; at++) {
        if (typeof row[at] === 'string') continue;
        if (typeof row[at] === 'number') (numbers ??= [])[at] = true;
        row[at] = textOf(row[at], batch, at);
      }
      batch.add(row as string[], numbers);
    }
    return false;
  },
  close() {
    results?.return?.();
    database?.close();
  },
  failureOf,
};

/**
 * A file that was cut, such as a copy under way. SQLite takes what is missing of a page for zeros, and rows of zeros for
 * rows of NULL. With a write-ahead log the file may be behind what SQLite knows. Called with the lock held, so that no
 * writer is half way; and nothing here may open the file, since closing it again would give up that lock
 * (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
 */
function checkWhole(opened: Sqlite.Database, file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) return;
  const [pages, pageSize] = ['page_count', 'page_size'].map((name) => Number(opened.pragma(name, { simple: true })));
  const whole = (pages ?? 0) * (pageSize ?? 0);
  const { size } = statSync(file);
  if (size >= whole) return;
  throw new Refusal({
    code: 'CUT',
    message: `the file is cut short: ${size} of ${whole} bytes are there`,
    hint: cutShort,
  });
}

/** The process ends by itself when its channel closes, but not within a call of SQLite: a thread looks for its parent. */
function watchParent(): void {
  if (watchdog !== undefined) return;
  const look = `process.ppid === ${parent} || process.kill(process.pid, 'SIGKILL')`;
  watchdog = new Worker(`setInterval(() => ${look}, 1000)`, { eval: true });
  watchdog.unref();
}

function prepare(sql: string): Sqlite.Statement {
  if (database === undefined) throw new Error('no database is open');
  const statement = database.prepare(sql);
  if (statement.reader && statement.readonly) return statement;
  throw new Refusal({ code: 'WRITES', message: 'the query does not only read', hint: oneSelect });
}

/** A value has a type in SQLite, not a column. */
function columnsOf(statement: Sqlite.Statement): readonly QueryColumn[] {
  return statement.columns().map(({ name }) => ({ name, type: '' }));
}

/** Where bytes are no valid text the driver puts U+FFFD, which the agent refuses. */
function textOf(value: unknown, batch: Batch, column: number): string {
  if (typeof value === 'bigint') return String(value);
  // The shortest text that is this very number. A REAL is a binary double in the file already, and so may be a JavaScript
  // number on its way: nothing is computed with it.
  if (typeof value === 'number') return String(value);
  if (value === null) return '';
  throw new Refusal({
    code: 'BLOB',
    message: `${batch.where(column)}: a BLOB, not a text`,
    hint: 'use hex(…) in the query, or CAST(… AS TEXT) if it holds text',
  });
}

const oneSelect = 'write one SELECT statement';
const cutShort = 'is a copy still under way? else restore it from a backup';
const needsPlace = 'it must be readable, and one in WAL mode needs its -shm file or permission to create it';
const hints: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'a program keeps it locked for writing; it is tried again at the next look',
  SQLITE_CANTOPEN: needsPlace,
  SQLITE_CORRUPT: cutShort,
  SQLITE_ERROR: 'correct the query',
  SQLITE_READONLY: needsPlace,
  SQLITE_READONLY_ROLLBACK:
    'a transaction of its writer was cut off: open it once with a program that may write, which takes that back',
  SQLITE_NOTADB: 'is this the right file, and is it complete?',
  // A text over its own limit of 512 MB.
  SQLITE_TOOBIG: longFieldHint,
  // The driver refuses no statement, or several, without a code.
  RangeError: oneSelect,
};

/** SQLite's own words. */
function failureOf(error: Error): Failure {
  const code = 'code' in error ? String(error.code) : error.name;
  const message = code === 'SQLITE_TOOBIG' ? `${fieldTooLong}: ${error.message}` : error.message;
  // To SQLite, a file of no bytes is a database without a table.
  const isEmpty = message.startsWith('no such table') && database?.pragma('page_count', { simple: true }) === 0;
  if (isEmpty) return { code, message: `the file is empty: ${message}`, hint: cutShort };
  return { code, message, hint: hints[code] ?? hints[code.split('_', 2).join('_')] };
}

serve(reader);
