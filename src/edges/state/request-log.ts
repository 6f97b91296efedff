import type { PendingRequest, Request, RequestLog } from '../../core/ledger.ts';
import type { Statements } from './statements.ts';

export class SqliteRequests implements RequestLog {
  readonly #tables: Statements;

  constructor(tables: Statements) {
    this.#tables = tables;
  }

  async add(request: Request, nowMs: number): Promise<number> {
    const sql = 'INSERT INTO request (at_ms, request) VALUES (?, ?)';
    return Number(this.#tables.run(sql, nowMs, JSON.stringify(request)).lastInsertRowid);
  }

  async pending(): Promise<readonly PendingRequest[]> {
    const sql = 'SELECT id, at_ms AS atMs, request FROM request WHERE result IS NULL ORDER BY id';
    return this.#tables.all<{ id: number; atMs: number; request: string }>(sql).map((row) => ({
      id: row.id,
      atMs: row.atMs,
      request: JSON.parse(row.request) as Request,
    }));
  }

  async finish(id: number, result: string): Promise<void> {
    this.#tables.run('UPDATE request SET result = ? WHERE id = ?', result, id);
  }

  async result(id: number): Promise<string | undefined> {
    return (
      this.#tables.all<{ result: string | null }>('SELECT result FROM request WHERE id = ?', id)[0]?.result ?? undefined
    );
  }

  async asked(): Promise<string> {
    const sql = `SELECT (SELECT coalesce(max(id), 0) FROM request) || '/' ||
      (SELECT coalesce(max(id), 0) FROM approval) AS asked`;
    return this.#tables.all<{ asked: string }>(sql)[0]!.asked;
  }
}
