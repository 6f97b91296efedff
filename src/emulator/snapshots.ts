/** Named snapshots of what the emulator holds. They take no copy: drivers stay in their tables, records are never changed. */
import type { DriverArea } from './drivers/driver-routes.ts';
import type { Frozen } from './drivers/layers.ts';
import { notFound, Refusal } from './routing/refusal.ts';
import type { Routing } from './routing/routing.ts';
import type { RoutingState } from './routing/store.ts';

/** A moment of everything but requests, faults and logins. */
export interface Moment {
  readonly drivers: Frozen;
  readonly routing: RoutingState;
}

export interface SnapshotView {
  readonly name: string;
  /** When it was made, ISO 8601, UTC. */
  readonly at: string;
}

const snapshotsMax = 100;
const namePattern = /^[\w.-]{1,100}$/;

interface Held {
  readonly drivers: DriverArea;
  readonly routing: Routing;
}

export class Snapshots {
  readonly #held: Held;
  readonly #kept = new Map<string, { readonly at: string; readonly moment: Moment }>();

  constructor(held: Held) {
    this.#held = held;
    held.drivers.alsoUsedBy(() => [...this.#kept.values()].flatMap(({ moment }) => moment.drivers));
  }

  /** What is held now, or what a snapshot holds. @throws Refusal 404 */
  moment(name?: string): Moment {
    if (name === undefined) return { drivers: this.#held.drivers.freeze(), routing: this.#held.routing.freeze() };
    const kept = this.#kept.get(name);
    if (kept === undefined) throw notFound(`there is no snapshot "${name}"`);
    return kept.moment;
  }

  /** Takes the place of a snapshot of the same name. @throws Refusal 400 */
  take(name: string): SnapshotView {
    if (!namePattern.test(name)) {
      throw new Refusal(400, { error: 'the name of a snapshot has 1 to 100 of letters, digits, "_", "." and "-"' });
    }
    if (!this.#kept.has(name) && this.#kept.size >= snapshotsMax) {
      throw new Refusal(400, { error: `there are ${snapshotsMax} snapshots: delete some` });
    }
    const at = new Date().toISOString();
    this.#kept.delete(name);
    this.#kept.set(name, { at, moment: this.moment() });
    return { name, at };
  }

  list(): SnapshotView[] {
    return [...this.#kept].map(([name, { at }]) => ({ name, at }));
  }

  /** @throws Refusal 404 */
  remove(name: string): void {
    if (!this.#kept.delete(name)) throw notFound(`there is no snapshot "${name}"`);
    this.#held.drivers.collect();
  }
}
