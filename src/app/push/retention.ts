/** Snapshots of the archive: which are kept, and what to do with one that cannot be read. */
import { setImmediate as turn } from 'node:timers/promises';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Ageing, PushRecord, Snapshot, SnapshotDriver } from '../../core/ledger.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';

const dayMs = 86_400_000;

/** A snapshot that can be read to its end. A damaged one counts as not kept: it must not stop the next push. */
export function openReadable(
  deps: Pick<Dependencies, 'archive' | 'log'>,
  digest: string,
): Promise<Snapshot | undefined> {
  return ifWhole(deps, digest, async () => {
    const snapshot = await deps.archive.open(digest);
    for (const _driver of snapshot?.read() ?? []);
    return snapshot;
  });
}

/** The same without reading it to its end: enough to know its digest and counts. */
export function openTitle(deps: Pick<Dependencies, 'archive' | 'log'>, digest: string): Promise<Snapshot | undefined> {
  return ifWhole(deps, digest, () => deps.archive.open(digest));
}

/** One driver of a snapshot; `undefined` where it is not in it, or the snapshot is not kept or damaged there. */
export async function driverIn(
  deps: Pick<Dependencies, 'archive' | 'log'>,
  digest: string,
  id: string,
): Promise<SnapshotDriver | undefined> {
  return (await lookFor(deps, digest, id))?.driver;
}

/** Whether a snapshot has a driver; `undefined` where nobody knows, since it is not kept or damaged there. */
export function lookFor(
  deps: Pick<Dependencies, 'archive' | 'log'>,
  digest: string,
  id: string,
): Promise<{ readonly driver: SnapshotDriver | undefined } | undefined> {
  return ifWhole(deps, digest, async () => {
    const snapshot = await deps.archive.open(digest);
    return snapshot && { driver: snapshot.driver(id) };
  });
}

/** Of bodies, whose snapshots take some milliseconds to be looked through. Counted, as `turns.ts` counts drivers. */
const turnBytes = 4 << 20;
/** Up to so many look-ups, of a block each, are less than walks through whole snapshots. */
const lookUpsMax = 200;

/**
 * The points of those of these drivers that some snapshots have, each as the first of them that has it. One that is not kept has none, and
 * one that is damaged none behind that place. What a snapshot shares with one before it is looked through once.
 */
export async function driversIn(
  deps: Pick<Dependencies, 'archive' | 'log'>,
  digests: readonly string[],
  ids: ReadonlySet<string>,
): Promise<readonly PackedPoints[]> {
  const wanted = new Set(ids);
  const isFew = ids.size * digests.length <= lookUpsMax;
  const found: PackedPoints[] = [];
  const seen = new Set<string>();
  const take = function* (drivers: Iterable<PackedPoints>): Generator<void, void> {
    for (const { id, path, rule, points, origins } of drivers) {
      // Bytes are given back when the next driver is asked for. Where points came from is known of those that are looked up.
      const known = origins === undefined ? {} : { origins: Uint8Array.from(origins) };
      if (wanted.delete(id)) found.push({ id, path, rule, points: Uint8Array.from(points), ...known });
      yield;
    }
  };
  let bytes = 0;
  for (const digest of digests) {
    if (wanted.size === 0) break;
    await ifWhole(deps, digest, async () => {
      const snapshot = await deps.archive.open(digest);
      if (snapshot === undefined) return;
      await inTurns(take(isFew ? lookedUp(snapshot, [...wanted]) : snapshot.readPoints(seen)));
      for (const block of snapshot.blocks()) seen.add(block);
      bytes += snapshot.bytes;
    });
    if (bytes < turnBytes) continue;
    await turn();
    bytes = 0;
  }
  return found;
}

function* lookedUp(snapshot: Snapshot, ids: readonly string[]): Generator<PackedPoints> {
  for (const id of ids) {
    const driver = snapshot.driver(id);
    if (driver !== undefined) yield driver;
  }
}

const rememberedMs = 30 * dayMs;

/**
 * The last acknowledged snapshot, and those of 30 days that were followed by one without some of their drivers; newest first. The days
 * count back from when the first of these sources was held: a hold must not end because what it rests on is long ago.
 */
export async function snapshotsWithDeparted(
  { ledger, address }: Pick<Dependencies, 'ledger' | 'address'>,
  sources: readonly string[],
  nowMs: number,
): Promise<readonly string[]> {
  const held = (await ledger.holds.held()).filter(({ source }) => sources.includes(source));
  const sinceMs = Math.min(nowMs, ...held.map((one) => one.sinceMs)) - rememberedMs;
  const pushes = (await ledger.pushes.all()).filter((one) => one.outcome === 'acknowledged' && one.address === address);
  const isLeftBehind = (push: PushRecord, next: PushRecord | undefined): boolean =>
    next === undefined || (next.atMs > sinceMs && leavesOut(push, next));
  return [...new Set(pushes.filter((push, at) => isLeftBehind(push, pushes[at - 1])).map(({ digest }) => digest))];
}

