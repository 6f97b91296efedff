/** The time of model routing. It runs at a speed that can be changed, and can be set; it goes back only where nothing has happened. */
import type { RoutingState, RoutingStore, Shelf } from './store.ts';

/** Dates on the wire have four-digit years. */
export const lastMs = Date.UTC(9999, 0, 1);

/** At this speed a year takes half a minute. */
export const speedMax = 1_000_000;

const speedDefault = 1;

/** The stored clock: its time at a moment of real time, and its speed from then on. */
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
  readonly #speedAtStart: number;
  /** The clock's time at the moment `sinceMs` of `performance.now`, and its speed from then on. */
  #pace = { shownMs: 0, sinceMs: 0, speed: 0 };

  /**
   * `speed` 1 is real time, 0 stands still; without it the stored speed goes on, or else real time. After a restart the time goes on as if the emulator had never stopped, so
   * nothing is written while time passes and a killed process loses no time.
   * @throws RangeError for a speed that is out of range.
   */
  constructor({ store, speed }: { readonly store: RoutingStore; readonly speed: number | undefined }) {
    if (speed !== undefined) checkSpeed(speed);
    this.#store = store;
    this.#speedAtStart = speed ?? speedDefault;
    this.#shelf = store.shelf<Setting>('clock');
    const kept = this.#shelf.get('clock');
    this.#set(kept === undefined ? Date.now() : shownBy(kept), speed ?? kept?.speed ?? speedDefault);
  }

  /** Whole UNIX milliseconds. */
  now(): number {
    const { shownMs, sinceMs, speed } = this.#pace;
    return Math.min(lastMs, Math.floor(shownMs + (performance.now() - sinceMs) * speed));
  }

  /** @throws RangeError for a step that is negative or not finite. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`the clock cannot be advanced by ${ms} ms`);
    this.#set(this.now() + ms);
  }

  /** Writes down the time of now, so that a copy of the stored clock has it. */
  hold(): void {
    this.#set(this.now());
  }

  /** Goes on from the stored clock, at the moment that it shows. */
  resume(): void {
    const kept = this.#shelf.get('clock');
    if (kept === undefined) return;
    this.#set(kept.shownMs, kept.speed);
  }

  /** The time at which a state was dumped, that `hold` has written down. */
  heldIn(state: RoutingState): number {
    const [kept] = (state.get('clock') ?? []) as readonly Setting[];
    return kept?.shownMs ?? 0;
  }

  get speed(): number {
    return this.#pace.speed;
  }

  /** The speed to go on with after a freeze: that of the start, unless it began frozen. */
  get usualSpeed(): number {
    return this.#speedAtStart === 0 ? 1 : this.#speedAtStart;
  }

  /** The caller makes sure that nothing has happened after this moment. */
  set(ms: number): void {
    if (!(ms >= 0 && ms <= lastMs)) throw new RangeError('the time must be from 1970 to 9998');
    this.#set(Math.floor(ms));
  }

  /** @throws RangeError for a speed that is out of range. */
  setSpeed(speed: number): void {
    checkSpeed(speed);
    this.#set(this.now(), speed);
  }

  reset(): void {
    this.#set(Date.now(), this.#speedAtStart);
  }

  #set(ms: number, speed = this.speed): void {
    const shownMs = Math.min(lastMs, ms);
    const before = this.#pace;
    this.#store.change(() => {
      this.#shelf.set({ id: 'clock', seq: 0, shownMs, realMs: Date.now(), speed });
      this.#store.onFailure(() => (this.#pace = before));
      this.#pace = { shownMs, sinceMs: performance.now(), speed };
    });
  }
}

function checkSpeed(speed: number): void {
  if (typeof speed === 'number' && speed >= 0 && speed <= speedMax) return;
  throw new RangeError(`speed must be from 0 to ${speedMax}, not ${JSON.stringify(speed)}`);
}

/**
 * The time that the stored clock shows now, exact to a millisecond of real time. It does not go back if the machine's clock
 * was set back meanwhile.
 */
function shownBy({ shownMs, realMs, speed }: Setting): number {
  return Math.ceil(shownMs + Math.max(0, Date.now() + 1 - realMs) * speed);
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
