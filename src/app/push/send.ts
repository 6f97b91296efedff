/** One push of one snapshot: waited for, recorded as begun, sent, and recorded as ended. */
import { isAgentError } from '../../core/errors.ts';
import { type Attempt, after } from '../../core/loop/after.ts';
import type { PushResult, SnapshotBody } from '../../core/ports.ts';
import { type CarriedMonths, type Changes, countingCarried, effectAt } from '../../core/series/diff.ts';
import type { Ledger, PushRecord, Snapshot } from '../../core/ledger.ts';
import type { Dependencies } from '../dependencies.ts';
import { keepLoopState, loopState, withLoop } from '../loop-record.ts';
import { firstPushTo } from '../review/approvals.ts';
import { inTurns } from '../turns.ts';
import { isFirstPush } from './blocked.ts';
import type { PushReport } from './push-report.ts';
import { comparedWith } from './served.ts';

/** An attempt that may still land must not land after a different snapshot: that one waits until its timeout is over. */
export async function waitForOlder(deps: Dependencies, digest: string, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const waitMs = ((await landsUntilMs(deps, digest)) ?? -Infinity) - clock.now().getTime();
  if (waitMs <= 0) return;
  log.warn(mayStillLand, { waitMs });
  deps.observe({ kind: 'waiting', ms: waitMs, why: mayStillLand });
  await clock.sleep(waitMs, signal);
}

export const mayStillLand = 'an earlier push may still land; a different snapshot waits for it';

/** Until when an attempt with other bytes than these may still land; `undefined`: no such attempt is known. */
export async function landsUntilMs(deps: Dependencies, digest: string): Promise<number | undefined> {
  const { ledger, address, clock, settings } = deps;
  const open = await ledger.pushes.maybeTaken(address, digest);
  if (open === undefined || settings.destination === 'emulator') return undefined;
  const nowMs = clock.now().getTime();
  const ownAgesMs = (ownEnds.get(ledger) ?? [])
    .filter((end) => end.address === address && end.digest !== digest)
    .map((end) => clock.monotonicMs() - end.monotonicMs);
  // A clock that was set back must not make the wait longer than it is meant to be, and one that was set forward not shorter.
  const ageMs = Math.min(Math.max(0, nowMs - (open.endedAtMs ?? nowMs)), ...ownAgesMs);
  return nowMs - ageMs + settings.destination.timeoutMs;
}

interface OwnEnd {
  readonly address: string;
  readonly digest: string;
  readonly monotonicMs: number;
}

/** When attempts of this process ended that may still land: no other one can know. */
const ownEnds = new WeakMap<Ledger, readonly OwnEnd[]>();

function noteOwnEnd({ ledger, address, clock, settings }: Dependencies, digest: string): void {
  if (settings.destination === 'emulator') return;
  const { timeoutMs } = settings.destination;
  const monotonicMs = clock.monotonicMs();
  const younger = (ownEnds.get(ledger) ?? []).filter((end) => monotonicMs - end.monotonicMs < timeoutMs);
  ownEnds.set(ledger, [...younger, { address, digest, monotonicMs }]);
}

export interface PushJob {
  readonly snapshot: Snapshot;
  /** The last acknowledged push: what the service holds, as far as is known. */
  readonly last: PushRecord | undefined;
  readonly rollbackOf?: number;
  /** It is the last acknowledged one, once more. */
  readonly isRepeat?: boolean;
}

/** What a push changes at the service, as far as is known, and which points it is the first to carry. */
async function changesSince(
  deps: Dependencies,
  last: PushRecord | undefined,
  snapshot: Snapshot,
): Promise<{ readonly changes: Changes; readonly carried: readonly CarriedMonths[] }> {
  if (last === undefined) {
    const { drivers, points } = snapshot;
    const created = { update: 0, delete: 0 };
    return {
      changes: { drivers: { create: drivers, ...created }, points: { create: points, ...created } },
      carried: [],
    };
  }
  const effect = effectAt(snapshot.format);
  return comparedWith(deps, { last, snapshot }, (old, now) => inTurns(countingCarried(old, now, effect)));
}

/** Records a push, sends it, and records what became of it. */
export async function pushSnapshot(deps: Dependencies, job: PushJob, signal: AbortSignal): Promise<PushReport> {
  const { ledger, clock, address } = deps;
  const { snapshot, last, rollbackOf } = job;
  const { digest, drivers, points, bytes } = snapshot;
  const { changes, carried } = await changesSince(deps, last, snapshot);
  await sayFirstPush(deps, snapshot);
  // What is recorded from here on has to be there after a restart.
  deps.confirmState?.();
  const begun = { atMs: clock.now().getTime(), address, digest, drivers, points, bytes, rollbackOf };
  const { shouldDeleteMissing } = snapshot.format;
  const isNewest = rollbackOf === undefined && job.isRepeat !== true;
  const id = await ledger.pushes.begin(
    { ...begun, shouldDeleteMissing, changes },
    isNewest ? { unpushed: undefined } : {},
  );
  deps.observe({ kind: 'push.begun', push: id, bytes });
  try {
    return await carryOut(deps, job, { id, begunMs: begun.atMs, carried }, signal);
  } catch (error) {
    deps.observe({ kind: 'push.broken', push: id });
    throw error;
  }
}

