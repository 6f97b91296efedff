/**
 * The ledger on SQLite: pushes, approvals, requests and what else must outlive the buffer. Written with `synchronous =
 * FULL`: that a push was begun has to be on disk before its first byte leaves.
 */
import type { Database } from 'better-sqlite3';
import type { Changes } from '../../core/series/diff.ts';
import type { Month } from '../../core/model.ts';
import { packMonths, unpackMonths } from '../../core/series/packing.ts';
import type { PushOutcome, PushResult } from '../../core/ports.ts';
import type {
  Approval,
  ApprovalScope,
  DeletedPoints,
  HeldCandidate,
  Ledger,
  LetThrough,
  NewPush,
  PendingRequest,
  PushRecord,
  ReadCounts,
  Request,
} from '../../core/stores.ts';
import { checkVersion, migrateWith } from './buffer-schema.ts';
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
];

interface PushRow {
  id: number;
  at_ms: number;
  ended_at_ms: number | null;
  address: string;
  digest: string;
  drivers: number;
  points: number;
  bytes: number;
  changes: string;
  rollback_of: number | null;
  should_delete_missing: number;
  outcome: PushOutcome | null;
  status: number | null;
  detail: string | null;
  maybe_taken: number;
}

/** Any process may open it to write; only the holder of the lock migrates. */
export function openLedger(file: string, access: 'migrate' | 'write' | 'read'): Ledger {
  const db = openDatabase(file, { readonly: access === 'read', synchronous: 'FULL' });
  try {
    if (access === 'migrate') translating(file, () => migrateWith(db, file, migrations));
    else checkVersion(db.pragma('user_version', { simple: true }) as number, file, migrations);
    return new SqliteLedger(db, file);
  } catch (error) {
    db.close();
    throw error;
  }
}

class SqliteLedger implements Ledger {
  readonly #db: Database;
  readonly #tables: Statements;

  constructor(db: Database, file: string) {
    this.#db = db;
    this.#tables = new Statements(db, file);
  }

