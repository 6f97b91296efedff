/** Judges all candidates of a pass together, and carries the verdicts out. */
import { createHash } from 'node:crypto';
import { countChanges, diffDrivers, findRenames, hasChanges, noChanges } from '../core/diff.ts';
import { type Hold, judge } from '../core/guard.ts';
import type { PackedDriver } from '../core/packing.ts';
import { encodeBody } from '../core/snapshot.ts';
import { deletedPoints, dropApprovals, firstPush, isWithin, pendingApproval, shownDeletes } from './approvals.ts';
import { type Case, openCase, readKey } from './case.ts';
import { holdConflicts, holdEmptySnapshot, isEmptyRead } from './conflicts.ts';
import { departedSources, inheritCarried } from './departed.ts';
import type { SourceRead } from './read-source.ts';
import type { Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** Accepts or holds every candidate, and records it. */
export function judgeAll(world: World, reads: readonly SourceRead[]): readonly Verdict[] {
  const departed = departedSources(world);
  const cases: Case[] = [];
  const verdicts = new Map<string, Verdict>();
  for (const read of reads) {
    const source = read.settings.name;
    if (read.state === 'unread') {
      dropApprovals(world, source, `the source was not read: ${read.reason}`);
      const { reason, hint } = read;
      verdicts.set(source, { source, state: 'unread', reason, hint, changes: noChanges });
    } else if (world.buffer.readParts(source, 'candidate') === undefined) {
      verdicts.set(source, { source, state: 'unchanged', changes: noChanges });
    } else {
      inheritCarried(world, read.settings, departed);
      cases.push(openCase(world, read.settings, { departed, ...read }));
    }
  }
  holdConflicts(world, cases);
  holdEmptySnapshot(world, cases);
  for (const one of cases) verdicts.set(one.source, settle(world, one));
  for (const gone of departed) {
    const verdict = settleDeparted(world, gone);
    if (verdict !== undefined) verdicts.set(gone, verdict);
  }
  for (const { state, source } of world.ledger.approvals()) {
    if (state !== 'pending' || source === undefined || source === firstPush) continue;
    dropApprovals(world, source, 'nothing of that source is held any more');
  }
  for (const { source } of world.ledger.held()) {
    if (source !== firstPush && verdicts.get(source)?.state !== 'held') world.ledger.release(source);
  }
  world.observe({ kind: 'read.judged' });
  const order = [...world.settings.sources.map(({ name }) => name), ...departed];
  return order.flatMap((name) => verdicts.get(name) ?? []);
}

/** Carries a verdict out. */
function settle(world: World, one: Case): Verdict {
  const { buffer, ledger, clock } = world;
  const { source, changes, hold } = one;
  if (hold !== undefined) {
    const digest = candidateDigest(world, source);
    const { reason, hint, approvable } = hold;
    const renamed = findRenames(diffDrivers(buffer.drivers(source, 'accepted'), buffer.drivers(source, 'candidate')));
    ledger.hold({ source, digest, reason, hint, approvable }, deletedPoints(one.diff()), clock.now().getTime());
    if (one.approval !== undefined) dropApprovals(world, source, reason);
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
    ledger.recordDeletes(source, readKey(world, source), deletes);
  }
  buffer.accept(source);
  if (one.isApproved && one.approval !== undefined) ledger.closeApproval(one.approval.id, 'used');
  else dropApprovals(world, source, 'a newer read of the source did not need it');
  return { source, state: one.isFirst || hasChanges(changes) ? 'accepted' : 'unchanged', changes };
}

/** What happens to a source that left the config; nothing is left to say where others took all its drivers. */
function settleDeparted(world: World, source: string): Verdict | undefined {
  const { buffer, ledger, clock, settings } = world;
  const present = [...settings.sources.map(({ name }) => name), source].map(
    (name) => ({ source: name, kind: 'accepted' }) as const,
  );
  const taken = [...buffer.sharedDrivers(present)].filter(({ sources }) => sources.includes(source));
  if (taken.length > 0)
    buffer.yieldDrivers(
      source,
      taken.map(({ driver }) => driver),
    );
  const changes = countChanges(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const approval = pendingApproval(world, source);
  const deletes = deletedPoints(diffDrivers(buffer.drivers(source, 'accepted'), []));
  const isApproved = approval !== undefined && isWithin(deletes, ledger.approvedDeletes(approval.id));
  if (!isApproved) dropApprovals(world, source, 'the source left the config, which would delete all that it has');
  if (changes.drivers.delete === 0 || isApproved || !settings.shouldDeleteMissing) {
    buffer.dropRead(source, 'accepted');
    buffer.dropRead(source, 'candidate');
    if (isApproved) {
      ledger.closeApproval(approval.id, 'used');
      if (buffer.acceptedSources().every((name) => isEmptyRead(world, { source: name, kind: 'accepted' }))) {
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
    { ...evidence, recentDeletes: none, mayCountTwice: false, wentBack: undefined, departed: true },
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

function candidateDigest(world: World, source: string): string {
  return digestOf(source, world.buffer.drivers(source, 'candidate'));
}

/** sha256 over the source's name and the body that its drivers alone would make. */
function digestOf(source: string, drivers: Iterable<PackedDriver>): string {
  const hash = createHash('sha256').update(`${JSON.stringify(source)}\n`);
  for (const chunk of encodeBody(drivers, { shouldDeleteMissing: true, stamp: 'middle' })) hash.update(chunk);
  return hash.digest('hex');
}
