/** Whether the loop of a daemon stands still, by the heartbeat that it writes. */
import type { LockHolder } from '../edges/state/lock.ts';
import type { Heartbeat } from '../edges/state/state-directory.ts';

/** How long one that has just begun may take until it moves: the heartbeat is that of the agent before it until then. */
const startAllowanceMs = 60_000;

/** When the loop of a daemon had to move at the latest, in ms since 1970, where it has not; `undefined`: it moves, or no daemon runs. */
export function stalledSinceMs(
  holder: LockHolder | undefined,
  heartbeat: Heartbeat | undefined,
  nowMs: number,
): number | undefined {
  if (holder?.command !== 'run') return undefined;
  const begunMs = Date.parse(holder.since ?? '');
  // Where the clock was set back, a beginning that lies ahead says nothing.
  const isJustBegun = begunMs <= nowMs && begunMs + startAllowanceMs >= nowMs;
  const untilMs = heartbeat?.untilMs ?? begunMs;
  return isJustBegun || nowMs <= untilMs || Number.isNaN(untilMs) ? undefined : untilMs;
}
