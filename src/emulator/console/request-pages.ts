/** Requests received: what arrived at the service's own paths and what became of it. */
import { html } from 'hono/html';
import type { RequestLog, RequestRecord } from '../request-log.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { countOf, groupDigits, showEmpty, showMoment, showPage, showState, showTable } from './page.ts';
import type { Html } from './page.ts';

const pageRows = 100;

export function serveRequestPages(app: App, log: RequestLog): void {
  route(app, '/console/requests', {
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
            : showTable(countOf(rows.length, 'request'), head, rows.map(showRequest))
        }
        ${
          last !== undefined && older.length > rows.length
            ? html`<p><a href="/console/requests?before=${last.id}">Older requests</a></p>`
            : ''
        }`;
      return showPage({ title: 'Requests', section: 'requests', body });
    },
  });
}

const head = html`<th scope="col">Arrived (UTC)</th>
  <th scope="col">Answer</th>
  <th scope="col">Request</th>
  <th scope="col">Changed something</th>
  <th scope="col" class="number">Bytes</th>`;

function showRequest(record: RequestRecord): Html {
  const { at, method, path, headers, bytes, sha256, applied, counts } = record;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return html`<tr>
    <td>${showMoment(at)}</td>
    <td>${showStatus(record)}</td>
    <td>
      <details>
        <summary><code>${method} ${path}</code></summary>
        <pre tabindex="0" role="region" aria-label="Headers"><code>${lines.join('\n')}</code></pre>
        ${counts === null ? '' : html`<p>${countOf(counts.drivers, 'driver')}, ${countOf(counts.points, 'point')}</p>`}
        ${sha256 === null ? '' : html`<p class="quiet">sha256 of the body <code class="breaks">${sha256}</code></p>`}
      </details>
    </td>
    <td>${applied ? 'yes' : 'no'}</td>
    <td class="number">${groupDigits(bytes)}</td>
  </tr>`;
}

function showStatus({ status }: RequestRecord): Html {
  if (status === null) return showState('idle', 'none');
  if (status >= 400) return showState('bad', `${status} refused`);
  return showState('good', `${status} answered`);
}
