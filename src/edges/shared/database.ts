/**
 * Statements on the database that agents of several machines share. Nothing lives in a session: every statement is unnamed,
 * every setting is local to its transaction, and no lock outlives one, so that a pooler may give each transaction another
 * connection.
 */
import { AgentError, isAgentError } from '../../core/errors.ts';
import { readRows } from '../state/kept-json.ts';
import { damagedShared, translatedShared } from './failures.ts';

/** One connection. What it throws is the driver's. */
export interface SqlClient {
  /** Resolves with the rows of the last statement. `int8` comes as a number. */
  query(sql: string, values?: readonly unknown[]): Promise<SqlResult>;
  /** It cannot be used any more. */
  readonly isLost: () => boolean;
  end(): Promise<void>;
  /** Ends it at once, without a word to the server. */
  destroy(): void;
}

export interface SqlResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number;
}

/** Opens a connection. @throws AgentError `ledger.unreachable`, `ledger.refused` */
export type Connect = (signal: AbortSignal) => Promise<SqlClient>;

export interface Statements {
  /** `~name` stands for a table of the ledger. */
  all<Row>(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** Rows as `read` understands them. @throws AgentError `ledger.corrupt` where one is not as it was written */
  read<Row, T>(read: (row: Row) => T, sql: string, ...values: readonly unknown[]): Promise<readonly T[]>;
  /** How many rows it wrote. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

export interface SharedPlace {
  readonly connect: Connect;
  /** The schema that the tables are in. */
  readonly schema: string;
  /** For messages: the url without its password. */
  readonly label: string;
}

/** An answer that takes longer never comes: the server is gone, or the way to it. */
const answerMaxMs = 30_000;
const connectionsMax = 3;
/** A transaction whose agent sleeps must not keep the others from taking over. */
const idleMaxMs = 5_000;

/** One message, so that a pooler cannot come between its statements. */
const settings = `SELECT set_config('idle_in_transaction_session_timeout', '${idleMaxMs}', true), set_config('lock_timeout', '10000', true),
  set_config('statement_timeout', '${answerMaxMs}', true);
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')`;
const beginnings = {
  write: `BEGIN;\n${settings}`,
  snapshot: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n${settings}`,
};

export class SharedDatabase implements Statements {
  readonly #place: SharedPlace;
  readonly #idle: SqlClient[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  #open = 0;

  constructor(place: SharedPlace) {
    this.#place = place;
  }

  get schema(): string {
    return this.#place.schema;
  }

  get label(): string {
    return this.#place.label;
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#once(async (client) => (await this.#query(client, { sql, values })).rows as readonly Row[]);
  }

  async read<Row, T>(read: (row: Row) => T, sql: string, ...values: readonly unknown[]): Promise<readonly T[]> {
    return this.#read(await this.all<Row>(sql, ...values), read);
  }

  #read<Row, T>(rows: readonly Row[], read: (row: Row) => T): readonly T[] {
    return readRows(rows, read, (cause) => damagedShared(cause, this.#place));
  }

  run(sql: string, ...values: readonly unknown[]): Promise<number> {
    return this.#once(async (client) => (await this.#query(client, { sql, values })).rowCount);
  }

  /** Runs something in one transaction. It takes part only where it is awaited within `run`. */
  transaction<T>(run: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#within('write', run);
  }

  /** The same, to read all as it was at one moment. */
  snapshot<T>(run: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#within('snapshot', run);
  }

  #within<T>(kind: keyof typeof beginnings, run: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#once(async (client) => {
      await this.#query(client, { sql: beginnings[kind] });
      try {
        const result = await run({
          all: async (sql, ...values) => (await this.#query(client, { sql, values })).rows as never,
          read: async (read, sql, ...values) =>
            this.#read((await this.#query(client, { sql, values })).rows as never, read),
          run: async (sql, ...values) => (await this.#query(client, { sql, values })).rowCount,
        });
        await this.#query(client, { sql: 'COMMIT' });
        return result;
      } catch (error) {
        if (!client.isLost()) await this.#query(client, { sql: 'ROLLBACK' }).catch(() => client.destroy());
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new AgentError('aborted', 'the ledger is closed'));
    await Promise.all(this.#idle.splice(0).map((client) => client.end()));
  }

  async #once<T>(run: (client: SqlClient) => Promise<T>): Promise<T> {
    const client = await this.#take();
    try {
      return await run(client);
    } finally {
      this.#give(client);
    }
  }

  async #take(): Promise<SqlClient> {
    this.#closing.signal.throwIfAborted();
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      if (!idle.isLost()) return idle;
      this.#open--;
    }
    if (this.#open >= connectionsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return this.#take();
    }
    this.#open++;
    try {
      return await this.#place.connect(this.#closing.signal);
    } catch (error) {
      this.#open--;
      this.#waiting.shift()?.();
      throw error;
    }
  }

  #give(client: SqlClient): void {
    if (client.isLost() || this.#closing.signal.aborted) {
      this.#open--;
      client.destroy();
    } else this.#idle.push(client);
    this.#waiting.shift()?.();
  }

  async #query(
    client: SqlClient,
    { sql, values }: { readonly sql: string; readonly values?: readonly unknown[] },
  ): Promise<SqlResult> {
    const late = setTimeout(() => client.destroy(), answerMaxMs);
    try {
      return await client.query(sql.replaceAll('~', `"${this.schema}".`), values?.map(withoutNul));
    } catch (error) {
      if (isAgentError(error)) throw error;
      throw translatedShared(error, this.#place);
    } finally {
      clearTimeout(late);
    }
  }
}

/** PostgreSQL has no such character in its texts. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\u{fffd}') : value;
}
