/** What an emulator begins with: drivers, routers, credits, time, catalog and faults, as one object. */
import type { Driver } from '../contract/driver-push.ts';
import type { FaultQueue } from './faults.ts';
import { parseFixtures } from './fixtures-schema.ts';
import { parseCatalog } from './routing/catalog.ts';
import type { Routing } from './routing/routing.ts';

interface Filled {
  readonly routing: Routing;
  readonly faults: FaultQueue;
  /** Adds drivers, as a push would. */
  readonly push: (drivers: readonly Driver[]) => void;
}

/**
 * Adds them to what there is. The time is set first, so that it can be in the past of an emulator that is new.
 * @throws ZodError, Refusal, RangeError
 */
export function loadFixtures({ routing, faults, push }: Filled, given: unknown): void {
  const { drivers, routers, credits, now, speed, catalog, faults: script } = parseFixtures(given, routing);
  routing.setClock({ nowMs: now === undefined ? undefined : Date.parse(now), speed });
  if (catalog !== undefined) routing.catalog = parseCatalog(catalog, routing.catalog);
  if (credits !== undefined) routing.account.setCredits(credits);
  for (const router of routers) routing.routers.create(router);
  if (drivers.length > 0) push(drivers);
  if (script !== undefined) faults.play(script);
}
