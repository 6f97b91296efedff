/** The drivers by name, and one of them: its points, what they were before, and where each came from. */
import { html } from 'hono/html';
import { type DriverHistory, driverHistory } from '../app/ask/driver-history.ts';
import { type DriverList, type DriverSearch, driverList } from '../app/ask/driver-list.ts';
import type { ExplainedPoint, Explanation } from '../app/ask/explain.ts';
import { type ChartPoint, showChart } from '../pages/chart.ts';
import { fitting } from '../pages/fitting.ts';
import {
  type Html,
  countOf,
  groupDecimal,
  showEmpty,
  showTable,
  showValue,
  visibleOf,
  showCode,
} from '../pages/markup.ts';
import { showYears } from '../pages/years.ts';
import type { Answer, Ask } from './answer.ts';
import { shellWord } from '../core/text.ts';
import { driverLink, nowOf, pageAnswer, showWhen, sourceLink } from './frame.ts';
import type { Watched } from './watched.ts';

const driversShown = 100;
const driversBytesMax = 42_000;
const originsBytesMax = 9000;

/** The drivers that an address asks for. */
export function askedDrivers(query: URLSearchParams, limit: number): DriverSearch {
  const [from, id] = [query.get('from'), query.get('after')];
  return {
    find: query.get('find') ?? '',
    source: query.get('source') ?? undefined,
    limit,
    after: from === null || id === null ? undefined : { source: from, id },
  };
}

export async function driversPage(agent: Watched, { query }: Ask): Promise<Answer> {
  const asked = askedDrivers(query, driversShown);
  const list = await agent.open((deps) => driverList(deps, asked));
  const body = html`<h1>Drivers</h1>
    ${
      asked.source === undefined
        ? ''
        : html`<p>Those of ${sourceLink(asked.source)}. <a href="/drivers">Show all</a></p>`
    }
    <form class="search" action="/drivers" role="search">
      ${asked.source === undefined ? '' : html`<input type="hidden" name="source" value="${asked.source}" />`}
      <label for="find">Search by id or path</label>
      <input id="find" name="find" type="search" value="${asked.find}" autocomplete="off" />
      <button>Search</button>
    </form>
    ${showList(list, asked)}`;
  return pageAnswer({ title: 'Drivers', section: '/drivers', body });
}

function showList({ drivers, next }: DriverList, { find, source }: DriverSearch): Html {
  if (drivers.length === 0) {
    if (find !== '') return html`<p>No driver has that in its id or path. <a href="/drivers">Show all</a></p>`;
    return showEmpty(
      'No driver was accepted yet. The first read of a source that is accepted fills this page.',
      'driver-sync check',
    );
  }
  const kept = { ...(find === '' ? {} : { find }), ...(source === undefined ? {} : { source }) };
  const all = drivers.map(({ id, path, source: from }) => [
    driverLink(id, visibleOf(path.join(' / '), id)),
    html`<code><bdi>${id}</bdi></code>`,
    sourceLink(from),
  ]);
  const rows = fitting(all, driversBytesMax);
  const last = rows.length < all.length ? drivers[rows.length - 1] : next;
  const further = last && new URLSearchParams({ ...kept, from: last.source, after: last.id });
  return html`${showTable({
    caption: 'Drivers',
    onPhone: 'cards',
    columns: [
      { name: 'Path', kind: 'row' },
      { name: 'Id', kind: 'word' },
      { name: 'Source', kind: 'word' },
    ],
    rows,
  })}
  ${further === undefined ? '' : html`<p><a href="/drivers?${further.toString()}">More drivers</a></p>`}`;
}

