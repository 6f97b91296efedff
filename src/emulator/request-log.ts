/** The request log: the newest thousand requests to the service's paths and how each was answered. */
import type { Database, Statement } from 'better-sqlite3';
import type { KeptBody, ShownBody } from './kept-body.ts';
import type { LoggedRequest, RequestRecord } from './request-record.ts';
import { maskedHeaders, maskParameters } from './secrets.ts';

const recordsMax = 1_000;

/** Records of requests that change nothing are written this much later, so that their answers do not wait for the disk. */
const writeAfterMs = 200;

/** Something that shows a body: one that was received, or one that was read from the disk. */
type Shows = Pick<KeptBody, 'show'>;

/** A record with its bodies, which are decoded when somebody looks at them. */
export interface Entry extends RequestRecord {
  /** sha256 (hex) of the body, once it was received. */
  digest?: () => string;
  request?: Shows | undefined;
  response?: Shows | undefined;
}

/** A request that has arrived. What only a look at the log needs is made then: most requests are never looked at. */
class Arrived implements Entry {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  bytes = 0;
  status: number | null = null;
  applied = false;
  counts: RequestRecord['counts'] = null;
  warnings: readonly string[] = [];
  digest?: () => string;
  request?: Shows;
  response?: Shows;
  readonly #atMs = Date.now();
  readonly #sent: Headers;
  #headers: Record<string, string> | undefined;

  constructor(id: number, { method, url, headers }: Request) {
    this.id = id;
    this.method = method;
    this.path = maskParameters(pathOf(url));
    this.#sent = headers;
  }

  get at(): string {
    return new Date(this.#atMs).toISOString();
  }

  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= maskedHeaders(this.#sent));
  }

  get sha256(): string | null {
    return this.digest?.() ?? null;
  }
}

function shown(entry: Entry): LoggedRequest {
  const { id, at, method, path, headers, bytes, sha256, status, applied, counts, warnings, request, response } = entry;
  const record = { id, at, method, path, headers, bytes, sha256, status, applied, counts, warnings };
  return { ...record, requestBody: request?.show() ?? null, responseBody: response?.show() ?? null };
}

function keptBefore(body: ShownBody | null | undefined): Shows {
  return { show: () => body ?? null };
}

export class RequestLog {
  /** Oldest first. */
  #records: Entry[] = [];
  #lastId = 0;
  readonly #disk: RecordDisk | undefined;
  readonly #unwritten = new Set<Entry>();
  /** Their requests may still be under way. */
  readonly #cleared = new WeakSet<Entry>();
  #timer: NodeJS.Timeout | undefined;
  /** Whether records wait that could not be written. */
  #isBehind = false;

  /** Without a database nothing outlives the process. */
  constructor(database: Database | undefined) {
    if (database === undefined) return;
    this.#disk = new RecordDisk(database);
    this.#records = this.#disk.read();
    this.#lastId = this.#disk.lastId();
  }

  /**
   * Records a request when it arrives, so that one without an answer is seen too.
   * @throws the error of the disk, where earlier records still cannot be written.
   */
  open(request: Request): Entry {
    if (this.#isBehind) this.flush();
    this.#lastId += 1;
    const record = new Arrived(this.#lastId, request);
    this.#records.push(record);
    if (this.#records.length > recordsMax) this.#records.shift();
    this.save(record);
    return record;
  }

  /** Writes the record: before the answer is sent if the request changed something, else soon. */
  save(record: Entry): void {
    if (this.#disk === undefined || this.#cleared.has(record)) return;
    this.#unwritten.add(record);
    if (record.applied && record.status !== null) this.#tryWrite();
    else this.#timer ??= setTimeout(() => this.#tryWrite(), writeAfterMs).unref();
  }

  /** Newest first. */
  all(): LoggedRequest[] {
    return this.#records.map((record) => shown(record)).reverse();
  }

  /** Newest first, without their bodies: a list decodes none. */
  records(): readonly RequestRecord[] {
    return this.#records.toReversed();
  }

  find(id: number): LoggedRequest | undefined {
    const record = this.#records.find((one) => one.id === id);
    return record === undefined ? undefined : shown(record);
  }

  /** The result takes it back, where the transaction around it failed. */
  clear(): () => void {
    const records = this.#records;
    const unwritten = [...this.#unwritten];
    // Ids are never used twice, and the disk remembers the last one.
    this.flush();
    this.#disk?.clear();
    for (const record of records) this.#cleared.add(record);
    this.#records = [];
    return () => {
      for (const record of records) this.#cleared.delete(record);
      this.#records = records;
      for (const record of unwritten) this.save(record);
    };
  }

  /** Writes the records that wait. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#disk?.write([...this.#unwritten]);
    this.#unwritten.clear();
    this.#isBehind = false;
  }

  #tryWrite(): void {
    try {
      this.flush();
    } catch {
      // The next request tries again, and fails with it.
      this.#isBehind = true;
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

  read(): Entry[] {
    const rows = this.#database.prepare<[], { id: number; record: string }>(
      'SELECT id, record FROM request ORDER BY id',
    );
    return rows.all().map(({ id, record }) => {
      const { requestBody, responseBody, ...seen } = JSON.parse(record) as Omit<LoggedRequest, 'id'>;
      // Earlier versions kept parameters unmasked, no bodies and no warnings.
      const path = maskParameters(seen.path);
      return {
        id,
        ...seen,
        path,
        warnings: seen.warnings ?? [],
        request: keptBefore(requestBody),
        response: keptBefore(responseBody),
      };
    });
  }

  lastId(): number {
    const last = this.#database.prepare<[], { seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'request'");
    return last.get()?.seq ?? 0;
  }

  write(records: readonly Entry[]): void {
    if (records.length === 0) return;
    this.#database.transaction(() => {
      for (const record of records) {
        const { id, ...seen } = shown(record);
        this.#put.run(id, JSON.stringify(seen));
      }
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
