/** How things stand among agents, as a person reads it. */
import type { LedgerState } from '../ledger.ts';
import { count } from '../text.ts';
import { differsFromLeader } from './differing.ts';
import type { AgentSaid, SharedAgent, SharedView } from './lead.ts';

/** Who leads; `nobody` where a lead is free, and once one agent has the ledger for itself. */
export function leaderWords(
  { leader }: SharedView,
  { self, givenBack }: { readonly self: string | undefined; readonly givenBack: LedgerState['givenBack'] },
): string {
  if (givenBack !== undefined) {
    return `nobody: the ledger was given back to the agent in ${givenBack.state} on ${givenBack.host}, which pushes alone`;
  }
  if (leader === undefined) return 'nobody: nothing is pushed until an agent takes over';
  return leader.id === self ? 'this agent' : `the agent on ${leader.host}, pid ${leader.pid}`;
}

/** What an agent would push, and what it does not see. */
export function agentWords(agent: SharedAgent, view: SharedView): string {
  const { would, sources, broken } = agent.said;
  const parts = [
    ...(broken === undefined
      ? []
      : [`its passes break since ${new Date(broken.sinceMs).toISOString()}: ${broken.why}`]),
    ...(agent.isSilent ? ['has not been heard of for a minute'] : []),
    ...(agent.hasLeadersConfig ? [] : ['has another config than the agent that leads']),
    would === undefined ? 'has read nothing yet' : wouldWords(agent, view),
    ...sources.map(sourceWords),
  ];
  return parts.join('; ');
}

function sourceWords({ name, state, reason }: AgentSaid['sources'][number]): string {
  const what = state === 'held' ? `holds ${name}` : `cannot read ${name}`;
  return reason === undefined ? what : `${what} (${reason})`;
}

/** Whether something about an agent is for a person to look at. */
export function isStrange(agent: SharedAgent, view: SharedView): boolean {
  const { isSilent, hasLeadersConfig, said } = agent;
  return (
    isSilent ||
    !hasLeadersConfig ||
    differsFromLeader(agent, view) ||
    said.sources.length > 0 ||
    said.broken !== undefined
  );
}

/** Against what was pushed last. Data that waits for the next push is the same for all, or it is not. */
function wouldWords({ id, said: { would, differs } }: SharedAgent, { leader, agents }: SharedView): string {
  const its = agents.find((one) => one.id === leader?.id)?.said.would;
  const isAlike = its === undefined || its.digest === would?.digest;
  if (differs === undefined)
    return isAlike ? 'would push the same' : 'would push what was pushed last, and the agent that leads has other data';
  const { push, drivers, points } = differs;
  const asLeader = isAlike && its !== undefined && id !== leader?.id ? ', as the agent that leads' : '';
  return `would push other data than push ${push}: ${count(drivers, 'driver')}, ${count(points, 'point')}${asLeader}`;
}
