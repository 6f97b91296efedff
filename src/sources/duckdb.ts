/** `type: duckdb`: one query of a DuckDB database, or of the files that a query names itself. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type {
  DuckDBBlobValue,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBPreparedStatement,
  StatementType,
} from '@duckdb/node-api';
import { z } from 'zod';
import { AgentError } from '../core/errors.ts';
import type { Row } from '../core/model.ts';
import { duckdbDialect, duckdbText } from './databases/duckdb-dialect.ts';
import { missingDriver } from './databases/failure.ts';
import { type Connection, type QueryColumn, queryKeys, queryProblems, querySource } from './databases/query.ts';
import { withoutEnd } from './databases/query-words.ts';
import { accessError, codeOf, untilAborted } from './files/access.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({
  file: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A database of DuckDB, relative to the config file and opened read-only. Default: none, for queries of files: FROM read_parquet("books/*.parquet").',
    ),
  ...queryKeys,
  query: queryKeys.query.describe(
    'One statement that only reads: of the tables of `file`, or of files such as read_csv("exports/*.csv", all_varchar = true) and read_parquet("books/*.parquet"), relative to the config file. Its rows count in the order it gives them: say ORDER BY where several have one driver and time. NULL is the empty text; numbers keep every digit; lists and structs are JSON.',
  ),
  memoryMax: z
    .string()
    .regex(/^[1-9]\d*(?:\.\d+)? ?[KMGT]i?B$/, 'must be a size such as 512MB or 2GB')
    .default('256MB')
    .describe('What the query may take of memory; more than that is put on disk for as long as it runs.'),
});

export const duckdb = defineKind(
  schema,
  (settings, context) => {
    const file = settings.file === undefined ? undefined : path.resolve(context.baseDir, settings.file);
    const place = { file, baseDir: context.baseDir, memoryMax: settings.memoryMax };
    const engine = {
      dialect: duckdbDialect,
      place: nameOf(place),
      connect: (signal: AbortSignal) => openDuckDb(place, signal),
    };
    return querySource(engine, settings, context);
  },
  { problems: queryProblems },
);

interface Place {
  /** Absolute path; `undefined`: a database in memory. */
  readonly file: string | undefined;
  /** What paths in the query are relative to. */
  readonly baseDir: string;
  /** As DuckDB writes sizes. */
  readonly memoryMax: string;
}

function nameOf({ file }: Place): string {
  return file ?? 'duckdb';
}

async function openDuckDb(place: Place, signal: AbortSignal): Promise<Connection> {
  await untilAborted(checkFile(place), signal);
  const driver = await import('@duckdb/node-api').catch((error: unknown) => {
    throw missingDriver('@duckdb/node-api', 'duckdb', error);
  });
  let instance: DuckDBInstance | undefined;
  try {
    instance = await driver.DuckDBInstance.create(place.file ?? ':memory:', optionsOf(place));
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run('BEGIN TRANSACTION');
    return new DuckDbSession(place, { instance, connection, select: driver.StatementType.SELECT }, signal);
  } catch (error) {
    instance?.closeSync();
    throw failureOf('source.unreadable', place, error);
  }
}

