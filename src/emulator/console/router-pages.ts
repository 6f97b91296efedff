/** Pages of routers: the list, and the form that creates and edits one. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { z } from 'zod';
import { routerCreateSchema, routerUpdateSchema } from '../../contract/routing-resources.ts';
import { defaultRouterSettings, modalities } from '../../contract/routing-settings.ts';
import type { RouterSettings, SettingsPatch } from '../../contract/routing-settings.ts';
import { originOf } from '../routes.ts';
import type { App, EmulatorEnv } from '../routes.ts';
import { invalid, Refusal } from '../routing/refusal.ts';
import type { Router } from '../routing/routers.ts';
import type { Routing } from '../routing/routing.ts';
import { countOf, showState, visibleOf } from '../../pages/markup.ts';
import type { RoutingShown } from './connect.ts';
import { readForm } from './form-body.ts';
import { picked } from './model-picker.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { problemsOf } from './problems.ts';
import type { Problem } from './problems.ts';
import { showQuestion } from './removed.ts';
import type { Removals } from './removed.ts';
import { differencesOf, fieldsOf, nameIn, readFields, settingsOf } from './router-fields.ts';
import type { CeilingRules, Issue, Known, RouterFields } from './router-fields.ts';
import { fieldOf, showRouterForm } from './router-form.ts';
import { routersPath, showRouters } from './router-list.ts';

export function serveRouterPages(app: App, { routing, key }: RoutingShown, removals: Removals): void {
  const { routers } = routing;
  const routerOf = (context: Context<EmulatorEnv>): Router => routers.get(context.req.param('id') ?? '');
  servePages(app, routersPath, {
    GET: (context) => {
      const { req } = context;
      const reach = { origin: originOf(context), key };
      const above = removals.show(req.query('removed'));
      return showRouters(routing, { reach, cursor: req.query('cursor'), above });
    },
    POST: async (context) => {
      const form = await readForm(context.req.raw);
      const fields = fieldsIn(form, routing);
      if (form.has('pick')) return showNew(routing, { fields, problems: [], status: 200 });
      return attempt(
        () => context.redirect(`${routersPath}/${createRouter(routing, fields).id}?saved`, 303),
        (problems, status) => showNew(routing, { fields, problems, status }),
      );
    },
  });
  servePages(app, `${routersPath}/new`, {
    GET: () => {
      const fields = fieldsOf({ name: '', slug: '', settings: defaultRouterSettings }, routing.catalog.models);
      return showNew(routing, { fields, problems: [], status: 200 });
    },
  });
  servePages(app, `${routersPath}/:id`, {
    GET: (context) => {
      const router = routerOf(context);
      const fields = fieldsOf(router, routing.catalog.models);
      const saved = context.req.query('saved');
      return showEdit(routing, router, { fields, problems: [], status: 200, saved });
    },
    POST: async (context) => {
      const form = await readForm(context.req.raw);
      const fields = fieldsIn(form, routing);
      const router = routerOf(context);
      if (form.has('pick')) return showEdit(routing, router, { fields, problems: [], status: 200 });
      return attempt(
        () => context.redirect(`${routersPath}/${updateRouter(routing, router, fields).id}?saved`, 303),
        (problems, status) => {
          // After reading the differences the person may save nevertheless.
          const again = { ...fields, version: String(router.version) };
          return showEdit(routing, router, { fields: again, problems, status });
        },
      );
    },
  });
  servePages(app, `${routersPath}/:id/delete`, {
    GET: (context) => askToDelete(routing, routerOf(context)),
    POST: (context) => {
      const router = routerOf(context);
      routers.remove(router);
      const what = visibleOf(router.name, router.slug);
      const list = removals.keep({ what, list: routersPath, putBack: () => routers.putBack(router) });
      return context.redirect(list, 303);
    },
  });
}

/** The fields of the form, and what a button of the picker made of its checks. */
function fieldsIn(form: URLSearchParams, { catalog }: Routing): RouterFields {
  const fields = readFields(form);
  const pick = form.get('pick');
  return pick === null ? fields : { ...fields, checked: picked(pick, fields, catalog.models) };
}

