/** What commands ask of the next pass, on PostgreSQL. */
import type { Asked, Decided, PendingRequest, Request, RequestLog } from '../../core/ledger.ts';
import { askedOf, resultOf } from '../state/request-log.ts';
import { note } from './chain.ts';
import type { SharedDatabase } from './database.ts';
import type { Fence } from './fence.ts';

export class SharedRequests implements RequestLog {
  readonly #database: SharedDatabase;
  readonly #fence: Fence;

  constructor(database: SharedDatabase, fence: Fence) {
    this.#database = database;
    this.#fence = fence;
  }

  add(request: Request, nowMs: number, { by, as, reason }: Decided = {}): Promise<number> {
    const sql = `INSERT INTO ~request (id, at_ms, request, by_user, ran_as, reason)
      SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5 FROM ~request RETURNING id`;
    const values = [nowMs, JSON.stringify(request), by ?? null, as ?? null, reason ?? null];
    return this.#fence.ask(async (statements) => {
      const [row] = await statements.all<{ id: number }>(sql, ...values);
      await note(statements, { table: 'request', key: row!.id });
      return row!.id;
    });
  }

  async all(): Promise<readonly Asked[]> {
    const sql = `SELECT id, at_ms AS "atMs", request, result, by_user AS "by", ran_as AS "as", reason
      FROM ~request ORDER BY id DESC`;
    return await this.#database.read(askedOf, sql);
  }

  async pending(): Promise<readonly PendingRequest[]> {
    return (await this.all()).filter(({ result }) => result === undefined).reverse();
  }

  finish(id: number, result: string): Promise<void> {
    return this.#fence.write(async (statements) => {
      await statements.run('UPDATE ~request SET result = $1 WHERE id = $2', result, id);
      await note(statements, { table: 'request', key: id });
    });
  }

  reopen(id: number): Promise<void> {
    return this.#fence.write(async (statements) => {
      await statements.run('UPDATE ~request SET result = NULL WHERE id = $1', id);
      await note(statements, { table: 'request', key: id });
    });
  }

  async result(id: number): Promise<string | undefined> {
    return (await this.#database.read(resultOf, 'SELECT result FROM ~request WHERE id = $1', id))[0];
  }

  async asked(): Promise<string> {
    const sql = `SELECT (SELECT coalesce(max(id), 0) FROM ~request) || '/' ||
      (SELECT coalesce(max(id), 0) FROM ~approval) AS asked`;
    return (await this.#database.all<{ asked: string }>(sql))[0]!.asked;
  }
}
