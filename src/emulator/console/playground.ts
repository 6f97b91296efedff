/** The playground: a dry run through the pipeline, shown stage by stage. Nothing is created, logged or charged. */
import { html } from 'hono/html';
import type { z } from 'zod';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../contract/routing-inputs.ts';
import { modalities } from '../../contract/routing-settings.ts';
import type { Modality } from '../../contract/routing-settings.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { decide } from '../routing/pipeline.ts';
import type { Decision, RoutingRequest } from '../routing/pipeline.ts';
import type { Router } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { readForm } from './form-body.ts';
import { showEmpty, showPage, showState, showTable } from './page.ts';
import type { Html } from './page.ts';
import { showStages } from './pipeline-view.ts';
import { refusable } from './refusable.ts';

const path = '/console/playground';

interface Fields {
  readonly router: string;
  readonly modality: Modality;
  readonly prompt: string;
  readonly duration: string;
  readonly aspectRatio: string;
  readonly resolution: string;
}

export function servePlayground(app: App, routing: Routing): void {
  route(app, path, {
    GET: ({ req }) => showPlayground(routing, { fields: readFields(new URL(req.url).searchParams), url: req.url }),
    // What a dry run shows is not worth a redirect: it can be repeated.
    POST: ({ req }) =>
      refusable(async () => {
        const fields = readFields(await readForm(req.raw));
        return showPlayground(routing, { fields, outcome: run(routing, fields), url: req.url });
      }),
  });
}

function readFields(form: URLSearchParams): Fields {
  const text = (name: string): string => form.get(name)?.trim() ?? '';
  return {
    router: text('router'),
    modality: modalities.find((modality) => modality === text('modality')) ?? 'image',
    // Browsers send the end of a line as two characters.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    duration: text('duration'),
    aspectRatio: text('aspectRatio'),
    resolution: text('resolution'),
  };
}

function bodyOf({ router, prompt, duration, aspectRatio, resolution }: Fields): object {
  const input = {
    ...(prompt !== '' && { promptText: prompt }),
    ...(duration !== '' && { duration: /^\d{1,9}(?:\.\d{1,9})?$/.test(duration) ? Number(duration) : duration }),
    ...(aspectRatio !== '' && { aspectRatio }),
    ...(resolution !== '' && { resolution }),
  };
  return { configId: router, input, dryRun: true };
}

/** A decision, or what is wrong with the request. */
type Outcome = Decision | readonly string[];

function run(routing: Routing, fields: Fields): Outcome {
  const { modality } = fields;
  const schemas = routing.strict ? generateRequestSchemas : lenientGenerateRequestSchemas;
  const read = (schemas[modality] as z.ZodType<{ input: RoutingRequest['input'] }>).safeParse(bodyOf(fields));
  if (!read.success) return read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const router = routing.routers.bySlug(fields.router);
  if (router === undefined) return [`there is no router with the Config ID "${fields.router}"`];
  const { settings, slug } = router;
  return decide(
    { modality, input: read.data.input, settings, configId: slug },
    routing.catalog,
    (model) => !routing.tasks.hasCapacity(model),
  );
}

interface View {
  readonly fields: Fields;
  readonly outcome?: Outcome;
  readonly url: string;
}

function showPlayground({ routers }: Routing, { fields, outcome, url }: View): Response {
  const all = [...routers.all()].reverse();
  const { origin } = new URL(url);
  const body = html`<h1>Playground</h1>
    <p class="lead">Which model a request would go to, and why. Nothing is created, logged or charged.</p>
    ${
      all.length === 0
        ? html`${showEmpty(
              'There is no router to try. A new one makes this page work:',
              `curl ${origin}/v1/routers -H 'content-type: application/json' -d '{"slug":"my-router","name":"My router"}'`,
            )}
            <p><a class="button primary" href="/console/routers/new">New router</a></p>`
        : showForm(all, fields)
    }
    ${outcome === undefined ? '' : showOutcome(outcome)}
    ${
      outcome === undefined
        ? ''
        : html`<details>
            <summary>The same as a request</summary>
            <pre tabindex="0" role="region" aria-label="Command"><code>${commandOf(fields, origin)}</code></pre>
          </details>`
    }`;
  return showPage({ title: 'Playground', section: 'playground', body });
}

