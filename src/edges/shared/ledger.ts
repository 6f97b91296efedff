/** The ledger on PostgreSQL, which agents of several machines share. Its records are those of the ledger on SQLite. */
import type { Term } from '../../core/election/rows.ts';
import type { Ledger } from '../../core/ledger.ts';
import { head } from './chain.ts';
import type { SharedDatabase } from './database.ts';
import { Fence } from './fence.ts';
import { SharedHolds } from './hold-log.ts';
import { view } from './lead-rows.ts';
import { SharedPushes } from './push-log.ts';
import { getRecord, setRecord } from './record.ts';
import { SharedRequests } from './request-log.ts';
import { SharedSnapshots } from './snapshot-log.ts';

export interface SharedLedger extends Ledger {
  readonly snapshots: SharedSnapshots;
}

/** @param term `undefined` where this process does not lead: then it only looks, and asks */
export function sharedLedger(database: SharedDatabase, term: () => Term | undefined): SharedLedger {
  const fence = new Fence(database, term);
  return {
    pushes: new SharedPushes(database, fence),
    holds: new SharedHolds(database, fence),
    requests: new SharedRequests(database, fence),
    snapshots: new SharedSnapshots(database, fence),
    head: () => head(database),
    state: () => getRecord(database),
    setState: (changed) => fence.write((statements) => setRecord(statements, changed)),
    agents: () => view(database),
    shrink: async () => undefined,
    close: () => database.close(),
  };
}
