/** Events only wake; the loop decides what to do. Wakes that come while nobody waits are kept. */
import { AgentError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';

export type WakeReason = 'source' | 'request' | 'pass' | 'reload';

const wakened = new AgentError('aborted', 'something happened');

export class Waker {
  readonly #clock: Clock;
  #reasons = new Map<WakeReason, number>();
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(reason: WakeReason): void {
    this.#reasons.set(reason, this.#clock.monotonicMs());
    this.#wake?.();
  }

  /**
   * What happened since the last call, and when it did so last, in milliseconds of the monotonic clock. Waits up to `ms` for something.
   * Rejects when the signal aborts.
   */
  async wait(ms: number, signal: AbortSignal): Promise<ReadonlyMap<WakeReason, number>> {
    signal.throwIfAborted();
    if (this.#reasons.size === 0) {
      const woken = new AbortController();
      const end = (): void => woken.abort(signal.reason);
      signal.addEventListener('abort', end);
      this.#wake = () => woken.abort(wakened);
      try {
        await this.#clock.sleep(ms, woken.signal);
      } catch (error) {
        if (signal.aborted || !woken.signal.aborted) throw error;
      } finally {
        this.#wake = undefined;
        signal.removeEventListener('abort', end);
      }
    }
    return this.taken();
  }

  /** What happened since the last call, without a wait. */
  taken(): ReadonlyMap<WakeReason, number> {
    const reasons = this.#reasons;
    this.#reasons = new Map();
    return reasons;
  }
}
