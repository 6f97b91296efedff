/** What a source would have accepted after a read: what it shows, what is carried of parts that are gone, and its older months. */
import type { SourceSettings } from '../core/settings.ts';
import { foldedOf, isSurelySame } from './folded.ts';
import { type HeldPart, type Points, withCarried, withHistory } from './model.ts';
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
  const { points, isUnsure } = pointsOf(source, before.points, parts);
  const isUnknown = before.isBlurred || isApproved;
  return {
    parts,
    points,
    isBlurred: isUnsure || (isUnknown && (carries || (before.isBlurred && source.history === 'carry'))),
  };
}

function pointsOf(
  source: SourceSettings,
  before: Points,
  parts: readonly HeldPart[],
): { readonly points: Points; readonly isUnsure: boolean } {
  const all = foldedOf(parts, source);
  // An empty read shows no window of months, unless it may be empty.
  if (source.history !== 'carry' || (all.size === 0 && !source.mayBeEmpty)) return { points: all, isUnsure: false };
  const within = (isRead: (part: HeldPart) => boolean): Points => {
    const read = parts.filter(isRead);
    const shown = read.length < parts.length ? foldedOf(read, source) : all;
    return withHistory(before, all, shown.size > 0 ? shown : all);
  };
  const points = within(({ isInSnapshot }) => isInSnapshot === undefined);
  if (!parts.some(({ isInSnapshot }) => isInSnapshot === 'perhaps')) return { points, isUnsure: false };
  return {
    points,
    isUnsure: !isSurelySame(
      points,
      within(({ isInSnapshot }) => isInSnapshot !== 'surely'),
    ),
  };
}
