/**
 * What the newest months show, by the group right above each driver. Where most drivers of a larger group show something, most
 * drivers of one of these do: so a slip is ruled out without the walk over all drivers.
 */
import type { Tail } from './tail.ts';

interface Counts {
  scaled: number;
  signed: number;
  unzeroed: number;
  repeating: number;
  turned: number;
  zeros: number;
  repeated: number;
  /** Drivers by the power of ten that a new value may have grown by; `undefined`: none has. */
  scales: Map<number, number> | undefined;
}

export class TailGroups {
  readonly #groups = new Map<string, Counts>();

  /** @param path of the driver, as JSON */
  add(path: string, tail: Tail): void {
    const counts = this.#countsOf(path);
    const { exponents, repeats } = tail;
    if (tail.hasScale) counts.scaled++;
    if (tail.hasSign) counts.signed++;
    if (tail.hasNoZero) counts.unzeroed++;
    if (repeats !== undefined) counts.repeating++;
    if (tail.isTurned) counts.turned++;
    if (tail.isZero && tail.hasNoZero) counts.zeros++;
    if (repeats?.isRepeated === true) counts.repeated++;
    if (exponents.length === 0) return;
    counts.scales ??= new Map();
    for (const exponent of exponents) counts.scales.set(exponent, (counts.scales.get(exponent) ?? 0) + 1);
  }

  #countsOf(path: string): Counts {
    // A quotation mark within an element has a backslash before it.
    const group = path.slice(0, Math.max(0, path.lastIndexOf('","')));
    let counts = this.#groups.get(group);
    if (counts === undefined) {
      counts = { scaled: 0, signed: 0, unzeroed: 0, repeating: 0, turned: 0, zeros: 0, repeated: 0, scales: undefined };
      this.#groups.set(group, counts);
    }
    return counts;
  }

  /** Powers of ten, those of most drivers first. */
  get scales(): readonly number[] {
    const drivers = new Map<number, number>();
    const possible = new Set<number>();
    for (const { scales, scaled } of this.#groups.values()) {
      for (const [exponent, count] of scales ?? []) {
        drivers.set(exponent, (drivers.get(exponent) ?? 0) + count);
        if (count * 10 >= scaled * 8) possible.add(exponent);
      }
    }
    return [...drivers]
      .filter(([exponent, count]) => count >= 5 && possible.has(exponent))
      .sort(([a, one], [b, other]) => other - one || a - b)
      .map(([exponent]) => exponent);
  }

  get mayHaveTurned(): boolean {
    return this.#isAnywhere(5, ({ turned, signed }) => [turned, signed * 0.8]);
  }

  get mayHaveZeros(): boolean {
    return this.#isAnywhere(10, ({ zeros, unzeroed }) => [zeros, unzeroed * 0.5]);
  }

  get mayBeCopied(): boolean {
    return this.#isAnywhere(9, ({ repeated, repeating }) => [repeated, repeating * 0.9]);
  }

  /** Whether so many drivers show it in all, and in some group as many as that group asks for. */
  #isAnywhere(least: number, of: (counts: Counts) => readonly [found: number, asked: number]): boolean {
    let [all, isPossible] = [0, false];
    for (const counts of this.#groups.values()) {
      const [found, asked] = of(counts);
      all += found;
      isPossible ||= found > 0 && found >= asked;
    }
    return isPossible && all >= least;
  }
}
