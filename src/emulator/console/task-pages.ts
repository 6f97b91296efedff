/** Tasks: what was generated, is being generated, or waits. */
import { html } from 'hono/html';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { countOf, groupDigits, showEmpty, showMoment, showPage, showState, showTable } from './page.ts';
import type { Html, Tone } from './page.ts';
import { refusable } from './refusable.ts';

const tones: Readonly<Record<string, Tone>> = {
  THROTTLED: 'idle',
  PENDING: 'idle',
  RUNNING: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  CANCELLED: 'bad',
};

export function serveTaskPages(app: App, routing: Routing): void {
  route(app, '/console/tasks', {
    GET: (context) =>
      refusable(() => {
        routing.tasks.settle();
        const { origin } = new URL(context.req.url);
        const { data, nextCursor } = pageOf(routing.tasks.all(), 'tasks', { cursor: context.req.query('cursor') });
        const body = html`<h1>Tasks</h1>
          <p class="lead">The balance is ${groupDigits(routing.account.credits)} credits.</p>
          ${
            data.length === 0
              ? showEmpty(
                  'There are no tasks. A request to generate that is no dry run makes one; it names a router by its Config ID.',
                  `curl ${origin}/v1/generate/image -H 'content-type: application/json' \\\n  -d '{"configId":"my-router","input":{"promptText":"a lighthouse at dusk"}}'`,
                )
              : showTable(
                  countOf(data.length, 'task'),
                  head,
                  data.map((task) => showTask(task, routing, origin)),
                )
          }
          ${nextCursor === null ? '' : html`<p><a href="/console/tasks?cursor=${nextCursor}">Older tasks</a></p>`}`;
        return showPage({ title: 'Tasks', section: 'tasks', body });
      }),
  });
  route(app, '/console/tasks/:id/remove', {
    POST: (context) =>
      refusable(() => {
        routing.tasks.remove(routing.task(context.req.param('id') ?? ''));
        return context.redirect('/console/tasks', 303);
      }),
  });
}

const head = html`<th scope="col">Created (UTC)</th>
  <th scope="col">State</th>
  <th scope="col">Model</th>
  <th scope="col" class="wide">Router</th>
  <th scope="col" class="number">Credits</th>
  <th scope="col">Output</th>
  <th scope="col"><span class="unseen">Remove</span></th>`;

function showTask(task: Task, routing: Routing, origin: string): Html {
  const view = routing.viewTask(task, origin);
  const router = [...routing.routers.all()].find(({ id }) => id === task.routerId);
  const share = view.status === 'RUNNING' ? ` ${Math.floor(view.progress * 100)} %` : '';
  const credits = 'cost' in view ? view.cost.credits : view.estimatedCost.credits;
  const links =
    view.status === 'SUCCEEDED'
      ? view.output.map((url, index) => html`<a href="${url}">${task.modality} ${index + 1}</a> `)
      : view.status === 'FAILED'
        ? view.failure
        : '';
  const verb = task.ended === null ? 'Cancel' : 'Delete';
  return html`<tr>
    <td>${showMoment(view.createdAt)}</td>
    <td>${showState(tones[view.status] ?? 'idle', view.status.toLowerCase() + share)}</td>
    <td>${task.model}</td>
    <td class="wide">
      ${router === undefined ? 'deleted' : html`<a href="/console/routers/${router.id}/log">${router.name}</a>`}
    </td>
    <td class="number">${credits}</td>
    <td>${links}</td>
    <td>
      <form method="post" action="/console/tasks/${task.id}/remove">
        <button class="plain" aria-label="${verb} task ${task.id}">${verb}</button>
      </form>
    </td>
  </tr>`;
}
