/** Where the emulator keeps things: one SQLite database, in a directory or for the life of the process. */
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StateError } from './state-error.ts';

const fileName = 'emulator.sqlite';

/** Raised with every change of a table. */
const version = 1;

/** An emulator that is just ending may hold the directory this long. */
const patienceMs = 500;

/**
 * Opens the database of a state directory, which is created (0700) if need be, and holds it: SQLite's own lock keeps every
 * other process out, and is gone the moment this one is, however it ended.
 *
 * Without one it is a private temporary database: in memory as long as it is small, and what does not fit into the page
 * cache (16 MB) goes to a file without a name that ends with the process. `:memory:` would hold six million points twice
 * while they are replaced.
 *
 * @throws StateError
 */
export function openDatabase(state: string | undefined): Database.Database {
  if (state === undefined) return new Database('');
  let database: Database.Database | undefined;
  try {
    const file = preparePrivateFile(state);
    database = new Database(file, { timeout: patienceMs });
    // Before the first read. What is locked from then on stays so until the end.
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    const found = database.pragma('user_version', { simple: true }) as number;
    if (found > version) {
      throw new StateError('newer', `${file} has version ${found} and this emulator knows ${version}`, {
        hint: 'use a newer driver-sync, or another directory',
      });
    }
    database.pragma('journal_mode = WAL');
    // A whole snapshot is one transaction; its log need not stay that long afterwards.
    database.pragma('journal_size_limit = 16777216');
    database.pragma(`user_version = ${version}`);
    return database;
  } catch (error) {
    database?.close();
    throw stateErrorOf(state, error);
  }
}

/**
 * The database's file, 0600 before anything is in it: SQLite gives its log and index the same mode. A directory that is
 * created is 0700; one that was there keeps its mode, since it may be for other things too.
 */
function preparePrivateFile(state: string): string {
  const created = mkdirSync(state, { recursive: true, mode: 0o700 });
  if (created !== undefined) chmodSync(state, 0o700);
  const file = join(state, fileName);
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  return file;
}

/** What went wrong with a state directory, where it is that; other errors as they are. */
export function stateErrorOf(state: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StateError) return error;
  const isSystem = error instanceof Database.SqliteError || 'errno' in error;
  if (!isSystem || !('code' in error)) return error;
  const { code } = error;
  if (code.startsWith('SQLITE_BUSY')) {
    const hint = 'end it, or use another directory';
    return new StateError('held', `another emulator holds the state directory ${state}`, { hint, cause: error });
  }
  const isDamaged = code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT');
  return new StateError(code, `the state directory ${state} cannot be used: ${error.message}`, {
    hint: isDamaged
      ? `${join(state, fileName)} is damaged: move it away, or use another directory`
      : 'name a directory that can be written, or one that can be created',
    cause: error,
  });
}
