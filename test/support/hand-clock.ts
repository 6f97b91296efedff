import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/core/ports.ts';

export interface HandClock extends Clock {
  /**
   * Moves time on and wakes sleepers in the order of their time, each at its own; what they do then, sleeping again
   * included, happens before time moves on. Resolves when everything that woke has come to rest.
   */
  advance(ms: number): Promise<void>;
  /** Sets the clock on the wall, forth or back, as an administrator does. Nobody wakes and no duration changes. */
  jump(ms: number): void;
  /** How many sleep now. */
  sleepers(): number;
}

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock that only moves by hand. */
export function handClock(start: Date): HandClock {
  const sleepers = new Set<Sleeper>();
  let elapsedMs = 0;
  let wallMs = start.getTime();

  const moveTo = (ms: number): void => {
    wallMs += ms - elapsedMs;
    elapsedMs = ms;
  };
  const nextBefore = (endMs: number): Sleeper | undefined =>
    [...sleepers].filter((one) => one.wakeAtMs <= endMs).toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)[0];

  return {
    now: () => new Date(wallMs),
    monotonicMs: () => elapsedMs,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        if (ms <= 0) return resolve();
        const leave = (): void => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', stop);
        };
        const stop = (): void => {
          leave();
          reject(signal.reason);
        };
        const sleeper = { wakeAtMs: elapsedMs + ms, wake: () => (leave(), resolve()) };
        sleepers.add(sleeper);
        signal.addEventListener('abort', stop);
      });
    },
    async advance(ms) {
      const endMs = elapsedMs + ms;
      await rest();
      for (let next = nextBefore(endMs); next !== undefined; next = nextBefore(endMs)) {
        moveTo(next.wakeAtMs);
        next.wake();
        await rest();
      }
      moveTo(endMs);
    },
    jump: (ms) => void (wallMs += ms),
    sleepers: () => sleepers.size,
  };
}

/** A few turns of the event loop, for chains of promises and immediates; not for the disk or the network. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await turn();
}
