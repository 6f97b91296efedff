/** All pushes, and one of them: what it changed, old and new. */
import { html } from 'hono/html';
import { type ReportedPush, historyReport, reportedPush } from '../app/ask/history-report.ts';
import { AgentError, isAgentError } from '../core/errors.ts';
import { showBytes } from '../core/size.ts';
import type { Dependencies } from '../app/dependencies.ts';
import { type Html, countOf, showEmpty, showCode } from '../pages/markup.ts';
import type { Answer, Ask } from './answer.ts';
import { showPointChanges, showTotals } from './changes.ts';
import { showDecisions } from './decision-list.ts';
import { type ShownDifference, shownDifference } from './differences.ts';
import { changesText, nowOf, pageAnswer, showOutcome, showWhen } from './frame.ts';
import { showPushTable } from './push-table.ts';
import type { Watched } from './watched.ts';

const pushesShown = 50;
const decisionsShown = 20;

export async function pushesPage(agent: Watched, { query }: Ask): Promise<Answer> {
  const before = Number(query.get('before') ?? NaN);
  const page = { limit: pushesShown, before: Number.isSafeInteger(before) ? before : undefined };
  const { pushes, decisions } = await agent.open((deps) => historyReport(deps, page));
  const now = nowOf(agent);
  const last = pushes.at(-1);
  const body = html`<h1>Pushes</h1>
    ${
      pushes.length === 0
        ? showEmpty('Nothing was pushed yet. The first push brings every driver.', 'driver-sync plan')
        : showPushTable(pushes, now)
    }
    ${
      last === undefined || pushes.length < pushesShown || last.id === 1
        ? ''
        : html`<p><a href="/pushes?before=${last.id}">Earlier pushes</a></p>`
    }
    ${
      decisions.length === 0 || page.before !== undefined
        ? ''
        : html`<section aria-label="Decisions">
            <h2>What people decided</h2>
            ${showDecisions(decisions.slice(0, decisionsShown), now)}
          </section>`
    }`;
  return pageAnswer({ title: 'Pushes', section: '/pushes', body });
}

export interface PushDetail extends ReportedPush {
  /** Against the acknowledged push before it; `undefined` where that is not kept, or there is none. */
  readonly difference: ShownDifference | undefined;
  /** Why there is none. */
  readonly why: string | undefined;
}

/** @throws AgentError `usage` for a push that is not there */
export async function pushDetail(agent: Watched, deps: Dependencies, asked: string): Promise<PushDetail> {
  const { pushes } = deps.ledger;
  const record = /^\d{1,15}$/.test(asked) ? await pushes.get(Number(asked)) : undefined;
  if (record === undefined) throw new AgentError('usage', `there is no push ${asked}`, { hint: 'see /pushes' });
  const { id, address, outcome } = record;
  const none = (why: string): PushDetail => ({ ...reportedPush(record), difference: undefined, why });
  if (outcome !== 'acknowledged') return none('it was not acknowledged, so it changed nothing that is known');
  const earlier = (await pushes.all()).find(
    (push) => push.id < id && push.address === address && push.outcome === 'acknowledged',
  );
  if (earlier === undefined) return none('it was the first one to this address');
  try {
    const found = await shownDifference(agent, deps, { from: String(earlier.id), to: String(id) });
    return { ...reportedPush(record), difference: found, why: undefined };
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return none(error.message);
  }
}

export async function pushPage(agent: Watched, { query }: Ask): Promise<Answer> {
  const push = await agent.open((deps) => pushDetail(agent, deps, query.get('id') ?? ''));
  const { id, at, outcome, drivers, points, bytes, digest, address, detail, rollbackOf } = push;
  const body = html`<p class="path"><a href="/pushes">Pushes</a></p>
    <h1>Push ${id}</h1>
    <p>
      ${showOutcome(outcome)},
      ${showWhen(at, nowOf(agent))}${detail === undefined || outcome === 'acknowledged' ? '' : `: ${detail}`}
    </p>
    ${rollbackOf === undefined ? '' : html`<p>It went back to <a href="/push?id=${rollbackOf}">push ${rollbackOf}</a>.</p>`}
    <p class="quiet">
      ${countOf(drivers, 'driver')}, ${countOf(points, 'point')}, ${showBytes(bytes)} to <bdi>${address}</bdi>, digest
      <code>${digest}</code>
    </p>
    ${showDifference(push)}
    ${
      outcome === 'acknowledged'
        ? html`<section aria-label="Going back">
            <h2>Going back</h2>
            <p>The service gets this snapshot again, byte for byte, and nothing else until somebody goes on:</p>
            ${showCode(`driver-sync rollback ${id}`)}
          </section>`
        : ''
    }`;
  return pageAnswer({ title: `Push ${id}`, section: '/pushes', body });
}

function showDifference({ difference: found, why, changes }: PushDetail): Html {
  return html`<section aria-label="Changes">
    <h2>Changes</h2>
    <p>${changesText(changes)}</p>
    ${
      found === undefined
        ? html`<p class="quiet">The changes themselves are not shown: ${why}.</p>`
        : html`<p class="quiet">Against <a href="/push?id=${found.from}">push ${found.from}</a>.</p>
            ${showPointChanges(found.largest, found.changedPoints)} ${showTotals(found.totals)}`
    }
  </section>`;
}
