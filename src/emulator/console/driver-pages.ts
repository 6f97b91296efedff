/** Pages of drivers: their tree, the chosen driver's chart and table, and the changes of the last push. */
import { html } from 'hono/html';
import type { Driver } from '../../contract/driver-push.ts';
import type { LastPush } from '../drivers/driver-routes.ts';
import type { RequestLog } from '../request-log.ts';
import { originOf } from '../routes.ts';
import type { App } from '../routes.ts';
import { pushCommand } from './connect.ts';
import type { Reach } from './connect.ts';
import { firstOfTree, showTree } from './driver-tree.ts';
import type { Placed } from './driver-tree.ts';
import { monthOf, pointRows, showEarlierPush, showLastPush } from './last-push.ts';
import type { PointRow } from './last-push.ts';
import { countOf, groupDecimal, groupDigits, showEmpty, showTable, visibleOf } from '../../pages/markup.ts';
import { type ChartPoint, showChart } from '../../pages/chart.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { showYears } from '../../pages/years.ts';
import { showPage } from './page.ts';
import { servePages } from './page-routes.ts';

const pointsShownMax = 1_200;

export interface DriversShown {
  readonly log: RequestLog;
  readonly key: Reach['key'];
  /** By id, without points. The same list until one of them changes. */
  driverPaths(): readonly Placed[];
  driver(id: string): Driver | undefined;
  /** The last push since the emulator was started. */
  lastPush(): LastPush | undefined;
}

export function serveDriverPages(app: App, shown: DriversShown): void {
  servePages(app, '/console/drivers', {
    GET: (context) => {
      const { req } = context;
      const drivers = shown.driverPaths();
      const last = shown.lastPush();
      const lastPush = last === undefined ? showEarlier(shown.log) : showLastPush(last, heldOf(last, drivers));
      // The status page of the agent says `driver`.
      const asked = req.query('id') ?? req.query('driver');
      if (drivers.length === 0 && asked === undefined) {
        return showNone(lastPush, { origin: originOf(context), key: shown.key });
      }
      const search = req.query('find') ?? '';
      const wanted = search.toLowerCase();
      const isFound = ({ id, path }: Placed): boolean => `${id}\n${path.join('\n')}`.toLowerCase().includes(wanted);
      const found = wanted === '' ? drivers : drivers.filter(isFound);
      const id = asked ?? firstOfTree(found)?.id;
      const chosen = id === undefined ? undefined : shown.driver(id);
      const body = html`<h1>Drivers</h1>
        ${lastPush}
        <div class="split">
          ${showIndex(found, { search, chosen: chosen?.id, total: drivers.length })}
          <section id="driver" aria-label="Chosen driver" tabindex="-1">
            ${chosen === undefined ? showMissing(asked) : showDriver(chosen, last)}
          </section>
        </div>`;
      const title = chosen === undefined ? 'Drivers' : nameOf(chosen);
      return showPage({
        title,
        section: 'drivers',
        body,
        isLive: true,
        status: asked !== undefined && chosen === undefined ? 404 : 200,
      });
    },
  });
}

/** Which of the drivers that the push changed are held: a set of all ids takes longer to make than a page. */
function heldOf({ before }: LastPush, drivers: readonly Placed[]): (id: string) => boolean {
  const ids = new Set(drivers.filter(({ id }) => before.has(id)).map(({ id }) => id));
  return (id) => ids.has(id);
}

function showEarlier(log: RequestLog): Html {
  const record = log.records().find(({ applied, counts }) => applied && counts !== null);
  return record === undefined ? html`` : showEarlierPush(record);
}

function nameOf({ id, path }: Placed): string {
  return visibleOf(path.at(-1) ?? '', id);
}

function showMissing(id: string | undefined): Html {
  if (id === undefined) return html`<p class="lead">No driver is found.</p>`;
  return html`<p class="lead">The service holds no driver <code>${id}</code>.</p>`;
}

