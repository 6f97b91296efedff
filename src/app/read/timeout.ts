/** The time that a read may take, and what becomes of one that takes longer. */
import { AgentError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';

/** Why a timer ends that nobody needs any more. Without a reason of its own each `abort` makes an error with a stack. */
const over = new AgentError('aborted', 'the wait is over');

/** How long a read that was given up may take to end, for example to cancel its query on a server. */
const endingMaxMs = 5_000;

/**
 * Runs something for at most `ms`. The signal that it is given aborts when the time is over or the outer signal aborts. If
 * it does not end then, it is left behind: a read that hangs in the kernel cannot be cancelled, and must not hang the agent.
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
  const inner = late.signal;
  const aborted = new Promise<never>((_resolve, reject) => {
    inner.addEventListener('abort', () => reject(inner.reason as Error), { once: true });
  });
  const end = (): void => late.abort(signal.reason);
  signal.addEventListener('abort', end);
  const timer = clock.sleep(limit.ms, done.signal).then(
    () =>
      late.abort(
        new AgentError('source.timeout', `${limit.what} took longer than ${spoken(limit.ms)}`, {
          hint: 'raise its timeout, or find out why the place answers so slowly: a lock, a slow query, a dead share',
        }),
      ),
    () => undefined,
  );
  const work = run(inner);
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    if (inner.aborted) await ending(clock, work);
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
    done.abort(over);
    await timer;
  }
}

function spoken(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`;
}

async function ending(clock: Clock, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const settled = work.then(
    () => ended.abort(over),
    () => ended.abort(over),
  );
  await Promise.race([settled, clock.sleep(endingMaxMs, ended.signal).catch(() => undefined)]);
}
