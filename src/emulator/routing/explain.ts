/** Explains a decision to people: the reason for the pick, or for a refusal and its remedy. */
import type { CapacityFallback, FilterName } from '../../contract/routing-answers.ts';
import type { OptimizationTarget } from '../../contract/routing-settings.ts';
import { lessOf } from './price-remedy.ts';
import { outputsUnderCeiling } from './request.ts';
import type { Dropped, RoutingRequest } from './request.ts';
import type { Model } from './model.ts';
import type { Finding, PromptReading } from './prompt-traits.ts';
import { scorePartsOf } from './rank.ts';
import type { Candidate, Ranking } from './rank.ts';
import { roundCredits } from './rules.ts';
import type { Rules } from './rules.ts';

export interface Picked {
  readonly target: OptimizationTarget;
  readonly ranking: Ranking;
  readonly pick: Candidate;
  readonly fallback: CapacityFallback | undefined;
  readonly reading: PromptReading;
}

export function explainPick({ target, ranking, pick, fallback, reading }: Picked): string {
  const merit = meritOf(ranking, target, reading);
  const reason = target === 'quality' ? `${explainReading(reading)}; ${merit}` : merit;
  if (fallback === undefined) return reason;
  if (fallback.allExhausted) return `${reason}; all eligible models are at their concurrency limit, so it queues`;
  return `${reason}; at their concurrency limit: ${fallback.skipped.join(', ')}; next best: ${pick.model.id}`;
}

function explainReading({ asked, ruledOut }: PromptReading): string {
  const list = (findings: readonly Finding[]) =>
    findings.map(({ trait, evidence }) => `${trait} (${evidence.join(', ')})`).join(', ');
  const wish = asked.length === 0 ? 'nothing in particular' : list(asked);
  return `the prompt asks for ${wish}${ruledOut.length === 0 ? '' : ` and rules out ${list(ruledOut)}`}`;
}

function meritOf({ best, second, size }: Ranking, target: OptimizationTarget, reading: PromptReading): string {
  const { id } = best.model;
  const [merit, measureOf] = merits[target];
  if (second === undefined && target === 'cost')
    return `${id} ${merit}: ${measureOf(best, reading)}; no other is eligible`;
  if (second === undefined) return `${id} is the only eligible model`;
  const [first, next] = [best, second].map((candidate) => measureOf(candidate, reading));
  return `${id} ${merit} of ${size} eligible models: ${first}, before ${second.model.id}: ${next}`;
}

type Merit = readonly [merit: string, measureOf: (candidate: Candidate, reading: PromptReading) => string];

const merits: Readonly<Record<OptimizationTarget, Merit>> = {
  cost: ['has the lowest estimated cost', ({ credits }) => creditsText(credits)],
  latency: ['is expected to be the fastest', ({ model }) => `${model.expectedSeconds} s`],
  quality: ['suits it best', ({ model, score }, { asked }) => `score ${score}${sumOf(model, asked)}`],
};

/** Such as " = quality 9 + 2 × motion 10 + 3 × camera 8". */
function sumOf(model: Model, asked: readonly Finding[]): string {
  if (asked.length === 0) return '';
  const parts = scorePartsOf(model, asked).map(({ trait, strength, weight }) => `${weight} × ${trait} ${strength}`);
  return ` = ${[`quality ${model.quality}`, ...parts].join(' + ')}`;
}

function creditsText(credits: number): string {
  return credits === 1 ? '1 credit' : `${credits} credits`;
}

/** Each filter has its remedy. The last dropped models were dropped by the filter that emptied the pool. */
export function explainRefusal(request: RoutingRequest, dropped: readonly Dropped[], rules: Rules): string {
  const emptiedBy = dropped.at(-1)?.filter;
  if (emptiedBy === undefined) return 'the catalog has no model';
  const last = dropped.filter(({ filter }) => filter === emptiedBy);
  return refusalOf[emptiedBy](request, last, rules);
}

type Explain = (request: RoutingRequest, dropped: readonly Dropped[], rules: Rules) => string;

const refusalOf: Readonly<Record<FilterName, Explain>> = {
  allow_deny: ({ settings: { models } }) => {
    const cause = models.mode === 'allowlist_only' ? 'allows none of the catalog' : 'denies every model of the catalog';
    return `the router's model list ${cause}; widen the model list`;
  },

  capability: ({ modality }, dropped) => {
    const lacks = dropped.filter(({ model }) => model.modality === modality);
    if (lacks.length === 0) return `the router's model list has no model for ${modality}; widen the model list`;
    return `no eligible model can do ${tally(lacks)}; ask for less or widen the model list`;
  },

  input_support: (_request, dropped) =>
    `no eligible model supports every constraint of the input: ${tally(dropped)}; drop a constraint of the input`,

  prompt_length: ({ input: { promptText } }, dropped) => {
    if (promptText === undefined) return 'every eligible model needs a prompt; add promptText';
    const max = Math.max(...dropped.map(({ model }) => model.promptCharacters.max ?? 0));
    if (promptText.length <= max) return `the prompt is too short for every eligible model: ${tally(dropped)}`;
    return `the prompt has ${promptText.length} characters and no eligible model takes more than ${max}; shorten the prompt`;
  },

  price: (request, dropped, rules) => {
    const { modality, settings } = request;
    const outputs = outputsUnderCeiling(request);
    const priced = dropped.map(({ model }) => ({ model, credits: roundCredits(rules.estimate(model) / outputs) }));
    const cheapest = priced.reduce((least, other) => (other.credits < least.credits ? other : least));
    const ceiling = settings.maxCreditsPerGeneration?.[modality] ?? 0;
    const less = lessOf(
      request,
      dropped.map(({ model }) => model),
    );
    return (
      `all models exceed the configured price ceiling of ${creditsText(ceiling)} for ${modality}: the cheapest, ` +
      `${cheapest.model.id}, is estimated at ${creditsText(cheapest.credits)}${outputs > 1 ? ' an output' : ''}; ` +
      `raise the ceiling${less === undefined ? '' : ` or ${less}`}`
    );
  },
};

/** Such as "duration 30 (7 models), resolution 4k (3 models)", the most frequent first. */
function tally(dropped: readonly Dropped[]): string {
  const counts = new Map<string, number>();
  for (const { because } of dropped) counts.set(because, (counts.get(because) ?? 0) + 1);
  return [...counts]
    .sort(([, first], [, second]) => second - first)
    .map(([because, count]) => `${because} (${count === 1 ? '1 model' : `${count} models`})`)
    .join(', ');
}
