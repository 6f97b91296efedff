/** The ledger that agents of several machines share: opened to look, or for an agent that takes part in its election. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Dependencies } from '../app/dependencies.ts';
import { followingLedger } from '../app/shared/following-ledger.ts';
import { AgentError } from '../core/errors.ts';
import type { SharedView } from '../core/election/lead.ts';
import type { Archive, Ledger } from '../core/ledger.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { LedgerSettings, Settings } from '../core/settings.ts';
import { systemClock } from '../edges/clock.ts';
import { followingArchive, sharedArchive } from '../edges/shared/archive.ts';
import { SharedDatabase } from '../edges/shared/database.ts';
import { SharedLead } from '../edges/shared/lead.ts';
import { givenBackTo, hasRecord, leadRows, nowMsOf, view, wakeLeader } from '../edges/shared/lead-rows.ts';
import { type SharedLedger, sharedLedger } from '../edges/shared/ledger.ts';
import { ledgerSchema, requireSchema } from '../edges/shared/schema.ts';
import { SeenFile } from '../edges/shared/seen.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { postgresConnector } from '../sources/databases/postgres-client.ts';
import type { KeptState } from './look.ts';
import { fileIn } from './place.ts';

function openDatabase({ address, caFile, schema }: LedgerSettings): SharedDatabase {
  return new SharedDatabase({ connect: postgresConnector(address, caFile), schema, label: address.label });
}

/** Runs something on the database of a ledger that is there. @throws AgentError of `ledger.`, `state.missing` and others */
export async function withSharedDatabase<T>(
  settings: LedgerSettings,
  run: (database: SharedDatabase) => Promise<T>,
): Promise<T> {
  const database = openDatabase(settings);
  try {
    await requireSchema(database);
    return await run(database);
  } finally {
    await database.close();
  }
}

/** That of the database: by so much it is ahead of the monotonic one of this machine; `undefined` before it was asked. */
function clockAhead(aheadMs: () => number | undefined): Clock {
  return {
    ...systemClock,
    now: () => {
      const ms = aheadMs();
      return ms === undefined ? systemClock.now() : new Date(systemClock.monotonicMs() + ms);
    },
  };
}

