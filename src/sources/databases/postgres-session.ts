/** One read-only transaction of a PostgreSQL server. Every value is the text that the server writes. */
import { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Client, ClientConfig, DatabaseError } from 'pg';
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import { untilAborted } from '../files/access.ts';
import type { Address } from './address.ts';
import { type Encryption, openSafely } from './encryption.ts';
import { type Words, missingDriver, networkWords, serverError } from './failure.ts';
import { farewell } from './farewell.ts';
import { Description, Portal } from './postgres-statement.ts';
import type { Connection, QueryColumn } from './connection.ts';

/**
 * Values as texts that do not depend on the server, the database or the role; `lc_monetary` stays, since it decides
 * how `money` is written. The bounds hold where the server has none of its own: half a minute for a lock, a day for a statement,
 * so that nothing runs for ever after an agent was killed. Local to the transaction, so that a pooler takes them back.
 */
const firstStatements = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT set_config(s.name, w.value, true)
FROM pg_catalog.pg_settings s JOIN (VALUES
  ('client_encoding', 'UTF8', false), ('datestyle', 'ISO, YMD', false), ('intervalstyle', 'iso_8601', false),
  ('timezone', 'UTC', false), ('extra_float_digits', '1', false), ('bytea_output', 'hex', false),
  ('standard_conforming_strings', 'on', false), ('jit', 'off', false), ('lock_timeout', '30000', true), ('statement_timeout', '86400000', true)
) AS w (name, value, is_bound) ON lower(s.name) = w.name
WHERE NOT w.is_bound OR s.setting = '0'`;

/** @throws AgentError `source.unreadable` where the server cannot be reached or lets nobody in */
export async function connectPostgres(
  address: Address,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<Connection> {
  const pg = await import('pg').catch((error: unknown) => {
    throw missingDriver('pg', 'postgres', error);
  });
  const types = typeNames(pg.default);
  const open = async (encryption: Encryption | undefined): Promise<Connection> => {
    signal.throwIfAborted();
    const socket = new Socket();
    const client = new pg.default.Client(clientConfig(address, encryption, socket));
    const session = new PostgresSession({ address, encryption, client, socket, types }, signal);
    try {
      // When it is told to end, the driver never answers those who wait for the connection.
      await untilAborted(session.begin(), signal);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  };
  try {
    return await openSafely(address, caFile, { open, isWithoutTls, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentError) throw error;
    throw serverError('source.unreadable', address, openingWords(error, address), error);
  }
}

export function clientConfig(address: Address, encryption: Encryption | undefined, socket: Socket): ClientConfig {
  return {
    host: address.socketPath ?? address.host,
    port: address.port,
    user: address.user,
    // A function: the driver looks for an empty text in the environment and in ~/.pgpass.
    password: () => address.password,
    database: address.database ?? address.user,
    ssl: encryption === undefined ? false : tlsOptions(encryption),
    sslnegotiation: 'postgres',
    stream: () => socket,
    connectionTimeoutMillis: address.connectMaxMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'driver-sync',
  };
}

function tlsOptions({ ca, isVerified, isNameVerified }: Encryption): Exclude<ClientConfig['ssl'], boolean | undefined> {
  return {
    rejectUnauthorized: isVerified,
    ...(ca !== undefined && { ca }),
    ...(!isNameVerified && { checkServerIdentity: () => undefined }),
  };
}

/** `(14,2)`, or '' where the type has no digits. The modifier is 4 plus the scale, with all digits in its upper half. */
function numericDigits(modifier: number): string {
  if (modifier < 4) return '';
  const scale = (modifier - 4) & 0x7ff;
  // A scale above 1000 stands for one below zero.
  return scale > 1000 ? '' : `(${(modifier - 4) >> 16},${scale})`;
}

/** Those whose texts may have a point. JSON has its own texts in quotes; `money` is a text, written by the customs of the server. */
const numberTypes: ReadonlySet<string> = new Set(['numeric', 'float4', 'float8', 'json', 'jsonb']);

/** The word of each built-in type, such as `numeric` or `timestamptz`, by its number. */
function typeNames({ types }: { readonly types: { readonly builtins: object } }): ReadonlyMap<number, string> {
  const builtins = Object.entries(types.builtins) as [string, number][];
  return new Map(builtins.map(([name, oid]) => [oid, name.toLowerCase()]));
}

interface Opened {
  readonly address: Address;
  readonly encryption: Encryption | undefined;
  readonly client: Client;
  readonly socket: Socket;
  readonly types: ReadonlyMap<number, string>;
}

class PostgresSession implements Connection {
  readonly #opened: Opened;
  readonly #signal: AbortSignal;
  readonly #abort = (): void => void this.#stop();
  #statement: Description | Portal | undefined;
  /** The error that broke the connection. Errors of later statements only follow from it. */
  #lost: Error | undefined;
  #stopped: Promise<void> | undefined;
  #isOpen = false;

  constructor(opened: Opened, signal: AbortSignal) {
    this.#opened = opened;
    this.#signal = signal;
    opened.client.on('error', (error) => (this.#lost ??= error));
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  async begin(): Promise<void> {
    await this.#opened.client.connect();
    await this.#opened.client.query(firstStatements);
    this.#isOpen = true;
  }

  async describe(sql: string): Promise<readonly QueryColumn[]> {
    const { client, types, address } = this.#opened;
    this.#signal.throwIfAborted();
    let fields;
    try {
      // Even this may wait for a lock.
      const description = new Description(sql);
      this.#statement = description;
      client.query(description);
      fields = await description.fields;
    } catch (error) {
      throw this.#failure(error, sql);
    }
    if (fields.length === 0) {
      throw new AgentError('part.unreadable', `${address.label}: the query gives no rows`, {
        hint: 'write one SELECT statement',
      });
    }
    return fields.map(({ name, dataTypeID, dataTypeModifier }) => {
      const word = types.get(dataTypeID) ?? String(dataTypeID);
      const type = word === 'numeric' ? `numeric${numericDigits(dataTypeModifier)}` : word;
      return { name, type, isNumber: numberTypes.has(word) };
    });
  }

  async *rows(sql: string): AsyncGenerator<readonly Row[], void, void> {
    this.#signal.throwIfAborted();
    const portal = new Portal(sql, this.#opened.address.label);
    this.#statement = portal;
    this.#opened.client.query(portal);
    try {
      for (;;) {
        const rows = await portal.queue.take();
        if (rows === undefined) return;
        yield rows;
      }
    } catch (error) {
      throw this.#failure(error);
    } finally {
      // Left in the middle: the server may be far ahead, so that this connection cannot be used again.
      if (!portal.isDone) await this.#stop();
    }
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    if (this.#isOpen && this.#stopped === undefined && this.#lost === undefined) await this.#quit();
    else await this.#stop();
  }

  /** Takes back what functions such as `lo_import` write in spite of a read-only transaction. */
  async #quit(): Promise<void> {
    const { client, socket } = this.#opened;
    // After the last answer: ending earlier would cut the connection.
    await farewell(
      client
        .query('ROLLBACK')
        .then(() => client.end())
        .catch(() => undefined),
    );
    socket.destroy();
  }

  /** Ends whatever the server is doing, then the connection. */
  async #stop(): Promise<void> {
    this.#stopped ??= (async () => {
      const { client, socket } = this.#opened;
      const isRunning = this.#statement?.isDone === false;
      const reason: unknown = this.#signal.aborted ? this.#signal.reason : new Error('stopped');
      this.#statement?.drop(reason);
      if (isRunning && this.#lost === undefined) await this.#cancel();
      socket.destroy();
      await farewell(client.end());
    })();
    await this.#stopped;
  }

  /** A cancel request goes over a connection of its own, which the server closes once it took it. It may come too late. */
  async #cancel(): Promise<void> {
    const { address, encryption, client } = this.#opened;
    // The types do not declare them; drivers that cancel rely on them.
    const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
    if (processID === null || secretKey === null) return;
    const plain = new Socket();
    const closed = Promise.withResolvers<void>();
    plain.once('close', () => closed.resolve());
    // If the request fails, closing the first connection must be enough.
    plain.on('error', () => plain.destroy());
    if (address.socketPath === undefined) plain.connect(address.port, address.host);
    else plain.connect(`${address.socketPath}/.s.PGSQL.${address.port}`);
    const send = (stream: Socket): void => void stream.end(cancelRequest(processID, secretKey));
    if (encryption === undefined) plain.once('connect', () => send(plain));
    else {
      plain.once('connect', () => plain.write(sslRequest));
      plain.once('data', () => {
        const options = { ...tlsOptions(encryption), socket: plain, host: address.host };
        const secure = connectTls(options, () => send(secure));
        secure.on('error', () => plain.destroy());
      });
    }
    await farewell(closed.promise);
    plain.destroy();
  }

  #failure(error: unknown, sql?: string): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    if (error instanceof AgentError) return error;
    const cause = isFromServer(error) ? error : (this.#lost ?? error);
    const { address } = this.#opened;
    return serverError('part.unreadable', address, queryWords(cause, address, sql), cause);
  }
}

/** Length 8, then the number that asks for TLS. */
const sslRequest = Buffer.from('0000000804d2162f', 'hex');

/** Length 16, the number that asks to cancel, then the process and its key. */
function cancelRequest(processId: number, secretKey: number): Buffer {
  const request = Buffer.from('0000001004d2162e0000000000000000', 'hex');
  request.writeInt32BE(processId, 8);
  request.writeInt32BE(secretKey, 12);
  return request;
}

export function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections';
}

/** Whether an error comes from the server, with its SQLSTATE. The driver's own class is not at hand without loading it. */
function isFromServer(error: unknown): error is DatabaseError {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string';
}

export function openingWords(error: unknown, address: Address): Words {
  if (isFromServer(error)) {
    const isPlainRefused = error.code === '28000' && error.message.includes('no encryption');
    const hint = isPlainRefused ? 'the server wants TLS: sslmode=require in the url' : openingHints[error.code ?? ''];
    return { why: error.message, hint };
  }
  if (isWithoutTls(error)) {
    return { why: 'the server has no TLS', hint: 'turn TLS on there, or say sslmode=disable in the url' };
  }
  const message = error instanceof Error ? error.message : '';
  if (/password must be a/.test(message)) return { why: 'the server wants a password', hint: 'the url has none' };
  if (message.startsWith('SASL: ')) return { why: message, hint: 'is the password in the url right?' };
  if (message.startsWith('Connection terminated'))
    return { why: 'the server closed the connection', hint: 'does PostgreSQL listen there?' };
  return networkWords(error, address);
}

const openingHints: Readonly<Record<string, string>> = {
  '28P01': 'is the password in the url right?',
  '28000': 'does pg_hba.conf of the server let this user in from here?',
  '3D000': 'is the name of the database in the url right?',
  '42501': 'grant it: GRANT CONNECT ON DATABASE … TO …',
  '53300': 'raise max_connections there, or close some',
  '57P03': 'it is tried again at the next look',
};

function queryWords(error: unknown, address: Address, sql: string | undefined): Words {
  if (!isFromServer(error)) {
    const isCut = error instanceof Error && error.message.startsWith('Connection terminated');
    return isCut
      ? { why: 'the connection was cut while the query ran', hint: 'it is read again at the next look' }
      : networkWords(error, address);
  }
  const place = sql === undefined ? '' : placeIn(sql, error.position);
  const isLock = error.code === '55P03';
  return {
    why: `${isLock ? 'a table of the query is locked: ' : ''}${error.message}${place}`,
    hint: queryHints[error.code ?? ''] ?? queryHints[error.code?.slice(0, 2) ?? ''],
  };
}

/** By SQLSTATE, or its class. */
const queryHints: Readonly<Record<string, string>> = {
  '25006': 'write one SELECT statement',
  '42501': 'grant it: GRANT SELECT ON … TO …',
  '42601': 'correct the query: one SELECT statement',
  '42P01': 'is its name right? a table of another schema is written schema.table',
  '55P03': 'which session holds it is in pg_locks; it is tried again at the next look',
  '57014': 'the server ended it: is there a statement_timeout, or an index missing?',
  '08': 'write one SELECT statement without parameters',
  '22': 'correct the query, or the rows it stumbles over',
  '40': 'it is read again at the next look',
  '42': 'correct the query',
  '53': 'the server lacks room or memory',
  '57': 'the server was told to end it; it is read again at the next look',
};

/** @param position in characters, counted from 1 */
function placeIn(sql: string, position: string | undefined): string {
  if (position === undefined) return '';
  const before = [...sql]
    .slice(0, Number(position) - 1)
    .join('')
    .split('\n');
  return ` (line ${before.length}, column ${[...(before.at(-1) ?? '')].length + 1} of the query)`;
}
