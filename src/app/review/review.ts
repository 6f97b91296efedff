/** Judges all candidates of a pass together, and carries the verdicts out. */
import { createHash } from 'node:crypto';
import { countChanges, diffDrivers, findRenames, hasChanges, noChanges } from '../../core/series/diff.ts';
import { type Hold, judge } from '../../core/guard/guard.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import { encodeBody } from '../../core/series/snapshot.ts';
import { deletedPoints, dropApprovals, firstPush, isWithin, pendingApproval, shownDeletes } from './approvals.ts';
import { type Case, openCase, readKey } from './candidate-review.ts';
import { holdConflicts, holdEmptySnapshot, isEmptyRead } from './conflicts.ts';
import { departedSources, inheritCarried } from './removed-sources.ts';
import type { SourceRead } from '../read/read-source.ts';
import type { Verdict } from './verdict.ts';
import type { Dependencies } from '../dependencies.ts';

/** Accepts or holds every candidate, and records it. */
export function judgeAll(deps: Dependencies, reads: readonly SourceRead[]): readonly Verdict[] {
  const departed = departedSources(deps);
  const cases: Case[] = [];
  const verdicts = new Map<string, Verdict>();
  for (const read of reads) {
    const source = read.settings.name;
    if (read.state === 'unread') {
      dropApprovals(deps, source, `the source was not read: ${read.reason}`);
      const { reason, hint } = read;
      verdicts.set(source, { source, state: 'unread', reason, hint, changes: noChanges });
    } else if (deps.buffer.readParts(source, 'candidate') === undefined) {
      verdicts.set(source, { source, state: 'unchanged', changes: noChanges });
    } else {
      inheritCarried(deps, read.settings, departed);
      cases.push(openCase(deps, read.settings, { departed, ...read }));
    }
  }
  holdConflicts(deps, cases);
  holdEmptySnapshot(deps, cases);
  for (const one of cases) verdicts.set(one.source, settle(deps, one));
  for (const gone of departed) {
    const verdict = settleDeparted(deps, gone);
    if (verdict !== undefined) verdicts.set(gone, verdict);
  }
  for (const { state, source } of deps.ledger.approvals()) {
    if (state !== 'pending' || source === undefined || source === firstPush) continue;
    dropApprovals(deps, source, 'nothing of that source is held any more');
  }
  for (const { source } of deps.ledger.held()) {
    if (source !== firstPush && verdicts.get(source)?.state !== 'held') deps.ledger.release(source);
  }
  deps.observe({ kind: 'read.judged' });
  const order = [...deps.settings.sources.map(({ name }) => name), ...departed];
  return order.flatMap((name) => verdicts.get(name) ?? []);
}

/** Carries a verdict out. */
function settle(deps: Dependencies, one: Case): Verdict {
  const { buffer, ledger, clock } = deps;
  const { source, changes, hold } = one;
  if (hold !== undefined) {
    const digest = candidateDigest(deps, source);
    const { reason, hint, approvable } = hold;
    const renamed = findRenames(diffDrivers(buffer.drivers(source, 'accepted'), buffer.drivers(source, 'candidate')));
    ledger.hold({ source, digest, reason, hint, approvable }, deletedPoints(one.diff()), clock.now().getTime());
    if (one.approval !== undefined) dropApprovals(deps, source, reason);
    return {
      source,
      state: 'held',
      reason,
      hint,
      digest,
      changes,
      approvable,
      deletes: shownDeletes(one.diff()),
      renamed,
    };
  }
  // Counted before it is done: a crash in between must not give the budget of the day back.
  if (!one.isApproved && changes.drivers.delete + changes.points.delete > 0) {
    const { drivers, points } = changes;
    const deletes = { atMs: clock.now().getTime(), drivers: drivers.delete, points: points.delete };
    ledger.recordDeletes(source, readKey(deps, source), deletes);
  }
  buffer.accept(source);
  if (one.isApproved && one.approval !== undefined) ledger.closeApproval(one.approval.id, 'used');
  else dropApprovals(deps, source, 'a newer read of the source did not need it');
  return { source, state: one.isFirst || hasChanges(changes) ? 'accepted' : 'unchanged', changes };
}

/** What happens to a source that left the config; nothing is left to say where others took all its drivers. */
function settleDeparted(deps: Dependencies, source: string): Verdict | undefined {
  const { buffer, ledger, clock, settings } = deps;
  const present = [...settings.sources.map(({ name }) => name), source].map(
    (name) => ({ source: name, kind: 'accepted' }) as const,
  );
  const taken = [...buffer.sharedDrivers(present)].filter(({ sources }) => sources.includes(source));
  if (taken.length > 0)
    buffer.removeDrivers(
      source,
      taken.map(({ driver }) => driver),
    );
  const changes = countChanges(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const approval = pendingApproval(deps, source);
  const deletes = deletedPoints(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const isApproved = approval !== undefined && isWithin(deletes, ledger.approvedDeletes(approval.id));
  if (!isApproved) dropApprovals(deps, source, 'the source left the config, which would delete all that it has');
  if (changes.drivers.delete === 0 || isApproved || !settings.shouldDeleteMissing) {
    buffer.dropRead(source, 'accepted');
    buffer.dropRead(source, 'candidate');
    if (isApproved) {
      ledger.closeApproval(approval.id, 'used');
      if (buffer.acceptedSources().every((name) => isEmptyRead(deps, { source: name, kind: 'accepted' }))) {
        ledger.setFact('emptyApproved', true);
      }
    }
    return undefined;
  }
  const none = { drivers: 0, points: 0 };
  const evidence = {
    accepted: undefined,
    candidate: { ...none, rejects: 0 },
    changes,
    dropsOnlyOldest: false,
    dropsOnlyNewest: false,
  };
  const rules = { ...settings.guard, mayBeEmpty: false };
  const hold = judge(
    { ...evidence, recentDeletes: none, mayCountTwice: false, regression: undefined, departed: true },
    rules,
  ) as Hold;
  const digest = digestOf(source, []);
  ledger.hold({ source, digest, ...hold, hint: hold.hint, approvable: true }, deletes, clock.now().getTime());
  return {
    source,
    state: 'held',
    ...hold,
    digest,
    changes,
    approvable: true,
    deletes: shownDeletes(diffDrivers(buffer.drivers(source, 'accepted'), [])),
  };
}

function candidateDigest(deps: Dependencies, source: string): string {
  return digestOf(source, deps.buffer.drivers(source, 'candidate'));
}

/** sha256 over the source's name and the body that its drivers alone would make. */
function digestOf(source: string, drivers: Iterable<PackedDriver>): string {
  const hash = createHash('sha256').update(`${JSON.stringify(source)}\n`);
  for (const chunk of encodeBody(drivers, { shouldDeleteMissing: true, stamp: 'middle' })) hash.update(chunk);
  return hash.digest('hex');
}
