/** The emulator's SQLite database: in a state directory, or temporary for the life of the process. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { StateError } from './state-error.ts';

const fileName = 'emulator.sqlite';

/** Version of the tables, to be raised with every change of one. */
const version = 2;

/** How long to wait for an emulator that is just ending and still holds the directory. */
const patienceMs = 500;

/**
 * Opens and locks the database of a state directory, which is created (0700) if it is missing. SQLite's own lock keeps
 * other processes out and is released when this process ends, however it ends.
 *
 * Without a state directory it opens a private temporary database: in memory while it is small, beyond the page cache
 * (16 MB) in an unnamed file that is deleted with the process. `:memory:` would hold six million points twice while they are
 * replaced.
 *
 * @throws StateError
 */
export function openDatabase(state: string | undefined): Database.Database {
  if (state === undefined) return new Database('');
  let database: Database.Database | undefined;
  try {
    const file = preparePrivateFile(state);
    database = new Database(file, { timeout: patienceMs });
    // Set before the first read: from then on a lock is held until the end.
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    const found = database.pragma('user_version', { simple: true }) as number;
    if (found > version) {
      throw new StateError('newer', `${file} has version ${found} and this emulator knows ${version}`, {
        hint: 'use a newer driver-sync, or another directory',
      });
    }
    database.pragma('journal_mode = WAL');
    // A whole snapshot is one transaction; this cuts the log to 16 MB afterwards.
    database.pragma('journal_size_limit = 16777216');
    database.pragma(`user_version = ${version}`);
    return database;
  } catch (error) {
    database?.close();
    throw stateErrorOf(state, error);
  }
}

/**
 * Creates the database's file with mode 0600 before anything is in it; SQLite gives its log the same mode. A new directory
 * gets 0700. An existing one keeps its mode, because it may serve other purposes too.
 */
function preparePrivateFile(state: string): string {
  if (createFolder(state)) chmodSync(state, 0o700);
  const file = join(state, fileName);
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  return file;
}

/**
 * Creates a folder with those that it is in, and returns whether it was missing. Node's `recursive` never returns where a file
 * system takes no folders and says that there is no such one, as /proc does.
 */
function createFolder(folder: string): boolean {
  if (isFolder(folder)) return false;
  const parent = dirname(folder);
  if (parent !== folder) createFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    // Another emulator that is starting may have been faster.
    if (isFolder(folder)) return false;
    throw error;
  }
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Turns failures of the system and of SQLite into a `StateError`; other errors are returned as they are. */
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
  let hint = 'name a directory that can be written, or one that can be created';
  if (isDamaged) hint = `${join(state, fileName)} is damaged: move it away, or use another directory`;
  if (code === 'SQLITE_FULL') hint = 'free some space, or use another directory';
  return new StateError(code, `the state directory ${state} cannot be used: ${error.message}`, { hint, cause: error });
}

/** Whether the disk is to blame, for instance because it is full: a change has failed as a whole, and a later one may succeed. */
export function isStorageTrouble(error: unknown): boolean {
  const codes = /^SQLITE_(?:FULL|IOERR|PROTOCOL|READONLY|CANTOPEN|CORRUPT|NOTADB)/;
  return error instanceof Database.SqliteError && codes.test(error.code);
}
