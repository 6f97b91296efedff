/**
 * The process in which one DuckDB database is read. `memory_limit` does not count the texts of the rows that are under way,
 * which are two thousand at a time: what takes more than it may ends with its process, and the agent lives on.
 */
import path from 'node:path';
import type {
  DuckDBBlobValue,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBPreparedStatement,
  DuckDBResult,
  DuckDBType,
  StatementType,
} from '@duckdb/node-api';
import { fieldBytesMax } from '../limits.ts';
import { type Batch, type ChildReader, Refusal, serve } from './child-server.ts';
import type { Failure } from './child-session.ts';
import { duckdbText, mayBeLong } from './duckdb-dialect.ts';
import type { QueryColumn } from './connection.ts';
import { OpenedFiles } from './duckdb-files.ts';
import { firstWord, withoutEnd } from './query-words.ts';

export interface DuckDbPlace {
  /** `:memory:`, or the absolute path of a database. */
  readonly file: string;
  /** What relative paths in a query are relative to. */
  readonly folder: string;
  readonly options: Readonly<Record<string, string>>;
  /** Absolute paths of files and directories that no query may read. */
  readonly forbidden: readonly string[];
  /** Most memory that the process may take, in bytes. */
  readonly rssMax: number;
}

/** How often its memory is looked at, in ms. DuckDB fills about 50 MB in that time. */
const lookMs = 20;

let opened:
  | {
      readonly instance: DuckDBInstance;
      readonly connection: DuckDBConnection;
      readonly log: DuckDBConnection;
      readonly files: OpenedFiles;
      /** Absolute paths that are no files of the query: the database, and the folder that DuckDB works in. */
      readonly own: readonly string[];
      readonly select: StatementType;
    }
  | undefined;
let running:
  | { readonly sql: string; readonly statement: DuckDBPreparedStatement; readonly results: DuckDBResult }
  | undefined;
let chunk: DuckDBDataChunk | undefined;
/** How many rows were given: from this chunk, and from those before it. */
let rowOfChunk = 0;
let rowsBefore = 0;

const reader: ChildReader<DuckDbPlace> = {
  async open({ file, folder, options, forbidden, rssMax }) {
    const driver = await import('@duckdb/node-api');
    watchMemory(rssMax);
    // DuckDB's own setting, `file_search_path`, is a list: it takes a comma in the name of a folder for its end.
    process.chdir(folder);
    const instance = await driver.DuckDBInstance.create(file, { ...options });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run('BEGIN TRANSACTION');
    const log = await instance.connect();
    const files = await OpenedFiles.watch(log, forbidden);
    const own = [file, `${file}.wal`, options['temp_directory'] ?? ''].filter((one) => path.isAbsolute(one));
    opened = { instance, connection, log, files, own, select: driver.StatementType.SELECT };
  },
  describe: (sql) =>
    database().files.guard(async () => {
      const statement = await prepare(sql);
      try {
        return columnsOf(statement);
      } finally {
        statement.destroySync();
      }
    }),
  start: (sql) =>
    database().files.guard(async () => {
      running?.statement.destroySync();
      const statement = await prepareTexts(sql, (texts) => texts.map((text) => `encode(${text})`).join(', '));
      running = { sql, statement, results: await statement.stream() };
      chunk = undefined;
      rowsBefore = 0;
    }),
  async read(batch) {
    const { files } = database();
    let isLast: boolean;
    try {
      isLast = await fill(batch);
    } catch (error) {
      await files.look();
      throw error;
    }
    if (isLast || rowsBefore === 0) await files.look();
    else await files.lookNowAndThen();
    return isLast;
  },
  files() {
    return namesOf(database());
  },
  close() {
    opened?.log.closeSync();
    opened?.connection.closeSync();
    opened?.instance.closeSync();
  },
  failureOf,
};

function database(): NonNullable<typeof opened> {
  if (opened === undefined) throw new Error('no database is open');
  return opened;
}

/** The files that were read for the query, each as messages name it: relative to the config file where it lies below that. */
function namesOf({ files, own }: NonNullable<typeof opened>): readonly string[] {
  const folder = process.cwd();
  return files.all
    .filter((file) => !file.endsWith('.duckdb_extension'))
    .filter((file) => !own.some((one) => file === one || file.startsWith(one + path.sep)))
    .map((file) => (file.startsWith(folder + path.sep) ? path.relative(folder, file) : file))
    .toSorted();
}

async function fill(batch: Batch): Promise<boolean> {
  while (!batch.isFull) {
    chunk ??= await nextChunk();
    if (chunk === undefined) return true;
    batch.add(rowOf(chunk, rowOfChunk));
    rowOfChunk++;
    if (rowOfChunk < chunk.rowCount) continue;
    rowsBefore += chunk.rowCount;
    chunk = undefined;
  }
  return false;
}

/** DuckDB works in threads of its own, so that this one can look. */
function watchMemory(rssMax: number): void {
  const look = (): void => {
    if (process.memoryUsage.rss() <= rssMax) return;
    clearInterval(timer);
    const failure: Failure = {
      code: 'MEMORY',
      message: `the query takes over ${Math.round(rssMax / 1e6)} MB of memory`,
      hint: 'select fewer columns and shorter texts, raise memoryMax, or say pushdown: true',
    };
    process.send?.({ failure }, undefined, {}, () => process.kill(process.pid, 'SIGKILL'));
  };
  const timer = setInterval(look, lookMs);
  timer.unref();
}

