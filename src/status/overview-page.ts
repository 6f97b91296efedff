/** The first page: is it right, how old is it, what is held and why, what changed. */
import { html } from 'hono/html';
import type { Decision } from '../app/ask/decisions.ts';
import { type ReportedPush, historyReport } from '../app/ask/history-report.ts';
import { type StatusReport, statusReport, whatTakesUp } from '../app/ask/status-report.ts';
import type { SourceReport } from '../core/report.ts';
import type { Now } from '../core/time/spoken.ts';
import { showNow } from '../core/time/spoken.ts';
import { fitting } from '../pages/fitting.ts';
import {
  type Html,
  countOf,
  groupDigits,
  showEmpty,
  showState,
  showTable,
  showCode,
  sentence,
} from '../pages/markup.ts';
import type { Answer } from './answer.ts';
import { showRest } from './changes.ts';
import { showDecisions } from './decision-list.ts';
import { type Concern, concernsOf } from './concerns.ts';
import { changesText, countsText, nowOf, pageAnswer, showSourceState, showWhen, sourceLink } from './frame.ts';
import { showAgents } from './agents.ts';
import { showPushTable } from './push-table.ts';
import type { Watched } from './watched.ts';

const pushesShown = 5;
const concernsBytesMax = 8000;
const heldBytesMax = 8000;
const sourcesBytesMax = 20_000;

export async function overviewPage(agent: Watched): Promise<Answer> {
  const signs = await agent.signs();
  const now = nowOf(agent);
  const { report, pushes } = await agent.open(async (deps) => ({
    report: await statusReport(deps, signs),
    pushes: (await historyReport(deps, { limit: pushesShown })).pushes,
  }));
  const acknowledged = pushes.find(({ id }) => id === report.lastAcknowledged?.id);
  const body = html`${showVerdict(report)} ${showFacts(report, { now, acknowledged })} ${showAgents(report.shared, now)}
  ${report.held.length === 0 ? '' : showHeld(report, now)} ${showSources(report.sources)} ${showPushes(pushes, now)}
  ${showLately(report.decisions, now)}`;
  return pageAnswer({ title: 'Overview', section: '/', body, footer: showFooter(report, agent, now) });
}

function showVerdict(report: StatusReport): Html {
  const concerns = concernsOf(report);
  const [first, ...others] = concerns;
  if (first === undefined) return html``;
  const items = others.map((one) => html`<li>${showState(one.tone, sentence(one.text))} ${showMore(one)}</li>`);
  const shown = fitting(items, concernsBytesMax);
  return html`<div role="status"><h1 class="verdict">${showState(first.tone, sentence(first.text))}</h1></div>
    ${showMore(first)}
    <ul class="concerns">
      ${shown}
    </ul>
    ${showRest(items.length - shown.length)}`;
}

/** What to do about it, and where it is shown. */
function showMore({ hint, href }: Concern): Html {
  return html`${hint === undefined ? '' : html`<p class="quiet">${hint}</p>`}
  ${href === undefined ? '' : html`<p class="more-link"><a href="${href}">See what it is</a></p>`}`;
}

function showFacts(
  { lastPass, lastAcknowledged, nextPush, nextPushWhy, sources, held }: StatusReport,
  { now, acknowledged }: { readonly now: Now; readonly acknowledged: ReportedPush | undefined },
): Html {
  const fact = (name: string, value: Html | string, more: Html | string): Html =>
    html`<div>
      <dt>${name}</dt>
      <dd>
        ${value}
        <p>${more}</p>
      </dd>
    </div>`;
  const rejects = sources.reduce((sum, source) => sum + source.rejects, 0);
  return html`<dl class="facts">
    ${fact(
      'The service holds',
      lastAcknowledged === undefined ? 'nothing of this agent yet' : countOf(lastAcknowledged.drivers, 'driver'),
      lastAcknowledged === undefined
        ? 'no push was acknowledged'
        : html`${countOf(lastAcknowledged.points, 'point')}, by
            <a href="/push?id=${lastAcknowledged.id}">push ${lastAcknowledged.id}</a>`,
    )}
    ${fact(
      'Last push',
      lastAcknowledged === undefined ? 'never' : showWhen(lastAcknowledged.at, now),
      acknowledged === undefined ? '' : changesText(acknowledged.changes),
    )}
    ${fact(
      'Sources looked at',
      lastPass === undefined ? 'not yet' : showWhen(lastPass.at, now),
      `${countOf(sources.length, 'source')}, ${countOf(rejects, 'reject')}${held.length === 0 ? '' : `, ${held.length} held`}`,
    )}
    ${fact('Next push', nextPush === undefined ? 'none now' : showWhen(nextPush, now), nextPushWhy ?? '')}
  </dl>`;
}

