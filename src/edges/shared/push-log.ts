/** Every push and what became of it, on PostgreSQL. */
import { type LedgerState, type NewPush, type PushLog, type PushRecord, cutShort } from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import type { PushOutcome, PushResult } from '../../core/ports.ts';
import { CarriedHash } from '../state/chain.ts';
import { changedMonths, pushRecord } from '../state/push-log.ts';
import { note } from './chain.ts';
import type { SharedDatabase, Statements } from './database.ts';
import type { Fence } from './fence.ts';
import { setRecord } from './record.ts';

/** Rows that go in one statement. */
const batchMax = 5000;

export class SharedPushes implements PushLog {
  readonly #database: SharedDatabase;
  readonly #fence: Fence;

  constructor(database: SharedDatabase, fence: Fence) {
    this.#database = database;
    this.#fence = fence;
  }

  begin(push: NewPush, state: LedgerState = {}): Promise<number> {
    const { atMs, address, digest, drivers, points, bytes, changes, rollbackOf } = push;
    const counts = [drivers, points, bytes, JSON.stringify(changes)];
    const values = [atMs, address, digest, ...counts, rollbackOf ?? null, Number(push.shouldDeleteMissing)];
    return this.#fence.write(async (statements) => {
      const sql = `INSERT INTO ~push
        (id, at_ms, address, digest, drivers, points, bytes, changes, rollback_of, should_delete_missing)
        SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM ~push RETURNING id`;
      const [row] = await statements.all<{ id: number }>(sql, ...values);
      await note(statements, { table: 'push', key: row!.id });
      await setRecord(statements, state);
      return row!.id;
    });
  }

  end(id: number, result: PushResult, endedAtMs: number): Promise<void> {
    return this.#fence.write(async (statements) => {
      await endPush(statements, id, { result, endedAtMs });
      await note(statements, { table: 'push', key: id });
    });
  }

  endOrphans(endedAtMs: number): Promise<void> {
    return this.#fence.write((statements) => endOrphanPushes(statements, endedAtMs));
  }

  acknowledge(id: number, result: PushResult, ended: Parameters<PushLog['acknowledge']>[2]): Promise<void> {
    return this.#fence.write(async (statements) => {
      await endPush(statements, id, { result, endedAtMs: ended.atMs });
      const carried = new CarriedHash();
      let batch: { readonly driver: string; readonly months: Uint8Array }[] = [];
      const flush = async (): Promise<void> => {
        if (batch.length === 0) return;
        const sql =
          'INSERT INTO ~change SELECT driver, $1, months FROM unnest($2::text[], $3::bytea[]) AS c (driver, months)';
        const months = batch.map((one) => Buffer.from(one.months));
        await statements.run(
          sql,
          id,
          batch.map(({ driver }) => driver),
          months,
        );
        batch = [];
      };
      for (const { driver, months } of ended.carried) {
        carried.add(driver, months);
        batch.push({ driver, months });
        if (batch.length >= batchMax) await flush();
      }
      await flush();
      await note(statements, { table: 'push', key: id, more: carried.summary() });
      await setRecord(statements, ended.state satisfies LedgerState);
    });
  }

  all(): Promise<readonly PushRecord[]> {
    return this.#records('SELECT * FROM ~push ORDER BY id DESC');
  }

  newest(limit: number, before?: number): Promise<readonly PushRecord[]> {
    const sql = 'SELECT * FROM ~push WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2';
    return this.#records(sql, before ?? null, limit);
  }

  async counts(): Promise<ReadonlyMap<PushOutcome, number>> {
    const sql = 'SELECT outcome, count(*) AS pushes FROM ~push WHERE outcome IS NOT NULL GROUP BY 1';
    const rows = await this.#database.all<{ outcome: PushOutcome; pushes: number }>(sql);
    return new Map(rows.map(({ outcome, pushes }) => [outcome, pushes]));
  }

  async get(id: number): Promise<PushRecord | undefined> {
    return (await this.#records('SELECT * FROM ~push WHERE id = $1', id))[0];
  }

  async last(address?: string): Promise<PushRecord | undefined> {
    const sql = 'SELECT * FROM ~push WHERE $1::text IS NULL OR address = $1 ORDER BY id DESC LIMIT 1';
    return (await this.#records(sql, address ?? null))[0];
  }

  async lastAcknowledged(address?: string): Promise<PushRecord | undefined> {
    const sql = `SELECT * FROM ~push WHERE outcome = 'acknowledged' AND ($1::text IS NULL OR address = $1)
      ORDER BY id DESC LIMIT 1`;
    return (await this.#records(sql, address ?? null))[0];
  }

  async hasOpenSince(address: string, push: number, digest = ''): Promise<boolean> {
    const sql = `SELECT 1 FROM ~push WHERE address = $1 AND id > $2 AND (outcome IS NULL OR outcome != 'acknowledged')
      AND maybe_taken = 1 AND digest != $3 LIMIT 1`;
    return (await this.#database.all(sql, address, push, digest)).length > 0;
  }

  async maybeTaken(address: string, digest: string): Promise<{ endedAtMs: number | undefined } | undefined> {
    const sql = `SELECT ended_at_ms FROM ~push p WHERE address = $1 AND digest != $2 AND maybe_taken = 1
      AND (outcome IS NULL OR outcome != 'acknowledged') AND NOT EXISTS (SELECT 1 FROM ~push q
        WHERE q.address = p.address AND q.id > p.id AND q.outcome = 'acknowledged' AND q.digest != p.digest)
      ORDER BY ended_at_ms DESC NULLS FIRST LIMIT 1`;
    const [row] = await this.#database.all<{ ended_at_ms: number | null }>(sql, address, digest);
    return row && { endedAtMs: row.ended_at_ms ?? undefined };
  }

  async changing(address: string, driver: string): Promise<readonly number[]> {
    return (await this.#changes(address, driver)).map(({ push }) => push);
  }

  async firstOf(address: string, driver: string, month: Month): Promise<number | undefined> {
    const rows = await this.#changes(address, driver);
    const changed = rows.find(({ months }) => months.includes(month));
    if (changed !== undefined) return changed.push;
    const first = `SELECT min(id) AS id FROM ~push WHERE address = $1 AND outcome = 'acknowledged'`;
    return (await this.#database.all<{ id: number | null }>(first, address))[0]?.id ?? undefined;
  }

  #changes(address: string, driver: string): Promise<readonly { push: number; months: readonly Month[] }[]> {
    const sql = `SELECT c.push, c.months FROM ~change c JOIN ~push p ON p.id = c.push
      WHERE c.driver = $1 AND p.address = $2 ORDER BY c.push DESC`;
    return this.#database.read(changedMonths, sql, driver, address);
  }

  async #records(sql: string, ...values: readonly unknown[]): Promise<readonly PushRecord[]> {
    return await this.#database.read(pushRecord, sql, ...values);
  }
}

async function endPush(
  statements: Statements,
  id: number,
  { result, endedAtMs }: { readonly result: PushResult; readonly endedAtMs: number },
): Promise<void> {
  const sql =
    'UPDATE ~push SET ended_at_ms = $1, outcome = $2, status = $3, detail = $4, maybe_taken = $5 WHERE id = $6';
  const { outcome, status, detail, maybeTaken } = result;
  await statements.run(sql, endedAtMs, outcome, status ?? null, detail ?? null, Number(maybeTaken), id);
}

async function endOrphanPushes(statements: Statements, endedAtMs: number): Promise<void> {
  const sql = `UPDATE ~push SET outcome = 'unknown', ended_at_ms = $1, detail = $2 WHERE outcome IS NULL`;
  const orphans = await statements.all<{ id: number }>('SELECT id FROM ~push WHERE outcome IS NULL ORDER BY id');
  if (orphans.length === 0) return;
  await statements.run(sql, endedAtMs, cutShort);
  for (const { id } of orphans) await note(statements, { table: 'push', key: id });
}
