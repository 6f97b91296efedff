/** What commands ask of the next pass, on SQLite. */
import type { Asked, Decided, PendingRequest, Request, RequestLog } from '../../core/ledger.ts';
import type { Chain } from './chain.ts';
import { parseRequest, resultText } from './kept-json.ts';
import type { Statements } from './statements.ts';

/** As SQLite and PostgreSQL give it. */
interface RequestRow {
  id: number;
  atMs: number;
  request: string;
  result: string | null;
  by: string | null;
  as: string | null;
  reason: string | null;
}

export class SqliteRequests implements RequestLog {
  readonly #tables: Statements;
  readonly #chain: Chain;

  constructor(tables: Statements, chain: Chain) {
    this.#tables = tables;
    this.#chain = chain;
  }

  async add(request: Request, nowMs: number, { by, as, reason }: Decided = {}): Promise<number> {
    const sql = 'INSERT INTO request (at_ms, request, by_user, ran_as, reason) VALUES (?, ?, ?, ?, ?)';
    const values = [nowMs, JSON.stringify(request), by ?? null, as ?? null, reason ?? null];
    return this.#tables.write(() => {
      const id = Number(this.#tables.run(sql, ...values).lastInsertRowid);
      this.#chain.note('request', id);
      return id;
    });
  }

  async all(): Promise<readonly Asked[]> {
    const sql = `SELECT id, at_ms AS atMs, request, result, by_user AS "by", ran_as AS "as", reason
      FROM request ORDER BY id DESC`;
    return this.#tables.read(askedOf, sql);
  }

  async pending(): Promise<readonly PendingRequest[]> {
    return (await this.all()).filter(({ result }) => result === undefined).reverse();
  }

  async finish(id: number, result: string): Promise<void> {
    this.#tables.write(() => {
      this.#tables.run('UPDATE request SET result = ? WHERE id = ?', result, id);
      this.#chain.note('request', id);
    });
  }

  async reopen(id: number): Promise<void> {
    this.#tables.write(() => {
      this.#tables.run('UPDATE request SET result = NULL WHERE id = ?', id);
      this.#chain.note('request', id);
    });
  }

  async result(id: number): Promise<string | undefined> {
    return this.#tables.read(resultOf, 'SELECT result FROM request WHERE id = ?', id)[0];
  }

  async asked(): Promise<string> {
    const sql = `SELECT (SELECT coalesce(max(id), 0) FROM request) || '/' ||
      (SELECT coalesce(max(id), 0) FROM approval) AS asked`;
    return this.#tables.all<{ asked: string }>(sql)[0]!.asked;
  }
}

export function resultOf({ result }: Pick<RequestRow, 'result'>): string | undefined {
  return result === null ? undefined : resultText(result);
}

export function askedOf({ id, atMs, request, ...row }: RequestRow): Asked {
  return {
    id,
    atMs,
    request: parseRequest(request),
    result: resultOf(row),
    by: row.by ?? undefined,
    as: row.as ?? undefined,
    reason: row.reason ?? undefined,
  };
}