function showHeld(report: StatusReport, now: Now): Html {
  const all = report.held.map(({ source, digest, reason, hint, since, approvable }) => {
    const approved = whatTakesUp(report, digest);
    const asked = approvable ? showCode(`driver-sync approve ${digest.slice(0, 12)}`) : '';
    return html`<div class="held">
      <h3>
        <a href="/held?source=${encodeURIComponent(source)}"><bdi>${source}</bdi></a>
      </h3>
      <p>${reason}. <span class="quiet">Since ${showWhen(since, now)}.</span></p>
      ${hint === undefined ? '' : html`<p class="quiet">${hint}</p>`}
      ${approved === undefined ? asked : html`<p>${sentence(approved)}.</p>`}
    </div>`;
  });
  const shown = fitting(all, heldBytesMax);
  return html`<section aria-label="Held">
    <h2>Held</h2>
    ${shown} ${showRest(all.length - shown.length)}
  </section>`;
}

function sourceRow({
  name,
  state,
  parts,
  rows,
  rejects,
  drivers,
  points,
  changes,
}: SourceReport): readonly (Html | string)[] {
  return [
    sourceLink(name),
    showSourceState(state),
    groupDigits(parts),
    groupDigits(rows),
    groupDigits(rejects),
    groupDigits(drivers),
    groupDigits(points),
    countsText(changes.points),
  ];
}

function showSources(sources: readonly SourceReport[]): Html {
  if (sources.length === 0) {
    return html`<section aria-label="Sources">
      <h2>Sources</h2>
      ${showEmpty('The first pass fills this table. It says what each source has, and what was wrong with it.', 'driver-sync status')}
    </section>`;
  }
  const isWell = ({ state }: SourceReport): boolean => state === 'accepted' || state === 'unchanged';
  const inOrder = [...sources.filter((one) => !isWell(one)), ...sources.filter(isWell)];
  const rows = fitting(inOrder.map(sourceRow), sourcesBytesMax);
  // They stand in the order of the config where all of them are shown.
  const shown = rows.length < sources.length ? rows : sources.map(sourceRow);
  return html`<section aria-label="Sources">
    <h2>Sources</h2>
    ${showTable({
      caption: 'Sources after the last pass',
      onPhone: 'cards',
      columns: [
        { name: 'Source', kind: 'row' },
        { name: 'State', kind: 'word' },
        { name: 'Parts', kind: 'number' },
        { name: 'Rows', kind: 'number' },
        { name: 'Rejects', kind: 'number' },
        { name: 'Drivers', kind: 'number' },
        { name: 'Points', kind: 'number' },
        { name: 'Points changed' },
      ],
      rows: shown,
    })}
    ${showRest(sources.length - shown.length)}
  </section>`;
}

function showPushes(pushes: readonly ReportedPush[], now: Now): Html {
  return html`<section aria-label="Pushes">
    <h2>What changed</h2>
    ${
      pushes.length === 0
        ? showEmpty('Nothing was pushed yet. The first push brings every driver.', 'driver-sync plan')
        : html`${showPushTable(pushes, now)}
            <p class="more-link"><a href="/pushes">All pushes</a></p>`
    }
  </section>`;
}

function showLately(decisions: readonly Decision[], now: Now): Html | '' {
  if (decisions.length === 0) return '';
  return html`<section aria-label="Decisions">
    <h2>Decided lately</h2>
    ${showDecisions(decisions, now)}
  </section>`;
}

function showFooter({ agent, head }: StatusReport, { version, settings }: Watched, now: Now): Html {
  return html`<p>
      driver-sync ${version}, pid
      ${agent?.pid}${agent?.since === undefined ? '' : html`, since ${showWhen(agent.since, now)}`}, config
      <code>${settings.file}</code>${
        agent?.configLoadedAt === undefined ? '' : html`, loaded ${showWhen(agent.configLoadedAt, now)}`
      }.
      Times are ${showNow(now)}.
    </p>
    <p>Head of the chain, to be noted elsewhere: <code>${head}</code></p>`;
}