  beginPush(push: NewPush): number {
    const sql = `INSERT INTO push
      (at_ms, address, digest, drivers, points, bytes, changes, rollback_of, should_delete_missing)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const { atMs, address, digest, drivers, points, bytes, changes, rollbackOf } = push;
    const counts = [drivers, points, bytes, JSON.stringify(changes)];
    const values = [atMs, address, digest, ...counts, rollbackOf ?? null, Number(push.shouldDeleteMissing)];
    return Number(this.#tables.run(sql, ...values).lastInsertRowid);
  }

  endPush(id: number, result: PushResult, endedAtMs: number): void {
    const sql = 'UPDATE push SET ended_at_ms = ?, outcome = ?, status = ?, detail = ?, maybe_taken = ? WHERE id = ?';
    const { outcome, status, detail, maybeTaken } = result;
    this.#tables.run(sql, endedAtMs, outcome, status ?? null, detail ?? null, Number(maybeTaken), id);
  }

  endOrphans(endedAtMs: number): void {
    const sql = `UPDATE push SET outcome = 'unknown', ended_at_ms = ?, detail = ? WHERE outcome IS NULL`;
    this.#tables.run(sql, endedAtMs, 'the agent stopped while it was sent');
  }

  acknowledge(id: number, result: PushResult, ended: Parameters<Ledger['acknowledge']>[2]): void {
    this.#tables.write(() => {
      this.endPush(id, result, ended.atMs);
      const insert = this.#db.prepare('INSERT INTO change VALUES (?, ?, ?)');
      for (const { driver, months } of ended.carried) insert.run(driver, id, months);
      for (const [key, value] of Object.entries(ended.facts ?? {})) this.setFact(key, value);
    });
  }

  pushes(): readonly PushRecord[] {
    return this.#tables.all<PushRow>('SELECT * FROM push ORDER BY id DESC').map(pushRecord);
  }

  push(id: number): PushRecord | undefined {
    return this.#tables.all<PushRow>('SELECT * FROM push WHERE id = ?', id).map(pushRecord)[0];
  }

  lastPush(address?: string): PushRecord | undefined {
    const sql = 'SELECT * FROM push WHERE :address IS NULL OR address = :address ORDER BY id DESC LIMIT 1';
    return this.#tables.all<PushRow>(sql, { address: address ?? null }).map(pushRecord)[0];
  }

  lastAcknowledged(address?: string): PushRecord | undefined {
    const sql = `SELECT * FROM push WHERE outcome = 'acknowledged' AND (:address IS NULL OR address = :address)
      ORDER BY id DESC LIMIT 1`;
    return this.#tables.all<PushRow>(sql, { address: address ?? null }).map(pushRecord)[0];
  }

  hasDeletingPush(address: string): boolean {
    const sql = `SELECT 1 FROM push WHERE address = ? AND outcome = 'acknowledged' AND should_delete_missing = 1 LIMIT 1`;
    return this.#tables.all(sql, address).length > 0;
  }

  hasOpenPushSince(address: string, push: number, digest = ''): boolean {
    const sql = `SELECT 1 FROM push WHERE address = ? AND id > ? AND (outcome IS NULL OR outcome != 'acknowledged')
      AND maybe_taken = 1 AND digest != ? LIMIT 1`;
    return this.#tables.all(sql, address, push, digest).length > 0;
  }

  maybeTaken(address: string, digest: string): { endedAtMs: number | undefined } | undefined {
    const sql = `SELECT ended_at_ms FROM push WHERE address = ? AND digest != ? AND maybe_taken = 1
      AND (outcome IS NULL OR outcome != 'acknowledged') ORDER BY ended_at_ms IS NULL DESC, ended_at_ms DESC LIMIT 1`;
    const row = this.#tables.all<{ ended_at_ms: number | null }>(sql, address, digest)[0];
    return row && { endedAtMs: row.ended_at_ms ?? undefined };
  }

  followsOpenPush(address: string, digest: string): boolean {
    const sql = `SELECT 1 FROM push p WHERE p.address = ? AND p.digest != ? AND p.maybe_taken = 1
      AND (p.outcome IS NULL OR p.outcome != 'acknowledged') AND NOT EXISTS (SELECT 1 FROM push q
        WHERE q.address = p.address AND q.id > p.id AND q.outcome = 'acknowledged' AND q.digest != p.digest) LIMIT 1`;
    return this.#tables.all(sql, address, digest).length > 0;
  }

  firstPush(address: string, driver: string, month: Month): number | undefined {
    const sql = `SELECT c.push, c.months FROM change c JOIN push p ON p.id = c.push
      WHERE c.driver = ? AND p.address = ? ORDER BY c.push DESC`;
    const rows = this.#tables.all<{ push: number; months: Uint8Array }>(sql, driver, address);
    const changed = rows.find((row) => unpackMonths(row.months).includes(month));
    if (changed !== undefined) return changed.push;
    const first = `SELECT min(id) AS id FROM push WHERE address = ? AND outcome = 'acknowledged'`;
    return this.#tables.all<{ id: number | null }>(first, address)[0]?.id ?? undefined;
  }

  held(): readonly HeldCandidate[] {
    const sql = `SELECT source, digest, reason, hint, since_ms AS sinceMs, approvable FROM held ORDER BY source`;
    type Row = Omit<HeldCandidate, 'approvable' | 'hint'> & { approvable: number; hint: string | null };
    return this.#tables.all<Row>(sql).map((row) => ({
      ...row,
      hint: row.hint ?? undefined,
      approvable: row.approvable === 1,
    }));
  }

  hold(held: Omit<HeldCandidate, 'sinceMs'>, { deletes, carried }: ApprovalScope, nowMs: number): void {
    const { source, digest, reason, hint, approvable } = held;
    const sql = `INSERT INTO held (source, digest, reason, hint, since_ms, approvable, deletes, carried)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET
      since_ms = iif(digest = excluded.digest, since_ms, excluded.since_ms), digest = excluded.digest,
      reason = excluded.reason, hint = excluded.hint, approvable = excluded.approvable, deletes = excluded.deletes,
      carried = excluded.carried`;
    const scope = [packDeletes(deletes), JSON.stringify(carried)];
    this.#tables.run(sql, source, digest, reason, hint ?? null, nowMs, Number(approvable), ...scope);
  }

  release(source: string): void {
    this.#tables.run('DELETE FROM held WHERE source = ?', source);
  }

  approve(digest: string, source: string | undefined, nowMs: number): void {
    this.#tables.run(
      `INSERT INTO approval (source, digest, at_ms, state, deletes, carried) VALUES (:source, :digest, :nowMs, 'pending',
      coalesce((SELECT deletes FROM held WHERE source = :source AND digest = :digest), x'5b5d'),
      coalesce((SELECT carried FROM held WHERE source = :source AND digest = :digest), '[]'))`,
      { source: source ?? null, digest, nowMs },
    );
  }

  approvals(): readonly Approval[] {
    const sql = 'SELECT id, source, digest, at_ms AS atMs, state, why FROM approval ORDER BY id DESC';
    type Row = Omit<Approval, 'source' | 'why'> & { source: string | null; why: string | null };
    return this.#tables
      .all<Row>(sql)
      .map((row) => ({ ...row, source: row.source ?? undefined, why: row.why ?? undefined }));
  }

  approvedScope(approval: number): ApprovalScope {
    type Row = { deletes: Uint8Array; carried: string };
    const row = this.#tables.all<Row>('SELECT deletes, carried FROM approval WHERE id = ?', approval)[0];
    if (row === undefined) return { deletes: new Map(), carried: [] };
    return { deletes: unpackDeletes(row.deletes), carried: JSON.parse(row.carried) as string[] };
  }

  closeApproval(id: number, state: 'used' | 'dropped', why?: string): void {
    this.#tables.run('UPDATE approval SET state = ?, why = ? WHERE id = ?', state, why ?? null, id);
  }

  recordDeletes(source: string, read: string, deletes: Parameters<Ledger['recordDeletes']>[2]): void {
    const { atMs, drivers, points, had } = deletes;
    const sql = `INSERT OR REPLACE INTO deletion (source, read, at_ms, drivers, points, had_drivers, had_points)
      VALUES (?, ?, ?, ?, ?, ?, ?)`;
    this.#tables.run(sql, source, read, atMs, drivers, points, had.drivers, had.points);
  }

  deletesSince(source: string, sinceMs: number, read: string): LetThrough {
    const sql = `SELECT drivers, points, had_drivers AS hadDrivers, had_points AS hadPoints
      FROM deletion WHERE source = ? AND at_ms > ? AND read != ? ORDER BY at_ms`;
    type Row = ReadCounts & { readonly hadDrivers: number; readonly hadPoints: number };
    const rows = this.#tables.all<Row>(sql, source, sinceMs, read);
    const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
    const [first] = rows;
    return {
      drivers: sum((row) => row.drivers),
      points: sum((row) => row.points),
      had: first && { drivers: first.hadDrivers, points: first.hadPoints },
    };
  }

  request(request: Request, nowMs: number): number {
    const sql = 'INSERT INTO request (at_ms, request) VALUES (?, ?)';
    return Number(this.#tables.run(sql, nowMs, JSON.stringify(request)).lastInsertRowid);
  }

  pendingRequests(): readonly PendingRequest[] {
    const sql = 'SELECT id, at_ms AS atMs, request FROM request WHERE result IS NULL ORDER BY id';
    return this.#tables.all<{ id: number; atMs: number; request: string }>(sql).map((row) => ({
      id: row.id,
      atMs: row.atMs,
      request: JSON.parse(row.request) as Request,
    }));
  }

  finishRequest(id: number, result: string): void {
    this.#tables.run('UPDATE request SET result = ? WHERE id = ?', result, id);
  }

  requestResult(id: number): string | undefined {
    return (
      this.#tables.all<{ result: string | null }>('SELECT result FROM request WHERE id = ?', id)[0]?.result ?? undefined
    );
  }

  fact<T>(key: string): T | undefined {
    const row = this.#tables.all<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)[0];
    return row === undefined ? undefined : (JSON.parse(row.value) as T);
  }

  setFact(key: string, value: unknown): void {
    if (value === undefined) this.#tables.run('DELETE FROM meta WHERE key = ?', key);
    else this.#tables.run('INSERT OR REPLACE INTO meta VALUES (?, ?)', key, JSON.stringify(value));
  }

  shrink(): void {
    this.#db.pragma('shrink_memory');
  }

  asked(): string {
    const sql = `SELECT (SELECT coalesce(max(id), 0) FROM request) || '/' ||
      (SELECT coalesce(max(id), 0) FROM approval) AS asked`;
    return this.#tables.all<{ asked: string }>(sql)[0]!.asked;
  }

  close(): void {
    this.#db.close();
  }
}

function pushRecord(row: PushRow): PushRecord {
  return {
    id: row.id,
    atMs: row.at_ms,
    endedAtMs: row.ended_at_ms ?? undefined,
    address: row.address,
    digest: row.digest,
    drivers: row.drivers,
    points: row.points,
    bytes: row.bytes,
    changes: JSON.parse(row.changes) as Changes,
    rollbackOf: row.rollback_of ?? undefined,
    shouldDeleteMissing: row.should_delete_missing === 1,
    outcome: row.outcome ?? undefined,
    status: row.status ?? undefined,
    detail: row.detail ?? undefined,
    maybeTaken: row.maybe_taken === 1,
  };
}

function packDeletes(deletes: DeletedPoints): Uint8Array {
  const list = [...deletes].map(([id, months]) => [id, Buffer.from(packMonths(months)).toString('base64')]);
  return Buffer.from(JSON.stringify(list));
}

function unpackDeletes(blob: Uint8Array): DeletedPoints {
  const list = JSON.parse(Buffer.from(blob).toString()) as [string, string][];
  return new Map(list.map(([id, months]) => [id, unpackMonths(Buffer.from(months, 'base64'))]));
}
