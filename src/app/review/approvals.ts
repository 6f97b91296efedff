/** Approvals: what somebody let pass, and whether a newer read stays within it. */
import { createHash } from 'node:crypto';
import type { Comparison } from '../../core/series/compare.ts';
import { monthsIn } from '../../core/series/packing.ts';
import type { Month } from '../../core/model.ts';
import { formatMonth } from '../../core/time/month.ts';
import { encodeBody } from '../../core/series/snapshot.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import type { Approval, ApprovalScope, DeletedPoints } from '../../core/ledger.ts';
import type { DriverDeletes } from '../../core/report.ts';
import { areCovered } from '../../core/values/finding.ts';
import type { Dependencies } from '../dependencies.ts';

const deletesShown = 100;

/** Stands for the source where the first push to an address is what waits. No source can be called so. */
export function firstPushTo(address: string): string {
  return `(first push to ${address})`;
}

export async function pendingApproval(deps: Dependencies, source: string): Promise<Approval | undefined> {
  return (await deps.ledger.holds.approvals()).find(
    (approval) => approval.state === 'pending' && approval.source === source,
  );
}

/** @param upTo the newest to drop: one that was given since then is for the next pass */
export async function dropApprovals(deps: Dependencies, source: string, why: string, upTo = Infinity): Promise<void> {
  for (const { id, state, source: of } of await deps.ledger.holds.approvals()) {
    if (state === 'pending' && of === source && id <= upTo) await deps.ledger.holds.closeApproval(id, 'dropped', why);
  }
}

/** Somebody approved what leads to an empty snapshot: that very snapshot may be sent, to this address. */
export async function consentToEmpty({ ledger, settings, address }: Dependencies): Promise<void> {
  const hash = createHash('sha256');
  encodeBody([], settings, (chunk) => hash.update(chunk));
  await ledger.setState({ emptyConsent: { digest: hash.digest('hex'), address } });
}

/** Whether something does nothing that was not approved. */
export function isWithin({ deletes, carried, findings, isEnd }: ApprovalScope, approved: ApprovalScope): boolean {
  if (isEnd !== approved.isEnd) return false;
  if (carried.some((part) => !approved.carried.includes(part))) return false;
  if (!areCovered(findings, approved.findings)) return false;
  for (const [driver, months] of deletes) {
    const allowed = new Set(approved.deletes.get(driver));
    if (months.some((month) => !allowed.has(month))) return false;
  }
  return true;
}

/** The first hundred drivers that lose points, for a person, and first those that go whole. */
export function shownDeletes({ deletes, deletedDrivers }: Comparison): readonly DriverDeletes[] {
  const whole = [...deletedDrivers].slice(0, deletesShown);
  const partly: string[] = [];
  for (const driver of deletes.keys()) {
    if (whole.length + partly.length >= deletesShown) break;
    if (!deletedDrivers.has(driver)) partly.push(driver);
  }
  return [...whole, ...partly].map((driver) => ({
    driver,
    whole: deletedDrivers.has(driver),
    months: (deletes.get(driver) ?? []).map(formatMonth),
  }));
}

/** All points of a run of drivers. */
export function allPoints(drivers: Iterable<PackedPoints>): DeletedPoints {
  const points = new Map<string, readonly Month[]>();
  for (const driver of drivers) points.set(driver.id, monthsIn(driver.points));
  return points;
}
