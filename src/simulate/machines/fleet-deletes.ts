/**
 * What may go from the service, whichever machines push: told by what owners wrote, what was sent and what was approved. Where several ways lead
 * to a body, the one counts that deletes least at once.
 */
import type { Settings } from '../../core/settings.ts';
import { allowedInMonthOf, allowedOf, letsAllGo, mostBeginLater, mostLoseBetween, mostLoseFirst } from '../guarding.ts';
import { Violation } from '../promises.ts';
import type { WorldClock } from '../world/clock.ts';

/** The months that there are, by driver. */
export type Shape = ReadonlyMap<string, ReadonlySet<number>>;

/** One point that went without approval, or the driver that went with its last one. */
interface Gone {
  readonly unit: 'drivers' | 'points';
  /** When an agent can have let it go at the earliest. */
  readonly atMs: number;
}

interface Wrote {
  readonly atMs: number;
  readonly shape: Shape;
}

/** Of one source, in a body. */
interface Sent {
  readonly atMs: number;
  /** Which of the states that its owner wrote. */
  readonly state: number;
  readonly shape: Shape;
  /** Against the body that was acknowledged before it. */
  readonly went: readonly Gone[];
}

const dayMs = 86_400_000;
/** A body is made before it is sent. */
const madeBeforeMs = 300_000;

export class FleetDeletes {
  readonly #settings: Settings;
  readonly #clock: WorldClock;
  readonly #mark: (name: string) => void;
  readonly #sources = new Map<string, SourceDeletes>();

  constructor(settings: Settings, clock: WorldClock, mark: (name: string) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#mark = mark;
  }

  of(source: string): SourceDeletes {
    const known = this.#sources.get(source) ?? new SourceDeletes(source, this.#settings, this.#clock, this.#mark);
    this.#sources.set(source, known);
    return known;
  }

  /** @param rollbackOf the push that this one went back to, where it did */
  acknowledged(push: number, rollbackOf: number | undefined): void {
    for (const one of this.#sources.values()) one.acknowledged(push, rollbackOf);
  }
}

export class SourceDeletes {
  readonly #name: string;
  readonly #settings: Settings;
  readonly #clock: WorldClock;
  readonly #mark: (name: string) => void;
  readonly #wrote: Wrote[] = [];
  /** Points that somebody approved to go, and that have not gone since. */
  #approved: Shape = new Map();
  #acknowledged: Sent | undefined;
  #last: Sent | undefined;
  /** What went from one acknowledged body to the next. */
  #went: readonly Gone[] = [];
  /** And up to each push that was acknowledged. */
  readonly #wentBy = new Map<number, readonly Gone[]>();
  /** What can have been let go at all, pushed or not. */
  #mostGone: readonly Gone[] = [];

  constructor(name: string, settings: Settings, clock: WorldClock, mark: (name: string) => void) {
    this.#name = name;
    this.#settings = settings;
    this.#clock = clock;
    this.#mark = mark;
  }

  get #nowMs(): number {
    return this.#clock.now().getTime();
  }

  wrote(shape: Shape): void {
    const atMs = this.#nowMs;
    const before = this.#wrote.at(-1)?.shape;
    if (before !== undefined) this.#mostGone = [...this.#mostGone, ...this.#unapproved(before, shape, () => atMs)];
    this.#wrote.push({ atMs, shape });
  }

