/**
 * Readings that are gone while their points stay: rows that a table has not loaded yet, or that a join leaves out. Looked for in months that
 * are over, and not in a driver's oldest one, which is judged as the beginning of an export.
 */
import type { Month } from '../model.ts';
import { type PackedDriver, type PackedPoints, readingsIn } from '../series/packing.ts';
import { type DriverLook, commonPoints } from './look.ts';
import { isSameValue } from './series.ts';

/** What a driver has lost in points of both reads. */
export interface Loss {
  /** How many readings the points had that have another value now. */
  readonly had: number;
  /** How many of these readings are gone. */
  readonly lost: number;
  /** The months that have lost some, in order. */
  readonly months: readonly Month[];
}

type Reads = Readonly<Record<'before' | 'after', PackedPoints | undefined>>;
type Look = Pick<DriverLook, 'old' | 'now'>;

/** @returns `undefined` where nothing can be lost unseen: one reading makes each point, or it is not known how many do */
export function findLoss({ old, now }: Look, reads: Reads, overUpTo: Month = -Infinity): Loss | undefined {
  if (!addUp(reads)) return undefined;
  const months: Month[] = [];
  const isSame: boolean[] = [];
  for (const [i, j] of commonPoints(old, now)) {
    if (old.month(i) > overUpTo) break;
    if (j === 0) continue;
    months.push(old.month(i));
    isSame.push(isSameValue(old, i, now, j));
  }
  const had = readingsIn(reads.before, months);
  if (!had.some((readings) => readings > 1)) return undefined;
  const has = readingsIn(reads.after, months);
  const lost: Month[] = [];
  const counts = { had: 0, lost: 0 };
  for (const [at, month] of months.entries()) {
    if (isSame[at] === true) continue;
    const gone = Math.max(0, had[at]! - has[at]!);
    counts.had += had[at]!;
    counts.lost += gone;
    if (gone > 0) lost.push(month);
  }
  return { ...counts, months: lost };
}

/** So many months show it, of a driver in which most have changed. */
const triedMax = 8;

/** Whether some of the first months that changed are of fewer readings now: what tells reads apart that need no closer look. */
export function mayLose({ now }: Look, reads: Reads, updated: readonly Month[], overUpTo: Month = -Infinity): boolean {
  if (!addUp(reads)) return false;
  const months: Month[] = [];
  for (const month of updated) {
    if (month > overUpTo || months.length === triedMax) break;
    if (month > now.month(0)) months.push(month);
  }
  if (months.length === 0) return false;
  const had = readingsIn(reads.before, months);
  return readingsIn(reads.after, months).some((has, at) => has < had[at]!);
}

/** Whether each reading of a month counts in its point, in both reads, and how many there were is known. */
function addUp(reads: Reads): reads is Readonly<Record<'before' | 'after', PackedDriver>> {
  const { before, after } = reads;
  if (before?.origins === undefined || after?.origins === undefined || before.rule !== after.rule) return false;
  return before.rule === 'sum' || before.rule === 'average' || before.rule === 'count';
}
