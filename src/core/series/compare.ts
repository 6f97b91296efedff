/** Compares a candidate with what was accepted, in one stream over both, and gathers all that judging it needs. */
import type { Month, Rule } from '../model.ts';
import { atOnce } from '../steps.ts';
import { ChangeCounts, type Changes, type DriverChange, type RenamedId, changeBetween, pairDrivers } from './diff.ts';
import { isWithin } from './merge-folds.ts';
import { type PackedDriver, type PackedPoints, type Tie, monthsIn, pointCount, unpackTies } from './packing.ts';

/** Points by driver, months in order. */
type PointsByDriver = ReadonlyMap<string, readonly Month[]>;

export interface RunSize {
  readonly drivers: number;
  readonly points: number;
}

/** What a person is told of a run of drivers. */
export interface RunSummary extends RunSize {
  /** A driver with two paths, two drivers with one. */
  readonly warnings: readonly string[];
  /** Points under `last` or `first` that have readings with the same time and different values. */
  readonly ties: readonly TiesFound[];
  /** The latest month and the first driver that has it; not known of what an older agent kept. */
  readonly latest?: { readonly month: Month; readonly driver: string } | undefined;
}

/** Such points of one entry, within parts or across them. */
export interface TiesFound {
  readonly rule: Rule;
  /** Which of the source's `drivers:`; `undefined` where that is not known. */
  readonly entry: number | undefined;
  readonly where: 'within' | 'across';
  readonly points: number;
  readonly example: Tie & { readonly driver: string };
}

export interface Comparison {
  readonly changes: Changes;
  readonly before: RunSize;
  readonly after: RunSummary;
  readonly deletes: PointsByDriver;
  /** Drivers that go whole. */
  readonly deletedDrivers: ReadonlySet<string>;
  /** Ids that change under the same path: the service sees a delete and a create. */
  readonly renamed: readonly RenamedId[];
  /** Every deleted point lies before the first month of `after`. */
  readonly dropsOnlyOldest: boolean;
  /** Drivers that lose months before the first one that they keep, of those that both have. */
  readonly losingOldest: { readonly drivers: number; readonly of: number };
  /** The month between the first and the last one of `after` that most drivers lose, of those that both have. */
  readonly losingBetween: { readonly month: Month; readonly drivers: number } | undefined;
  /** Every deleted point lies after the last month of `after`, and nothing is new. */
  readonly dropsOnlyNewest: boolean;
}

/** Compares at once what `comparing` compares in steps. */
export function compareRuns(...runs: Parameters<typeof comparing>): Comparison {
  return atOnce(comparing(...runs));
}

/**
 * Both runs come in the order of ids, each id once. A step is a driver, so that others may have their turn between them.
 * @param each sees every change on the way
 */
export function* comparing(
  before: Iterable<PackedPoints>,
  after: Iterable<PackedDriver>,
  each?: (change: DriverChange) => void,
): Generator<void, Comparison> {
  const left = { drivers: 0, points: 0 };
  const right = new RunSurvey();
  const deletes = new Map<string, readonly Month[]>();
  const deletedDrivers = new Set<string>();
  const goneByPath = new Map<string, string>();
  const newByPath = new Map<string, string>();
  let [firstDeleted, lastDeleted] = [Infinity, -Infinity];
  const losingOldest = { drivers: 0, of: 0 };
  const losing = new Map<Month, number>();
  const counts = new ChangeCounts();
  const note = (change: DriverChange): void => {
    const { kind, id, deleted } = change;
    counts.add(change);
    each?.(change);
    if (kind === 'delete') {
      deletedDrivers.add(id);
      goneByPath.set((change.before as PackedPoints).path, id);
    } else if (kind === 'create' && left.drivers > 0) newByPath.set((change.after as PackedPoints).path, id);
    if (deleted.length === 0) return;
    deletes.set(id, deleted);
    firstDeleted = Math.min(firstDeleted, deleted[0] as Month);
    lastDeleted = Math.max(lastDeleted, deleted.at(-1) as Month);
    if (kind !== 'update') return;
    if ((deleted[0] as Month) < firstMonthOf(change.after as PackedPoints)) losingOldest.drivers++;
    for (const month of deleted) losing.set(month, (losing.get(month) ?? 0) + 1);
  };
  for (const [old, now] of pairDrivers(counting(before, left), right.watching(after))) {
    if (old !== undefined && now !== undefined) losingOldest.of++;
    const change = changeBetween(old, now);
    if (change !== undefined) note(change);
    yield;
  }
  const changes = counts.sum();
  return {
    changes,
    before: left,
    after: right.summary(),
    deletes,
    deletedDrivers,
    renamed: [...goneByPath].flatMap(([path, from]) => {
      const to = newByPath.get(path);
      return to === undefined ? [] : [{ from, to }];
    }),
    losingOldest,
    losingBetween: mostLosing(losing, right),
    dropsOnlyOldest: deletes.size > 0 && lastDeleted < right.firstMonth,
    dropsOnlyNewest: deletes.size > 0 && changes.points.create === 0 && firstDeleted > right.lastMonth,
  };
}

