/** The page of snapshots and forks. */
import { html } from 'hono/html';
import type { ForkView } from '../snapshot-routes.ts';
import type { Snapshots } from '../snapshots.ts';
import { isoOf } from '../routing/clock.ts';
import { exactly, showAgo } from '../../pages/ago.ts';
import { countOf, groupDigits, showEmpty, showState, showTable } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { forksPath, showForks } from './fork-pages.ts';
import { fixturesPath } from './fixture-view.ts';
import { showPage } from './page.ts';
import { describe, showProblems } from './problems.ts';
import type { Problem } from './problems.ts';

export const snapshotsPath = '/console/snapshots';

export interface SnapshotListView {
  readonly snapshots: Snapshots;
  readonly forks: readonly ForkView[];
  readonly origin: string;
  /** A line over the list. */
  readonly above?: Html | '';
  /** The name of one that was just kept. */
  readonly saved?: string | undefined;
  /** In the form. */
  readonly name?: string;
  readonly problems?: readonly Problem[];
}

export function showSnapshots(view: SnapshotListView, status: number): Response {
  const { snapshots, forks, origin, above = '', saved, problems = [] } = view;
  const list = snapshots.list().toReversed();
  const isSaved = saved !== undefined && snapshots.has(saved);
  const body = html`<h1>Snapshots</h1>
    <p class="lead">
      A snapshot keeps drivers, routers, tasks, credits, catalog and time under a name, until the emulator ends. It
      takes no copy, whatever the size, and one can go back to it again and again.
    </p>
    ${showProblems('Nothing was kept:', problems)} ${above}
    ${isSaved ? html`<p role="status" class="notice">${showState('good', html`<span>Kept as <bdi>${saved}</bdi></span>`)}</p>` : ''}
    ${showForm(view)}
    ${
      list.length === 0
        ? showEmpty(
            'There are no snapshots. Keep makes one of what is held now, and so does a test:',
            `curl -d '{"name":"seeded"}' ${origin}/_emulator/snapshots`,
          )
        : showTable({
            caption: countOf(list.length, 'snapshot'),
            columns,
            rows: list.map(({ name, at }) => rowOf(snapshots, name, at)),
            rowKeys: list.map(({ name }) => `snapshot-${name}`),
            onPhone: 'cards',
          })
    }
    ${showForks(forks)}
    <section aria-labelledby="fixtures">
      <h2 id="fixtures">Fixtures</h2>
      <p class="lead">
        Drivers, routers, credits, time, models and faults from a file. What it would change is shown before it is
        loaded.
      </p>
      <p><a class="button" href="${fixturesPath}">Load a fixture or a catalog</a></p>
    </section>
    <p class="danger">
      <a class="button" href="${snapshotsPath}/reset">Empty the emulator</a>
    </p>`;
  return showPage({ title: 'Snapshots', section: 'snapshots', body, status, isLive: problems.length === 0 });
}

function showForm({ name = '', problems = [] }: SnapshotListView): Html {
  return html`<form method="post" action="${snapshotsPath}" class="search">
    <label for="name">Name</label>
    <input
      id="name"
      name="name"
      value="${name}"
      required
      maxlength="100"
      pattern="[A-Za-z0-9_.\\-]+"
      title="letters, digits, _ . and -"
      placeholder="seeded"
      autocomplete="off"
      spellcheck="false"
      ${describe('name', [], problems)}
    />
    <button class="primary">Keep</button>
  </form>`;
}

const columns: readonly Column[] = [
  { name: 'Snapshot', kind: 'row' },
  { name: 'Drivers', kind: 'number' },
  { name: 'Routers', kind: 'number' },
  { name: 'Tasks', kind: 'number' },
  { name: 'Credits', kind: 'number' },
  { name: 'Its time', kind: 'word', isMinor: true },
  { name: 'Do', kind: 'action' },
];

function rowOf(snapshots: Snapshots, name: string, at: string): (Html | string)[] {
  const { drivers, routers, tasks, credits, nowMs } = snapshots.contentsOf(name);
  const path = `${snapshotsPath}/${name}`;
  return [
    html`<bdi>${name}</bdi> <span class="minor">kept ${showAgo(at, Date.now())}</span>`,
    groupDigits(drivers),
    groupDigits(routers),
    groupDigits(tasks),
    groupDigits(credits),
    html`<time>${exactly(isoOf(nowMs))}</time>`,
    html`<span class="deeds">
      <a href="${path}/restore" aria-label="Go back to ${name}">Go back</a>
      <form method="post" action="${forksPath}">
        <input type="hidden" name="snapshot" value="${name}" />
        <button class="plain" aria-label="Fork ${name}">Fork</button>
      </form>
      <a href="${path}/delete" aria-label="Delete ${name}">Delete</a>
    </span>`,
  ];
}
