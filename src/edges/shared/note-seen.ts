/** Keeps what an agent sees of its ledger. Apart from the file itself: an agent with a ledger of its own asks for that at each start. */
import type { LeadRows, Looked } from '../../core/election/rows.ts';
import type { SeenFile } from './seen.ts';

/** Notes the newest record and what stands beside it, and whether what was seen before is still there. */
export async function noteSeen(
  seen: Pick<SeenFile, 'get' | 'set'>,
  { head, row, cluster, nowMs }: Looked,
  rows: Pick<LeadRows, 'hasRecord' | 'state'>,
): Promise<void> {
  const before = seen.get();
  const { term, holder } = row;
  const isGone = before?.head !== undefined && before.head !== head && !(await rows.hasRecord(before.head));
  const isLost = isGone || term < (before?.beside?.term ?? 0);
  // A doubt is raised with a new term.
  const isSameTerm = !isLost && before?.beside?.term === term && before.beside.holder === holder;
  const { lastDoubt } = isSameTerm ? before.beside : await rows.state();
  const sinceMs = (before?.head === head ? before.beside?.sinceMs : undefined) ?? nowMs;
  seen.set({
    head,
    beside: { sinceMs, term, holder, cluster: cluster ?? '', lastDoubt },
    term: Math.max(term, before?.term ?? 0),
    ...(isGone ? { lost: before?.head } : {}),
    ...(isLost ? { lostBeside: before?.beside } : {}),
  });
}
