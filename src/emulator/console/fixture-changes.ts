/** What fixtures would change: they are loaded into a fork, and what it holds then is compared with what is held now. */
import type { Driver } from '../../contract/driver-push.ts';
import type { FaultQueue } from '../faults.ts';
import { parseFixtures } from '../fixtures-schema.ts';
import type { Model } from '../routing/catalog.ts';
import type { Routing } from '../routing/routing.ts';
import { monthOf } from './last-push.ts';

/** What can be loaded into and looked at. */
export interface Loadable {
  readonly routing: Routing;
  readonly faults: FaultQueue;
  driver(id: string): Driver | undefined;
  driverCount(): number;
  load(fixtures: unknown): void;
}

/** Something before and after; equal where nothing changes. */
export interface Change<Value> {
  readonly now: Value;
  readonly next: Value;
}

export interface ReplacedValue {
  readonly driver: string;
  /** `2026-03`, or the time of a moment that is beyond the range of dates. */
  readonly month: string;
  readonly now: string;
  readonly next: string;
}

export interface ReplacedPath {
  readonly driver: string;
  readonly now: readonly string[];
  readonly next: readonly string[];
}

export interface FixtureChanges {
  readonly drivers: Change<number>;
  readonly newPoints: number;
  readonly replacedValues: readonly ReplacedValue[];
  readonly replacedPaths: readonly ReplacedPath[];
  readonly routers: Change<number>;
  /** Slugs. */
  readonly newRouters: readonly string[];
  readonly credits: Change<number>;
  readonly timeMs: Change<number>;
  readonly speed: Change<number>;
  /** Ids of models. */
  readonly models: { readonly added: string[]; readonly changed: string[]; readonly removed: string[] };
  readonly modelCount: Change<number>;
  /** Undefined where the fixtures have no script, so that those that wait stay. */
  readonly faults: Change<number> | undefined;
}

/**
 * Loads the fixtures into a fork. Nothing but the fork changes.
 * @throws ZodError, Refusal, RangeError where they cannot be loaded
 */
export function changesOf(given: unknown, held: Loadable, fork: Loadable): FixtureChanges {
  const { drivers, routers, now, faults } = parseFixtures(given, held.routing);
  fork.load(given);
  const points = pointChanges([...new Set(drivers.map(({ id }) => id))], held, fork);
  const { models } = held.routing.catalog;
  const { models: nextModels } = fork.routing.catalog;
  const heldMs = held.routing.clock.now();
  return {
    ...points,
    drivers: { now: held.driverCount(), next: fork.driverCount() },
    routers: { now: held.routing.routers.count, next: fork.routing.routers.count },
    newRouters: routers.map(({ slug }) => slug),
    credits: { now: held.routing.account.credits, next: fork.routing.account.credits },
    timeMs: { now: heldMs, next: now === undefined ? heldMs : Date.parse(now) },
    speed: { now: held.routing.clock.speed, next: fork.routing.clock.speed },
    models: modelChanges(models, nextModels),
    modelCount: { now: models.length, next: nextModels.length },
    faults: faults && { now: held.faults.pending.length, next: faults.faults.length },
  };
}

function pointChanges(ids: readonly string[], held: Loadable, fork: Loadable) {
  const replacedValues: ReplacedValue[] = [];
  const replacedPaths: ReplacedPath[] = [];
  let newPoints = 0;
  for (const id of ids) {
    const [now, next] = [held.driver(id), fork.driver(id)];
    if (next === undefined) throw new Error(`the fork has not taken the driver ${id}`);
    if (now !== undefined && JSON.stringify(now.path) !== JSON.stringify(next.path)) {
      replacedPaths.push({ driver: id, now: now.path, next: next.path });
    }
    const values = new Map((now?.timeSeries ?? []).map(({ time, value }) => [monthOf(time) ?? time, value]));
    for (const { time, value } of next.timeSeries) {
      const month = monthOf(time) ?? time;
      const before = values.get(month);
      if (before === undefined) newPoints++;
      else if (before !== value) replacedValues.push({ driver: id, month, now: before, next: value });
    }
  }
  return { newPoints, replacedValues, replacedPaths };
}

function modelChanges(now: readonly Model[], next: readonly Model[]): FixtureChanges['models'] {
  const before = new Map(now.map((model) => [model.id, model]));
  const after = new Set(next.map(({ id }) => id));
  const isChanged = (model: Model): boolean => {
    const earlier = before.get(model.id);
    return earlier !== undefined && earlier !== model && JSON.stringify(earlier) !== JSON.stringify(model);
  };
  return {
    added: next.filter(({ id }) => !before.has(id)).map(({ id }) => id),
    changed: next.filter(isChanged).map(({ id }) => id),
    removed: now.filter(({ id }) => !after.has(id)).map(({ id }) => id),
  };
}