async function prepare(sql: string): Promise<DuckDBPreparedStatement> {
  const { connection, select } = database();
  const word = firstWord(sql, 'standard');
  // Without a statement the driver only says that something failed.
  if (word === '' || word === ';')
    throw new Refusal({ code: 'EMPTY', message: 'the query holds no statement', hint: oneSelect });
  if (tellingWords.has(word)) {
    throw new Refusal({
      code: 'TELLS',
      message: `${word.toUpperCase()} is no SELECT statement`,
      hint: word === 'explain' || word === 'pragma' ? oneSelect : `write SELECT … FROM (${word.toUpperCase()} …)`,
    });
  }
  const statements = await connection.extractStatements(sql);
  // Preparing the second of several would run the first, and preparing an EXPORT makes its folder.
  if (statements.count === 1 && readingWords.has(word)) {
    const statement = await statements.prepare(0);
    if (statement.statementType === select) return statement;
    statement.destroySync();
  }
  throw new Refusal({ code: 'WRITES', message: 'the query does not only read', hint: oneSelect });
}

const oneSelect = 'write one SELECT statement';

/** First words of statements that tell of a database, and cannot be asked for their columns as texts. */
const tellingWords: ReadonlySet<string> = new Set(['describe', 'explain', 'pragma', 'show', 'summarize']);

/** First words of statements that only read. */
const readingWords: ReadonlySet<string> = new Set([
  '(',
  'from',
  'pivot',
  'select',
  'table',
  'unpivot',
  'values',
  'with',
]);

function columnsOf(statement: DuckDBPreparedStatement): readonly QueryColumn[] {
  const columns = Array.from({ length: statement.columnCount }, (_, at) => ({
    name: statement.columnName(at),
    ...typed(statement.columnType(at)),
  }));
  const blob = columns.find(({ type }) => type === 'BLOB');
  if (blob === undefined) return columns;
  throw new Refusal({
    code: 'BLOB',
    message: `the column ${blob.name} is a BLOB, not a text`,
    hint: `use hex(${blob.name}) in the query, or decode(${blob.name}) if it holds text, or leave it out`,
  });
}

function typed(type: DuckDBType): Omit<QueryColumn, 'name'> {
  const name = String(type);
  // JSON is a text with a name of its own, and has its texts in quotes.
  const isNumber = /^(?:DECIMAL\(.*\)|FLOAT|DOUBLE)$/.test(name) || type.alias === 'JSON';
  return { type: name, isNumber, ...(name === 'VARIANT' && { isMixed: true }) };
}

/** Selects something from the columns of a statement, each as a text. */
async function prepareTexts(
  sql: string,
  select: (texts: readonly string[]) => string,
): Promise<DuckDBPreparedStatement> {
  const statement = await prepare(sql);
  const types = columnsOf(statement).map(({ type }) => type);
  statement.destroySync();
  const names = types.map((_type, at) => `c${at}`);
  const texts = types.map((type, at) => shortText(duckdbText(`c${at}`, type), type));
  return await prepare(
    `WITH q (${names.join(', ')}) AS (\n${withoutEnd(sql, 'standard')}\n) SELECT ${select(texts)} FROM q`,
  );
}

/** No more of a text that is too long than shows that it is. */
function shortText(text: string, type: string): string {
  if (!mayBeLong(type)) return text;
  return `CASE WHEN strlen(${text}) > ${fieldBytesMax} THEN left(${text}, ${fieldBytesMax + 1}) ELSE ${text} END`;
}

async function nextChunk(): Promise<DuckDBDataChunk | undefined> {
  if (running === undefined) return undefined;
  const { results, sql } = running;
  const next = await results.fetchChunk();
  rowOfChunk = 0;
  if (next !== null && next.rowCount > 0) return next;
  // A failure ends the chunks as the last row does; all the driver shows of it is that this is no stream any more.
  if (!results.isStreaming) throw await whyFailed(sql);
  return undefined;
}

/** One by one, since a chunk of long texts is two thousand of them. A text leaves as bytes: the driver drops a U+FEFF that it begins with. */
function rowOf(from: DuckDBDataChunk, at: number): readonly string[] {
  return Array.from({ length: from.columnCount }, (_, column) => {
    const value = from.getColumnVector(column).getItem(at) as DuckDBBlobValue | null;
    return value === null ? '' : value.bytes.toString();
  });
}

/**
 * The failure between two rows, which the driver keeps for itself, unlike that of a statement that gives no row: the same
 * values, added up to one. It takes as long as the failed read and no memory.
 */
async function whyFailed(sql: string): Promise<Error> {
  await database().connection.run('ROLLBACK');
  const statement = await prepareTexts(sql, (texts) => `bit_xor(hash(${texts.join(', ')}))`);
  try {
    await statement.run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  } finally {
    statement.destroySync();
  }
  return new Error(`the query failed after ${rowsBefore} rows, and not when it was asked why`);
}

/** DuckDB's own words on one line, without the picture of the place in the query. */
function failureOf(error: Error): Failure {
  const [words = ''] = error.message.replace(/^Failed to [a-z ]+: /, '').split(/\n+LINE \d/);
  const code = 'code' in error ? String(error.code) : error.name;
  const hint = hints.find(([pattern]) => pattern.test(words))?.[1];
  return { code, message: words.trim().replaceAll(/\s*\n\s*/g, ', '), hint };
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

// Its threads would go on after the channel closed.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
serve(reader);
