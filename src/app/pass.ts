/** One pass: read what changed, judge, build, push, record. `sync` is one of these; the daemon is many. */
import { isAgentError } from '../core/errors.ts';
import { type PassEnded, after } from '../core/loop/after.ts';
import { keepLoopState, loopState } from './loop-record.ts';
import type { PartsToForget } from './review/forgotten.ts';
import { review } from './review/review.ts';
import { ageingNow, keptDigests } from './push/retention.ts';
import type { PushReport } from './push/push-report.ts';
import { pushNewest, pushRepeat } from './push/push.ts';
import { standingBlock } from './push/blocked.ts';
import { prepare } from './prepare/prepare.ts';
import { compactScattered } from './read/idle-work.ts';
import type { ReadOptions } from './read/look-at-all.ts';
import { readSources } from './read-sources.ts';
import { passExit, pushSummary, sourceReport, unjudged } from './report.ts';
import type { PassReport } from '../core/report.ts';
import { rollBackRequested } from './prepare/requests.ts';
import { type KeepsToRetryAfter, retrying } from './push/retrying.ts';
import type { Dependencies } from './dependencies.ts';

export interface PassOptions extends ReadOptions {
  /**
   * `always`: the newest snapshot, also where the service has it; `repeat`: the last acknowledged one, where it is due once
   * more; `no`: only read and judge.
   */
  readonly push: 'always' | 'ifNeeded' | 'repeat' | 'no';
  /** Go on from the sources after a rollback. */
  readonly resume: boolean;
  /** A push that did not arrive is tried again for this long. */
  readonly retryForMs: number;
  /** Who sends nothing before the time that the service asked for with `Retry-After`; `undefined`: somebody wants it sent now. */
  readonly keepsToRetryAfter?: KeepsToRetryAfter | undefined;
  /** Which of the sources that are expensive to ask are polled. Default: all of them. */
  readonly polls?: 'all' | 'due';
  /** Somebody asked for a pass, and may wait for the end of it. */
  readonly isAwaited?: boolean;
}

/** Runs one pass and records it. Throws only what ends it: a full disk, a damaged state, an abort, a bug. */
export async function runPass(deps: Dependencies, options: PassOptions, signal: AbortSignal): Promise<PassReport> {
  const { ledger, buffer, clock } = deps;
  const begun = { begunMs: clock.now().getTime(), asked: await ledger.requests.asked() };
  await prepare(deps, options);
  const rolledBack = options.push === 'no' ? undefined : await rollBackRequested(deps, options.retryForMs, signal);
  const read = await readSources(deps, options, signal);
  // After a rollback the accepted reads are what the service holds, until somebody resumes from the sources.
  const isRolledBack = (await ledger.state()).rolledBack !== undefined;
  const verdicts = isRolledBack ? read.reads.map(unjudged) : await review(deps, read);
  const push = rolledBack ?? (await pushWithRetries(deps, options, signal));
  const report: PassReport = {
    at: clock.now().toISOString(),
    begunAt: new Date(begun.begunMs).toISOString(),
    outcome: push.outcome,
    exit: passExit(push, verdicts, read.reads, deps),
    ...(push.reason === undefined ? {} : { reason: push.reason }),
    ...(push.hint === undefined ? {} : { hint: push.hint }),
    ...(push.push === undefined
      ? {}
      : { push: { ...pushSummary(push.push), ...(push.head === undefined ? {} : { head: push.head }) } }),
    sources: verdicts.map((verdict) => sourceReport(deps, verdict)),
  };
  if (options.proof !== 'idle') await compactScattered(deps, signal);
  buffer.parts.prune();
  const ageing = await ageingNow(deps);
  await deps.archive.keepOnly(await keptDigests(deps, ageing.agedMs));
  await ledger.setState({ lastPass: report, ageing, ...(options.isAwaited === true && { askedPass: report }) });
  await keepLoopState(
    deps,
    after(await loopState(deps), passEnded(deps, { options, report, begun, forgotten: read.forgotten })),
  );
  return report;
}

function passEnded(
  { buffer, clock }: Dependencies,
  done: {
    options: PassOptions;
    report: PassReport;
    begun: Pick<PassEnded, 'begunMs' | 'asked'>;
    forgotten: PartsToForget;
  },
): PassEnded {
  const { push, polls = 'all' } = done.options;
  const { outcome, reason, hint, sources } = done.report;
  return {
    kind: 'pass',
    push: push === 'no' || push === 'repeat' ? push : 'newest',
    polls,
    outcome,
    reason,
    hint,
    ...done.begun,
    endedMs: clock.now().getTime(),
    hasAccepted: done.forgotten.hasForgotten() || sources.some(({ state }) => state === 'accepted'),
    unread: sources.filter(({ state }) => state === 'unread').map(({ name }) => name),
    revision: buffer.reads.revision(),
  };
}

/** What a pass needs to begin again on a new buffer. */
interface Rebuildable {
  readonly deps: Dependencies;
  rebuildBuffer(): void;
}

/** One pass; a buffer that turns out to be damaged is rebuilt, once, and the pass begins again. */
export async function runPassOrRebuild(
  agent: Rebuildable,
  options: PassOptions,
  signal: AbortSignal,
): Promise<PassReport> {
  try {
    return await runPass(agent.deps, options, signal);
  } catch (error) {
    if (!isAgentError(error, 'state.corrupt')) throw error;
    agent.deps.log.error('the buffer is damaged; it is moved aside and rebuilt', { cause: error.message });
    agent.rebuildBuffer();
    options.due?.forget();
    return runPass(agent.deps, options, signal);
  }
}

async function pushWithRetries(deps: Dependencies, options: PassOptions, signal: AbortSignal): Promise<PushReport> {
  const { push, retryForMs, keepsToRetryAfter } = options;
  if (push === 'no') return standing(deps);
  if (push !== 'repeat')
    return retrying(deps, retryForMs, () => pushNewest(deps, { push, keepsToRetryAfter }, signal), signal);
  const repeated = await pushRepeat(deps, { keepsToRetryAfter }, signal);
  return repeated ?? pushNewest(deps, { push: 'ifNeeded', keepsToRetryAfter }, signal);
}

/** How things stand where a pass pushes nothing: what failed stays in sight until a push is acknowledged or not needed. */
async function standing(deps: Dependencies): Promise<PushReport> {
  const blocked = await standingBlock(deps);
  if (blocked !== undefined) return { outcome: 'blocked', reason: blocked.reason, hint: blocked.hint };
  const { servedMs = -Infinity, stopped } = await loopState(deps);
  // What came after it was a repeat of the snapshot before.
  if (stopped?.isRefused === true) return { outcome: 'refused', reason: stopped.reason };
  const last = await deps.ledger.pushes.last(deps.address);
  if (last === undefined || last.outcome === 'acknowledged' || servedMs > last.atMs) return { outcome: 'unchanged' };
  return { outcome: last.outcome ?? 'unknown', reason: last.detail };
}
