/** Pages of routers: the list, and the form that creates and edits one. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { z } from 'zod';
import { routerCreateSchema, routerUpdateSchema } from '../../contract/routing-resources.ts';
import { defaultRouterSettings } from '../../contract/routing-settings.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import { isoOf } from '../routing/clock.ts';
import { pageOf } from '../routing/pages.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Router } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { readForm } from './form-body.ts';
import { isEligible } from './model-list.ts';
import { countOf, showEmpty, showMoment, showState, showTable, visibleOf } from '../../pages/markup.ts';
import { showPage } from './page.ts';
import type { Column } from '../../pages/markup.ts';
import { problemsOf, servePages } from './page-routes.ts';
import { differencesOf, fieldsOf, nameIn, readFields, settingsOf, showRouterForm } from './router-form.ts';
import type { RouterFields } from './router-form.ts';

const listPath = '/console/routers';

export function serveRouterPages(app: App, routing: Routing): void {
  const { routers } = routing;
  const routerOf = (context: Context<EmulatorEnv>): Router => routers.get(context.req.param('id') ?? '');
  servePages(app, listPath, {
    GET: (context) => showList(routing, context),
    POST: async (context) => {
      const fields = readFields(await readForm(context.req.raw));
      return attempt(
        () => context.redirect(`${listPath}/${createRouter(routing, fields).id}?saved`, 303),
        (problems, status) => showNew(routing, { fields, problems, status }),
      );
    },
  });
  servePages(app, `${listPath}/new`, {
    GET: () => {
      const fields = fieldsOf({ name: '', slug: '', settings: defaultRouterSettings }, routing.catalog.models);
      return showNew(routing, { fields, problems: [], status: 200 });
    },
  });
  servePages(app, `${listPath}/:id`, {
    GET: (context) => {
      const router = routerOf(context);
      const fields = fieldsOf(router, routing.catalog.models);
      const saved = context.req.query('saved');
      return showEdit(routing, router, { fields, problems: [], status: 200, saved });
    },
    POST: async (context) => {
      const fields = readFields(await readForm(context.req.raw));
      const router = routerOf(context);
      return attempt(
        () => context.redirect(`${listPath}/${updateRouter(routing, router, fields).id}?saved`, 303),
        (problems, status) => {
          // After reading the differences the person may save nevertheless.
          const again = { ...fields, version: String(router.version) };
          return showEdit(routing, router, { fields: again, problems, status });
        },
      );
    },
  });
  servePages(app, `${listPath}/:id/delete`, {
    // A browser that reloads the address of a form gets here.
    GET: (context) => context.redirect(listPath),
    POST: (context) => {
      routers.remove(routerOf(context));
      return context.redirect(listPath, 303);
    },
  });
}

/** Shows the form again if its content is refused. */
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
  return routing.routers.create(checked(routerCreateSchema, { name: nameIn(fields), slug: fields.slug }, settings));
}

/** @throws Refusal */
function updateRouter(routing: Routing, router: Router, fields: RouterFields): Router {
  const { name, version } = router;
  if (fields.version !== '' && fields.version !== String(version)) {
    const error = `The router has been changed since this form was opened, and is now version ${version}.`;
    const now = differencesOf(fields, fieldsOf(router, routing.catalog.models));
    const lines = [error, ...now, 'Save again to put what stands here in the place of that.'];
    throw new Refusal(409, { error, issues: lines.map((message) => ({ path: [], message })) });
  }
  const settings = settingsOf(fields, knownModels(routing), router.settings.models);
  return routing.routers.update(router, checked(routerUpdateSchema, { name: nameIn(fields, name) }, settings));
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
  const rows = data.map(({ id, name, slug, version, updatedMs, settings }) => {
    const eligible = known.filter((model) => isEligible(settings.models, model.id)).length;
    const shownName = visibleOf(name, slug);
    return [
      html`<a href="${listPath}/${id}"><bdi>${shownName}</bdi></a>`,
      html`<code>${slug}</code>`,
      settings.optimizeFor,
      `${eligible} of ${known.length}`,
      version,
      showMoment(isoOf(updatedMs)),
      html`<a href="${listPath}/${id}/log" aria-label="Log of ${shownName}">Log</a>
        <a href="/console/playground?router=${slug}" aria-label="Try ${shownName}">Try</a>`,
    ];
  });
  const body = html`<div class="heading">
      <h1>Routers</h1>
      <a class="button primary" href="${listPath}/new">New router</a>
    </div>
    ${
      data.length === 0
        ? showEmpty('There are no routers. New router makes one, and so does the service itself:', example)
        : showTable({ caption: countOf(data.length, 'router'), columns: listColumns, rows, onPhone: 'cards' })
    }
    ${nextCursor === null ? '' : html`<p><a href="${listPath}?cursor=${nextCursor}">Older routers</a></p>`}`;
  return showPage({ title: 'Routers', section: 'routers', body });
}

const listColumns: readonly Column[] = [
  { name: 'Name', kind: 'row' },
  { name: 'Config ID' },
  { name: 'Optimizes for', kind: 'word' },
  { name: 'Eligible models', kind: 'number' },
  { name: 'Version', kind: 'number' },
  { name: 'Changed (UTC)' },
  { name: 'More', kind: 'action' },
];

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
      <h1><bdi>${visibleOf(name, slug)}</bdi></h1>
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
  return showPage({ title: visibleOf(name, slug), section: 'routers', status, body });
}
