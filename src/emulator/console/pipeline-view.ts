/** The pipeline stage by stage: who is left after each, and who fell out where. */
import { html } from 'hono/html';
import type { PipelineEntry } from '../../contract/routing-answers.ts';
import type { Dropped } from '../routing/pipeline.ts';
import { countOf, showState } from './page.ts';
import type { Html } from './page.ts';

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

/** A recorded pipeline names the survivors; only a run that is at hand knows the others and why they fell out. */
export function showStages(pipeline: readonly PipelineEntry[], dropped?: readonly Dropped[]): Html {
  return html`<ol class="stages">
    ${pipeline.map((entry) => html`<li>${showStage(entry, dropped)}</li>`)}
  </ol>`;
}

function showStage(entry: PipelineEntry, dropped: readonly Dropped[] | undefined): Html {
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
  const fallen = dropped?.filter((one) => one.filter === filter) ?? [];
  return html`<h3>${stageNames[filter]} <code>${filter}</code></h3>
    <p>
      ${showState(models.length === 0 ? 'bad' : 'good', models.length === 0 ? 'none left' : `${models.length} left`)}
      ${dropped === undefined ? '' : html`<span class="quiet">${fallen.length} fell out</span>`}
    </p>
    ${fallen.length === 0 ? '' : showFallen(fallen)}
    ${
      models.length === 0
        ? ''
        : html`<details>
            <summary>Who is left</summary>
            <p class="names">${models.join(', ')}</p>
          </details>`
    }`;
}

function showFallen(fallen: readonly Dropped[]): Html {
  const reasons = Map.groupBy(fallen, ({ because }) => because);
  return html`<details ${fallen.length <= 12 ? 'open' : ''}>
    <summary>Fell out: ${countOf(fallen.length, 'model')}</summary>
    <dl>
      ${[...reasons].map(
        ([because, models]) =>
          html`<dt>${because}</dt>
            <dd>${models.map(({ model }) => model.id).join(', ')}</dd>`,
      )}
    </dl>
  </details>`;
}
