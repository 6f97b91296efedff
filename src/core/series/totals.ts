/** What the values under each first element of a path add up to, before and after a change: a control total for a person. */
import { DecimalSum, addDecimals, negateDecimal } from '../numbers/arithmetic.ts';
import { type DriverChange, valuesByMonth } from './diff.ts';
import type { PackedPoints } from './packing.ts';

/** Sums over all months. `change` is `after` less `before`. */
export interface PathTotal {
  /** The first element of the path. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly change: string;
}

/** Takes every change first, and then every driver as it is after them. */
export class PathTotals {
  readonly #changed = new Map<string, DecimalSum>();
  readonly #after = new Map<string, DecimalSum>();

  note({ before, after, created, updated, deleted }: DriverChange): void {
    const old = before === undefined ? new Map<number, string>() : valuesByMonth(before.points);
    const now = after === undefined ? new Map<number, string>() : valuesByMonth(after.points);
    const [from, to] = [before && topOf(before), after && topOf(after)];
    const isMoved = from !== undefined && to !== undefined && from !== to;
    // A driver that goes to another element takes all its points along.
    const gone = isMoved ? old.keys() : [...updated, ...deleted];
    const added = isMoved ? now.keys() : [...created, ...updated];
    for (const month of gone) this.#changeOf(from ?? '').add(negateDecimal(old.get(month) ?? '0'));
    for (const month of added) this.#changeOf(to ?? '').add(now.get(month) ?? '0');
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Only drivers under an element that changes cost anything. */
  count(driver: PackedPoints): void {
    const top = topOf(driver);
    if (!this.#changed.has(top)) return;
    const sum = this.#after.get(top) ?? new DecimalSum();
    this.#after.set(top, sum);
    for (const value of valuesByMonth(driver.points).values()) sum.add(value);
  }

  /** In the order of their names. */
  list(): readonly PathTotal[] {
    return [...this.#changed.keys()].sort().map((path) => {
      const [change, after] = [this.#changeOf(path).text, this.#after.get(path)?.text ?? '0'];
      return { path, before: addDecimals(after, negateDecimal(change)), after, change };
    });
  }

  #changeOf(top: string): DecimalSum {
    const sum = this.#changed.get(top) ?? new DecimalSum();
    this.#changed.set(top, sum);
    return sum;
  }
}

function topOf({ path }: PackedPoints): string {
  return (JSON.parse(path) as string[])[0] ?? '';
}