async function checkFile({ file }: Place): Promise<void> {
  if (file === undefined) return;
  let stats;
  try {
    stats = await stat(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw accessError('source.unreadable', file, error);
    throw new AgentError('source.unreadable', `the database ${file} does not exist`, {
      cause: error,
      hint: 'paths are relative to the config file; is the share mounted?',
    });
  }
  if (!stats.isFile())
    throw new AgentError('source.unreadable', `${file} is no file`, { hint: 'name a database of DuckDB' });
}

/** The query may read any file that the agent may; it may write none, and fetches no extension. */
function optionsOf({ file, baseDir, memoryMax }: Place): Record<string, string> {
  return {
    ...(file !== undefined && { access_mode: 'READ_ONLY' }),
    threads: '2',
    memory_limit: memoryMax.replace(' ', ''),
    file_search_path: baseDir,
    // Not beside the database or in the working directory, which is where it would be by default.
    temp_directory: path.join(tmpdir(), `driver-sync-${randomUUID()}`),
    autoinstall_known_extensions: 'false',
    allow_community_extensions: 'false',
  };
}

interface Opened {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  /** What the driver calls a statement that only reads. */
  readonly select: StatementType;
}

class DuckDbSession implements Connection {
  readonly #place: Place;
  readonly #opened: Opened;
  readonly #signal: AbortSignal;
  readonly #abort = (): void => this.#opened.connection.interrupt();

  constructor(place: Place, opened: Opened, signal: AbortSignal) {
    this.#place = place;
    this.#opened = opened;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  async describe(sql: string): Promise<readonly QueryColumn[]> {
    const statement = await this.#prepare(sql);
    try {
      return this.#columns(statement);
    } finally {
      statement.destroySync();
    }
  }

  #columns(statement: DuckDBPreparedStatement): readonly QueryColumn[] {
    const columns = Array.from({ length: statement.columnCount }, (_, at) => ({
      name: statement.columnName(at),
      type: String(statement.columnType(at)),
    }));
    const blob = columns.find(({ type }) => type === 'BLOB');
    if (blob === undefined) return columns;
    throw new AgentError('part.unreadable', `${nameOf(this.#place)}: the column ${blob.name} is a BLOB and no text`, {
      hint: `use hex(${blob.name}) in the query, or decode(${blob.name}) if it holds text, or leave it out`,
    });
  }

  async #prepare(sql: string): Promise<DuckDBPreparedStatement> {
    const { connection, select } = this.#opened;
    try {
      const statements = await connection.extractStatements(sql);
      // Preparing the second of several would run the first.
      if (statements.count === 1) {
        const statement = await statements.prepare(0);
        if (statement.statementType === select) return statement;
        statement.destroySync();
      }
    } catch (error) {
      throw failureOf('part.unreadable', this.#place, error);
    }
    throw new AgentError('part.unreadable', `${nameOf(this.#place)}: the query does not only read`, {
      hint: 'write one SELECT statement',
    });
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    const statement = await this.#prepareTexts(sql, (texts) => texts.map((text) => `encode(${text})`).join(', '));
    let rowsRead = 0;
    try {
      this.#signal.throwIfAborted();
      const results = await statement.stream();
      for (;;) {
        const chunk = await results.fetchChunk();
        this.#signal.throwIfAborted();
        if (chunk === null || chunk.rowCount === 0) break;
        rowsRead += chunk.rowCount;
        yield rowsOf(chunk);
      }
      // A failure ends the chunks as the last row does; all the driver shows of it is that this is no stream any more.
      if (!results.isStreaming) throw new Error(await this.#whyFailed(sql, rowsRead));
    } catch (error) {
      throw failureOf('part.unreadable', this.#place, error);
    } finally {
      statement.destroySync();
    }
  }

  /**
   * The words of a failure between two rows, which the driver keeps for itself, unlike those of a statement that gives no
   * row: the same values, added up to one. It takes as long as the failed read and no memory.
   */
  async #whyFailed(sql: string, rowsRead: number): Promise<string> {
    const { connection } = this.#opened;
    await connection.run('ROLLBACK');
    const statement = await this.#prepareTexts(sql, (texts) => `bit_xor(hash(${texts.join(', ')}))`);
    try {
      this.#signal.throwIfAborted();
      await statement.run();
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof Error) return error.message;
      throw error;
    } finally {
      statement.destroySync();
    }
    return `the query failed after ${rowsRead} rows, and not when it was asked why`;
  }

  /** Selects something from the columns of a statement, each as a text. */
  async #prepareTexts(sql: string, select: (texts: readonly string[]) => string): Promise<DuckDBPreparedStatement> {
    const statement = await this.#prepare(sql);
    const types = this.#columns(statement).map(({ type }) => type);
    statement.destroySync();
    const names = types.map((_type, at) => `c${at}`);
    const texts = types.map((type, at) => duckdbText(`c${at}`, type));
    return await this.#prepare(
      `WITH q (${names.join(', ')}) AS (\n${withoutEnd(sql, 'standard')}\n) SELECT ${select(texts)} FROM q`,
    );
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#opened.connection.closeSync();
    this.#opened.instance.closeSync();
  }
}

/** A text leaves as its bytes: the driver drops a U+FEFF that a text begins with. */
function rowsOf(chunk: DuckDBDataChunk): readonly Row[] {
  return chunk.getRows().map((row) => row.map((value) => (value as DuckDBBlobValue | null)?.bytes.toString() ?? ''));
}

/** DuckDB's own words on one line, without the picture of the place in the query. */
function failureOf(code: 'source.unreadable' | 'part.unreadable', place: Place, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof AgentError || cause.name === 'AbortError') return cause;
  const [words = ''] = cause.message.replace(/^Failed to [a-z ]+: /, '').split(/\n+LINE \d/);
  return new AgentError(code, `${nameOf(place)}: ${words.trim().replaceAll(/\s*\n\s*/g, ', ')}`, {
    cause,
    hint: hints.find(([pattern]) => pattern.test(words))?.[1],
  });
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /Could not set lock|Conflicting lock/i,
    'another program has it open for writing; it is tried again at the next look',
  ],
  [/Out of Memory/i, 'raise memoryMax, or say pushdown: true'],
  [/not a valid DuckDB database/i, 'is this the right file, and is it complete?'],
  [/No files found/i, 'paths are relative to the config file; is the share mounted?'],
  [/extension/i, 'no extension is fetched: install it for the user that runs the agent, or read the data another way'],
  [/^(?:Parser|Binder|Catalog) Error/, 'correct the query'],
];
