/** Approvals: what somebody let pass, and whether a newer read stays within it. */
import { type DriverChange, monthsIn } from '../../core/series/diff.ts';
import type { Month } from '../../core/model.ts';
import { formatMonth } from '../../core/time/month.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import type { Approval, DeletedPoints } from '../../core/stores.ts';
import type { DriverDeletes } from './verdict.ts';
import type { Dependencies } from '../dependencies.ts';

const deletesShown = 100;

/** Stands for the source where the first push to an address is what waits. No source can be called so. */ export const firstPush =
  '(first push)';

export function pendingApproval(deps: Dependencies, source: string): Approval | undefined {
  return deps.ledger.approvals().find((approval) => approval.state === 'pending' && approval.source === source);
}

export function dropApprovals(deps: Dependencies, source: string, why: string): void {
  for (const approval of deps.ledger.approvals()) {
    if (approval.state === 'pending' && approval.source === source)
      deps.ledger.closeApproval(approval.id, 'dropped', why);
  }
}

/** Whether something deletes no point that was not approved. */
export function isWithin(deletes: DeletedPoints, approved: DeletedPoints): boolean {
  for (const [driver, months] of deletes) {
    const allowed = new Set(approved.get(driver));
    if (months.some((month) => !allowed.has(month))) return false;
  }
  return true;
}

/** What changes delete. */
export function deletedPoints(changes: Iterable<DriverChange>): DeletedPoints {
  const deletes = new Map<string, readonly Month[]>();
  for (const { id, deleted } of changes) if (deleted.length > 0) deletes.set(id, deleted);
  return deletes;
}

/** The first hundred for a person, and first those that go whole. */
export function shownDeletes(changes: Iterable<DriverChange>): readonly DriverDeletes[] {
  const whole: DriverDeletes[] = [];
  const partly: DriverDeletes[] = [];
  for (const { kind, id, deleted } of changes) {
    const list = kind === 'delete' ? whole : partly;
    if (deleted.length === 0 || list.length >= deletesShown) continue;
    list.push({ driver: id, whole: kind === 'delete', months: deleted.map(formatMonth) });
  }
  return [...whole, ...partly].slice(0, deletesShown);
}

/** All points of a run of drivers. */
export function allPoints(drivers: Iterable<PackedPoints>): DeletedPoints {
  const points = new Map<string, readonly Month[]>();
  for (const driver of drivers) points.set(driver.id, monthsIn(driver.points));
  return points;
}
