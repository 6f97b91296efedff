/** The page of one task: its output, what was asked for, and the decision that led to it. */
import { html } from 'hono/html';
import type { TaskAnswer } from '../../contract/routing-resources.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { exactly, showAgoBy } from '../../pages/ago.ts';
import { countOf, groupDigits, showCode, visibleOf } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { getCommand } from './connect.ts';
import type { Reach, RoutingShown } from './connect.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { showFunnel } from './pipeline-view.ts';
import { showQuestion } from './removed.ts';
import type { Removals } from './removed.ts';
import { showOutputs } from './task-media.ts';
import { nameOfRouter, resolvedFacts, showTaskState, tasksPath, titleOf } from './task-parts.ts';

/** Longer ones make addresses that are refused. */
const promptInAddressMax = 2_000;

export function serveTaskPage(app: App, { routing, key }: RoutingShown, removals: Removals): void {
  servePages(app, `${tasksPath}/:id`, {
    GET: (context) => {
      const reach = { origin: originOf(context), key };
      return showTask(routing, routing.task(context.req.param('id') ?? ''), reach);
    },
  });
  servePages(app, `${tasksPath}/:id/remove`, {
    GET: (context) => ask(routing, routing.task(context.req.param('id') ?? ''), originOf(context)),
    POST: (context) => {
      const task = routing.task(context.req.param('id') ?? '');
      routing.tasks.remove(task);
      // What was cancelled has given its credits back and made room for another.
      if (task.ended === null) return context.redirect(tasksPath, 303);
      const putBack = (): void => routing.tasks.putBack(task);
      return context.redirect(removals.keep({ what: titleOf(task), list: tasksPath, putBack }), 303);
    },
  });
}

function ask(routing: Routing, task: Task, origin: string): Response {
  const view = routing.viewTask(task, origin);
  const credits = countOf(task.chargedCredits, 'credit');
  const isCharged = view.status === 'RUNNING';
  const [title, verb, consequences] =
    task.ended === null
      ? [
          'Cancel this task?',
          'Cancel task',
          [
            isCharged ? `It runs already, so its ${credits} are not given back.` : `Its ${credits} are given back.`,
            'It cannot be started again.',
          ],
        ]
      : [
          'Delete this task?',
          'Delete task',
          [
            view.status === 'SUCCEEDED'
              ? 'Its output goes with it, and its id is not found any more.'
              : 'Its id is not found any more.',
          ],
        ];
  const body = showQuestion({
    title,
    consequences: [html`<bdi>${titleOf(task)}</bdi>`, ...consequences],
    action: `${tasksPath}/${task.id}/remove`,
    verb,
    back: `${tasksPath}/${task.id}`,
  });
  return showPage({ title, section: 'tasks', body });
}

function showTask(routing: Routing, task: Task, reach: Reach): Response {
  const view = routing.viewTask(task, reach.origin);
  const body = html`<p class="path"><a href="${tasksPath}">Tasks</a></p>
    <div class="heading">
      <h1><bdi>${titleOf(task)}</bdi></h1>
      <p class="links">
        ${showAgain(routing, task)}
        <a class="button" href="${tasksPath}/${task.id}/remove">${task.ended === null ? 'Cancel' : 'Delete'}</a>
      </p>
    </div>
    <div class="halves" ${task.ended === null ? 'data-soon' : ''}>
      <div>
        ${showResult(task, view, { reach, isStill: routing.clock.speed === 0 })}
        ${
          task.promptText === undefined
            ? ''
            : html`<section aria-labelledby="prompt">
                <h2 id="prompt">Prompt</h2>
                <blockquote><bdi>${task.promptText}</bdi></blockquote>
              </section>`
        }
        ${showDecision(routing, task)}
      </div>
      <div>
        ${showFacts(routing, task, view)}
        <section aria-labelledby="api">
          <h2 id="api">By the API</h2>
          ${showCode(getCommand(reach, `/v1/tasks/${task.id}`))}
        </section>
      </div>
    </div>`;
  return showPage({ title: titleOf(task), section: 'tasks', body, isLive: true });
}

/** The playground with what was asked for, as far as the task remembers it. */
function showAgain({ routers }: Routing, { routerId, modality, promptText = '' }: Task): Html | '' {
  const router = routers.find(routerId);
  if (router === undefined || promptText.length > promptInAddressMax) return '';
  const query = new URLSearchParams({ router: router.slug, modality, prompt: promptText }).toString();
  return html`<a class="button" href="/console/playground?${query}">Try again</a>`;
}

interface Surroundings {
  readonly reach: Reach;
  /** Whether the time of model routing stands still. */
  readonly isStill: boolean;
}

function showResult(task: Task, view: TaskAnswer, { reach, isStill }: Surroundings): Html {
  if (view.status === 'SUCCEEDED') return showOutputs(task);
  if (view.status === 'FAILED')
    return html`<div class="held">
      <p>${showTaskState(view)}</p>
      <p>${view.failure} <code>${view.failureCode}</code></p>
    </div>`;
  const waits =
    view.status === 'THROTTLED'
      ? html`<p class="quiet">${task.model} is at its limit: the task begins when another one has ended.</p>`
      : '';
  const still = html`<p class="quiet">Time stands still here: a task moves when it is advanced.</p>
    ${showCode(`curl ${reach.origin}/_emulator/advance -d '{"seconds":60}'`)}`;
  return html`<div class="card under-way">${showTaskState(view)} ${waits} ${isStill ? still : ''}</div>`;
}

function showFacts(routing: Routing, task: Task, view: TaskAnswer): Html {
  const { clock } = routing;
  const router = nameOfRouter(routing, task.routerId);
  const seconds = task.ended === null ? undefined : (task.ended.atMs - task.createdMs) / 1000;
  const facts: (readonly [name: string, value: Html | string])[] = [
    ['State', showTaskState(view)],
    ['Model', html`${task.model} <span class="quiet">${task.provider}</span>`],
    [
      'Router',
      router === '' ? 'deleted' : html`<a href="/console/routers/${task.routerId}"><bdi>${visibleOf(router)}</bdi></a>`,
    ],
    [
      'Credits',
      'cost' in view ? groupDigits(view.cost.credits) : `${groupDigits(view.estimatedCost.credits)}, estimated`,
    ],
    ['Created', html`${showAgoBy(view.createdAt, clock.now())} <span class="minor">${exactly(view.createdAt)}</span>`],
    ...(seconds === undefined ? [] : [['Took', `${groupDigits(Math.round(seconds))} s`] as const]),
    ...resolvedFacts(task.resolvedInput),
    ['Id', html`<code class="breaks">${task.id}</code>`],
  ];
  return html`<dl class="list">
    ${facts.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Why it went to this model, as the routing log has it: up to 10 000 requests back. */
function showDecision(routing: Routing, task: Task): Html {
  const record = routing.log.ofTask(task.id);
  if (record === undefined) return html``;
  return html`<section aria-labelledby="decision">
    <h2 id="decision">Why ${task.model}</h2>
    <p>${record.reason} <code>${record.reasonCode}</code></p>
    ${showFunnel(record.pipeline)}
    ${
      routing.routers.find(task.routerId) === undefined
        ? ''
        : html`<p><a href="/console/routers/${task.routerId}/log#l${record.id}">Its entry in the routing log</a></p>`
    }
  </section>`;
}
