/** A state directory as commands see it, beside a running agent or without one. */
import { existsSync } from 'node:fs';
import type { AgentSigns } from '../app/ask/status-report.ts';
import { isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { LedgerSettings, Settings } from '../core/settings.ts';
import { systemClock } from '../edges/clock.ts';
import { openLedger } from '../edges/state/ledger.ts';
import {
  type LockHolder,
  ensureStateDir,
  killedHolder,
  lockHolder,
  refuseHidden,
  stateTrouble,
} from '../edges/state/lock.ts';
import {
  type Heartbeat,
  notedConfig,
  openToOthers,
  readHeartbeat,
  watchWake,
  writeWake,
} from '../edges/state/state-directory.ts';
import { type NotedHead, type Verification, filesIn, verifyState } from '../edges/state/verify.ts';
import { configDiffers, otherConfigFile } from './agent-config.ts';
import { type KeptState, type OpenState, noState, openStores, refuseForgotten } from './look.ts';
import { fileIn } from './place.ts';
import { partsOf } from './parts.ts';
import { stalledSinceMs } from './stalled.ts';

/**
 * Opens the state to look at, or to leave a request in. Takes no lock.
 * @throws AgentError `state.missing` that says where it looked.
 */
export function openState(settings: Settings, log: Log): Promise<OpenState> {
  return openStores(partsOf(settings, { log }), 'request');
}

/**
 * Opens the ledger alone, to leave a request or an approval in it, and the clock that its moments are of.
 * @throws AgentError `state.missing`, `ledger.refused`
 */
export async function openAsked(settings: Settings): Promise<Pick<Required<KeptState>, 'ledger' | 'clock'>> {
  if (settings.ledger !== undefined) {
    const { openSharedToAsk } = await import('./shared.ts');
    return openSharedToAsk(settings, settings.ledger);
  }
  refuseForgotten(settings);
  const file = fileIn(settings, 'ledger');
  if (!existsSync(file)) throw noState(settings);
  return { ledger: openLedger(file, 'write'), clock: systemClock };
}

/**
 * Walks the chain of the ledger and the archive; needs nothing but the state directory, or the ledger that is shared.
 * @throws AgentError `state.missing`, `state.older` and others of `state.` and `ledger.`
 */
export async function verifyIn(
  place: Pick<Settings, 'state'> & { readonly ledger?: LedgerSettings | undefined },
  noted?: NotedHead,
): Promise<Verification> {
  if (place.ledger !== undefined) {
    const { verifyShared } = await import('./shared-copy.ts');
    return verifyShared(place.ledger, noted);
  }
  const ledger = fileIn(place, 'ledger');
  if (!existsSync(ledger)) throw noState(place);
  return verifyState({ ledger, archive: filesIn(fileIn(place, 'archive')) }, noted);
}

/** The agent that holds a state directory now. */
export function runningAgent({ state }: Pick<Settings, 'state'>): LockHolder | undefined {
  return existsSync(state) ? lockHolder(state) : undefined;
}

/** What an agent says of itself beside its stores, for `status`. */
export function agentSigns(settings: Settings): AgentSigns {
  const holder = runningAgent(settings);
  const heartbeat = heartbeatOf(settings);
  return {
    holder,
    killed: holder === undefined ? killedHolder(settings.state) : undefined,
    broken: heartbeat?.broken,
    stalledSinceMs: stalledSinceMs(holder, heartbeat, Date.now()),
    configDiffers: configDiffers(settings, holder),
    otherConfigFile: otherConfigFile(settings, holder),
  };
}

/** What the loop last said of itself; `undefined` where there never was one. @throws AgentError `state.unwritable` */
export function heartbeatOf({ state }: Pick<Settings, 'state'>): Heartbeat | undefined {
  refuseHidden(state);
  return readHeartbeat(state);
}

/** Why this user may not look into the state directory. */
export function whyHidden({ state }: Pick<Settings, 'state'>): string | undefined {
  try {
    refuseHidden(state);
    return undefined;
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return error.message;
  }
}

/** A warning where other users may look into the state directory. */
export function stateWarning({ state }: Pick<Settings, 'state'>): string | undefined {
  return openToOthers(state);
}

/** Why `run` and `sync` could not use the state directory. */
export function troubleOfState({ state }: Pick<Settings, 'state'>): ReturnType<typeof stateTrouble> {
  return stateTrouble(state);
}

/** The config file whose agent used the state directory last. */
export function lastConfig({ state }: Pick<Settings, 'state'>): string | undefined {
  return notedConfig(state);
}

/** Makes the running agent look at its requests now. */
export function wakeAgent(settings: Settings): void {
  // The agent that leads looks at a shared ledger twice a second, and may be on another machine.
  if (settings.ledger !== undefined) return;
  writeWake(settings.state);
}

/** Calls `asked` when a command left a request. Only a hint: the loop looks at the ledger by itself, too. */
export function watchRequests({ state }: Settings, asked: () => void, log: Log): Disposable | undefined {
  try {
    return watchWake(state, asked);
  } catch (error) {
    // The system has no watches left, or never had any.
    if (!(error instanceof Error && 'code' in error)) throw error;
    log.warn('commands cannot wake the agent: what they ask for is seen within ten seconds', {
      error: error.message,
      hint: 'raise fs.inotify.max_user_watches and max_user_instances (sysctl); files are seen by polling meanwhile',
    });
    return undefined;
  }
}

/** Creates the state directory. @throws AgentError `state.unwritable`, `state.full` */
export function ensureState(settings: Settings): void {
  ensureStateDir(settings.state);
}
