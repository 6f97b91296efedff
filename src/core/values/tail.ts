/** The months that a driver gains, judged by the year beside them: their size, their sign, and whether the newest one repeats. */
import type { Month } from '../model.ts';
import { type Series, exponentMax, isSameValue } from './series.ts';

const yearMonths = 12;
/** Fewer values than this, not 0, say nothing of a driver's size. */
const baseMin = 3;
/** Fewer say nothing of its sign: a value for each quarter is enough. */
const signMin = 4;
/** In powers of ten: how far a value may lie outside its year's range and still be of the same size. */
const margin = 0.5;
/** In powers of ten: how far a value without its slip may be from the median of its year. A whole one would be another slip. */
const reach = 0.99;
/** Smaller powers of ten are no slip: business may be ten times as good. */
const exponentMin = 2;
/** So many new months of zeros at once are a plan that is still empty: a quarter of them may be an export that lost its values. */
const frameMonths = 4;
/** A driver's habits are known where so many of its months can be compared with the month before. */
const repeatsMin = 3;

export interface Tail {
  /** The newest month that shows what was found. */
  readonly month: Month;
  /** The index of the month next to it in the year that it is judged by. */
  readonly judgedBy: number;
  /** The new value is not 0, and the year before has enough values to compare its size with. */
  readonly hasScale: boolean;
  /** Powers of ten by which the new value may have grown; none where it has the size of its year. */
  readonly exponents: readonly number[];
  /** The year before was of one sign. */
  readonly hasSign: boolean;
  /** A new value has the other sign and the size of its year. */
  readonly isTurned: boolean;
  /** No value of the year before was 0. */
  readonly hasNoZero: boolean;
  /** The newest value is 0, and no month of an empty plan. */
  readonly isZero: boolean;
  readonly repeats: Repeats | undefined;
}

/** Whether the newest month repeats the one before, and which of the year's months did. */
export interface Repeats {
  readonly isRepeated: boolean;
  /** Bit i: the month i + 1 before the newest equals the one before it. */
  readonly did: number;
  /** Bit i: both months have values. */
  readonly known: number;
}

const none: readonly number[] = [];

interface Base {
  /** Of the values that are not 0, in powers of ten. */
  readonly sizes: readonly number[];
  readonly least: number;
  readonly most: number;
  readonly zeros: number;
  /** `undefined`: the year has both signs, or is not whole. */
  readonly sign: 'positive' | 'negative' | undefined;
}

/**
 * What a read adds or restates at the end of a driver; `undefined` where its newest month is as it was.
 * @param first the index of the first month of that end, see `tailStart`
 */
export function lookAtTail(old: Series, now: Series, first: number): Tail | undefined {
  if (first >= now.count) return undefined;
  const base = baseOf(now, first);
  const repeats = repeatsOf(old, now, first);
  const last = now.count - 1;
  const [hasScale, hasSign] = [base.sizes.length >= baseMin, base.sign !== undefined && base.sizes.length >= signMin];
  const isTurned = hasSign && isOtherSign(base, now, last);
  const tail = {
    month: now.month(last),
    judgedBy: first - 1,
    hasScale: hasScale && !now.isZero(last),
    exponents: none,
  };
  const hasNoZero = base.zeros === 0 && base.sizes.length >= yearMonths / 2;
  const isZero = now.isZero(last) && !isFrame(old, now, first);
  const rest = { hasSign: hasSign && !now.isZero(last), isTurned, hasNoZero, isZero, repeats };
  if (!hasScale) return { ...tail, ...rest };
  for (let at = last; at >= Math.max(first, now.count - yearMonths); at--) {
    const exponents = exponentsOf(base, now, at);
    const before = old.indexOf(now.month(at));
    // A month that was of this size already did not slip in this read.
    if (exponents.length === 0 || (before >= 0 && !fits(base, old, before))) continue;
    return { ...tail, ...rest, hasScale: true, month: now.month(at), exponents };
  }
  return { ...tail, ...rest };
}

/**
 * What a read adds or restates before months that stayed as they were: a file that comes late, a plan that becomes an actual.
 * @param last the index of the newest such month
 */
export function lookAtGap(old: Series, now: Series, last: number): Tail {
  let first = last;
  while (first > 0 && !isAsItWas(old, now, first - 1)) first--;
  const before = old.indexOf(now.month(last));
  const yearBefore = baseOf(now, first);
  // Older months that come for the first time have nothing before them.
  const isJudgedByAfter = before < 0 && yearBefore.sizes.length < baseMin;
  const base = isJudgedByAfter ? baseBehind(now, last) : yearBefore;
  // A month that was of this size already did not slip in this read.
  const isJudged = before < 0 || fits(base, old, before);
  const hasScale = base.sizes.length >= baseMin && !now.isZero(last);
  const hasSign = base.sign !== undefined && base.sizes.length >= signMin && !now.isZero(last);
  return {
    month: now.month(last),
    judgedBy: isJudgedByAfter ? last + 1 : first - 1,
    hasScale,
    exponents: hasScale && isJudged ? exponentsOf(base, now, last) : none,
    hasSign,
    isTurned: hasSign && isJudged && isOtherSign(base, now, last) && !(before >= 0 && isOtherSign(base, old, before)),
    hasNoZero: false,
    isZero: false,
    repeats: undefined,
  };
}