function mostLosing(
  losing: ReadonlyMap<Month, number>,
  { firstMonth, lastMonth }: RunSurvey,
): Comparison['losingBetween'] {
  let most: Comparison['losingBetween'];
  for (const [month, drivers] of losing)
    if (month > firstMonth && month < lastMonth && drivers > (most?.drivers ?? 0)) most = { month, drivers };
  return most;
}

function firstMonthOf({ points }: PackedPoints): Month {
  const [first = Infinity] = monthsIn(points);
  return first;
}

/** What a person is told of a run of drivers, where there is nothing to compare it with. */
export function summarizeRun(drivers: Iterable<PackedDriver>): RunSummary {
  return atOnce(summarizingRun(drivers));
}

/** The same in steps, one for each driver. */
export function* summarizingRun(drivers: Iterable<PackedDriver>): Generator<unknown, RunSummary> {
  const survey = new RunSurvey();
  yield* survey.watching(drivers);
  return survey.summary();
}

const warningsMax = 20;

class RunSurvey {
  firstMonth = Infinity;
  lastMonth = -Infinity;
  #lastDriver = '';
  #drivers = 0;
  #points = 0;
  #warnings = 0;
  readonly #shown: string[] = [];
  readonly #byPath = new Map<string, string>();
  readonly #ties = new Map<string, TiesFound>();

  *watching(drivers: Iterable<PackedDriver>): Generator<PackedPoints> {
    for (const driver of drivers) {
      this.#note(driver);
      yield driver;
    }
  }

  #note(driver: PackedDriver): void {
    const { id, path, otherPath, points, ties } = driver;
    this.#drivers++;
    const months = monthsIn(points);
    this.#points += months.length;
    const [first = Infinity] = months;
    const last = months.at(-1) ?? 0;
    this.firstMonth = Math.min(this.firstMonth, first);
    if (last > this.lastMonth) {
      this.lastMonth = last;
      this.#lastDriver = id;
    }
    if (otherPath !== undefined) {
      this.#warn(`driver "${id}" has two paths, ${otherPath} and ${path}; the latest reading's is used`);
    }
    const twin = this.#byPath.get(path);
    if (twin === undefined) this.#byPath.set(path, id);
    else this.#warn(`drivers "${twin}" and "${id}" have one path, ${path}`);
    if (ties !== undefined) this.#noteTies(driver, ties);
  }

  #noteTies({ id, rule, entry }: PackedDriver, ties: Uint8Array): void {
    for (const [, tie] of unpackTies(ties)) {
      const where = isWithin(tie) ? 'within' : 'across';
      const key = JSON.stringify([rule, entry ?? null, where]);
      const found = this.#ties.get(key) ?? { rule, entry, where, points: 0, example: { ...tie, driver: id } };
      this.#ties.set(key, { ...found, points: found.points + 1 });
    }
  }

  #warn(warning: string): void {
    if (this.#warnings++ < warningsMax) this.#shown.push(warning);
  }

  summary(): RunSummary {
    const more = this.#warnings - this.#shown.length;
    const warnings = more > 0 ? [...this.#shown, `and ${more} more`] : this.#shown;
    const latest = this.#points === 0 ? undefined : { month: this.lastMonth, driver: this.#lastDriver };
    return { drivers: this.#drivers, points: this.#points, warnings, ties: [...this.#ties.values()], latest };
  }
}

function* counting(
  drivers: Iterable<PackedPoints>,
  size: { drivers: number; points: number },
): Generator<PackedPoints> {
  for (const driver of drivers) {
    size.drivers++;
    size.points += pointCount(driver.points);
    yield driver;
  }
}
