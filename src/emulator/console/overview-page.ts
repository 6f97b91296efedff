/** The first page: what the emulator holds, what is under way, and how to reach it. */
import { html } from 'hono/html';
import { updatePath } from '../../contract/update-path.ts';
import type { LastPush } from '../drivers/driver-routes.ts';
import type { RequestRecord } from '../request-record.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import type { Routing } from '../routing/routing.ts';
import type { Task } from '../routing/tasks.ts';
import { showAgo, showAgoBy } from '../../pages/ago.ts';
import { countOf, groupDigits } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { showConnect } from './connect.ts';
import type { DriversShown } from './driver-pages.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { requestLink, showStatus } from './request-parts.ts';
import { showTaskState, taskLink, tasksPath } from './task-parts.ts';
import { serveTime, showTime } from './time-panel.ts';

export interface OverviewShown extends DriversShown {
  driverCount(): number;
  readonly routing: Routing;
}

const newestShown = 5;

export function serveOverview(app: App, shown: OverviewShown): void {
  servePages(app, '/console', {
    GET: (context) => {
      const origin = originOf(context);
      const { routing, key, log } = shown;
      routing.tasks.settle();
      const tasks = [...routing.tasks.all()].reverse();
      const slug = [...routing.routers.all()].at(-1)?.slug;
      const body = html`<h1>Overview</h1>
        ${showFacts(shown, tasks)} ${showTime(routing)}
        <div class="halves">
          ${showConnect({ origin, key }, slug)}
          <div>${showTasks(tasks, routing, origin)} ${showRequests(log.records())}</div>
        </div>`;
      return showPage({ title: 'Overview', section: '', body, isLive: true });
    },
  });
  serveTime(app, shown.routing);
}

function showFacts(shown: OverviewShown, tasks: readonly Task[]): Html {
  const { routing, log } = shown;
  const running = tasks.filter(({ ended }) => ended === null);
  const waiting = running.filter(({ admittedMs }) => admittedMs === null).length;
  const routers = [...routing.routers.all()];
  const last = shown.lastPush();
  const pushed = last?.record ?? log.records().find(({ applied, counts }) => applied && counts !== null);
  return html`<dl class="facts five">
    ${showFact('Balance', `${groupDigits(routing.account.credits)} credits`, showSpent(routing))}
    ${showFact(
      'Last push',
      pushed === undefined ? 'none yet' : showAgo(pushed.at, Date.now()),
      last === undefined ? '' : changesOf(last),
    )}
    ${showFact(
      'Drivers held',
      html`<a href="/console/drivers">${countOf(shown.driverCount(), 'driver')}</a>`,
      pushed === undefined ? '' : `${countOf(pushed.counts?.points ?? 0, 'point')} in the last push`,
    )}
    ${showFact(
      'Tasks under way',
      html`<a href="${tasksPath}">${running.length === 0 ? 'none' : countOf(running.length, 'task')}</a>`,
      waiting === 0 ? `${groupDigits(tasks.length)} in all` : `${groupDigits(waiting)} wait for room`,
    )}
    ${showFact(
      'Routers',
      html`<a href="/console/routers">${routers.length === 0 ? 'none yet' : countOf(routers.length, 'router')}</a>`,
      countOf(routing.catalog.models.length, 'model'),
    )}
  </dl>`;
}

function showFact(name: string, value: Html | string, more: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${value}
      <p>${more}</p>
    </dd>
  </div>`;
}

/** Credits used today, by the clock of model routing. */
function showSpent({ account, clock }: Routing): string {
  const today = account.usage({}, clock.now()).results.at(-1)?.usedCredits ?? [];
  const spent = today.reduce((sum, { amount }) => sum + amount, 0);
  return `${groupDigits(spent)} used today`;
}

function changesOf({ added, changed, removed }: LastPush): string {
  const kinds = [
    [added, 'added'],
    [changed, 'changed'],
    [removed, 'removed'],
  ] as const;
  const shown = kinds.filter(([count]) => count > 0).map(([count, kind]) => `${groupDigits(count)} ${kind}`);
  return shown.length === 0 ? 'it changed nothing' : `drivers: ${shown.join(', ')}`;
}

function showTasks(tasks: readonly Task[], routing: Routing, origin: string): Html {
  const unfinished = tasks.filter(({ ended }) => ended === null);
  const shown = [...unfinished, ...tasks.filter(({ ended }) => ended !== null)].slice(0, newestShown);
  const nowMs = routing.clock.now();
  return html`<section aria-labelledby="tasks" ${unfinished.length > 0 ? 'data-soon' : ''}>
    <h2 id="tasks">Tasks</h2>
    ${
      shown.length === 0
        ? html`<p class="quiet">
            None yet. A <a href="/console/playground">playground</a> request that is not a dry run makes one.
          </p>`
        : html`<ul class="rows">
            ${shown.map((task) => {
              const view = routing.viewTask(task, origin);
              return html`<li data-key="${task.id}">
                <span class="main">${taskLink(task)}</span>
                <span class="quiet">${task.model}, ${showAgoBy(view.createdAt, nowMs)}</span>
                <span class="end">${showTaskState(view)}</span>
              </li>`;
            })}
          </ul>`
    }
  </section>`;
}

function showRequests(records: readonly RequestRecord[]): Html {
  const shown = records.slice(0, newestShown);
  return html`<section aria-labelledby="requests">
    <h2 id="requests">Requests</h2>
    ${
      shown.length === 0
        ? html`<p class="quiet">Nothing has arrived yet. <code>${updatePath}</code> takes drivers.</p>`
        : html`<ul class="rows">
            ${shown.map(
              (record) =>
                html`<li data-key="${record.id}">
                  <span class="main">${requestLink(record)}</span>
                  <span class="quiet">${showAgo(record.at, Date.now())}</span>
                  <span class="end">${showStatus(record)}</span>
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}
