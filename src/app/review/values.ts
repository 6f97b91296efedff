/** What the value guard finds in a candidate, and what the config says to do about it. */
import { type Hold, describeTwoHolds } from '../../core/guard/guard.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { diffDrivers, pairDrivers } from '../../core/series/diff.ts';
import { comparing } from '../../core/series/compare.ts';
import type { PackedDriver, PackedPoints } from '../../core/series/packing.ts';
import { formatMonth } from '../../core/time/month.ts';
import { type ValueRules, lastClosedMonth } from '../../core/values/closed.ts';
import { monthAt } from '../../core/time/zone.ts';
import type { Finding, FindingKind, ReachingFinding } from '../../core/values/finding.ts';
import type { DriverPairs } from '../../core/values/look.ts';
import { ValueReview } from '../../core/values/review.ts';
import { describeFindings, holdOf } from '../../core/values/words.ts';
import type { Dependencies } from '../dependencies.ts';
import { inTurns } from '../turns.ts';

export interface ValueFindings {
  readonly all: readonly Finding[];
  /** Those that hold the candidate unless they are approved. */
  readonly holding: readonly ReachingFinding[];
  /** The other findings, in words. */
  readonly warnings: readonly string[];
}

export const noFindings: ValueFindings = { all: [], holding: [], warnings: [] };

/** What two looks have found. */
export function joinFindings(one: ValueFindings, other: ValueFindings): ValueFindings {
  return {
    all: [...one.all, ...other.all],
    holding: [...one.holding, ...other.holding],
    warnings: [...one.warnings, ...other.warnings],
  };
}

/** Looks after closed months alone, where points go without a read of their source. */
export function closedReview(deps: Pick<Dependencies, 'settings' | 'clock'>): ValueGuardReview {
  return new ValueGuardReview(deps, { values: 'off', removed: 'carry' });
}

/**
 * What somebody's decision would change in closed months, whatever its sources say.
 * @param states both begin anew each time that they are asked for
 * @returns in words too; '' where nothing would
 */
export function closedChanges(
  deps: Pick<Dependencies, 'settings' | 'clock'>,
  { before, after }: Readonly<Record<'before' | 'after', () => Iterable<PackedPoints>>>,
): { readonly findings: readonly Finding[]; readonly text: string } {
  // Both states are walked for it.
  if (deps.settings.lastClose === undefined) return { findings: [], text: '' };
  const review = closedReview(deps);
  for (const change of diffDrivers(before(), after())) review.see(change);
  const found = review.findings(() => pairDrivers(before(), after()));
  return { findings: found.all, text: review.hold(undefined, found)?.reason ?? '' };
}

/** `none`: something else looks after it. */
export interface Judged {
  /** Months that are closed. */
  readonly closed: 'judged' | 'none';
  /** How many readings points are made of. */
  readonly readings: 'judged' | 'none';
  /** Both reads are those of this part alone. */
  readonly part: string;
}

/** Looks at the values of one source's candidate. */
export class ValueGuardReview {
  readonly #mode: 'hold' | 'warn' | 'off';
  readonly #rules: ValueRules;
  readonly #review: ValueReview;
  readonly #part: string | undefined;

  constructor(
    { settings, clock }: Pick<Dependencies, 'settings' | 'clock'>,
    { values, removed }: Pick<SourceSettings, 'values' | 'removed'>,
    { closed = 'judged', readings = 'judged', part }: Partial<Judged> = {},
  ) {
    this.#mode = values ?? settings.guard.values;
    const { lastClose, timezone, shouldDeleteMissing } = settings;
    const nowMs = clock.now().getTime();
    this.#rules = {
      isJudged: this.#mode !== 'off',
      closedUpTo: closed === 'none' ? undefined : lastClosedMonth(lastClose, { nowMs, timezone }),
      // With `removed: delete` readings go with their file.
      overUpTo: readings === 'none' || removed === 'delete' ? undefined : monthAt(nowMs, timezone) - 1,
      deletes: shouldDeleteMissing,
      isPart: part !== undefined,
    };
    this.#part = part;
    this.#review = new ValueReview(this.#rules);
  }

  see(change: Parameters<ValueReview['see']>[0]): void {
    this.#review.see(change);
  }

  /** Readings may be gone, in some part of the source if not in all of it. */
  get mayHaveLost(): boolean {
    return this.#review.mayHaveLost;
  }

  /**
   * @param pairs walks both reads from the beginning, each time that it is called
   * @param isLookedFor the kinds that are wanted
   */
  findings(pairs: () => DriverPairs, isLookedFor: (kind: FindingKind) => boolean = () => true): ValueFindings {
    const part = this.#part === undefined ? {} : { part: this.#part };
    const found = this.#review.findings(pairs).flatMap((one) => (isLookedFor(one.kind) ? [{ ...one, ...part }] : []));
    const holding = found.filter(({ kind }) => kind === 'closed' || this.#mode === 'hold');
    const warned = found.filter((finding) => !holding.includes(finding));
    // What each of them reaches is for approvals alone.
    const all = found.map(({ reach: _reach, ...finding }) => finding);
    return { all, holding, warnings: warned.length === 0 ? [] : [describeFindings(warned)] };
  }

  /** The hold with what was found in the values; a hold for deletes stands first. */
  hold<H extends Hold | undefined>(hold: H, { holding }: ValueFindings): Hold | H {
    if (holding.length === 0) return hold;
    const { closedUpTo } = this.#rules;
    const found = holdOf(holding, closedUpTo === undefined ? undefined : formatMonth(closedUpTo));
    return hold === undefined ? found : describeTwoHolds(hold, found);
  }
}

/** What a candidate is compared with, and its drivers, from the beginning each time. */
export interface Runs {
  readonly before: () => Iterable<PackedPoints>;
  readonly after: () => Iterable<PackedDriver>;
}

/** A guard that has seen what changes between two runs. */
export async function lookAtValues(
  deps: Dependencies,
  settings: SourceSettings,
  { before, after }: Runs,
  judged: Partial<Judged> = {},
): Promise<ValueGuardReview> {
  const guard = new ValueGuardReview(deps, settings, judged);
  await inTurns(comparing(before(), after(), (change) => guard.see(change)));
  return guard;
}

/** @param isLookedFor the kinds that are wanted */
export function findingsOf(
  guard: ValueGuardReview,
  { before, after }: Runs,
  isLookedFor?: (kind: FindingKind) => boolean,
): ValueFindings {
  return guard.findings(() => pairDrivers(before(), after()), isLookedFor);
}
