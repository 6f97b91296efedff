/** The guard: which candidate may replace what was accepted. Nothing is deleted without evidence. */
import type { Regression } from './answer-version.ts';
import type { Beginning, FewerReadings } from '../series/beginning.ts';
import { type Changes, hasChanges } from '../series/diff.ts';
import { isAdding } from '../series/rule.ts';
import type { Limit, Mapping } from '../settings.ts';
import type { Month } from '../model.ts';
import { formatMonth } from '../time/month.ts';

/** What the guard knows of a candidate and of the accepted read that it would replace. */
export interface Evidence {
  /** `undefined` where the source was never accepted. */
  readonly accepted:
    | { readonly drivers: number; readonly points: number; readonly rejects: number | undefined }
    | undefined;
  readonly candidate: { readonly drivers: number; readonly points: number; readonly rejects: number };
  /** From the accepted read to the candidate. */
  readonly changes: Changes;
  /** Every deleted point lies before the candidate's earliest month. */
  readonly dropsOnlyOldest: boolean;
  /** Drivers that lose months before the first one that they keep, of those that both have. */
  readonly losingOldest: { readonly drivers: number; readonly of: number };
  /** The month between others that stay which most drivers lose, of those that both have. */
  readonly losingBetween: { readonly month: Month; readonly drivers: number } | undefined;
  /** The place may lag, every deleted point lies after the candidate's latest month, and nothing is new. */
  readonly dropsOnlyNewest: boolean;
  /** Where the read begins, if its oldest month changes. */
  readonly beginning: Beginning | undefined;
  /** Deletes that the guard let through without approval. */
  readonly letThrough: { readonly day: Deletes; readonly month: Deletes & { readonly had: Deletes | undefined } };
  /** Doubts about carried parts. */
  readonly doubts: readonly CarriedDoubt[];
  /** The place says that it is older than it was. */
  readonly regression: Regression | undefined;
}

interface Deletes {
  readonly drivers: number;
  readonly points: number;
}

/** A carried part, and why what is carried of it may be wrong beside the other parts. */
export type CarriedDoubt =
  /** Its rows may stand in another part too: that one is new or changed and has a point of it. */
  | { readonly kind: 'twice'; readonly carried: string; readonly other: SharedPart }
  /** It is only known from a snapshot, which does not say what its share of sums was. */
  | { readonly kind: 'share'; readonly carried: string }
  /** It is only known from a snapshot, and a reading of it that did not count there may count now. */
  | { readonly kind: 'hidden'; readonly carried: string; readonly driver: string; readonly month: string }
  /** It was read by other settings, and cannot be read by today's. Without a name: months that only an earlier read had. */
  | { readonly kind: 'otherwise'; readonly carried: string | undefined; readonly what: ReadOtherwise }
  /** No part, and not carried: a file that a query read for the accepted read, and that is gone. */
  | { readonly kind: 'file'; readonly carried: string };

interface ReadOtherwise {
  readonly points: number;
  /** The first and the last month. */
  readonly from: string;
  readonly to: string;
  /** Names today's settings. */
  readonly settings: string;
}

interface SharedPart {
  readonly part: string;
  readonly driver: string;
  readonly month: string;
}

export interface GuardRules {
  readonly maxDeletes: Limit;
  readonly floor: number;
  readonly mayBeEmpty: boolean;
}

/** Why a candidate is held, for a person. */
export interface Hold {
  readonly reason: string;
  readonly hint?: string;
}

/** `undefined`: the candidate may replace what was accepted. */
export function judge(evidence: Evidence, rules: GuardRules): Hold | undefined {
  const { accepted, candidate, changes } = evidence;
  const emptiness = judgeEmptiness(evidence, rules);
  if (emptiness !== undefined) return emptiness;
  const doubtful = judgeDoubts(evidence.doubts);
  if (doubtful !== undefined) return doubtful;
  if (accepted !== undefined && evidence.regression !== undefined && hasChanges(changes)) {
    const { from, to } = evidence.regression;
    return {
      reason: `its query "changed" went back from ${from} to ${to}`,
      hint: 'a replica that lags catches up by itself; approve it if an older state is the truth now, as after a restore',
    };
  }
  if (accepted === undefined) return undefined;
  if (changes.points.delete + changes.drivers.delete === 0) return judgeBeginning(evidence.beginning, rules);
  const deletes = describeDeletes(changes);
  // As many as the accepted read had stand there by habit. Where nothing says how many, each may be new.
  if (candidate.rejects > (accepted.rejects ?? 0)) {
    const rejects = `${candidate.rejects} ${plural(candidate.rejects, 'reject')}`;
    const before =
      accepted.rejects === undefined
        ? '; how many the accepted read had is not known'
        : ` where the accepted read had ${accepted.rejects}`;
    return {
      reason: `it would delete ${deletes} and has ${rejects}${before}`,
      hint: 'a row that could not be read is no evidence that its points are gone: see "driver-sync rejects"',
    };
  }
  // With `mayBeEmpty` an empty read is evidence, and deletes everything that the source had.
  if (candidate.drivers === 0) return undefined;
  const oldest = lostOldest(evidence);
  if (oldest !== undefined) {
    return {
      reason: `${oldest} and would delete ${deletes}`,
      hint: 'if the export shows only recent months, set history: carry; else approve',
    };
  }
  if (evidence.dropsOnlyNewest) {
    return {
      reason: `it only drops the newest months and would delete ${deletes}`,
      hint: 'a replica that lags catches up by itself; approve it if they are really gone',
    };
  }
  // A sum of several days can be more than all that there is now, which was allowed to go each time.
  if (letsAllGo(rules)) return undefined;
  return (
    judgeGap(evidence, rules) ?? judgeBeginning(evidence.beginning, rules) ?? judgeShare(evidence, accepted, rules)
  );
}

