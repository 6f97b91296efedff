/** What became of a dry run: the pick and its figures, the pipeline as a funnel, and the ranking; of two beside each other. */
import { html } from 'hono/html';
import type { Decision, Routed } from '../routing/pipeline.ts';
import type { Candidate } from '../routing/rank.ts';
import type { RoutingRequest } from '../routing/request.ts';
import { groupDecimal, showState, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { showFunnel } from './pipeline-view.ts';
import { resolvedFacts } from './task-parts.ts';

export interface Run {
  /** Whose run it is. */
  readonly name: string;
  readonly request: RoutingRequest;
  readonly decision: Decision;
}

const rankedShownMax = 100;

/** @param runs one, or two that are compared */
export function showRuns(runs: readonly Run[]): Html {
  const [first, second] = runs.map(({ decision }) => decision);
  return html`${first === undefined || second === undefined ? '' : html`<p class="notice">${differenceOf(first, second)}</p>`}
    <div class="${runs.length > 1 ? 'halves even runs' : ''}">
      ${runs.map((run) => html`<div>${showRun(run)}</div>`)}
    </div>`;
}

function differenceOf(first: Decision, second: Decision): string {
  if (first.kind !== 'routed' || second.kind !== 'routed') {
    if (first.kind === second.kind) return 'Neither has an eligible model.';
    return `Only the ${first.kind === 'routed' ? 'first' : 'second'} has an eligible model.`;
  }
  if (first.model === second.model) return `Both take ${first.model}.`;
  const credits = second.estimatedCost.credits - first.estimatedCost.credits;
  const seconds = secondsOf(second) - secondsOf(first);
  const more = (amount: number, unit: string): string =>
    `${groupDecimal(String(Math.abs(Number(amount.toFixed(4)))))} ${unit} ${amount > 0 ? 'more' : 'less'}`;
  const parts = [...(credits === 0 ? [] : [more(credits, 'credits')]), ...(seconds === 0 ? [] : [more(seconds, 's')])];
  const price = parts.length === 0 ? 'for the same credits and seconds' : parts.join(', ');
  return `The second takes ${second.model} instead of ${first.model}: ${price}.`;
}

function secondsOf({ model, ranked }: Routed): number {
  return ranked.find((candidate) => candidate.model.id === model)?.model.expectedSeconds ?? 0;
}

function showRun({ name, request, decision }: Run): Html {
  const { pipeline, dropped } = decision;
  return html`<div class="card">
      <p class="quiet"><bdi>${name}</bdi></p>
      ${decision.kind === 'routed' ? showPick(decision) : showNobody(decision.error)}
    </div>
    <h2>Pipeline</h2>
    ${showFunnel(pipeline, { request, dropped })} ${decision.kind === 'routed' ? showRanking(decision) : ''}`;
}

function showNobody(error: string): Html {
  return html`<p class="verdict">${showState('bad', 'No eligible model')}</p>
    <p>${error}</p>`;
}

function showPick(decision: Routed): Html {
  const { model, provider, estimatedCost, ranked, reason, reasonCode, resolvedInput } = decision;
  const score = ranked.find((candidate) => candidate.model.id === model)?.score;
  const figures = [
    ['Credits', groupDecimal(String(estimatedCost.credits))],
    ['Expected', `${secondsOf(decision)} s`],
    ...(score === undefined ? [] : [['Score', String(score)]]),
    ...resolvedFacts(resolvedInput),
  ];
  return html`<p class="verdict">${showState('good', model)} <span class="quiet">${provider}</span></p>
    <dl class="figures">
      ${figures.map(
        ([key, value]) =>
          html`<div>
            <dt>${key}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <p>${reason} <code>${reasonCode}</code></p>`;
}

/** What a target ranks by, as the length of a bar. */
const measures = {
  cost: ({ credits }: Candidate) => credits,
  latency: ({ model }: Candidate) => model.expectedSeconds,
  quality: ({ score = 0 }: Candidate) => score,
} as const;

function showRanking({ ranked, resolvedSettings: { optimizeFor } }: Routed): Html {
  const isScored = optimizeFor === 'quality';
  const measureOf = measures[optimizeFor];
  const most = Math.max(...ranked.map((candidate) => measureOf(candidate)));
  const columns: Column[] = [
    { name: '#', kind: 'number' },
    { name: 'Model', kind: 'row' },
    { name: 'Credits', kind: 'number' },
    { name: 'Seconds', kind: 'number', ...(isScored && { isMinor: true }) },
    ...(isScored ? [{ name: 'Score', kind: 'number' } as const] : []),
    { name: `By ${optimizeFor}`, isMinor: true },
  ];
  const rows = ranked.slice(0, rankedShownMax).map((candidate, index) => {
    const { model, credits, score } = candidate;
    const share = most === 0 ? 0 : (100 * measureOf(candidate)) / most;
    return [
      index + 1,
      model.id,
      credits,
      model.expectedSeconds,
      ...(isScored ? [score ?? ''] : []),
      html`<svg class="bar" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%" rx="2" /></svg>`,
    ];
  });
  return html`<h2>Ranked by ${optimizeFor}</h2>
    <div class="ranking">
      ${showTable({ caption: 'Eligible models, best first', columns, rows, onPhone: 'columns' })}
    </div>`;
}