function showNone(lastPush: Html, { origin, key }: Reach): Response {
  const body = html`<h1>Drivers</h1>
    ${lastPush}
    ${showEmpty(
      'The service holds no drivers. A push fills this page: from driver-sync, with this address as its destination, or from the command line.',
      pushCommand({ origin, key }),
    )}`;
  return showPage({ title: 'Drivers', section: 'drivers', body, isLive: true });
}

interface Index {
  readonly search: string;
  readonly chosen: string | undefined;
  readonly total: number;
}

function showIndex(found: readonly Placed[], { search, chosen, total }: Index): Html {
  const count =
    search === '' ? countOf(total, 'driver') : `${groupDigits(found.length)} of ${countOf(total, 'driver')}`;
  return html`<nav class="tree" aria-label="Drivers by path">
    <form action="/console/drivers" role="search">
      <label for="find">Search drivers</label>
      <div class="row">
        <input id="find" name="find" type="search" value="${search}" autocomplete="off" />
        <button>Search</button>
      </div>
    </form>
    <p class="quiet">${count} ${search === '' ? '' : html`<a href="/console/drivers">Show all</a>`}</p>
    ${showTree(found, { chosen, search })}
  </nav>`;
}

const pointColumns: readonly Column[] = [
  { name: 'Month', kind: 'row' },
  { name: 'Value', kind: 'number' },
  { name: 'Time (UNIX s)', kind: 'number', isMinor: true },
  { name: 'By the last push', kind: 'word' },
];

function showDriver(driver: Driver, last: LastPush | undefined): Html {
  const { id, path, timeSeries } = driver;
  const before = last?.before.get(id);
  const isAdded = last?.before.has(id) === true && before === undefined;
  const rows = pointRows(timeSeries, isAdded ? [] : before?.timeSeries);
  const shown = rows.slice(0, pointsShownMax);
  const hasMoved = before !== undefined && JSON.stringify(before.path) !== JSON.stringify(path);
  return html`<p class="quiet path"><bdi>${path.join(' / ')}</bdi></p>
    ${
      hasMoved
        ? html`<p class="quiet path">
            Before the last push: <del><bdi>${before.path.join(' / ')}</bdi></del>
          </p>`
        : ''
    }
    <h2><bdi>${nameOf(driver)}</bdi></h2>
    <p class="quiet">
      id <code><bdi>${id}</bdi></code
      >, ${countOf(timeSeries.length, 'point')}
    </p>
    ${
      timeSeries.length === 0
        ? html`<p>This driver has no points. A push with elements in its <code>timeSeries</code> brings some.</p>`
        : showPoints(nameOf(driver), isAdded ? rows.map((row) => ({ ...row, was: undefined })) : rows)
    }
    ${
      rows.length === 0
        ? ''
        : html`<details>
            <summary>
              ${rows.length === 1 ? 'The time of its point' : `The times of its ${countOf(rows.length, 'point')}, newest first`}
            </summary>
            ${rows.length > shown.length ? html`<p class="quiet">The newest ${groupDigits(shown.length)} are shown.</p>` : ''}
            ${showTable({
              caption: 'Points, newest first',
              columns: pointColumns,
              rows: shown.map(showPoint),
              onPhone: 'columns',
            })}
          </details>`
    }`;
}

/** The chart and the years, of the points that have a month and are held. */
function showPoints(name: string, rows: readonly PointRow[]): Html {
  const points = rows
    .flatMap(({ time, value, isGone, was }): ChartPoint[] => {
      const month = monthOf(time);
      return month === undefined || isGone ? [] : [{ month, value, mark: was }];
    })
    .reverse();
  return html`${showChart({ label: `The points of ${name} by month`, points, markMeans: 'changed by the last push' })}
  ${showYears('Points by year and month', points)}`;
}

function showPoint({ time, value, isGone, change }: PointRow): (Html | string)[] {
  const month = monthOf(time);
  const shown =
    month === undefined || isGone
      ? value
      : html`<data value="${value}" data-time="${time}" data-month="${month}">${groupDecimal(value)}</data>`;
  return [month ?? '–', isGone ? html`<del>${value}</del>` : shown, time, change];
}