function letsAllGo({ maxDeletes }: Pick<GuardRules, 'maxDeletes'>): boolean {
  return maxDeletes.kind === 'share' && maxDeletes.millionths >= 1_000_000;
}

/** What looks like an export that shows only recent months: nothing else goes, or most drivers begin later than they did. */
function lostOldest({ dropsOnlyOldest, losingOldest: { drivers, of } }: Evidence): string | undefined {
  if (dropsOnlyOldest) return 'it only drops the oldest months';
  return drivers * 2 > of ? `it drops the oldest months of ${drivers} of ${of} ${plural(of, 'driver')}` : undefined;
}

/** What looks like a month that was not loaded, or whose header was typed anew: in the middle, of most drivers, and more than may go unseen. */
function judgeGap({ changes, losingBetween, losingOldest: { of } }: Evidence, { floor }: GuardRules): Hold | undefined {
  if (losingBetween === undefined) return undefined;
  const { month, drivers } = losingBetween;
  if (drivers * 2 <= of || drivers <= floor) return undefined;
  return {
    reason: `it drops ${formatMonth(month)}, between months that stay, of ${drivers} of ${of} drivers and would delete ${describeDeletes(changes)}`,
    hint: 'see whether a part of the data or the header of that month is missing; approve it if the month is really gone',
  };
}

/** What looks like an export of the last so many days, whose sums shrink with its first month day by day, and nothing is deleted. */
export function judgeBeginning(
  beginning: Beginning | undefined,
  rules: Pick<GuardRules, 'maxDeletes' | 'floor'>,
): Hold | undefined {
  if (beginning === undefined || !beginsWithin(beginning, rules)) return undefined;
  const { month, oldest } = beginning;
  return {
    reason: `it shows fewer readings of ${formatMonth(month)}, its oldest month, for ${oldest.drivers} of ${oldest.of} drivers, as an export that begins within that month does`,
    hint: 'let the export begin with the first day of a month (history: carry keeps the months before it); approve it if those readings are really gone',
  };
}

function beginsWithin({ oldest, next }: Beginning, rules: Pick<GuardRules, 'maxDeletes' | 'floor'>): boolean {
  if (next === undefined || letsAllGo(rules)) return false;
  // Where the next month has fewer readings too, rows that stood there twice were mended.
  return isMost(oldest) && oldest.drivers > rules.floor && !isMost(next);
}

function isMost({ drivers, of }: FewerReadings): boolean {
  return drivers * 2 > of;
}

/** Names the month among what an approval covers, and how much is left of it: with less it is another read. */
export function nameOfBeginning({ month, oldest }: Beginning): string {
  return `only ${oldest.readings} readings of ${formatMonth(month)}`;
}

export function isNameOfBeginning(name: string): boolean {
  return /^only \d+ readings of \d{4}-\d{2}$/.test(name);
}

/**
 * A source that left the config deletes all that no other one has, which somebody has to approve.
 * @param unread sources that may have its drivers and were not read
 * @param awaited its drivers that held candidates have, with the source of one
 */
export function judgeRemoved(
  { drivers }: Changes,
  { unread, awaited }: { readonly unread: readonly string[]; readonly awaited: ReadonlyMap<string, string> },
): Hold {
  const named = (sources: Iterable<string>): string => [...new Set(sources)].map((name) => `"${name}"`).join(', ');
  const deleted = `the source left the config and ${drivers.delete} ${plural(drivers.delete, 'driver')} would be deleted`;
  const first =
    unread.length === 0
      ? ''
      : ` once ${named(unread)} ${unread.length === 1 ? 'is' : 'are'} read, which may have them now`;
  const rest = awaited.size === 0 ? '' : `; ${awaited.size} more wait for the held read of ${named(awaited.values())}`;
  return { reason: deleted + first + rest, hint: 'approve it, or put the source back' };
}

