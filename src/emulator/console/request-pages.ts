/** The list of requests that the service received. */
import { html } from 'hono/html';
import type { RequestLog } from '../request-log.ts';
import type { RequestRecord } from '../request-record.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { showAgo } from '../../pages/ago.ts';
import { countOf, groupDigits, showEmpty, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { getCommand } from './connect.ts';
import type { Reach } from './connect.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';
import { serveRequestPage } from './request-page.ts';
import { requestLink, requestsPath, showStatus } from './request-parts.ts';
import { showChoice } from './choice.ts';

const pageRows = 100;

/** Which requests a list shows: by how they were answered, and by a text in them. */
const answers = {
  all: () => true,
  answered: ({ status }: RequestRecord) => status !== null && status < 400,
  refused: ({ status }: RequestRecord) => status !== null && status >= 400,
  changes: ({ applied }: RequestRecord) => applied,
} as const;
type Answer = keyof typeof answers;

export interface RequestsShown {
  readonly log: RequestLog;
  readonly key: Reach['key'];
}

export function serveRequestPages(app: App, { log, key }: RequestsShown): void {
  servePages(app, requestsPath, {
    GET: (context) => {
      const { req } = context;
      const answer = (Object.keys(answers) as Answer[]).find((name) => name === req.query('answer')) ?? 'all';
      const find = req.query('find')?.trim() ?? '';
      const before = Number(req.query('before') ?? Infinity);
      const isPaused = req.query('tail') === 'off';
      const all = log.records();
      const found = all.filter((record) => answers[answer](record) && textOf(record).includes(find.toLowerCase()));
      const older = found.filter(({ id }) => !(id >= before));
      const rows = older.slice(0, pageRows);
      const last = rows.at(-1);
      const addressOf = (more: Record<string, string>): string =>
        `${requestsPath}?${new URLSearchParams({ answer, find, ...more }).toString()}`;
      const body = html`<div class="heading">
          <h1>Requests</h1>
          ${
            isPaused
              ? html`<a class="button" href="${addressOf({})}">Go on</a>`
              : html`<span class="only-live tail"
                  ><span class="state busy"><span class="shape" aria-hidden="true">◉</span>live</span>
                  <a class="button" href="${addressOf({ tail: 'off' })}">Pause</a></span
                >`
          }
        </div>
        <p class="lead">
          The newest thousand requests to the service's own paths, newest first. What may be a secret is shown as ***.
        </p>
        ${
          all.length === 0
            ? showEmpty(
                'Nothing has arrived yet. Any request fills this page.',
                getCommand({ origin: originOf(context), key }, '/v1/organization'),
              )
            : html`${showChoice({
                path: requestsPath,
                name: 'answer',
                label: 'Answer',
                chosen: answer,
                options: (Object.keys(answers) as Answer[]).map((name) => [name, all.filter(answers[name]).length]),
                find,
                hint: 'Path, method, status or header',
              })}
              ${showRequests(rows)}`
        }
        ${
          last !== undefined && older.length > rows.length
            ? html`<p><a href="${addressOf({ before: String(last.id) })}">Older requests</a></p>`
            : ''
        }`;
      return showPage({ title: 'Requests', section: 'requests', body, isLive: !isPaused });
    },
  });
  serveRequestPage(app, log);
}

function textOf({ method, path, status, headers }: RequestRecord): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path}\n${status}\n${lines.join('\n')}`.toLowerCase();
}

const columns: readonly Column[] = [
  { name: 'Request', kind: 'row' },
  { name: 'Answer', kind: 'word' },
  { name: 'Applied', kind: 'word', isMinor: true },
  { name: 'Bytes', kind: 'number', isMinor: true },
  { name: 'Arrived', kind: 'number' },
];

function showRequests(records: readonly RequestRecord[]): Html {
  if (records.length === 0)
    return html`<p class="quiet">No request is like that. <a href="${requestsPath}">Show all</a></p>`;
  const nowMs = Date.now();
  return showTable({
    caption: countOf(records.length, 'request'),
    columns,
    rows: records.map((record) => [
      requestLink(record),
      showStatus(record),
      record.applied ? 'yes' : '',
      groupDigits(record.bytes),
      showAgo(record.at, nowMs),
    ]),
    rowKeys: records.map(({ id }) => `r${id}`),
    onPhone: 'lines',
  });
}
