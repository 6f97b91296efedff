/** The list of routers. */
import { html } from 'hono/html';
import { isoOf } from '../routing/clock.ts';
import { pageOf } from '../routing/pages.ts';
import type { Routing } from '../routing/routing.ts';
import { showAgoBy } from '../../pages/ago.ts';
import { countOf, showEmpty, showTable, visibleOf } from '../../pages/markup.ts';
import type { Column, Html } from '../../pages/markup.ts';
import { routerCommand } from './connect.ts';
import type { Reach } from './connect.ts';
import { isEligible } from './model-list.ts';
import { showPage } from './page.ts';

export const routersPath = '/console/routers';

export interface RouterListView {
  readonly reach: Reach;
  readonly cursor: string | undefined;
  /** A line over the list. */
  readonly above: Html | '';
}

export function showRouters(routing: Routing, { reach, cursor, above }: RouterListView): Response {
  const { data, nextCursor } = pageOf(routing.routers.all(), 'routers', { cursor });
  const known = routing.catalog.models;
  const nowMs = routing.clock.now();
  const rows = data.map(({ id, name, slug, version, updatedMs, settings }) => {
    const eligible = known.filter((model) => isEligible(settings.models, model.id)).length;
    const shownName = visibleOf(name, slug);
    return [
      html`<a href="${routersPath}/${id}"><bdi>${shownName}</bdi></a> <code class="minor">${slug}</code>`,
      settings.optimizeFor,
      html`${eligible} of ${known.length}`,
      Object.entries(settings.maxCreditsPerGeneration ?? {})
        .map(([modality, ceiling]) => `${modality} ${ceiling}`)
        .join(', '),
      html`v${version}, ${showAgoBy(isoOf(updatedMs), nowMs)}`,
      html`<a href="${routersPath}/${id}/log" aria-label="Log of ${shownName}">Log</a>
        <a href="/console/playground?router=${slug}" aria-label="Try ${shownName}">Try</a>`,
    ];
  });
  const body = html`<div class="heading">
      <h1>Routers</h1>
      <a class="button primary" href="${routersPath}/new">New router</a>
    </div>
    ${above}
    ${
      data.length === 0
        ? showEmpty('There are no routers. New router makes one, and so does the service itself:', routerCommand(reach))
        : showTable({
            caption: countOf(data.length, 'router'),
            columns,
            rows,
            rowKeys: data.map(({ id }) => id),
            onPhone: 'cards',
          })
    }
    ${nextCursor === null ? '' : html`<p><a href="${routersPath}?cursor=${nextCursor}">Older routers</a></p>`}`;
  return showPage({ title: 'Routers', section: 'routers', body, isLive: true });
}

const columns: readonly Column[] = [
  { name: 'Router', kind: 'row' },
  { name: 'Optimizes for', kind: 'word' },
  { name: 'Eligible models', kind: 'number' },
  { name: 'Ceilings' },
  { name: 'Changed' },
  { name: 'More', kind: 'action' },
];
