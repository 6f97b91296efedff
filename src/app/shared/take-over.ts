/** What an agent does first when it begins to lead. */
import type { Dependencies } from '../dependencies.ts';
import type { Agent } from '../loop/agent.ts';
import { restoreAfterLoss } from '../prepare/restore.ts';
import { goOnFromPushed } from './follow.ts';

/**
 * A push that the agent before did not see end may have been taken: it counts as ended now, so that what follows waits for it.
 * @param drafts with an archive that keeps its drafts to itself
 */
async function takeOver(deps: Dependencies, drafts: Dependencies): Promise<void> {
  await deps.ledger.pushes.endOrphans(deps.clock.now().getTime());
  await restoreAfterLoss(deps);
  await goOnFromPushed(drafts);
}

/** The same for a command that makes one pass, and the signal that ends it with its lead. */
export async function beginToLead(
  { deps, shared }: Pick<Agent, 'deps' | 'shared'>,
  signal: AbortSignal,
): Promise<AbortSignal> {
  if (shared === undefined) return signal;
  await takeOver(deps, { ...deps, archive: shared.following.archive });
  return AbortSignal.any([signal, shared.lead.signal]);
}