/** To look, and to leave a request: no agent. */
export async function openSharedToLook(
  settings: Pick<Settings, 'state'>,
  ledger: LedgerSettings,
): Promise<Required<KeptState>> {
  const database = openDatabase(ledger);
  try {
    await requireSchema(database);
    const aheadMs = (await nowMsOf(database)) - systemClock.monotonicMs();
    const opened = sharedLedger(database, () => undefined);
    const archive = sharedArchive(fileIn(settings, 'archive'), opened.snapshots);
    return { ledger: opened, archive, clock: clockAhead(() => aheadMs) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * To leave a request or an approval. Of one that was given back nobody would hear it, and its chain would go on without the agent
 * that has it, which could not take it over any more.
 * @throws AgentError `ledger.refused` that names that agent
 */
export async function openSharedToAsk(
  settings: Pick<Settings, 'state'>,
  of: LedgerSettings,
): Promise<Required<KeptState>> {
  const kept = await openSharedToLook(settings, of);
  const { ledger } = kept;
  try {
    const { givenBack } = await ledger.state();
    if (givenBack !== undefined) throw givenBackTo(givenBack);
    return kept;
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** Asks the agent that leads for a pass. Gives the moment, by the clock that all agents go by. */
export function wakeSharedLeader(settings: LedgerSettings): Promise<number> {
  return withSharedDatabase(settings, wakeLeader);
}

/** What an agent has of the ledger that it shares. */
export interface SharedParts extends AsyncDisposable {
  readonly database: SharedDatabase;
  readonly ledger: SharedLedger;
  readonly archive: Archive;
  readonly lead: SharedLead;
  readonly following: Pick<Dependencies, 'ledger' | 'archive'>;
  /** That of the database, so that all agents of a ledger go by one. */
  readonly clock: Clock;
}

export interface SharedOptions {
  readonly log: Log;
  /** It is about to be copied: the state directory may have pushes that the ledger does not have, or have got it back. */
  readonly isCopying?: true;
  /** Somebody else leads now, this agent does, or somebody asked for something. */
  readonly changed: (what: 'lead' | 'request' | 'pass') => void;
}

/** An agent's part in the ledger. It takes part once its lead is begun. */
export function openSharedParts(
  settings: Settings,
  { of, address }: { readonly of: LedgerSettings; readonly address: string },
  options: SharedOptions,
): SharedParts {
  const database = openDatabase(of);
  const lead = new SharedLead(leadRows(database), {
    ...options,
    host: hostname(),
    pid: process.pid,
    config: of.alike,
    address,
    leaseMs: of.leaseMs,
    clock: systemClock,
    seen: new SeenFile(settings.state),
    schema: ledgerSchema(database),
    prepare: async () => {
      if (options.isCopying !== true) await refuseOwnPushes(settings, database);
    },
  });
  const ledger = sharedLedger(database, () => lead.term());
  const archive = sharedArchive(fileIn(settings, 'archive'), ledger.snapshots);
  return {
    database,
    ledger,
    archive,
    lead,
    following: {
      ledger: followingLedger(ledger),
      archive: followingArchive(fileIn(settings, 'archive'), archive),
    },
    clock: clockAhead(() => lead.aheadMs),
    async [Symbol.asyncDispose]() {
      await lead[Symbol.asyncDispose]();
      await database.close();
    },
  };
}

const wakeIt = '"driver-sync sync --wake" has it make a pass, from any machine';

/** Names who leads. */
function ledBy({ host, pid, sinceMs }: NonNullable<SharedView['leader']>, hint: string): AgentError {
  const since = new Date(sinceMs).toISOString();
  return new AgentError('ledger.led', `the agent on ${host}, pid ${pid}, leads since ${since}`, { hint });
}

/** For a command that cannot take part, since an agent holds its state directory. @throws AgentError `ledger.led` where one leads */
export async function refuseLed(settings: LedgerSettings): Promise<void> {
  const { leader } = await withSharedDatabase(settings, view);
  if (leader !== undefined) throw ledBy(leader, wakeIt);
}

/** @throws AgentError `ledger.led` that names who leads; the hint is what the caller advises beside another leader */
export async function requireLead({ lead, ledger }: SharedParts, hint = wakeIt): Promise<void> {
  if (lead.isLeading()) return;
  const { leader } = (await ledger.agents?.()) ?? {};
  const why = lead.whyNot();
  if (leader === undefined)
    throw new AgentError('ledger.led', why ?? 'no agent leads yet', { hint: 'try again in a moment' });
  throw ledBy(leader, hint);
}

async function refuseOwnPushes({ state }: Pick<Settings, 'state'>, database: SharedDatabase): Promise<void> {
  const file = fileIn({ state }, 'ledger');
  if (!existsSync(file)) return;
  const own = openLedger(file, 'read');
  try {
    await refuseUnknown(own, { state, database });
  } finally {
    await own.close();
  }
}

/** Pushes that only a state directory knows of must not be forgotten. @throws AgentError `ledger.refused` */
export async function refuseUnknown(
  own: Ledger,
  { state, database }: { readonly state: string; readonly database: SharedDatabase },
): Promise<void> {
  const last = await own.pushes.last();
  if (last === undefined || (await hasRecord(database, await own.head()))) return;
  throw new AgentError(
    'ledger.refused',
    `${state} has a ledger of its own with ${last.id} ${last.id === 1 ? 'push' : 'pushes'}, which the ledger at ${database.label} does not have`,
    { hint: 'stop the agents and run "driver-sync ledger take-over", which copies it there' },
  );
}
