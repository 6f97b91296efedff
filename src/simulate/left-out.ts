/** What pushes that deleted nothing have left at the service, by the bodies that it acknowledged. */
import type { Settings } from '../core/settings.ts';
import type { SentBody } from './body.ts';
import { allowedOf, letsAllGo } from './guarding.ts';
import { Violation } from './promises.ts';

export class LeftOut {
  /** The points of all pushes since the last one that deleted, and its own. */
  #there: ReadonlyMap<string, ReadonlySet<number>> = new Map();
  /** The last push deleted nothing. */
  #isOpen = false;
  /** Somebody approved a push since then. */
  #isApproved = false;

  acknowledged({ shouldDeleteMissing, points }: SentBody): void {
    this.#isOpen = !shouldDeleteMissing;
    this.#isApproved &&= this.#isOpen;
    const before = shouldDeleteMissing ? new Map<string, ReadonlySet<number>>() : this.#there;
    const now = [...points].map(
      ([driver, months]) => [driver, new Set([...(before.get(driver) ?? []), ...months.keys()])] as const,
    );
    this.#there = new Map([...before, ...now]);
  }

  approved(): void {
    this.#isApproved = true;
  }

  /** A snapshot of the archive is damaged: what its push left is not known any more. */
  damaged(): void {
    this.#there = new Map();
  }

  /** @throws Violation where a push deletes more of it than may go unseen */
  sent({ shouldDeleteMissing, points }: SentBody, settings: Settings): void {
    if (!shouldDeleteMissing || !this.#isOpen || this.#isApproved || letsAllGo(settings)) return;
    const had = { drivers: this.#there.size, points: pointsOf(this.#there) };
    const kept = [...this.#there].map(([driver, months]) => {
      const sent = points.get(driver);
      return [driver, new Set([...months].filter((month) => sent?.has(month) === true))] as const;
    });
    const goes = {
      drivers: [...this.#there.keys()].filter((driver) => !points.has(driver)).length,
      points: had.points - pointsOf(new Map(kept)),
    };
    for (const unit of ['drivers', 'points'] as const)
      if (goes[unit] > allowedOf(had[unit], settings))
        throw new Violation(
          'evidence',
          `${goes[unit]} of ${had[unit]} ${unit} went that pushes which delete nothing had left there, and nobody approved it`,
        );
  }
}

function pointsOf(drivers: ReadonlyMap<string, ReadonlySet<number>>): number {
  return [...drivers.values()].reduce((sum, months) => sum + months.size, 0);
}