export async function driverPage(agent: Watched, { query }: Ask): Promise<Answer> {
  const found = await agent.open((deps) => driverHistory(deps, query.get('id') ?? ''));
  const { driver, path, source, rule, points, past } = found;
  const name = visibleOf(path.at(-1) ?? '', driver);
  const marked = markedPoints(found);
  const last = past[0];
  const body = html`<p class="path"><a href="/drivers">Drivers</a></p>
    <h1><bdi>${name}</bdi></h1>
    ${path.length < 2 ? '' : html`<p class="quiet path"><bdi>${path.join(' / ')}</bdi></p>`}
    <p class="quiet">
      id <code><bdi>${driver}</bdi></code
      >, ${countOf(points.length, 'point')} of ${sourceLink(source)}, collapsed by ${rule}
    </p>
    ${showChart({
      label: `The points of ${name} by month`,
      points: marked,
      past: past.map((series) => series.points),
      markMeans: last === undefined ? '' : `not so in push ${last.push}`,
      pastMeans: past.length === 1 ? 'as it was pushed before' : `as it was in ${past.length} earlier snapshots`,
    })}
    ${last === undefined ? '' : showRestated(found, agent)} ${showYears('Points by year and month', marked)}
    ${showOrigins(found)}`;
  return pageAnswer({ title: name, section: '/drivers', body });
}

/** Points that were other ones in the newest snapshot that differs. */
function markedPoints({ points, past }: DriverHistory): readonly ChartPoint[] {
  const before = past[0] && new Map(past[0].points.map(({ month, value }) => [month, value]));
  return points.map(({ month, value }) => {
    const was = before?.get(month);
    if (before === undefined || was === value) return { month, value };
    return { month, value, mark: was === undefined ? 'new' : `was ${groupDecimal(was)}` };
  });
}

function showRestated({ past, points }: DriverHistory, agent: Watched): Html | '' {
  const [last] = past;
  if (last === undefined) return '';
  const now = new Set(points.map(({ month }) => month));
  const gone = last.points.filter(({ month }) => !now.has(month));
  return html`<p class="quiet">
    The last other values were in <a href="/push?id=${last.push}">push ${last.push}</a>,
    ${showWhen(last.at, nowOf(agent))}.
    ${
      gone.length === 0
        ? ''
        : html`Gone since: ${gone.slice(0, 12).map(({ month, value }) => html`${month} (${showValue(value)}) `)}`
    }
  </p>`;
}

function showOrigins({ points, driver, pushesUnknown }: Explanation): Html {
  const newest = points.toReversed();
  const [first] = newest;
  const shown = fitting(
    newest.map((point) => originRow(point, pushesUnknown === undefined ? 'not yet' : 'unknown')),
    originsBytesMax,
  );
  return html`<section aria-label="Where each number came from">
    <h2>Where each number came from</h2>
    ${
      shown.length < points.length
        ? html`<p class="quiet">The newest ${shown.length} of ${countOf(points.length, 'point')}.</p>`
        : ''
    }
    ${showTable({
      caption: 'Points and the rows behind them, newest first',
      onPhone: 'columns',
      columns: [
        { name: 'Month', kind: 'row' },
        { name: 'Value', kind: 'number' },
        { name: 'Part', kind: 'word' },
        { name: 'Row', kind: 'number' },
        { name: 'As read', kind: 'word', isMinor: true },
        { name: 'Readings', kind: 'number', isMinor: true },
        { name: 'First push', kind: 'number' },
      ],
      rows: shown,
    })}
    ${
      first === undefined
        ? ''
        : html`<p>Every reading behind a point, with its line in the file:</p>
            ${showCode(`driver-sync explain ${shellWord(driver)} ${first.month} --rows`)}`
    }
  </section>`;
}

function originRow(
  { month, value, part, row, text, superseded, firstPush, collapsed }: ExplainedPoint,
  unpushed: string,
): readonly (Html | string)[] {
  return [
    month,
    showValue(value),
    html`<bdi>${part}</bdi>${collapsed === undefined ? '' : html`<span class="minor">${collapsed}</span>`}`,
    row === null ? '' : String(row),
    html`<code><bdi>${text}</bdi></code>`,
    String(superseded + 1),
    firstPush === undefined ? unpushed : html`<a href="/push?id=${firstPush}">${firstPush}</a>`,
  ];
}
