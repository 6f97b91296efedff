/** Builds the newest snapshot and pushes it, one at a time, so that no older one can land after a newer one. */
import { type Attempt, after, withoutDueRepeats } from '../../core/loop/after.ts';
import { keepLoopState, lasting, loopState } from '../loop-record.ts';
import { countCarried, diffDrivers, withoutDeletes } from '../../core/series/diff.ts';
import { mergeDriverRuns } from '../../core/series/merge.ts';
import { isAgentError } from '../../core/errors.ts';
import type { PushResult, SnapshotBody } from '../../core/ports.ts';
import type { PushRecord, Snapshot, SnapshotDriver } from '../../core/stores.ts';
import { allPoints, firstPushTo } from '../review/approvals.ts';
import { isRepeatDue, snapshotToRepeat } from './repeat.ts';
import { openTitle } from './retention.ts';
import type { Dependencies } from '../dependencies.ts';

/** What a pass did about pushing. */
export interface PushReport {
  readonly outcome: 'acknowledged' | 'unchanged' | 'refused' | 'unreachable' | 'unknown' | 'blocked';
  /** Why nothing was sent, or what the service said. */
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly push?: PushRecord | undefined;
  /** Present where another attempt is worth it: how long the service asked to wait for, or 0. */
  readonly retry?: { readonly askedMs: number } | undefined;
}

/** Builds what sources have accepted into a snapshot in the archive, or finds that it is there already. */
export function buildSnapshot(deps: Dependencies): Snapshot {
  const { buffer, archive, settings } = deps;
  const { shouldDeleteMissing, stamp } = settings;
  const digest = builtDigest(deps);
  const known = digest === undefined ? undefined : openTitle(deps, digest);
  if (known !== undefined) return known;
  const snapshot = archive.write(acceptedDrivers(deps), { shouldDeleteMissing, stamp }, buffer.reads.origins());
  buffer.setState({ built: { from: madeFrom(deps), digest: snapshot.digest } });
  deps.observe({ kind: 'snapshot.written', digest: snapshot.digest });
  return snapshot;
}

/** The digest of the newest snapshot, where it was built already. */
export function builtDigest(deps: Dependencies): string | undefined {
  const { built } = deps.buffer.state();
  return built?.from === madeFrom(deps) ? built.digest : undefined;
}

function madeFrom({ buffer, settings }: Dependencies): string {
  return JSON.stringify([buffer.reads.revision(), settings.shouldDeleteMissing, settings.stamp]);
}

/** All drivers that sources have accepted, in order, with their sources. */
export function acceptedDrivers(deps: Dependencies): Iterable<SnapshotDriver> {
  return mergeDriverRuns(deps.buffer.reads.acceptedSources().map((source) => withSource(deps, source)));
}

function* withSource(deps: Dependencies, source: string): Generator<SnapshotDriver> {
  for (const driver of deps.buffer.reads.drivers(source, 'accepted')) yield { ...driver, source };
}

/** Whether the next push is the first that deletes what it leaves out: what the address holds until then nobody knows. */
export function isFirstPush({ ledger, settings, address }: Dependencies): boolean {
  return settings.shouldDeleteMissing && !ledger.pushes.hasDeleting(address);
}

/** Why nothing may be pushed yet; `undefined` where it may. */
export function blockedReason(deps: Dependencies): { reason: string; hint?: string } | undefined {
  const { ledger, buffer, settings } = deps;
  const { rolledBack } = ledger.state();
  if (rolledBack !== undefined) {
    return {
      reason: `rolled back to push ${rolledBack.push}`,
      hint: 'driver-sync sync (or SIGUSR2) goes on from the sources',
    };
  }
  if (!settings.shouldDeleteMissing) return undefined;
  const isFirst = isFirstPush(deps);
  // A buffer that was lost together with its snapshot knows nothing of what unread sources had.
  if (!isFirst && buffer.state().isBare !== true) return undefined;
  const accepted = new Set(buffer.reads.acceptedSources());
  const missing = settings.sources.map(({ name }) => name).filter((name) => !accepted.has(name));
  if (missing.length === 0) return undefined;
  return {
    reason: `the ${isFirst ? 'first push' : 'push from a new buffer'} waits for ${listWaiting(deps, missing)}`,
    hint: 'it deletes every driver that is not in it, so it has to be whole',
  };
}

