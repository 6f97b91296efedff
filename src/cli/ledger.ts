/** `ledger`: brings the ledger and the archive to the database that agents share, and back. */
import { giveBackLedger, takeOverLedger } from '../compose/shared-copy.ts';
import { AgentError } from '../core/errors.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { count } from '../core/text.ts';

const ledgerWays = ['take-over', 'give-back'] as const;

export async function ledger(context: Context, way: string): Promise<number> {
  const isThere = way === 'take-over';
  if (!isThere && way !== 'give-back') {
    throw new AgentError('usage', `"${way}" is nothing that is done with a ledger`, {
      hint: `say ${ledgerWays.join(' or ')}`,
    });
  }
  const settings = loadSettings(context, 'required');
  const copied = await (isThere ? takeOverLedger : giveBackLedger)(settings, commandLog(context));
  const { head, pushes, snapshots } = copied;
  const what = `${pushes} ${pushes === 1 ? 'push' : 'pushes'} and ${count(snapshots, 'snapshot')}`;
  answer(context, copied, () => [
    isThere
      ? `${what} are in the ledger at ${settings.ledger?.address.label} now: agents of any machine may start`
      : `${what} are in ${settings.state} now: take "ledger" out of the config of this machine and start it; the agents of the others stay stopped`,
    `the head of the chain is the same in both: ${head}`,
  ]);
  return 0;
}
