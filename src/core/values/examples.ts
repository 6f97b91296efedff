/** What a third walk adds to findings: their examples, and what they reach. */
import type { Month } from '../model.ts';
import type { PackedPoints } from '../series/packing.ts';
import { LargestChanges } from '../series/largest.ts';
import { formatMonth } from '../time/month.ts';
import { type ValueRules, closedMonths } from './closed.ts';
import { factorRange, isInRange } from './factor-range.ts';
import { findLoss } from './fewer.ts';
import type { FindingExample, ReachingFinding } from './finding.ts';
import { DriverLook, type DriverPairs, commonPoints } from './look.ts';
import { type Found, type Sought, isAbout } from './measures.ts';
import { Reach, type Showing } from './reach.ts';
import { exactFactor, isSameValue } from './series.ts';

const examplesMax = 3;

/**
 * @param pairs those of the walk before
 * @returns the findings with what they reach and their examples: those of closed months are the largest changes, all others the first drivers' newest
 */
export function completed(
  pairs: DriverPairs,
  found: readonly Found[],
  { rules, showing }: { readonly rules: ValueRules; readonly showing: Showing },
): readonly ReachingFinding[] {
  const all = found.map((one) => new Collector(one, rules, showing));
  const look = new DriverLook();
  let place = 0;
  for (const [before, after] of pairs) {
    const driver = (after ?? before) as PackedPoints;
    const at = place++;
    const shown = all.filter((one) => one.isNextAt(at, driver));
    if (shown.length === 0) continue;
    const path = JSON.parse(driver.path) as string[];
    const covering = shown.filter((one) => one.covers(path));
    if (covering.some((one) => one.needsLook)) look.load(before, after);
    for (const one of covering) one.add(look, before, after);
  }
  return all.map((one) => one.finding());
}

class Collector {
  readonly #found: Found;
  readonly #rules: ValueRules;
  readonly #showing: Showing;
  readonly #examples: FindingExample[] = [];
  readonly #largest = new LargestChanges(examplesMax);
  readonly #reach = new Reach();
  #next = 0;

  constructor(found: Found, rules: ValueRules, showing: Showing) {
    this.#found = found;
    this.#rules = rules;
    this.#showing = showing;
  }

  /** Whether the driver at a place shows it, in whatever group. Each place is asked for once, in order. */
  isNextAt(place: number, { id }: PackedPoints): boolean {
    const { kind, key } = this.#found.sought;
    if (kind === 'exchanged') return this.#showing.partners.has(id);
    const isHere = this.#showing.places.get(key)?.[this.#next] === place;
    if (isHere) this.#next++;
    return isHere;
  }

  /** Drivers are looked at closely for examples, and for the values of closed months. */
  get needsLook(): boolean {
    return this.#found.sought.kind === 'closed' || this.#examples.length < examplesMax;
  }

  covers(path: readonly string[]): boolean {
    return isAbout(this.#found, path);
  }

  add(look: DriverLook, before: PackedPoints | undefined, after: PackedPoints | undefined): void {
    const { sought, drivers } = this.#found;
    const driver = (after ?? before) as PackedPoints;
    const { id } = driver;
    if (sought.kind === 'closed') {
      this.#reach.addClosed(driver, look, this.#rules);
      const months = closedMonths(look, this.#rules);
      this.#largest.add({ kind: 'update', id, before, after, created: [], updated: months, deleted: [] });
      return;
    }
    this.#reach.addDriver(driver, sought.kind === 'exchanged' ? this.#showing.partners.get(id) : undefined);
    if (!this.needsLook) return;
    const room = Math.min(examplesMax - this.#examples.length, Math.ceil(examplesMax / drivers));
    const months =
      sought.kind === 'fewer-readings'
        ? (findLoss(look, { before, after }, this.#rules)?.months ?? [])
        : monthsShowing(sought, look);
    for (const month of months.slice(-room).reverse()) this.#examples.push(exampleOf(id, month, look, sought));
  }

  finding(): ReachingFinding {
    const examples =
      this.#found.sought.kind === 'closed'
        ? this.#largest.shown().map(({ path: _path, ...example }) => example)
        : this.#examples;
    return { ...this.#found.finding, examples, reach: this.#reach.noted() };
  }
}

/** A month that is new stands beside the next one of those that it is judged by. */
function exampleOf(driver: string, month: Month, look: DriverLook, sought: Sought): FindingExample {
  const { old, now } = look;
  const [was, is] = [old.indexOf(month), now.indexOf(month)];
  const tail = tailOf(sought, look);
  const judgedBy = sought.kind === 'copied' || tail?.month !== month ? is - 1 : tail.judgedBy;
  const before = was >= 0 ? old.text(was) : judgedBy >= 0 ? now.text(judgedBy) : undefined;
  return {
    driver,
    month: formatMonth(month),
    ...(before === undefined ? {} : { old: before }),
    ...(is < 0 ? {} : { new: now.text(is) }),
  };
}

function tailOf({ isLate }: Pick<Sought, 'isLate'>, { late, tail }: DriverLook): DriverLook['tail'] {
  return isLate === true ? late : tail;
}

/** The months of a driver that show a finding, in order. */
function monthsShowing({ kind, key, ...sought }: Sought, look: DriverLook): Month[] {
  const { old, now } = look;
  const tail = tailOf(sought, look);
  const inTail = (isShown: boolean | undefined): Month[] =>
    isShown === true && tail !== undefined ? [tail.month] : [];
  const common = (isShown: (i: number, j: number) => boolean): Month[] =>
    [...commonPoints(old, now)].filter(([i, j]) => !old.isZero(i) && isShown(i, j)).map(([i]) => old.month(i));
  switch (kind) {
    case 'new-scale':
      return inTail(tail?.exponents.includes(sought.exponent ?? 0));
    case 'new-sign':
      return inTail(tail?.isTurned);
    case 'copied':
      return inTail(tail?.repeats?.isRepeated);
    case 'zeros':
      return key === 'zeros' ? common((_i, j) => now.isZero(j)) : inTail(tail?.isZero === true && tail.hasNoZero);
    case 'factor':
      if (sought.exact !== undefined) return common((i, j) => exactFactor(old, i, now, j) === sought.exact);
      return common((i, j) => {
        const range = now.isZero(j) || isSameValue(old, i, now, j) ? undefined : factorRange(old, i, now, j);
        return range !== undefined && isInRange(Number(sought.factor), range);
      });
    case 'moved':
      return look.move?.months === sought.months ? common((i, j) => !isSameValue(old, i, now, j)) : [];
    default:
      return common((i, j) => !isSameValue(old, i, now, j));
  }
}
