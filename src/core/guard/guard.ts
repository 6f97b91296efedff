/** The guard: which candidate may replace what was accepted. Nothing is deleted without evidence (DESIGN section 4). */
import type { Regression } from './answer-version.ts';
import { type Changes, hasChanges } from '../series/diff.ts';
import type { Rule } from '../model.ts';
import type { Limit, Mapping } from '../settings.ts';

/** What the guard knows of a candidate and of the accepted read that it would replace. */
export interface Evidence {
  /** `undefined` where the source was never accepted. */
  readonly accepted: { readonly drivers: number; readonly points: number; readonly rejects: number } | undefined;
  readonly candidate: { readonly drivers: number; readonly points: number; readonly rejects: number };
  /** Of the candidate against the accepted read. */
  readonly changes: Changes;
  /** Every deleted point lies before the candidate's earliest month. */
  readonly dropsOnlyOldest: boolean;
  /** Of a place that may lag: every deleted point lies after the candidate's latest month, and nothing is new. */
  readonly dropsOnlyNewest: boolean;
  /** Deletes that the guard let through without approval in the last 24 hours. */
  readonly recentDeletes: { readonly drivers: number; readonly points: number };
  /** A part disappeared while another came, in a source with a sum, average or count. */
  readonly mayCountTwice: boolean;
  /** What the place says of its age is older than it was. */
  readonly regression: Regression | undefined;
  /** The source is not in the config any more. */
  readonly departed: boolean;
}

export interface GuardRules {
  readonly maxDeletes: Limit;
  readonly floor: number;
  readonly mayBeEmpty: boolean;
}

/** `undefined`: accepted. Otherwise why it is held, for a person. */
export interface Hold {
  readonly reason: string;
  readonly hint?: string;
}

export function judge(evidence: Evidence, rules: GuardRules): Hold | undefined {
  const { accepted, candidate, changes } = evidence;
  if (evidence.departed) {
    const { drivers } = changes;
    return {
      reason: `the source left the config and ${drivers.delete} ${plural(drivers.delete, 'driver')} would be deleted`,
      hint: 'approve it, or put the source back',
    };
  }
  const emptiness = judgeEmptiness(evidence, rules);
  if (emptiness !== undefined) return emptiness;
  if (evidence.mayCountTwice) {
    return {
      reason: 'a part disappeared while another one came, and carrying it may count its rows twice',
      hint: 'forget the part that is gone, or put it back',
    };
  }
  if (accepted !== undefined && evidence.regression !== undefined && hasChanges(changes)) {
    const { from, to } = evidence.regression;
    return {
      reason: `its query "changed" went back from ${from} to ${to}`,
      hint: 'a replica that lags catches up by itself; approve it if an older state is the truth now, as after a restore',
    };
  }
  if (accepted === undefined || changes.points.delete + changes.drivers.delete === 0) return undefined;
  const deletes = describeDeletes(changes);
  if (candidate.rejects > accepted.rejects) {
    return {
      reason: `it would delete ${deletes} and has ${candidate.rejects} ${plural(candidate.rejects, 'reject')} where the accepted read had ${accepted.rejects}`,
      hint: 'a row that could not be read is no evidence that its points are gone: see "driver-sync rejects"',
    };
  }
  // Declared: an empty read of this source is evidence, and deletes all of it.
  if (candidate.drivers === 0) return undefined;
  if (evidence.dropsOnlyOldest) {
    return {
      reason: `it only drops the oldest months and would delete ${deletes}`,
      hint: 'if the export shows only recent months, set history: carry; else approve',
    };
  }
  if (evidence.dropsOnlyNewest) {
    return {
      reason: `it only drops the newest months and would delete ${deletes}`,
      hint: 'a replica that lags catches up by itself; approve it if they are really gone',
    };
  }
  return judgeShare(evidence, accepted, rules);
}

function judgeEmptiness({ accepted, candidate }: Evidence, rules: GuardRules): Hold | undefined {
  if (candidate.drivers > 0 || rules.mayBeEmpty) return undefined;
  if (accepted === undefined) {
    return { reason: 'its first read has no readings', hint: 'check "where" and the columns, or set mayBeEmpty: true' };
  }
  if (accepted.drivers === 0) return undefined;
  return {
    reason: `it turned empty and would delete all ${accepted.drivers} ${plural(accepted.drivers, 'driver')}`,
    hint: 'check the export; approve only if the data is really gone',
  };
}

function judgeShare(
  { changes, recentDeletes }: Evidence,
  accepted: { readonly drivers: number; readonly points: number },
  rules: GuardRules,
): Hold | undefined {
  for (const unit of ['drivers', 'points'] as const) {
    const deletes = changes[unit].delete;
    const total = deletes + recentDeletes[unit];
    if (deletes === 0 || total <= allowedDeletes(accepted[unit], rules)) continue;
    const recent = recentDeletes[unit] > 0 ? ` after ${recentDeletes[unit]} in the last 24 hours` : '';
    return {
      reason: `it would delete ${deletes} of ${accepted[unit]} ${unit}${recent}, more than guard.maxDeletes ${describeLimit(rules.maxDeletes)}`,
      hint: 'see "driver-sync plan"; approve it if the data is really gone',
    };
  }
  return undefined;
}

/** How many of `whole` may go without approval. The floor never covers more than half. */
export function allowedDeletes(whole: number, rules: Pick<GuardRules, 'maxDeletes' | 'floor'>): number {
  if (rules.maxDeletes.kind === 'count') return rules.maxDeletes.count;
  const share = Math.floor((whole * rules.maxDeletes.millionths) / 1_000_000);
  return Math.max(share, Math.min(rules.floor, Math.floor(whole / 2)));
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

/** Whether every reading counts, and not only the one that is chosen. */
export function isAdding(rule: Rule): boolean {
  return rule === 'sum' || rule === 'average' || rule === 'count';
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
