/** What the service had of each driver when an acknowledged snapshot had it last. */
import type { Points } from './model.ts';
import type { Accepted } from './moving.ts';

export const dayMs = 86_400_000;
/** All snapshots of as many days are kept. */
const keptMs = 6 * dayMs;

export class Served {
  readonly #last = new Map<
    string,
    { readonly months: ReadonlyMap<number, readonly string[]>; readonly atMs: number }
  >();
  /** No snapshot was damaged: the agent knows all that it pushed in the last days. */
  isKept = true;

  /** A snapshot of these was acknowledged. */
  note(sources: Iterable<Accepted>, atMs: number): void {
    for (const { points, isBlurred } of sources)
      for (const [driver, months] of points) this.#last.set(driver, { months, atMs: isBlurred ? -Infinity : atMs });
  }

  /** Those of the last days that are wanted. */
  since(nowMs: number, isWanted: (driver: string) => boolean): Points {
    if (!this.isKept) return new Map();
    const found = [...this.#last].filter(([driver, { atMs }]) => atMs > nowMs - keptMs && isWanted(driver));
    return new Map(found.map(([driver, { months }]) => [driver, months]));
  }
}
