/** The machine's clock. */
import type { Clock } from '../core/ports.ts';

/** Node fires a timer of more than 2^31 - 1 ms at once, so a long sleep is made of naps of about 12 days. */
const napMaxMs = 2 ** 30;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    const endMs = performance.now() + ms;
    signal.throwIfAborted();
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) await nap(Math.min(leftMs, napMaxMs), signal);
  },
};

function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    // Rounded up: a timer of a fraction of a millisecond would only spin.
    const timer = setTimeout(() => {
      // The signal of a daemon outlives thousands of sleeps.
      signal.removeEventListener('abort', stop);
      resolve();
    }, Math.ceil(ms));
    signal.addEventListener('abort', stop, { once: true });
  });
}
