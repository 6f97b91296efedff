/** Drivers: a tree, the chosen one's chart and table, and what the last push changed. */
import { html } from 'hono/html';
import type { Driver, Point } from '../../contract/driver-push.ts';
import { updatePath } from '../../contract/driver-push.ts';
import { route } from '../routes.ts';
import type { App } from '../routes.ts';
import { showTree } from './driver-tree.ts';
import { changedDrivers, changedPoints, PushWatch } from './last-push.ts';
import type { Change, LastPush, PointChange } from './last-push.ts';
import { countOf, showEmpty, showMoment, showPage, showState, showTable } from './page.ts';
import type { Html, Tone } from './page.ts';
import type { Shown } from './room.ts';

/** A tree that is longer is searched, not read. */
const driversShownMax = 500;
const pointsShownMax = 1_200;
const changesShownMax = 50;

export function serveDriverPages(app: App, shown: Shown): void {
  const pushes = new PushWatch(() => shown.drivers(), shown.log);
  pushes.watch(app);
  route(app, '/console/drivers', {
    GET: (context) => {
      const drivers = shown.drivers();
      const last = pushes.last();
      if (drivers.length === 0) return showNone(last, new URL(context.req.url).origin);
      const search = context.req.query('find') ?? '';
      const wanted = search.toLowerCase();
      const found = drivers.filter(({ id, path }) => `${id}\n${path.join('\n')}`.toLowerCase().includes(wanted));
      const asked = context.req.query('id');
      const chosen = asked === undefined ? found[0] : drivers.find(({ id }) => id === asked);
      const body = html`<h1>Drivers</h1>
        ${showLastPush(last, drivers)}
        <div class="split">
          ${showIndex(found, { search, chosen, total: drivers.length })}
          <section id="driver" aria-label="Chosen driver" tabindex="-1">
            ${
              chosen === undefined
                ? html`<p class="lead">
                    ${asked === undefined ? 'No driver is found.' : 'The service holds no such driver.'}
                  </p>`
                : showDriver(chosen, last)
            }
          </section>
        </div>`;
      return showPage({ title: chosen?.path.at(-1) ?? 'Drivers', section: 'drivers', body });
    },
  });
}

function showNone(last: LastPush | undefined, origin: string): Response {
  const example = `curl ${origin}${updatePath} -H 'content-type: application/json' \\
  -d '{"extDrivers":[{"id":"sales","path":["Sales"],"timeSeries":[{"time":"1772323200","value":"1250.50"}]}]}'`;
  const body = html`<h1>Drivers</h1>
    ${showLastPush(last, [])}
    ${showEmpty(
      'The service holds no drivers. A push fills this page: from driver-sync, with this address as its destination, or from the command line.',
      example,
    )}`;
  return showPage({ title: 'Drivers', section: 'drivers', body });
}

interface Index {
  readonly search: string;
  readonly chosen: Driver | undefined;
  readonly total: number;
}

function showIndex(found: readonly Driver[], { search, chosen, total }: Index): Html {
  const shown = found.slice(0, driversShownMax);
  const some = `${countOf(shown.length, 'driver')} of ${countOf(found.length, 'driver')} shown: search for the others`;
  return html`<nav class="tree" aria-label="Drivers by path">
    <form action="/console/drivers" role="search">
      <label for="find">Search drivers</label>
      <div class="row">
        <input id="find" name="find" type="search" value="${search}" autocomplete="off" />
        <button>Search</button>
      </div>
    </form>
    <p class="quiet">${shown.length < found.length ? some : `${countOf(found.length, 'driver')} of ${total}`}</p>
    ${showTree(shown, { chosen: chosen?.id, search })}
  </nav>`;
}

const tones: Readonly<Record<Change, Tone>> = { added: 'good', changed: 'busy', removed: 'bad' };

