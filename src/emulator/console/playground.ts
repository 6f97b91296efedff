/** The playground: a dry run through the pipeline, shown stage by stage. Nothing is created, logged or charged. */
import { html } from 'hono/html';
import type { z } from 'zod';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../contract/routing-inputs.ts';
import type { App } from '../routes.ts';
import { decide } from '../routing/pipeline.ts';
import type { Decision } from '../routing/pipeline.ts';
import type { RoutingRequest } from '../routing/request.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Routing } from '../routing/routing.ts';
import { readForm } from './form-body.ts';
import { showEmpty, showState, showTable } from '../../pages/markup.ts';
import { showPage } from './page.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';
import { problemsOf } from './problems.ts';
import { showFunnel } from './pipeline-view.ts';
import { bodyOf, readFields, showForm } from './playground-fields.ts';
import type { PlaygroundFields } from './playground-fields.ts';

const path = '/console/playground';

export function servePlayground(app: App, routing: Routing): void {
  servePages(app, path, {
    GET: ({ req }) => {
      const { origin, searchParams } = new URL(req.url);
      return showPlayground(routing, { fields: readFields(searchParams), origin });
    },
    // No redirect is needed: a dry run can be repeated.
    POST: async ({ req }) => {
      const fields = readFields(await readForm(req.raw));
      const { origin } = new URL(req.url);
      try {
        return showPlayground(routing, { fields, outcome: showRun(routing, fields, origin), origin });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return showPlayground(routing, { fields, outcome: showProblems(error), origin });
      }
    },
  });
}

interface View {
  readonly fields: PlaygroundFields;
  readonly outcome?: Html;
  readonly origin: string;
}

function showPlayground({ routers }: Routing, { fields, outcome, origin }: View): Response {
  const all = [...routers.all()].reverse();
  const body = html`<h1>Playground</h1>
    <p class="lead">Which model a request would go to, and why. Nothing is created, logged or charged.</p>
    ${
      all.length === 0
        ? html`${showEmpty(
              'There is no router to try. A new one makes this page work:',
              `curl ${origin}/v1/routers -H 'content-type: application/json' -d '{"slug":"my-router","name":"My router"}'`,
            )}
            <p><a class="button primary" href="/console/routers/new">New router</a></p>`
        : showForm(all, fields, `${path}#outcome`)
    }
    ${outcome ?? ''}`;
  return showPage({ title: 'Playground', section: 'playground', body });
}

/** @throws Refusal where the request would be refused before it is routed. */
function showRun(routing: Routing, fields: PlaygroundFields, origin: string): Html {
  const { modality } = fields;
  const body = bodyOf(fields);
  const schemas = routing.strict ? generateRequestSchemas : lenientGenerateRequestSchemas;
  const read = (schemas[modality] as z.ZodType<{ input: RoutingRequest['input'] }>).safeParse(body);
  if (!read.success) throw invalid(read.error.issues);
  const router = routing.routers.bySlug(fields.router);
  if (router === undefined)
    throw new Refusal(404, { error: `there is no router with the Config ID "${fields.router}"` });
  const request = routing.requestOf(router, modality, read.data.input);
  const decision = decide(request, routing.catalog, (model) => !routing.tasks.hasCapacity(model));
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  const command = `curl ${origin}/v1/generate/${modality} -H 'content-type: application/json' \\\n  -d '${json}'`;
  return html`${showDecision(decision, request)}
    <details>
      <summary>The same as a request</summary>
      <pre><code>${command}</code></pre>
    </details>`;
}

function showProblems(refusal: Refusal): Html {
  return html`<section id="outcome" class="problems" role="alert">
    <p><span aria-hidden="true">▲</span> The request is refused before it is routed:</p>
    <ul>
      ${problemsOf(refusal).map(({ text }) => html`<li>${text}</li>`)}
    </ul>
  </section>`;
}

function showDecision(decision: Decision, request: RoutingRequest): Html {
  const { kind, pipeline, dropped } = decision;
  const verdict =
    kind === 'routed'
      ? html`<p class="verdict">${showState('good', decision.model)} <span class="quiet">${decision.provider}</span></p>
          <p>${decision.reason} <code>${decision.reasonCode}</code></p>
          <p>
            ${decision.estimatedCost.credits} credits estimated, input resolved to
            <code class="breaks">${JSON.stringify(decision.resolvedInput)}</code>
          </p>`
      : html`<p class="verdict">${showState('bad', 'No eligible model')}</p>
          <p>${decision.error}</p>`;
  return html`<section id="outcome" class="card" aria-label="Outcome" tabindex="-1">
    <h2>Outcome</h2>
    ${verdict}
    <h2>Pipeline</h2>
    ${showFunnel(pipeline, { request, dropped })} ${kind === 'routed' ? showRanking(decision) : ''}
  </section>`;
}

const rankedShownMax = 100;

function showRanking({ ranked, resolvedSettings }: Extract<Decision, { kind: 'routed' }>): Html {
  const isScored = resolvedSettings.optimizeFor === 'quality';
  const columns: Column[] = [
    { name: 'Rank', kind: 'number' },
    { name: 'Model', kind: 'row' },
    { name: 'Credits', kind: 'number' },
    { name: 'Expected s', kind: 'number' },
    ...(isScored ? [{ name: 'Score', kind: 'number' } as const] : []),
  ];
  const rows = ranked
    .slice(0, rankedShownMax)
    .map(({ model, credits, score }, index) => [
      index + 1,
      model.id,
      credits,
      model.expectedSeconds,
      ...(isScored ? [score ?? ''] : []),
    ]);
  return html`<h2>Ranked by ${resolvedSettings.optimizeFor}</h2>
    ${showTable({ caption: 'Eligible models, best first', columns, rows, onPhone: 'columns' })}`;
}
