/** What an agent does first when it begins to lead. */
import type { Dependencies } from '../dependencies.ts';
import type { Agent } from '../loop/agent.ts';
import { restoreAfterLoss } from '../prepare/restore.ts';
import { beginFromPushed, goOnFromPushed } from './follow.ts';

/**
 * A push that the agent before did not see end may have been taken: it counts as ended now, so that what follows waits for it.
 * @param drafts with an archive that keeps its drafts to itself
 */
async function takeOver(deps: Dependencies, drafts: Dependencies, term: number | undefined): Promise<void> {
  await deps.ledger.pushes.endOrphans(deps.clock.now().getTime());
  await restoreAfterLoss(deps);
  const { ledIn } = deps.buffer.state();
  // Nobody else has led since it accepted what it has.
  const isItsOwn = term !== undefined && (ledIn === term || ledIn === term - 1);
  if (isItsOwn) await goOnFromPushed(drafts);
  else await beginFromPushed(drafts);
  deps.buffer.setState({ ledIn: term });
}

/** The same for a command that makes one pass, and the signal that ends it with its lead. */
export async function beginToLead(
  { deps, shared }: Pick<Agent, 'deps' | 'shared'>,
  signal: AbortSignal,
): Promise<AbortSignal> {
  if (shared === undefined) return signal;
  const { lead, following } = shared;
  await takeOver(deps, { ...deps, archive: following.archive }, lead.term()?.term);
  return AbortSignal.any([signal, lead.signal]);
}
