/**
 * Walks the chain of a ledger, the rows that it records, and the files of the archive, and finds the first record or
 * snapshot that was damaged or altered. Takes no lock: an agent may run beside it.
 */
import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { isAgentError } from '../../core/errors.ts';
import type { Snapshot } from '../../core/ledger.ts';
import { openArchive, snapshotFileSha256, snapshotsIn } from './archive.ts';
import { type Recorded, beforeFirst, carriedByPush, headOf, plainRow, recordSha256, recorded } from './chain.ts';
import { checkLedgerVersion } from './ledger.ts';
import { openDatabase, translated } from './sqlite.ts';
import { Statements } from './statements.ts';

export interface Damage {
  readonly kind: 'record' | 'snapshot';
  /** The number of a record, or the digest of a snapshot. */
  readonly id: number | string;
  readonly why: string;
}

export interface Verification {
  /** The newest record up to which the chain is whole, as `N:SHA256`. */
  readonly head: string;
  readonly records: number;
  /** Files of the archive that are as they were written, and give the body of their digest. */
  readonly snapshots: number;
  /** How many rows the ledger had before it had a chain: nothing is known of what became of them until then. */
  readonly earlier: number;
  readonly damaged?: Damage | undefined;
}

/** A head that somebody noted. */
export interface NotedHead {
  readonly n: number;
  readonly sha256: string;
}

interface Place {
  readonly ledger: string;
  readonly archive: ArchiveFiles;
}

/** The files of an archive, wherever they are. */
export interface ArchiveFiles {
  /** The digests of those that are there. */
  list(): Promise<readonly string[]>;
  /** sha256 (hex) of a file; `undefined` where there is none. @throws AgentError `snapshot.damaged` */
  sha256(digest: string): Promise<string | undefined>;
  open(digest: string): Promise<Snapshot | undefined>;
}

/** Those of a state directory. */
export function filesIn(directory: string): ArchiveFiles {
  const archive = openArchive(directory);
  return {
    list: async () => snapshotsIn(directory),
    sha256: async (digest) => snapshotFileSha256(directory, digest),
    open: (digest) => archive.open(digest),
  };
}

/** A pass may write snapshots and drop old ones while the archive is read: then it is looked at once more. */
const attemptsMax = 3;

/** @throws AgentError `state.older`, `state.newer` and others of `state.` where the ledger cannot be opened */
export async function verifyState(place: Place, noted?: NotedHead): Promise<Verification> {
  let found = await walkAll(place, noted);
  for (let attempt = 1; attempt < attemptsMax && found.damaged?.kind === 'snapshot'; attempt++) {
    const again = await walkAll(place, noted);
    if (again.head === found.head) break;
    found = again;
  }
  return found;
}

async function walkAll(place: Place, noted: NotedHead | undefined): Promise<Verification> {
  // Listed first: a file that is written after this has no record yet in what is read below.
  const names = new Set(await place.archive.list());
  const walk = new ChainWalk();
  const damaged = readLedger(place, (db) => walk.follow(db, noted) ?? new RowCheck(walk).run(db));
  const whole = { head: headOf(walk.records, walk.sha256), records: walk.records, earlier: walk.earlier };
  if (damaged !== undefined) return { ...whole, snapshots: 0, damaged };
  const checked = await checkSnapshots(place, names, walk);
  return { ...whole, ...checked };
}

/** Everything in one transaction, so that no pass writes in between. */
function readLedger({ ledger }: Place, run: (db: Database) => Damage | undefined): Damage | undefined {
  let db: Database | undefined;
  try {
    db = openDatabase(ledger, { readonly: true, synchronous: 'FULL' });
    checkLedgerVersion(db, ledger);
    return db.transaction(run)(db);
  } catch (error) {
    return damagedBy(ledger, 1, error);
  } finally {
    db?.close();
  }
}

interface LastOfRow {
  /** The number of the record. */
  readonly n: number;
  readonly row: Readonly<Record<string, unknown>>;
  readonly carried: unknown;
}

type Content = { readonly kind: string; readonly [key: string]: unknown };

