/** What comes before a pass reads: the buffer stands for what the service holds, and what was asked for is done. */
import type { Dependencies } from '../dependencies.ts';
import { forgetRequested } from './requests.ts';
import { restoreAfterLoss, restoreRollback } from './restore.ts';

/** @param resume go on from the sources after a rollback */
export function prepare(deps: Dependencies, { resume }: { readonly resume: boolean }): void {
  restoreAfterLoss(deps);
  restoreRollback(deps);
  if (resume) endRollback(deps);
  forgetRequested(deps);
}

/** Ends a rollback, and one that was asked for and never got that far. */
function endRollback({ ledger }: Dependencies): void {
  ledger.setState({ rolledBack: undefined });
  for (const { id, request } of ledger.requests.pending()) {
    if (request.kind === 'rollback') ledger.requests.finish(id, JSON.stringify({ outcome: 'superseded' }));
  }
}
