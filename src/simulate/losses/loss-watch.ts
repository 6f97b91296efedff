/**
 * Watches what a config does to the numbers at the service: what goes there, or becomes wrong, though nobody meant it. What is meant is
 * what the owners' books say, whatever the agent was shown.
 */
import { readBody, showMonth } from '../body.ts';
import { type Points, foldParts } from '../model.ts';
import type { PassReport } from '../../core/report.ts';
import type { Settings } from '../../core/settings.ts';
import type { Watcher, World } from '../world/world.ts';

/** What a service holds: by driver, then by month. */
type Held = ReadonlyMap<string, ReadonlyMap<number, string>>;

export interface Loss {
  /** Points that went, or became wrong, or stay though nobody has them. */
  readonly points: number;
  readonly drivers: number;
  /** So many points the service had before. */
  readonly of: number;
  readonly example: {
    readonly driver: string;
    readonly month: string;
    readonly was?: string | undefined;
    readonly is?: string | undefined;
  };
}

/** Drivers that somebody else keeps at the service. */
const otherDrivers = 12;
const otherMonths = 6;

export class LossWatch implements Watcher {
  #held: Held;
  readonly #others: Held;
  readonly losses: Loss[] = [];
  pushes = 0;
  /** Why the agent stopped, in the order in which it said so first. */
  readonly stops = new Set<string>();

  readonly #meantBy: Settings;

  /**
   * @param meantBy settings whose rules say what is meant
   * @param hasOthers the service holds drivers that are not of the config's sources
   */
  constructor(meantBy: Settings, { hasOthers = false } = {}) {
    this.#meantBy = meantBy;
    this.#others = hasOthers ? othersUntil(24_314) : new Map();
    this.#held = this.#others;
  }

  begun(world: World): void {
    if (this.#others.size === 0) return;
    world.tell(
      `the service holds ${this.#others.size} drivers that are not of these sources: somebody else keeps them there`,
    );
  }

  landed(world: World, text: string): void {
    this.pushes++;
    const { shouldDeleteMissing, points } = readBody(text);
    const before = this.#held;
    this.#held = shouldDeleteMissing ? points : merged(before, points);
    const meant = this.#meant(world);
    const found = lostBetween(before, this.#held, (driver, month) =>
      this.#others.has(driver) ? [this.#others.get(driver)?.get(month) ?? ''] : meant.get(driver)?.get(month),
    );
    if (found === undefined) return;
    this.losses.push(found);
    world.tell(tellLoss(found));
  }

  passed({ outcome, reason, sources }: PassReport): void {
    if (outcome === 'blocked' && reason !== undefined) this.stops.add(reason);
    for (const source of sources)
      if ((source.state === 'held' || source.state === 'unread') && source.reason !== undefined)
        this.stops.add(`${source.name}: ${source.reason}`);
  }

  /** What the service has at the end and nobody else. */
  left(world: World): Loss | undefined {
    const meant = this.#meant(world);
    const found = new Finder(this.#held);
    for (const [driver, months] of this.#held)
      for (const [month, was] of months) if (meant.get(driver)?.has(month) !== true) found.add({ driver, month, was });
    const left = found.loss;
    if (left !== undefined)
      world.tell(`${left.points} numbers stay at the service that no source has any more${exampleOf(left)}`);
    return left;
  }

  /** What the service has at the end, and what was booked is more. */
  short(world: World): Loss | undefined {
    const meant = this.#meant(world);
    const found = new Finder(this.#held);
    for (const [driver, months] of this.#held) {
      for (const [month, is] of months) {
        const right = meant.get(driver)?.get(month);
        if (right?.includes(is) === false) found.add({ driver, month, was: right.join(' or '), is });
      }
    }
    const { loss } = found;
    if (loss !== undefined)
      world.tell(
        `LOST: ${loss.points} of ${loss.of} numbers lack bookings, such as "${loss.example.driver}" in ${loss.example.month}, which is ${loss.example.is} where ${loss.example.was} was booked`,
      );
    return loss;
  }

  #meant({ owners }: World): Points {
    const points = new Map<string, ReadonlyMap<number, readonly string[]>>();
    for (const owner of owners) {
      const rules = this.#meantBy.sources.find(({ name }) => name === owner.place.name)?.mapping.drivers ?? [];
      const sheet = owner.meant();
      const folded = foldParts(
        [{ name: 'export', sheet, isCarried: false }],
        rules.map(({ rule }) => rule),
      );
      for (const [driver, months] of folded) points.set(driver, months);
    }
    return points;
  }
}

function tellLoss(loss: Loss): string {
  const what = loss.example.is === undefined ? 'go from the service' : 'become wrong at the service';
  return `LOST: ${loss.points} of ${loss.of} numbers ${what}, of ${loss.drivers} ${loss.drivers === 1 ? 'driver' : 'drivers'}${exampleOf(loss)}`;
}

function exampleOf({ example: { driver, month, was, is } }: Loss): string {
  const change = is === undefined ? `was ${was}` : `was ${was}, is ${is}`;
  return `, such as "${driver}" in ${month}, which ${change}`;
}

class Finder {
  readonly #drivers = new Set<string>();
  readonly #of: number;
  #points = 0;
  #example: Loss['example'] | undefined;

  constructor(before: Held) {
    this.#of = [...before.values()].reduce((sum, months) => sum + months.size, 0);
  }

  add({ driver, month, was, is }: { driver: string; month: number; was: string; is?: string | undefined }): void {
    this.#points++;
    this.#drivers.add(driver);
    this.#example ??= { driver, month: showMonth(month), was, ...(is === undefined ? {} : { is }) };
  }

  get loss(): Loss | undefined {
    if (this.#example === undefined) return undefined;
    return { points: this.#points, drivers: this.#drivers.size, of: this.#of, example: this.#example };
  }
}

/** @param meant the texts that are right for a point; `undefined`: nobody has it any more */
function lostBetween(
  before: Held,
  now: Held,
  meant: (driver: string, month: number) => readonly string[] | undefined,
): Loss | undefined {
  const gone = new Finder(before);
  const wrong = new Finder(before);
  for (const [driver, months] of before) {
    const held = now.get(driver);
    for (const [month, was] of months) {
      const right = meant(driver, month);
      // What was wrong before, or is not meant any more, is no loss.
      if (right?.includes(was) !== true) continue;
      const is = held?.get(month);
      if (is === undefined) gone.add({ driver, month, was });
      else if (!right.includes(is)) wrong.add({ driver, month, was, is });
    }
  }
  return gone.loss ?? wrong.loss;
}

/** A push that deletes nothing adds to what is there. */
function merged(before: Held, now: Held): Held {
  const held = new Map(before);
  for (const [driver, months] of now) held.set(driver, new Map([...(before.get(driver) ?? []), ...months]));
  return held;
}

function othersUntil(month: number): Held {
  return new Map(
    Array.from({ length: otherDrivers }, (_, at) => [
      `kept by hand/${at + 1}`,
      new Map(Array.from({ length: otherMonths }, (_month, back) => [month - back, String(100 * (at + 1) + back)])),
    ]),
  );
}
