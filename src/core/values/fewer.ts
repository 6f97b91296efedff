/**
 * Readings that are gone while their points stay: rows that a table has not loaded yet, or that a join leaves out. Looked for in months that
 * are over. Where a driver has lost some of its oldest one alone, that is the beginning of a rolling export, which is judged elsewhere.
 */
import type { Month } from '../model.ts';
import { type PackedDriver, type PackedPoints, readingsIn } from '../series/packing.ts';
import { isAdding } from '../series/rule.ts';
import type { ValueRules } from './closed.ts';
import type { DriverLook } from './look.ts';
import { isSameValue, type Series } from './series.ts';

/** What a driver has lost. */
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
type Rules = Pick<ValueRules, 'overUpTo' | 'isPart'>;

const nothingLost: Loss = { had: 0, lost: 0, months: [] };

/** @returns `undefined` where nothing can be lost unseen: one reading makes each point, or it is not known how many do */
export function findLoss({ old, now }: Look, reads: Reads, rules: Rules): Loss | undefined {
  if (!addUp(reads, rules)) return undefined;
  const { overUpTo = -Infinity, isPart = false } = rules;
  const months: Month[] = [];
  const isOther: boolean[] = [];
  for (let i = 0; i < old.count && old.month(i) <= overUpTo; i++) {
    const j = now.indexOf(old.month(i));
    if (j < 0 && !isPart) continue;
    months.push(old.month(i));
    isOther.push(j < 0 || !isNearly(old, i, now, j));
  }
  const had = readingsIn(reads.before, months);
  if (!had.some((readings) => readings > 1)) return undefined;
  const has = reads.after === undefined ? [] : readingsIn(reads.after, months);
  const lost: Month[] = [];
  const counts = { had: 0, lost: 0 };
  for (const [at, month] of months.entries()) {
    if (isOther[at] !== true) continue;
    const gone = Math.max(0, had[at]! - (has[at] ?? 0));
    counts.had += had[at]!;
    counts.lost += gone;
    if (gone > 0) lost.push(month);
  }
  const isBeginning = lost.length === 1 && months.length > 1 && now.count > 0 && lost[0] === now.month(0);
  return isBeginning ? nothingLost : { ...counts, months: lost };
}

/** Whoever puts rows together that were rounded changes their sum by less. Only how large a change is goes by a number. */
const nearly = 1 / 100;

function isNearly(old: Series, i: number, now: Series, j: number): boolean {
  if (isSameValue(old, i, now, j)) return true;
  const was = old.approximate(i);
  return Math.abs(now.approximate(j) - was) < Math.abs(was) * nearly;
}

/** So many months show it, of a driver in which most have changed. */
const triedMax = 8;

/** Whether some of the first months that changed are of fewer readings now: what tells reads apart that need no closer look. */
export function mayLose({ old, now }: Look, reads: Reads, changed: readonly Month[], rules: Rules): boolean {
  const { overUpTo = -Infinity } = rules;
  if (changed.length === 0 || !addUp(reads, rules)) return false;
  if (reads.after === undefined) return old.count > 0 && old.month(0) <= overUpTo;
  // A driver with no other month that is over has nothing but its beginning.
  const from = now.count < 2 || now.month(1) > overUpTo ? 0 : now.month(0) + 1;
  const months: Month[] = [];
  for (const month of changed) {
    if (month > overUpTo || months.length === triedMax) break;
    if (month >= from) months.push(month);
  }
  if (months.length === 0) return false;
  const had = readingsIn(reads.before, months);
  return readingsIn(reads.after, months).some((has, at) => has < had[at]!);
}

type Counted = { readonly before: PackedDriver; readonly after: PackedDriver | undefined };

/** Whether each reading of a month counts in its point, in both reads, and how many there were is known. Of a part a driver may be gone. */
function addUp(reads: Reads, { isPart = false }: Rules): reads is Counted {
  const { before, after } = reads;
  if (before?.origins === undefined) return false;
  if (after === undefined ? !isPart : after.origins === undefined || after.rule !== before.rule) return false;
  return isAdding(before.rule);
}