function askToDelete(routing: Routing, { id, name, slug }: Router): Response {
  const tasks = [...routing.tasks.all()].filter(({ routerId }) => routerId === id).length;
  const title = 'Delete this router?';
  const body = showQuestion({
    title,
    consequences: [
      html`<bdi>${visibleOf(name, slug)}</bdi>`,
      html`Requests that name <code>${slug}</code> are refused from then on.`,
      ...(tasks === 0 ? [] : [`Its ${countOf(tasks, 'task')} and its log stay.`]),
    ],
    action: `${routersPath}/${id}/delete`,
    verb: 'Delete router',
    back: `${routersPath}/${id}`,
  });
  return showPage({ title, section: 'routers', body });
}

/** Shows the form again if its content is refused. */
function attempt(act: () => Response, again: (problems: Problem[], status: number) => Response): Response {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isTaken = error.body['code'] === 'slug_in_use';
    const problems = problemsOf(error, fieldOf).map((one) => (isTaken ? { ...one, field: 'slug' } : one));
    return again(problems, error.status);
  }
}

function ceilingRulesOf({ strict }: Routing, { maxCreditsPerGeneration = {} }: RouterSettings): CeilingRules {
  if (!strict) return { unit: 'any', kept: [] };
  return { unit: 'whole', kept: modalities.filter((modality) => maxCreditsPerGeneration[modality] !== undefined) };
}

function knownBy(routing: Routing, settings: RouterSettings): Known {
  const models = routing.catalog.models.map(({ id }) => id);
  return { models, previous: settings.models, ceilings: ceilingRulesOf(routing, settings) };
}

/** @throws Refusal */
function createRouter(routing: Routing, fields: RouterFields): Router {
  const settings = settingsOf(fields, knownBy(routing, defaultRouterSettings));
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
  const settings = settingsOf(fields, knownBy(routing, router.settings));
  return routing.routers.update(router, checked(routerUpdateSchema, { name: nameIn(fields, name) }, settings));
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  head: object,
  settings: SettingsPatch | Issue[],
): z.output<Schema> {
  const problems = Array.isArray(settings) ? settings : [];
  const read = schema.safeParse({ ...head, ...(problems.length === 0 && { settings }) });
  if (read.success && problems.length === 0) return read.data;
  const issues = problems.map(({ path, message }) => ({ code: 'custom', path: [...path], message }));
  throw invalid([...(read.error?.issues ?? []), ...issues]);
}

interface FormState {
  readonly fields: RouterFields;
  readonly problems: readonly Problem[];
  readonly status: number;
  readonly saved?: string | undefined;
}

function showNew(routing: Routing, { fields, problems, status }: FormState): Response {
  const ceilings = ceilingRulesOf(routing, defaultRouterSettings);
  const view = {
    fields,
    models: routing.catalog.models,
    action: routersPath,
    purpose: 'create',
    problems,
    ceilings,
  } as const;
  const body = html`<p class="path"><a href="${routersPath}">Routers</a></p>
    <h1>New router</h1>
    ${showRouterForm(view)}`;
  return showPage({ title: 'New router', section: 'routers', status, body });
}

function showEdit(routing: Routing, router: Router, { fields, problems, status, saved }: FormState): Response {
  const { id, name, slug, version, settings } = router;
  const action = `${routersPath}/${id}`;
  const ceilings = ceilingRulesOf(routing, settings);
  const body = html`<p class="path"><a href="${routersPath}">Routers</a></p>
    <div class="heading">
      <h1><bdi>${visibleOf(name, slug)}</bdi></h1>
      <p class="links">
        <a href="/console/playground?router=${slug}">Try it</a> <a href="${action}/log">Routing log</a>
      </p>
    </div>
    ${saved === undefined ? '' : html`<p role="status" class="notice">${showState('good', `Saved as version ${version}`)}</p>`}
    <p class="quiet">Version ${version}. Requests that were routed before keep what they were routed with.</p>
    ${showRouterForm({ fields, models: routing.catalog.models, action, purpose: 'edit', problems, ceilings })}
    <p class="danger"><a class="button" href="${action}/delete">Delete router</a></p>`;
  return showPage({ title: visibleOf(name, slug), section: 'routers', status, body });
}
