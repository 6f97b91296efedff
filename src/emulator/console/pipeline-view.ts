/** Shows the pipeline stage by stage: the models that are left, and those that were dropped. */
import { html } from 'hono/html';
import type { PipelineEntry } from '../../contract/routing-answers.ts';
import type { Dropped, RoutingRequest } from '../routing/request.ts';
import { countOf, groupDigits, showState } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';

const stageNames = {
  allow_deny: 'Model list',
  capability: 'Capability',
  input_support: 'Input support',
  prompt_length: 'Prompt length',
  price: 'Price ceiling',
} as const;

const outcomes = {
  cost: 'By the estimate, lowest first.',
  selected: 'By what the router optimized for.',
  single_candidate: 'There was only one to pick.',
  fallback: 'In the order of the catalog.',
} as const;

/** What `selected` means for each target. A recorded pipeline does not have the target. */
const selections = {
  cost: outcomes.cost,
  quality: 'By the score for this prompt, highest first.',
  latency: 'By the expected seconds, fewest first.',
} as const;

/** A run that has just happened: its request, and the models that were dropped. */
export interface PipelineRun {
  readonly request: RoutingRequest;
  readonly dropped: readonly Dropped[];
}

/**
 * The stages below each other, with bars as long as the models that are left. A recorded pipeline has only the survivors; a
 * run that has just happened has the dropped models and the reasons too.
 */
export function showFunnel(pipeline: readonly PipelineEntry[], run?: PipelineRun): Html {
  const [first] = pipeline;
  const before = first?.type === 'filter' ? first.models.length + fallenAt(first.filter, run).length : 0;
  return html`<ol class="funnel">
    ${pipeline.map((entry) => html`<li>${showStage(entry, run, before)}</li>`)}
  </ol>`;
}

function fallenAt(filter: string, run: PipelineRun | undefined): readonly Dropped[] {
  return run?.dropped.filter((one) => one.filter === filter) ?? [];
}

/** @param before models in the catalog, or after the first stage of a recorded pipeline */
function showStage(entry: PipelineEntry, run: PipelineRun | undefined, before: number): Html {
  if (entry.type === 'rank') {
    const isSelected = entry.outcome === 'selected' && run !== undefined;
    const how = isSelected ? selections[run.request.settings.optimizeFor] : outcomes[entry.outcome];
    return html`<p><span class="stage">Rank</span> <code>${entry.outcome}</code> ${how}</p>`;
  }
  if (entry.type === 'capacity') {
    const { skipped, allExhausted } = entry;
    const word = allExhausted ? 'every eligible model is at its limit' : `passed over: ${skipped.join(', ')}`;
    return html`<p><span class="stage">Capacity</span> ${showState('busy', word)}</p>`;
  }
  const { filter, models } = entry;
  const fallen = fallenAt(filter, run);
  const isLast = models.length === 0;
  const share = before === 0 ? 0 : (100 * models.length) / before;
  return html`<details ${isLast ? 'open' : ''}>
    <summary>
      <span class="stage">${stageNames[filter]} <code>${filter}</code></span>
      <svg class="bar" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%" rx="3" /></svg>
      <span class="left"
        >${isLast ? showState('bad', 'none left') : html`${models.length} <span class="unseen">left</span>`}</span
      >
      <span class="fell"
        >${fallen.length === 0 ? '' : html`−${fallen.length}<span class="unseen"> fell out</span>`}</span
      >
    </summary>
    ${fallen.length === 0 || run === undefined ? '' : showFallen(fallen, run.request)}
    ${isLast ? '' : html`<p class="names">Left: ${models.join(', ')}</p>`}
  </details>`;
}

/** Sorts 64 credits before 120. */
const byNumber = new Intl.Collator('en', { numeric: true });

function showFallen(fallen: readonly Dropped[], request: RoutingRequest): Html {
  const reasons = [...Map.groupBy(fallen, (dropped) => reasonOf(dropped, request))];
  reasons.sort(([first], [second]) => byNumber.compare(first, second));
  return html`<dl>
    ${reasons.map(
      ([reason, models]) =>
        html`<dt>${reason}</dt>
          <dd>${models.map(({ model }) => model.id).join(', ')}</dd>`,
    )}
  </dl>`;
}

/** The obstacle, worded as a statement about the model. */
function reasonOf({ model, filter, because }: Dropped, { modality, input, settings }: RoutingRequest): string {
  switch (filter) {
    case 'allow_deny':
      return because;
    case 'capability':
      return model.modality === modality ? `cannot do ${because}` : `no ${modality} model`;
    case 'input_support':
      return `cannot do ${because}`;
    case 'prompt_length': {
      const length = input.promptText?.length;
      const { min = 0, max = Infinity } = model.promptCharacters;
      if (length === undefined) return 'needs a prompt';
      return length > max
        ? `takes at most ${countOf(max, 'character')}, and these are ${groupDigits(length)}`
        : `takes at least ${countOf(min, 'character')}, and these are ${groupDigits(length)}`;
    }
    case 'price':
      return `${because}, above the ceiling of ${settings.maxCreditsPerGeneration?.[modality]}`;
  }
}
