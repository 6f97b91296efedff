/** A held candidate: why, what it would change, and the command that approves it. */
import { html } from 'hono/html';
import { type HeldDetail, heldDetail } from '../app/ask/held-detail.ts';
import { takesUp } from '../app/ask/status-report.ts';
import { isSource } from '../core/telling/words.ts';
import { type Html, showEmpty, showCode, sentence } from '../pages/markup.ts';
import type { Answer, Ask } from './answer.ts';
import { showDeletes, showFindings, showPointChanges } from './changes.ts';
import { changesText, nowOf, pageAnswer, showWhen, sourceLink } from './frame.ts';
import type { Watched } from './watched.ts';

export async function heldPage(agent: Watched, { query }: Ask): Promise<Answer> {
  const source = query.get('source') ?? '';
  const now = nowOf(agent);
  const isHeld = await agent.open(async ({ ledger }) =>
    (await ledger.holds.held()).some((one) => one.source === source),
  );
  if (!isHeld) {
    const body = html`<p class="path"><a href="/">Overview</a></p>
      <h1>Held: <bdi>${source}</bdi></h1>
      ${showEmpty('Nothing of it is held now: it was approved, or a newer read is well again.', 'driver-sync history')}`;
    return pageAnswer({ title: 'Held', body, status: 404 });
  }
  const { approved, ...detail } = await agent.open(async (deps) => {
    const held = await heldDetail(deps, source);
    return { ...held, approved: await takesUp(deps, held.digest) };
  });
  const { reason, hint, since, report, largest, changedPoints } = detail;
  const body = html`<p class="path"><a href="/">Overview</a></p>
    <h1>Held: <bdi>${source}</bdi></h1>
    <div class="held">
      <p>${reason}. <span class="quiet">Since ${showWhen(since, now)}.</span></p>
      ${hint === undefined ? '' : html`<p class="quiet">${hint}</p>`}
      ${
        isSource(source)
          ? html`<p>Meanwhile its accepted data stays in every snapshot, and every other source moves on.</p>`
          : ''
      }
      ${approved === undefined ? showWayOut(detail) : html`<p>${sentence(approved)}.</p>`}
    </div>
    ${
      report === undefined
        ? ''
        : html`<p>
            The candidate: ${changesText(report.changes)}. ${sourceLink(report.name)} has its parts and rejects.
          </p>`
    }
    ${
      (report?.findings ?? []).length === 0
        ? ''
        : html`<section aria-label="Findings">
            <h2>What looks like a slip</h2>
            ${showFindings(report?.findings ?? [])}
          </section>`
    }
    <section aria-label="Largest changes">
      <h2>What approving it changes</h2>
      ${
        isSource(source)
          ? html`${showDeletes(report?.deletes ?? [])} ${showPointChanges(largest, changedPoints)}`
          : html`<p>Everything that was accepted is sent to this address for the first time. A command lists it:</p>
              ${showCode('driver-sync plan --all')}`
      }
    </section>`;
  return pageAnswer({ title: `Held: ${source}`, body });
}

function showWayOut({ approvable, digest }: HeldDetail): Html {
  if (!approvable) return html`<p>No approval helps: what is in its way has to change.</p>`;
  return html`<p>
      If the new data is right, approve it. If not, mend the export: the next read is judged anew.
      <code>--reason TEXT</code> keeps why beside your name.
    </p>
    ${showCode(`driver-sync approve ${digest.slice(0, 12)}`)}`;
}
