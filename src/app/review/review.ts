/** Reviews all candidates of a pass: decides about each, then about all together, then carries the decisions out. */
import type { SourceRead } from '../read/read-source.ts';
import { removedSources } from '../read/removed-sources.ts';
import type { Dependencies } from '../dependencies.ts';
import { consentToEmpty, dropApprovals, firstPushTo } from './approvals.ts';
import { acceptTogether, carryOut, settleRemoved } from './carry-out.ts';
import { type WatchChanges, decide, decideWithArrivals } from './decide.ts';
import type { CandidateDecision, Decision } from './decision.ts';
import { departedOf } from './departed.ts';
import { findMoves } from './moves.ts';
import { holdConflicts, holdEmptySnapshot } from './together.ts';
import type { Verdict } from './verdict.ts';

/** Accepts or holds every candidate, and records it. */
export async function review(
  deps: Dependencies,
  reads: readonly SourceRead[],
  watch?: WatchChanges,
): Promise<readonly Verdict[]> {
  await deps.ledger.holds.settleDeletes(deps.clock.now().getTime());
  const removed = removedSources(deps);
  const alone: Decision[] = [];
  for (const read of reads) alone.push(await decideAlone(deps, read, { removed, watch }));
  const { decisions, isEmptyApproved } = await decideTogether(deps, alone, removed);
  if (isEmptyApproved) await consentToEmpty(deps);
  await acceptTogether(deps, decisions);
  const verdicts = new Map<string, Verdict>();
  for (const one of alone) {
    const decision = decisions.find(({ source }) => source === one.source) ?? one;
    verdicts.set(one.source, await carryOut(deps, decision));
  }
  const inState = (state: Verdict['state']): readonly string[] =>
    [...verdicts.values()].filter((verdict) => verdict.state === state).map(({ source }) => source);
  const remaining = { unread: inState('unread'), held: inState('held') };
  for (const gone of removed) {
    const verdict = await settleRemoved(deps, gone, remaining, watch);
    if (verdict !== undefined) verdicts.set(gone, verdict);
  }
  await releaseOthers(deps, verdicts);
  deps.observe({ kind: 'read.judged' });
  const order = [...deps.settings.sources.map(({ name }) => name), ...removed];
  return order.flatMap((name) => verdicts.get(name) ?? []);
}

async function decideAlone(
  deps: Dependencies,
  read: SourceRead,
  around: { removed: readonly string[]; watch: WatchChanges | undefined },
): Promise<Decision> {
  const source = read.settings.name;
  if (read.state === 'unread') return { kind: 'unread', source, reason: read.reason, hint: read.hint };
  if (deps.buffer.reads.parts(source, 'candidate') === undefined) return { kind: 'unchanged', source };
  return decide(deps, read.settings, { ...around, mayLag: read.mayLag });
}

async function decideTogether(
  deps: Dependencies,
  all: readonly Decision[],
  removed: readonly string[],
): ReturnType<typeof holdEmptySnapshot> {
  const alone = all.filter(isOfCandidate);
  const unread = all.filter(({ kind }) => kind === 'unread').map(({ source }) => source);
  const moves = findMoves(deps, alone, { unread, removed });
  const decisions: CandidateDecision[] = [];
  for (const one of alone) {
    const taken = moves.filter(({ to }) => to === one.source);
    const departed = await departedOf(deps, one);
    const isNothing = taken.length === 0 && departed.length === 0;
    decisions.push(isNothing ? one : await decideWithArrivals(deps, one, { moves: taken, departed }, removed));
  }
  return holdEmptySnapshot(deps, holdConflicts(deps, decisions, moves));
}

function isOfCandidate(decision: Decision): decision is CandidateDecision {
  return decision.kind === 'accept' || decision.kind === 'hold';
}

/** A source that this pass does not hold keeps neither a held candidate nor a pending approval. */
async function releaseOthers(deps: Dependencies, verdicts: ReadonlyMap<string, Verdict>): Promise<void> {
  const { address, ledger } = deps;
  // The first push to another address is for another approval.
  const firstPush = firstPushTo(address);
  for (const { state, source } of await ledger.holds.approvals()) {
    if (state !== 'pending' || source === undefined || source === firstPush) continue;
    if (verdicts.get(source)?.state === 'held') continue;
    await dropApprovals(deps, source, 'nothing of that source is held any more');
  }
  for (const { source } of await ledger.holds.held()) {
    if (source !== firstPush && verdicts.get(source)?.state !== 'held') await ledger.holds.release(source);
  }
}
