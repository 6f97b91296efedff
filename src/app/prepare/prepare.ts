/** What comes before a pass reads: the buffer stands for what the service holds. */
import type { Dependencies } from '../dependencies.ts';
import { restoreAfterLoss, restoreRollback } from './restore.ts';

/** @param resume go on from the sources after a rollback */
export async function prepare(deps: Dependencies, { resume }: { readonly resume: boolean }): Promise<void> {
  await restoreAfterLoss(deps);
  await restoreRollback(deps);
  if (resume) await endRollback(deps);
}

/** Ends a rollback, and one that was asked for and never got that far. */
async function endRollback({ ledger }: Dependencies): Promise<void> {
  await ledger.setState({ rolledBack: undefined });
  for (const { id, request } of await ledger.requests.pending()) {
    if (request.kind === 'rollback') await ledger.requests.finish(id, JSON.stringify({ outcome: 'superseded' }));
  }
}
