/** Whether agents of one ledger see the same data. */
import type { SourceSettings } from '../settings.ts';
import type { SharedAgent, SharedView } from './lead.ts';

/** A machine that sees a new file first differs for a moment: for this long, and for two looks at the slowest source, that is normal. */
const normalMs = 120_000;

/** From when on a difference is for a person to look at. */
export function differsAfterMs(sources: readonly Pick<SourceSettings, 'poll'>[]): number {
  // What is looked at by a schedule all machines look at together.
  const pollsMs = sources.map(({ poll }) => (poll.kind === 'every' ? poll.ms : 0));
  return Math.max(normalMs, 2 * Math.max(0, ...pollsMs));
}

/**
 * Whether an agent that follows would do other than the one that leads: it would push something else, it cannot read or holds what
 * that one can read, or it has another config. Where nobody leads, or one of them has read nothing yet, nothing is known.
 */
export function differsFromLeader({ id, isSilent, hasLeadersConfig, said }: SharedAgent, view: SharedView): boolean {
  const leader = view.agents.find((one) => one.id === view.leader?.id);
  if (leader === undefined || leader.id === id || isSilent) return false;
  if (!hasLeadersConfig) return true;
  const [own, its] = [said.would?.digest, leader.said.would?.digest];
  if (own === undefined || its === undefined) return false;
  return own !== its || said.sources.some(({ name }) => !leader.said.sources.some((one) => one.name === name));
}
