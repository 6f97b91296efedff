/** Reviews all candidates of a pass: decides about each, then about all together, then carries the decisions out. */
import type { SourceRead } from '../read/read-source.ts';
import { formerSources, removedSources } from '../read/removed-sources.ts';
import type { Dependencies } from '../dependencies.ts';
import { consentToEmpty, dropApprovals, firstPushTo } from './approvals.ts';
import { acceptTogether, carryOut, settleRemoved } from './carry-out.ts';
import { type Looked, type WatchChanges, decide, look, lookWithArrivals } from './decide.ts';
import type { CandidateDecision, Decision } from './decision.ts';
import { departedOf } from './departed.ts';
import type { PartsToForget } from './forgotten.ts';
import { findMoves, movedPoints } from './moves.ts';
import { sameContentWarnings } from './same-content.ts';
import { sharedPathWarnings } from './shared-paths.ts';
import { holdConflicts, holdEmptySnapshot } from './together.ts';
import type { Verdict } from './verdict.ts';

/** Accepts or holds every candidate, and records it. */
export async function review(
  deps: Dependencies,
  { reads, forgotten }: { readonly reads: readonly SourceRead[]; readonly forgotten: PartsToForget },
  watch?: WatchChanges,
): Promise<readonly Verdict[]> {
  await deps.ledger.holds.settleDeletes(deps.clock.now().getTime());
  const removed = removedSources(deps);
  const alone: Alone[] = [];
  for (const read of reads) alone.push(await lookAlone(deps, read, { removed, watch, forgotten }));
  const { decisions, isEmptyApproved } = await decideTogether(deps, alone, removed);
  if (isEmptyApproved) await consentToEmpty(deps);
  for (const { kind, source } of decisions) if (kind === 'accept') await forgotten.carryOut(source);
  await acceptTogether(deps, decisions);
  const verdicts = new Map<string, Verdict>();
  for (const one of alone) {
    const decision = one.kind === 'candidate' ? decisions.find(({ source }) => source === one.source) : one;
    if (decision !== undefined) verdicts.set(one.source, await carryOut(deps, decision));
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
  const shared = sharedPathWarnings(deps);
  return order.flatMap((name) => {
    const verdict = verdicts.get(name);
    return verdict === undefined ? [] : [withWarnings(verdict, [...copiesIn(deps, verdict), ...(shared[name] ?? [])])];
  });
}

function copiesIn(deps: Dependencies, { source, state }: Verdict): readonly string[] {
  const settings = deps.settings.sources.find(({ name }) => name === source);
  return settings === undefined ? [] : sameContentWarnings(deps, settings, state === 'held' ? 'candidate' : 'accepted');
}

function withWarnings(verdict: Verdict, more: readonly string[]): Verdict {
  return more.length === 0 ? verdict : { ...verdict, warnings: [...(verdict.warnings ?? []), ...more] };
}

/** What is known of a source before it is seen beside the others. */
type Alone = Exclude<Decision, CandidateDecision> | (Looked & { readonly kind: 'candidate'; readonly source: string });

async function lookAlone(deps: Dependencies, read: SourceRead, around: Parameters<typeof look>[2]): Promise<Alone> {
  const source = read.settings.name;
  if (read.state === 'unread') return { kind: 'unread', source, reason: read.reason, hint: read.hint };
  if (deps.buffer.reads.parts(source, 'candidate') === undefined) return { kind: 'unchanged', source };
  return { kind: 'candidate', source, ...(await look(deps, read, around)) };
}

async function decideTogether(
  deps: Dependencies,
  all: readonly Alone[],
  removed: readonly string[],
): ReturnType<typeof holdEmptySnapshot> {
  const candidates = all.filter((one) => one.kind === 'candidate');
  const unread = all.filter(({ kind }) => kind === 'unread').map(({ source }) => source);
  const facts = candidates.map((one) => one.facts);
  const moves = findMoves(deps, facts, { unread, former: formerSources(deps) });
  const decisions: CandidateDecision[] = [];
  for (const one of candidates) {
    const taken = moves.filter(({ to }) => to === one.source);
    const departed = await departedOf(deps, one.facts);
    const isNothing = taken.length === 0 && departed.length === 0;
    const looked = isNothing ? one : await lookWithArrivals(deps, one.facts, { moves: taken, departed }, removed);
    const given = moves.filter(({ from }) => from === one.source);
    const moved = movedPoints(deps, given, one.facts.comparison.deletes);
    decisions.push(await decide(deps, looked, { removed, moved }));
  }
  return holdEmptySnapshot(deps, holdConflicts(deps, decisions, moves));
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
