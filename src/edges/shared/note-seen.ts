/** Keeps what an agent sees of its ledger. Apart from the file itself: an agent with a ledger of its own asks for that at each start. */
import { type Glance, mayDoubtDiffer, noted } from '../../core/election/noting.ts';
import type { LeadRows, Looked } from '../../core/election/rows.ts';
import type { SeenFile } from './seen.ts';

/** Notes the newest record and what stands beside it, and whether what was seen before is still there. */
export async function noteSeen(
  seen: Pick<SeenFile, 'get' | 'set'>,
  { head, row, cluster, nowMs }: Looked,
  rows: Pick<LeadRows, 'hasRecord' | 'state'>,
): Promise<void> {
  const before = seen.get();
  const isGone = before?.head !== undefined && before.head !== head && !(await rows.hasRecord(before.head));
  const glance: Glance = { nowMs, head, term: row.term, holder: row.holder, cluster: cluster ?? '', isGone };
  const { lastDoubt } = mayDoubtDiffer(before, glance) ? await rows.state() : (before?.beside ?? {});
  seen.set(noted(before, glance, lastDoubt));
}
