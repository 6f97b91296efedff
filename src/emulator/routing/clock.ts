/** The time in area A: as fast as it was told, and set forward by whoever cannot wait. It never goes back. */
import type { RoutingStore, Shelf } from './store.ts';

/** Dates have four digits of year on the wire. */
const lastMs = Date.UTC(9999, 0, 1);

/** A year takes half a minute. */
const speedMax = 1_000_000;

/** What is kept: what it showed at a moment of real time, and how fast it went on from there. */
interface Setting {
  readonly id: string;
  readonly seq: number;
  readonly shownMs: number;
  /** UNIX ms. */
  readonly realMs: number;
  readonly speed: number;
}

export class EmulatorClock {
  readonly #store: RoutingStore;
  readonly #shelf: Shelf<Setting>;
  readonly #speed: number;
  /** What it showed when `#sinceMs` was. */
  #shownMs = 0;
  #sinceMs = 0;

  /**
   * `speed` 1 is real time, 0 stands still. It goes on from an earlier life as if that had not ended, so that nothing is
   * to be written when time passes, and a process that is killed loses none.
   * @throws RangeError for what is no speed.
   */
  constructor({ store, speed }: { readonly store: RoutingStore; readonly speed: number }) {
    if (!(speed >= 0 && speed <= speedMax)) throw new RangeError(`speed must be from 0 to ${speedMax}, not ${speed}`);
    this.#store = store;
    this.#speed = speed;
    this.#shelf = store.shelf<Setting>('clock');
    const kept = this.#shelf.get('clock');
    this.#set(kept === undefined ? Date.now() : shownBy(kept));
  }

  /** UNIX milliseconds, whole. */
  now(): number {
    return Math.min(lastMs, Math.floor(this.#shownMs + (performance.now() - this.#sinceMs) * this.#speed));
  }

  /** @throws RangeError for what is no time forward. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`the clock cannot be advanced by ${ms} ms`);
    this.#set(this.now() + ms);
  }

  reset(): void {
    this.#set(Date.now());
  }

  #set(ms: number): void {
    const shownMs = Math.min(lastMs, ms);
    this.#store.change(() => {
      this.#shelf.set({ id: 'clock', seq: 0, shownMs, realMs: Date.now(), speed: this.#speed });
    });
    this.#shownMs = shownMs;
    this.#sinceMs = performance.now();
  }
}

/**
 * What an earlier life would show now, or up to a millisecond of real time later, since that is how fine both ends of its
 * time are known. Whoever set the machine's clock back meanwhile does not set this one back.
 */
function shownBy({ shownMs, realMs, speed }: Setting): number {
  return Math.ceil(shownMs + Math.max(0, Date.now() + 1 - realMs) * speed);
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
