/** The time in area A: as fast as it was told, and set forward by whoever cannot wait. It never goes back. */

/** Dates have four digits of year on the wire. */
const lastMs = Date.UTC(9999, 0, 1);

/** A year takes half a minute. */
const speedMax = 1_000_000;

export class EmulatorClock {
  readonly #speed: number;
  /** What it showed when `#sinceMs` was. */
  #baseMs: number;
  #sinceMs: number;

  /**
   * `speed` 1 is real time, 0 stands still; `notBeforeMs` is what it showed in an earlier life.
   * @throws RangeError for what is no speed.
   */
  constructor({ speed, notBeforeMs }: { readonly speed: number; readonly notBeforeMs: number }) {
    if (!(speed >= 0 && speed <= speedMax)) throw new RangeError(`speed must be from 0 to ${speedMax}, not ${speed}`);
    this.#speed = speed;
    this.#baseMs = Math.max(Date.now(), notBeforeMs);
    this.#sinceMs = performance.now();
  }

  /** UNIX milliseconds, whole. */
  now(): number {
    return Math.min(lastMs, Math.floor(this.#baseMs + (performance.now() - this.#sinceMs) * this.#speed));
  }

  /** @throws RangeError for what is no time forward. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`the clock cannot be advanced by ${ms} ms`);
    this.#baseMs = Math.min(lastMs, this.now() + ms);
    this.#sinceMs = performance.now();
  }

  reset(): void {
    this.#baseMs = Date.now();
    this.#sinceMs = performance.now();
  }
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