function isAsItWas(old: Series, now: Series, at: number): boolean {
  const before = old.indexOf(now.month(at));
  return before >= 0 && isSameValue(old, before, now, at);
}

/** Whether a read adds the months of a plan that nobody has filled in yet, also behind a month that has happened. */
function isFrame(old: Series, now: Series, first: number): boolean {
  const from = Math.max(first, now.count - frameMonths);
  if (now.count - from < frameMonths) return false;
  if (old.count > 0 && now.month(from) <= old.month(old.count - 1)) return false;
  for (let at = from; at < now.count; at++) if (!now.isZero(at)) return false;
  return true;
}

/** The index of the first point behind all that stayed as they were: from there to the end, points are new or changed. */
export function tailStart(old: Series, now: Series): number {
  if (old.count === 0) return now.count;
  const lastOld = old.month(old.count - 1);
  let gained = now.count;
  while (gained > 0 && now.month(gained - 1) > lastOld) gained--;
  let [changed, before] = [gained, old.count - 1];
  for (; changed > 0; changed--) {
    const month = now.month(changed - 1);
    while (before >= 0 && old.month(before) > month) before--;
    if (before >= 0 && old.month(before) === month && isSameValue(old, before, now, changed - 1)) break;
  }
  // Where everything changed, the new months alone are judged, by what the months before them have become.
  return changed === 0 ? gained : changed;
}

/** The year before a month. */
function baseOf(now: Series, first: number): Base {
  const from = now.month(first) - yearMonths;
  let start = first;
  while (start > 0 && now.month(start - 1) >= from) start--;
  return baseIn(now, start, first, now.month(0) <= from);
}

/** The year behind a month. */
function baseBehind(now: Series, last: number): Base {
  const to = now.month(last) + yearMonths;
  let end = last + 1;
  while (end < now.count && now.month(end) <= to) end++;
  return baseIn(now, last + 1, end, now.month(now.count - 1) >= to);
}

/** @param end the index behind the last one */
function baseIn(now: Series, start: number, end: number, isYear: boolean): Base {
  const sizes: number[] = [];
  let [zeros, negative] = [0, 0];
  for (let at = start; at < end; at++) {
    if (now.isZero(at)) {
      zeros++;
      continue;
    }
    sizes.push(sizeOf(now, at));
    if (now.isNegative(at)) negative++;
  }
  const isOfOneSign = negative === 0 || negative === sizes.length;
  const sign = !isOfOneSign || !isYear ? undefined : negative === 0 ? 'positive' : 'negative';
  return { sizes, least: Math.min(...sizes), most: Math.max(...sizes), zeros, sign };
}

/** The power of ten of a value that is not 0, with its fraction. */
function sizeOf(series: Series, at: number): number {
  return Math.log10(Math.abs(series.approximate(at)));
}

function fits({ least, most }: Base, series: Series, at: number): boolean {
  if (series.isZero(at)) return true;
  const size = sizeOf(series, at);
  return size >= least - margin && size <= most + margin;
}

function exponentsOf(base: Base, now: Series, at: number): number[] {
  if (now.isZero(at) || fits(base, now, at)) return [];
  const size = sizeOf(now, at);
  const exponents: number[] = [];
  // One month that was far from all others makes the range wide, and growth look like a slip.
  const away = size - medianOf(base.sizes);
  if (Math.abs(away) < exponentMin - margin) return exponents;
  // A size is not finite where a value has hundreds of digits.
  const first = Math.max(-exponentMax, Math.ceil(size - base.most - margin));
  const last = Math.min(exponentMax, Math.floor(size - base.least + margin));
  for (let exponent = first; exponent <= last; exponent++) {
    if (Math.abs(exponent) >= exponentMin && !(Math.abs(away - exponent) > reach)) exponents.push(exponent);
  }
  return exponents;
}

function medianOf(sizes: readonly number[]): number {
  const ordered = sizes.toSorted((a, b) => a - b);
  const middle = ordered.length >> 1;
  return ordered.length % 2 === 1 ? ordered[middle]! : (ordered[middle - 1]! + ordered[middle]!) / 2;
}

function isOtherSign(base: Base, now: Series, at: number): boolean {
  if (now.isZero(at) || !fits(base, now, at)) return false;
  return now.isNegative(at) === (base.sign === 'positive');
}

/** Months that are new in this read are no habit: of two that are pasted at once, the second repeats the first. */
function repeatsOf(old: Series, now: Series, first: number): Repeats | undefined {
  const last = now.count - 1;
  const month = now.month(last);
  if (last === 0 || now.month(last - 1) !== month - 1) return undefined;
  if (isAsItWas(old, now, last)) return undefined;
  const isNew = (at: number): boolean => at >= first && old.indexOf(now.month(at)) < 0;
  let [did, known, count] = [0, 0, 0];
  for (let at = last - 1; at > 0 && now.month(at) >= month - yearMonths; at--) {
    if (now.month(at - 1) !== now.month(at) - 1 || isNew(at)) continue;
    const bit = 1 << (month - now.month(at) - 1);
    known |= bit;
    count++;
    if (isSameValue(now, at - 1, now, at)) did |= bit;
  }
  // New zeros in a row are found as zeros, or are a plan that is still empty.
  const isRepeated = isSameValue(now, last - 1, now, last) && !(now.isZero(last) && isNew(last - 1));
  return count < repeatsMin ? undefined : { isRepeated, did, known };
}
