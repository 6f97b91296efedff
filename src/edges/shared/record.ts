/** All that is kept beside the logs: one row, which holds one record as JSON. */
import type { LedgerState } from '../../core/ledger.ts';
import type { Statements } from './database.ts';

export async function getRecord(statements: Statements): Promise<LedgerState> {
  const parse = ({ record }: { record: string }): LedgerState => JSON.parse(record) as LedgerState;
  const [state] = await statements.read(parse, 'SELECT record FROM ~state');
  return state!;
}

/** Changes what is given and leaves the rest; `undefined` forgets. Part of a transaction that keeps others from writing. */
export async function setRecord(statements: Statements, changed: LedgerState): Promise<void> {
  const record = JSON.stringify({ ...(await getRecord(statements)), ...changed });
  await statements.run('UPDATE ~state SET record = $1', record);
}
