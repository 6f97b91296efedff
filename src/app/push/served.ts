/** What an address holds before a push, as far as is known: what the push is counted and judged by. */
import { isAgentError } from '../../core/errors.ts';
import { allowedDeletes, describeLimit } from '../../core/guard/guard.ts';
import type { PushRecord, Snapshot, SnapshotPoints } from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import { ChangeCounts, changeBetween, pairDrivers } from '../../core/series/diff.ts';
import { type PackedPoints, pointCount } from '../../core/series/packing.ts';
import { compareUtf8 } from '../../core/series/snapshot.ts';
import { unionOf, withMonthsOf } from '../../core/series/union.ts';
import { lastClosedMonth } from '../../core/values/closed.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';
import { ifWhole, openReadable, openTitle } from './retention.ts';

export type Served = Pick<Snapshot, 'readPoints'>;

/**
 * What the address holds before a push. A push that deletes nothing leaves all that is older where it is; so where the next one deletes,
 * that is held by the snapshots of all pushes since the last one that deleted, and by its own. Those that are not kept are left out.
 * @returns `undefined` where the snapshot of the last push cannot be read
 */
export async function servedBefore(
  deps: Pick<Dependencies, 'archive' | 'log' | 'ledger'>,
  { shouldDeleteMissing }: { readonly shouldDeleteMissing: boolean },
  last: PushRecord,
): Promise<Served | undefined> {
  if (!deletesLeft({ shouldDeleteMissing }, last)) return openReadable(deps, last.digest);
  return leftBy(deps, last, await pushesThatLeft(deps, last));
}

/** @param pushes what `pushesThatLeft` gives of the last one */
async function leftBy(
  deps: Pick<Dependencies, 'archive' | 'log'>,
  last: PushRecord,
  pushes: readonly PushRecord[],
): Promise<Served | undefined> {
  const newest = await openReadable(deps, last.digest);
  if (newest === undefined) return undefined;
  const older = [...(await olderDrivers(deps, newest, pushes)).values()].sort((a, b) => compareUtf8(a.id, b.id));
  return { readPoints: () => unionOf(newest.readPoints(), older) };
}

/**
 * The drivers of older snapshots, each once, without those that stand in the same block of the last one. What snapshots share is read once:
 * there may be thousands of them.
 */
async function olderDrivers(
  { archive, log }: Pick<Dependencies, 'archive' | 'log'>,
  newest: Snapshot,
  pushes: readonly PushRecord[],
): Promise<ReadonlyMap<string, SnapshotPoints>> {
  const found = new Map<string, SnapshotPoints>();
  const take = function* (drivers: Iterable<SnapshotPoints>): Generator<void, void> {
    for (const driver of drivers) {
      const known = found.get(driver.id);
      // Bytes are given back when the next driver is asked for.
      const copy = (): SnapshotPoints => ({ ...driver, points: Uint8Array.from(driver.points) });
      found.set(driver.id, known === undefined ? copy() : withMonthsOf(known, driver));
      yield;
    }
  };
  const seen = new Set(newest.blocks());
  for (const digest of new Set(pushes.map((push) => push.digest))) {
    if (digest === newest.digest) continue;
    await ifWhole({ log }, digest, async () => {
      const snapshot = await archive.open(digest);
      if (snapshot === undefined) return;
      await inTurns(take(snapshot.readPoints(seen)));
      for (const block of snapshot.blocks()) seen.add(block);
    });
  }
  return found;
}

/** A push that deleted nothing and those before it, down to the last one that deleted; newest first. */
async function pushesThatLeft(
  { ledger }: Pick<Dependencies, 'ledger'>,
  last: PushRecord,
): Promise<readonly PushRecord[]> {
  const all = (await ledger.pushes.all()).filter(
    ({ id, outcome, address }) => outcome === 'acknowledged' && address === last.address && id <= last.id,
  );
  const deleted = all.findIndex(({ shouldDeleteMissing }) => shouldDeleteMissing);
  return deleted < 0 ? all : all.slice(0, deleted + 1);
}

/** Whether a push deletes what those before it have left at the service. */
function deletesLeft(next: Pick<PushRecord, 'shouldDeleteMissing'>, last: PushRecord): boolean {
  return next.shouldDeleteMissing && !last.shouldDeleteMissing;
}

