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
  await beginIn(drafts, term);
  deps.buffer.setState({ ledIn: term });
}

async function beginIn(drafts: Dependencies, term: number | undefined): Promise<void> {
  const { ledIn } = drafts.buffer.state();
  // Nobody else has led since it accepted what it has.
  const isItsOwn = term !== undefined && (ledIn === term || ledIn === term - 1);
  if (isItsOwn) await goOnFromPushed(drafts);
  else await beginFromPushed(drafts);
}

/** Brings a copy of the buffer to what a `sync` here would begin with. An agent of this state directory that leads goes on from what it has. */
export async function beginToTry(deps: Dependencies): Promise<void> {
  const view = await deps.ledger.agents?.();
  if (view === undefined || (view.leader !== undefined && view.term === deps.buffer.state().ledIn)) return;
  await beginIn(deps, view.term + 1);
}

/** Whether the agent of another state directory leads. */
export async function isLedElsewhere({ ledger, buffer }: Pick<Dependencies, 'ledger' | 'buffer'>): Promise<boolean> {
  const view = await ledger.agents?.();
  return view?.leader !== undefined && view.term !== buffer.state().ledIn;
}

/** What an agent does first when it begins to lead, for a command that makes one pass, and the signal that ends it with its lead. */
export async function beginToLead(
  { deps, shared }: Pick<Agent, 'deps' | 'shared'>,
  signal: AbortSignal,
): Promise<AbortSignal> {
  if (shared === undefined) return signal;
  const { lead, following } = shared;
  await takeOver(deps, { ...deps, archive: following.archive }, lead.term()?.term);
  return AbortSignal.any([signal, lead.signal]);
}
