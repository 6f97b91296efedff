/**
 * One program at a time for each source, also over several processes of the agent: `check` or `plan` beside the daemon. The turn is
 * the kernel's lock on a small SQLite file, as that of the state directory is: it is gone the moment its process is, however
 * that ended, and no number of a process can be mistaken for another's.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { AgentError } from '../../core/errors.ts';
import { codeOf } from '../files/access.ts';

/** Between two looks whether the other process is done. */
const lookMs = 200;

/**
 * Waits until no other process runs the program of this source.
 * @param state the state directory; where it is not there yet, no other agent is either
 * @returns what ends the turn
 * @throws AgentError `source.unreadable` where the state directory cannot be written, or the signal's reason
 */
export async function takeTurn(source: string, state: string | undefined, signal: AbortSignal): Promise<() => void> {
  if (state === undefined || !existsSync(state)) return () => undefined;
  const folder = path.join(state, 'turns');
  const file = path.join(folder, createHash('sha256').update(source).digest('hex').slice(0, 16));
  await makeFile(file).catch(refuse(folder));
  const { default: Database } = await import('better-sqlite3');
  for (;;) {
    signal.throwIfAborted();
    const lock = tryLock(Database, file);
    if (lock !== undefined) return () => void lock.close();
    await sleep(lookMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * The file stays where it is: a process that waits for one that was removed would wait for nobody. One that is there is not
 * opened here: a POSIX lock is dropped when its process closes the file by any other way than SQLite.
 */
async function makeFile(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    await (await open(file, 'wx', 0o600)).close();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    // On a file that it may only read SQLite would make do with a shared lock, and two would both go on.
    await access(file, constants.W_OK);
  }
}

function tryLock(Database: typeof Sqlite, file: string): Sqlite.Database | undefined {
  let database: Sqlite.Database | undefined;
  try {
    database = new Database(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (codeOf(error)?.startsWith('SQLITE_BUSY') === true) return undefined;
    return refuse(path.dirname(file))(error);
  }
}

function refuse(folder: string): (cause: unknown) => never {
  return (cause) => {
    throw new AgentError(
      'source.unreadable',
      `nothing can be written to ${folder} (${codeOf(cause) ?? String(cause)})`,
      {
        cause,
        hint: 'run the command as the user of the agent, and make room there',
      },
    );
  };
}
