/** How long to wait before a failed push is tried again. */

export interface JitterOptions {
  /** Attempts that have failed so far, counted from 1. */
  readonly attempt: number;
  /** Ceiling of the first wait. Default 1 s. */
  readonly baseMs?: number;
  /** Ceiling of any wait. Default 5 min. */
  readonly capMs?: number;
  /** Evenly distributed in [0, 1), such as `Math.random`. */
  readonly random: () => number;
}

/**
 * Whole milliseconds in `[0, ceiling)`, where the ceiling doubles with every attempt up to `capMs`. Full jitter: agents
 * that one outage stopped together do not come back together.
 */
export function fullJitterMs({ attempt, baseMs = 1000, capMs = 300_000, random }: JitterOptions): number {
  // 2 ** attempt may be Infinity; the cap still holds.
  const ceilingMs = Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return Math.floor(random() * ceilingMs);
}
