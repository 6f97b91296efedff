/** When a push that did not arrive may be tried again, and a command that waits for it. */
import { fullJitterMs } from '../../core/loop/backoff.ts';
import type { Dependencies } from '../dependencies.ts';
import { loopState } from '../loop-record.ts';
import type { PushReport } from './push-report.ts';

/**
 * Tries again for so long from the first failure on, with a backoff that starts anew: earlier failures must not use up the
 * time. A service that asks for a longer wait ends it early.
 */
export async function retrying(
  deps: Dependencies,
  forMs: number,
  attempt: () => Promise<PushReport>,
  signal: AbortSignal,
): Promise<PushReport> {
  const { clock, log } = deps;
  let deadlineMs: number | undefined;
  for (let failures = 1; ; failures++) {
    const report = await attempt();
    if (report.retry === undefined || forMs === 0) return report;
    deadlineMs ??= clock.monotonicMs() + forMs;
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0 || report.retry.askedMs > leftMs) return report;
    const waitMs = Math.min(
      leftMs,
      Math.max(report.retry.askedMs, fullJitterMs({ attempt: failures, random: deps.random })),
    );
    const { outcome, reason } = report;
    log.warn('the push was not acknowledged and is tried again', { outcome, detail: reason, inMs: Math.round(waitMs) });
    deps.observe({ kind: 'waiting', ms: waitMs, why: `trying again: ${reason ?? outcome}` });
    await clock.sleep(waitMs, signal);
  }
}

/** A command, which ends then, or the loop of a daemon, which waits by itself. */
export type KeepsToRetryAfter = 'sync' | 'loop';

/**
 * The wait that an earlier answer asked for with `Retry-After`, where it is not over.
 * @param force the command that does not wait for it; `undefined`: there is none
 */
export async function waitThatWasAsked(deps: Dependencies, force: string | undefined): Promise<PushReport | undefined> {
  const untilMs = (await loopState(deps)).retry?.askedUntilMs ?? -Infinity;
  const leftMs = untilMs - deps.clock.now().getTime();
  if (leftMs <= 0) return undefined;
  return {
    outcome: 'unreachable',
    reason: `the service asked with Retry-After for no push before ${new Date(untilMs).toISOString()}`,
    hint: force === undefined ? 'the agent tries again then' : `try again then; "${force}" pushes now`,
    retry: { askedMs: leftMs },
  };
}
