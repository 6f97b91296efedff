/** What an agent would push now, for the other agents of its ledger: one that sees other data says so before it leads. */
import type { AgentSaid } from '../../core/election/lead.ts';
import type { PushRecord, Snapshot } from '../../core/ledger.ts';
import { countChanges, diffDrivers } from '../../core/series/diff.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { buildSnapshot, withNewest } from '../push/newest-snapshot.ts';
import { comparedWith } from '../push/served.ts';

/** @param deps with an archive that keeps its drafts to itself */
export async function wouldPush(deps: Dependencies, sources: readonly SourceReport[]): Promise<AgentSaid> {
  const snapshot = await buildSnapshot(deps);
  const { digest, drivers, points } = snapshot;
  const last = await deps.ledger.pushes.lastAcknowledged(deps.address);
  return {
    would: { digest, drivers, points },
    ...(last === undefined || last.digest === digest ? {} : { differs: await differenceTo(deps, last, snapshot) }),
    sources: sources.flatMap(({ name, state, reason }) =>
      state === 'unread' || state === 'held' ? [{ name, state, reason }] : [],
    ),
  };
}

async function differenceTo(deps: Dependencies, last: PushRecord, newest: Snapshot): Promise<AgentSaid['differs']> {
  const { drivers, points } = await withNewest(deps, newest, (snapshot) =>
    comparedWith(deps, { last, snapshot }, (before, after) => countChanges(diffDrivers(before, after))),
  );
  const sum = ({ create, update, delete: gone }: typeof drivers): number => create + update + gone;
  return { push: last.id, drivers: sum(drivers), points: sum(points) };
}
