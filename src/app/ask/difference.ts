/** The difference of two acknowledged snapshots. */
import { type Changes, countChanges, diffDrivers, valuesByMonth } from '../../core/series/diff.ts';
import type { Month } from '../../core/model.ts';
import { LargestChanges, type PointChange } from '../../core/series/largest.ts';
import { type PathTotal, PathTotals } from '../../core/series/totals.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { Dependencies } from '../dependencies.ts';
import { acknowledgedPush, keptSnapshot } from '../push/retention.ts';

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

/**
 * @param shownMax how many of the largest changes are listed; Infinity: all of them
 * @throws AgentError `usage` for a push that is not there, not acknowledged or not kept
 */
export async function difference(
  deps: Dependencies,
  { from, to, shownMax }: { readonly from: string; readonly to: string; readonly shownMax: number },
): Promise<Difference> {
  const [a, b] = [await acknowledgedPush(deps, from), await acknowledgedPush(deps, to)];
  const [snapshotA, snapshotB] = [await keptSnapshot(deps, a), await keptSnapshot(deps, b)];
  const drivers: DriverDifference[] = [];
  const largest = new LargestChanges(shownMax);
  const totals = new PathTotals();
  const changes = countChanges(diffDrivers(snapshotA.readPoints(), snapshotB.readPoints()), (change) => {
    largest.add(change);
    totals.note(change);
    const { kind, id, before, after, ...months } = change;
    const old = before === undefined ? new Map<Month, string>() : valuesByMonth(before.points);
    const now = after === undefined ? new Map<Month, string>() : valuesByMonth(after.points);
    const changed = [...months.created, ...months.updated, ...months.deleted].sort((x, y) => x - y);
    drivers.push({
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
    });
  });
  if (totals.hasChanges) for (const driver of snapshotB.readPoints()) totals.count(driver);
  return {
    from: a.id,
    to: b.id,
    changes,
    drivers,
    largest: largest.shown(),
    changedPoints: largest.count,
    totals: totals.list(),
  };
}
