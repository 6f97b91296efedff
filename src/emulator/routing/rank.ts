/** The last step of the pipeline: which of the eligible models is best by the router's one target (SPEC 1.A). */
import type { RankOutcome, ReasonCode } from '../../contract/routing-answers.ts';
import type { OptimizationTarget } from '../../contract/routing-settings.ts';
import type { Model } from './model.ts';
import type { Finding } from './prompt-traits.ts';

/** An eligible model. */
export interface Candidate {
  readonly model: Model;
  /** What this request is estimated to cost. */
  readonly credits: number;
  /** For a quality target: how well the model suits the prompt. Higher is better. */
  readonly score: number | undefined;
}

/** Below 0 where the first is better. */
type Order = (first: Candidate, second: Candidate) => number;

const byCredits: Order = (first, second) => first.credits - second.credits;

// What is equal goes to the cheaper model; the scan and the sort leave the rest in the order of the catalog.
const orders: Readonly<Record<OptimizationTarget, Order>> = {
  cost: byCredits,
  latency: (first, second) => first.model.expectedSeconds - second.model.expectedSeconds || byCredits(first, second),
  quality: (first, second) => (second.score ?? 0) - (first.score ?? 0) || byCredits(first, second),
};

const reasonCodeOf = { cost: 'lowest_cost', latency: 'best_latency', quality: 'best_quality' } as const;

/**
 * Cost: the lowest estimate. Latency: the fewest expected seconds. Quality: the highest score. Ties go to the cheaper
 * model, then to the one that comes first in the catalog.
 */
export class Ranking {
  readonly #candidates: readonly Candidate[];
  readonly #order: Order;
  #all: readonly Candidate[] | undefined;
  readonly best: Candidate;
  /** A cost target says so for a single candidate too. */
  readonly outcome: RankOutcome;
  readonly reasonCode: ReasonCode;

  /** @param candidates at least one, in the order of the catalog */
  constructor(candidates: readonly Candidate[], target: OptimizationTarget) {
    this.#candidates = candidates;
    this.#order = orders[target];
    const best = this.#bestOf(candidates);
    if (best === undefined) throw new RangeError('there is nothing to rank');
    this.best = best;
    const isSingle = candidates.length === 1 && target !== 'cost';
    this.outcome = isSingle ? 'single_candidate' : target === 'cost' ? 'cost' : 'selected';
    this.reasonCode = isSingle ? 'only_eligible_model' : reasonCodeOf[target];
  }

  get size(): number {
    return this.#candidates.length;
  }

  get second(): Candidate | undefined {
    return this.#bestOf(this.#candidates, this.best);
  }

  /** Best first. Sorted when it is asked for: a thousand models take longer to sort than to route. */
  get all(): readonly Candidate[] {
    return (this.#all ??= this.#candidates.toSorted(this.#order));
  }

  #bestOf(candidates: readonly Candidate[], except?: Candidate): Candidate | undefined {
    let best: Candidate | undefined;
    for (const candidate of candidates)
      if (candidate !== except && (best === undefined || this.#order(candidate, best) < 0)) best = candidate;
    return best;
  }
}

/** What a prompt asks for counts so many times as much as how good a model is whatever the prompt. */
const traitWeight = 2;

/** A model that is not known for a trait is so much worse at it than it is as a whole: all-rounders are not best at all. */
const unnamedTraitLoss = 3;

/** Its quality, and with more weight its strength at each trait of the prompt. */
export function scoreOf({ quality, strengths }: Model, findings: readonly Finding[]): number {
  let score = quality;
  for (const { trait } of findings)
    score += traitWeight * (strengths[trait] ?? Math.max(0, quality - unnamedTraitLoss));
  return score;
}
