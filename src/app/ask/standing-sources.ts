/** The sources as `status` lists them: as the last pass left them, or a rollback after it. */
import type { LedgerState } from '../../core/ledger.ts';
import type { SourceReport } from '../../core/report.ts';
import { noChanges } from '../../core/series/diff.ts';
import type { Dependencies } from '../dependencies.ts';
import { sourceReport } from '../report.ts';

export function standingSources(deps: Dependencies, { lastPass, rolledBack }: LedgerState): readonly SourceReport[] {
  if (lastPass === undefined) return [];
  if (rolledBack === undefined || Date.parse(lastPass.at) >= rolledBack.sinceMs) return lastPass.sources;
  // A crash came between: only the next pass gives the sources what the snapshot has.
  if (!rolledBack.isRestored) return [];
  const accepted = new Set(deps.buffer.reads.acceptedSources());
  return lastPass.sources.map((source) => {
    const { name, state, reason, hint } = source;
    if (!accepted.has(name)) return source;
    const verdict = state === 'unread' ? ({ state, reason, hint } as const) : ({ state: 'unchanged' } as const);
    return sourceReport(deps, { source: name, ...verdict, changes: noChanges });
  });
}
