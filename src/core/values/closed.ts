/** Closed months: which they are, and what a read would change in them. */
import type { Month } from '../model.ts';
import type { LastClose } from '../settings.ts';
import { daySeconds, monthOfWallSeconds, stampSeconds } from '../time/month.ts';
import { utcOffsetSeconds } from '../time/zone.ts';
import { type Series, isSameValue } from './series.ts';

export interface ValueRules {
  /** False: only closed months are looked after. */
  readonly isJudged: boolean;
  /** The last month that is closed. */
  readonly closedUpTo: Month | undefined;
  /** The last month that is over, in which readings are counted; without it they are not. */
  readonly overUpTo?: Month | undefined;
  /** Both reads are those of one part: what is gone from it may stay in others, and counts as lost. */
  readonly isPart?: boolean;
  /** Whether what a read leaves out is deleted. */
  readonly deletes: boolean;
}

/** The closed months of a driver whose point is created, changed or deleted. 1.5 and 1.50 are one value. */
export function closedMonths(
  { old, now }: { readonly old: Series; readonly now: Series },
  { closedUpTo = -Infinity, deletes }: ValueRules,
): readonly Month[] {
  const months: Month[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const was = i < old.count ? old.month(i) : Infinity;
    const is = j < now.count ? now.month(j) : Infinity;
    const month = Math.min(was, is);
    if (month > closedUpTo || month === Infinity) return months;
    const isChanged = was !== is ? is < was || deletes : !isSameValue(old, i, now, j);
    if (isChanged) months.push(month);
    if (was === month) i++;
    if (is === month) j++;
  }
}

/** The last month that is closed now; `undefined`: none is. */
export function lastClosedMonth(
  lastClose: LastClose | undefined,
  { nowMs, timezone }: { readonly nowMs: number; readonly timezone: string },
): Month | undefined {
  if (lastClose === undefined || lastClose.kind === 'month') return lastClose?.month;
  const seconds = Math.floor(nowMs / 1000);
  const wallSeconds = seconds + utcOffsetSeconds(timezone, seconds);
  const month = monthOfWallSeconds(wallSeconds);
  const day = Math.floor((wallSeconds - stampSeconds(month, 'start')) / daySeconds) + 1;
  return day >= lastClose.day ? month - 1 : month - 2;
}