  /** @param state which of the states that its owner wrote @throws Violation */
  sent(state: number): void {
    const { atMs: nowMs, base } = { atMs: this.#nowMs, base: this.#acknowledged };
    const { shape } = this.#wrote[state]!;
    const before = this.#last?.shape;
    if (before !== undefined) this.#mostGone = [...this.#mostGone, ...this.#unapproved(before, shape, () => nowMs)];
    const went =
      base === undefined
        ? []
        : this.#unapproved(base.shape, shape, (driver, month) => this.#earliestMs(base, driver, month));
    this.#last = { atMs: nowMs, state, shape, went };
    if (base === undefined) return;
    const gone = goneBetween(base.shape, shape);
    if (gone.size > 0) this.#mark(went.length === 0 ? 'went as approved' : 'went within the share');
    const why = this.#beyond(went, this.#went, Math.max);
    if (why !== undefined) throw new Violation('evidence', `${this.#name}: ${why}`);
  }

  /** A body that somebody goes back to: nothing of it is anybody's delete. */
  wentBack(state: number): void {
    this.#last = { atMs: this.#nowMs, state, shape: this.#wrote[state]!.shape, went: [] };
  }

  acknowledged(push: number, rollbackOf: number | undefined): void {
    const [last, before] = [this.#last, this.#acknowledged];
    if (last === undefined) return;
    // What went after the push that it goes back to is taken back.
    const earlier = this.#wentBy.get(rollbackOf ?? push) ?? this.#went;
    this.#went = last === before ? earlier : [...earlier, ...last.went];
    this.#wentBy.set(push, this.#went);
    if (last === before) return;
    this.#acknowledged = last;
    // What was approved and went may come back, and does not go again by that.
    if (before !== undefined) this.#approved = without(this.#approved, goneBetween(before.shape, last.shape));
  }

  /** Somebody has seen what would go, and approved it. @throws Violation where that is not what would go */
  approved(shown: Shape): void {
    const isTrue = this.#wrote.some((one) =>
      this.#wrote.some((other) => isSame(goneBetween(one.shape, other.shape), shown)),
    );
    if (!isTrue) throw new Violation('evidence', `${this.#name}: what was shown to be deleted is not what would go`);
    this.#approved = joined(this.#approved, shown);
  }

  /** Why its newest state may wait for somebody, where all agents see it. @throws Violation where nothing is to be asked */
  whyHeld(): string {
    // Whoever takes over goes on from what was tried, and asks for nothing of it again.
    const [base, newest] = [this.#last, this.#wrote.at(-1)];
    if (base === undefined || newest === undefined) throw this.#heldForNothing('nothing was pushed yet');
    const earlier = base === this.#acknowledged ? this.#went : [...this.#went, ...base.went];
    const gone = goneBetween(base.shape, newest.shape);
    const went = goneOf(gone, newest.shape, () => newest.atMs);
    if (gone.size === 0) throw this.#heldForNothing('nothing of it goes');
    if (isOldest(gone, newest.shape) || mostBeginLater(base.shape, newest.shape)) return 'the oldest months go';
    const { floor } = this.#settings.guard;
    if (!letsAllGo(this.#settings) && mostLoseBetween(base.shape, newest.shape, floor))
      return 'a month between others goes';
    if (this.#addsUp() && mostLoseFirst(base.shape, newest.shape, floor)) return 'its oldest month becomes smaller';
    const why = this.#beyond(went, earlier, Math.min);
    // An agent that has used an approval may be gone before it pushed, and the next one asks again.
    if (why !== undefined) return without(gone, this.#approved).size === 0 ? 'what was approved is asked again' : why;
    const atMost = this.#beyond(went, [...earlier, ...this.#mostGone], Math.min);
    if (atMost === undefined) throw this.#heldForNothing(`${went.length} points and drivers of it go`);
    return 'what came back counts';
  }

  /** Where not only the last reading counts, an export has to begin with a month. */
  #addsUp(): boolean {
    const source = this.#settings.sources.find(({ name }) => name === this.#name);
    return !letsAllGo(this.#settings) && source?.mapping.drivers.every(({ rule }) => rule === 'last') === false;
  }

  #heldForNothing(why: string): Violation {
    return new Violation('arrives', `${this.#name} is held, and ${why}`);
  }

  /** @param which of the sizes that the source ever had a share is one of */
  #beyond(
    went: readonly Gone[],
    earlier: readonly Gone[],
    which: (...sizes: readonly number[]) => number,
  ): string | undefined {
    if (letsAllGo(this.#settings)) return undefined;
    for (const unit of ['drivers', 'points'] as const) {
      const whole = which(...this.#wrote.map(({ shape }) => sizeOf(shape)[unit]));
      const within = (all: readonly Gone[], ms: number): number =>
        all.filter((one) => one.unit === unit && one.atMs > this.#nowMs - ms).length;
      for (const [days, allowed] of [
        [1, allowedOf(whole, this.#settings)],
        [30, allowedInMonthOf(whole, this.#settings)],
      ] as const) {
        const [now, before] = [within(went, days * dayMs), within(earlier, days * dayMs)];
        if (now > 0 && now + before > allowed)
          return `${now} of ${whole} ${unit} went after ${before} in ${days} days, and ${allowed} may`;
      }
    }
    return undefined;
  }

  /** When a point that a body had can have been let go at the earliest. */
  #earliestMs({ state, atMs }: Sent, driver: string, month: number): number {
    const lacks = this.#wrote.findIndex(({ shape }) => shape.get(driver)?.has(month) !== true);
    if (lacks < state) return atMs - madeBeforeMs;
    return this.#wrote[lacks]!.atMs;
  }

  #unapproved(before: Shape, after: Shape, earliestMs: (driver: string, month: number) => number): readonly Gone[] {
    return goneOf(without(goneBetween(before, after), this.#approved), after, earliestMs);
  }
}

function goneOf(gone: Shape, after: Shape, earliestMs: (driver: string, month: number) => number): readonly Gone[] {
  return [...gone].flatMap(([driver, months]): readonly Gone[] => {
    const points = [...months].map((month): Gone => ({ unit: 'points', atMs: earliestMs(driver, month) }));
    if (after.has(driver)) return points;
    return [...points, { unit: 'drivers', atMs: Math.min(...points.map(({ atMs }) => atMs)) }];
  });
}

export function shapeOf(points: ReadonlyMap<string, ReadonlyMap<number, unknown>>): Shape {
  return new Map([...points].map(([driver, months]) => [driver, new Set(months.keys())]));
}

function goneBetween(before: Shape, after: Shape): Shape {
  return without(before, after);
}

function without(one: Shape, other: Shape): Shape {
  const left = [...one].map(([driver, months]): [string, Set<number>] => {
    const others = other.get(driver);
    return [driver, new Set([...months].filter((month) => others?.has(month) !== true))];
  });
  return new Map(left.filter(([, months]) => months.size > 0));
}

function joined(one: Shape, other: Shape): Shape {
  const all = new Map(one);
  for (const [driver, months] of other) all.set(driver, new Set([...months, ...(all.get(driver) ?? [])]));
  return all;
}

function isSame(one: Shape, other: Shape): boolean {
  return without(one, other).size === 0 && without(other, one).size === 0;
}

function isOldest(gone: Shape, after: Shape): boolean {
  const earliest = Math.min(...[...after.values()].flatMap((months) => [...months]));
  return [...gone.values()].every((months) => [...months].every((month) => month < earliest));
}

function sizeOf(shape: Shape): { readonly drivers: number; readonly points: number } {
  return { drivers: shape.size, points: [...shape.values()].reduce((sum, months) => sum + months.size, 0) };
}
