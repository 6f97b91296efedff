/** The routing log of a router. */
import { html } from 'hono/html';
import type { RoutedRequest } from '../../contract/routing-resources.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import { showAgoBy } from '../../pages/ago.ts';
import { countOf, showEmpty, showState, showTable, visibleOf } from '../../pages/markup.ts';
import { generateCommand } from './connect.ts';
import type { RoutingShown } from './connect.ts';
import { showPage } from './page.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';
import { showFunnel } from './pipeline-view.ts';
import { routersPath } from './router-list.ts';
import { taskLink } from './task-parts.ts';

export function serveLogPage(app: App, { routing, key }: RoutingShown): void {
  const { routers, log } = routing;
  servePages(app, '/console/routers/:id/log', {
    GET: (context) => {
      const { req } = context;
      const { id, name, slug } = routers.get(req.param('id') ?? '');
      const { data, nextCursor } = pageOf(log.ofRouter(id), `log of ${id}`, { cursor: req.query('cursor') });
      const shownName = visibleOf(name, slug);
      const reach = { origin: originOf(context), key };
      const example = generateCommand(reach, 'image', {
        configId: slug,
        input: { promptText: 'a lighthouse at dusk' },
      });
      const rows = data.map(({ record }) => showRecord(record, routing));
      const rowKeys = data.map(({ id: request }) => `l${request}`);
      const body = html`<p class="path">
          <a href="${routersPath}">Routers</a> / <a href="${routersPath}/${id}"><bdi>${shownName}</bdi></a>
        </p>
        <h1>Routing log</h1>
        <p class="lead">What became of each request that named this router, newest first. Dry runs are not logged.</p>
        ${
          data.length === 0
            ? showEmpty('No request has named this router yet.', example)
            : showTable({ caption: countOf(data.length, 'request'), columns, rows, rowKeys, onPhone: 'cards' })
        }
        ${nextCursor === null ? '' : html`<p><a href="?cursor=${nextCursor}">Older requests</a></p>`}`;
      return showPage({ title: `Log of ${shownName}`, section: 'routers', body, isLive: true });
    },
  });
}

const columns: readonly Column[] = [
  { name: 'Request', kind: 'row' },
  { name: 'Outcome', kind: 'word' },
  { name: 'Model', kind: 'word' },
  { name: 'Credits', kind: 'number' },
  { name: 'Why', kind: 'prose' },
];

function showRecord(record: RoutedRequest, { tasks, clock }: Routing): (Html | string | number)[] {
  const { createdAt, status, model, estimatedCredits, reason, reasonCode, taskId, pipeline } = record;
  const why = html`${reason ?? ''} ${reasonCode === null ? '' : html`<code>${reasonCode}</code>`}
  ${
    pipeline.length === 0
      ? ''
      : html`<details>
          <summary>Pipeline</summary>
          ${showFunnel(pipeline)}
        </details>`
  }`;
  const task = taskId === null ? undefined : tasks.get(taskId);
  const gone = taskId === null ? 'no task' : 'its task was deleted';
  return [
    html`${task === undefined ? html`<span class="quiet">${gone}</span>` : taskLink(task)}
      <span class="minor">${showAgoBy(createdAt, clock.now())}</span>`,
    showState(status === 'routed' ? 'good' : 'bad', status.replaceAll('_', ' ')),
    model ?? '–',
    estimatedCredits ?? '–',
    why,
  ];
}
