/** A ledger from a state directory to the database that agents share, and back; and the proof that both are the same. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beginFromPushed } from '../app/shared/follow.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Archive, LedgerState } from '../core/ledger.ts';
import type { Log } from '../core/ports.ts';
import { type LedgerSettings, type Settings, addressOf } from '../core/settings.ts';
import { fetchFile, filesOf, upload } from '../edges/shared/archive.ts';
import { head } from '../edges/shared/chain.ts';
import { copyFromSqlite, copyToSqlite, hasRecordIn } from '../edges/shared/copy.ts';
import type { SharedDatabase } from '../edges/shared/database.ts';
import { Fence } from '../edges/shared/fence.ts';
import { givenBackTo } from '../edges/shared/lead-rows.ts';
import { sharedLedger } from '../edges/shared/ledger.ts';
import { getRecord, setRecord } from '../edges/shared/record.ts';
import { forgetShared, isShared } from '../edges/shared/seen.ts';
import { snapshotFileSha256, snapshotsIn } from '../edges/state/archive.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { openLedger } from '../edges/state/ledger.ts';
import { type Lock, acquireLock, ensureStateDir } from '../edges/state/lock.ts';
import { type NotedHead, type Verification, verifyState } from '../edges/state/verify.ts';
import { addressIn, noState, nowhere } from './look.ts';
import { openOwnLedger, partsOf } from './parts.ts';
import { fileIn } from './place.ts';
import { type SharedParts, openSharedParts, refuseUnknown, requireLead, withSharedDatabase } from './shared.ts';

export interface Copied {
  /** The newest record of the chain, in both. */
  readonly head: string;
  readonly pushes: number;
  readonly snapshots: number;
}

interface Way {
  readonly settings: Settings;
  readonly ledger: LedgerSettings;
  readonly shared: SharedParts;
  /** Nothing refuses it any more: from here on the state directory counts as one that shared this ledger. */
  readonly allowed: () => void;
}

/**
 * Copies the ledger and the archive of a state directory into the database, where all agents find them from then on.
 * @throws AgentError `state.missing` where there is none to copy, `state.locked`, `ledger.led` where an agent runs, `ledger.refused` where the
 *   database has other pushes
 */
export async function takeOverLedger(settings: Settings, log: Log): Promise<Copied> {
  const file = fileIn(settings, 'ledger');
  // First: nobody has to stop agents for it, and to look at the database notes that the ledger is shared.
  if (settings.ledger !== undefined && !existsSync(file)) throw noState(settings);
  return asOnlyAgent(settings, log, async ({ shared, allowed }) => {
    const own = openOwnLedger(settings);
    const ownHead = await own.head();
    const ownState = await own.state();
    await own.close();
    const { database, ledger } = shared;
    await database.transaction(async (statements) => {
      await statements.all('SELECT 1 FROM ~lead FOR UPDATE');
      refuseGivenBack(await getRecord(statements), ownState);
      await refuseOthers(statements, { file, label: database.label });
      allowed();
      await copyFromSqlite(statements, file);
      if ((await head(statements)) !== ownHead) throw new Error('the chain is not the same after it was copied');
      await setRecord(statements, { givenBack: undefined });
    });
    const directory = fileIn(settings, 'archive');
    const kept = new Set(await keptDigests(database));
    const snapshots = snapshotsIn(directory).filter((digest) => kept.has(digest));
    for (const digest of snapshots) await upload(directory, digest, ledger.snapshots);
    return { head: await ledger.head(), pushes: await pushesIn(database), snapshots: snapshots.length };
  });
}

/**
 * Copies the ledger and the archive back into a state directory, whose agent then goes on alone.
 * @throws AgentError `state.locked`, `ledger.led` where an agent runs, `ledger.refused` where the state directory has other
 *   pushes, and where another agent has the ledger back
 */
