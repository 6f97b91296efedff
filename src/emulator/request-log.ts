/** What arrived on the service's own paths and what became of it: the newest thousand, for people and tests. */
import type { Database, Statement } from 'better-sqlite3';

export interface RequestRecord {
  /** Rises with every request. */
  readonly id: number;
  /** When it arrived, ISO 8601, UTC. */
  readonly at: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Lower-case names. What may be a secret is shown as `***`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body after decompression, as far as it was received; 0 before its end. */
  bytes: number;
  /** sha256 (hex) of those bytes; null before their end. */
  sha256: string | null;
  /** null: no answer yet, or none at all. */
  status: number | null;
  /** Whether the request has changed what the service holds. */
  applied: boolean;
  /** Area B: what the update holds, as far as it was understood; null for other requests. */
  counts: { readonly drivers: number; readonly points: number } | null;
}

const recordsMax = 1_000;

const secretName = /auth|cookie|token|secret|key|pass/;

export class RequestLog {
  readonly #database: Database;
  readonly #insert: Statement<[string]>;
  readonly #update: Statement<[string, number]>;
  readonly #prune: Statement<[number]>;
  readonly #all: Statement<[], { id: number; record: string }>;

  constructor(database: Database) {
    this.#database = database;
    // AUTOINCREMENT: an id that was pruned or reset is never given again.
    database.exec(
      'CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL) STRICT',
    );
    this.#insert = database.prepare('INSERT INTO request (record) VALUES (?)');
    this.#update = database.prepare('UPDATE request SET record = ? WHERE id = ?');
    this.#prune = database.prepare(`DELETE FROM request WHERE id <= ? - ${recordsMax}`);
    this.#all = database.prepare('SELECT id, record FROM request ORDER BY id DESC');
  }

  /** Records a request as it arrives, so that one that is never answered is seen as well. */
  open(request: Request): RequestRecord {
    const { pathname, search } = new URL(request.url);
    const seen: Omit<RequestRecord, 'id'> = {
      at: new Date().toISOString(),
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries([...request.headers].map(([name, value]) => [name, maskSecret(name, value)])),
      bytes: 0,
      sha256: null,
      status: null,
      applied: false,
      counts: null,
    };
    const id = Number(this.#insert.run(JSON.stringify(seen)).lastInsertRowid);
    this.#prune.run(id);
    return { id, ...seen };
  }

  /** Keeps what has become known of it. */
  save({ id, ...seen }: RequestRecord): void {
    this.#update.run(JSON.stringify(seen), id);
  }

  /** Newest first. */
  all(): RequestRecord[] {
    return this.#all.all().map(({ id, record }) => ({ id, ...(JSON.parse(record) as Omit<RequestRecord, 'id'>) }));
  }

  clear(): void {
    this.#database.exec('DELETE FROM request');
  }
}

function maskSecret(name: string, value: string): string {
  if (!secretName.test(name)) return value;
  const scheme = name.endsWith('authorization') ? /^\w+ (?=.)/.exec(value)?.[0] : undefined;
  return `${scheme ?? ''}***`;
}
