/** `type: sqlite`: one query of a database file. */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import type { Content, Part, Row, RowBatch } from '../core/model.ts';
import type { Clock, Source } from '../core/ports.ts';
import { trimWhiteSpace } from '../core/text.ts';
import { accessError, codeOf, untilAborted } from './files/access.ts';
import type { Glob } from './files/glob.ts';
import { defineKind } from './kind.ts';
import type { SourceContext } from './kind.ts';
import { notAFile, revisedAtMsOf, stampOf } from './files/stable-file.ts';
import { watchGlobs } from './files/watch.ts';

const partName = 'query';
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
  query: z
    .string()
    .min(1)
    .describe(
      'One statement that only reads. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text, INTEGER keeps every digit, a REAL is the shortest text of that binary number, a BLOB is an error.',
    ),
});

interface Query {
  /** Absolute path of the database. */
  readonly file: string;
  readonly sql: string;
  readonly clock: Clock;
}

export const sqlite = defineKind(schema, (settings, context: SourceContext): Source => {
  const query = { file: path.resolve(context.baseDir, settings.file), sql: settings.query, clock: context.clock };
  return {
    parts: async (signal) => [await untilAborted(statPart(query.file), signal)],
    rows: (_part, signal) => readQuery(query, signal),
    watch: (changed) => watchGlobs([fileGlob(query.file), fileGlob(walOf(query.file))], changed),
  };
});

/** The stamp covers the write-ahead log, where a commit may stay for long before the database itself changes. */
async function statPart(file: string): Promise<Part> {
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
    name: partName,
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

async function* readQuery(query: Query, signal: AbortSignal): AsyncGenerator<RowBatch, Content, void> {
  // Before the rows: a commit while they are read makes the stamp too old, which only costs another look.
  const { stamp, revisedAtMs } = await untilAborted(statPart(query.file), signal);
  const hash = createHash('sha256');
  const opened = await openQuery(query, signal);
  try {
    const { columns, results } = opened;
    hash.update(`${JSON.stringify(columns)}\n`);
    let isFirst = true;
    let rowsRead = 0;
    for (;;) {
      const rows = takeBatch(query, opened, rowsRead);
      if (isFirst || rows.length > 0) yield { columns, rows };
      // JSON keeps apart what joining the texts could run together.
      hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      isFirst = false;
      rowsRead += rows.length;
      if (results.done) break;
      await nextTurn();
      signal.throwIfAborted();
    }
    return { hash: hash.digest('hex'), stamp, revisedAtMs };
  } finally {
    opened.close();
  }
}

interface OpenedQuery {
  readonly columns: readonly string[];
  /** All rows come from one statement, and so from one snapshot of the database: it locks out no writer in WAL mode. */
  readonly results: { next(): readonly unknown[] | undefined; readonly done: boolean };
  close(): void;
}

/** Retries while a writer has the database locked: SQLite's own waiting would stop the loop. */
async function openQuery(query: Query, signal: AbortSignal): Promise<OpenedQuery> {
  const { default: Database } = await import('better-sqlite3');
  const endMs = query.clock.monotonicMs() + lockedMaxMs;
  for (;;) {
    signal.throwIfAborted();
    let database: Sqlite.Database | undefined;
    try {
      database = new Database(query.file, { readonly: true, fileMustExist: true, timeout: 0 });
      return startQuery(query, database);
    } catch (error) {
      database?.close();
      const isLocked = codeOf(error)?.startsWith('SQLITE_BUSY') === true;
      if (!isLocked || query.clock.monotonicMs() >= endMs) throw queryError(query, error);
    }
    await query.clock.sleep(lockedRetryMs, signal);
  }
}

function startQuery(query: Query, database: Sqlite.Database): OpenedQuery {
  const statement = database.prepare(query.sql);
  if (!statement.reader || !statement.readonly) {
    throw new AgentError('part.unreadable', `${query.file}: the query does not only read`, {
      hint: 'write one SELECT statement',
    });
  }
  const columns = parseColumns(query, statement.columns());
  const iterator = statement.raw().safeIntegers().iterate() as IterableIterator<unknown[]>;
  // The first step takes the lock, so it belongs to opening.
  let next = iterator.next();
  return {
    columns,
    results: {
      next() {
        if (next.done === true) return undefined;
        const row = next.value;
        next = iterator.next();
        return row;
      },
      get done() {
        return next.done === true;
      },
    },
    close() {
      iterator.return?.();
      database.close();
    },
  };
}

function parseColumns(query: Query, definitions: readonly Sqlite.ColumnDefinition[]): readonly string[] {
  const columns = definitions.map(({ name }) => trimWhiteSpace(name));
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice === undefined) return columns;
  throw new AgentError('part.unreadable', `${query.file}: the query gives two columns called ${twice}`, {
    hint: 'name one of them with AS',
  });
}

function takeBatch(query: Query, { columns, results }: OpenedQuery, rowsRead: number): Row[] {
  const rows: Row[] = [];
  try {
    while (rows.length < batchRows) {
      const values = results.next();
      if (values === undefined) break;
      const texts = values.map(textOf);
      if (isComplete(texts)) rows.push(texts);
      else throw noText(texts.indexOf(undefined), values);
    }
  } catch (error) {
    throw queryError(query, error);
  }
  return rows;

  function noText(at: number, values: readonly unknown[]): AgentError {
    const place = `${query.file}: row ${rowsRead + rows.length + 1}, column ${columns[at]}`;
    if (typeof values[at] !== 'string') {
      return new AgentError('part.unreadable', `${place}: a BLOB is no text`, {
        hint: 'use hex(…) in the query, or CAST(… AS TEXT) if it holds text',
      });
    }
    return new AgentError('part.unreadable', `${place}: a text that is not utf-8 or holds a NUL character`, {
      hint: 'correct it in the database, or leave that row out in the query',
    });
  }
}

function isComplete(texts: readonly (string | undefined)[]): texts is readonly string[] {
  return !texts.includes(undefined);
}

/** A value as text; `undefined` where it has none. The driver puts U+FFFD where a text's bytes are invalid. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /[\0\uFFFD]/.test(value) ? undefined : value;
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
function queryError({ file }: Query, cause: unknown): unknown {
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
