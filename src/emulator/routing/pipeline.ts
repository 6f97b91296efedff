/** The routing pipeline: five filters in a fixed order, then a ranking. Pure. */
import type {
  CapacityFallback,
  FilterEntry,
  FilterName,
  PipelineEntry,
  ReasonCode,
  ResolvedInput,
  ResolvedSettings,
} from '../../contract/routing-answers.ts';
import type { RouterSettings } from '../../contract/routing-settings.ts';
import type { Catalog } from './catalog.ts';
import { explainPick, explainRefusal } from './explain.ts';
import type { Model } from './model.ts';
import { outputsUnderCeiling } from './request.ts';
import type { Dropped, RoutingRequest } from './request.ts';
import { readPrompt } from './prompt-traits.ts';
import type { Finding, PromptReading } from './prompt-traits.ts';
import { Ranking, scoreOf } from './rank.ts';
import type { Candidate } from './rank.ts';
import { roundCredits } from './rules.ts';
import type { Rules } from './rules.ts';
import { rulesFor } from './rules-for.ts';

export interface Routed {
  readonly kind: 'routed';
  readonly model: string;
  readonly provider: string;
  readonly configId: string;
  readonly resolvedInput: ResolvedInput;
  readonly resolvedSettings: ResolvedSettings;
  /** All outputs together; may be a fraction. */
  readonly estimatedCost: { readonly credits: number };
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  readonly pipeline: PipelineEntry[];
  /** Set if `fallback.onCapacity` is on and the best model was at its limit. */
  readonly capacityFallback?: CapacityFallback;
  /** All eligible models, best first. The pick is the first of them, unless that was skipped. */
  readonly ranked: readonly Candidate[];
  readonly dropped: readonly Dropped[];
}

export interface NoEligible {
  readonly kind: 'no_eligible_model';
  /** Why no model is left, and the remedy. */
  readonly error: string;
  /** The last filter has no models; the filters after it did not run. */
  readonly pipeline: FilterEntry[];
  readonly emptiedBy: FilterName[];
  readonly dropped: readonly Dropped[];
}

export type Decision = Routed | NoEligible;

/** @param isAtLimit whether a model is at its concurrency limit; called only if `fallback.onCapacity` is on. */
export function decide(request: RoutingRequest, catalog: Catalog, isAtLimit: (modelId: string) => boolean): Decision {
  const { settings, modality, configId } = request;
  const rules = rulesFor(request);
  const target = settings.optimizeFor;
  const reading = target === 'quality' ? readingOf(request) : nothingRead;
  const { pipeline, dropped, candidates } = runFilters(request, catalog, { rules, asked: reading.asked });
  if (candidates.length === 0) {
    const emptiedBy = pipeline.slice(-1).map(({ filter }) => filter);
    return { kind: 'no_eligible_model', error: explainRefusal(request, dropped, rules), pipeline, emptiedBy, dropped };
  }
  const ranking = new Ranking(candidates, target, request.costOutcomeOfOne);
  const { pick, fallback } = pickOf(ranking, settings.fallback?.onCapacity ? isAtLimit : undefined);
  const capacity = fallback === undefined ? [] : [{ type: 'capacity' as const, ...fallback }];
  return {
    kind: 'routed',
    model: pick.model.id,
    provider: pick.model.provider,
    configId,
    resolvedInput: rules.resolve(pick.model),
    resolvedSettings: { optimizeFor: target, priceCeiling: settings.maxCreditsPerGeneration?.[modality] ?? null },
    estimatedCost: { credits: pick.credits },
    reason: explainPick({ target, ranking, pick, fallback, reading }),
    reasonCode: ranking.reasonCode,
    pipeline: [...pipeline, ...capacity, { type: 'rank', outcome: ranking.outcome }],
    ...(fallback !== undefined && { capacityFallback: fallback }),
    get ranked() {
      return ranking.all;
    },
    dropped,
  };
}

interface Filtered {
  readonly pipeline: FilterEntry[];
  readonly dropped: readonly Dropped[];
  /** The models that are left, in the order of the catalog. */
  readonly candidates: readonly Candidate[];
}

interface Basis {
  readonly rules: Rules;
  readonly asked: readonly Finding[];
}

