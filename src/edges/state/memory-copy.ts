/**
 * A database in WAL mode as a copy in memory, for commands that look at a state directory on a full or read-only disk:
 * even a reader of such a database has to write beside it, unless an agent runs and has done so.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';

/** `undefined` where the file cannot be read, or is written meanwhile so that no copy holds together. */
export function openMemoryCopy(file: string): Database.Database | undefined {
  for (let tries = 0; tries < 3; tries++) {
    const before = stampOf(file);
    const bytes = copyOf(file);
    if (bytes === undefined) return undefined;
    if (before === stampOf(file)) return openBytes(bytes);
  }
  return undefined;
}

function copyOf(file: string): Buffer | undefined {
  try {
    const database = readFileSync(file);
    return existsSync(`${file}-wal`) ? withLog(database, readFileSync(`${file}-wal`)) : database;
  } catch (error) {
    // No permission, or a disk that fails: what SQLite said of it stands.
    if (error instanceof Error && 'errno' in error) return undefined;
    throw error;
  }
}

function stampOf(file: string): string {
  const stats = [file, `${file}-wal`].map((one) => statSync(one, { bigint: true, throwIfNoEntry: false }));
  return stats.map((stat) => (stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`)).join(', ');
}

function openBytes(bytes: Buffer): Database.Database {
  // The versions of the format: 2 says WAL, which memory cannot have.
  bytes.set([1, 1], 18);
  const db = new Database(bytes);
  // Whoever would write here would lose what they wrote.
  db.pragma('query_only = true');
  return db;
}

/** Writes what is in a database to a new file, also where the database is a copy in memory. */
export function vacuumInto(db: Database.Database, file: string): void {
  const isQueryOnly = db.pragma('query_only', { simple: true }) === 1;
  // It counts as a write, though only the other file is written.
  db.pragma('query_only = false');
  try {
    db.prepare('VACUUM INTO ?').run(file);
  } finally {
    if (isQueryOnly) db.pragma('query_only = true');
  }
}

const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * A database with what its write-ahead log (https://www.sqlite.org/fileformat2.html#walformat) has on top: the frames up to
 * the last commit whose salts and checksums hold.
 */
function withLog(database: Buffer, log: Buffer): Buffer {
  if (log.length < logHeaderBytes) return database;
  const pageBytes = log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  const sum = new Checksum(log.readUInt32BE(0) === 0x377f0682);
  sum.add(log.subarray(0, 24));
  if (!sum.is(log, 24)) return database;
  let pages = new Map<number, Buffer>();
  let committed = new Map<number, Buffer>();
  let size = database.length;
  const frameBytes = frameHeaderBytes + pageBytes;
  for (let at = logHeaderBytes; at + frameBytes <= log.length; at += frameBytes) {
    const content = log.subarray(at + frameHeaderBytes, at + frameBytes);
    sum.add(log.subarray(at, at + 8));
    sum.add(content);
    if (!log.subarray(at + 8, at + 16).equals(salts) || !sum.is(log, at + 16)) break;
    pages.set(log.readUInt32BE(at), content);
    const pagesAfterCommit = log.readUInt32BE(at + 4);
    if (pagesAfterCommit === 0) continue;
    size = pagesAfterCommit * pageBytes;
    committed = new Map([...committed, ...pages]);
    pages = new Map();
  }
  const whole = Buffer.alloc(size);
  database.copy(whole);
  for (const [number, content] of committed) content.copy(whole, (number - 1) * pageBytes);
  return whole;
}

/** The running checksum of a log, over words of the byte order that its header names. */
class Checksum {
  readonly #isLittleEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isLittleEndian: boolean) {
    this.#isLittleEndian = isLittleEndian;
  }

  add(bytes: Buffer): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + view.getUint32(at, this.#isLittleEndian) + this.#second) >>> 0;
      this.#second = (this.#second + view.getUint32(at + 4, this.#isLittleEndian) + this.#first) >>> 0;
    }
  }

  is(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }
}
