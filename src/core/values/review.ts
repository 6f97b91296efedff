/**
 * The value guard: looks at every driver that a candidate changes, and names the slips that are plain to see. It keeps counts
 * while the drivers stream by; only where they could make a finding it walks both reads once more, group by group.
 */
import type { DriverChange } from '../series/diff.ts';
import { type PackedPoints, PointWalk } from '../series/packing.ts';
import { ExchangeSearch } from './exchanged.ts';
import { FactorClusters } from './factor-range.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import { mayLose } from './fewer.ts';
import type { ReachingFinding } from './finding.ts';
import { DriverLook, type DriverPairs } from './look.ts';
import {
  type Sought,
  anyFactorSought,
  closedSought,
  copiedSought,
  exactFactorSought,
  exchangedSought,
  fewerSought,
  lateScaleSought,
  lateSignSought,
  movedSought,
  newScaleSought,
  newSignSought,
  newZerosSought,
  zerosSought,
} from './measures.ts';
import { survey } from './survey.ts';
import { TailGroups } from './tail-groups.ts';

/** Factors that are tried in every group: those of most points. */
const factorsMax = 16;

export class ValueReview {
  readonly #rules: ValueRules;
  readonly #look = new DriverLook();
  readonly #exact = new Map<number, number>();
  readonly #moved = new Map<number, number>();
  readonly #tails = new TailGroups();
  readonly #lates = new TailGroups();
  readonly #factors = new FactorClusters();
  readonly #exchanges = new ExchangeSearch();
  /** Factors that nearly all values of some driver have, and those that nearly all its changed values have. */
  readonly #whole = new Set<number>();
  readonly #partly = new Set<number>();
  #isZeroed = false;
  #zeroed = 0;
  #closed = 0;
  /** Drivers that may have lost readings. */
  #thinned = 0;

  constructor(rules: ValueRules) {
    this.#rules = rules;
  }

  /** Takes every change on the way. */
  see(change: DriverChange): void {
    const { id, before, after, created, updated, deleted } = change;
    const { closedUpTo = -Infinity, isJudged, isPart = false } = this.#rules;
    const look = this.#look;
    if (before !== undefined && after !== undefined && isGain(change)) {
      const [first = Infinity] = created;
      if (first <= closedUpTo) this.#closed++;
      if (!isJudged) return;
      look.loadGain(after, created.length);
    } else {
      // Of a driver that is new or goes only closed months are looked after: a first read is nothing but such drivers.
      if (closedUpTo === -Infinity && !isPart && (before === undefined || after === undefined)) return;
      look.load(before, after);
      if (closedMonths(look, this.#rules).length > 0) this.#closed++;
      const changed = isPart ? [...updated, ...deleted].sort((a, b) => a - b) : updated;
      if (isJudged && mayLose(look, change, changed, this.#rules)) this.#thinned++;
      if (!isJudged || before === undefined || after === undefined) return;
    }
    // A group can only be full of a slip where one of its drivers is.
    if (look.zeroed * 2 >= look.valued) this.#isZeroed ||= look.zeroed > 0;
    this.#zeroed += look.zeroed;
    for (const [factor, points] of look.exact) {
      count(this.#exact, factor, points);
      if (points * 10 >= look.valued * 9) this.#whole.add(factor);
      if (points * 20 >= look.changed * 19) this.#partly.add(factor);
    }
    if (look.move !== undefined) count(this.#moved, look.move.months, 1);
    else if (look.isUnexplained) {
      const range = look.factorRange();
      if (range !== undefined) this.#factors.add(range, look.valued);
      this.#exchanges.add(id, look.old, look.now);
    }
    if (look.tail !== undefined) this.#tails.add(after.path, look.tail);
    if (look.late !== undefined) this.#lates.add(after.path, look.late);
  }

  /** Drivers enough may have lost readings. */
  get mayHaveLost(): boolean {
    return this.#thinned >= 6;
  }

  /** @param pairs walks both reads from the beginning, each time that it is called */
  findings(pairs: () => DriverPairs): readonly ReachingFinding[] {
    // What else has changed is judged in the whole source, and must not explain here what nobody is told there.
    if (this.#rules.isPart === true) {
      return this.mayHaveLost ? survey(pairs, [fewerSought], { rules: this.#rules, exchanges: [] }) : [];
    }
    const exchanges = this.#exchanges.pairs();
    const sought = [...(exchanges.length > 0 ? [exchangedSought] : []), ...this.#sought()];
    return sought.length === 0 ? [] : survey(pairs, sought, { rules: this.#rules, exchanges });
  }

  /** The kinds of finding for which there are points or drivers enough in some group. */
  #sought(): readonly Sought[] {
    return [
      ...this.#exactFactors().map(exactFactorSought),
      ...this.#factors.factors(20, factorsMax).map(anyFactorSought),
      ...atLeast(this.#moved, 1).map(movedSought),
      ...(this.#isZeroed && this.#zeroed >= 10 ? [zerosSought] : []),
      ...(this.mayHaveLost ? [fewerSought] : []),
      ...this.#tails.scales.map(newScaleSought),
      ...(this.#tails.mayHaveTurned ? [newSignSought] : []),
      ...this.#lates.scales.map(lateScaleSought),
      ...(this.#lates.mayHaveTurned ? [lateSignSought] : []),
      ...(this.#tails.mayHaveZeros ? [newZerosSought] : []),
      ...(this.#tails.mayBeCopied ? [copiedSought] : []),
      // Last: a slip says why closed months change.
      ...(this.#closed > 0 ? [closedSought] : []),
    ];
  }

  #exactFactors(): readonly number[] {
    const many = new Set(atLeast(this.#exact, 24));
    return atLeast(this.#exact, 6).filter(
      (factor) => this.#whole.has(factor) || (many.has(factor) && this.#partly.has(factor)),
    );
  }
}

/** Whether a driver only gains months, the first of them after the last that it had. */
function isGain({ before, created, updated, deleted }: DriverChange): boolean {
  const [first] = created;
  if (first === undefined || updated.length > 0 || deleted.length > 0) return false;
  const walk = new PointWalk((before as PackedPoints).points);
  while (walk.next());
  return first > walk.month;
}

function count(counts: Map<number, number>, key: number, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more);
}

/** Those of most points first. */
function atLeast(counts: ReadonlyMap<number, number>, min: number): readonly number[] {
  return [...counts]
    .filter(([, found]) => found >= min)
    .sort(([a, found], [b, other]) => other - found || a - b)
    .map(([key]) => key);
}
