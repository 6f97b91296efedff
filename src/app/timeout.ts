import { AgentError } from '../core/errors.ts';
import type { Clock } from '../core/ports.ts';

/**
 * Runs something for at most `ms`. What it does not stop by itself when its signal aborts is left behind: a read that
 * hangs in the kernel cannot be cancelled, and must not hang the agent.
 * @throws AgentError `source.timeout`, or the outer signal's reason.
 */
export async function withTimeout<T>(
  clock: Clock,
  limit: { readonly ms: number; readonly what: string },
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const done = new AbortController();
  const late = new AbortController();
  const inner = AbortSignal.any([signal, late.signal]);
  const aborted = new Promise<never>((_resolve, reject) => {
    inner.addEventListener('abort', () => reject(inner.reason as Error), { once: true });
  });
  const timer = clock.sleep(limit.ms, done.signal).then(
    () =>
      late.abort(
        new AgentError('source.timeout', `${limit.what} took longer than ${Math.round(limit.ms / 1000)} s`, {
          hint: 'raise its timeout, or find out why the place answers so slowly',
        }),
      ),
    () => undefined,
  );
  try {
    return await Promise.race([run(inner), aborted]);
  } finally {
    done.abort();
    await timer;
  }
}