function otherHead(noted: NotedHead | undefined, n: number, sha256: string): Damage | undefined {
  if (noted?.n !== n || noted.sha256 === sha256) return undefined;
  return { kind: 'record', id: n, why: `its sha256 is ${sha256} and that of the noted head ${noted.sha256}` };
}

/** The records one after the other, and what the last one of each row says. */
class ChainWalk {
  records = 0;
  sha256 = beforeFirst;
  earlier = 0;
  readonly rows = new Map<string, LastOfRow>();
  /** The sha256 of every file that was written for a digest, and the last record of it. */
  readonly files = new Map<
    string,
    { readonly n: number; readonly sha256s: readonly string[]; readonly isKept: boolean }
  >();

  follow(db: Database, noted: NotedHead | undefined): Damage | undefined {
    // What `verify` prints before there is a record is a head, too, and says nothing else.
    const otherStart = otherHead(noted, 0, beforeFirst);
    if (otherStart !== undefined) return otherStart;
    try {
      const sql = 'SELECT n, CAST(content AS BLOB) AS content, sha256 FROM chain ORDER BY n';
      for (const row of db.prepare(sql).iterate()) {
        const damaged = this.#take(row as { n: number; content: Uint8Array; sha256: string }, noted);
        if (damaged !== undefined) return damaged;
      }
    } catch (error) {
      return damagedBy(db.name, this.records + 1, error);
    }
    if (this.records === 0) return missing(1);
    if (noted === undefined || noted.n <= this.records) return undefined;
    return {
      kind: 'record',
      id: this.records + 1,
      why: `it is missing: the head that was noted is of record ${noted.n}`,
    };
  }

  #take(row: { n: number; content: Uint8Array; sha256: string }, noted: NotedHead | undefined): Damage | undefined {
    const n = this.records + 1;
    if (row.n !== n) return missing(n);
    const text = Buffer.from(row.content);
    if (recordSha256(this.sha256, text) !== row.sha256) {
      return {
        kind: 'record',
        id: n,
        why: 'its content and its sha256 do not belong together, or the one before it changed',
      };
    }
    const other = otherHead(noted, n, row.sha256);
    if (other !== undefined) return other;
    this.#note(n, JSON.parse(text.toString()) as Content);
    this.records = n;
    this.sha256 = row.sha256;
    return undefined;
  }

  #note(n: number, content: Content): void {
    if (content.kind === 'begin') {
      this.earlier = Object.values(content['earlier'] as Record<string, number>).reduce((sum, count) => sum + count, 0);
      return;
    }
    const row = content['row'] as Record<string, unknown>;
    const key = recorded[content.kind as Recorded];
    this.rows.set(rowName(content.kind, row[key]), { n, row, carried: content['carried'] });
    if (content.kind !== 'snapshot') return;
    const digest = row['digest'] as string;
    const sha256s = [...(this.files.get(digest)?.sha256s ?? []), row['file_sha256'] as string];
    this.files.set(digest, { n, sha256s, isKept: row['is_kept'] === 1 });
  }
}

function rowName(table: string, key: unknown): string {
  return `${table} ${String(key)}`;
}

function missing(n: number): Damage {
  return { kind: 'record', id: n, why: 'it is missing' };
}

/**
 * What SQLite says of a damaged page, a table that has no such column, and the like.
 * @throws AgentError `state.` where the ledger itself is not to blame, such as a disk that fails
 */