/** The same, and what the last pass that was to push found: an empty snapshot, or a first push that nobody has approved. */
export function standingBlock(deps: Dependencies): { reason: string; hint?: string | undefined } | undefined {
  const { isRefused = true, reason = '', hint } = loopState(deps).stopped ?? {};
  return blockedReason(deps) ?? (isRefused ? undefined : { reason, hint });
}

function listWaiting({ ledger }: Dependencies, sources: readonly string[]): string {
  const held = new Set(ledger.holds.held().map(({ source }) => source));
  return sources.map((name) => `"${name}" (${held.has(name) ? 'held' : 'not read yet'})`).join(', ');
}

/** With `firstPush: approve`, and for a snapshot without drivers, the snapshot itself has to be approved. */
export function snapshotBlock(deps: Dependencies, snapshot: Snapshot): PushReport | undefined {
  const { ledger, settings, address, clock } = deps;
  if (!settings.shouldDeleteMissing) return undefined;
  const { emptyConsent } = ledger.state();
  const isConsented = emptyConsent?.digest === snapshot.digest && emptyConsent.address === address;
  // A consent is for one empty snapshot: it ends with it.
  if (snapshot.drivers > 0) {
    if (emptyConsent !== undefined) ledger.setState({ emptyConsent: undefined });
  } else if (!isConsented) {
    return { outcome: 'blocked', reason: 'the snapshot is empty and would delete every driver of the service' };
  }
  if (settings.guard.firstPush !== 'approve' || !isFirstPush(deps)) return undefined;
  const points = allPoints(snapshot.readPoints());
  const firstPush = firstPushTo(address);
  const approval = ledger.holds.approvals().find(({ state, source }) => state === 'pending' && source === firstPush);
  if (approval !== undefined) {
    const missing = [...ledger.holds.approvedScope(approval.id).deletes].some(([driver, months]) => {
      const present = new Set(points.get(driver));
      return months.some((month) => !present.has(month));
    });
    if (!missing) return undefined;
    ledger.holds.closeApproval(approval.id, 'dropped', 'a newer snapshot would delete more than the approved one');
  }
  const reason = `the first push to ${address} waits for approval; it deletes every driver that is not among its ${snapshot.drivers}`;
  const held = { source: firstPush, digest: snapshot.digest, reason, hint: 'see "driver-sync plan"', approvable: true };
  ledger.holds.hold(held, { deletes: points, carried: [] }, clock.now().getTime());
  return { outcome: 'blocked', reason, hint: `driver-sync approve ${snapshot.digest.slice(0, 12)}` };
}

/** Pushes the newest snapshot unless the service has it. One attempt. */
export async function pushNewest(
  deps: Dependencies,
  { push, keepsToRetryAfter = false }: { push: 'always' | 'ifNeeded'; keepsToRetryAfter?: boolean | undefined },
  signal: AbortSignal,
): Promise<PushReport> {
  const { ledger, address, clock, settings, log } = deps;
  const blocked = blockedReason(deps);
  if (blocked !== undefined) return repeatWhileBlocked(deps, { outcome: 'blocked', ...blocked }, signal);
  const snapshot = buildSnapshot(deps);
  const last = ledger.pushes.lastAcknowledged(address);
  const ageMs = last === undefined ? 0 : clock.now().getTime() - (last.endedAtMs ?? last.atMs);
  const isCurrent = last?.digest === snapshot.digest && !ledger.pushes.hasOpenSince(address, last.id);
  // A clock that was set back makes an age negative: one push too many sets that right.
  const isFresh = ageMs >= 0 && ageMs < settings.refreshMs;
  if (push === 'ifNeeded' && isCurrent && isFresh && !isRepeatDue(deps)) {
    notePushed(deps);
    return { outcome: 'unchanged' };
  }
  const waiting = snapshotBlock(deps, snapshot);
  if (waiting !== undefined) return repeatWhileBlocked(deps, waiting, signal);
  const asked = keepsToRetryAfter ? waitThatWasAsked(deps) : undefined;
  if (asked !== undefined) return asked;
  await waitForOlder(deps, snapshot.digest, signal);
  const report = await pushSnapshot(deps, { snapshot, last }, signal).catch((error: unknown) => {
    if (!isAgentError(error, 'snapshot.damaged')) throw error;
    // The sources have it all: build it anew.
    log.warn('the snapshot to push was damaged and is built again', { digest: snapshot.digest, cause: error.message });
    deps.buffer.setState({ built: undefined });
    return pushSnapshot(deps, { snapshot: buildSnapshot(deps), last }, signal);
  });
  if (report.outcome === 'acknowledged') notePushed(deps);
  return report;
}