function judgeEmptiness({ accepted, candidate }: Evidence, rules: GuardRules): Hold | undefined {
  if (candidate.drivers > 0 || rules.mayBeEmpty) return undefined;
  const rejects = candidate.rejects === 0 ? '' : `, and ${candidate.rejects} ${plural(candidate.rejects, 'reject')}`;
  const see = rejects === '' ? '' : 'see "driver-sync rejects", ';
  if (accepted === undefined) {
    return {
      reason: `its first read has no readings${rejects}`,
      hint: `${see}check "where" and the columns, or set mayBeEmpty: true`,
    };
  }
  if (accepted.drivers === 0) return undefined;
  return {
    reason: `it turned empty${rejects} and would delete all ${accepted.drivers} ${plural(accepted.drivers, 'driver')}`,
    hint: `${see}check the export; approve only if the data is really gone`,
  };
}

/** @returns `undefined` where there is no doubt */
export function judgeDoubts(doubts: readonly CarriedDoubt[]): Hold | undefined {
  if (doubts.length === 0) return undefined;
  const twice = doubts.filter(({ kind }) => kind === 'twice');
  const otherwise = doubts.filter(({ kind }) => kind === 'otherwise');
  const missing = doubts.filter(({ kind }) => kind === 'share' || kind === 'hidden');
  const files = doubts.flatMap((doubt) => (doubt.kind === 'file' ? [doubt.carried] : []));
  const reasons = [
    ...(twice.length === 0 ? [] : [`rows may be counted twice: ${describeDoubts(twice)}`]),
    ...(missing.length === 0 ? [] : [`readings are missing: ${describeDoubts(missing)}`]),
    ...(files.length === 0 ? [] : [describeGoneFiles(files)]),
    ...(otherwise.length === 0 ? [] : [`the settings have changed: ${describeDoubts(otherwise)}`]),
  ];
  const hints = otherwise.length === 0 ? [] : [otherwiseHint(otherwise)];
  // Whoever puts a part back that is only known from a snapshot makes all of it known again.
  if (missing.length > 0) {
    hints.unshift(
      'put the part that is gone back and it is read again; approve to go on without it, see "driver-sync plan"',
    );
  } else if (twice.length > 0) {
    hints.unshift(
      'put the part that is gone back, or drop it with "driver-sync forget"; approve if both really add up',
    );
  }
  if (files.length > 0) {
    hints.unshift(
      `put ${files.length === 1 ? 'it' : 'them'} back, and the query runs again; approve to go on with what the others say`,
    );
  }
  return { reason: reasons.join('; '), hint: hints.join('; ') };
}

function describeGoneFiles(files: readonly string[]): string {
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  const are = files.length === 1 ? 'is' : 'are';
  return `the accepted read was made of ${files.slice(0, 3).join(', ')}${more} too, which ${are} gone`;
}

function otherwiseHint(doubts: readonly CarriedDoubt[]): string {
  const ways = doubts.every(({ carried }) => carried === undefined)
    ? 'let the export show those months once, and they are read again'
    : 'put what is gone back and it is read again, or drop a file with "driver-sync forget"';
  return `${ways}; approve if both belong together as they are`;
}

/** Names a doubt among those that an approval covers. */
export function nameOfDoubt(doubt: CarriedDoubt): string {
  if (doubt.kind === 'file') return `${withoutFile}${doubt.carried}`;
  if (doubt.kind !== 'otherwise') return doubt.carried;
  // The part alone would settle that it is counted twice, too; and it is asked for again with other settings.
  return `${doubt.carried ?? 'older months'}, beside what is read with the settings ${doubt.what.settings}`;
}

const withoutFile = 'without ';

export function isNameOfGoneFile(name: string): boolean {
  return name.startsWith(withoutFile);
}

function describeDoubts(doubts: readonly CarriedDoubt[]): string {
  const more = doubts.length > 3 ? `; and ${doubts.length - 3} more` : '';
  return doubts.slice(0, 3).map(describeDoubt).join('; ') + more;
}

