/** The stores of a state directory to look at, without what sources are made of: small enough for a thread of its own. */
import { existsSync } from 'node:fs';
import type { Dependencies } from '../app/dependencies.ts';
import { restoreAfterLoss } from '../app/prepare/restore.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import type { Archive, Ledger } from '../core/ledger.ts';
import type { Clock, Log } from '../core/ports.ts';
import { type Settings, addressOf, unsetAddress } from '../core/settings.ts';
import { systemClock } from '../edges/clock.ts';
import { nextDue, previousDue } from '../edges/schedule.ts';
import { isShared } from '../edges/shared/seen.ts';
import { openArchive } from '../edges/state/archive.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { refuseHidden } from '../edges/state/lock.ts';
import { fileIn } from './place.ts';

/** Dependencies that hold nothing open and read no source. */
export type Surroundings = Omit<
  Dependencies,
  'buffer' | 'ledger' | 'archive' | 'destination' | 'openSource' | 'readLookups' | 'outlets'
>;

export type Look = Surroundings & Pick<Dependencies, 'openSource' | 'readLookups' | 'outlets'>;

export function surroundingsOf(
  settings: Settings,
  options: { readonly log: Log; readonly observe?: Dependencies['observe'] | undefined },
): Surroundings {
  return {
    settings,
    clock: systemClock,
    log: options.log,
    random: Math.random,
    schedule: { nextDue, previousDue },
    address: addressOf(settings),
    observe: options.observe ?? (() => undefined),
  };
}

/** For whoever only looks: it reads no source, and tells nobody. */
export const onlyLooking: Pick<Dependencies, 'openSource' | 'readLookups' | 'outlets'> = {
  openSource: () => {
    throw new Error('whoever looks at the state reads no source');
  },
  readLookups: () => Promise.reject(new Error('whoever looks at the state reads no source')),
  outlets: { host: '', channels: [], heartbeat: undefined },
};

export const nowhere: Dependencies['destination'] = {
  push: () => Promise.reject(new Error('this command pushes nothing')),
  probe: () => Promise.reject(new Error('this command tries no address')),
};

/** The stores of a state directory as a command finds them, beside a running agent or without one. */
export interface OpenState extends AsyncDisposable {
  readonly deps: Dependencies;
}

/**
 * Opens the stores. Takes no lock.
 * @param access `request`: to leave a request in the ledger, where that may be written; a buffer that is lost is made anew in memory
 * @throws AgentError `state.missing` that says where it looked
 */
export async function openStores(look: Look, access: 'read' | 'request'): Promise<OpenState> {
  const { settings } = look;
  const { ledger, archive, clock = look.clock } = await openKept(settings, access);
  try {
    const address = await addressIn(ledger, look);
    const kept = { ...look, address, ledger, archive, clock, destination: nowhere };
    const bufferFile = fileIn(settings, 'buffer');
    const buffer = access === 'read' ? openBuffer(bufferFile, 'read') : await openReadableBuffer(bufferFile, kept);
    return {
      deps: { ...kept, buffer },
      async [Symbol.asyncDispose]() {
        buffer.close();
        await ledger.close();
      },
    };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** Where the variable of the address is not set, as in a shell beside the service: the address that was pushed to last. */
export async function addressIn(ledger: Ledger, { address }: Pick<Dependencies, 'address'>): Promise<string> {
  return address === unsetAddress ? ((await ledger.pushes.last())?.address ?? address) : address;
}

/** What is kept of pushes and decisions, wherever that is. */
export interface KeptState {
  readonly ledger: Ledger;
  readonly archive: Archive;
  /** That all go by who share it; `undefined`: that of this machine. */
  readonly clock?: Clock;
}

/** @throws AgentError `state.missing` */
export async function openKept(settings: Settings, access: 'read' | 'request'): Promise<KeptState> {
  if (settings.ledger !== undefined) {
    // Whoever is alone has no use for any of it.
    const { openSharedToLook } = await import('./shared.ts');
    return openSharedToLook(settings, settings.ledger);
  }
  refuseForgotten(settings);
  const file = fileIn(settings, 'ledger');
  if (!existsSync(file)) throw noState(settings);
  const ledger = access === 'read' ? openLedger(file, 'read') : openWritable(file);
  return { ledger, archive: openArchive(fileIn(settings, 'archive')) };
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

export const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Whoever is alone on a state directory that shared a ledger would not know what the others have pushed, and nobody would hear what is asked for there.
 * @throws AgentError `ledger.refused`
 */
export function refuseForgotten({ state }: Pick<Settings, 'state'>): void {
  if (!isShared(state)) return;
  throw new AgentError('ledger.refused', `the agent in ${state} shared a ledger, and the config names none`, {
    hint: 'put "ledger" back; "driver-sync ledger give-back" copies it here, for one agent alone',
  });
}

/** For a directory without a ledger. @throws AgentError `state.unwritable` where this user may not look */
export function noState(settings: Pick<Settings, 'state'>): AgentError {
  refuseHidden(settings.state);
  if (isShared(settings.state))
    return new AgentError('state.missing', `the agent in ${settings.state} shares its ledger and has none of its own`, {
      hint: 'nothing is missing, and there is nothing to take over: the database that "ledger" names in its config has it',
    });
  if (existsSync(fileIn(settings, 'buffer')))
    return new AgentError('state.missing', `${fileIn(settings, 'ledger')} is gone, and with it what was pushed when`, {
      hint: 'put it back from a backup; without one, "driver-sync sync" begins a new one, with the accepted data that is still there',
    });
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
