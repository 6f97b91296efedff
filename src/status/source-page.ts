/** One source: what it came to, its parts, its rejects and what looks like a slip. */
import { html } from 'hono/html';
import { type PartDetail, type SourceDetail, sourceDetail } from '../app/ask/source-detail.ts';
import { leftOutOf } from '../app/ask/rejects-report.ts';
import { rejectsKept } from '../core/buffer.ts';
import type { Reject } from '../core/model.ts';
import type { Now } from '../core/time/spoken.ts';
import { fitting } from '../pages/fitting.ts';
import { type Html, countOf, groupDigits, showState, showTable, showCode } from '../pages/markup.ts';
import type { Answer, Ask } from './answer.ts';
import { showDeletes, showFindings } from './changes.ts';
import { shellWord } from '../core/text.ts';
import { changesText, nowOf, pageAnswer, showSourceState, showWhen } from './frame.ts';
import type { Watched } from './watched.ts';

const rejectsShown = 50;
const rejectsBytesMax = 12_000;
const partsMax = 200;
const partsBytesMax = 16_000;

interface Rejected {
  readonly first: readonly (Reject & { readonly part: string })[];
  /** Not all of them were kept. */
  readonly isCut: boolean;
}

export async function sourcePage(agent: Watched, { query }: Ask): Promise<Answer> {
  const now = nowOf(agent);
  const { detail, rejects } = await agent.open(async (deps) => {
    const found = await sourceDetail(deps, query.get('name') ?? '');
    const first = firstOf(deps.buffer.rejects.all(found.name), rejectsShown);
    return { detail: found, rejects: { first, isCut: leftOutOf(deps.buffer, found.name).length > 0 } };
  });
  const body = html`<p class="path"><a href="/">Overview</a></p>
    <h1><bdi>${detail.name}</bdi></h1>
    ${showHead(detail)} ${showParts(detail.partsRead, now)} ${showCarried(detail)} ${showRejects(detail, rejects)}
    ${showFindingsOf(detail)} ${showWarnings(detail)}`;
  return pageAnswer({ title: detail.name, body });
}

function firstOf<T>(all: Iterable<T>, max: number): readonly T[] {
  const found: T[] = [];
  for (const one of all) {
    if (found.length === max) break;
    found.push(one);
  }
  return found;
}

function showHead({ state, reason, hint, name, parts, rows, drivers, points, changes }: SourceDetail): Html {
  const counts = [countOf(parts, 'part'), countOf(rows, 'row'), countOf(drivers, 'driver'), countOf(points, 'point')];
  return html`<p>${showSourceState(state)} ${reason === undefined ? '' : html`<span>: ${reason}</span>`}</p>
    ${hint === undefined ? '' : html`<p class="quiet">${hint}</p>`}
    ${
      state === 'held'
        ? html`<p>
            <a href="/held?source=${encodeURIComponent(name)}">What it would change, and how to approve it</a>
          </p>`
        : ''
    }
    <p class="quiet">${counts.join(', ')}. The last pass: ${changesText(changes)}.</p>
    <p><a href="/drivers?source=${encodeURIComponent(name)}">Its drivers</a></p>`;
}

const kinds: Readonly<Record<PartDetail['kind'], string>> = {
  part: 'read',
  history: 'carried months',
  snapshot: 'from a snapshot',
};

function partRow({ name, kind, read, rows, rejects, revisedAt, carried }: PartDetail, now: Now): readonly Html[] {
  return [
    html`<bdi>${name}</bdi>`,
    carried
      ? showState('busy', 'gone, carried')
      : showState(read === 'accepted' ? 'good' : 'idle', read === 'accepted' ? kinds[kind] : 'not accepted'),
    html`${groupDigits(rows)}`,
    html`${groupDigits(rejects)}`,
    showWhen(revisedAt, now),
  ];
}

function showParts(parts: readonly PartDetail[], now: Now): Html {
  const shown = fitting(
    parts.slice(0, partsMax).map((part) => partRow(part, now)),
    partsBytesMax,
  );
  return html`<section aria-label="Parts">
    <h2>Parts</h2>
    ${
      parts.length === 0
        ? html`<p>Nothing of this source was accepted yet.</p>`
        : showTable({
            caption: 'Parts of its reads',
            onPhone: 'cards',
            columns: [
              { name: 'Part', kind: 'row' },
              { name: 'State', kind: 'word' },
              { name: 'Rows', kind: 'number' },
              { name: 'Rejects', kind: 'number' },
              { name: 'Revised' },
            ],
            rows: shown,
          })
    }
    ${parts.length > shown.length ? html`<p class="quiet">and ${countOf(parts.length - shown.length, 'more part')}</p>` : ''}
  </section>`;
}

function showCarried({ carried, name }: SourceDetail): Html | '' {
  const [first] = carried;
  if (first === undefined) return '';
  return html`<section aria-label="Carried">
    <h2>Carried</h2>
    <p>
      ${countOf(carried.length, 'part')} of this source disappeared, and its data stays in every snapshot. Drop one that
      is gone for good:
    </p>
    ${showCode(`driver-sync forget ${shellWord(name)} ${shellWord(first)}`)}
  </section>`;
}

function showRejects({ name, rejects }: SourceDetail, { first, isCut }: Rejected): Html {
  const all = first.map(({ part, row, reason, text }) => [
    html`<bdi>${part}</bdi>`,
    groupDigits(row),
    html`<bdi>${reason}</bdi>`,
    html`<code><bdi>${text.slice(0, 300)}</bdi></code>`,
  ]);
  const shown = fitting(all, rejectsBytesMax);
  const address = `/api/rejects?source=${encodeURIComponent(name)}`;
  return html`<section aria-label="Rejects">
    <h2>Rejects</h2>
    ${
      shown.length === 0
        ? html`<p>Every row of the newest read could be used.</p>`
        : html`<p class="quiet">
              ${countOf(rejects, 'row')} could not be
              used${shown.length < rejects ? `; the first ${shown.length} are shown` : ''}.
              <a href="${address}" download="rejects-${name}.csv"
                >Download ${isCut ? `the first ${groupDigits(rejectsKept)} of each part` : 'them'} as CSV</a
              >
            </p>
            ${showTable({
              caption: 'Rows that could not be used',
              onPhone: 'cards',
              columns: [
                { name: 'Part', kind: 'row' },
                { name: 'Row', kind: 'number' },
                { name: 'Why', kind: 'prose' },
                { name: 'As read', kind: 'prose' },
              ],
              rows: shown,
            })}`
    }
  </section>`;
}

function showFindingsOf({ findings = [], deletes = [], state }: SourceDetail): Html | '' {
  if (findings.length === 0 && deletes.length === 0) return '';
  return html`<section aria-label="Findings">
    <h2>Findings</h2>
    ${showFindings(findings)} ${state === 'held' ? showDeletes(deletes) : ''}
  </section>`;
}

function showWarnings({ warnings }: SourceDetail): Html | '' {
  if (warnings.length === 0) return '';
  return html`<section aria-label="Notes">
    <h2>Notes</h2>
    <ul class="plain">
      ${warnings.map((warning) => html`<li><bdi>${warning}</bdi></li>`)}
    </ul>
  </section>`;
}