function runFilters(request: RoutingRequest, catalog: Catalog, { rules, asked }: Basis): Filtered {
  const { optimizeFor, maxCreditsPerGeneration } = request.settings;
  const funnel = new Funnel(catalog.models);
  for (const [filter, obstacleOf] of obstacles(request, rules)) funnel.pass(filter, obstacleOf);
  const ceiling = maxCreditsPerGeneration?.[request.modality] ?? Infinity;
  const outputs = outputsUnderCeiling(request);
  const candidates: Candidate[] = [];
  funnel.pass('price', (model) => {
    const credits = rules.estimate(model);
    const compared = roundCredits(credits / outputs);
    if (compared > ceiling) return `${compared} credits${outputs > 1 ? ' an output' : ''}`;
    candidates.push({ model, credits, score: optimizeFor === 'quality' ? scoreOf(model, asked) : undefined });
    return undefined;
  });
  return { pipeline: funnel.pipeline, dropped: funnel.dropped, candidates };
}

/** Runs the filters until one leaves no model, and records each. */
class Funnel {
  readonly pipeline: FilterEntry[] = [];
  readonly dropped: Dropped[] = [];
  pool: readonly Model[];
  #ids: string[];

  constructor(models: readonly Model[]) {
    this.pool = models;
    this.#ids = models.map(({ id }) => id);
  }

  /** Drops the models for which `obstacleOf` gives a reason. */
  pass(filter: FilterName, obstacleOf: Obstacle | undefined): void {
    if (this.pipeline.length > 0 && this.pool.length === 0) return;
    // Most filters drop nothing, so the list of a thousand ids is made once.
    const survivors = obstacleOf === undefined ? this.pool : this.#survivorsOf(filter, obstacleOf);
    if (survivors.length < this.pool.length) this.#ids = survivors.map(({ id }) => id);
    this.pool = survivors;
    this.pipeline.push({ type: 'filter', filter, models: this.#ids });
  }

  #survivorsOf(filter: FilterName, obstacleOf: Obstacle): readonly Model[] {
    return this.pool.filter((model) => {
      const because = obstacleOf(model);
      if (because !== undefined) this.dropped.push({ model, filter, because });
      return because === undefined;
    });
  }
}

type Obstacle = (model: Model) => string | undefined;

/** The filters before the price, each with the reason for which it drops a model. */
function obstacles({ modality, input, settings }: RoutingRequest, rules: Rules): [FilterName, Obstacle | undefined][] {
  return [
    ['allow_deny', listObstacle(settings.models)],
    ['capability', (model) => (model.modality === modality ? rules.lackOf(model) : modality)],
    ['input_support', rules.limitOf],
    ['prompt_length', (model) => promptObstacle(model, input.promptText, rules)],
  ];
}

function listObstacle({ mode, ids }: RouterSettings['models']): Obstacle | undefined {
  const listed = new Set(ids);
  if (mode === 'allowlist_only') return ({ id }) => (listed.has(id) ? undefined : 'not on the allow list');
  return listed.size === 0 ? undefined : ({ id }) => (listed.has(id) ? 'on the deny list' : undefined);
}

/** Lengths are in UTF-16 code units, as the live service counts them. */
function promptObstacle(model: Model, prompt: string | undefined, rules: Rules): string | undefined {
  if (prompt === undefined) return rules.needsPrompt(model) ? 'no promptText' : undefined;
  const { min = 0, max = Infinity } = model.promptCharacters;
  if (prompt.length > max) return `longer than ${max}`;
  return prompt.length < min ? `shorter than ${min}` : undefined;
}

const nothingRead: PromptReading = { asked: [], ruledOut: [] };

function readingOf({ modality, input }: RoutingRequest): PromptReading {
  const isSpeech = 'type' in input && input.type === 'speech';
  const negativePrompt = 'negativePrompt' in input ? input.negativePrompt : undefined;
  return readPrompt(input.promptText, isSpeech ? 'speech' : modality, negativePrompt);
}

/** The best model below its limit if `isAtLimit` is given, else the best model. */
function pickOf(
  ranking: Ranking,
  isAtLimit: ((modelId: string) => boolean) | undefined,
): { pick: Candidate; fallback: CapacityFallback | undefined } {
  const { best } = ranking;
  if (isAtLimit === undefined || !isAtLimit(best.model.id)) return { pick: best, fallback: undefined };
  const index = ranking.all.findIndex(({ model }) => !isAtLimit(model.id));
  const pick = ranking.all[index];
  if (pick === undefined) return { pick: best, fallback: { skipped: [], allExhausted: true } };
  const skipped = ranking.all.slice(0, index).map(({ model }) => model.id);
  return { pick, fallback: { skipped, allExhausted: false } };
}
