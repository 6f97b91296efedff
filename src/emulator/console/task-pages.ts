/** The list of tasks. */
import { html } from 'hono/html';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { showAgoBy } from '../../pages/ago.ts';
import { countOf, groupDigits, showEmpty, showTable, visibleOf } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { showChoice } from './choice.ts';
import { generateCommand } from './connect.ts';
import type { Reach, RoutingShown } from './connect.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import type { Removals } from './removed.ts';
import { serveMedia, showThumbnails } from './task-media.ts';
import { serveTaskPage } from './task-page.ts';
import { nameOfRouter, showTaskState, taskLink, tasksPath } from './task-parts.ts';

/** Which tasks a list shows: by their state, and by a text in them. */
const states = {
  all: () => true,
  'under way': ({ ended }: Task) => ended === null,
  succeeded: ({ ended, ending }: Task) => ended !== null && ending.status === 'SUCCEEDED',
  failed: ({ ended, ending }: Task) => ended !== null && ending.status !== 'SUCCEEDED',
} as const;
type State = keyof typeof states;

export function serveTaskPages(app: App, { routing, key }: RoutingShown, removals: Removals): void {
  servePages(app, tasksPath, {
    GET: (context) => {
      const { req } = context;
      routing.tasks.settle();
      const origin = originOf(context);
      const state = (Object.keys(states) as State[]).find((name) => name === req.query('state')) ?? 'all';
      const wanted = { state, find: req.query('find')?.trim() ?? '' };
      const all = [...routing.tasks.all()];
      const found = all.filter((task) => states[state](task) && isFound(task, routing, wanted.find));
      const { data, nextCursor } = pageOf(found, 'tasks', { cursor: req.query('cursor') });
      const older = new URLSearchParams({ ...wanted, cursor: nextCursor ?? '' }).toString();
      const body = html`<h1>Tasks</h1>
        ${removals.show(req.query('removed'))}
        <p class="lead">The balance is ${groupDigits(routing.account.credits)} credits.</p>
        ${
          all.length === 0
            ? showNone({ origin, key }, routing)
            : html`${showChoice({
                path: tasksPath,
                name: 'state',
                label: 'State',
                chosen: state,
                options: (Object.keys(states) as State[]).map((name) => [name, all.filter(states[name]).length]),
                find: wanted.find,
                hint: 'Prompt, model, router or id',
              })}
              ${showTasks(data, routing, origin)}`
        }
        ${nextCursor === null ? '' : html`<p><a href="${tasksPath}?${older}">Older tasks</a></p>`}`;
      return showPage({ title: 'Tasks', section: 'tasks', body, isLive: true });
    },
  });
  serveTaskPage(app, { routing, key }, removals);
  serveMedia(app, routing);
}

function isFound(task: Task, routing: Routing, find: string): boolean {
  const { id, promptText = '', model, routerId } = task;
  const text = [id, promptText, model, nameOfRouter(routing, routerId)].join('\n').toLowerCase();
  return text.includes(find.toLowerCase());
}

function showNone(reach: Reach, { routers }: Routing): Html {
  const configId = [...routers.all()].at(-1)?.slug ?? 'my-router';
  return showEmpty(
    'There are no tasks. A request to generate makes one unless it is a dry run; it names a router by its Config ID.',
    generateCommand(reach, 'image', { configId, input: { promptText: 'a lighthouse at dusk' } }),
  );
}

const columns: readonly Column[] = [
  { name: 'Task', kind: 'row' },
  { name: 'State', kind: 'word' },
  { name: 'Output' },
  { name: 'Model', kind: 'word' },
  { name: 'Router' },
  { name: 'Credits', kind: 'number' },
  { name: 'Remove', kind: 'action' },
];

function showTasks(tasks: readonly Task[], routing: Routing, origin: string): Html {
  if (tasks.length === 0) return html`<p class="quiet">No task is like that. <a href="${tasksPath}">Show all</a></p>`;
  const rows = tasks.map((task) => showTask(task, routing, origin));
  const rowKeys = tasks.map(({ id }) => id);
  const isMoving = tasks.some(({ ended }) => ended === null);
  return html`<div ${isMoving ? 'data-soon' : ''}>
    ${showTable({ caption: countOf(tasks.length, 'task'), columns, rows, rowKeys, onPhone: 'cards' })}
  </div>`;
}

function showTask(task: Task, routing: Routing, origin: string): (Html | string | number)[] {
  const view = routing.viewTask(task, origin);
  const verb = task.ended === null ? 'Cancel' : 'Delete';
  return [
    html`${taskLink(task)}
      <span class="minor">${task.modality}, ${showAgoBy(view.createdAt, routing.clock.now())}</span>`,
    html`${showTaskState(view)} ${view.status === 'FAILED' ? html`<code class="minor">${view.failureCode}</code>` : ''}`,
    showThumbnails(task),
    task.model,
    routerCell(routing, task),
    'cost' in view ? view.cost.credits : view.estimatedCost.credits,
    html`<a href="${tasksPath}/${task.id}/remove" aria-label="${verb} task ${task.id}">${verb}</a>`,
  ];
}

function routerCell(routing: Routing, { routerId }: Task): Html | string {
  const name = nameOfRouter(routing, routerId);
  return name === '' ? 'deleted' : html`<a href="/console/routers/${routerId}"><bdi>${visibleOf(name)}</bdi></a>`;
}
