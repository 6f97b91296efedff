/** The playground: a request through the pipeline, shown stage by stage, compared, or generated. */
import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import type { z } from 'zod';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../contract/routing-inputs.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { receiveGeneration } from '../routing/generate.ts';
import { decide } from '../routing/pipeline.ts';
import type { RoutingRequest } from '../routing/request.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Router } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { showCode, showEmpty } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { generateCommand, routerCommand } from './connect.ts';
import type { Reach, RoutingShown } from './connect.ts';
import { readForm } from './form-body.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { bodyOf, contenderOf, fieldFor, readFields, rivalOf } from './playground-fields.ts';
import type { PlaygroundFields } from './playground-fields.ts';
import { showForm } from './playground-form.ts';
import { showRuns } from './playground-outcome.ts';
import type { Run } from './playground-outcome.ts';
import { problemsOf, showProblems } from './problems.ts';
import type { Problem } from './problems.ts';
import { tasksPath } from './task-parts.ts';

const path = '/console/playground';

export function servePlayground(app: App, { routing, key }: RoutingShown): void {
  servePages(app, path, {
    GET: (context) => {
      const fields = readFields(new URL(context.req.url).searchParams);
      return showPlayground(routing, { fields, reach: { origin: originOf(context), key } });
    },
    // A dry run needs no redirect: it can be repeated.
    POST: async (context) => {
      const form = await readForm(context.req.raw);
      const fields = readFields(form);
      const reach = { origin: originOf(context), key };
      try {
        const isMeant = form.get('act') === 'generate';
        const id = isMeant ? generate(routing, fields) : undefined;
        if (id !== undefined) return context.redirect(`${tasksPath}/${id}`, 303);
        const notice = isMeant ? html`<p class="notice">Nothing was generated: no model may take it.</p>` : html``;
        const outcome = html`${notice} ${showRuns(runsOf(routing, fields))} ${showCommand(fields, reach)}`;
        return showPlayground(routing, { fields, outcome, reach });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const problems = problemsOf(error, (at) => fieldFor(at, fields));
        return showPlayground(routing, { fields, problems, reach });
      }
    },
  });
}

interface View {
  readonly fields: PlaygroundFields;
  readonly outcome?: Html;
  readonly problems?: readonly Problem[];
  readonly reach: Reach;
}

function showPlayground({ routers }: Routing, { fields, outcome, problems = [], reach }: View): Response {
  const all = [...routers.all()].reverse();
  const body =
    all.length === 0
      ? html`<h1>Playground</h1>
          ${showEmpty('There is no router to try. A new one makes this page work:', routerCommand(reach))}
          <p><a class="button primary" href="/console/routers/new">New router</a></p>`
      : html`<h1>Playground</h1>
          <div class="bench">
            ${showForm({ routers: all, fields, problems, action: problems.length === 0 ? `${path}#outcome` : path })}
            <section id="outcome" aria-label="Outcome" tabindex="-1">
              ${showProblems('The request is refused before it is routed:', problems)}
              ${outcome ?? (problems.length > 0 ? '' : showInvitation())}
            </section>
          </div>`;
  return showPage({ title: 'Playground', section: 'playground', body });
}

function showInvitation(): Html {
  return html`<div class="empty invitation">
    <h2>Which model would take it, and why?</h2>
    <p>
      A dry run shows who falls out at each stage of the pipeline and for what reason, how those that are left are
      ranked, and what the pick would cost. Compared with another router, or another target, the two stand beside each
      other.
    </p>
  </div>`;
}

/** The task's id; undefined where no model is eligible. @throws Refusal for any other reason. */
function generate(routing: Routing, fields: PlaygroundFields): string | undefined {
  const body = bodyOf(fields);
  try {
    const call = { modality: fields.modality, body, requestId: randomUUID(), orderedEnding: () => undefined };
    const answer = receiveGeneration(routing, call)();
    return 'id' in answer ? answer.id : undefined;
  } catch (error) {
    if (error instanceof Refusal && error.body['code'] === 'no_eligible_model') return undefined;
    throw error;
  }
}

/** @throws Refusal where the request would be refused before it is routed. */
function runsOf(routing: Routing, fields: PlaygroundFields): Run[] {
  const input = inputOf(routing, fields);
  const router = routerOf(routing, fields);
  const rival = rivalOf(fields, router, routing.routers);
  return [contenderOf(router), ...(rival === undefined ? [] : [rival])].map(({ name, settings }) => {
    const request = routing.requestOf({ ...router, settings }, fields.modality, input);
    return { name, request, decision: decide(request, routing.catalog, (model) => !routing.tasks.hasCapacity(model)) };
  });
}

function inputOf({ strict }: Routing, fields: PlaygroundFields): RoutingRequest['input'] {
  const schemas = strict ? generateRequestSchemas : lenientGenerateRequestSchemas;
  const schema = schemas[fields.modality] as z.ZodType<{ input: RoutingRequest['input'] }>;
  const read = schema.safeParse({ ...bodyOf(fields), dryRun: true });
  if (!read.success) throw invalid(read.error.issues);
  return read.data.input;
}

function routerOf({ routers }: Routing, { router: slug }: PlaygroundFields): Router {
  const router = routers.bySlug(slug);
  if (router !== undefined) return router;
  throw new Refusal(404, { error: `there is no router with the Config ID "${slug}"` });
}

function showCommand(fields: PlaygroundFields, reach: Reach): Html {
  return html`<details>
    <summary>The same as a request</summary>
    ${showCode(generateCommand(reach, fields.modality, { ...bodyOf(fields), dryRun: true }))}
  </details>`;
}
