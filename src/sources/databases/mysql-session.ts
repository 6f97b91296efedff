/** One read-only transaction of a MySQL or MariaDB server. Every value is the text that the server writes. */
import { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type mysql from 'mysql2';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { codeOf } from '../files/access.ts';
import type { Address } from './address.ts';
import { type Encryption, openSafely } from './encryption.ts';
import { missingDriver, serverError } from './failure.ts';
import { farewell } from './farewell.ts';
import type { Connection, QueryColumn } from './connection.ts';
import { type Column, isBinary, isCut, isNumberText, typeOf } from './mysql-columns.ts';
import { type Warned, openingWords, queryWords, warningWords, withoutTls } from './mysql-failures.ts';
import { RowQueue } from './row-queue.ts';

type MySql = typeof mysql;

/**
 * The sql_mode gives quotes their usual meaning and pads no CHAR. A reader that is busy with its rows has an hour, not the
 * usual minute. GROUP_CONCAT is not cut at 1024 bytes, and rows have no limit. As many warnings as there may be are kept, without
 * notes, but for casts to an integer, and without divisions by zero, which are NULL: among those one that counts could be lost. Where the server has no tighter bound: half a minute for a lock, and a day for a statement, so that nothing runs for ever after the agent was
 * killed. MariaDB counts that in seconds and MySQL in milliseconds; each skips the other's line.
 */
const firstStatements = [
  'SET NAMES utf8mb4',
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
    lock_wait_timeout = LEAST(@@lock_wait_timeout, 30), innodb_lock_wait_timeout = LEAST(@@innodb_lock_wait_timeout, 30),
    net_write_timeout = 3600, group_concat_max_len = 16777216, sql_select_limit = 18446744073709551615, sql_notes = 0, max_error_count = 65535
    /*M!100101 , max_statement_time = IF(@@max_statement_time = 0, 86400, @@max_statement_time) */
    /*!50708 , max_execution_time = IF(@@max_execution_time = 0, 86400000, @@max_execution_time) */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
];

/** @throws AgentError `source.unreadable` where the server cannot be reached or lets nobody in */
export async function connectMySql(
  address: Address,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<Connection> {
  const driver = await import('mysql2').catch((error: unknown) => {
    throw missingDriver('mysql2', 'mysql', error);
  });
  const open = async (encryption: Encryption | undefined): Promise<Connection> => {
    signal.throwIfAborted();
    const session = new MySqlSession({ address, encryption, driver: driver.default }, signal);
    try {
      await session.begin();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  };
  try {
    return await openSafely(address, caFile, {
      open,
      isWithoutTls: (error) => codeOf(error) === withoutTls,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentError) throw error;
    throw serverError('source.unreadable', address, openingWords(error, address), error);
  }
}

/** SHOW, not SELECT: an engine without one of these variables would fail. */
const whichServer = "SHOW VARIABLES WHERE variable_name IN ('hostname', 'port', 'server_uuid', 'server_uid')";

interface Opening {
  readonly address: Address;
  readonly encryption: Encryption | undefined;
  readonly driver: MySql;
}

/** A connection of the driver and its socket: the driver's own `destroy` leaves that half open. */
interface Dialled {
  readonly connection: mysql.Connection;
  readonly socket: Socket;
}

function dial({ address, encryption, driver }: Opening): Dialled {
  const { host, port, socketPath, user, password, database } = address;
  // The driver passes no host that is an IP address, and Node would then accept any certificate of localhost.
  const socket = Object.assign(new Socket(), { _host: host });
  const connection = driver.createConnection({
    host,
    port,
    ...(socketPath !== undefined && { socketPath }),
    user,
    password,
    ...(database !== undefined && { database }),
    ...(encryption !== undefined && { ssl: tlsOptions(encryption) }),
    stream: () => (socketPath === undefined ? socket.connect(port, host) : socket.connect(socketPath)),
    charset: 'utf8mb4',
    connectTimeout: address.connectMaxMs,
    multipleStatements: false,
    // No server may ask for a file of this machine.
    flags: ['-LOCAL_FILES'],
    connectAttributes: { program_name: 'driver-sync' },
    // Else the driver might take a question mark in the query for a parameter.
    queryFormat: (sql: string) => sql,
    trace: false,
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  return { connection, socket };
}

function tlsOptions({ ca, isVerified, isNameVerified }: Encryption): mysql.SslOptions {
  return { rejectUnauthorized: isVerified, verifyIdentity: isNameVerified, ...(ca !== undefined && { ca }) };
}

class MySqlSession implements Connection {
  readonly #opening: Opening;
  readonly #signal: AbortSignal;
  readonly #connection: mysql.Connection;
  readonly #socket: Socket;
  readonly #abort = (): void => void this.#stop();
  /** Rejects with the error that broke the connection. */
  readonly #lost = Promise.withResolvers<never>();
  #lostBy: unknown;
  /** Rows of the statement that runs. */
  #queue: RowQueue | undefined;
  /** Whether the server may be at work. */
  #isBusy = false;
  /** The answer to `whichServer`. */
  #server: unknown;
  #stopped: Promise<void> | undefined;
  #isOpen = false;
  /** Whether the server keeps notes among its warnings. */
  #hasNotes = false;

  constructor(opening: Opening, signal: AbortSignal) {
    this.#opening = opening;
    this.#signal = signal;
    const { connection, socket } = dial(opening);
    this.#connection = connection;
    this.#socket = socket;
    // Each wait for an answer hears it; without one, it must not count as unhandled.
    this.#lost.promise.catch(() => undefined);
    connection.on('error', (error: Error) => this.#lose(error));
    // The driver does not tell a paused reader.
    socket.on('close', () => this.#lose(new Error('the connection was cut')));
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  async begin(): Promise<void> {
    await this.#answer((heard) => this.#connection.connect((error) => heard(error)));
    for (const sql of firstStatements) await this.#answer((heard) => void this.#connection.query(sql, heard));
    this.#server = await this.#answer((heard) => void this.#connection.query(whichServer, heard));
    this.#isOpen = true;
  }

  async describe(sql: string): Promise<readonly QueryColumn[]> {
    const { address, driver } = this.#opening;
    this.#signal.throwIfAborted();
    if (!readsOnly.test(sql)) throw this.#refusal('the query is no SELECT');
    let statement;
    // Even this may wait for a lock.
    this.#isBusy = true;
    try {
      statement = await this.#answer<Prepared>((heard) => void this.#connection.prepare(sql, heard as never));
      this.#connection.unprepare(sql);
      this.#isBusy = false;
    } catch (error) {
      throw this.#failure(error);
    }
    if (statement.columns.length === 0) throw this.#refusal('the query gives no rows');
    const columns = statement.columns.map((column) => ({ ...column, type: typeOf(driver, column) }));
    const binary = columns.find(isBinary);
    if (binary !== undefined) {
      throw new AgentError(
        'part.unreadable',
        `${address.label}: the column ${binary.name} is ${binary.type}, not a text`,
        {
          hint: `use HEX(${binary.name}) in the query, or CAST(${binary.name} AS CHAR) if it holds text, or leave it out`,
        },
      );
    }
    return columns.map(({ name, type, decimals }) => ({
      name,
      type,
      isNumber: isNumberText(type),
      ...(isCut({ type, decimals }) && { wholeCast: `CAST(${name} AS DOUBLE)` }),
    }));
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    this.#signal.throwIfAborted();
    if (this.#lostBy !== undefined) throw this.#failure(this.#lostBy);
    await this.#haveNotes(castsToInteger.test(sql));
    const { driver } = this.#opening;
    // The driver's own pausing keeps a copy of each row that has arrived already.
    const { stream } = this.#connection as unknown as { stream: Socket };
    const queue = new RowQueue(this.#opening.address.label, () => stream.resume());
    const pauseIfFull = (): void => void (queue.isFull && stream.pause());
    const heard = (chunk: Buffer): void => {
      queue.receive(chunk.length);
      pauseIfFull();
    };
    this.#queue = queue;
    this.#isBusy = true;
    // It must hear before the driver, which collects a row until it is whole.
    stream.prependListener('data', heard);
    let instants: readonly number[] = [];
    const query = this.#connection.query({ sql, rowsAsArray: true, typeCast: textOf });
    query.on('fields', (fields: readonly Column[]) => {
      queue.expect(fields.length);
      instants = fields.flatMap((field, at) => (typeOf(driver, field) === 'TIMESTAMP' ? [at] : []));
    });
    query.on('result', (row: unknown) => {
      const texts = row as string[];
      for (const at of instants) texts[at] = instantOf(texts[at] as string);
      queue.push(texts);
      pauseIfFull();
    });
    query.on('error', (error: Error) => queue.fail(error));
    query.on('end', () => {
      this.#isBusy = false;
      stream.off('data', heard);
      stream.resume();
      queue.end();
    });
    try {
      for (;;) {
        const rows = await queue.take();
        if (rows === undefined) break;
        yield rows;
      }
      await this.#refuseWarned();
    } catch (error) {
      throw this.#failure(error);
    } finally {
      // Left in the middle: the server may be far ahead, so that this connection cannot be used again.
      if (this.#isBusy) await this.#stop();
    }
  }

  async #haveNotes(wanted: boolean): Promise<void> {
    if (wanted === this.#hasNotes) return;
    try {
      await this.#answer((heard) => void this.#connection.query(`SET sql_notes = ${wanted ? 1 : 0}`, heard));
      this.#hasNotes = wanted;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** The server only warns where it cuts a text or makes another value of one. */
  async #refuseWarned(): Promise<void> {
    // Neither statement empties the list, as most others do.
    const shown = await this.#answer<Warned['shown']>(
      (heard) => void this.#connection.query('SHOW WARNINGS', heard as never),
    );
    const [counted = {}] = await this.#answer<readonly object[]>(
      (heard) => void this.#connection.query('SHOW COUNT(*) WARNINGS', heard as never),
    );
    const words = warningWords({ shown, count: Number(Object.values(counted)[0]) });
    if (words !== undefined) throw serverError('part.unreadable', this.#opening.address, words, undefined);
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    if (this.#isOpen && this.#stopped === undefined && this.#lostBy === undefined) {
      // The server may be gone by now.
      await farewell(this.#answer((heard) => this.#connection.end(heard)).catch(() => undefined));
    }
    await this.#stop();
  }

  /** Ends whatever the server is doing, then the connection. */
  async #stop(): Promise<void> {
    this.#stopped ??= (async () => {
      const reason: unknown = this.#signal.aborted ? this.#signal.reason : new Error('stopped');
      this.#queue?.fail(reason);
      if (this.#isBusy && this.#lostBy === undefined) await this.#kill();
      this.#lose(reason);
      this.#socket.destroy();
    })();
    await this.#stopped;
  }

  /** A query is ended from another connection, which a balancer may lead to another server. It may come too late. */
  async #kill(): Promise<void> {
    const { connection, socket } = dial(this.#opening);
    const killed = Promise.withResolvers<void>();
    // If that fails, closing the first connection must be enough.
    connection.on('error', () => killed.resolve());
    connection.query(whichServer, (_error, server) => {
      if (!isDeepStrictEqual(server, this.#server)) killed.resolve();
      else connection.query(`KILL QUERY ${this.#connection.threadId}`, () => killed.resolve());
    });
    await farewell(killed.promise);
    socket.destroy();
  }

  /** The driver's answer, or the error that broke the connection, which the driver does not pass to every caller. */
  async #answer<T>(ask: (heard: (error: Error | null, answer?: T) => void) => void): Promise<T> {
    const answered = Promise.withResolvers<T>();
    ask((error, answer) => (error ? answered.reject(error) : answered.resolve(answer as T)));
    return await Promise.race([answered.promise, this.#lost.promise]);
  }

  #lose(error: unknown): void {
    this.#lostBy ??= error;
    this.#lost.reject(error);
    this.#queue?.fail(error);
  }

  #refusal(why: string): AgentError {
    const { label } = this.#opening.address;
    return new AgentError('part.unreadable', `${label}: ${why}`, { hint: 'write one SELECT statement' });
  }

  #failure(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    if (error instanceof AgentError) return error;
    const { address } = this.#opening;
    return serverError('part.unreadable', address, queryWords(error, address), error);
  }
}

/** The first word after comments. ANALYZE, CHECK and others give rows too, and write; so may code in a comment. */
const readsOnly = /^(?:\s|--(?=\s).*(?:\n|$)|#.*(?:\n|$)|\/\*(?![!M])[^]*?\*\/)*(?:\(|(?:select|with|values|table)\b)/i;

/** A cast to an integer: MariaDB only notes that its number became another one. */
const castsToInteger = /\b(?:un)?signed\b|\bas\s+int(?:eger)?\b/i;

interface Prepared {
  readonly columns: readonly Column[];
}

/** Every value as the server wrote it: the driver would turn some into numbers and dates. */
function textOf(field: { string(encoding: string): string | null }): string {
  return field.string('utf8') ?? '';
}

/** The session is in UTC. A zero date is not an instant. */
function instantOf(text: string): string {
  return text === '' || text.startsWith('0000') ? text : `${text}+00:00`;
}
