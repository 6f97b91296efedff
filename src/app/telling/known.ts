/** What telling goes by: how things are after the last pass. */
import type { AgentError } from '../../core/errors.ts';
import type { PassReport } from '../../core/report.ts';
import type { Known, KnownOthers } from '../../core/telling/matters.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';

/** How a pass ended: with an outcome, or not. */
export type PassEnd = PassReport | AgentError;

/** @param report of the last pass that had an outcome; `undefined`: the ledger knows */
export async function knownAfter(
  deps: Dependencies,
  report: PassReport | undefined,
  broken: AgentError | undefined,
): Promise<Known> {
  const { address, clock, ledger, outlets } = deps;
  const { servedMs } = await loopState(deps);
  const acknowledged = await ledger.pushes.lastAcknowledged(address);
  const nowMs = clock.now().getTime();
  const served = [servedMs, acknowledged?.endedAtMs].filter((ms) => ms !== undefined);
  // One that lies ahead is from before the clock was set back: it hides none that does not.
  const past = served.filter((ms) => ms <= nowMs);
  return {
    nowMs,
    address,
    host: outlets.host,
    report: report ?? (await ledger.state()).lastPass ?? noPass(clock.now()),
    broken: broken && { reason: broken.message, hint: broken.hint },
    held: await ledger.holds.held(),
    servedMs: served.length === 0 ? undefined : Math.max(...(past.length === 0 ? served : past)),
    twiceScheduleMs: (fromMs) => twiceScheduleMs(deps, fromMs),
    others: await knownOthers(deps),
  };
}

async function knownOthers({ ledger, settings }: Dependencies): Promise<KnownOthers | undefined> {
  const view = await ledger.agents?.();
  if (view === undefined) return undefined;
  // Whoever is alone has no use for these.
  const { differsAfterMs, differsFromLeader } = await import('../../core/election/differing.ts');
  const { agentWords } = await import('../../core/election/words.ts');
  const differing = view.agents.filter((agent) => differsFromLeader(agent, view));
  return {
    machines: view.agents.map(({ host }) => host),
    differing: differing.map((agent) => ({ machine: agent.host, text: agentWords(agent, view) })),
    patienceMs: differsAfterMs(settings.sources),
  };
}

/** What is known before any pass had an outcome: nothing. */
function noPass(now: Date): PassReport {
  return { at: now.toISOString(), outcome: 'blocked', exit: 0, sources: [] };
}

/** From the schedule time before that moment to the second one after it: over a weekend longer than between working days. */
function twiceScheduleMs({ schedule, settings }: Dependencies, fromMs: number): number {
  const { schedule: expression, timezone } = settings;
  const first = schedule.nextDue(expression, timezone, new Date(fromMs));
  const second = schedule.nextDue(expression, timezone, first);
  const before = schedule.previousDue(expression, timezone, new Date(fromMs + 1));
  return second.getTime() - (before?.getTime() ?? 2 * first.getTime() - second.getTime());
}
