/** What an agent would push now, for the other agents of its ledger: one that sees other data says so before it leads. */
import { isAgentError } from '../../core/errors.ts';
import type { AgentSaid } from '../../core/election/lead.ts';
import type { PushRecord, Snapshot } from '../../core/ledger.ts';
import { type Changes, countChanges, diffDrivers } from '../../core/series/diff.ts';
import type { SourceReport } from '../../core/report.ts';
import type { Dependencies } from '../dependencies.ts';
import { buildSnapshot, withNewest } from '../push/newest-snapshot.ts';
import { openTitle } from '../push/retention.ts';

/** @param deps with an archive that keeps its drafts to itself */
export async function wouldPush(deps: Dependencies, sources: readonly SourceReport[]): Promise<AgentSaid> {
  const { digest, drivers, points } = await buildSnapshot(deps);
  const last = await deps.ledger.pushes.lastAcknowledged(deps.address);
  return {
    would: { digest, drivers, points },
    ...(last === undefined || last.digest === digest ? {} : { differs: await differenceTo(deps, last) }),
    sources: sources.flatMap(({ name, state, reason }) =>
      state === 'unread' || state === 'held' ? [{ name, state, reason }] : [],
    ),
  };
}

async function differenceTo(deps: Dependencies, last: PushRecord): Promise<AgentSaid['differs']> {
  const { drivers, points } = await withNewest(deps, (snapshot) => changesSince(deps, last, snapshot));
  const sum = ({ create, update, delete: gone }: typeof drivers): number => create + update + gone;
  return { push: last.id, drivers: sum(drivers), points: sum(points) };
}

/** Where the push is damaged here, or not kept, all is new. */
async function changesSince(deps: Dependencies, last: PushRecord, snapshot: Snapshot): Promise<Changes> {
  const pushed = await openTitle(deps, last.digest);
  const old = pushed?.readPoints(snapshot.blocks()) ?? [];
  try {
    return countChanges(diffDrivers(old, snapshot.readPoints(pushed?.blocks())));
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged') || pushed === undefined) throw error;
    return countChanges(diffDrivers([], snapshot.readPoints()));
  }
}
