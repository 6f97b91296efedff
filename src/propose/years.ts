/** Where the year of a date stands that has two digits of each number: first, as in `26/01/15`, or last. */
import type { Moment } from '../core/model.ts';

/** What a format reads of the texts of a column. */
export interface Fit {
  readonly format: string;
  /** In the order in which the texts first stand in the file. */
  readonly read: readonly Moment[];
  /** Of the moments. */
  readonly texts: readonly string[];
  readonly strangers: readonly string[];
}

export interface SettledYear {
  readonly kept: readonly Fit[];
  /** Formats that nothing rules out. */
  readonly others: readonly Fit[];
}

/** Fewer dates than this may stand in any order, and lie anywhere, by chance. */
const orderedMin = 4;
const denseMin = 5;
/** One date a year fills a twelfth of its months: more than that has to speak against a reading. */
const denserMin = 12;
const byMonthMin = 3;

/**
 * A field with one value may be the year of all dates, and as well the day of an export by month: that one changes less than another
 * says nothing. Each piece of evidence speaks for one side; where there is none, or they disagree, both stay.
 */
export function settleYear(fits: readonly Fit[]): SettledYear {
  const early = fits.filter(({ format }) => /^yy\W/.test(format));
  const late = fits.filter((one) => !early.includes(one));
  if (early.length === 0 || late.length === 0) return { kept: fits, others: [] };
  const evidence = [isNear, isOfEdges, isByMonth, isDenser, runsOn];
  const speaking = evidence.map((test) => ({
    forEarly: early.some((one) => late.every((other) => test(one, other))),
    forLate: late.some((one) => early.every((other) => test(one, other))),
  }));
  const isForEarly = speaking.some(({ forEarly, forLate }) => forEarly && !forLate);
  const isForLate = speaking.some(({ forEarly, forLate }) => forLate && !forEarly);
  if (isForEarly !== isForLate) return { kept: isForEarly ? early : late, others: [] };
  const isEarlyCloser = early.some((one) => late.every((other) => density(one) > 4 * density(other)));
  return isEarlyCloser ? { kept: early, others: late } : { kept: late, others: early };
}

/** All its years are of these decades, and not those of the other: 2001 is weak beside 2024. */
function isNear(one: Fit, other: Fit): boolean {
  const areNear = ({ read }: Fit): boolean => read.every(({ month }) => month >= 2010 * 12 && month < 2040 * 12);
  return areNear(one) && !areNear(other);
}

/** Every date is the last of its month, or nearly every month has its first and nothing else. */
function isOfEdges(one: Fit, other: Fit): boolean {
  const isOf = (fit: Fit): boolean =>
    fit.read.length > 1 &&
    (fit.read.every((moment) => new Date(moment.seconds * 1000 + 86_400_000).getUTCDate() === 1) ||
      (density(fit) > 0.5 && fit.read.every((moment) => dayOf(moment) === 1)));
  return isOf(one) && !isOf(other);
}

/** One day in each month without a gap, from one year to the next. Within a year the other reading has that too. */
function isByMonth(one: Fit): boolean {
  const { read } = one;
  const years = new Set(read.map(({ month }) => Math.floor(month / 12)));
  const days = new Set(read.map(dayOf));
  return read.length >= byMonthMin && years.size > 1 && days.size === 1 && density(one) === 1;
}

/** Its years lie together, and the dates of the other are scattered. */
function isDenser(one: Fit, other: Fit): boolean {
  return one.read.length >= denseMin && density(one) > denserMin * density(other);
}

/** Dates follow each other in the file. Those with the year first do so too wherever texts were sorted, which says nothing. */
function runsOn(one: Fit, other: Fit): boolean {
  return one.read.length >= orderedMin && !one.format.startsWith('yy') && isSorted(one) && !isSorted(other);
}

function isSorted({ read }: Fit): boolean {
  const steps = read.slice(1).map(({ seconds }, at) => seconds - (read[at]?.seconds ?? 0));
  return steps.every((step) => step >= 0) || steps.every((step) => step <= 0);
}

/** The share of the months from the first to the last that have a date. */
function density({ read }: Fit): number {
  const months = new Set(read.map(({ month }) => month));
  return months.size / (Math.max(...months) - Math.min(...months) + 1);
}

function dayOf({ seconds }: Moment): number {
  return new Date(seconds * 1000).getUTCDate();
}
