/** `type: sqlite`: one query of a database file. */
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import type { Row } from '../core/model.ts';
import type { Clock } from '../core/ports.ts';
import { trimWhiteSpace } from '../core/text.ts';
import { type Connection, type Revision, queryKeys, queryProblems, querySource } from './databases/query.ts';
import { sqliteDialect } from './databases/sqlite-dialect.ts';
import { accessError, codeOf, untilAborted } from './files/access.ts';
import type { Glob } from './files/glob.ts';
import { notAFile, revisedAtMsOf, stampOf } from './files/stable-file.ts';
import { watchGlobs } from './files/watch.ts';
import { defineKind } from './kind.ts';

const batchRows = 1000;
/** How long a writer may keep the database locked before the read has failed, in ms. */
const lockedMaxMs = 5_000;
const lockedRetryMs = 100;

const schema = z.strictObject({
  file: z
    .string()
    .min(1)
    .describe(
      'The database, relative to the config file. It is opened read-only; its write-ahead log is read with it.',
    ),
  ...queryKeys,
  query: queryKeys.query.describe(
    'One statement that only reads. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text, INTEGER keeps every digit, a REAL is the shortest text of that binary number, a BLOB is an error.',
  ),
});

/** A database and the time its locks are waited for by. */
interface Place {
  /** Absolute path. */
  readonly file: string;
  readonly clock: Clock;
}

export const sqlite = defineKind(
  schema,
  (settings, context) => {
    const file = path.resolve(context.baseDir, settings.file);
    const engine = {
      dialect: sqliteDialect,
      place: file,
      stamp: (signal: AbortSignal) => untilAborted(statDatabase(file), signal),
      connect: (signal: AbortSignal) => openDatabase({ file, clock: context.clock }, signal),
    };
    return {
      ...querySource(engine, settings, context),
      watch: (changed) => watchGlobs([fileGlob(file), fileGlob(walOf(file))], changed),
    };
  },
  { problems: queryProblems },
);

/** The stamp covers the write-ahead log, where a commit may stay for long before the database itself changes. */
async function statDatabase(file: string): Promise<Revision> {
  const stats = await statFile(file);
  if (stats === undefined) {
    throw new AgentError('source.unreadable', `the database ${file} does not exist`, {
      hint: 'paths are relative to the config file; is the share mounted?',
    });
  }
  if (!stats.isFile()) throw notAFile(file, stats);
  const log = await statFile(walOf(file));
  // A reader may leave an empty log behind: that is as good as none.
  const hasLog = log !== undefined && log.size > 0n;
  return {
    stamp: `${stampOf(stats)}+${hasLog ? stampOf(log) : 'none'}`,
    revisedAtMs: Math.max(revisedAtMsOf(stats), hasLog ? revisedAtMsOf(log) : 0),
  };
}

async function statFile(file: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw accessError('source.unreadable', file, error);
  }
}

/** Retries while a writer has the database locked: SQLite's own waiting would stop the loop. */
async function openDatabase({ file, clock }: Place, signal: AbortSignal): Promise<Connection> {
  // Opening something that is no file might never end.
  await untilAborted(statDatabase(file), signal);
  const { default: Database } = await import('better-sqlite3');
  const endMs = clock.monotonicMs() + lockedMaxMs;
  for (;;) {
    signal.throwIfAborted();
    let database: Sqlite.Database | undefined;
    try {
      database = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
      return new SqliteConnection(file, database, signal);
    } catch (error) {
      database?.close();
      const isLocked = codeOf(error)?.startsWith('SQLITE_BUSY') === true;
      if (!isLocked || clock.monotonicMs() >= endMs) throw queryError(file, error);
    }
    await clock.sleep(lockedRetryMs, signal);
  }
}

class SqliteConnection implements Connection {
  readonly #file: string;
  readonly #database: Sqlite.Database;
  readonly #signal: AbortSignal;
  #running: IterableIterator<unknown[]> | undefined;

