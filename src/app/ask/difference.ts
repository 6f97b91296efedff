/** The difference of two acknowledged snapshots. */
import { type Changes, countChanges, diffDrivers, valuesByMonth } from '../../core/series/diff.ts';
import type { Month } from '../../core/model.ts';
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
}

/** @throws AgentError `usage` for a push that is not there, not acknowledged or not kept */
export async function difference(deps: Dependencies, from: string, to: string): Promise<Difference> {
  const [a, b] = [await acknowledgedPush(deps, from), await acknowledgedPush(deps, to)];
  const [snapshotA, snapshotB] = [await keptSnapshot(deps, a), await keptSnapshot(deps, b)];
  const drivers: DriverDifference[] = [];
  const changes = countChanges(
    diffDrivers(snapshotA.readPoints(), snapshotB.readPoints()),
    ({ kind, id, before, after, ...months }) => {
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
    },
  );
  return { from: a.id, to: b.id, changes, drivers };
}
