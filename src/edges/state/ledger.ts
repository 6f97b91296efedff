/**
 * The ledger on SQLite: pushes, holds, requests and what else must outlive the buffer. Written with `synchronous = FULL`:
 * that a push was begun has to be on disk before its first byte leaves. What was pushed and decided is also in its chain.
 */
import type { Database } from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import type { Ledger } from '../../core/ledger.ts';
import { checkCurrent, migrateWith } from './buffer-schema.ts';
import { Chain, type SnapshotFile } from './chain.ts';
import { SqliteHolds } from './hold-log.ts';
import { LedgerRecord } from './ledger-record.ts';
import { SqlitePushes } from './push-log.ts';
import { SqliteRequests } from './request-log.ts';
import { SqliteSnapshots } from './snapshot-log.ts';
import { openDatabase, translating } from './sqlite.ts';
import { Statements } from './statements.ts';

const migrations = [
  `
  CREATE TABLE push (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER,
    address TEXT NOT NULL,
    digest TEXT NOT NULL,
    drivers INTEGER NOT NULL,
    points INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    changes TEXT NOT NULL,
    rollback_of INTEGER,
    should_delete_missing INTEGER NOT NULL,
    outcome TEXT,
    status INTEGER,
    detail TEXT,
    maybe_taken INTEGER NOT NULL DEFAULT 1
  ) STRICT;
  CREATE INDEX push_by_address ON push (address, id);

  -- The months of a driver that a push created or updated.
  CREATE TABLE change (
    driver TEXT NOT NULL,
    push INTEGER NOT NULL,
    months BLOB NOT NULL,
    PRIMARY KEY (driver, push)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE held (
    source TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    hint TEXT,
    since_ms INTEGER NOT NULL,
    approvable INTEGER NOT NULL,
    deletes BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE approval (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT,
    digest TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    why TEXT,
    deletes BLOB NOT NULL
  ) STRICT;

  CREATE TABLE deletion (
    source TEXT NOT NULL,
    read TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    drivers INTEGER NOT NULL,
    points INTEGER NOT NULL,
    PRIMARY KEY (source, read)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE request (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    request TEXT NOT NULL,
    result TEXT
  ) STRICT;

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- Names of carried parts, as JSON, that an approval lets count beside parts with the same points.
  ALTER TABLE held ADD COLUMN carried TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE approval ADD COLUMN carried TEXT NOT NULL DEFAULT '[]';
  -- What the source had accepted before the deletes.
  ALTER TABLE deletion ADD COLUMN had_drivers INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE deletion ADD COLUMN had_points INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- What is known beside the logs, as one record.
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL) STRICT;
  INSERT INTO state SELECT 1, coalesce((SELECT json_object('lastPass', json(value)) FROM meta WHERE key = 'lastPass'), '{}');
  UPDATE state SET record = json_set(record, '$.rolledBack', (
    SELECT json_object('push', value -> 'push', 'sinceMs', value -> 'sinceMs', 'isRestored', value -> 'isAdopted')
    FROM meta WHERE key = 'frozen')) WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'frozen');
  UPDATE state SET record = json_set(record, '$.loop', (SELECT json(value) FROM meta WHERE key = 'loop'))
    WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'loop');
  DROP TABLE meta;
  `,
  `
  -- That a source left the config is held and approved, and no read of it.
  ALTER TABLE held ADD COLUMN is_end INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE approval ADD COLUMN is_end INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- Slips in the values, as JSON, that an approval lets pass.
  ALTER TABLE held ADD COLUMN findings TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE approval ADD COLUMN findings TEXT NOT NULL DEFAULT '[]';
  `,
  `
  -- Who decided, and why. ran_as: the user that the command ran as, where by_user went through sudo.
  ALTER TABLE approval ADD COLUMN by_user TEXT;
  ALTER TABLE approval ADD COLUMN ran_as TEXT;
  ALTER TABLE approval ADD COLUMN reason TEXT;
  ALTER TABLE request ADD COLUMN by_user TEXT;
  ALTER TABLE request ADD COLUMN ran_as TEXT;
  ALTER TABLE request ADD COLUMN reason TEXT;

  -- The files of the archive. Written before a file gets its name, and before it is removed.
  CREATE TABLE snapshot (
    digest TEXT PRIMARY KEY,
    file_sha256 TEXT NOT NULL,
    is_kept INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- One record for each state that a row of push, approval, request or snapshot was in: see chain.ts.
  CREATE TABLE chain (n INTEGER PRIMARY KEY, content TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;
  `,
];

/**
 * Any process may open it to write; only the holder of the lock migrates.
 * @param earlierFiles digest and sha256 of the archive's files; asked for where the chain begins
 */
export function openLedger(
  file: string,
  access: 'migrate' | 'write' | 'read',
  earlierFiles: () => Iterable<SnapshotFile> = () => [],
): Ledger {
  const db = openDatabase(file, { readonly: access === 'read', synchronous: 'FULL' });
  try {
    return translating(file, () => {
      const tables = new Statements(db, file);
      if (access === 'migrate') migrateWith(db, file, migrations);
      else checkLedgerVersion(db, file);
      const chain = new Chain(tables);
      if (access === 'migrate') chain.begin(earlierFiles);
      return ledgerOn(tables, chain);
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @throws AgentError `state.missing` for a file that was never set up, `state.newer`, `state.older` */
export function checkLedgerVersion(db: Database, file: string): void {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version === 0) {
    throw new AgentError('state.missing', `${file} is empty`, {
      hint: 'restore it from a backup of the state directory, while no agent runs; without one the next run or sync begins with a first push',
    });
  }
  checkCurrent(version, file, migrations);
}

function ledgerOn(tables: Statements, chain: Chain): Ledger {
  const record = new LedgerRecord(tables);
  return {
    pushes: new SqlitePushes(tables, record, chain),
    holds: new SqliteHolds(tables, chain),
    requests: new SqliteRequests(tables, chain),
    snapshots: new SqliteSnapshots(tables, chain),
    head: async () => chain.head(),
    state: async () => record.get(),
    setState: async (changed) => record.set(changed),
    shrink: async () => tables.shrink(),
    close: async () => void tables.db.close(),
  };
}
