/** Carries decisions out: the only place that accepts, holds, and closes what was approved. */
import { createHash } from 'node:crypto';
import { judgeRemoved } from '../../core/guard/guard.ts';
import { comparing } from '../../core/series/compare.ts';
import { type Changes, hasChanges, noChanges } from '../../core/series/diff.ts';
import type { PackedDriver } from '../../core/series/packing.ts';
import { encodeBody } from '../../core/series/snapshot.ts';
import type { DriverPairs } from '../../core/values/look.ts';
import type { Dependencies } from '../dependencies.ts';
import { useApproval } from '../push/unpushed.ts';
import { yieldTaken } from '../read/removed-sources.ts';
import { inTurns } from '../turns.ts';
import { consentToEmpty, dropApprovals, furtherThan, pendingApproval, shownDeletes } from './approvals.ts';
import type { WatchChanges } from './decide.ts';
import type { Accepting, CandidateDecision, Decision, Holding } from './decision.ts';
import { inheritDeletes, readKey } from './let-through.ts';
import { isEmptyRead } from './together.ts';
import { type ValueFindings, closedReview } from './values.ts';
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
      return accepted(deps, decision);
    case 'hold':
      return hold(deps, decision);
  }
}

/** Makes all candidates of a pass that pass the accepted reads of their sources, in one step. */
export async function acceptTogether(deps: Dependencies, decisions: readonly CandidateDecision[]): Promise<void> {
  const accepting = decisions.filter((one) => one.kind === 'accept');
  // Counted before it is done: a crash in between must not give the budget of the day back.
  for (const one of accepting) await countDeletes(deps, one);
  if (accepting.length === 0) return;
  for (const { source, comparison } of accepting) deps.buffer.reads.keepSummary(source, 'candidate', comparison.after);
  deps.buffer.reads.accept(
    new Map(accepting.map(({ source, isApproved, scope }) => [source, isApproved ? scope.carried : []])),
  );
}

async function countDeletes(deps: Dependencies, decision: Accepting): Promise<void> {
  const { ledger, clock } = deps;
  const { source, comparison, isApproved } = decision;
  const { changes, before } = comparison;
  await inheritDeletes(deps, source, decision.inheritedFrom, before);
  if (!isApproved && changes.drivers.delete + changes.points.delete > 0) {
    const { drivers, points } = changes;
    const deletes = { atMs: clock.now().getTime(), drivers: drivers.delete, points: points.delete, had: before };
    await ledger.holds.recordDeletes(source, readKey(deps, source), deletes);
  }
}

/** What is left to do for a candidate that was accepted. */
async function accepted(deps: Dependencies, decision: Accepting): Promise<Verdict> {
  const { source, comparison, isApproved, approval, isFirst } = decision;
  const { changes } = comparison;
  if (isApproved && approval !== undefined) await useApproval(deps, approval.id);
  else await dropApprovals(deps, source, 'a newer read of the source did not need it');
  const state = isFirst || hasChanges(changes) ? 'accepted' : 'unchanged';
  return { source, state, changes, ...toldOf(decision.values) };
}

async function hold(deps: Dependencies, decision: Holding): Promise<Verdict> {
  const { buffer, ledger, clock } = deps;
  const { source, comparison, scope, reason, hint, approvable } = decision;
  const digest = digestOf([source, comparison.changes], buffer.reads.drivers(source, 'candidate'));
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
    ...toldOf(decision.values),
  };
}

