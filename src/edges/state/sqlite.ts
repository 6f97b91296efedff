/** What the agent's own databases share: opening, and SQLite's failures in our words. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import { openMemoryCopy } from './memory-copy.ts';
import { makePrivate } from './private-file.ts';

export interface OpenOptions {
  readonly readonly?: boolean;
  readonly synchronous: 'NORMAL' | 'FULL';
}

/** Opens a database in WAL mode. @throws AgentError `state.missing` for a reader of a missing file, and other `state.` */
export function openDatabase(file: string, options: OpenOptions): Database.Database {
  return translating(file, () =>
    options.readonly === true ? openReader(file) : openWriter(file, options.synchronous),
  );
}

function openWriter(file: string, synchronous: OpenOptions['synchronous']): Database.Database {
  let db: Database.Database | undefined;
  try {
    if (file !== ':memory:') makePrivate(file);
    db = new Database(file, { timeout: 10_000 });
    if (file !== ':memory:') {
      // For new files only. Larger pages than 4 KB waste less and are read in fewer calls.
      db.pragma('page_size = 8192');
      db.pragma('journal_mode = WAL');
    }
    return prepared(db, synchronous);
  } catch (error) {
    db?.close();
    throw unopened(file, error);
  }
}

/** On a full or read-only disk, beside which not even a reader can open a database in WAL mode, it gets a copy in memory. */
function openReader(file: string): Database.Database {
  try {
    return openReadonly(file);
  } catch (error) {
    if (!existsSync(file)) throw error;
    const copy = isWriteFailure(error) ? openMemoryCopy(file) : undefined;
    if (copy === undefined) throw unopened(file, error);
    return copy;
  }
}

/**
 * Another connection to a database that its agent has open, to read what that one has written. Never a copy, which would be
 * of what was there before.
 */
export function openBeside(file: string): Database.Database {
  return translating(file, () => {
    try {
      return openReadonly(file);
    } catch (error) {
      throw unopened(file, error);
    }
  });
}

function openReadonly(file: string): Database.Database {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 10_000 });
  try {
    return prepared(db, 'NORMAL');
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepared(db: Database.Database, synchronous: OpenOptions['synchronous']): Database.Database {
  db.pragma(`synchronous = ${synchronous}`);
  // In KB. better-sqlite3's own 16 MB a connection speed nothing up here: everything is written and read in order.
  db.pragma('cache_size = -2000');
  // Reads the file's header, so that a file that is no database is found here.
  db.pragma('user_version');
  return db;
}

function unopened(file: string, error: unknown): unknown {
  if (!codeOf(error).startsWith('SQLITE_CANTOPEN')) return error;
  return new AgentError(
    'state.unwritable',
    `${file} cannot be opened: no permission, or a disk that is read-only or fails`,
    {
      cause: error,
      hint: "let the agent own its state directory, and run commands as the agent's user",
    },
  );
}

function isWriteFailure(error: unknown): boolean {
  return /^SQLITE_(CANTOPEN|READONLY|IOERR|PROTOCOL|FULL)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  // better-sqlite3's own word for a folder that is not there, or that cannot be looked at.
  if (error instanceof TypeError && error.message.includes('directory does not exist')) return 'SQLITE_CANTOPEN';
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Runs something on a database and turns what SQLite says into an `AgentError`. */
export function translating<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw translated(file, error);
  }
}

/** A flipped bit in the name of a table or column: every statement of ours fits the version that the file says it has. */
function isOfAnotherSchema({ message }: Error): boolean {
  return /^no such (table|column): |^table \S+ has no column named /.test(message);
}

/** The buffer is rebuilt where it is damaged; what the ledger knows is nowhere else. */
export function damagedDatabase(file: string, cause: Error): AgentError {
  const text = `${file} is damaged (${cause.message})`;
  if (path.basename(file) !== 'ledger.db')
    return new AgentError('state.corrupt', text, { cause, hint: 'the next run or sync rebuilds it' });
  const hint = 'restore it from a backup of the state directory, while no agent runs';
  return new AgentError('ledger.corrupt', text, { cause, hint });
}

/**
 * What a text of our own in a database says.
 * @throws AgentError `state.corrupt` or `ledger.corrupt` where a disk has changed it
 */
export function parseKept<T>(file: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw damagedDatabase(file, error as SyntaxError);
  }
}

/** SQLite says that a file is damaged also where the disk failed to read it (EIO). To read all of it again tells which of the two it is. */
function isWhole(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: 10_000 });
    return db.pragma('integrity_check(1)', { simple: true }) === 'ok';
  } catch {
    return false;
  } finally {
    db?.close();
  }
}

export function translated(file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  type Kind = 'state.full' | 'state.locked' | 'state.unwritable' | 'state.missing';
  const failure = (kind: Kind, text: string, hint: string) =>
    new AgentError(kind, `${file} ${text} (${error.message})`, { cause: error, hint });
  const isSaidDamaged = code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
  if (isSaidDamaged && isWhole(file)) {
    return failure(
      'state.full',
      'could not be read, and is whole now: the disk fails',
      'look at the disk, or the share; nothing was lost and the next pass tries again',
    );
  }
  if (isSaidDamaged || isOfAnotherSchema(error)) return damagedDatabase(file, error);
  if (code === 'SQLITE_FULL' || code.startsWith('SQLITE_IOERR')) {
    return failure(
      'state.full',
      'cannot be written: the disk is full, or it fails',
      'free some space; nothing was lost and the next pass tries again',
    );
  }
  // SQLite tried again and again to lock the write-ahead log, and could not.
  if (code === 'SQLITE_PROTOCOL') {
    return failure(
      'state.full',
      'cannot be locked: the disk fails, or its file system has no locks',
      'look at the disk, or the share; nothing was lost and the next pass tries again',
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return failure(
      'state.locked',
      'is held by another program',
      'end what has it open for writing, such as a backup or a shell of SQLite; nothing was lost and the next pass tries again',
    );
  }
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_PERM') {
    return failure(
      'state.unwritable',
      'cannot be written',
      "let the agent own its state directory, and run commands as the agent's user",
    );
  }
  if (code.startsWith('SQLITE_CANTOPEN')) {
    return failure('state.missing', 'cannot be opened', 'check "state" in the config and who owns that directory');
  }
  return error;
}
