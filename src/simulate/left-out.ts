/** What pushes that deleted nothing have left at the service, by the bodies that it acknowledged. */
import type { Settings } from '../core/settings.ts';
import type { SentBody } from './body.ts';
import { allowedOf, letsAllGo } from './guarding.ts';
import { Violation } from './promises.ts';

export class LeftOut {
  /** By driver, the months of all pushes since the last one that deleted, and its own. */
  #there: ReadonlyMap<string, ReadonlyMap<number, unknown>> = new Map();
  /** The last push deleted nothing. */
  #isOpen = false;
  /** Somebody approved a push since then. */
  #isApproved = false;

  acknowledged({ shouldDeleteMissing, points }: SentBody): void {
    this.#isOpen = !shouldDeleteMissing;
    this.#isApproved &&= this.#isOpen;
    const before = this.#there;
    const joined = ([driver, months]: readonly [string, ReadonlyMap<number, unknown>]) =>
      [driver, new Map([...(before.get(driver) ?? []), ...months])] as const;
    // Nearly all pushes delete.
    this.#there = shouldDeleteMissing ? points : new Map([...before, ...[...points].map(joined)]);
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
    const had = { drivers: this.#there.size, points: 0 };
    const goes = { drivers: 0, points: 0 };
    for (const [driver, months] of this.#there) {
      const sent = points.get(driver);
      if (sent === undefined) goes.drivers++;
      had.points += months.size;
      for (const month of months.keys()) if (sent?.has(month) !== true) goes.points++;
    }
    for (const unit of ['drivers', 'points'] as const)
      if (goes[unit] > allowedOf(had[unit], settings))
        throw new Violation(
          'evidence',
          `${goes[unit]} of ${had[unit]} ${unit} went that pushes which delete nothing had left there, and nobody approved it`,
        );
  }
}
