/** The difference of two acknowledged snapshots. */
import { ChangeCounts, type Changes, type DriverChange, valuesByMonth } from '../../core/series/diff.ts';
import type { Month } from '../../core/model.ts';
import { LargestChanges, type PointChange } from '../../core/series/largest.ts';
import { type PathTotal, PathTotals } from '../../core/series/totals.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { acknowledgedPush, keptSnapshot } from '../push/retention.ts';
import { Pace, eachChange } from './pace.ts';

export interface DriverDifference {
  readonly driver: string;
  readonly kind: 'create' | 'update' | 'delete';
  readonly path: { readonly from?: readonly string[]; readonly to?: readonly string[] };
  readonly points: readonly { readonly month: string; readonly from?: string; readonly to?: string }[];
}

export interface Difference {
  readonly from: number;
  readonly to: number;
  readonly changes: Changes;
  readonly drivers: readonly DriverDifference[];
  readonly largest: readonly PointChange[];
  readonly changedPoints: number;
  /** What the values under each first element of a path that changes add up to, before and after. */
  readonly totals: readonly PathTotal[];
}

export interface DifferenceOptions {
  readonly from: string;
  readonly to: string;
  /** How many of the largest changes are listed; Infinity: all of them. */
  readonly shownMax: number;
  /** Whether every driver that differs is listed with all its changed points. Default: true. */
  readonly listsDrivers?: boolean;
}

/** @throws AgentError `usage` for a push that is not there, not acknowledged or not kept */
export async function difference(deps: Dependencies, options: DifferenceOptions): Promise<Difference> {
  const { from, to, shownMax, listsDrivers = true } = options;
  const [a, b] = [await acknowledgedPush(deps, from), await acknowledgedPush(deps, to)];
  const [snapshotA, snapshotB] = [await keptSnapshot(deps, a), await keptSnapshot(deps, b)];
  const drivers: DriverDifference[] = [];
  const largest = new LargestChanges(shownMax);
  const totals = new PathTotals();
  const counts = new ChangeCounts();
  // Blocks that both have are the same to the byte.
  await eachChange(snapshotA.readPoints(snapshotB.blocks()), snapshotB.readPoints(snapshotA.blocks()), (change) => {
    counts.add(change);
    largest.add(change);
    totals.note(change);
    if (listsDrivers) drivers.push(driverDifference(change));
  });
  const pace = new Pace();
  for (const driver of totals.hasChanges ? snapshotB.readPoints() : []) {
    totals.count(driver);
    if (pace.isDue()) await pace.turn();
  }
  return {
    from: a.id,
    to: b.id,
    changes: counts.sum(),
    drivers,
    largest: largest.shown(),
    changedPoints: largest.count,
    totals: totals.list(),
  };
}

function driverDifference({ kind, id, before, after, ...months }: DriverChange): DriverDifference {
  const old = before === undefined ? new Map<Month, string>() : valuesByMonth(before.points);
  const now = after === undefined ? new Map<Month, string>() : valuesByMonth(after.points);
  const changed = [...months.created, ...months.updated, ...months.deleted].sort((x, y) => x - y);
  return {
    driver: id,
    kind,
    path: {
      ...(before === undefined ? {} : { from: JSON.parse(before.path) as string[] }),
      ...(after === undefined ? {} : { to: JSON.parse(after.path) as string[] }),
    },
    points: changed.map((month) => {
      const [was, is] = [old.get(month), now.get(month)];
      return {
        month: formatMonth(month),
        ...(was === undefined ? {} : { from: was }),
        ...(is === undefined ? {} : { to: is }),
      };
    }),
  };
}