/** What an earlier answer asked for with `Retry-After` and is not over. */
function waitThatWasAsked(deps: Dependencies): PushReport | undefined {
  const untilMs = loopState(deps).retry?.askedUntilMs ?? -Infinity;
  const leftMs = untilMs - deps.clock.now().getTime();
  if (leftMs <= 0) return undefined;
  return {
    outcome: 'unreachable',
    reason: `the service asked with Retry-After for no push before ${new Date(untilMs).toISOString()}`,
    hint: 'try again then; "driver-sync sync --force" pushes now',
    retry: { askedMs: leftMs },
  };
}

/**
 * Pushes the last acknowledged snapshot again, though sources may have accepted newer data. One attempt. `undefined`: it is
 * not due, or that snapshot cannot be sent any more.
 */
export async function pushRepeat(deps: Dependencies, signal: AbortSignal): Promise<PushReport | undefined> {
  const { ledger, address, log } = deps;
  const last = ledger.pushes.lastAcknowledged(address);
  if (last === undefined || !isRepeatDue(deps)) return undefined;
  const snapshot = snapshotToRepeat(deps, last);
  if (snapshot === undefined) return undefined;
  log.info('the last snapshot is pushed again: an earlier push may have landed after it', { push: last.id });
  await waitForOlder(deps, snapshot.digest, signal);
  const report = await pushSnapshot(deps, { snapshot, last, isRepeat: true }, signal);
  const blocked = report.outcome === 'acknowledged' ? blockedReason(deps) : undefined;
  return blocked === undefined ? report : { outcome: 'blocked', ...blocked, push: report.push };
}

/** A newest snapshot that is blocked does not keep the last one from being repeated. */
async function repeatWhileBlocked(deps: Dependencies, blocked: PushReport, signal: AbortSignal): Promise<PushReport> {
  const report = await pushRepeat(deps, signal);
  if (report === undefined) keepLoopState(deps, withoutDueRepeats(loopState(deps), deps.clock.now().getTime()));
  return report?.outcome === 'acknowledged' ? { ...blocked, push: report.push } : (report ?? blocked);
}

/** Which state of the buffer the service has: what differs from it later is a change that was not pushed. */
function notePushed(deps: Dependencies): void {
  const { buffer, address } = deps;
  if (hasUnpushed(deps)) buffer.setState({ pushed: { revision: buffer.reads.revision(), address } });
}

export function hasUnpushed({ buffer, address }: Dependencies): boolean {
  const { pushed } = buffer.state();
  return pushed?.revision !== buffer.reads.revision() || pushed.address !== address;
}

/** An attempt that may still land must not land after a different snapshot: that one waits until its timeout is over. */
export async function waitForOlder(deps: Dependencies, digest: string, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const waitMs = (landsUntilMs(deps, digest) ?? -Infinity) - clock.now().getTime();
  if (waitMs <= 0) return;
  log.warn(mayStillLand, { waitMs });
  deps.observe({ kind: 'waiting', ms: waitMs, why: mayStillLand });
  await clock.sleep(waitMs, signal);
}

export const mayStillLand = 'an earlier push may still land; a different snapshot waits for it';

/** Until when an attempt with other bytes than these may still land; `undefined`: there is none. */
export function landsUntilMs(deps: Dependencies, digest: string): number | undefined {
  const { ledger, address, clock, settings } = deps;
  const open = ledger.pushes.maybeTaken(address, digest);
  if (open === undefined || settings.destination === 'emulator') return undefined;
  const nowMs = clock.now().getTime();
  // A clock that was set back must not make the wait longer than it is meant to be.
  return Math.min(open.endedAtMs ?? nowMs, nowMs) + settings.destination.timeoutMs;
}

export interface PushJob {
  readonly snapshot: Snapshot;
  /** What the service holds, as far as is known. */
  readonly last: PushRecord | undefined;
  readonly rollbackOf?: number;
  /** It is the last acknowledged one, once more. */
  readonly isRepeat?: boolean;
}

/** What a push changes at the service, as far as is known, and what of that it is the first to carry. */
function changesSince(
  deps: Dependencies,
  last: PushRecord | undefined,
  snapshot: Snapshot,
): Pick<ReturnType<typeof countCarried>, 'changes' | 'carried'> {
  if (last === undefined) {
    const { drivers, points } = snapshot;
    const created = { update: 0, delete: 0 };
    return {
      changes: { drivers: { create: drivers, ...created }, points: { create: points, ...created } },
      carried: [],
    };
  }
  const before = openTitle(deps, last.digest);
  try {
    return countCarried(diffDrivers(before?.readPoints() ?? [], snapshot.readPoints()));
  } catch (error) {
    if (!isAgentError(error, 'snapshot.damaged') || before === undefined) throw error;
    deps.log.warn('the last acknowledged snapshot is damaged: changes are counted against none', {
      cause: error.message,
    });
    return countCarried(diffDrivers([], snapshot.readPoints()));
  }
}

