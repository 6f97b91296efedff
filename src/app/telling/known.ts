/** What telling goes by: how things are after the last pass. */
import type { PassReport } from '../../core/report.ts';
import type { Known } from '../../core/telling/matters.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';

export async function knownAfter(deps: Dependencies, report: PassReport): Promise<Known> {
  const { address, clock, ledger, outlets } = deps;
  const { servedMs } = await loopState(deps);
  const acknowledged = await ledger.pushes.lastAcknowledged(address);
  const served = [servedMs, acknowledged?.endedAtMs].filter((ms) => ms !== undefined);
  return {
    nowMs: clock.now().getTime(),
    address,
    host: outlets.host,
    report,
    held: await ledger.holds.held(),
    servedMs: served.length === 0 ? undefined : Math.max(...served),
    twiceScheduleMs: (fromMs) => twiceScheduleMs(deps, fromMs),
  };
}

/** From the schedule time before that moment to the second one after it: over a weekend longer than between working days. */
function twiceScheduleMs({ schedule, settings }: Dependencies, fromMs: number): number {
  const { schedule: expression, timezone } = settings;
  const first = schedule.nextDue(expression, timezone, new Date(fromMs));
  const second = schedule.nextDue(expression, timezone, first);
  const before = schedule.previousDue(expression, timezone, new Date(fromMs + 1));
  return second.getTime() - (before?.getTime() ?? 2 * first.getTime() - second.getTime());
}