function commandOf(fields: Fields, origin: string): string {
  const text = JSON.stringify(bodyOf(fields)).replaceAll("'", String.raw`'\''`);
  return `curl ${origin}/v1/generate/${fields.modality} -H 'content-type: application/json' \\\n  -d '${text}'`;
}

function showForm(routers: readonly Router[], fields: Fields): Html {
  return html`<form method="post" action="${path}#outcome" class="fields">
    <div class="field">
      <label for="router">Router</label>
      <select id="router" name="router">
        ${routers.map(
          ({ slug, name }) =>
            html`<option value="${slug}" ${slug === fields.router ? 'selected' : ''}>${name} (${slug})</option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="modality">Modality</label>
      <select id="modality" name="modality">
        ${modalities.map(
          (modality) =>
            html`<option value="${modality}" ${modality === fields.modality ? 'selected' : ''}>${modality}</option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="prompt">Prompt</label>
      <textarea id="prompt" name="prompt" rows="4">${fields.prompt}</textarea>
    </div>
    <div class="ceilings">
      ${showOption('duration', { label: 'Duration', text: fields.duration, hint: 'Seconds; empty: the default' })}
      ${showOption('aspectRatio', { label: 'Aspect ratio', text: fields.aspectRatio, hint: 'Such as 16:9' })}
      ${showOption('resolution', { label: 'Resolution', text: fields.resolution, hint: 'Such as 720p or 2k' })}
    </div>
    <div class="actions"><button class="primary">Dry run</button></div>
  </form>`;
}

function showOption(id: string, { label, text, hint }: { label: string; text: string; hint: string }): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${id}" value="${text}" autocomplete="off" aria-describedby="${id}-hint" />
    <p class="hint" id="${id}-hint">${hint}</p>
  </div>`;
}

function isProblems(outcome: Outcome): outcome is readonly string[] {
  return Array.isArray(outcome);
}

function showOutcome(outcome: Outcome): Html {
  if (isProblems(outcome)) {
    return html`<section id="outcome" class="problems" role="alert">
      <p><span aria-hidden="true">▲</span> The request is refused before it is routed:</p>
      <ul>
        ${outcome.map((problem) => html`<li>${problem}</li>`)}
      </ul>
    </section>`;
  }
  const { kind, pipeline, dropped } = outcome;
  const verdict =
    kind === 'routed'
      ? html`<p class="verdict">${showState('good', outcome.model)} <span class="quiet">${outcome.provider}</span></p>
          <p>${outcome.reason} <code>${outcome.reasonCode}</code></p>
          <p>
            ${outcome.estimatedCost.credits} credits estimated, input resolved to
            <code class="breaks">${JSON.stringify(outcome.resolvedInput)}</code>
          </p>`
      : html`<p class="verdict">${showState('bad', 'No eligible model')}</p>
          <p>${outcome.error}</p>`;
  return html`<section id="outcome" class="card" aria-label="Outcome" tabindex="-1">
    <h2>Outcome</h2>
    ${verdict}
    <h2>Pipeline</h2>
    ${showStages(pipeline, dropped)} ${kind === 'routed' ? showRanking(outcome) : ''}
  </section>`;
}

const rankedShownMax = 100;

function showRanking({ ranked, resolvedSettings }: Extract<Decision, { kind: 'routed' }>): Html {
  const rows = ranked.slice(0, rankedShownMax).map(
    ({ model, credits, score }, index) =>
      html`<tr>
        <td class="number">${index + 1}</td>
        <th scope="row">${model.id}</th>
        <td class="number">${credits}</td>
        <td class="number">${model.expectedSeconds}</td>
        ${score === undefined ? '' : html`<td class="number">${score}</td>`}
      </tr>`,
  );
  return html`<h2>Ranked by ${resolvedSettings.optimizeFor}</h2>
    ${showTable(
      'Eligible models, best first',
      html`<th scope="col" class="number">Rank</th>
        <th scope="col">Model</th>
        <th scope="col" class="number">Credits</th>
        <th scope="col" class="number">Expected s</th>
        ${resolvedSettings.optimizeFor === 'quality' ? html`<th scope="col" class="number">Score</th>` : ''}`,
      rows,
    )}`;
}