export function giveBackLedger(settings: Settings, log: Log): Promise<Copied> {
  return asOnlyAgent(settings, log, async ({ shared, allowed }) => {
    const { database, ledger, lead } = shared;
    const file = fileIn(settings, 'ledger');
    await refuseLoss(settings, shared);
    allowed();
    const nowMs = shared.clock.now().getTime();
    await ledger.pushes.endOrphans(nowMs);
    const directory = fileIn(settings, 'archive');
    const digests = await ledger.snapshots.kept();
    for (const digest of digests) {
      const sha256 = await ledger.snapshots.fileOf(digest);
      if (sha256 === undefined || snapshotFileSha256(directory, digest) === sha256) continue;
      await fetchFile(directory, digest, { log: ledger.snapshots, sha256 });
    }
    const draft = `${file}.draft`;
    await copyToSqlite(database, draft);
    // Both say it, so that nobody but this state directory passes for the one that has it, wherever that is mounted later.
    const givenBack = { sinceMs: nowMs, host: hostname(), state: settings.state };
    const copy = openLedger(draft, 'write');
    await copy.setState({ givenBack });
    const copied = await copy.head();
    await copy.close();
    if (copied !== (await ledger.head())) throw askedMeanwhile();
    await beginFromCopy(settings, { draft, archive: shared.following.archive, log });
    keepBefore(file, nowMs);
    renameSync(draft, file);
    // Last: a give-back that fails is said again here, and until then no other machine is locked out.
    await new Fence(database, () => lead.term()).write(async (statements) => {
      if (copied !== (await head(statements))) throw askedMeanwhile();
      await setRecord(statements, { givenBack });
    });
    return { head: copied, pushes: await pushesIn(database), snapshots: digests.length };
  }).then((done) => {
    forgetShared(settings.state);
    return done;
  });
}

/**
 * Other agents may have made the last push: what this buffer has accepted is older then, and its agent, alone from now on, would push it over that
 * one. So it begins from that push, as whoever begins to lead does.
 */
async function beginFromCopy(
  settings: Settings,
  { draft, archive, log }: { readonly draft: string; readonly archive: Archive; readonly log: Log },
): Promise<void> {
  const buffer = openOwnBuffer(settings);
  if (buffer === undefined) return;
  const ledger = openLedger(draft, 'write');
  try {
    const parts = partsOf(settings, { log });
    const address = await addressIn(ledger, parts);
    // Should the ledger stay shared all the same, whoever leads here next begins anew.
    buffer.setState({ ledIn: undefined });
    await beginFromPushed({ ...parts, address, buffer, ledger, archive, destination: nowhere });
  } finally {
    await ledger.close();
    buffer.close();
  }
}

/** `undefined` where there is none to go on from: the agent makes a new one of the last acknowledged snapshot. */
function openOwnBuffer(settings: Settings): LocalBuffer | undefined {
  const file = fileIn(settings, 'buffer');
  if (!existsSync(file)) return undefined;
  try {
    return openBuffer(file, 'write');
  } catch (error) {
    if (!isAgentError(error, 'state.corrupt')) throw error;
    return undefined;
  }
}

/** What is in the state directory is replaced: nothing of it may be missing in the database. */
async function refuseLoss(settings: Settings, { database, ledger }: SharedParts): Promise<void> {
  const hasOwn = existsSync(fileIn(settings, 'ledger'));
  if (!hasOwn) return refuseGivenBack(await ledger.state(), {});
  // Opened to write, it is one file once it is closed.
  const own = openOwnLedger(settings);
  try {
    refuseGivenBack(await ledger.state(), await own.state());
    await refuseUnknown(own, { state: settings.state, database });
  } finally {
    await own.close();
  }
}

