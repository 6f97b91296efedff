/** Keeps what an agent sees of its ledger. Apart from the file itself: an agent with a ledger of its own asks for that at each start. */
import type { SharedDatabase } from './database.ts';
import { type Looked, hasRecord } from './lead-rows.ts';
import { getRecord } from './record.ts';
import type { SeenFile } from './seen.ts';

/** Notes the newest record and what stands beside it, and whether what was seen before is still there. */
export async function noteSeen(
  seen: SeenFile,
  { head, row, cluster, nowMs }: Looked,
  database: SharedDatabase,
): Promise<void> {
  const before = seen.get();
  const { term, holder } = row;
  const isGone = before?.head !== undefined && before.head !== head && !(await hasRecord(database, before.head));
  const isLost = isGone || term < (before?.beside?.term ?? 0);
  // A doubt is raised with a new term.
  const isSameTerm = !isLost && before?.beside?.term === term && before.beside.holder === holder;
  const { lastDoubt } = isSameTerm ? before.beside : await getRecord(database);
  const sinceMs = (before?.head === head ? before.beside?.sinceMs : undefined) ?? nowMs;
  seen.set({
    head,
    beside: { sinceMs, term, holder, cluster: cluster ?? '', lastDoubt },
    term: Math.max(term, before?.term ?? 0),
    ...(isGone ? { lost: before?.head } : {}),
    ...(isLost ? { lostBeside: before?.beside } : {}),
  });
}
