/**
 * The tables that agents of several machines share, and how they are made and brought up to date. What the election asks and writes
 * (`lead-rows.ts`) is the same in every version: agents of two versions agree on who leads.
 */
import type { Term } from '../../core/election/rows.ts';
import { AgentError } from '../../core/errors.ts';
import { beginChain } from './chain.ts';
import type { SharedDatabase, Statements } from './database.ts';
import { sqlState, toPrimary } from './failures.ts';
import { Fence } from './fence.ts';

/** Names, columns and their order are those of the ledger on SQLite: a record of the chain is the same in both. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE ~push (
    id BIGINT PRIMARY KEY, at_ms BIGINT NOT NULL, ended_at_ms BIGINT, address TEXT NOT NULL, digest TEXT NOT NULL,
    drivers BIGINT NOT NULL, points BIGINT NOT NULL, bytes BIGINT NOT NULL, changes TEXT NOT NULL, rollback_of BIGINT,
    should_delete_missing BIGINT NOT NULL, outcome TEXT, status BIGINT, detail TEXT, maybe_taken BIGINT NOT NULL DEFAULT 1
  );
  CREATE INDEX push_by_address ON ~push (address, id);
  CREATE TABLE ~change (
    driver TEXT COLLATE "C" NOT NULL, push BIGINT NOT NULL, months BYTEA NOT NULL, PRIMARY KEY (driver, push)
  );
  CREATE TABLE ~held (
    source TEXT COLLATE "C" PRIMARY KEY, digest TEXT NOT NULL, reason TEXT NOT NULL, hint TEXT, since_ms BIGINT NOT NULL,
    approvable BIGINT NOT NULL, deletes BYTEA NOT NULL, carried TEXT NOT NULL DEFAULT '[]', is_end BIGINT NOT NULL DEFAULT 0,
    findings TEXT NOT NULL DEFAULT '[]'
  );
  CREATE TABLE ~approval (
    id BIGINT PRIMARY KEY, source TEXT, digest TEXT NOT NULL, at_ms BIGINT NOT NULL, state TEXT NOT NULL, why TEXT,
    deletes BYTEA NOT NULL, carried TEXT NOT NULL DEFAULT '[]', is_end BIGINT NOT NULL DEFAULT 0,
    findings TEXT NOT NULL DEFAULT '[]', by_user TEXT, ran_as TEXT, reason TEXT
  );
  CREATE TABLE ~deletion (
    source TEXT NOT NULL, read TEXT NOT NULL, at_ms BIGINT NOT NULL, drivers BIGINT NOT NULL, points BIGINT NOT NULL,
    had_drivers BIGINT NOT NULL DEFAULT 0, had_points BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (source, read)
  );
  CREATE TABLE ~request (
    id BIGINT PRIMARY KEY, at_ms BIGINT NOT NULL, request TEXT NOT NULL, result TEXT, by_user TEXT, ran_as TEXT, reason TEXT
  );
  CREATE TABLE ~state (one BIGINT PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL);
  INSERT INTO ~state VALUES (1, '{}');
  CREATE TABLE ~snapshot (digest TEXT COLLATE "C" PRIMARY KEY, file_sha256 TEXT NOT NULL, is_kept BIGINT NOT NULL);
  CREATE TABLE ~chain (n BIGINT PRIMARY KEY, content TEXT NOT NULL, sha256 TEXT NOT NULL);

  -- The files of the archive, in pieces. They are compressed already.
  CREATE TABLE ~piece (file_sha256 TEXT NOT NULL, n BIGINT NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (file_sha256, n));
  ALTER TABLE ~piece ALTER COLUMN bytes SET STORAGE EXTERNAL;

  -- Who leads. One row, which is never deleted, so that no term comes twice. Its lock also puts all writes in order.
  CREATE TABLE ~lead (
    one BIGINT PRIMARY KEY CHECK (one = 1), term BIGINT NOT NULL, holder TEXT, host TEXT, pid BIGINT,
    since TIMESTAMPTZ, deadline TIMESTAMPTZ NOT NULL, config TEXT, address TEXT, cluster TEXT, wakes BIGINT NOT NULL
  );
  INSERT INTO ~lead VALUES (1, 0, NULL, NULL, NULL, NULL, clock_timestamp(), NULL, NULL, NULL, 0);

  -- The agents, as each last said of itself.
  CREATE TABLE ~agent (
    id TEXT PRIMARY KEY, host TEXT NOT NULL, pid BIGINT NOT NULL, config TEXT NOT NULL, since TIMESTAMPTZ NOT NULL,
    seen TIMESTAMPTZ NOT NULL, said TEXT NOT NULL
  );
  `,
];

export interface LedgerSchema {
  /** The newest that this agent knows. */
  readonly version: number;
  /** Makes the tables where there are none. @throws AgentError `state.newer`, `ledger.refused`, `ledger.unreachable` */
  ensure(): Promise<void>;
  /** @throws AgentError `state.newer` */
  refuseNewer(version: number): void;
  /** Why an agent that does not lead waits with tables of an older version. */
  older(version: number): AgentError;
  /** Brings the tables up to date, as the agent that leads. @throws AgentError `ledger.led` */
  migrate(version: number, mine: Term): Promise<void>;
}

