/** What a source would have accepted after a read: what it shows, what is carried of parts that are gone, and its older months. */
import type { SourceSettings } from '../core/settings.ts';
import { foldedOf } from './folded.ts';
import { type HeldPart, withCarried, withHistory } from './model.ts';
import type { Accepted } from './moving.ts';

/** @param isApproved somebody approved what is held: readings that nobody knows any more may be among it */
export function candidateOf(
  source: SourceSettings,
  before: Accepted,
  {
    present,
    isOne,
    isApproved,
  }: { readonly present: readonly HeldPart[]; readonly isOne: boolean; readonly isApproved: boolean },
): Accepted {
  const parts = isOne || source.removed === 'delete' ? present : withCarried(before.parts, present);
  const carries = parts.some((part) => part.isCarried);
  const all = foldedOf(parts, source);
  const shown = present.length === parts.length ? all : foldedOf(present, source);
  const isUnknown = before.isBlurred || isApproved;
  return {
    parts,
    // An empty read shows no window of months, unless it may be empty: then all lies before it. What is carried shows none.
    points:
      source.history === 'carry' && (all.size > 0 || source.mayBeEmpty)
        ? withHistory(before.points, all, present.length > 0 && shown.size === 0 && !source.mayBeEmpty ? all : shown)
        : all,
    isBlurred: isUnknown && (carries || (before.isBlurred && source.history === 'carry')),
  };
}
