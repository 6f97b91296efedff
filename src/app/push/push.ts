/** Pushes the newest snapshot, or the last one again: one at a time, so that no older one can land after a newer one. */
import { putOffRepeats } from '../../core/loop/after.ts';
import type { Dependencies } from '../dependencies.ts';
import { keepLoopState, loopState } from '../loop-record.ts';
import { blockedReason, snapshotBlock } from './blocked.ts';
import { buildSnapshot, notePushed, withNewest } from './newest-snapshot.ts';
import { pushNeed } from './push-need.ts';
import type { PushReport } from './push-report.ts';
import { isRepeatDue, rollbackOpenMs, snapshotToRepeat, whyRepeated } from './repeat.ts';
import { type KeepsToRetryAfter, waitThatWasAsked } from './retrying.ts';
import { pushSnapshot, waitForOlder } from './send.ts';
import { forgetUnpushed } from './unpushed.ts';

interface KeepsTo {
  /** Who sends nothing before the time that the service asked for with `Retry-After`; `undefined`: somebody wants it sent now. */
  readonly keepsToRetryAfter: KeepsToRetryAfter | undefined;
}

/** The command that does not wait. Nothing forces a loop, which pushes by itself then. */
const forceOf = { sync: 'driver-sync sync --force', loop: undefined } as const;

/** Pushes the newest snapshot unless the service has it. One attempt. */
export async function pushNewest(
  deps: Dependencies,
  { push, keepsToRetryAfter }: KeepsTo & { readonly push: 'always' | 'ifNeeded' },
  signal: AbortSignal,
): Promise<PushReport> {
  const { ledger, address } = deps;
  const blocked = await blockedReason(deps);
  const repeat = { blocked: { outcome: 'blocked' as const, ...blocked }, keepsToRetryAfter };
  if (blocked !== undefined) return repeatWhileBlocked(deps, repeat, signal);
  const newest = await buildSnapshot(deps);
  if (push === 'ifNeeded' && !(await pushNeed(deps, newest.digest)).isDue) {
    notePushed(deps);
    await forgetUnpushed(deps);
    return { outcome: 'unchanged' };
  }
  const waiting = await withNewest(deps, newest, (snapshot) => snapshotBlock(deps, snapshot));
  if (waiting !== undefined) return repeatWhileBlocked(deps, { blocked: waiting, keepsToRetryAfter }, signal);
  const asked = keepsToRetryAfter && (await waitThatWasAsked(deps, forceOf[keepsToRetryAfter]));
  if (asked !== undefined) return asked;
  await waitForOlder(deps, newest.digest, signal);
  const last = await ledger.pushes.lastAcknowledged(address);
  const report = await withNewest(deps, newest, (snapshot) => pushSnapshot(deps, { snapshot, last }, signal));
  if (report.outcome === 'acknowledged') notePushed(deps);
  return report;
}

/**
 * Pushes the last acknowledged snapshot again, though sources may have accepted newer data. One attempt. `undefined`: it is
 * not due, or that snapshot cannot be sent any more.
 */
export async function pushRepeat(
  deps: Dependencies,
  { keepsToRetryAfter }: KeepsTo,
  signal: AbortSignal,
): Promise<PushReport | undefined> {
  const { ledger, address, log } = deps;
  const last = await ledger.pushes.lastAcknowledged(address);
  if (last === undefined || !(await isRepeatDue(deps))) return undefined;
  const snapshot = await snapshotToRepeat(deps, last);
  if (snapshot === undefined) return undefined;
  const asked = keepsToRetryAfter && (await waitThatWasAsked(deps, forceOf[keepsToRetryAfter]));
  if (asked !== undefined) return asked;
  log.info(`the last snapshot is pushed again: ${await whyRepeated(deps)}`, { push: last.id });
  await waitForOlder(deps, snapshot.digest, signal);
  const report = await pushSnapshot(deps, { snapshot, last, isRepeat: true }, signal);
  const blocked = report.outcome === 'acknowledged' ? await blockedReason(deps) : undefined;
  return blocked === undefined ? report : { outcome: 'blocked', ...blocked, push: report.push };
}

/** A newest snapshot that is blocked does not keep the last one from being repeated. */
async function repeatWhileBlocked(
  deps: Dependencies,
  { blocked, keepsToRetryAfter }: KeepsTo & { readonly blocked: PushReport },
  signal: AbortSignal,
): Promise<PushReport> {
  const report = await pushRepeat(deps, { keepsToRetryAfter }, signal);
  if (report === undefined) await putOffDue(deps);
  return report?.outcome === 'acknowledged' ? { ...blocked, push: report.push } : (report ?? blocked);
}

/** What is due and cannot be made would be due again at once. */
async function putOffDue(deps: Dependencies): Promise<void> {
  const nowMs = deps.clock.now().getTime();
  const loop = await loopState(deps);
  const [dueMs = Infinity] = loop.repeatsMs;
  const isDue = dueMs <= nowMs || (await rollbackOpenMs(deps)) !== undefined;
  if (isDue) await keepLoopState(deps, putOffRepeats(loop, nowMs));
}
