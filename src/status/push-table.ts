/** Pushes as a table. */
import { html } from 'hono/html';
import type { ReportedPush } from '../app/ask/history-report.ts';
import type { Now } from '../core/time/spoken.ts';
import { type Html, groupDigits, showTable } from '../pages/markup.ts';
import { countsText, showOutcome, showWhen } from './frame.ts';

export function showPushTable(pushes: readonly ReportedPush[], now: Now): Html {
  return showTable({
    caption: 'Pushes, newest first',
    onPhone: 'cards',
    columns: [
      { name: 'Push', kind: 'row' },
      { name: 'When' },
      { name: 'Outcome', kind: 'word' },
      { name: 'Drivers', kind: 'number' },
      { name: 'Points', kind: 'number' },
      { name: 'Drivers changed' },
      { name: 'Points changed' },
    ],
    rows: pushes.map(({ id, at, outcome, drivers, points, changes, rollbackOf }) => [
      html`<a href="/push?id=${id}">push ${id}</a>${
          rollbackOf === undefined ? '' : html`<span class="minor">back to ${rollbackOf}</span>`
        }`,
      showWhen(at, now),
      showOutcome(outcome),
      groupDigits(drivers),
      groupDigits(points),
      countsText(changes.drivers),
      countsText(changes.points),
    ]),
  });
}
