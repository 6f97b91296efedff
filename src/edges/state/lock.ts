/**
 * The state directory and who holds it. The lock is the kernel's, on a small SQLite file: Node has no file locks of its
 * own, and this one is gone the moment its process is, however that ended. `agent.json` beside it says who holds it; it
 * proves nothing by itself.
 *
 * The file `lock` must be opened through SQLite only: a POSIX lock is dropped when its process closes the file by any
 * other way.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { AgentError, isAgentError } from '../../core/errors.ts';
import { removeFile } from './file-failure.ts';
import { type OpenedFiles, confirmInPlace, noteInPlace } from './in-place.ts';
import { makeFolder, makePrivate, openNew } from './private-file.ts';

/** The agent that holds a state directory. The first three are `undefined` where its `agent.json` is missing. */
export interface LockHolder {
  readonly pid: number | undefined;
  readonly command: string | undefined;
  /** ISO 8601, UTC. */
  readonly since: string | undefined;
  readonly configLoadedAt?: string;
  readonly configDigest?: string;
  readonly configWrittenDigest?: string;
  readonly [field: string]: unknown;
}

export interface Lock extends Disposable {
  /** For another thread of this process, to confirm it there. */
  readonly opened: OpenedFiles;
  /** Makes sure that whoever asks for the lock meets this one. @throws AgentError `state.lost`, `state.unwritable` */
  confirm(): void;
  /** Says more about this agent in `agent.json`; what was said before stays unless said anew. @throws AgentError of `state.` */
  describe(fields: Readonly<Record<string, unknown>>): void;
  /** Lets the next agent in. May be called again. @throws AgentError where `agent.json` cannot be removed, or must not: the next one is let in */
  release(): void;
}

/** Another agent that is just ending, or a probe, may hold the lock this long. */
const patienceMs = 500;

/**
 * Creates the state directory (0700) where it is missing, and makes sure that it can be written.
 * @throws AgentError `state.unwritable`, `state.full`
 */
export function ensureStateDir(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw stateError(path, error);
  }
}

/**
 * Looks whether the state directory can be used, or made where it is missing, and makes nothing.
 * @returns why not, `forAll` where that holds for every user
 */
export function stateTrouble(stateDir: string): { readonly error: AgentError; readonly forAll: boolean } | undefined {
  const { R_OK, W_OK, X_OK } = constants;
  let there = stateDir;
  while (there !== dirname(there) && !existsSync(there)) there = dirname(there);
  try {
    if (!statSync(there).isDirectory()) {
      const taken = Object.assign(new Error(`${there} is a file`), { code: 'ENOTDIR', errno: 0 });
      return { error: stateError(stateDir, taken), forAll: true };
    }
    accessSync(there, there === stateDir ? R_OK | W_OK | X_OK : W_OK | X_OK);
    return undefined;
  } catch (error) {
    return { error: stateError(stateDir, error), forAll: false };
  }
}

/**
 * To a user who may not look into it, a state directory seems to be empty.
 * @throws AgentError `state.unwritable`
 */
export function refuseHidden(stateDir: string): void {
  try {
    statSync(join(stateDir, 'lock'), { throwIfNoEntry: false });
  } catch (error) {
    throw stateError(stateDir, error);
  }
}

/**
 * Takes the state directory for this process, until `release` or its end.
 * @throws AgentError `state.locked` naming the agent that has it, `state.unwritable`, `state.full`
 */
export function acquireLock(stateDir: string, self: { readonly command: string; readonly pid: number }): Lock {
  const database = lockFile(stateDir);
  const agentFile = join(stateDir, 'agent.json');
  const opened = noteInPlace(stateDir, ['lock']);
  const confirm = (): void => confirmInPlace(stateDir, opened);
  let holder: LockHolder = { pid: self.pid, command: self.command, since: new Date().toISOString() };
  const release = (): void => {
    if (!database.open) return;
    try {
      // Where the lock is another one now, this may be the description of another agent.
      confirm();
      removeFile(agentFile);
    } finally {
      database.close();
    }
  };
  const lock: Lock = {
    opened,
    confirm,
    describe(fields) {
      confirm();
      holder = { ...holder, ...fields };
      writeHolder(stateDir, holder);
    },
    release,
    [Symbol.dispose]: release,
  };
  try {
    // A killed predecessor may have left its own, which would name the wrong process until it is replaced.
    removeFile(agentFile);
    lock.describe({});
  } catch (error) {
    database.close();
    throw error;
  }
  return lock;
}