/** Whether a push lacks drivers of the one before. Where nothing is deleted, its changes do not say so. */
function leavesOut(before: PushRecord, { drivers, changes }: PushRecord): boolean {
  return before.drivers + changes.drivers.create > drivers;
}

/** @throws AgentError `usage` for a push that is not there or was not acknowledged */
export async function acknowledgedPush({ ledger }: Dependencies, push: number | string): Promise<PushRecord> {
  const record = /^\d+$/.test(String(push)) ? await ledger.pushes.get(Number(push)) : undefined;
  if (record?.outcome === 'acknowledged') return record;
  throw new AgentError('usage', `there is no acknowledged push ${push}`, { hint: 'see "driver-sync history"' });
}

/** @throws AgentError `usage` where the snapshot of a push is not kept, `snapshot.damaged`, also where its file is gone */
export async function keptSnapshot({ archive, ledger }: Dependencies, { id, digest }: PushRecord): Promise<Snapshot> {
  const snapshot = await archive.open(digest);
  if (snapshot !== undefined) return snapshot;
  if (await ledger.snapshots.isKept(digest)) {
    throw new AgentError(
      'snapshot.damaged',
      `the snapshot of push ${id} is missing: its file is gone from the archive`,
      {
        hint: 'restore the file from a backup; snapshots of other pushes are not affected',
      },
    );
  }
  throw new AgentError('usage', `the snapshot of push ${id} is not kept any more`, {
    hint: '"keep" and "keepMax" in the config say how many are',
  });
}

/** @returns `undefined` where a snapshot is damaged, which the log says */
export async function ifWhole<T>(
  { log }: Pick<Dependencies, 'log'>,
  digest: string,
  open: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await open();
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged')) throw error;
    log.warn('a kept snapshot is damaged and counts as not kept', { digest, cause: error.message });
    return undefined;
  }
}

/**
 * The clock as the next pass is to see it. A clock that leaps is right again after a moment, or it is the agent that stood still:
 * the next day tells.
 */
export async function ageingNow({ ledger, clock, log }: Dependencies): Promise<Ageing> {
  const nowMs = clock.now().getTime();
  const { ageing } = await ledger.state();
  if (ageing === undefined) return { seenMs: nowMs };
  const { agedMs, seenMs } = ageing;
  if (nowMs < seenMs) return { agedMs: agedMs && Math.min(agedMs, nowMs), seenMs: nowMs };
  if (nowMs < seenMs + dayMs) return ageing;
  const days = Math.floor((nowMs - seenMs) / dayMs);
  if (days > leapDays)
    log.warn('the clock is far ahead of the last passes; snapshots that this makes too old are kept for one more day', {
      days,
    });
  return { agedMs: seenMs, seenMs: nowMs };
}

/** After a pause this long it is worth a word that nothing is dropped at once: a month between two passes may be a schedule. */
const leapDays = 35;

/**
 * The snapshots to keep: those of all acknowledged pushes of 7 days, then of the last one of each UTC day for `keep`, and those whose
 * drivers may come back, newest first up to `keepMax`, and always of the last one to each address. Also the one that was built last: a push of it may be
 * under way.
 * @param agedMs the moment that counts as now; by default nothing is too old
 */
export async function keptDigests(deps: Dependencies, agedMs = -Infinity): Promise<ReadonlySet<string>> {
  const { ledger, archive, buffer, settings } = deps;
  const kept = new Set<string>();
  const addresses = new Set<string>();
  const days = new Set<string>();
  const departed = new Set(
    await snapshotsWithDeparted(
      deps,
      settings.sources.map(({ name }) => name),
      agedMs,
    ),
  );
  let bytes = 0;
  for (const { outcome, address, digest, atMs } of await ledger.pushes.all()) {
    if (outcome !== 'acknowledged') continue;
    const ageMs = agedMs - atMs;
    const day = `${address} ${Math.floor(atMs / dayMs)}`;
    const isLast = !addresses.has(address);
    const isWanted = ageMs <= 7 * dayMs || (ageMs <= settings.keepMs && !days.has(day)) || departed.has(digest);
    addresses.add(address);
    days.add(day);
    if (!isLast && !isWanted) continue;
    if (kept.has(digest)) continue;
    bytes += await archive.storedBytes(digest);
    if (isLast || bytes <= settings.keepMaxBytes) kept.add(digest);
  }
  const { built } = buffer.state();
  if (built !== undefined) kept.add(built.digest);
  return kept;
}
