/** Time in the simulated world: it stands still while anything can go on, and then moves on to the next moment that somebody waits for. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../core/ports.ts';

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export class WorldClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #wallMs: number;
  #elapsedMs = 0;

  /** Whether something real is still going on. */
  readonly #isBusy: () => boolean;

  constructor(startMs: number, isBusy: () => boolean) {
    this.#wallMs = startMs;
    this.#isBusy = isBusy;
  }

  now(): Date {
    return new Date(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (ms <= 0) return resolve();
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', stop);
      };
      const stop = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      const sleeper = {
        atMs: this.#elapsedMs + ms,
        wake: () => {
          leave();
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', stop);
    });
  }

  /** Sets the clock on the wall, as an administrator does. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  /** Lets everything happen that happens until then. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await this.#rest();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#moveTo(next.atMs);
      next.wake();
      await this.#rest();
    }
    this.#moveTo(endMs);
  }

  /** Until nothing can go on. */
  async #rest(): Promise<void> {
    await tick();
    while (this.#isBusy() || isTurnAwaited()) {
      await turn();
      await tick();
    }
  }

  #next(endMs: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const one of this.#sleepers) if (one.atMs <= endMs && (next === undefined || one.atMs < next.atMs)) next = one;
    return next;
  }

  #moveTo(ms: number): void {
    this.#wallMs += ms - this.#elapsedMs;
    this.#elapsedMs = ms;
  }
}

/** Long work of a pass lets timers and sockets have their turn: time would pass it by. */
function isTurnAwaited(): boolean {
  return process.getActiveResourcesInfo().includes('Immediate');
}

/** Until all promises have come to rest: what is in memory goes on in nothing else. A turn of the event loop would cost ten times as much. */
function tick(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}
