/** Held candidates, approvals and unapproved deletes, on PostgreSQL. */
import {
  type Approval,
  type ApprovalScope,
  type Decided,
  type HeldCandidate,
  type HoldLog,
  type LetThrough,
  type OtherReads,
  type ReadCounts,
  approvedAgain,
  isSaidAgain,
} from '../../core/ledger.ts';
import {
  type ApprovalRow,
  type DeletesRow,
  type HeldRow,
  allReads,
  approvalOf,
  heldCandidate,
  noScope,
  packedScope,
  scopeOf,
  sumOfDeletes,
} from '../state/hold-rows.ts';
import { note } from './chain.ts';
import type { SharedDatabase, Statements } from './database.ts';
import type { Fence } from './fence.ts';

export class SharedHolds implements HoldLog {
  readonly #database: SharedDatabase;
  readonly #fence: Fence;

  constructor(database: SharedDatabase, fence: Fence) {
    this.#database = database;
    this.#fence = fence;
  }

  async held(): Promise<readonly HeldCandidate[]> {
    const sql = `SELECT source, digest, reason, hint, since_ms AS "sinceMs", approvable FROM ~held ORDER BY source`;
    return (await this.#database.all<HeldRow>(sql)).map(heldCandidate);
  }

  /** Also what `plan` found, so that it can be approved. */
  hold(held: Omit<HeldCandidate, 'sinceMs'>, scope: ApprovalScope, nowMs: number): Promise<void> {
    const { source, digest, reason, hint, approvable } = held;
    const sql = `INSERT INTO ~held AS h (source, digest, reason, hint, since_ms, approvable, deletes, carried, is_end, findings)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (source) DO UPDATE SET
      since_ms = CASE WHEN h.digest = excluded.digest THEN h.since_ms ELSE excluded.since_ms END, digest = excluded.digest,
      reason = excluded.reason, hint = excluded.hint, approvable = excluded.approvable, deletes = excluded.deletes,
      carried = excluded.carried, is_end = excluded.is_end, findings = excluded.findings`;
    const values = [source, digest, reason, hint ?? null, nowMs, Number(approvable), ...packedScope(scope)];
    return this.#fence.ask(async (statements) => void (await statements.run(sql, ...values)));
  }

  release(source: string): Promise<void> {
    return this.#fence.write(async (statements) => {
      await statements.run('DELETE FROM ~held WHERE source = $1', source);
    });
  }

  approve(
    digest: string,
    source: string | undefined,
    nowMs: number,
    decided: Decided = {},
  ): Promise<Approval | undefined> {
    const { by, as, reason } = decided;
    const sql = `INSERT INTO ~approval
      (id, source, digest, at_ms, by_user, ran_as, reason, state, deletes, carried, is_end, findings)
      SELECT (SELECT coalesce(max(id), 0) + 1 FROM ~approval), $1, $2, $3, $4, $5, $6, 'pending', ${heldScope}
      FROM (VALUES (1)) AS one LEFT JOIN ~held h ON h.source = $1 AND h.digest = $2 RETURNING id`;
    const earlierSql = `SELECT ${approvalColumns} FROM ~approval a LEFT JOIN ~held h ON h.source = $1 AND h.digest = $2
      WHERE a.state = 'pending' AND a.source IS NOT DISTINCT FROM $1 AND a.digest = $2
      AND (a.deletes, a.carried, a.is_end, a.findings) = (${heldScope}) ORDER BY a.id DESC LIMIT 1`;
    const of = source ?? null;
    const values = [of, digest, nowMs, by ?? null, as ?? null, reason ?? null];
    return this.#fence.ask(async (statements) => {
      const earlier = (await statements.all<ApprovalRow>(earlierSql, of, digest)).map(approvalOf)[0];
      if (earlier !== undefined && isSaidAgain(earlier, decided)) return earlier;
      if (earlier !== undefined) await close(statements, earlier.id, 'dropped', approvedAgain);
      const [row] = await statements.all<{ id: number }>(sql, ...values);
      await note(statements, { table: 'approval', key: row!.id });
      return undefined;
    });
  }

  async approvals(): Promise<readonly Approval[]> {
    const sql = `SELECT ${approvalColumns} FROM ~approval a ORDER BY a.id DESC`;
    return (await this.#database.all<ApprovalRow>(sql)).map(approvalOf);
  }

  async approvedScope(approval: number): Promise<ApprovalScope> {
    const sql = 'SELECT deletes, carried, is_end AS "isEnd", findings FROM ~approval WHERE id = $1';
    return (await this.#database.read(scopeOf, sql, approval))[0] ?? noScope;
  }

  closeApproval(id: number, state: 'used' | 'dropped', why?: string): Promise<void> {
    return this.#fence.write((statements) => close(statements, id, state, why));
  }

  reopenApproval(id: number): Promise<void> {
    return this.#fence.write(async (statements) => {
      await statements.run("UPDATE ~approval SET state = 'pending', why = NULL WHERE id = $1", id);
      await note(statements, { table: 'approval', key: id });
    });
  }

  recordDeletes(source: string, read: string, deletes: Parameters<HoldLog['recordDeletes']>[2]): Promise<void> {
    const { atMs, drivers, points, had } = deletes;
    const values = [source, read, atMs, drivers, points, had.drivers, had.points];
    const sql = `INSERT INTO ~deletion (source, read, at_ms, drivers, points, had_drivers, had_points)
      VALUES ($1, $2, $3, $4, $5, $6, $7) ${overwriting}`;
    return this.#fence.write(async (statements) => void (await statements.run(sql, ...values)));
  }

  async deletesSince(
    sources: readonly string[],
    sinceMs: number,
    read: string,
    { own, untilMs }: OtherReads = allReads,
  ): Promise<LetThrough> {
    const sql = `SELECT read, max(at_ms) AS at_ms, max(drivers) AS drivers, max(points) AS points,
      min(had_drivers) AS "hadDrivers", min(had_points) AS "hadPoints"
      FROM ~deletion WHERE source = ANY ($1) AND at_ms > $2 AND read != $3
      AND (at_ms <= $4 OR left(read, length($5)) = $5) GROUP BY read ORDER BY 2, "hadDrivers" DESC`;
    return sumOfDeletes(await this.#database.all<DeletesRow>(sql, sources, sinceMs, read, untilMs, own));
  }

  async settleDeletes(nowMs: number): Promise<void> {
    if ((await this.#database.all('SELECT 1 FROM ~deletion WHERE at_ms > $1 LIMIT 1', nowMs)).length === 0) return;
    await this.#fence.write(async (statements) => {
      await statements.run('UPDATE ~deletion SET at_ms = $1 WHERE at_ms > $1', nowMs);
    });
  }

  forgetDeletes(sinceMs: number): Promise<void> {
    return this.#fence.write(async (statements) => {
      await statements.run('DELETE FROM ~deletion WHERE at_ms > $1', sinceMs);
    });
  }

  inheritDeletes(from: string, to: string, most: ReadCounts): Promise<void> {
    const sql = `INSERT INTO ~deletion (source, read, at_ms, drivers, points, had_drivers, had_points)
      SELECT $1, read, at_ms, drivers, points, least(had_drivers, $3), least(had_points, $4)
      FROM ~deletion WHERE source = $2 ${overwriting}`;
    const values = [to, from, most.drivers, most.points];
    return this.#fence.write(async (statements) => void (await statements.run(sql, ...values)));
  }
}

async function close(
  statements: Statements,
  id: number,
  state: 'used' | 'dropped',
  why: string | undefined,
): Promise<void> {
  await statements.run('UPDATE ~approval SET state = $1, why = $2 WHERE id = $3', state, why ?? null, id);
  await note(statements, { table: 'approval', key: id });
}

const approvalColumns = `a.id, a.source, a.digest, a.at_ms AS "atMs", a.state, a.why, a.by_user AS "by", a.ran_as AS "as", a.reason`;

/** What an approval of the held candidate `h` covers; nothing where it is not held. */
const heldScope = `coalesce(h.deletes, '\\x5b5d'), coalesce(h.carried, '[]'), coalesce(h.is_end, 0), coalesce(h.findings, '[]')`;

const overwriting = `ON CONFLICT (source, read) DO UPDATE SET at_ms = excluded.at_ms, drivers = excluded.drivers,
  points = excluded.points, had_drivers = excluded.had_drivers, had_points = excluded.had_points`;