interface BegunPush {
  readonly id: number;
  readonly begunMs: number;
  readonly carried: Iterable<CarriedMonths>;
}

/** Sends a push that is recorded as begun, and records what became of it. */
async function carryOut(
  deps: Dependencies,
  { snapshot, last, rollbackOf, isRepeat = false }: PushJob,
  { id, begunMs, carried }: BegunPush,
  signal: AbortSignal,
): Promise<PushReport> {
  const { ledger, clock, address, destination } = deps;
  const { digest } = snapshot;
  const result = await send(deps, { id, digest }, () =>
    destination.push(observed(deps, snapshot.body()), signal, deps.confirm),
  );
  if (result.maybeTaken && result.outcome !== 'acknowledged') noteOwnEnd(deps, digest);
  deps.observe({ kind: 'push.answered', push: id });
  const endedAtMs = clock.now().getTime();
  const attempt = await attemptOf(deps, { result, digest, begunMs, endedMs: endedAtMs });
  const push = isRepeat ? 'repeat' : 'newest';
  const loop = after(await loopState(deps), { ...attempt, push, isSame: digest === last?.digest });
  let head: string | undefined;
  if (result.outcome === 'acknowledged') {
    const rolledBack =
      rollbackOf === undefined
        ? {}
        : { rolledBack: { push: rollbackOf, sinceMs: endedAtMs, isRestored: false }, unpushed: undefined };
    const firstPush = firstPushTo(address);
    await ledger.pushes.acknowledge(id, result, {
      atMs: endedAtMs,
      carried,
      state: { ...withLoop(await ledger.state(), loop), ...rolledBack, doubt: undefined },
    });
    head = await ledger.head();
    for (const approval of await ledger.holds.approvals()) {
      if (approval.state === 'pending' && approval.source === firstPush)
        await ledger.holds.closeApproval(approval.id, 'used');
    }
    await ledger.holds.release(firstPush);
  } else {
    await ledger.pushes.end(id, result, endedAtMs);
    await keepLoopState(deps, loop);
  }
  deps.observe({ kind: 'push.recorded', push: id });
  const isOver = result.outcome === 'acknowledged' || result.outcome === 'refused';
  return {
    outcome: result.outcome,
    reason: result.detail,
    push: await ledger.pushes.get(id),
    head,
    ...(isOver ? {} : { retry: { askedMs: attempt.askedMs } }),
  };
}

async function attemptOf(
  { address, buffer, ledger, random, settings }: Dependencies,
  done: { result: PushResult; digest: string; begunMs: number; endedMs: number },
): Promise<Omit<Attempt, 'push' | 'isSame'>> {
  const { result, digest, begunMs, endedMs } = done;
  return {
    kind: 'attempt',
    outcome: result.outcome,
    reason: result.detail,
    begunMs,
    endedMs,
    askedMs: result.retryAfterMs ?? 0,
    jitter: random(),
    revision: buffer.reads.revision(),
    // The embedded emulator holds no request back.
    followsOpenPush:
      settings.destination !== 'emulator' && (await ledger.pushes.maybeTaken(address, digest)) !== undefined,
  };
}

/** Nobody knows what a new address holds, so no count of deletes would show these. Said once for each snapshot. */
async function sayFirstPush(deps: Dependencies, { digest, drivers, format }: Snapshot): Promise<void> {
  const { address, ledger, log, settings } = deps;
  if (!format.shouldDeleteMissing || !(await isFirstPush(deps))) return;
  if ((await ledger.pushes.last(address))?.digest === digest) return;
  const level = settings.destination === 'emulator' ? 'info' : 'warn';
  log[level]('this is the first push to this address: it deletes every driver there that is not among these', {
    address,
    drivers,
  });
}

/** A push that could not begin (no token, no CA file) did not reach the service. One that broke later is recorded as unknown. */
async function send(
  deps: Dependencies,
  { id, digest }: { readonly id: number; readonly digest: string },
  push: () => Promise<PushResult>,
): Promise<PushResult> {
  try {
    return await push();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (isAgentError(error, 'config.invalid')) return { outcome: 'unreachable', detail, maybeTaken: false };
    noteOwnEnd(deps, digest);
    await deps.ledger.pushes.end(id, { outcome: 'unknown', detail, maybeTaken: true }, deps.clock.now().getTime());
    throw error;
  }
}

function observed(deps: Dependencies, body: SnapshotBody): SnapshotBody {
  return {
    ...body,
    async *chunks() {
      let sent = 0;
      for await (const chunk of body.chunks()) {
        yield chunk;
        sent += chunk.length;
        deps.observe({ kind: 'push.sending', sent, bytes: body.bytes });
      }
    },
  };
}