/** Records a push, sends it, and records what became of it. */
export async function pushSnapshot(deps: Dependencies, job: PushJob, signal: AbortSignal): Promise<PushReport> {
  const { ledger, clock, address, destination } = deps;
  const { snapshot, last, rollbackOf, isRepeat = false } = job;
  const { digest, drivers, points, bytes } = snapshot;
  const { changes, carried } = changesSince(deps, last, snapshot);
  sayFirstPush(deps, snapshot);
  const begun = { atMs: clock.now().getTime(), address, digest, drivers, points, bytes, rollbackOf };
  const { shouldDeleteMissing } = snapshot.format;
  const id = ledger.pushes.begin({
    ...begun,
    shouldDeleteMissing,
    changes: shouldDeleteMissing ? changes : withoutDeletes(changes),
  });
  deps.observe({ kind: 'push.begun', push: id, bytes });
  const result = await send(deps, id, () => destination.push(observed(deps, snapshot.body()), signal));
  deps.observe({ kind: 'push.answered', push: id });
  const endedAtMs = clock.now().getTime();
  const attempt = attemptOf(deps, { result, digest, begunMs: begun.atMs, endedMs: endedAtMs });
  const loop = after(loopState(deps), { ...attempt, push: isRepeat ? 'repeat' : 'newest' });
  if (result.outcome === 'acknowledged') {
    const rolledBack =
      rollbackOf === undefined ? {} : { rolledBack: { push: rollbackOf, sinceMs: endedAtMs, isRestored: false } };
    const firstPush = firstPushTo(address);
    ledger.pushes.acknowledge(id, result, {
      atMs: endedAtMs,
      carried,
      state: { loop: lasting(loop), ...rolledBack },
    });
    for (const approval of ledger.holds.approvals()) {
      if (approval.state === 'pending' && approval.source === firstPush)
        ledger.holds.closeApproval(approval.id, 'used');
    }
    ledger.holds.release(firstPush);
  } else {
    ledger.pushes.end(id, result, endedAtMs);
    keepLoopState(deps, loop);
  }
  deps.observe({ kind: 'push.recorded', push: id });
  const isOver = result.outcome === 'acknowledged' || result.outcome === 'refused';
  return {
    outcome: result.outcome,
    reason: result.detail,
    push: ledger.pushes.get(id),
    ...(isOver ? {} : { retry: { askedMs: attempt.askedMs } }),
  };
}

function attemptOf(
  { address, buffer, ledger, random, settings }: Dependencies,
  done: { result: PushResult; digest: string; begunMs: number; endedMs: number },
): Omit<Attempt, 'push'> {
  const { result, digest, begunMs, endedMs } = done;
  return {
    kind: 'attempt',
    outcome: result.outcome,
    begunMs,
    endedMs,
    askedMs: result.retryAfterMs ?? 0,
    jitter: random(),
    revision: buffer.reads.revision(),
    // The embedded emulator holds no request back.
    followsOpenPush: settings.destination !== 'emulator' && ledger.pushes.followsOpen(address, digest),
  };
}

/** Nobody knows what a new address holds, so nothing else would tell of these deletes. */
function sayFirstPush(deps: Dependencies, { drivers, format }: Snapshot): void {
  const { address, log, settings } = deps;
  if (!format.shouldDeleteMissing || !isFirstPush(deps)) return;
  const level = settings.destination === 'emulator' ? 'info' : 'warn';
  log[level]('this is the first push to this address: it deletes every driver there that is not among these', {
    address,
    drivers,
  });
}

/** What cannot even be begun (no token, no CA file) did not reach the service; what breaks here in the middle is recorded. */
async function send(deps: Dependencies, id: number, push: () => Promise<PushResult>): Promise<PushResult> {
  try {
    return await push();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    if (isAgentError(error, 'config.invalid')) return { outcome: 'unreachable', detail, maybeTaken: false };
    deps.ledger.pushes.end(id, { outcome: 'unknown', detail, maybeTaken: true }, deps.clock.now().getTime());
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
