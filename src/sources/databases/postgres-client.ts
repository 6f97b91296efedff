/** A connection to PostgreSQL that is not a source: the ledger that several agents share. Reached in the same way, with the same words. */
import { Socket } from 'node:net';
import type { Client } from 'pg';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { isClean, mask } from '../../http/masking.ts';
import { codeOf, untilAborted } from '../files/access.ts';
import type { Address } from './address.ts';
import { openSafely } from './encryption.ts';
import { farewell } from './farewell.ts';
import { clientConfig, isWithoutTls, openingWords } from './postgres-session.ts';

export interface PostgresClient {
  /** Rows of the last statement. `int8` comes as a number. */
  query(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly rowCount: number }>;
  readonly isLost: () => boolean;
  end(): Promise<void>;
  /** Ends it at once, without a word to the server. */
  destroy(): void;
}

/** Who is let in is for a person to mend; what else goes wrong may mend itself. */
const refusals = /^(28|3D|42)/;
/** What a server says before it closes the connection, which is heard of a moment later. */
const endings = /^(08|57P0|25P0[34])/;
const int8 = 20;

/**
 * Opens connections. Of several hosts to the one that can be written, beginning with the one that was so last.
 * @throws AgentError `ledger.unreachable`, `ledger.refused`
 */
export function postgresConnector(
  address: Address,
  caFile: string | undefined,
): (signal: AbortSignal) => Promise<PostgresClient> {
  const { others = [], ...one } = address;
  if (others.length === 0) return (signal) => openPostgresClient(one, caFile, signal);
  let hosts: readonly Address[] = [one, ...others];
  return async (signal) => {
    const failures: AgentError[] = [];
    for (const host of hosts) {
      try {
        const client = await openWritable(host, caFile, signal);
        hosts = [host, ...hosts.filter((other) => other !== host)];
        return client;
      } catch (error) {
        signal.throwIfAborted();
        if (!isAgentError(error)) throw error;
        failures.push(error);
      }
    }
    throw noneOf(failures);
  };
}

function noneOf(failures: readonly AgentError[]): AgentError {
  // Who is let in is for a person to mend, wherever the ledger is now.
  const refusal = failures.find(({ code }) => code === 'ledger.refused');
  const { code, hint } = refusal ?? failures[0]!;
  return new AgentError(code, failures.map(({ message }) => message).join('; '), { cause: failures[0], hint });
}

async function openWritable(
  address: Address,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<PostgresClient> {
  const client = await openPostgresClient(address, caFile, signal);
  try {
    const { rows } = await client.query(
      `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS "readOnly"`,
    );
    const { standby, readOnly } = rows[0] as { readonly standby: boolean; readonly readOnly: boolean };
    if (!standby && !readOnly) return client;
    throw new AgentError(
      'ledger.unreachable',
      `the ledger at ${address.label} is ${standby ? 'a standby' : 'read-only'}`,
      {
        hint: 'one of the hosts has to be a primary: look at the database',
      },
    );
  } catch (error) {
    client.destroy();
    if (isAgentError(error)) throw error;
    throw new AgentError('ledger.unreachable', `the ledger at ${address.label}: the connection was lost`, {
      cause: error,
    });
  }
}

async function openPostgresClient(
  address: Address,
  caFile: string | undefined,
  signal: AbortSignal,
): Promise<PostgresClient> {
  const pg = await import('pg').catch((error: unknown) => {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new AgentError('ledger.refused', 'install pg to use a ledger on PostgreSQL', {
      cause: error,
      hint: 'npm install pg',
    });
  });
  const { Client: ClientClass, types } = pg.default;
  const parsers = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === int8 ? Number : (types.getTypeParser(oid, format) as unknown),
  };
  try {
    return await openSafely(address, caFile, {
      open: async (encryption) => {
        signal.throwIfAborted();
        const socket = new Socket();
        const client = new ClientClass({
          ...clientConfig(address, encryption, socket),
          types: parsers,
        });
        const opened = new OpenClient(client, socket);
        try {
          await untilAborted(client.connect(), signal);
          return opened;
        } catch (error) {
          opened.destroy();
          throw error;
        }
      },
      isWithoutTls,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentError && error.code.startsWith('ledger.')) throw error;
    const { why, hint } =
      error instanceof AgentError ? { why: error.message, hint: error.hint } : openingWords(error, address);
    const code = refusals.test(codeOf(error) ?? '') ? 'ledger.refused' : 'ledger.unreachable';
    throw new AgentError(code, `the ledger at ${address.label}: ${mask(why, [address.password])}`, {
      ...(isClean(error, [address.password]) && { cause: error }),
      hint,
    });
  }
}

class OpenClient implements PostgresClient {
  readonly #client: Client;
  readonly #socket: Socket;
  #isLost = false;

  constructor(client: Client, socket: Socket) {
    this.#client = client;
    this.#socket = socket;
    const lost = (): void => void (this.#isLost = true);
    client.on('error', lost);
    client.on('end', lost);
    socket.on('close', lost);
  }

  readonly isLost = (): boolean => this.#isLost;

  async query(sql: string, values?: readonly unknown[]): ReturnType<PostgresClient['query']> {
    const results: unknown = await this.#client
      .query(sql, values === undefined ? undefined : [...values])
      .catch((error: unknown) => {
        if (endings.test(codeOf(error) ?? '')) this.destroy();
        throw error;
      });
    const last = (Array.isArray(results) ? results.at(-1) : results) as { rows: unknown[]; rowCount: number | null };
    return { rows: last.rows, rowCount: last.rowCount ?? 0 };
  }

  async end(): Promise<void> {
    this.#isLost = true;
    await farewell(this.#client.end().catch(() => undefined));
    this.#socket.destroy();
  }

  destroy(): void {
    this.#isLost = true;
    this.#socket.destroy();
  }
}
