/** The request log: the newest thousand requests to the service's paths and how each was answered. */
import type { Database, Statement } from 'better-sqlite3';
import type { RequestRecord } from './request-record.ts';

const recordsMax = 1_000;

/** A header or parameter whose name matches holds a secret. */
const secretName = /auth|cookie|token|secret|key|pass|session|credential|signature|assertion|verifier|jwt/i;

/** Parameters of OAuth and of signed links that hold a secret, by their whole name. */
const secretParameters = new Set(['code', 'state', 'sig', 'pwd']);

/** Records of requests that change nothing are written this much later, so that their answers do not wait for the disk. */
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

  /** Records a request when it arrives, so that one without an answer is seen too. @throws the error of the last write. */
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

  /** Writes the record: before the answer is sent if the request changed something, else soon. */
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
    // Ids are never used twice, and the disk remembers the last one.
    this.flush();
    this.#records = [];
    this.#disk?.clear();
  }

  /** Writes the records that wait. */
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
      // Thrown by the next request.
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
    // With AUTOINCREMENT SQLite remembers the last id.
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
      // Earlier versions kept parameters unmasked.
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

/** The path with its query. */
function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

function maskedHeaders(headers: Headers): Record<string, string> {
  const masked: Record<string, string> = {};
  for (const [name, value] of headers) masked[name] = maskSecret(name, value);
  return masked;
}

function maskSecret(name: string, value: string): string {
  // Some headers hold an address with a query, such as `referer`.
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
  // URLSearchParams decodes the name, and leaves it as it is where it cannot be decoded.
  const [name = ''] = new URLSearchParams(`${encodedName}=`).keys();
  return secretName.test(name) || secretParameters.has(name.toLowerCase());
}
