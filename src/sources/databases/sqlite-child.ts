/**
 * The process in which `sqlite-session.ts` reads one database. SQLite works within a call that only the end of its process
 * interrupts, so that it gets a process of its own. One reply to each request; it writes to no stream.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { trimWhiteSpace } from '../../core/text.ts';
import { isFieldTooLong, rowBytesMax } from '../limits.ts';
import { batchCharsMax, batchRows, fieldTooLong } from './long-rows.ts';

/** `rows` runs a statement; its batches are the replies to that and to each `more`. */
export type Request =
  | { readonly open: string }
  | { readonly describe: string }
  | { readonly rows: string }
  | 'more'
  | 'close';

export interface Reply {
  /** As SQLite says them. */
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** Whether these rows are the last. */
  readonly isLast?: boolean;
  readonly failure?: Failure;
}

export interface Failure {
  /** SQLite's own, one of this file's, or that of another error. */
  readonly code: string;
  readonly message: string;
}

let database: Sqlite.Database | undefined;
let running: { readonly columns: readonly string[]; readonly results: IterableIterator<unknown[]> } | undefined;
let rowsRead = 0;
let watchdog: Worker | undefined;
const parent = process.ppid;

async function replyTo(request: Request): Promise<Reply> {
  try {
    if (request === 'more') return take();
    if (request === 'close') {
      running?.results.return?.();
      database?.close();
      return {};
    }
    if ('open' in request) return await open(request.open);
    if ('describe' in request) return { columns: columnsOf(prepare(request.describe)) };
    const statement = prepare(request.rows);
    watchParent();
    const columns = columnsOf(statement);
    running = { columns, results: statement.raw().safeIntegers().iterate() as IterableIterator<unknown[]> };
    rowsRead = 0;
    return take();
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Takes the lock: all that is read is one state of the database, and no writer is locked out of it in WAL mode. */
async function open(file: string): Promise<Reply> {
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
  return {};
}

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
  if (size < whole) throw refusal('FILE_CUT', `the file is cut short: ${size} of ${whole} bytes are there`);
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
  throw refusal('QUERY_WRITES', 'the query does not only read');
}

function columnsOf(statement: Sqlite.Statement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}

function take(): Reply {
  const rows: (readonly string[])[] = [];
  if (running === undefined) return { rows, isLast: true };
  const { columns, results } = running;
  let chars = 0;
  while (rows.length < batchRows && chars < batchCharsMax) {
    const next = results.next();
    if (next.done === true) return { rows, isLast: true };
    const texts = textsOf(next.value, `row ${rowsRead + rows.length + 1}`, columns);
    for (const text of texts) chars += text.length;
    rows.push(texts);
  }
  rowsRead += rows.length;
  return { rows, isLast: false };
}

/** Throws what is no text, and what is too long to be sent: the reader would have to hold it once more. */
function textsOf(values: readonly unknown[], row: string, columns: readonly string[]): readonly string[] {
  let chars = 0;
  return values.map((value, at) => {
    const text = textOf(value);
    const where = (): string => `${row}, column ${trimWhiteSpace(columns[at] ?? '')}`;
    if (text === undefined) throw refusal('QUERY_BLOB', `${where()}: a BLOB is no text`);
    if (isFieldTooLong(text)) throw refusal('FIELD_LONG', `${where()}: ${fieldTooLong}`);
    chars += text.length;
    if (chars > rowBytesMax) throw refusal('ROW_LONG', `${row}: a row over 64 MB`);
    return text;
  });
}

/** A value as text; `undefined` where it has none. Where bytes are no text the driver puts U+FFFD, which query.ts refuses. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return realText(value);
  return value === null ? '' : undefined;
}

/**
 * The shortest text that is this very number, as SQLite's own CAST gives it. A REAL is a binary double in the file already,
 * and so may be a JavaScript number on its way: nothing is computed with it.
 */
function realText(real: number): string {
  const text = String(real);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  // A RangeError without a code is how the driver refuses no statement, or several.
  const code = 'code' in error ? String(error.code) : error.name;
  return { code, message: error.message };
}

// Whoever asks is told to stop by the same signal, and says when to stop here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

process.on('message', (request: Request) => {
  // An error says that nobody listens any more, which ends the process too.
  void replyTo(request).then((reply) => process.send?.(reply, undefined, {}, () => undefined));
});
