/** The agents that share a ledger: who leads, and what each would push. */
import { html } from 'hono/html';
import type { SharedReport } from '../app/ask/status-report.ts';
import type { Now } from '../core/time/spoken.ts';
import { type Html, showState, showTable } from '../pages/markup.ts';
import { showWhen } from './frame.ts';

export function showAgents(shared: SharedReport | undefined, now: Now): Html | string {
  if (shared === undefined) return '';
  const { leader, leads, agents } = shared;
  const rows = agents.map((agent) => [
    html`<bdi>${agent.host}</bdi>, pid ${agent.pid}`,
    agent.leads ? showState('good', 'leads') : showState(agent.isStrange ? 'bad' : 'idle', 'follows'),
    agent.text,
    showWhen(agent.since, now),
  ]);
  return html`<section aria-label="Agents">
    <h2>Agents</h2>
    <p>Leads: ${leads}${leader === null ? '' : html`, since ${showWhen(leader.since, now)}`}.</p>
    ${showTable({
      caption: 'Agents that share the ledger',
      columns: [
        { name: 'Agent', kind: 'row' },
        { name: 'Role', kind: 'word' },
        { name: 'What it would push', kind: 'prose' },
        { name: 'Since', kind: 'word' },
      ],
      rows,
      onPhone: 'cards',
    })}
  </section>`;
}
