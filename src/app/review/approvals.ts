/** Approvals: what somebody let pass, and whether a newer read stays within it. */
import { createHash } from 'node:crypto';
import { isNameOfBeginning, isNameOfGoneFile } from '../../core/guard/guard.ts';
import type { Comparison } from '../../core/series/compare.ts';
import { monthsIn } from '../../core/series/packing.ts';
import type { Month } from '../../core/model.ts';
import { formatMonth } from '../../core/time/month.ts';
import { encodeBody } from '../../core/series/snapshot.ts';
import type { PackedPoints } from '../../core/series/packing.ts';
import type { Approval, ApprovalScope, DeletedPoints } from '../../core/ledger.ts';
import type { DriverDeletes } from '../../core/report.ts';
import { notCovered } from '../../core/values/finding.ts';
import { describeFindings } from '../../core/values/words.ts';
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

/** What something does that was not approved; `undefined`: nothing. */
export function furtherThan(scope: ApprovalScope, approved: ApprovalScope): string | undefined {
  if (scope.isEnd !== approved.isEnd) {
    return approved.isEnd
      ? 'the source is back in the config, and that it left was what was approved'
      : 'the source left the config, and a read of it was what was approved';
  }
  const part = scope.carried.find((name) => !approved.carried.includes(name));
  if (part !== undefined && isNameOfBeginning(part))
    return `a newer read of the source has ${part}, as was not approved`;
  if (part !== undefined && isNameOfGoneFile(part))
    return `a newer read of the source is made ${part}, as was not approved`;
  if (part !== undefined) return `a newer read of the source would carry what was not approved: ${part}`;
  const found = notCovered(scope.findings, approved.findings);
  if (found.length > 0) {
    return `a newer read of the source is held for more than was approved: ${describeFindings(found)}`;
  }
  return furtherDeletes(scope, approved);
}

function furtherDeletes(scope: ApprovalScope, approved: ApprovalScope): string | undefined {
  // Nothing of a source that left is deleted as a move.
  if (scope.deletes.size > 0 && approved.moved === undefined && !approved.isEnd) {
    return 'an older version recorded it, which did not note what had moved to other sources';
  }
  for (const [driver, months] of scope.deletes) {
    const allowed = new Set(approved.deletes.get(driver));
    const month = months.find((one) => !allowed.has(one));
    if (month !== undefined) {
      const more = scope.isEnd
        ? 'more would be deleted of the source that left than was approved'
        : 'a newer read of the source would delete more than the approved one';
      return `${more}: driver "${driver}" in ${formatMonth(month)}`;
    }
    // Whoever approved a move did not approve that nobody has the driver any more.
    const isMoved = new Set(scope.moved?.get(driver));
    const gone = approved.moved?.get(driver)?.some((one) => months.includes(one) && !isMoved.has(one)) === true;
    if (gone) {
      return `driver "${driver}" was approved to move to another source, which does not have all of it any more`;
    }
  }
  return undefined;
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
