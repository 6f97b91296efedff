/** Pages of tasks. */
import { html } from 'hono/html';
import type { App } from '../routes.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { countOf, groupDigits, showEmpty, showMoment, showState, showTable, visibleOf } from '../../pages/markup.ts';
import { showPage } from './page.ts';
import type { Column, Html, Tone } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';

const path = '/console/tasks';

const tones: Readonly<Record<string, Tone>> = {
  THROTTLED: 'idle',
  PENDING: 'idle',
  RUNNING: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  CANCELLED: 'bad',
};

export function serveTaskPages(app: App, routing: Routing): void {
  servePages(app, path, {
    GET: ({ req }) => {
      routing.tasks.settle();
      const { origin } = new URL(req.url);
      const id = req.query('id')?.trim() ?? '';
      const tasks = id === '' ? routing.tasks.all() : [routing.task(id)];
      const { data, nextCursor } = pageOf(tasks, 'tasks', { cursor: req.query('cursor') });
      const body = html`<h1>Tasks</h1>
        <p class="lead">The balance is ${groupDigits(routing.account.credits)} credits.</p>
        ${data.length === 0 ? showNone(origin) : html`${showSearch(id)} ${showTasks(data, routing, origin)}`}
        ${nextCursor === null ? '' : html`<p><a href="${path}?cursor=${nextCursor}">Older tasks</a></p>`}`;
      return showPage({ title: 'Tasks', section: 'tasks', body, isLive: true });
    },
  });
  servePages(app, `${path}/:id/remove`, {
    // A browser that reloads the address of a form gets here.
    GET: (context) => context.redirect(path),
    POST: (context) => {
      routing.tasks.remove(routing.task(context.req.param('id') ?? ''));
      return context.redirect(path, 303);
    },
  });
}

function showNone(origin: string): Html {
  return showEmpty(
    'There are no tasks. A request to generate makes one unless it is a dry run; it names a router by its Config ID.',
    `curl ${origin}/v1/generate/image -H 'content-type: application/json' \\\n  -d '{"configId":"my-router","input":{"promptText":"a lighthouse at dusk"}}'`,
  );
}

function showSearch(id: string): Html {
  return html`<form action="${path}" role="search" class="search">
    <label for="id">Task id</label>
    <input id="id" name="id" value="${id}" autocomplete="off" spellcheck="false" />
    <button>Find</button>
    ${id === '' ? '' : html`<a href="${path}">Show all</a>`}
  </form>`;
}

const columns: readonly Column[] = [
  { name: 'Task', kind: 'row' },
  { name: 'State', kind: 'word' },
  { name: 'Model', kind: 'word' },
  { name: 'Router' },
  { name: 'Credits', kind: 'number' },
  { name: 'Output' },
  { name: 'Remove', kind: 'action' },
];

function showTasks(tasks: readonly Task[], routing: Routing, origin: string): Html {
  const rows = tasks.map((task) => showTask(task, routing, origin));
  return showTable({ caption: countOf(tasks.length, 'task'), columns, rows, onPhone: 'cards' });
}

function showTask(task: Task, routing: Routing, origin: string): (Html | string | number)[] {
  const view = routing.viewTask(task, origin);
  const router = [...routing.routers.all()].find(({ id }) => id === task.routerId);
  const share = view.status === 'RUNNING' ? ` ${Math.floor(view.progress * 100)}\u00A0%` : '';
  const verb = task.ended === null ? 'Cancel' : 'Delete';
  const links =
    view.status === 'SUCCEEDED'
      ? html`${view.output.map((url, index) => html`<a href="${url}">${task.modality} ${index + 1}</a> `)}`
      : '';
  return [
    html`${showMoment(view.createdAt)} UTC <code class="minor">${task.id}</code>`,
    showState(tones[view.status] ?? 'idle', view.status.toLowerCase() + share),
    task.model,
    router === undefined
      ? 'deleted'
      : html`<a href="/console/routers/${router.id}/log"><bdi>${visibleOf(router.name, router.slug)}</bdi></a>`,
    'cost' in view ? view.cost.credits : view.estimatedCost.credits,
    view.status === 'FAILED' ? html`${view.failure} <code class="minor">${view.failureCode}</code>` : links,
    html`<form method="post" action="${path}/${task.id}/remove">
      <button class="plain" aria-label="${verb} task ${task.id}">${verb}</button>
    </form>`,
  ];
}
