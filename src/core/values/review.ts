/**
 * The value guard: looks at every driver that a candidate changes, and names the slips that are plain to see. It keeps counts
 * while the drivers stream by; only where they could make a finding it walks both reads once more, group by group.
 */
import type { DriverChange } from '../series/diff.ts';
import { ExchangeSearch } from './exchanged.ts';
import { FactorClusters } from './factor-range.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import type { Finding } from './finding.ts';
import { DriverLook, type DriverPairs } from './look.ts';
import {
  type Sought,
  anyFactorSought,
  closedSought,
  copiedSought,
  exactFactorSought,
  exchangedSought,
  movedSought,
  newScaleSought,
  newSignSought,
  newZerosSought,
  zerosSought,
} from './measures.ts';
import { survey } from './survey.ts';

/** Factors that are tried in every group: those of most points. */
const factorsMax = 16;

export class ValueReview {
  readonly #rules: ValueRules;
  readonly #look = new DriverLook();
  readonly #exact = new Map<number, number>();
  readonly #moved = new Map<number, number>();
  readonly #scales = new Map<number, number>();
  readonly #factors = new FactorClusters();
  readonly #exchanges = new ExchangeSearch();
  #zeroed = 0;
  #newZeros = 0;
  #turned = 0;
  #repeated = 0;
  #closed = 0;

  constructor(rules: ValueRules) {
    this.#rules = rules;
  }

  /** Takes every change on the way. */
  see({ id, before, after }: Pick<DriverChange, 'id' | 'before' | 'after'>): void {
    const look = this.#look;
    look.load(before, after);
    if (closedMonths(look, this.#rules).length > 0) this.#closed++;
    if (!this.#rules.isJudged || before === undefined || after === undefined) return;
    this.#zeroed += look.zeroed;
    for (const [factor, points] of look.exact) count(this.#exact, factor, points);
    if (look.move !== undefined) count(this.#moved, look.move.months, 1);
    else if (look.isUnexplained) {
      const range = look.factorRange();
      if (range !== undefined) this.#factors.add(range, look.valued);
      if (look.changed * 5 >= look.valued * 4) this.#exchanges.add(id, look.old, look.now);
    }
    const { tail } = look;
    if (tail === undefined) return;
    for (const exponent of tail.exponents) count(this.#scales, exponent, 1);
    if (tail.isTurned) this.#turned++;
    if (tail.isZero && tail.hasNoZero) this.#newZeros++;
    if (tail.repeats?.isRepeated === true) this.#repeated++;
  }

  /** @param pairs walks both reads from the beginning, each time that it is called */
  findings(pairs: () => DriverPairs): readonly Finding[] {
    const exchanges = this.#exchanges.pairs();
    const sought = [...this.#sought(), ...(exchanges.length > 0 ? [exchangedSought] : [])];
    return sought.length === 0 ? [] : survey(pairs, sought, { rules: this.#rules, exchanges });
  }

  /** What the counts do not rule out: the fewest that can make a finding in some group are there. */
  #sought(): readonly Sought[] {
    return [
      ...(this.#closed > 0 ? [closedSought] : []),
      ...atLeast(this.#exact, 6).map(exactFactorSought),
      ...this.#factors.factors(20, factorsMax).map(anyFactorSought),
      ...atLeast(this.#moved, 1).map(movedSought),
      ...(this.#zeroed >= 10 ? [zerosSought] : []),
      ...atLeast(this.#scales, 5).map(newScaleSought),
      ...(this.#turned >= 5 ? [newSignSought] : []),
      ...(this.#newZeros >= 10 ? [newZerosSought] : []),
      ...(this.#repeated >= 9 ? [copiedSought] : []),
    ];
  }
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
