/**
 * Approvals that were used and `forget` requests that are done, in data that no push has carried yet. An agent that goes back to a push
 * has lost what they did, so it opens them again: nobody is to be asked twice for what never left.
 */
import type { Closed } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';

const none: Closed = { approvals: [], forgets: [] };

/** Uses an approval up. It is noted first: what a crash keeps from being closed needs no opening. */
export async function useApproval(deps: Dependencies, id: number): Promise<void> {
  const { approvals, forgets } = await unpushed(deps);
  await deps.ledger.setState({ unpushed: { approvals: [...approvals, id], forgets } });
  await deps.ledger.holds.closeApproval(id, 'used');
}

/** Ends a `forget` request that was carried out. */
export async function endForget(deps: Dependencies, id: number): Promise<void> {
  const { approvals, forgets } = await unpushed(deps);
  await deps.ledger.setState({ unpushed: { approvals, forgets: [...forgets, id] } });
  await deps.ledger.requests.finish(id, forgotten);
}

const forgotten = 'done';

/** Ends a `forget` request that nothing was forgotten for. Whoever goes back to a push need not ask again. */
export async function endNeedless({ ledger }: Dependencies, id: number, reason: string): Promise<void> {
  await ledger.requests.finish(id, JSON.stringify({ outcome: 'not needed', reason }));
}

/** Opens again what was closed since the last push of what the sources have accepted was begun. */
export async function reopenUnpushed(deps: Dependencies): Promise<void> {
  const { ledger } = deps;
  const { approvals, forgets } = await unpushed(deps);
  if (approvals.length === 0 && forgets.length === 0) return;
  for (const { id, state } of await ledger.holds.approvals())
    if (state === 'used' && approvals.includes(id)) await ledger.holds.reopenApproval(id);
  for (const { id, result } of await ledger.requests.all())
    if (result === forgotten && forgets.includes(id)) await ledger.requests.reopen(id);
  await ledger.setState({ unpushed: undefined });
}

/** What the sources have accepted is what the service has: nothing of it could be lost. */
export async function forgetUnpushed({ ledger }: Dependencies): Promise<void> {
  if ((await ledger.state()).unpushed !== undefined) await ledger.setState({ unpushed: undefined });
}

async function unpushed({ ledger }: Dependencies): Promise<Closed> {
  return (await ledger.state()).unpushed ?? none;
}
