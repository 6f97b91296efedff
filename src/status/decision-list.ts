/** What people decided. */
import { html } from 'hono/html';
import { type Decision, whatOf } from '../app/ask/decisions.ts';
import type { Now } from '../core/time/spoken.ts';
import { type Html, showTable } from '../pages/markup.ts';
import { showWhen } from './frame.ts';

export function showDecisions(decisions: readonly Decision[], now: Now): Html {
  return showTable({
    caption: 'Approvals, rollbacks and what was forgotten',
    onPhone: 'cards',
    columns: [
      { name: 'When' },
      { name: 'Who', kind: 'word' },
      { name: 'What', kind: 'prose' },
      { name: 'Came to', kind: 'word' },
      { name: 'Why', kind: 'prose' },
    ],
    rows: decisions.map((one) => [
      showWhen(one.at, now),
      html`<bdi>${[one.by, one.as].filter((name) => name !== undefined).join(' as ')}</bdi>`,
      html`<bdi>${whatOf(one)}</bdi>`,
      one.why === undefined ? one.state : `${one.state}: ${one.why}`,
      html`<bdi>${one.reason ?? ''}</bdi>`,
    ]),
  });
}