function showLastPush(last: LastPush | undefined, drivers: readonly Driver[]): Html {
  if (last === undefined) return html``;
  const { record, before } = last;
  const { counts } = record;
  const head = html`<h2>Last push</h2>
    <p class="quiet">
      ${showMoment(record.at)} UTC, with ${countOf(counts?.drivers ?? 0, 'driver')} and
      ${countOf(counts?.points ?? 0, 'point')}
    </p>`;
  if (typeof before === 'string') {
    return html`<section class="card" aria-label="Last push">
      ${head}
      <p>What it changed is not known: ${before}.</p>
    </section>`;
  }
  const changes = changedDrivers(before, drivers);
  const kinds = (['added', 'changed', 'removed'] as const).filter((change) => changes[change].length > 0);
  const lists = kinds.map((change) => {
    const ids = changes[change];
    const items = ids
      .slice(0, changesShownMax)
      .map(
        (id) =>
          html`<li>
            ${
              change === 'removed'
                ? html`<bdi>${id}</bdi>`
                : html`<a href="/console/drivers?id=${encodeURIComponent(id)}"><bdi>${id}</bdi></a>`
            }
          </li>`,
      );
    const more = ids.length > changesShownMax ? html`<li>and ${ids.length - changesShownMax} more</li>` : '';
    return html`<details>
      <summary>${showState(tones[change], `${countOf(ids.length, 'driver')} ${change}`)}</summary>
      <ul class="plain">
        ${items}${more}
      </ul>
    </details>`;
  });
  return html`<section class="card" aria-label="Last push">
    ${head} ${kinds.length === 0 ? html`<p>${showState('idle', 'It changed nothing')}</p>` : lists}
  </section>`;
}

function showDriver({ id, path, timeSeries }: Driver, last: LastPush | undefined): Html {
  const changes = pointChangesOf(id, timeSeries, last);
  const newest = timeSeries.slice(-pointsShownMax);
  const lost = [...changes].filter(([, { change }]) => change === 'removed').map(([time]) => ({ time, value: '' }));
  const rows = [...newest, ...lost]
    .sort((first, second) => (BigInt(first.time) < BigInt(second.time) ? 1 : -1))
    .map((point) => showPoint(point, changes.get(point.time)));
  return html`<p class="quiet path"><bdi>${path.join(' / ')}</bdi></p>
    <h2><bdi>${path.at(-1) ?? id}</bdi></h2>
    <p class="quiet">
      id <code><bdi>${id}</bdi></code
      >, ${countOf(timeSeries.length, 'point')}
    </p>
    ${
      timeSeries.length === 0
        ? html`<p>This driver has no points. A push with elements in its <code>timeSeries</code> brings some.</p>`
        : html`<div id="chart" hidden></div>
            <p id="reading" class="quiet" hidden></p>`
    }
    ${timeSeries.length > newest.length ? html`<p class="quiet">The newest ${newest.length} points are shown.</p>` : ''}
    ${
      rows.length === 0
        ? ''
        : showTable(
            'Points, newest first',
            html`<th scope="col">Month</th>
              <th scope="col" class="number">Value</th>
              <th scope="col" class="number wide">Time (UNIX s)</th>
              <th scope="col">By the last push</th>`,
            rows,
          )
    }`;
}

function pointChangesOf(
  id: string,
  points: readonly Point[],
  last: LastPush | undefined,
): ReadonlyMap<string, PointChange> {
  if (last === undefined || typeof last.before === 'string') return new Map();
  return changedPoints(last.before.get(id)?.timeSeries ?? [], points);
}

function showPoint({ time, value }: Point, change: PointChange | undefined): Html {
  // The chart is drawn from these rows, and a value that is gone is no part of it.
  const isGone = change?.change === 'removed';
  const word = change?.change === 'changed' ? `changed from ${change.before}` : change?.change;
  return html`<tr ${isGone ? '' : html`data-time="${time}" data-value="${value}"`}>
    <th scope="row">${monthOf(time)}</th>
    <td class="number">${isGone ? html`<del>${change.before}</del>` : value}</td>
    <td class="number quiet wide">${time}</td>
    <td>${change === undefined || word === undefined ? '' : showState(tones[change.change], word)}</td>
  </tr>`;
}

/** `2026-03`, UTC; a time beyond the calendar of dates has no month that could be written. */
function monthOf(time: string): string {
  const moment = new Date(Number(time) * 1_000);
  return Number.isNaN(moment.getTime()) ? '–' : moment.toISOString().replace(/-\d\dT.*$/, '');
}