function damagedBy(ledger: string, n: number, error: unknown): Damage {
  const said = translated(ledger, error);
  if (isAgentError(said) && said.code !== 'ledger.corrupt') throw said;
  return { kind: 'record', id: n, why: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` };
}

/** Compares each row with its last record. */
class RowCheck {
  readonly #walk: ChainWalk;
  readonly #seen = new Set<string>();
  #first: Damage | undefined;

  constructor(walk: ChainWalk) {
    this.#walk = walk;
  }

  run(db: Database): Damage | undefined {
    const after = this.#walk.records + 1;
    try {
      const carried = carriedByPush(new Statements(db, db.name));
      for (const [table, key] of Object.entries(recorded)) {
        const rows = db.prepare(`SELECT * FROM ${table}`);
        const strange = rows.columns().find(({ name }) => !/^\w+$/.test(name));
        if (strange !== undefined) this.#found(after, `table ${table} has a column ${JSON.stringify(strange.name)}`);
        for (const row of rows.iterate()) {
          this.#check(rowName(table, (row as Record<string, unknown>)[key]), plainRow(row as object), table);
        }
      }
      for (const [name, { n, carried: said }] of this.#walk.rows) {
        if (!this.#seen.has(name)) this.#found(n, `${name} is not in the ledger any more`);
        if (!name.startsWith('push ')) continue;
        const now = carried.get(Number(name.slice('push '.length)))?.carried;
        if (JSON.stringify(now) !== JSON.stringify(said))
          this.#found(n, `the months that ${name} carried first are others`);
      }
      for (const push of carried.keys()) {
        if (!this.#walk.rows.has(rowName('push', push)))
          this.#found(after, `push ${push} carried months, and no record has it`);
      }
      if (this.#first !== undefined) return this.#first;
      const [problem] = db.prepare('PRAGMA integrity_check').pluck().all() as string[];
      return problem === 'ok'
        ? undefined
        : { kind: 'record', id: after - 1, why: `the file of the ledger is damaged: ${problem}` };
    } catch (error) {
      return this.#first ?? damagedBy(db.name, after, error);
    }
  }

  #check(name: string, now: Readonly<Record<string, unknown>>, table: string): void {
    const last = this.#walk.rows.get(name);
    this.#seen.add(name);
    if (last === undefined) {
      this.#found(this.#walk.records + 1, `${name} is in the ledger, and no record says so`);
      return;
    }
    // A column that a newer version added is in no older record.
    for (const [column, said] of Object.entries(last.row)) {
      const [a, b] = [JSON.stringify(said), JSON.stringify(now[column])];
      if (a !== b) this.#found(last.n, `${name} has ${column} ${b} in table ${table}, and the record says ${a}`);
    }
  }

  #found(n: number, why: string): void {
    if (this.#first === undefined || n < Number(this.#first.id)) this.#first = { kind: 'record', id: n, why };
  }
}

/** In the order of their records. */
async function checkSnapshots(
  { archive }: Place,
  names: ReadonlySet<string>,
  { files, rows, records }: ChainWalk,
): Promise<Pick<Verification, 'snapshots' | 'damaged'>> {
  const placeOf = (digest: string): number => files.get(digest)?.n ?? records + 1;
  const pushes = acknowledgedPushes(rows);
  const expected = [...files].filter(([digest, { isKept }]) => isKept && pushes.has(digest)).map(([digest]) => digest);
  let snapshots = 0;
  for (const digest of [...new Set([...names, ...expected])].sort((a, b) => placeOf(a) - placeOf(b))) {
    const why = names.has(digest) ? await whyDamaged(archive, { digest, files }) : 'its file is missing';
    const ofPush = pushes.has(digest) ? ` (of push ${pushes.get(digest)})` : '';
    if (why !== undefined) return { snapshots, damaged: { kind: 'snapshot', id: digest, why: `${why}${ofPush}` } };
    snapshots++;
  }
  return { snapshots };
}

/** The newest push of each digest. */
function acknowledgedPushes(rows: ChainWalk['rows']): ReadonlyMap<string, number> {
  const pushes = [...rows].flatMap(([name, { row }]) => (name.startsWith('push ') ? [row] : []));
  return new Map(
    pushes
      .filter((row) => row['outcome'] === 'acknowledged')
      .map((row) => [row['digest'] as string, row['id'] as number]),
  );
}

async function whyDamaged(
  archive: ArchiveFiles,
  { digest, files }: { readonly digest: string; readonly files: ChainWalk['files'] },
): Promise<string | undefined> {
  const known = files.get(digest);
  if (known === undefined) return 'no record says that it was written';
  try {
    const sha256 = await archive.sha256(digest);
    if (sha256 === undefined) return 'its file is missing';
    if (!known.sha256s.includes(sha256)) return `its file has the sha256 ${sha256}, and its record another one`;
    const snapshot = await archive.open(digest);
    const hash = createHash('sha256');
    for await (const chunk of snapshot?.body().chunks() ?? []) hash.update(chunk);
    const made = hash.digest('hex');
    return made === digest ? undefined : `the body that is made from it has the digest ${made}`;
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged')) throw error;
    return error.message;
  }
}