/** It has no push that the new one does not have; a person may look at it all the same. */
function keepBefore(file: string, nowMs: number): void {
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.before-${nowMs}${suffix}`);
  }
}

function askedMeanwhile(): AgentError {
  return new AgentError('ledger.led', 'somebody asked something of the ledger while it was copied', {
    hint: 'say it again',
  });
}

/** One state directory has the ledger back: any other one would push beside it, or put its pushes in the place of that one's. */
function refuseGivenBack({ givenBack }: LedgerState, own: LedgerState): void {
  if (givenBack === undefined || isDeepStrictEqual(givenBack, own.givenBack)) return;
  throw givenBackTo(givenBack);
}

/** Holds the state directory and the lead, so that no agent writes either. */
async function asOnlyAgent(settings: Settings, log: Log, run: (way: Way) => Promise<Copied>): Promise<Copied> {
  const { ledger } = settings;
  if (ledger === undefined) {
    throw new AgentError('usage', 'the config names no ledger that agents share', {
      hint: 'write ledger: ${LEDGER_URL} into it; docs/MACHINES.md says how',
    });
  }
  ensureStateDir(settings.state);
  using _lock = lockStopped(settings.state);
  const address = addressOf(settings);
  const options = { log, changed: () => undefined, isCopying: true } as const;
  const wasShared = isShared(settings.state);
  let isAllowed = false;
  try {
    await using shared = openSharedParts(settings, { of: ledger, address }, options);
    await shared.lead.begin();
    await requireLead(shared, stopFirst);
    return await run({ settings, ledger, shared, allowed: () => (isAllowed = true) });
  } catch (error) {
    // To look at the ledger was enough to note it as shared, and with that note the agent would not go on alone any more.
    if (!wasShared && !isAllowed) forgetShared(settings.state);
    throw error;
  }
}

const stopFirst =
  'stop the agents of this ledger first, on all machines ("systemctl stop driver-sync"), and start them when it was copied';

/** Waking the agent that holds the directory, as other commands advise, would not help here. */
function lockStopped(stateDir: string): Lock {
  try {
    return acquireLock(stateDir, { command: 'ledger', pid: process.pid });
  } catch (error) {
    if (!isAgentError(error, 'state.locked')) throw error;
    throw new AgentError('state.locked', error.message, { cause: error, hint: stopFirst });
  }
}

/** What is there may be nothing, or what this state directory goes on from: anything else would be lost. */
async function refuseOthers(
  statements: Parameters<typeof head>[0],
  { file, label }: { readonly file: string; readonly label: string },
): Promise<void> {
  const [{ pushes } = { pushes: 0 }] = await statements.all<{ pushes: number }>('SELECT count(*) AS pushes FROM ~push');
  if (pushes === 0) return;
  if (hasRecordIn(file, await head(statements))) return;
  throw new AgentError(
    'ledger.refused',
    `the ledger at ${label} has ${pushes} ${pushes === 1 ? 'push that is' : 'pushes that are'} not this agent's`,
    {
      hint: 'an agent was started before "take-over", or the url is that of another ledger: name another "schema" under "ledger"; docs/MACHINES.md says how the pushes there are dropped where none of them is to be kept',
    },
  );
}

async function keptDigests(database: SharedDatabase): Promise<readonly string[]> {
  const rows = await database.all<{ digest: string }>('SELECT digest FROM ~snapshot WHERE is_kept = 1');
  return rows.map(({ digest }) => digest);
}

async function pushesIn(database: SharedDatabase): Promise<number> {
  return (await database.all<{ pushes: number }>('SELECT count(*) AS pushes FROM ~push'))[0]?.pushes ?? 0;
}

/** Walks the chain and the archive as they are in the database, by a copy of the one and one file of the other at a time. */
export function verifyShared(settings: LedgerSettings, noted?: NotedHead): Promise<Verification> {
  return withSharedDatabase(settings, async (database) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'driver-sync-verify-'));
    try {
      const file = path.join(directory, 'ledger.db');
      await copyToSqlite(database, file);
      const { snapshots } = sharedLedger(database, () => undefined);
      return await verifyState({ ledger: file, archive: filesOf(snapshots, path.join(directory, 'archive')) }, noted);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