  /** Takes the lock: all that is read is one state of the database, and no writer is locked out of it in WAL mode. */
  constructor(file: string, database: Sqlite.Database, signal: AbortSignal) {
    this.#file = file;
    this.#database = database;
    this.#signal = signal;
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  }

  async describe(sql: string): Promise<readonly { readonly name: string; readonly type: string }[]> {
    // A value has a type in SQLite, not a column.
    return this.#prepare(sql)
      .columns()
      .map(({ name }) => ({ name, type: '' }));
  }

  #prepare(sql: string): Sqlite.Statement {
    let statement;
    try {
      statement = this.#database.prepare(sql);
    } catch (error) {
      throw queryError(this.#file, error);
    }
    if (statement.reader && statement.readonly) return statement;
    throw new AgentError('part.unreadable', `${this.#file}: the query does not only read`, {
      hint: 'write one SELECT statement',
    });
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    const statement = this.#prepare(sql);
    const columns = statement.columns().map(({ name }) => trimWhiteSpace(name));
    const results = statement.raw().safeIntegers().iterate() as IterableIterator<unknown[]>;
    this.#running = results;
    for (let rowsRead = 0; ;) {
      const { rows, isLast } = this.#take(results, columns, rowsRead);
      rowsRead += rows.length;
      if (rows.length > 0) yield rows;
      if (isLast) return;
      await nextTurn();
      this.#signal.throwIfAborted();
    }
  }

  #take(
    results: IterableIterator<unknown[]>,
    columns: readonly string[],
    rowsBefore: number,
  ): { readonly rows: readonly Row[]; readonly isLast: boolean } {
    const rows: Row[] = [];
    try {
      while (rows.length < batchRows) {
        const next = results.next();
        if (next.done === true) return { rows, isLast: true };
        const texts = next.value.map(textOf);
        const blob = texts.indexOf(undefined);
        if (blob !== -1) {
          const where = `${this.#file}: row ${rowsBefore + rows.length + 1}, column ${columns[blob]}`;
          throw new AgentError('part.unreadable', `${where}: a BLOB is no text`, {
            hint: 'use hex(…) in the query, or CAST(… AS TEXT) if it holds text',
          });
        }
        rows.push(texts as Row);
      }
    } catch (error) {
      throw queryError(this.#file, error);
    }
    return { rows, isLast: false };
  }

  async close(): Promise<void> {
    this.#running?.return?.();
    this.#database.close();
  }
}

/** A value as text; `undefined` where it has none. Where bytes are no text the driver puts U+FFFD, which query.ts refuses. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return realText(value);
  return value === null ? '' : undefined;
}

/**
 * The shortest text that is this very number, as SQLite's own CAST gives it. The one place where a value is a JavaScript
 * number: a REAL is a binary double in the file already, and nothing is computed with it.
 */
function realText(real: number): string {
  const text = String(real);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

const hints: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'a program keeps it locked for writing; it is tried again at the next look',
  SQLITE_CANTOPEN: 'it must be readable, and one in WAL mode needs its -shm file or permission to create it',
  SQLITE_CORRUPT: 'is a copy still under way? else restore it from a backup',
  SQLITE_ERROR: 'correct the query',
  SQLITE_NOTADB: 'is this the right file, and is it complete?',
};

/** SQLite's own words, with the file; anything else stays what it is. */
function queryError(file: string, cause: unknown): unknown {
  const code = codeOf(cause);
  if (cause instanceof Error && code?.startsWith('SQLITE_') === true) {
    const hint = hints[code.split('_', 2).join('_')];
    return new AgentError('part.unreadable', `${file}: ${cause.message}`, { cause, hint });
  }
  if (!(cause instanceof RangeError)) return cause;
  // This is how the driver refuses no statement, or several.
  return new AgentError('part.unreadable', `the query of ${file}: ${cause.message}`, {
    cause,
    hint: 'write one SELECT statement',
  });
}

function walOf(file: string): string {
  return `${file}-wal`;
}

function fileGlob(file: string): Glob {
  return { text: file, directory: path.dirname(file), segments: [path.basename(file)] };
}