/** @param steps each makes the tables of one version out of those of the version before */
export function ledgerSchema(database: SharedDatabase, steps: readonly string[] = migrations): LedgerSchema {
  const { label } = database;
  const refuseNewer = (version: number): void => {
    if (version > steps.length) throw versionError(label, version, steps.length);
  };
  return {
    version: steps.length,
    async ensure() {
      await checkServer(database);
      for (;;) {
        const version = await versionOf(database);
        if (version !== undefined) return refuseNewer(version);
        try {
          await database.transaction((statements) => migrateFrom(statements, { database, version: 0, steps }));
        } catch (error) {
          // Another agent made them at the same moment.
          if (!/^(23505|42P06|42P07|42710)$/.test(sqlState(error) ?? '')) throw error;
        }
      }
    },
    refuseNewer,
    older: (version) =>
      new AgentError(
        'state.older',
        `the ledger at ${label} is of version ${version}, and an agent of that version leads: this one knows ${steps.length} and waits`,
        {
          hint: 'stop the agents of the older version: the first one of this version that leads brings the ledger up to date',
        },
      ),
    migrate: (version, mine) =>
      new Fence(database, () => mine).write((statements) => migrateFrom(statements, { database, version, steps })),
  };
}

/** @throws AgentError `state.missing` where there are no tables, `state.newer`, `state.older` and others of `ledger.` */
export async function requireSchema(database: SharedDatabase): Promise<void> {
  const version = await versionOf(database);
  if (version === migrations.length) return;
  if (version !== undefined) throw versionError(database.label, version, migrations.length);
  throw new AgentError('state.missing', `there is no ledger at ${database.label} in the schema ${database.schema}`, {
    hint: 'where an agent has pushed without it, "driver-sync ledger take-over" on its machine makes it; else "driver-sync run" does; check "ledger" in the config',
  });
}

async function migrateFrom(
  statements: Statements,
  { database, version, steps }: { database: SharedDatabase; version: number; steps: readonly string[] },
): Promise<void> {
  const { schema } = database;
  if (version === 0) {
    const found = await statements.all('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', schema);
    // Where it is there, the user need not be allowed to make schemas.
    if (found.length === 0) await statements.run(`CREATE SCHEMA "${schema}"`);
    await statements.run('CREATE TABLE ~version (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)');
    await statements.run('INSERT INTO ~version VALUES (1, 0)');
  }
  for (const step of steps.slice(version)) await statements.run(step);
  if (version === 0) await beginChain(statements);
  await statements.run('UPDATE ~version SET version = $1', steps.length);
}

async function versionOf(database: SharedDatabase): Promise<number | undefined> {
  try {
    const [row] = await database.all<{ version: number }>('SELECT version FROM ~version');
    return row?.version;
  } catch (error) {
    if (/^(42P01|3F000)$/.test(sqlState(error) ?? '')) return undefined;
    throw error;
  }
}

function versionError(label: string, version: number, known: number): AgentError {
  const isNewer = version > known;
  const [code, age] = isNewer ? (['state.newer', 'a newer'] as const) : (['state.older', 'an older'] as const);
  return new AgentError(
    code,
    `the ledger at ${label} was written by ${age} driver-sync (version ${version}, this one knows ${known})`,
    { hint: isNewer ? 'install that version here too' : 'start "driver-sync run" or "sync" of this version' },
  );
}

const oldest = 120_000;

async function checkServer(database: SharedDatabase): Promise<void> {
  const [server] = await database.all<{ version: number; encoding: string; standby: boolean; readonly: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS readonly`,
  );
  if (server === undefined) return;
  const { label } = database;
  if (server.version < oldest) {
    const hint = 'use PostgreSQL 12 or newer for the ledger';
    throw new AgentError(
      'ledger.refused',
      `the ledger at ${label} is PostgreSQL ${Math.floor(server.version / 10_000)}`,
      { hint },
    );
  }
  if (server.encoding !== 'UTF8') {
    const hint = "make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0";
    throw new AgentError(
      'ledger.refused',
      `the ledger at ${label} is a database with the encoding ${server.encoding}`,
      { hint },
    );
  }
  if (server.standby || server.readonly === 'on') {
    throw new AgentError(
      'ledger.unreachable',
      `the ledger at ${label} is ${server.standby ? 'a standby' : 'read-only'}`,
      { hint: toPrimary },
    );
  }
}
