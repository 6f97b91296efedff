/** Long work that others share a thread with: every few milliseconds they have their turn. */
import { setImmediate as turn } from 'node:timers/promises';
import { type DriverChange, changeBetween, pairDrivers } from '../../core/series/diff.ts';
import type { PackedPoints } from '../../core/series/packing.ts';

const turnMs = 10;

export class Pace {
  #sinceMs = performance.now();

  /** Asked often: awaiting each time would cost more than the work. */
  isDue(): boolean {
    return performance.now() - this.#sinceMs > turnMs;
  }

  async turn(): Promise<void> {
    await turn();
    this.#sinceMs = performance.now();
  }
}

/** Walks two runs of drivers, both in the order of ids, and tells every change. */
export async function eachChange(
  before: Iterable<PackedPoints>,
  after: Iterable<PackedPoints>,
  each: (change: DriverChange) => void,
): Promise<void> {
  const pace = new Pace();
  for (const [old, now] of pairDrivers(before, after)) {
    const change = changeBetween(old, now);
    if (change !== undefined) each(change);
    if (pace.isDue()) await pace.turn();
  }
}
