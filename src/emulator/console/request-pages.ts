/** The page of requests that the service received, with their answers. */
import { html } from 'hono/html';
import type { RequestLog } from '../request-log.ts';
import type { RequestRecord } from '../request-record.ts';
import type { App } from '../routes.ts';
import { countOf, groupDigits, showEmpty, showMoment, showTable } from '../../pages/markup.ts';
import { showPage } from './page.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { servePages } from './page-routes.ts';
import { showStatus } from './request-parts.ts';

const pageRows = 100;

export function serveRequestPages(app: App, log: RequestLog): void {
  servePages(app, '/console/requests', {
    GET: (context) => {
      const before = Number(context.req.query('before') ?? Infinity);
      const all = log.all();
      const older = all.filter(({ id }) => !(id >= before));
      const rows = older.slice(0, pageRows);
      const last = rows.at(-1);
      const body = html`<h1>Requests received</h1>
        <p class="lead">
          The newest thousand requests to the service's own paths, newest first. What may be a secret is shown as ***.
        </p>
        ${
          all.length === 0
            ? showEmpty(
                'Nothing has arrived yet. Any request fills this page.',
                `curl ${new URL(context.req.url).origin}/v1/organization`,
              )
            : showTable({
                caption: countOf(rows.length, 'request'),
                columns,
                rows: rows.map(showRequest),
                onPhone: 'cards',
              })
        }
        ${
          last !== undefined && older.length > rows.length
            ? html`<p><a href="/console/requests?before=${last.id}">Older requests</a></p>`
            : ''
        }`;
      return showPage({ title: 'Requests', section: 'requests', body, isLive: true });
    },
  });
}

const columns: readonly Column[] = [
  { name: 'Arrived (UTC)' },
  { name: 'Answer', kind: 'word' },
  { name: 'Request', kind: 'prose' },
  { name: 'Applied', kind: 'word' },
  { name: 'Bytes', kind: 'number' },
];

function showRequest(record: RequestRecord): (Html | string)[] {
  const { at, method, path, headers, bytes, sha256, applied, counts } = record;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const request = html`<details>
    <summary><code>${method} ${path}</code></summary>
    <pre><code>${lines.join('\n')}</code></pre>
    ${counts === null ? '' : html`<p>${countOf(counts.drivers, 'driver')}, ${countOf(counts.points, 'point')}</p>`}
    ${sha256 === null ? '' : html`<p class="quiet">sha256 of the body <code class="breaks">${sha256}</code></p>`}
  </details>`;
  return [showMoment(at), showStatus(record), request, applied ? 'yes' : 'no', groupDigits(bytes)];
}
