/** Carries decisions out: the only place that accepts, holds, and closes what was approved. */
import { createHash } from 'node:crypto';
import { judgeRemoved } from '../../core/guard/guard.ts';
import { compareRuns } from '../../core/series/compare.ts';
import { hasChanges, noChanges } from '../../core/series/diff.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import { encodeBody } from '../../core/series/snapshot.ts';
import type { Dependencies } from '../dependencies.ts';
import { yieldTaken } from '../read/removed-sources.ts';
import { consentToEmpty, dropApprovals, isWithin, pendingApproval, shownDeletes } from './approvals.ts';
import { type WatchChanges, readKey } from './decide.ts';
import type { Accepting, Decision, Holding } from './decision.ts';
import { isEmptyRead } from './together.ts';
import type { Verdict } from './verdict.ts';

export async function carryOut(deps: Dependencies, decision: Decision): Promise<Verdict> {
  switch (decision.kind) {
    case 'unread': {
      const { source, reason, hint } = decision;
      await dropApprovals(deps, source, `the source was not read: ${reason}`);
      return { source, state: 'unread', reason, hint, changes: noChanges };
    }
    case 'unchanged':
      return { source: decision.source, state: 'unchanged', changes: noChanges };
    case 'accept':
      return accept(deps, decision);
    case 'hold':
      return hold(deps, decision);
  }
}

async function accept(deps: Dependencies, decision: Accepting): Promise<Verdict> {
  const { buffer, ledger, clock } = deps;
  const { source, comparison, isApproved, approval, isFirst, scope } = decision;
  const { changes, before } = comparison;
  // Counted before it is done: a crash in between must not give the budget of the day back.
  for (const gone of decision.inheritedFrom) await ledger.holds.inheritDeletes(gone, source);
  if (!isApproved && changes.drivers.delete + changes.points.delete > 0) {
    const { drivers, points } = changes;
    const deletes = { atMs: clock.now().getTime(), drivers: drivers.delete, points: points.delete, had: before };
    await ledger.holds.recordDeletes(source, readKey(deps, source), deletes);
  }
  buffer.reads.keepSummary(source, 'candidate', comparison.after);
  buffer.reads.accept(source, isApproved ? scope.carried : []);
  if (isApproved && approval !== undefined) await ledger.holds.closeApproval(approval.id, 'used');
  else await dropApprovals(deps, source, 'a newer read of the source did not need it');
  return { source, state: isFirst || hasChanges(changes) ? 'accepted' : 'unchanged', changes };
}

async function hold(deps: Dependencies, decision: Holding): Promise<Verdict> {
  const { buffer, ledger, clock } = deps;
  const { source, comparison, scope, reason, hint, approvable } = decision;
  const digest = digestOf(source, buffer.reads.drivers(source, 'candidate'));
  await ledger.holds.hold({ source, digest, reason, hint, approvable }, scope, clock.now().getTime());
  buffer.reads.keepSummary(source, 'candidate', comparison.after);
  if (decision.approval !== undefined && decision.whyDropped !== undefined) {
    await dropApprovals(deps, source, decision.whyDropped, decision.approval.id);
  }
  return {
    source,
    state: 'held',
    reason,
    hint,
    digest,
    changes: comparison.changes,
    approvable,
    deletes: shownDeletes(comparison),
    renamed: comparison.renamed,
    conflictsWith: decision.conflictsWith,
  };
}

/**
 * Settles a source that left the config, once the others have what they take over.
 * @returns `undefined` where others took all its drivers: then there is nothing to tell
 */
export async function settleRemoved(
  deps: Dependencies,
  source: string,
  watch?: WatchChanges,
): Promise<Verdict | undefined> {
  const { buffer, ledger, clock, settings } = deps;
  yieldTaken(deps, source);
  const comparison = compareRuns(
    buffer.reads.drivers(source, 'accepted'),
    [],
    watch && ((change) => watch(source, change)),
  );
  const { changes, deletes } = comparison;
  const scope = { deletes, carried: [] };
  const approval = await pendingApproval(deps, source);
  const isApproved = approval !== undefined && isWithin(scope, await ledger.holds.approvedScope(approval.id));
  if (!isApproved) await dropApprovals(deps, source, 'the source left the config, which would delete all that it has');
  if (changes.drivers.delete === 0 || isApproved || !settings.shouldDeleteMissing) {
    buffer.reads.drop(source, 'accepted');
    buffer.reads.drop(source, 'candidate');
    if (!isApproved) return undefined;
    await ledger.holds.closeApproval(approval.id, 'used');
    if (buffer.reads.acceptedSources().every((name) => isEmptyRead(deps, { source: name, kind: 'accepted' }))) {
      await consentToEmpty(deps);
    }
    return changes.drivers.delete === 0 ? undefined : { source, state: 'accepted', changes };
  }
  const held = { ...judgeRemoved(changes), digest: digestOf(source, []), approvable: true };
  await ledger.holds.hold({ source, hint: undefined, ...held }, scope, clock.now().getTime());
  return { source, state: 'held', ...held, changes, deletes: shownDeletes(comparison) };
}

/** sha256 over the source's name and the body that its drivers alone would make. */
function digestOf(source: string, drivers: Iterable<PackedDriver>): string {
  const hash = createHash('sha256').update(`${JSON.stringify(source)}\n`);
  for (const chunk of encodeBody(drivers, { shouldDeleteMissing: true, stamp: 'middle' })) hash.update(chunk);
  return hash.digest('hex');
}