/** Who holds the state directory now; `undefined` where nobody does. Changes nothing. */
export function lockHolder(stateDir: string): LockHolder | undefined {
  // The lock comes a moment before its description.
  for (let tries = 0; isHeld(stateDir); tries += 1) {
    const holder = readHolder(stateDir);
    if (holder !== undefined) return holder;
    if (tries === 10) return { pid: undefined, command: undefined, since: undefined };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  return undefined;
}

/**
 * Who held the state directory last, where it was killed or crashed: an agent that ends takes its `agent.json` along. No agent removes
 * its lock: where somebody did (`isLockGone`), nobody can tell whether that agent still runs.
 */
export function killedHolder(stateDir: string): (LockHolder & { readonly isLockGone: boolean }) | undefined {
  const isLockGone = !existsSync(join(stateDir, 'lock'));
  const holder = isHeld(stateDir) ? undefined : readHolder(stateDir);
  return holder && { ...holder, isLockGone };
}

/** What the holder says of itself, without asking the lock: for a thread of the holder's own process. */
export function ownHolder(stateDir: string): LockHolder {
  return { pid: process.pid, command: 'run', since: undefined, ...readHolder(stateDir) };
}

function lockFile(stateDir: string): Database.Database {
  const path = join(stateDir, 'lock');
  let database: Database.Database | undefined;
  try {
    makePrivate(path);
    database = new Database(path, { timeout: patienceMs });
    // On a file that it may only read SQLite would make do with a shared lock, and two agents would both go on.
    accessSync(path, constants.W_OK);
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (sqliteCode(error).startsWith('SQLITE_BUSY')) throw lockedError(stateDir, error);
    throw stateError(stateDir, error);
  }
}

function isHeld(stateDir: string): boolean {
  const path = join(stateDir, 'lock');
  if (!existsSync(path)) return false;
  let database: Database.Database | undefined;
  try {
    database = new Database(path, { readonly: true, timeout: 0 });
    database.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (sqliteCode(error).startsWith('SQLITE_BUSY')) return true;
    throw stateError(stateDir, error);
  } finally {
    database?.close();
  }
}

function readHolder(stateDir: string): LockHolder | undefined {
  try {
    const holder: unknown = JSON.parse(readFileSync(join(stateDir, 'agent.json'), 'utf8'));
    return isHolder(holder) ? holder : undefined;
  } catch {
    // Missing, or left half by hand: the lock is what counts.
    return undefined;
  }
}

function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, command, since } = value as Record<string, unknown>;
  return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof command === 'string' && typeof since === 'string';
}

function writeHolder(stateDir: string, holder: LockHolder): void {
  const path = join(stateDir, 'agent.json');
  try {
    removeFile(`${path}.new`);
    const fd = openNew(`${path}.new`);
    try {
      writeFileSync(fd, `${JSON.stringify(holder)}\n`);
    } finally {
      closeSync(fd);
    }
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw stateError(stateDir, error);
  }
}

function lockedError(stateDir: string, cause: unknown): AgentError {
  const holder = lockHolder(stateDir);
  const who =
    holder?.pid === undefined ? 'another agent' : `another agent (pid ${holder.pid}, driver-sync ${holder.command})`;
  return new AgentError('state.locked', `${who} holds ${stateDir}`, { cause, hint: lockedHint(holder) });
}

function lockedHint(holder: LockHolder | undefined): string {
  if (holder?.pid === undefined) return 'wait until it ends, or name another directory with state:';
  // Only a daemon stays after its pass, and knows the signal.
  if (holder.command !== 'run') return 'it is at work now: wait until it ends (kill -USR2 is for a daemon)';
  return `kill -USR2 ${holder.pid} makes it run a pass now; "driver-sync sync --wake" does so and waits for its end`;
}

/** What the file system or SQLite says of a state directory, in our words: what may pass by itself is no fault of the config. */
export function stateError(stateDir: string, cause: unknown): AgentError {
  if (isAgentError(cause)) return cause;
  const code = errnoCode(cause) || sqliteCode(cause);
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL') {
    return new AgentError('state.full', `no space left for the state directory ${stateDir} (${code})`, {
      cause,
      hint: 'free some space: nothing was lost, and nothing is pushed until then',
    });
  }
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new AgentError('state.unwritable', `${stateDir}/lock is not a lock file of driver-sync (${code})`, {
      cause,
      hint: 'remove it while no agent runs',
    });
  }
  // Nothing is wrong with the config: it may pass by itself, as where a share was away for a moment.
  if (/^(?:EIO|ESTALE|ETIMEDOUT|ENOTCONN|EREMOTEIO|SQLITE_PROTOCOL|SQLITE_IOERR\w*)$/.test(code)) {
    return new AgentError('state.full', `the state directory ${stateDir} cannot be used: the disk fails (${code})`, {
      cause,
      hint: 'look at the disk, or the share; nothing was lost, and nothing is pushed until then',
    });
  }
  const reason = code || (cause instanceof Error ? cause.message : String(cause));
  return new AgentError('state.unwritable', `the state directory ${stateDir} cannot be used (${reason})`, {
    cause,
    hint: unwritableHints[code] ?? 'give this user read and write access to it, or name another with state:',
  });
}

const unwritableHints: Readonly<Record<string, string>> = {
  EACCES: "run this as the agent's user, give this user read and write access to it, or name another with state:",
  ENOENT: 'it was removed while the agent ran: put it back, or end the agent and start it anew',
  EROFS: 'it lies on a read-only file system: mount it writable, or name another with state:',
  ENOTDIR: 'a file stands where the directory should be: remove it, or name another with state:',
  EEXIST: 'a file stands where the directory should be: remove it, or name another with state:',
};

function errnoCode(error: unknown): string {
  return error instanceof Error && 'code' in error && 'errno' in error ? String(error.code) : '';
}

function sqliteCode(error: unknown): string {
  return error instanceof Database.SqliteError ? error.code : '';
}
