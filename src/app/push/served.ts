/** What an address holds before a push, as far as is known: what the push is counted and judged by. */
import { isAgentError } from '../../core/errors.ts';
import { allowedDeletes, describeLimit } from '../../core/guard/guard.ts';
import type { PushRecord, Snapshot, SnapshotDriver } from '../../core/ledger.ts';
import type { Month } from '../../core/model.ts';
import { ChangeCounts, changeBetween, pairDrivers } from '../../core/series/diff.ts';
import { type PackedPoints, pointCount } from '../../core/series/packing.ts';
import { unionOf } from '../../core/series/union.ts';
import { lastClosedMonth } from '../../core/values/closed.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';
import { openReadable, openTitle } from './retention.ts';

export interface Served {
  read(): Iterable<SnapshotDriver>;
  readPoints(): Iterable<PackedPoints>;
}

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
  const newest = await openReadable(deps, last.digest);
  if (newest === undefined || !deletesLeft({ shouldDeleteMissing }, last)) return newest;
  const digests = new Set([last.digest]);
  for (const push of await deps.ledger.pushes.all()) {
    if (push.outcome !== 'acknowledged' || push.address !== last.address || push.id > last.id) continue;
    digests.add(push.digest);
    if (push.shouldDeleteMissing) break;
  }
  const older = await Promise.all([...digests].slice(1).map((digest) => openReadable(deps, digest)));
  const snapshots = [newest, ...older.filter((snapshot) => snapshot !== undefined)];
  return {
    read: () => unionOf(snapshots.map((snapshot) => snapshot.read())),
    readPoints: () => unionOf(snapshots.map((snapshot) => snapshot.readPoints())),
  };
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
 * Where the last push deleted nothing, no read was judged by what it left out. What is still at the address goes with the next push that deletes.
 * @returns why that is for somebody to approve; `undefined`: it is within `guard.maxDeletes`, and none of it is closed
 */
export async function whyLeftOut(deps: Dependencies, snapshot: Snapshot): Promise<string | undefined> {
  const { ledger, settings, address } = deps;
  const last = await ledger.pushes.lastAcknowledged(address);
  if (last === undefined || !deletesLeft(snapshot.format, last)) return undefined;
  const served = await servedBefore(deps, snapshot.format, last);
  if (served === undefined)
    return `push ${last.id} deleted nothing, and its snapshot cannot be read: nobody knows what goes`;
  const { had, goes, closed } = await inTurns(leftOut(served, snapshot, closedUpTo(deps)));
  const unit = (['drivers', 'points'] as const).find((one) => goes[one] > allowedDeletes(had[one], settings.guard));
  const beyond =
    unit === undefined
      ? []
      : [
          `${goes[unit]} of ${had[unit]} ${unit}, more than guard.maxDeletes ${describeLimit(settings.guard.maxDeletes)}`,
        ];
  const all = [...beyond, ...(closed === 0 ? [] : [`${closed} ${closed === 1 ? 'point' : 'points'} in closed months`])];
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
