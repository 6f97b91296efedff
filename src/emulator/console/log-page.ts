/** The routing log of a router. */
import { html } from 'hono/html';
import type { RoutedRequest } from '../../contract/routing-resources.ts';
import type { App } from '../routes.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import { countOf, showEmpty, showMoment, showState, showTable, visibleOf } from '../../pages/markup.ts';
import { showPage } from './page.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';
import { showFunnel } from './pipeline-view.ts';

export function serveLogPage(app: App, { routers, log }: Routing): void {
  servePages(app, '/console/routers/:id/log', {
    GET: ({ req }) => {
      const { id, name, slug } = routers.get(req.param('id') ?? '');
      const { data, nextCursor } = pageOf(log.ofRouter(id), `log of ${id}`, { cursor: req.query('cursor') });
      const shownName = visibleOf(name, slug);
      const example = `curl ${new URL(req.url).origin}/v1/generate/image -H 'content-type: application/json' \\
  -d '{"configId":"${slug}","input":{"promptText":"a lighthouse at dusk"}}'`;
      const rows = data.map(({ record }) => showRecord(record));
      const rowKeys = data.map(({ id: request }) => `l${request}`);
      const body = html`<h1>Routing log of <bdi>${shownName}</bdi></h1>
        <p class="lead">
          What became of each request that named this router, newest first. Dry runs are not logged.
          <a href="/console/routers/${id}">Edit the router</a>
        </p>
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
  { name: 'Arrived (UTC)' },
  { name: 'Outcome', kind: 'word' },
  { name: 'Model', kind: 'word' },
  { name: 'Credits', kind: 'number' },
  { name: 'Why', kind: 'prose' },
];

function showRecord(record: RoutedRequest): (Html | string | number)[] {
  const { createdAt, status, model, estimatedCredits, reason, reasonCode, taskId, pipeline } = record;
  const why = html`${reason ?? ''} ${reasonCode === null ? '' : html`<code>${reasonCode}</code>`}
  ${
    taskId === null
      ? ''
      : html`<p class="minor">
          Task <a href="/console/tasks/${taskId}"><code>${taskId}</code></a>
        </p>`
  }
  ${
    pipeline.length === 0
      ? ''
      : html`<details>
          <summary>Pipeline</summary>
          ${showFunnel(pipeline)}
        </details>`
  }`;
  return [
    showMoment(createdAt),
    showState(status === 'routed' ? 'good' : 'bad', status.replaceAll('_', ' ')),
    model ?? '–',
    estimatedCredits ?? '–',
    why,
  ];
}
