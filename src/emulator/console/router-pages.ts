/** Routers: their list, the form that creates and edits one, and its routing log. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { z } from 'zod';
import { routerCreateSchema, routerUpdateSchema } from '../../contract/routing-resources.ts';
import type { RoutedRequest } from '../../contract/routing-resources.ts';
import { defaultRouterSettings } from '../../contract/routing-settings.ts';
import { route } from '../routes.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import { isoOf } from '../routing/clock.ts';
import { pageOf } from '../routing/pages.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Router } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { readForm } from './form-body.ts';
import { isEligible } from './model-list.ts';
import { countOf, showEmpty, showMoment, showPage, showState, showTable } from './page.ts';
import type { Html } from './page.ts';
import { showStages } from './pipeline-view.ts';
import { problemsOf, refusable } from './refusable.ts';
import { fieldsOf, readFields, settingsOf, showRouterForm } from './router-form.ts';
import type { RouterFields } from './router-form.ts';

const listPath = '/console/routers';

export function serveRouterPages(app: App, routing: Routing): void {
  const { routers } = routing;
  const routerOf = (context: Context<EmulatorEnv>): Router => routers.get(context.req.param('id') ?? '');
  route(app, listPath, {
    GET: (context) => refusable(() => showList(routing, context)),
    POST: (context) =>
      refusable(async () => {
        const fields = readFields(await readForm(context.req.raw));
        return attempt(
          () => context.redirect(`${listPath}/${createRouter(routing, fields).id}?saved`, 303),
          (problems, status) => showNew(routing, { fields, problems, status }),
        );
      }),
  });
  route(app, `${listPath}/new`, {
    GET: () => {
      const fields = fieldsOf({ name: '', slug: '', settings: defaultRouterSettings }, routing.catalog.models);
      return showNew(routing, { fields, problems: [], status: 200 });
    },
  });
  route(app, `${listPath}/:id`, {
    GET: (context) =>
      refusable(() => {
        const router = routerOf(context);
        const fields = fieldsOf(router, routing.catalog.models);
        const saved = context.req.query('saved');
        return showEdit(routing, router, { fields, problems: [], status: 200, saved });
      }),
    POST: (context) =>
      refusable(async () => {
        const fields = readFields(await readForm(context.req.raw));
        const router = routerOf(context);
        return attempt(
          () => context.redirect(`${listPath}/${updateRouter(routing, router, fields).id}?saved`, 303),
          (problems, status) => showEdit(routing, router, { fields, problems, status }),
        );
      }),
  });
  route(app, `${listPath}/:id/delete`, {
    POST: (context) =>
      refusable(() => {
        routers.remove(routerOf(context));
        return context.redirect(listPath, 303);
      }),
  });
  route(app, `${listPath}/:id/log`, {
    GET: (context) => refusable(() => showLog(routing, routerOf(context), context)),
  });
}

/** Shows the form again where what it says is refused. */
function attempt(act: () => Response, again: (problems: string[], status: number) => Response): Response {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return again(problemsOf(error), error.status);
  }
}

function knownModels({ catalog }: Routing): string[] {
  return catalog.models.map(({ id }) => id);
}

/** @throws Refusal */
function createRouter(routing: Routing, fields: RouterFields): Router {
  const settings = settingsOf(fields, knownModels(routing), defaultRouterSettings.models);
  return routing.routers.create(checked(routerCreateSchema, { name: fields.name, slug: fields.slug }, settings));
}

/** @throws Refusal */
function updateRouter(routing: Routing, router: Router, fields: RouterFields): Router {
  const settings = settingsOf(fields, knownModels(routing), router.settings.models);
  return routing.routers.update(router, checked(routerUpdateSchema, { name: fields.name }, settings));
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  head: object,
  settings: object | string[],
): z.output<Schema> {
  const problems = Array.isArray(settings) ? (settings as string[]) : [];
  const read = schema.safeParse({ ...head, ...(problems.length === 0 && { settings }) });
  if (read.success && problems.length === 0) return read.data;
  const issues = problems.map((message) => ({ code: 'custom', path: [], message }));
  throw invalid([...(read.error?.issues ?? []), ...issues]);
}

