/** The last step of the pipeline: ranking the eligible models by the router's target. */
import type { RankOutcome, ReasonCode } from '../../contract/routing-answers.ts';
import type { OptimizationTarget } from '../../contract/routing-settings.ts';
import type { Model } from './model.ts';
import type { Finding } from './prompt-traits.ts';
import type { Trait } from './prompt-words.ts';
import type { RoutingRequest } from './request.ts';

/** An eligible model. */
export interface Candidate {
  readonly model: Model;
  /** Estimated cost of this request. */
  readonly credits: number;
  /** For a quality target: how well the model suits the prompt. Higher is better. */
  readonly score: number | undefined;
}

/** Negative if the first is better. */
type Order = (first: Candidate, second: Candidate) => number;

const byCredits: Order = (first, second) => first.credits - second.credits;

// Ties go to the cheaper model; scan and sort keep the rest in the order of the catalog.
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
  readonly outcome: RankOutcome;
  readonly reasonCode: ReasonCode;

  /** @param candidates at least one, in the order of the catalog */
  constructor(
    candidates: readonly Candidate[],
    target: OptimizationTarget,
    costOutcomeOfOne: RoutingRequest['costOutcomeOfOne'],
  ) {
    this.#candidates = candidates;
    this.#order = orders[target];
    const best = this.#bestOf(candidates);
    if (best === undefined) throw new RangeError('there is nothing to rank');
    this.best = best;
    const isSingle = candidates.length === 1 && (target !== 'cost' || costOutcomeOfOne === 'single_candidate');
    this.outcome = isSingle ? 'single_candidate' : target === 'cost' ? 'cost' : 'selected';
    this.reasonCode = isSingle ? 'only_eligible_model' : reasonCodeOf[target];
  }

  get size(): number {
    return this.#candidates.length;
  }

  get second(): Candidate | undefined {
    return this.#bestOf(this.#candidates, this.best);
  }

  /** Best first. Sorted on demand: sorting a thousand models takes longer than routing. */
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

/** Weight of a trait with one piece of evidence, beside a weight of 1 for the general quality; each further one adds 1. */
const traitWeightMin = 2;

/** A trait that a model does not name counts as its quality minus this, so that specialists win where their trait is asked for. */
const unnamedTraitLoss = 3;

/** One addend of a score. */
export interface ScorePart {
  readonly trait: Trait;
  readonly strength: number;
  readonly weight: number;
}

export function scorePartsOf({ quality, strengths }: Model, asked: readonly Finding[]): ScorePart[] {
  return asked.map(({ trait, evidence }) => ({
    trait,
    strength: strengths[trait] ?? Math.max(0, quality - unnamedTraitLoss),
    weight: traitWeightMin + evidence.length - 1,
  }));
}

/** The general quality, plus the weighted strength at each trait that the prompt asks for. */
export function scoreOf(model: Model, asked: readonly Finding[]): number {
  return scorePartsOf(model, asked).reduce((score, { strength, weight }) => score + weight * strength, model.quality);
}
