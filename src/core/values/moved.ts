/** Whether the values of a driver stand in other months than before, all moved alike. */
import { type Series, isSameValue } from './series.ts';

const monthsMax = 12;
const pointsMin = 6;
/** A move that leaves fewer points to compare cannot be told. */
const comparedMin = 5;
/** A series with fewer changes of value looks the same when it moves by a month. */
const stepsMin = 3;

export interface Move {
  readonly months: number;
  readonly points: number;
}

/** Whether a move of a driver could be told from a correction: it has points enough, and is not constant. */
export function canMove(series: Series): boolean {
  if (series.count < pointsMin) return false;
  let steps = 0;
  for (let at = 1; at < series.count; at++) {
    if (!isSameValue(series, at - 1, series, at) && ++steps === stepsMin) return true;
  }
  return false;
}

/** By how many months the values moved, with room for a few that were corrected too; `undefined`: they did not. */
export function findMove(old: Series, now: Series): Move | undefined {
  const isWithoutGaps = hasNoGaps(old) && hasNoGaps(now);
  for (let distance = 1; distance <= monthsMax; distance++) {
    for (const months of [distance, -distance]) {
      if (isWithoutGaps && isRuledOut(old, now, months)) continue;
      const points = movedPoints(old, now, months);
      if (points !== undefined) return { months, points };
    }
  }
  return undefined;
}

function hasNoGaps(series: Series): boolean {
  return series.count > 0 && series.month(series.count - 1) - series.month(0) === series.count - 1;
}

/** Whether the first digits of the values say already what `movedPoints` would: they nearly always do. Of series without gaps. */
function isRuledOut(old: Series, now: Series, months: number): boolean {
  const [before, after] = [old.keys, now.keys];
  const offset = old.month(0) + months - now.month(0);
  const end = Math.min(old.count, now.count - offset);
  let missed = 0;
  for (let i = Math.max(0, -offset); i < end; i++) {
    if (before[i] !== after[i + offset] && ++missed > 2 && missed * 10 > old.count) return true;
  }
  return false;
}

function movedPoints(old: Series, now: Series, months: number): number | undefined {
  let [compared, missed, at] = [0, 0, 0];
  for (let i = 0; i < old.count; i++) {
    const month = old.month(i) + months;
    while (at < now.count && now.month(at) < month) at++;
    if (at === now.count) break;
    if (now.month(at) !== month) continue;
    compared++;
    if (isSameValue(old, i, now, at)) continue;
    missed++;
    // Nearly always the first few values say that it is not this distance.
    if (missed > 2 && missed * 10 > old.count) return undefined;
  }
  if (compared < comparedMin || compared * 3 < old.count || missed * 10 > compared) return undefined;
  const changed = compared - stayedPoints(old, now, months);
  return changed >= stepsMin && missed * 5 <= changed ? compared - missed : undefined;
}

/**
 * How many of the values that a move compares tell nothing: they stand where they stood, and where they stand now nothing else stood. So a
 * year that is pasted over the next one is a move, and a forecast that begins with last year's values is none.
 */
function stayedPoints(old: Series, now: Series, months: number): number {
  let stayed = 0;
  for (let i = 0; i < old.count; i++) {
    const to = now.indexOf(old.month(i) + months);
    if (to < 0) continue;
    const same = now.indexOf(old.month(i));
    if (same < 0 || !isSameValue(old, i, now, same)) continue;
    const before = old.indexOf(old.month(i) + months);
    if (before < 0 || isSameValue(old, before, now, to)) stayed++;
  }
  return stayed;
}