function showList(routing: Routing, context: Context<EmulatorEnv>): Response {
  const { data, nextCursor } = pageOf(routing.routers.all(), 'routers', { cursor: context.req.query('cursor') });
  const known = routing.catalog.models;
  const example = `curl ${new URL(context.req.url).origin}/v1/routers -H 'content-type: application/json' \\
  -d '{"slug":"my-router","name":"My router"}'`;
  const rows = data.map((router) => {
    const { id, name, slug, version, updatedMs, settings } = router;
    const eligible = known.filter((model) => isEligible(settings.models, model.id)).length;
    return html`<tr>
      <th scope="row">
        <a href="${listPath}/${id}"><bdi>${name}</bdi></a>
      </th>
      <td><code>${slug}</code></td>
      <td class="wide">${settings.optimizeFor}</td>
      <td class="number">${eligible} of ${known.length}</td>
      <td class="number">${version}</td>
      <td class="wide">${showMoment(isoOf(updatedMs))}</td>
      <td>
        <a href="${listPath}/${id}/log" aria-label="Log of ${name}">Log</a>
        <a href="/console/playground?router=${slug}" aria-label="Try ${name}">Try</a>
      </td>
    </tr>`;
  });
  const body = html`<div class="heading">
      <h1>Routers</h1>
      <a class="button primary" href="${listPath}/new">New router</a>
    </div>
    ${
      data.length === 0
        ? showEmpty('There are no routers. New router makes one, and so does the service itself:', example)
        : showTable(countOf(data.length, 'router'), listHead, rows)
    }
    ${nextCursor === null ? '' : html`<p><a href="${listPath}?cursor=${nextCursor}">Older routers</a></p>`}`;
  return showPage({ title: 'Routers', section: 'routers', body });
}

const listHead = html`<th scope="col">Name</th>
  <th scope="col">Config ID</th>
  <th scope="col" class="wide">Optimizes for</th>
  <th scope="col" class="number">Eligible models</th>
  <th scope="col" class="number">Version</th>
  <th scope="col" class="wide">Changed (UTC)</th>
  <th scope="col"><span class="unseen">More</span></th>`;

interface FormState {
  readonly fields: RouterFields;
  readonly problems: readonly string[];
  readonly status: number;
  readonly saved?: string | undefined;
}

function showNew({ catalog }: Routing, { fields, problems, status }: FormState): Response {
  const form = showRouterForm({ fields, models: catalog.models, action: listPath, purpose: 'create', problems });
  const body = html`<h1>New router</h1>
    ${form}`;
  return showPage({ title: 'New router', section: 'routers', status, body });
}

function showEdit({ catalog }: Routing, router: Router, { fields, problems, status, saved }: FormState): Response {
  const { id, name, slug, version } = router;
  const action = `${listPath}/${id}`;
  const body = html`<div class="heading">
      <h1><bdi>${name}</bdi></h1>
      <p class="links">
        <a href="/console/playground?router=${slug}">Try it</a> <a href="${action}/log">Routing log</a>
      </p>
    </div>
    ${saved === undefined ? '' : html`<p role="status" class="notice">${showState('good', `Saved as version ${version}`)}</p>`}
    <p class="quiet">Version ${version}. Requests that were routed before keep what they were routed with.</p>
    ${showRouterForm({ fields, models: catalog.models, action, purpose: 'edit', problems })}
    <form method="post" action="${action}/delete" class="danger">
      <p class="hint">Its tasks stay, and its Config ID is free again.</p>
      <button>Delete router</button>
    </form>`;
  return showPage({ title: name, section: 'routers', status, body });
}

function showLog({ log }: Routing, { id, name, slug }: Router, { req }: Context<EmulatorEnv>): Response {
  const { data, nextCursor } = pageOf(log.ofRouter(id), `log of ${id}`, { cursor: req.query('cursor') });
  const example = `curl ${new URL(req.url).origin}/v1/generate/image -H 'content-type: application/json' \\
  -d '{"configId":"${slug}","input":{"promptText":"a lighthouse at dusk"}}'`;
  const body = html`<h1>Routing log of <bdi>${name}</bdi></h1>
    <p class="lead">
      What became of each request that named this router, newest first. Dry runs are not logged.
      <a href="${listPath}/${id}">Edit the router</a>
    </p>
    ${
      data.length === 0
        ? showEmpty('No request has named this router yet.', example)
        : showTable(
            countOf(data.length, 'request'),
            logHead,
            data.map(({ record }) => showRecord(record)),
          )
    }
    ${nextCursor === null ? '' : html`<p><a href="${listPath}/${id}/log?cursor=${nextCursor}">Older requests</a></p>`}`;
  return showPage({ title: `Log of ${name}`, section: 'routers', body });
}

const logHead = html`<th scope="col">Arrived (UTC)</th>
  <th scope="col">Outcome</th>
  <th scope="col">Model</th>
  <th scope="col" class="number">Credits</th>
  <th scope="col">Why</th>`;

function showRecord({ createdAt, status, model, estimatedCredits, reason, pipeline }: RoutedRequest): Html {
  return html`<tr>
    <td>${showMoment(createdAt)}</td>
    <td>${showState(status === 'routed' ? 'good' : 'bad', status.replaceAll('_', ' '))}</td>
    <td>${model ?? '–'}</td>
    <td class="number">${estimatedCredits ?? '–'}</td>
    <td class="prose">
      ${reason ?? ''}
      ${
        pipeline.length === 0
          ? ''
          : html`<details>
              <summary>Pipeline</summary>
              ${showStages(pipeline)}
            </details>`
      }
    </td>
  </tr>`;
}
