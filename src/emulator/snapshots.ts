/** Named snapshots of what the emulator holds. They take no copy: drivers stay in their tables, records are never changed. */
import type { DriverArea } from './drivers/driver-routes.ts';
import type { Frozen } from './drivers/layers.ts';
import { notFound, Refusal } from './routing/refusal.ts';
import type { Routing, RoutingContents } from './routing/routing.ts';
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

/** How much a snapshot holds. */
export interface Contents extends RoutingContents {
  readonly drivers: number;
}

export interface KeptMoment {
  readonly at: string;
  readonly moment: Moment;
}

const snapshotsMax = 100;
/** It is a part of addresses, in which `.` and `..` mean something else. */
const namePattern = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

interface Held {
  readonly drivers: DriverArea;
  readonly routing: Routing;
}

export class Snapshots {
  readonly #held: Held;
  readonly #kept = new Map<string, KeptMoment>();
  /** Counting takes longer the more there is, and a moment never changes. */
  readonly #contents = new WeakMap<Moment, Contents>();

  constructor(held: Held) {
    this.#held = held;
    held.drivers.alsoUsedBy(() => [...this.#kept.values()].flatMap(({ moment }) => moment.drivers));
  }

  /** What is held now, or what a snapshot holds. @throws Refusal 404 */
  moment(name?: string): Moment {
    if (name === undefined) return { drivers: this.#held.drivers.freeze(), routing: this.#held.routing.freeze() };
    return this.kept(name).moment;
  }

  /** @throws Refusal 404 */
  kept(name: string): KeptMoment {
    const kept = this.#kept.get(name);
    if (kept === undefined) throw notFound(`there is no snapshot "${name}"`);
    return kept;
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** @throws Refusal 404 */
  contentsOf(name: string): Contents {
    const { moment } = this.kept(name);
    let contents = this.#contents.get(moment);
    if (contents === undefined) {
      const { drivers, routing } = this.#held;
      contents = { drivers: drivers.countIn(moment.drivers), ...routing.contentsOf(moment.routing) };
      this.#contents.set(moment, contents);
    }
    return contents;
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

  /** Oldest first. */
  list(): SnapshotView[] {
    return [...this.#kept].map(([name, { at }]) => ({ name, at }));
  }

  /** Takes the deletion of a snapshot back. @throws Refusal 409 for a name that another one has now. */
  putBack(name: string, kept: KeptMoment): void {
    if (this.#kept.has(name)) throw new Refusal(409, { error: `there is another snapshot "${name}" now` });
    const all = [...this.#kept, [name, kept] as const].toSorted(([, one], [, other]) => (one.at < other.at ? -1 : 1));
    this.#kept.clear();
    for (const [each, one] of all) this.#kept.set(each, one);
  }

  /** @throws Refusal 404 */
  remove(name: string): void {
    if (!this.#kept.delete(name)) throw notFound(`there is no snapshot "${name}"`);
    this.#held.drivers.collect();
  }
}
