/** What arrived on the service's own paths and what became of it: the newest thousand, for people and tests. */
import type { Database, Statement } from 'better-sqlite3';
import type { RequestRecord } from './request-record.ts';

const recordsMax = 1_000;

/** In the name of a header or of a parameter. */
const secretName = /auth|cookie|token|secret|key|pass|session|credential|signature|assertion|verifier|jwt/i;

/** Names of parameters that are secrets as a whole name, of OAuth and of signed links. */
const secretParameters = new Set(['code', 'state', 'sig', 'pwd']);

/** How long what is known of a request that changes nothing may be on its way to the disk: it does not wait for it. */
const writeAfterMs = 200;

export class RequestLog {
  /** Oldest first. */
  #records: RequestRecord[] = [];
  #lastId = 0;
  readonly #disk: RecordDisk | undefined;
  readonly #unwritten = new Set<RequestRecord>();
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  /** Without a database nothing outlives the process. */
  constructor(database: Database | undefined) {
    if (database === undefined) return;
    this.#disk = new RecordDisk(database);
    this.#records = this.#disk.read();
    this.#lastId = this.#disk.lastId();
  }

  /** Records a request as it arrives, so that one that is never answered is seen as well. @throws what writing failed with */
  open(request: Request): RequestRecord {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    this.#lastId += 1;
    const record: RequestRecord = {
      id: this.#lastId,
      at: new Date().toISOString(),
      method: request.method,
      path: maskParameters(pathOf(request.url)),
      headers: maskedHeaders(request.headers),
      bytes: 0,
      sha256: null,
      status: null,
      applied: false,
      counts: null,
    };
    this.#records.push(record);
    if (this.#records.length > recordsMax) this.#records.shift();
    this.save(record);
    return record;
  }

  /** Keeps what has become known of it. What changed something is on the disk before its answer is sent. */
  save(record: RequestRecord): void {
    if (this.#disk === undefined) return;
    this.#unwritten.add(record);
    if (record.applied && record.status !== null) this.#tryWrite();
    else this.#timer ??= setTimeout(() => this.#tryWrite(), writeAfterMs).unref();
  }

  /** Newest first. */
  all(): RequestRecord[] {
    return this.#records.map((record) => ({ ...record })).reverse();
  }

  clear(): void {
    // An id that is gone is never given again, and it is the disk that remembers which was the last.
    this.flush();
    this.#records = [];
    this.#disk?.clear();
  }

  /** Writes what is still on its way. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#disk?.write([...this.#unwritten]);
    this.#unwritten.clear();
  }

  #tryWrite(): void {
    try {
      this.flush();
    } catch (error) {
      // The next request says so.
      this.#failure = error as Error;
    }
  }
}

class RecordDisk {
  readonly #database: Database;
  readonly #put: Statement<[number, string]>;
  readonly #prune: Statement<[]>;

  constructor(database: Database) {
    this.#database = database;
    // AUTOINCREMENT: SQLite remembers the last id.
    database.exec(
      'CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL) STRICT',
    );
    this.#put = database.prepare(
      'INSERT INTO request (id, record) VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record',
    );
    this.#prune = database.prepare(`DELETE FROM request WHERE id <= (SELECT max(id) FROM request) - ${recordsMax}`);
  }

  read(): RequestRecord[] {
    const rows = this.#database.prepare<[], { id: number; record: string }>(
      'SELECT id, record FROM request ORDER BY id',
    );
    return rows.all().map(({ id, record }) => {
      const seen = JSON.parse(record) as Omit<RequestRecord, 'id'>;
      // What version 0.1 has kept before it masked parameters.
      return { id, ...seen, path: maskParameters(seen.path) };
    });
  }

  lastId(): number {
    const last = this.#database.prepare<[], { seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'request'");
    return last.get()?.seq ?? 0;
  }

  write(records: readonly RequestRecord[]): void {
    if (records.length === 0) return;
    this.#database.transaction(() => {
      for (const { id, ...seen } of records) this.#put.run(id, JSON.stringify(seen));
      this.#prune.run();
    })();
  }

  clear(): void {
    this.#database.exec('DELETE FROM request');
  }
}

/** Without what is before the path. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

function maskedHeaders(headers: Headers): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const [name, value] of headers) masked[name] = maskSecret(name, value);
  return masked;
}

function maskSecret(name: string, value: string): string {
  // Some headers hold an address with its query, such as that of the page before.
  if (!secretName.test(name)) return maskParameters(value);
  const scheme = name.endsWith('authorization') ? /^\w+ (?=.)/.exec(value)?.[0] : undefined;
  return `${scheme ?? ''}***`;
}

function maskParameters(text: string): string {
  return text.replaceAll(/([?&;]\s*)([^=?&;#\s]+)=([^&;#\s]*)/g, (all, separator: string, name: string) =>
    isSecretParameter(name) ? `${separator}${name}=***` : all,
  );
}

function isSecretParameter(encodedName: string): boolean {
  // With `=` so that it is one parameter whatever it holds; what cannot be decoded stays as it is.
  const [name = ''] = new URLSearchParams(`${encodedName}=`).keys();
  return secretName.test(name) || secretParameters.has(name.toLowerCase());
}