function describeDoubt(doubt: CarriedDoubt): string {
  const { carried } = doubt;
  switch (doubt.kind) {
    case 'otherwise': {
      const { points, from, to } = doubt.what;
      const months = from === to ? `in ${from}` : `from ${from} to ${to}`;
      const shown = `${points} ${plural(points, 'point')} ${months}`;
      const stayed = points === 1 ? 'stays as it was read' : 'stay as they were read';
      return carried === undefined
        ? `older months are carried (history: carry) and were read with other settings: their ${shown} ${stayed}`
        : `${carried} is gone and was read with other settings: its ${shown} ${stayed}`;
    }
    case 'twice': {
      const { part, driver, month } = doubt.other;
      return `${carried} is gone and carried, and ${part} has its driver "${driver}" in ${month} too`;
    }
    case 'file':
      return describeGoneFiles([doubt.carried]);
    case 'share':
      return `${carried} is gone, and the last snapshot does not say what it added to sums, averages and counts`;
    case 'hidden':
      return `${carried} is gone, and the last snapshot does not say whether it had a reading of driver "${doubt.driver}" in ${doubt.month}, which would count now`;
  }
}

/** Two reasons to hold one candidate, as one. */
export function describeTwoHolds(one: Hold, other: Hold): Hold {
  const hints = [one.hint, other.hint].filter((hint) => hint !== undefined);
  return { reason: `${one.reason}; and ${other.reason}`, ...(hints.length === 0 ? {} : { hint: hints.join('; ') }) };
}

/** How many times as much as in one day may go in 30 days. */
const monthDays = 3;

function judgeShare(
  { changes, letThrough }: Evidence,
  accepted: { readonly drivers: number; readonly points: number },
  rules: GuardRules,
): Hold | undefined {
  const limit = `guard.maxDeletes ${describeLimit(rules.maxDeletes)}`;
  const hint = 'see "driver-sync plan"; approve it if the data is really gone';
  for (const unit of ['drivers', 'points'] as const) {
    const deletes = changes[unit].delete;
    if (deletes === 0) continue;
    const day = letThrough.day[unit];
    if (deletes + day > allowedDeletes(accepted[unit], rules)) {
      const recent = day > 0 ? ` after ${day} in the last 24 hours` : '';
      return { reason: `it would delete ${deletes} of ${accepted[unit]} ${unit}${recent}, more than ${limit}`, hint };
    }
    const month = letThrough.month[unit];
    const had = letThrough.month.had?.[unit] ?? accepted[unit];
    if (deletes + month > allowedInMonth(had, rules)) {
      return {
        reason: `it would delete ${deletes} of ${accepted[unit]} ${unit} after ${month} of ${had} in the last 30 days, more than three times ${limit}`,
        hint,
      };
    }
  }
  return undefined;
}

/** How many of `whole` may go in a day without approval. The floor never covers more than half. */
export function allowedDeletes(whole: number, rules: Pick<GuardRules, 'maxDeletes' | 'floor'>): number {
  if (rules.maxDeletes.kind === 'count') return rules.maxDeletes.count;
  const share = Math.floor((whole * rules.maxDeletes.millionths) / 1_000_000);
  return Math.max(share, Math.min(rules.floor, Math.floor(whole / 2)));
}

/** The same in 30 days, of what there was at their beginning. */
function allowedInMonth(whole: number, { maxDeletes, floor }: Pick<GuardRules, 'maxDeletes' | 'floor'>): number {
  if (maxDeletes.kind === 'count') return monthDays * maxDeletes.count;
  const share = Math.floor((monthDays * whole * maxDeletes.millionths) / 1_000_000);
  return Math.max(share, Math.min(monthDays * floor, Math.floor(whole / 2)));
}

/** Whether `count` of `whole` is beyond a limit, exactly. */
export function isBeyond(count: number, whole: number, limit: Limit): boolean {
  return limit.kind === 'count' ? count > limit.count : count * 1_000_000 > whole * limit.millionths;
}

/** The limit of rejects that holds: a source that folds values together allows none unless told. */
export function rejectLimit(mapping: Mapping, declared: Limit | undefined): Limit {
  return declared ?? (accumulates(mapping) ? { kind: 'count', count: 0 } : { kind: 'share', millionths: 10_000 });
}

/** Whether a row that is counted twice, or not at all, would change a value. */
export function accumulates(mapping: Mapping): boolean {
  return mapping.drivers.some(({ rule }) => isAdding(rule));
}

export function describeLimit(limit: Limit): string {
  return limit.kind === 'count' ? String(limit.count) : `${limit.millionths / 10_000}%`;
}

function describeDeletes({ drivers, points }: Changes): string {
  const ofPoints = `${points.delete} ${plural(points.delete, 'point')}`;
  return drivers.delete === 0 ? ofPoints : `${drivers.delete} ${plural(drivers.delete, 'driver')} and ${ofPoints}`;
}

function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}
