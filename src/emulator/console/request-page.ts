/** The page of one request: what was received and what was answered. */
import { html } from 'hono/html';
import type { RequestLog } from '../request-log.ts';
import type { LoggedRequest } from '../request-record.ts';
import type { ShownBody } from '../kept-body.ts';
import type { App } from '../routes.ts';
import { notFound } from '../routing/refusal.ts';
import { exactly, showAgo } from '../../pages/ago.ts';
import { countOf, groupDigits, showCode } from '../../pages/markup.ts';
import type { Html } from '../../pages/markup.ts';
import { layOut } from './json-text.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { requestsPath, showStatus } from './request-parts.ts';

export function serveRequestPage(app: App, log: RequestLog): void {
  servePages(app, `${requestsPath}/:id`, {
    GET: ({ req }) => {
      const id = Number(req.param('id'));
      const record = log.find(id);
      if (record === undefined)
        throw notFound('the request log has no such request, or newer ones have taken its place');
      const { method, path } = record;
      const body = html`<p class="path"><a href="${requestsPath}">Requests</a></p>
        <div class="heading">
          <h1><code class="breaks">${method} ${path}</code></h1>
          <p class="links">${showNeighbour(log.find(id + 1), 'Newer')} ${showNeighbour(log.find(id - 1), 'Older')}</p>
        </div>
        ${showFacts(record)} ${showWarnings(record)}
        <div class="halves even">
          <section aria-labelledby="received">
            <h2 id="received">Received</h2>
            ${showBody(record.requestBody, 'It had no body.')}
            <h3>Headers</h3>
            ${showHeaders(record)}
          </section>
          <section aria-labelledby="answered">
            <h2 id="answered">Answered</h2>
            ${
              record.status === null
                ? html`<p class="quiet">No answer was sent, or it is still on its way.</p>`
                : showBody(record.responseBody, 'The answer had no body, or one that is not kept.')
            }
          </section>
        </div>`;
      return showPage({ title: `${method} ${path}`, section: 'requests', body, isLive: record.status === null });
    },
  });
}

function showNeighbour(record: LoggedRequest | undefined, name: string): Html | '' {
  return record === undefined ? '' : html`<a href="${requestsPath}/${record.id}">${name}</a>`;
}

function showFacts(record: LoggedRequest): Html {
  const { at, applied, counts, bytes } = record;
  const facts: (readonly [name: string, value: Html | string, more: Html | string])[] = [
    ['Answer', showStatus(record), ''],
    ['Applied', applied ? 'yes' : 'no', ''],
    [
      'Body',
      countOf(bytes, 'byte'),
      counts === null ? '' : `${countOf(counts.drivers, 'driver')}, ${countOf(counts.points, 'point')}`,
    ],
    ['Arrived', showAgo(at, Date.now()), exactly(at)],
  ];
  return html`<dl class="facts">
    ${facts.map(
      ([name, value, more]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>
            ${value}
            <p>${more}</p>
          </dd>
        </div>`,
    )}
  </dl>`;
}

function showWarnings({ warnings }: LoggedRequest): Html | '' {
  if (warnings.length === 0) return '';
  return html`<ul class="problems">
    ${warnings.map((warning) => html`<li>${warning}</li>`)}
  </ul>`;
}

function showBody(body: ShownBody | null, none: string): Html {
  if (body === null) return html`<p class="quiet">${none}</p>`;
  const { text, encoding, isCut } = body;
  const notes = [
    ...(encoding === 'base64' ? ['It is not text: this is base64.'] : []),
    ...(isCut ? [`Only the beginning is kept: ${groupDigits(text.length)} characters.`] : []),
  ];
  return html`${showCode(encoding === 'utf8' ? layOut(text) : text)}
  ${notes.map((note) => html`<p class="hint">${note}</p>`)}`;
}

function showHeaders({ headers, sha256 }: LoggedRequest): Html {
  const rows = [...Object.entries(headers), ...(sha256 === null ? [] : [['sha256 of the body', sha256] as const])];
  return html`<dl class="list headers">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd><code class="breaks">${value}</code></dd>`,
    )}
  </dl>`;
}
