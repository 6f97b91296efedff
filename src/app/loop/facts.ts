/** How things are now, for `decide`. */
import type { Dependencies } from '../dependencies.ts';
import { blockedReason } from '../push/blocked.ts';
import { hasOpenPush, rollbackOpenMs } from '../push/repeat.ts';
import type { Facts } from '../../core/loop/decide.ts';

/** @param seen what only the daemon knows */
export async function loopFacts(deps: Dependencies, seen: Pick<Facts, 'pollMs' | 'hasNewToken'>): Promise<Facts> {
  const { address, buffer, clock, ledger, schedule, settings } = deps;
  return {
    nowMs: clock.now().getTime(),
    nextScheduledMs: (afterMs) => schedule.nextDue(settings.schedule, settings.timezone, new Date(afterMs)).getTime(),
    pushOnChangeMs: settings.pushOnChangeMs,
    hasPushed: (await ledger.pushes.last(address)) !== undefined,
    isOpen: await hasOpenPush(deps),
    rollbackOpenMs: await rollbackOpenMs(deps),
    isBlocked: (await blockedReason(deps)) !== undefined,
    isDoubted: settings.shouldDeleteMissing && (await ledger.state()).doubt !== undefined,
    revision: buffer.reads.revision(),
    asked: await ledger.requests.asked(),
    hasRequest: (await ledger.requests.pending()).length > 0,
    ...seen,
  };
}
