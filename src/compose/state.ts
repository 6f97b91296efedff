/** A state directory as commands see it, beside a running agent or without one. */
import { existsSync } from 'node:fs';
import type { Dependencies } from '../app/dependencies.ts';
import { restoreAfterLoss } from '../app/prepare/restore.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Settings } from '../core/settings.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import type { Ledger } from '../core/ledger.ts';
import { openArchive } from '../edges/state/archive.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { type LockHolder, ensureStateDir, killedHolder, lockHolder } from '../edges/state/lock.ts';
import { type Heartbeat, openToOthers, readHeartbeat, watchWake, writeWake } from '../edges/state/state-directory.ts';
import { type NotedHead, type Verification, verifyState } from '../edges/state/verify.ts';
import { fileIn, partsOf } from './parts.ts';

/** The stores of a state directory as a command finds them, beside a running agent or without one. */
export interface OpenState extends AsyncDisposable {
  readonly deps: Dependencies;
}

/**
 * Opens the state to look at, or to leave a request in. Takes no lock.
 * @throws AgentError `state.missing` that says where it looked.
 */
export async function openState(settings: Settings, log: Log): Promise<OpenState> {
  if (!existsSync(fileIn(settings, 'ledger'))) throw noState(settings);
  const ledger = openWritable(fileIn(settings, 'ledger'));
  const archive = openArchive(fileIn(settings, 'archive'));
  const kept = { ...partsOf(settings, { log }), ledger, archive, destination: nowhere };
  const buffer = await openReadableBuffer(fileIn(settings, 'buffer'), kept);
  return {
    deps: { ...kept, buffer },
    async [Symbol.asyncDispose]() {
      buffer.close();
      await ledger.close();
    },
  };
}

/** Where there is no buffer to read, the last acknowledged snapshot answers, as it will for the next pass. */
async function openReadableBuffer(file: string, kept: Omit<Dependencies, 'buffer'>): Promise<LocalBuffer> {
  try {
    if (existsSync(file)) return openBuffer(file, 'read');
  } catch (error) {
    if (!isAgentError(error, 'state.corrupt')) throw error;
    kept.log.warn('the buffer is damaged: this is of the last acknowledged snapshot', { cause: error.message });
  }
  const buffer = openBuffer(':memory:', 'write');
  await restoreAfterLoss({ ...kept, buffer, log: silent });
  return buffer;
}

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Opens the ledger alone, to leave a request or an approval in it.
 * @throws AgentError `state.missing`
 */
export function openAsked(settings: Settings): Ledger {
  const file = fileIn(settings, 'ledger');
  if (!existsSync(file)) throw noState(settings);
  return openLedger(file, 'write');
}

/**
 * Walks the chain of the ledger and the archive; needs nothing but the state directory.
 * @throws AgentError `state.missing`, `state.older` and others of `state.`
 */
export function verifyIn(place: Pick<Settings, 'state'>, noted?: NotedHead): Promise<Verification> {
  const ledger = fileIn(place, 'ledger');
  if (!existsSync(ledger)) throw noState(place);
  return verifyState({ ledger, archive: fileIn(place, 'archive') }, noted);
}

function noState(settings: Pick<Settings, 'state'>): AgentError {
  return new AgentError('state.missing', `there is no state in ${settings.state}`, {
    hint: '"driver-sync run" or "sync" makes it; check "state" in the config and which user runs the agent',
  });
}

function openWritable(file: string): Ledger {
  try {
    return openLedger(file, 'write');
  } catch (error) {
    if (!isAgentError(error, 'state.unwritable') && !isAgentError(error, 'state.full')) throw error;
    return openLedger(file, 'read');
  }
}

export const nowhere: Dependencies['destination'] = {
  push: () => Promise.reject(new Error('this command pushes nothing')),
  probe: () => Promise.reject(new Error('this command tries no address')),
};

/** The agent that holds a state directory now. */
export function runningAgent({ state }: Pick<Settings, 'state'>): LockHolder | undefined {
  return existsSync(state) ? lockHolder(state) : undefined;
}

/** The agent that held a state directory last, where it was killed or crashed and none came after it. */
export function killedAgent({ state }: Pick<Settings, 'state'>): LockHolder | undefined {
  return killedHolder(state);
}

/** What the loop last said of itself; `undefined` where there never was one. */
export function heartbeatOf({ state }: Pick<Settings, 'state'>): Heartbeat | undefined {
  return readHeartbeat(state);
}

/** A warning where other users may look into the state directory. */
export function stateWarning({ state }: Pick<Settings, 'state'>): string | undefined {
  return openToOthers(state);
}

/** Makes the running agent look at its requests now. */
export function wakeAgent(settings: Settings): void {
  writeWake(settings.state);
}

/** Calls `asked` when a command left a request. */
export function watchRequests(settings: Settings, asked: () => void): Disposable {
  return watchWake(settings.state, asked);
}

/** Creates the state directory. @throws AgentError `state.unwritable`, `state.full` */
export function ensureState(settings: Settings): void {
  ensureStateDir(settings.state);
}
