/** Decides what no candidate can be judged for alone: that every driver has one source, and that the snapshot is not empty. */
import type { ReadKind } from '../../core/stores.ts';
import type { Dependencies } from '../dependencies.ts';
import { removedSources } from '../read/removed-sources.ts';
import { pendingApproval } from './approvals.ts';
import type { CandidateDecision } from './decision.ts';

/**
 * Holds candidates with drivers of another source. The source that has a driver accepted keeps it; between two first reads
 * the order of the config decides. A held candidate gives its accepted read back to the snapshot, which may conflict in turn,
 * so that this goes on until nothing moves.
 */
export function holdConflicts(
  deps: Dependencies,
  decisions: readonly CandidateDecision[],
): readonly CandidateDecision[] {
  const { buffer, settings } = deps;
  let decided = decisions;
  for (;;) {
    const reads = settings.sources.flatMap(({ name }) => prospect(deps, name, decided));
    if (reads.length < 2) return decided;
    const reasons = new Map<string, string>();
    for (const { driver, sources } of buffer.reads.sharedDrivers(reads)) {
      const owner =
        sources.find((source) => buffer.reads.driver(source, driver) !== undefined) ?? firstInConfig(deps, sources);
      for (const { kind, source } of decided) {
        if (kind === 'hold' || source === owner || !sources.includes(source)) continue;
        reasons.set(source, `driver "${driver}" of source "${source}" belongs to source "${owner}"`);
      }
    }
    if (reasons.size === 0) return decided;
    decided = decided.map((one) => {
      const reason = reasons.get(one.source);
      if (reason === undefined) return one;
      const hint = 'give one of them another id, or take the driver out of one source with "where"';
      return { ...one, kind: 'hold', reason, hint, approvable: false, whyDropped: reason };
    });
  }
}

function firstInConfig(deps: Dependencies, sources: readonly string[]): string {
  return deps.settings.sources.find(({ name }) => sources.includes(name))?.name ?? (sources[0] as string);
}

/** The read that the snapshot would use of a source as things stand. */
function prospect(
  deps: Dependencies,
  source: string,
  decisions: readonly CandidateDecision[],
): { source: string; kind: ReadKind }[] {
  const accepting = decisions.some((one) => one.source === source && one.kind === 'accept');
  if (accepting) return [{ source, kind: 'candidate' }];
  return deps.buffer.reads.parts(source, 'accepted') === undefined ? [] : [{ source, kind: 'accepted' }];
}

/**
 * An empty snapshot deletes every driver of the service: only an approved candidate may lead there.
 * @returns the decisions, and whether an approval leads to an empty snapshot
 */
export function holdEmptySnapshot(
  deps: Dependencies,
  decisions: readonly CandidateDecision[],
): { readonly decisions: readonly CandidateDecision[]; readonly isEmptyApproved: boolean } {
  const { settings, buffer } = deps;
  const unmoved = { decisions, isEmptyApproved: false };
  if (!settings.shouldDeleteMissing || decisions.length === 0) return unmoved;
  // A source that left the config goes too, once that is approved.
  const leaving = new Set(removedSources(deps).filter((name) => pendingApproval(deps, name) !== undefined));
  const names = new Set([...buffer.reads.acceptedSources(), ...settings.sources.map(({ name }) => name)]);
  const isEmpty = [...names].every(
    (name) => leaving.has(name) || prospect(deps, name, decisions).every((read) => isEmptyRead(deps, read)),
  );
  const passing = decisions.filter(({ kind }) => kind === 'accept');
  if (!isEmpty || passing.length === 0) return unmoved;
  const isApproved = passing.some(({ approval }) => approval !== undefined);
  // Each source that has drivers to lose has to be approved itself; where none has, something has to be.
  const unapproved = new Set(
    passing
      .filter(({ approval, comparison }) => approval === undefined && (!isApproved || comparison.before.drivers > 0))
      .map(({ source }) => source),
  );
  const reason = 'the snapshot would be empty, which deletes every driver of the service';
  const hint = 'approve it if that is meant';
  return {
    decisions: decisions.map((one) => {
      if (one.kind !== 'accept') return one;
      if (unapproved.has(one.source)) {
        return { ...one, kind: 'hold', reason, hint, approvable: true, whyDropped: reason };
      }
      return one.approval === undefined ? one : { ...one, isApproved: true };
    }),
    isEmptyApproved: isApproved && unapproved.size === 0,
  };
}

export function isEmptyRead(deps: Dependencies, { source, kind }: { source: string; kind: ReadKind }): boolean {
  for (const _driver of deps.buffer.reads.drivers(source, kind)) return false;
  return true;
}
