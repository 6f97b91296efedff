/** How things stand among agents, as a person reads it. */
import type { SharedAgent, SharedView } from './lead.ts';

/** Who leads; `nobody` where a lead is free. */
export function leaderWords({ leader }: SharedView, self: string | undefined): string {
  if (leader === undefined) return 'nobody: nothing is pushed until an agent takes over';
  return leader.id === self ? 'this agent' : `the agent on ${leader.host}, pid ${leader.pid}`;
}

/** What an agent would push, and what it does not see. */
export function agentWords(agent: SharedAgent): string {
  const { would, differs, sources } = agent.said;
  const parts = [
    ...(agent.isSilent ? ['has not been heard of for a minute'] : []),
    ...(agent.hasLeadersConfig ? [] : ['has another config than the agent that leads']),
    would === undefined ? 'has read nothing yet' : wouldWords(differs),
    ...sources.map(({ name, state }) => (state === 'held' ? `holds ${name}` : `cannot read ${name}`)),
  ];
  return parts.join('; ');
}

/** Whether something about an agent is for a person to look at. */
export function isStrange({ isSilent, hasLeadersConfig, said }: SharedAgent): boolean {
  return isSilent || !hasLeadersConfig || said.differs !== undefined || said.sources.length > 0;
}

function wouldWords(differs: SharedAgent['said']['differs']): string {
  if (differs === undefined) return 'would push the same';
  const { push, drivers, points } = differs;
  return `would push other data than push ${push}: ${count(drivers, 'driver')}, ${count(points, 'point')}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
