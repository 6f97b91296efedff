/** What no candidate can be judged for alone: that every driver has one source, and that the snapshot is not empty. */
import type { ReadKind } from '../../core/stores.ts';
import type { Case } from './candidate-review.ts';
import type { Dependencies } from '../dependencies.ts';

/**
 * One driver, one source: who has it accepted keeps it, between two first reads the order of the config decides. A held
 * candidate gives its accepted read back to the snapshot, which may conflict in turn: again until nothing moves.
 */
export function holdConflicts(deps: Dependencies, cases: readonly Case[]): void {
  const { buffer, settings } = deps;
  for (let moved = true; moved;) {
    moved = false;
    const reads = settings.sources.flatMap(({ name }) => prospect(deps, name, cases));
    if (reads.length < 2) return;
    for (const { driver, sources } of buffer.sharedDrivers(reads)) {
      const owner =
        sources.find((source) => buffer.driver(source, driver) !== undefined) ?? firstInConfig(deps, sources);
      for (const one of cases) {
        if (one.source === owner || !sources.includes(one.source) || one.hold !== undefined) continue;
        const reason = `driver "${driver}" of source "${one.source}" belongs to source "${owner}"`;
        const hint = 'give one of them another id, or take the driver out of one source with "where"';
        one.hold = { reason, hint, approvable: false };
        moved = true;
      }
    }
  }
}

function firstInConfig(deps: Dependencies, sources: readonly string[]): string {
  return deps.settings.sources.find(({ name }) => sources.includes(name))?.name ?? (sources[0] as string);
}

/** The read that the snapshot would use of a source as things stand. */
function prospect(deps: Dependencies, source: string, cases: readonly Case[]): { source: string; kind: ReadKind }[] {
  const one = cases.find((other) => other.source === source);
  if (one !== undefined && one.hold === undefined) return [{ source, kind: 'candidate' }];
  return deps.buffer.readParts(source, 'accepted') === undefined ? [] : [{ source, kind: 'accepted' }];
}

/** `extDrivers: []` deletes everything: only an approved candidate may lead there. */
export function holdEmptySnapshot(deps: Dependencies, cases: readonly Case[]): void {
  const { settings, ledger, buffer } = deps;
  if (!settings.shouldDeleteMissing || cases.length === 0) return;
  const names = new Set([...buffer.acceptedSources(), ...settings.sources.map(({ name }) => name)]);
  const isEmpty = [...names].every((name) => prospect(deps, name, cases).every((read) => isEmptyRead(deps, read)));
  const passing = cases.filter(({ hold }) => hold === undefined);
  if (!isEmpty || passing.length === 0) return;
  const approved = passing.filter(({ approval }) => approval !== undefined);
  if (approved.length > 0) {
    for (const one of approved) one.isApproved = true;
    ledger.setFact('emptyApproved', true);
    return;
  }
  for (const one of passing) {
    const reason = 'the snapshot would be empty, which deletes every driver of the service';
    one.hold = { reason, hint: 'approve it if that is meant', approvable: true };
  }
}

export function isEmptyRead(deps: Dependencies, { source, kind }: { source: string; kind: ReadKind }): boolean {
  for (const _driver of deps.buffer.drivers(source, kind)) return false;
  return true;
}
