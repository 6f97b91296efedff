/** When the content of parts was revised, by clocks that may be ahead and may be set back. */
import type { PartStore } from '../../core/buffer.ts';
import type { Part } from '../../core/model.ts';

/** About a microsecond: the smallest power of two that a moment of our time can be told apart by is a quarter of it. */
const stepMs = 1 / 1024;

/**
 * When content was revised that is first seen now. A time ahead of the clock counts as now: else its part would win every tie from
 * then on. Parts that are ahead together stay in the order of their times, as a clock that is right sees them: whichever is read first.
 */
export function revisedBy(nowMs: number, revisedAtMs: number, listed: readonly Part[]): number {
  if (revisedAtMs <= nowMs) return revisedAtMs;
  const isBefore = (part: Part): boolean => part.revisedAtMs > nowMs && part.revisedAtMs < revisedAtMs;
  return nowMs + listed.filter(isBefore).length * stepMs;
}

/**
 * Notes anew, in their order, the times that are ahead of the clock, which was set back since. Else what was read before would hide
 * all that comes until the clock has caught up.
 * @returns whether any changed
 */
export function redate(parts: PartStore, nowMs: number): boolean {
  const ahead = parts.timesAfter(nowMs);
  const times = new Map(ahead.map((timeMs, at) => [timeMs, Math.min(timeMs, nowMs + (at + 1) * stepMs)]));
  // Those of parts that were seen together a moment ago stay as they are.
  if ([...times].every(([before, now]) => before === now)) return false;
  parts.redate(times);
  return true;
}
