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
  selected: 'By what the router optimizes for.',
  single_candidate: 'There was only one to pick.',
  fallback: 'In the order of the catalog.',
} as const;

/** A run that has just happened: its request, and the models that were dropped. */
export interface PipelineRun {
  readonly request: RoutingRequest;
  readonly dropped: readonly Dropped[];
}

/** A recorded pipeline has only the survivors. A run that has just happened has the dropped models and the reasons too. */
export function showStages(pipeline: readonly PipelineEntry[], run?: PipelineRun): Html {
  return html`<ol class="stages">
    ${pipeline.map((entry) => html`<li>${showStage(entry, run)}</li>`)}
  </ol>`;
}

function showStage(entry: PipelineEntry, run: PipelineRun | undefined): Html {
  if (entry.type === 'rank') {
    return html`<h3>Rank <code>${entry.outcome}</code></h3>
      <p>${outcomes[entry.outcome]}</p>`;
  }
  if (entry.type === 'capacity') {
    const { skipped, allExhausted } = entry;
    const word = allExhausted ? 'every eligible model is at its limit' : `passed over: ${skipped.join(', ')}`;
    return html`<h3>Capacity</h3>
      <p>${showState('busy', word)}</p>`;
  }
  const { filter, models } = entry;
  const fallen = run?.dropped.filter((one) => one.filter === filter) ?? [];
  return html`<h3>${stageNames[filter]} <code>${filter}</code></h3>
    <p>
      ${showState(models.length === 0 ? 'bad' : 'good', models.length === 0 ? 'none left' : `${models.length} left`)}
      ${run === undefined ? '' : html`<span class="quiet">${fallen.length} fell out</span>`}
    </p>
    ${run === undefined || fallen.length === 0 ? '' : showFallen(fallen, run.request, models.length === 0)}
    ${
      models.length === 0
        ? ''
        : html`<details>
            <summary>Who is left</summary>
            <p class="names">${models.join(', ')}</p>
          </details>`
    }`;
}

/** Sorts 64 credits before 120. */
const byNumber = new Intl.Collator('en', { numeric: true });

function showFallen(fallen: readonly Dropped[], request: RoutingRequest, isLast: boolean): Html {
  const reasons = [...Map.groupBy(fallen, (dropped) => reasonOf(dropped, request))];
  reasons.sort(([first], [second]) => byNumber.compare(first, second));
  return html`<details ${isLast || fallen.length <= 12 ? 'open' : ''}>
    <summary>Fell out: ${countOf(fallen.length, 'model')}</summary>
    <dl>
      ${reasons.map(
        ([reason, models]) =>
          html`<dt>${reason}</dt>
            <dd>${models.map(({ model }) => model.id).join(', ')}</dd>`,
      )}
    </dl>
  </details>`;
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