/**
 * Compares a snapshot with what the address holds, but for what it has in the same bytes as the last push: that is the most of nearly every
 * push. Where the last push is damaged or not kept, all is new.
 */
export async function comparedWith<T>(
  deps: Pick<Dependencies, 'archive' | 'log' | 'ledger'>,
  { last, snapshot }: { readonly last: PushRecord; readonly snapshot: Snapshot },
  compare: (before: Iterable<PackedPoints>, after: Iterable<PackedPoints>) => T | Promise<T>,
): Promise<T> {
  if (deletesLeft(snapshot.format, last)) {
    const served = await servedBefore(deps, snapshot.format, last);
    return compare(served?.readPoints() ?? [], snapshot.readPoints());
  }
  const before = await openTitle(deps, last.digest);
  try {
    return await compare(before?.readPoints(snapshot.blocks()) ?? [], snapshot.readPoints(before?.blocks()));
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged') || before === undefined) throw error;
    deps.log.warn('the last acknowledged snapshot is damaged: all of its points count as new', {
      cause: error.message,
    });
    return await compare([], snapshot.readPoints());
  }
}

/**
 * Where the last push deleted nothing, no read was judged by what it left out. What is still at the address goes with the next push that
 * deletes: by the snapshots that are kept, and at least as much as the largest push had more.
 * @returns why that is for somebody to approve; `undefined`: it is within `guard.maxDeletes`, and none of it is closed
 */
export async function whyLeftOut(deps: Dependencies, snapshot: Snapshot): Promise<string | undefined> {
  const { ledger, settings, address } = deps;
  const last = await ledger.pushes.lastAcknowledged(address);
  if (last === undefined || !deletesLeft(snapshot.format, last)) return undefined;
  const pushes = await pushesThatLeft(deps, last);
  const served = await leftBy(deps, last, pushes);
  if (served === undefined)
    return `push ${last.id} deleted nothing, and its snapshot cannot be read: nobody knows what goes`;
  const found = await inTurns(leftOut(served, snapshot, closedUpTo(deps)));
  const limit = describeLimit(settings.guard.maxDeletes);
  const beyond = (['drivers', 'points'] as const).flatMap((unit) => {
    const had = pushes.reduce((most, push) => Math.max(most, push[unit]), found.had[unit]);
    const goes = Math.max(found.goes[unit], had - snapshot[unit]);
    return goes > allowedDeletes(had, settings.guard)
      ? [`${goes} of ${had} ${unit}, more than guard.maxDeletes ${limit}`]
      : [];
  });
  const { closed } = found;
  const all = [
    ...beyond.slice(0, 1),
    ...(closed === 0 ? [] : [`${closed} ${closed === 1 ? 'point' : 'points'} in closed months`]),
  ];
  return all.length === 0
    ? undefined
    : `it deletes what pushes with shouldDeleteMissing: false have left there: ${all.join(', and ')}`;
}

function closedUpTo({ clock, settings }: Dependencies): Month {
  const { lastClose, timezone } = settings;
  return lastClosedMonth(lastClose, { nowMs: clock.now().getTime(), timezone }) ?? -Infinity;
}

interface LeftOut {
  readonly had: { readonly drivers: number; readonly points: number };
  readonly goes: { readonly drivers: number; readonly points: number };
  /** Points. */
  readonly closed: number;
}

/** A step is a driver. */
function* leftOut(served: Served, now: Snapshot, lastClosed: Month): Generator<void, LeftOut> {
  const had = { drivers: 0, points: 0 };
  const counts = new ChangeCounts();
  let closed = 0;
  for (const [before, after] of pairDrivers(served.readPoints(), now.readPoints())) {
    if (before !== undefined) {
      had.drivers++;
      had.points += pointCount(before.points);
    }
    const change = changeBetween(before, after);
    if (change !== undefined) {
      counts.add(change);
      closed += change.deleted.filter((month) => month <= lastClosed).length;
    }
    yield;
  }
  const { drivers, points } = counts.sum();
  return { had, goes: { drivers: drivers.delete, points: points.delete }, closed };
}