function toldOf({ all, warnings }: ValueFindings): Pick<Verdict, 'findings' | 'warnings'> {
  return { ...(all.length === 0 ? {} : { findings: all }), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** How the sources of the config came out of a pass, as far as it concerns one that left it. */
export interface Remaining {
  /** Sources that were not read. Any of them may have drivers of the removed one now. */
  readonly unread: readonly string[];
  /** Sources whose candidate is held. What these have stays until they are accepted or have it no longer. */
  readonly held: readonly string[];
}

/**
 * Settles a source that left the config, once the others have what they take over.
 * @returns `undefined` where there is nothing to tell: others have all its drivers, or will have them
 */
export async function settleRemoved(
  deps: Dependencies,
  source: string,
  { unread, held }: Remaining,
  watch?: WatchChanges,
): Promise<Verdict | undefined> {
  const { buffer, ledger, clock, settings } = deps;
  yieldTaken(deps, source);
  const awaited = driversOfHeld(deps, source, held);
  const going = (): Iterable<PackedDriver> => without(buffer.reads.drivers(source, 'accepted'), awaited);
  const closed = closedReview(deps);
  const see: Parameters<typeof comparing>[2] = (change) => {
    closed.see(change);
    watch?.(source, change);
  };
  const comparison = await inTurns(comparing(going(), [], see));
  const { changes, deletes } = comparison;
  const found = closed.findings(() => asGone(going()));
  const scope = { deletes, moved: new Map(), carried: [], findings: found.holding, isEnd: true };
  const approval = await pendingApproval(deps, source);
  const further = approval && furtherThan(scope, await ledger.holds.approvedScope(approval.id));
  const isApproved = approval !== undefined && further === undefined;
  if (further !== undefined) await dropApprovals(deps, source, further);
  const isNothing = changes.drivers.delete === 0;
  if (isNothing && awaited.size > 0) return undefined;
  if (isNothing || (unread.length === 0 && (isApproved || !settings.shouldDeleteMissing))) {
    leave(deps, source, { awaited, going: deletes.keys() });
    if (!isApproved) return undefined;
    await useApproval(deps, approval.id);
    if (buffer.reads.acceptedSources().every((name) => isEmptyRead(deps, { source: name, kind: 'accepted' }))) {
      await consentToEmpty(deps);
    }
    return isNothing ? undefined : { source, state: 'accepted', changes };
  }
  // Nothing is deleted, so nothing is held either: it only waits for whoever may take it over.
  if (!settings.shouldDeleteMissing) return undefined;
  const digest = digestOf({ left: source }, going());
  const waits = `it is approved and waits; put the source back, or "driver-sync forget ${source}" deletes all that is left of it at once`;
  const judged = closed.hold(judgeRemoved(changes, { unread, awaited }), found);
  const verdict = { ...judged, ...(isApproved ? { hint: waits } : {}), digest, approvable: !isApproved };
  await ledger.holds.hold({ source, hint: undefined, ...verdict }, scope, clock.now().getTime());
  return { source, state: 'held', ...verdict, changes, deletes: shownDeletes(comparison), ...toldOf(found) };
}

function* asGone(drivers: Iterable<PackedDriver>): DriverPairs {
  for (const driver of drivers) yield [driver, undefined];
}

/** Drivers of a removed source that held candidates have, with one of the sources that have each. */
function driversOfHeld({ buffer }: Dependencies, gone: string, held: readonly string[]): ReadonlyMap<string, string> {
  if (held.length === 0) return new Map();
  const candidates = held.map((source) => ({ source, kind: 'candidate' }) as const);
  const found = new Map<string, string>();
  for (const { driver, sources } of buffer.reads.sharedDrivers([{ source: gone, kind: 'accepted' }, ...candidates])) {
    const taker = sources.find((source) => source !== gone);
    if (taker !== undefined && sources.includes(gone)) found.set(driver, taker);
  }
  return found;
}

function* without(drivers: Iterable<PackedDriver>, ids: ReadonlyMap<string, string>): Generator<PackedDriver> {
  for (const driver of drivers) if (!ids.has(driver.id)) yield driver;
}

/** The removed source keeps nothing but what a held candidate has of it. */
function leave(
  { buffer }: Dependencies,
  source: string,
  { awaited, going }: { readonly awaited: ReadonlyMap<string, string>; readonly going: Iterable<string> },
): void {
  if (awaited.size > 0) {
    buffer.reads.removeDrivers(source, [...going]);
    return;
  }
  buffer.reads.drop(source, 'accepted');
  buffer.reads.drop(source, 'candidate');
  buffer.rejects.keepOnly(source, []);
}

/**
 * sha256 over the owner of these drivers (a source and how many of its drivers and points change, or the source that they go with) and the body
 * that they alone would make. So what somebody saw is not approved where the same content would change more.
 */
function digestOf(
  whose: readonly [string, Changes] | { readonly left: string },
  drivers: Iterable<PackedDriver>,
): string {
  const hash = createHash('sha256').update(`${JSON.stringify(whose)}\n`);
  encodeBody(drivers, { shouldDeleteMissing: true, stamp: 'middle' }, (chunk) => hash.update(chunk));
  return hash.digest('hex');
}
