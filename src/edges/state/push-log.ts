/** Every push and what became of it, on SQLite. */
import type { Month } from '../../core/model.ts';
import type { PushOutcome, PushResult } from '../../core/ports.ts';
import { unpackMonths } from '../../core/series/packing.ts';
import { type LedgerState, type NewPush, type PushLog, type PushRecord, cutShort } from '../../core/ledger.ts';
import { type Chain, CarriedHash } from './chain.ts';
import { parseChanges } from './kept-json.ts';
import type { LedgerRecord } from './ledger-record.ts';
import type { Statements } from './statements.ts';

/** As SQLite and PostgreSQL give it. */
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

export class SqlitePushes implements PushLog {
  readonly #tables: Statements;
  readonly #record: LedgerRecord;
  readonly #chain: Chain;

  constructor(tables: Statements, record: LedgerRecord, chain: Chain) {
    this.#tables = tables;
    this.#record = record;
    this.#chain = chain;
  }

  async begin(push: NewPush, state: LedgerState = {}): Promise<number> {
    const sql = `INSERT INTO push
      (at_ms, address, digest, drivers, points, bytes, changes, rollback_of, should_delete_missing)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const { atMs, address, digest, drivers, points, bytes, changes, rollbackOf } = push;
    const counts = [drivers, points, bytes, JSON.stringify(changes)];
    const values = [atMs, address, digest, ...counts, rollbackOf ?? null, Number(push.shouldDeleteMissing)];
    return this.#tables.write(() => {
      const id = Number(this.#tables.run(sql, ...values).lastInsertRowid);
      this.#chain.note('push', id);
      this.#record.set(state);
      return id;
    });
  }

  async end(id: number, result: PushResult, endedAtMs: number): Promise<void> {
    this.#tables.write(() => {
      this.#end(id, result, endedAtMs);
      this.#chain.note('push', id);
    });
  }

  #end(id: number, result: PushResult, endedAtMs: number): void {
    const sql = 'UPDATE push SET ended_at_ms = ?, outcome = ?, status = ?, detail = ?, maybe_taken = ? WHERE id = ?';
    const { outcome, status, detail, maybeTaken } = result;
    this.#tables.run(sql, endedAtMs, outcome, status ?? null, detail ?? null, Number(maybeTaken), id);
  }

  async endOrphans(endedAtMs: number): Promise<void> {
    const sql = `UPDATE push SET outcome = 'unknown', ended_at_ms = ?, detail = ? WHERE outcome IS NULL`;
    this.#tables.write(() => {
      const orphans = this.#tables.all<{ id: number }>('SELECT id FROM push WHERE outcome IS NULL ORDER BY id');
      this.#tables.run(sql, endedAtMs, cutShort);
      for (const { id } of orphans) this.#chain.note('push', id);
    });
  }

  async acknowledge(id: number, result: PushResult, ended: Parameters<PushLog['acknowledge']>[2]): Promise<void> {
    this.#tables.write(() => {
      this.#end(id, result, ended.atMs);
      const insert = this.#tables.db.prepare('INSERT INTO change VALUES (?, ?, ?)');
      const carried = new CarriedHash();
      for (const { driver, months } of ended.carried) {
        insert.run(driver, id, months);
        carried.add(driver, months);
      }
      this.#chain.note('push', id, carried.summary());
      this.#record.set(ended.state);
    });
  }

  async all(): Promise<readonly PushRecord[]> {
    return this.#tables.read(pushRecord, 'SELECT * FROM push ORDER BY id DESC');
  }

  async newest(limit: number, before?: number): Promise<readonly PushRecord[]> {
    const sql = 'SELECT * FROM push WHERE :before IS NULL OR id < :before ORDER BY id DESC LIMIT :limit';
    return this.#tables.read(pushRecord, sql, { before: before ?? null, limit });
  }

  async counts(): Promise<ReadonlyMap<PushOutcome, number>> {
    const sql = 'SELECT outcome, count(*) AS pushes FROM push WHERE outcome IS NOT NULL GROUP BY 1';
    const rows = this.#tables.all<{ outcome: PushOutcome; pushes: number }>(sql);
    return new Map(rows.map(({ outcome, pushes }) => [outcome, pushes]));
  }

  async get(id: number): Promise<PushRecord | undefined> {
    return this.#tables.read(pushRecord, 'SELECT * FROM push WHERE id = ?', id)[0];
  }

  async last(address?: string): Promise<PushRecord | undefined> {
    const sql = 'SELECT * FROM push WHERE :address IS NULL OR address = :address ORDER BY id DESC LIMIT 1';
    return this.#tables.read(pushRecord, sql, { address: address ?? null })[0];
  }

  async lastAcknowledged(address?: string): Promise<PushRecord | undefined> {
    const sql = `SELECT * FROM push WHERE outcome = 'acknowledged' AND (:address IS NULL OR address = :address)
      ORDER BY id DESC LIMIT 1`;
    return this.#tables.read(pushRecord, sql, { address: address ?? null })[0];
  }

  async hasOpenSince(address: string, push: number, digest = ''): Promise<boolean> {
    const sql = `SELECT 1 FROM push WHERE address = ? AND id > ? AND (outcome IS NULL OR outcome != 'acknowledged')
      AND maybe_taken = 1 AND digest != ? LIMIT 1`;
    return this.#tables.all(sql, address, push, digest).length > 0;
  }

  async maybeTaken(address: string, digest: string): Promise<{ endedAtMs: number | undefined } | undefined> {
    const sql = `SELECT ended_at_ms FROM push p WHERE address = ? AND digest != ? AND maybe_taken = 1
      AND (outcome IS NULL OR outcome != 'acknowledged') AND NOT EXISTS (SELECT 1 FROM push q
        WHERE q.address = p.address AND q.id > p.id AND q.outcome = 'acknowledged' AND q.digest != p.digest)
      ORDER BY ended_at_ms IS NULL DESC, ended_at_ms DESC LIMIT 1`;
    const row = this.#tables.all<{ ended_at_ms: number | null }>(sql, address, digest)[0];
    return row && { endedAtMs: row.ended_at_ms ?? undefined };
  }

  async changing(address: string, driver: string): Promise<readonly number[]> {
    const sql = `SELECT c.push FROM change c JOIN push p ON p.id = c.push
      WHERE c.driver = ? AND p.address = ? ORDER BY c.push DESC`;
    return this.#tables.all<{ push: number }>(sql, driver, address).map(({ push }) => push);
  }

  async firstOf(address: string, driver: string, month: Month): Promise<number | undefined> {
    const sql = `SELECT c.push, c.months FROM change c JOIN push p ON p.id = c.push
      WHERE c.driver = ? AND p.address = ? ORDER BY c.push DESC`;
    const rows = this.#tables.read(changedMonths, sql, driver, address);
    const changed = rows.find(({ months }) => months.includes(month));
    if (changed !== undefined) return changed.push;
    const first = `SELECT min(id) AS id FROM push WHERE address = ? AND outcome = 'acknowledged'`;
    return this.#tables.all<{ id: number | null }>(first, address)[0]?.id ?? undefined;
  }
}

export function changedMonths(row: { push: number; months: Uint8Array }): { push: number; months: readonly Month[] } {
  return { push: row.push, months: unpackMonths(row.months) };
}

export function pushRecord(row: PushRow): PushRecord {
  return {
    id: row.id,
    atMs: row.at_ms,
    endedAtMs: row.ended_at_ms ?? undefined,
    address: row.address,
    digest: row.digest,
    drivers: row.drivers,
    points: row.points,
    bytes: row.bytes,
    changes: parseChanges(row.changes),
    rollbackOf: row.rollback_of ?? undefined,
    shouldDeleteMissing: row.should_delete_missing === 1,
    outcome: row.outcome ?? undefined,
    status: row.status ?? undefined,
    detail: row.detail ?? undefined,
    maybeTaken: row.maybe_taken === 1,
  };
}
