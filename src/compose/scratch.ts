/** A copy of the state to try a pass on: `plan` and `forget` say with it what would happen. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { planLedger } from '../app/ask/plan-ledger.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { restoreAfterLoss } from '../app/prepare/restore.ts';
import { beginToTry, isLedElsewhere } from '../app/shared/take-over.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import { openArchive } from '../edges/state/archive.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { acquireLock, ensureStateDir } from '../edges/state/lock.ts';
import { dropOldScratch, scratchDirectory } from '../edges/state/state-directory.ts';
import { type OpenState, addressIn, nowhere, openKept, silent } from './look.ts';
import { fileIn } from './place.ts';
import { openOwnLedger, partsOf } from './parts.ts';

/**
 * Dependencies whose buffer and archive are copies: what a pass would do, without doing it. Where the ledger is shared and another agent has made
 * the last push, the copy begins from that one, as a pass here would.
 */
export async function openScratch(settings: Settings, log: Log, observe?: Dependencies['observe']): Promise<OpenState> {
  if (settings.ledger === undefined && !existsSync(fileIn(settings, 'ledger'))) {
    ensureStateDir(settings.state);
    using _lock = acquireLock(settings.state, { command: 'plan', pid: process.pid });
    await openOwnLedger(settings).close();
  }
  const kept = await openKept(settings, 'request').catch((error: unknown) => {
    if (settings.ledger === undefined || !isAgentError(error, 'state.missing')) throw error;
    return undefined;
  });
  // Nobody has made the tables of a shared ledger yet.
  if (kept === undefined) return openFirstScratch(settings, log);
  const { ledger, archive, clock } = kept;
  const { directory, buffer } = openCopy(settings);
  const drafts = openArchive(directory);
  const parts = partsOf(settings, { log, ...(observe === undefined ? {} : { observe }) });
  const deps: Dependencies = {
    ...parts,
    ...(clock && { clock }),
    address: await addressIn(ledger, parts),
    buffer,
    ledger: planLedger(ledger, async () => !(await isLedElsewhere({ ledger, buffer }))),
    archive: {
      ...archive,
      write: (...snapshot) => drafts.write(...snapshot),
      open: async (digest) => (await drafts.open(digest)) ?? (await archive.open(digest)),
      keepOnly: async () => undefined,
    },
    destination: nowhere,
  };
  const scratch = {
    deps,
    async [Symbol.asyncDispose]() {
      buffer.close();
      await ledger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  try {
    await restoreAfterLoss(deps);
    await beginToTry({ ...deps, log: silent });
    return scratch;
  } catch (error) {
    await scratch[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * A copy of the buffer in a directory of its own: in the state directory, where there is room for one and nobody else may look, or
 * among the temporary files of this system where the disk of the state directory is full or cannot be written.
 */
function openCopy(settings: Settings): { readonly directory: string; readonly buffer: LocalBuffer } {
  const from = fileIn(settings, 'buffer');
  const openIn = (directory: string) => {
    try {
      ensureStateDir(directory);
      return { directory, buffer: copyBuffer(from, path.join(directory, 'buffer.db')) };
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  };
  const beside = scratchDirectory(settings.state);
  try {
    // Of commands that were killed: a daemon may run for months.
    if (existsSync(settings.state)) dropOldScratch(settings.state);
    rmSync(beside, { recursive: true, force: true });
    return openIn(beside);
  } catch (error) {
    if (!isAgentError(error, 'state.full') && !isAgentError(error, 'state.unwritable')) throw error;
    return openIn(temporaryDirectory());
  }
}

/** The same for a state that is not there yet, and that stays so. */
export async function openFirstScratch(settings: Settings, log: Log): Promise<OpenState> {
  const directory = temporaryDirectory();
  const ledger = openLedger(path.join(directory, 'ledger.db'), 'migrate');
  const buffer = openBuffer(path.join(directory, 'buffer.db'), 'write');
  return {
    deps: {
      ...partsOf(settings, { log }),
      buffer,
      ledger: planLedger(ledger),
      archive: openArchive(directory),
      destination: nowhere,
    },
    async [Symbol.asyncDispose]() {
      buffer.close();
      await ledger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @throws AgentError `state.unwritable` */
function temporaryDirectory(): string {
  try {
    return mkdtempSync(path.join(tmpdir(), 'driver-sync-'));
  } catch (error) {
    throw new AgentError('state.unwritable', `no directory can be made in ${tmpdir()}`, { cause: error });
  }
}

/** Whether passes have left anything. */
export function hasState(settings: Settings): boolean {
  return settings.ledger !== undefined || existsSync(fileIn(settings, 'ledger'));
}

function copyBuffer(from: string, to: string): LocalBuffer {
  try {
    if (existsSync(from)) {
      const buffer = openBuffer(from, 'copy');
      try {
        buffer.copyTo(to);
      } finally {
        buffer.close();
      }
    }
  } catch (error) {
    // The next run or sync rebuilds it, so that is what a plan starts from too.
    if (!isAgentError(error, 'state.corrupt')) throw error;
    rmSync(to, { force: true });
  }
  return openBuffer(to, 'write');
}
