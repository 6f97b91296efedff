/** What people decided. */
import { html } from 'hono/html';
import type { Decision } from '../app/ask/decisions.ts';
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

function whatOf({ kind, source, digest, part, push }: Decision): string {
  switch (kind) {
    case 'approval':
      return `approve ${digest?.slice(0, 12)} of ${source}`;
    case 'rollback':
      return `roll back to push ${push}`;
    case 'forget':
      return part === undefined ? `forget ${source}` : `forget ${part} of ${source}`;
  }
}
