/** Held candidates, approvals and unapproved deletes, on SQLite. */
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
import type { Chain } from './chain.ts';
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
} from './hold-rows.ts';
import type { Statements } from './statements.ts';

const approvalColumns = `a.id, a.source, a.digest, a.at_ms AS atMs, a.state, a.why, a.by_user AS "by", a.ran_as AS "as", a.reason`;

/** What an approval of the held candidate `h` covers; nothing where it is not held. */
const heldScope = `coalesce(h.deletes, x'5b5d'), coalesce(h.carried, '[]'), coalesce(h.is_end, 0), coalesce(h.findings, '[]')`;

export class SqliteHolds implements HoldLog {
  readonly #tables: Statements;
  readonly #chain: Chain;

  constructor(tables: Statements, chain: Chain) {
    this.#tables = tables;
    this.#chain = chain;
  }

  async held(): Promise<readonly HeldCandidate[]> {
    const sql = `SELECT source, digest, reason, hint, since_ms AS sinceMs, approvable FROM held ORDER BY source`;
    return this.#tables.all<HeldRow>(sql).map(heldCandidate);
  }

  async hold(held: Omit<HeldCandidate, 'sinceMs'>, scope: ApprovalScope, nowMs: number): Promise<void> {
    const { source, digest, reason, hint, approvable } = held;
    const sql = `INSERT INTO held (source, digest, reason, hint, since_ms, approvable, deletes, carried, is_end, findings)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET
      since_ms = iif(digest = excluded.digest, since_ms, excluded.since_ms), digest = excluded.digest,
      reason = excluded.reason, hint = excluded.hint, approvable = excluded.approvable, deletes = excluded.deletes,
      carried = excluded.carried, is_end = excluded.is_end, findings = excluded.findings`;
    this.#tables.run(sql, source, digest, reason, hint ?? null, nowMs, Number(approvable), ...packedScope(scope));
  }

  async release(source: string): Promise<void> {
    this.#tables.run('DELETE FROM held WHERE source = ?', source);
  }

  async approve(
    digest: string,
    source: string | undefined,
    nowMs: number,
    decided: Decided = {},
  ): Promise<Approval | undefined> {
    const { by, as, reason } = decided;
    const sql = `INSERT INTO approval
      (source, digest, at_ms, by_user, ran_as, reason, state, deletes, carried, is_end, findings)
      SELECT :source, :digest, :nowMs, :by, :as, :reason, 'pending', ${heldScope}
      FROM (SELECT 1) LEFT JOIN held h ON h.source = :source AND h.digest = :digest`;
    const earlierSql = `SELECT ${approvalColumns} FROM approval a LEFT JOIN held h ON h.source = ? AND h.digest = ?
      WHERE a.state = 'pending' AND a.source IS ? AND a.digest = ?
      AND (a.deletes, a.carried, a.is_end, a.findings) = (${heldScope}) ORDER BY a.id DESC LIMIT 1`;
    const of = source ?? null;
    const said = { by: by ?? null, as: as ?? null, reason: reason ?? null };
    return this.#tables.write(() => {
      const earlier = this.#tables.all<ApprovalRow>(earlierSql, of, digest, of, digest).map(approvalOf)[0];
      if (earlier !== undefined && isSaidAgain(earlier, decided)) return earlier;
      if (earlier !== undefined) this.#close(earlier.id, 'dropped', approvedAgain);
      const { lastInsertRowid } = this.#tables.run(sql, { source: of, digest, nowMs, ...said });
      this.#chain.note('approval', Number(lastInsertRowid));
      return undefined;
    });
  }

  async approvals(): Promise<readonly Approval[]> {
    const sql = `SELECT ${approvalColumns} FROM approval a ORDER BY a.id DESC`;
    return this.#tables.all<ApprovalRow>(sql).map(approvalOf);
  }

  async approvedScope(approval: number): Promise<ApprovalScope> {
    const sql = 'SELECT deletes, carried, is_end AS isEnd, findings FROM approval WHERE id = ?';
    return this.#tables.read(scopeOf, sql, approval)[0] ?? noScope;
  }

  async closeApproval(id: number, state: 'used' | 'dropped', why?: string): Promise<void> {
    this.#close(id, state, why);
  }

  #close(id: number, state: 'used' | 'dropped', why?: string): void {
    this.#tables.write(() => {
      this.#tables.run('UPDATE approval SET state = ?, why = ? WHERE id = ?', state, why ?? null, id);
      this.#chain.note('approval', id);
    });
  }

  async reopenApproval(id: number): Promise<void> {
    this.#tables.write(() => {
      this.#tables.run("UPDATE approval SET state = 'pending', why = NULL WHERE id = ?", id);
      this.#chain.note('approval', id);
    });
  }

  async recordDeletes(source: string, read: string, deletes: Parameters<HoldLog['recordDeletes']>[2]): Promise<void> {
    const { atMs, drivers, points, had } = deletes;
    const sql = `INSERT OR REPLACE INTO deletion (source, read, at_ms, drivers, points, had_drivers, had_points)
      VALUES (?, ?, ?, ?, ?, ?, ?)`;
    this.#tables.run(sql, source, read, atMs, drivers, points, had.drivers, had.points);
  }

  async deletesSince(
    sources: readonly string[],
    sinceMs: number,
    read: string,
    { own, untilMs }: OtherReads = allReads,
  ): Promise<LetThrough> {
    const sql = `SELECT read, max(at_ms) AS at_ms, max(drivers) AS drivers, max(points) AS points,
      min(had_drivers) AS hadDrivers, min(had_points) AS hadPoints
      FROM deletion WHERE source IN (SELECT value FROM json_each(?)) AND at_ms > ? AND read != ?
      AND (at_ms <= ? OR substr(read, 1, length(?)) = ?) GROUP BY read ORDER BY 2, hadDrivers DESC`;
    return sumOfDeletes(this.#tables.all<DeletesRow>(sql, JSON.stringify(sources), sinceMs, read, untilMs, own, own));
  }

  async settleDeletes(nowMs: number): Promise<void> {
    if (this.#tables.all('SELECT 1 FROM deletion WHERE at_ms > ? LIMIT 1', nowMs).length === 0) return;
    this.#tables.run('UPDATE deletion SET at_ms = ? WHERE at_ms > ?', nowMs, nowMs);
  }

  async forgetDeletes(sinceMs: number): Promise<void> {
    this.#tables.run('DELETE FROM deletion WHERE at_ms > ?', sinceMs);
  }

  async inheritDeletes(from: string, to: string, most: ReadCounts): Promise<void> {
    const sql = `INSERT OR REPLACE INTO deletion (source, read, at_ms, drivers, points, had_drivers, had_points)
      SELECT ?, read, at_ms, drivers, points, min(had_drivers, ?), min(had_points, ?) FROM deletion WHERE source = ?`;
    this.#tables.run(sql, to, most.drivers, most.points, from);
  }
}
