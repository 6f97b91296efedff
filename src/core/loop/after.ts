/** How the loop's state follows from what was done: the other half of `decide`, as pure. */
import { fullJitterMs } from './backoff.ts';
import type { PushOutcome } from '../ports.ts';
import type { LoopState, PlannedPass, Push, Stopped } from './state.ts';

/** One push was tried and its outcome is known. */
export interface Attempt {
  readonly kind: 'attempt';
  readonly push: Push;
  readonly outcome: PushOutcome;
  /** What the service said, or what failed. */
  readonly reason: string | undefined;
  readonly begunMs: number;
  readonly endedMs: number;
  /** What `Retry-After` asked for, or 0. */
  readonly askedMs: number;
  /** Evenly distributed in [0, 1). */
  readonly jitter: number;
  /** The revision of the data that was sent. */
  readonly revision: number;
  /** The bytes are those that were acknowledged last, whatever they were sent for. */
  readonly isSame: boolean;
  /** A push with other bytes may have been taken and may land after this one. */
  readonly followsOpenPush: boolean;
}

/** A pass came to its end. */
export interface PassEnded {
  readonly kind: 'pass';
  readonly push: PlannedPass['push'];
  readonly polls: PlannedPass['polls'];
  readonly outcome: PushOutcome | 'unchanged' | 'blocked';
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  readonly begunMs: number;
  readonly endedMs: number;
  readonly hasAccepted: boolean;
  readonly unread: readonly string[];
  /** As it was when the pass began. */
  readonly asked: string;
  readonly revision: number;
}

/** A pass broke, and did not come to its end. */
export interface PassBroke {
  readonly kind: 'broke';
  readonly pass: PlannedPass;
  /** As it was when the pass was decided on. */
  readonly asked: string;
  readonly atMs: number;
  /** Whether data was accepted that was not pushed: the pass may have broken after it accepted some. */
  readonly hasUnpushed: boolean;
  /** It broke on a ledger that did not answer, which is mostly back in a moment: a connection was cut, or the server changed. */
  readonly isAway?: boolean;
}

const minuteMs = 60_000;
/** A pass that broke is tried again after this long. */
const brokenPauseMs = minuteMs;
/** The same for the first one in a row that broke on a ledger that did not answer; each after it waits twice as long. */
const awayPauseMs = 1_000;
/** How long after its acknowledgement a snapshot that followed an open push is pushed again. */
const repeatsAfterMs = [10 * minuteMs, 60 * minuteMs];

export function after(state: LoopState, done: Attempt | PassEnded | PassBroke): LoopState {
  switch (done.kind) {
    case 'attempt':
      return afterAttempt({ ...state, notedMs: done.endedMs }, done);
    case 'pass':
      return afterPass({ ...state, notedMs: done.endedMs }, done);
    case 'broke':
      return afterBreak(state, done);
  }
}

function afterBreak(state: LoopState, { pass, asked, atMs, hasUnpushed, isAway = false }: PassBroke): LoopState {
  const changed = state.changed ?? (hasUnpushed ? { firstMs: atMs, lastMs: atMs } : undefined);
  const times = (state.broken?.times ?? 0) + 1;
  const pauseMs = isAway ? Math.min(brokenPauseMs, awayPauseMs * 2 ** (times - 1)) : brokenPauseMs;
  return { ...state, changed, broken: { pass, asked, times, untilMs: atMs + pauseMs } };
}

function afterAttempt(state: LoopState, done: Attempt): LoopState {
  const { begunMs, endedMs, askedMs, revision, reason } = done;
  // What comes of a repeat says nothing of the newest snapshot: whatever that waits for stands.
  const isNewest = done.push === 'newest';
  const isNewestOwed = !isNewest && state.retry?.push === 'newest';
  switch (done.outcome) {
    case 'acknowledged':
      return {
        ...state,
        retry: isNewestOwed ? state.retry : undefined,
        stopped: isNewest ? undefined : state.stopped,
        repeatsMs: repeatsAfter(state, done),
        putOffMs: undefined,
      };
    case 'refused':
      return {
        ...(done.isSame ? putOffRepeats(state, endedMs) : state),
        retry: isNewestOwed ? state.retry : undefined,
        stopped: isNewest ? { atMs: begunMs, revision, isRefused: true, reason } : state.stopped,
      };
    case 'unreachable':
    case 'unknown': {
      const failures = (state.retry?.failures ?? 0) + 1;
      const waitMs = Math.max(askedMs, fullJitterMs({ attempt: failures, random: () => done.jitter }));
      const askedUntilMs = askedMs === 0 ? undefined : endedMs + askedMs;
      // What was refused before it is no reason to wait for the schedule: this attempt is tried again.
      const stopped = isNewest ? undefined : state.stopped;
      const push = isNewestOwed ? 'newest' : done.push;
      return { ...state, stopped, retry: { push, failures, atMs: endedMs + waitMs, askedUntilMs } };
    }
  }
}

/**
 * A repeat that cannot be made now is left to the next moment, and to whatever is acknowledged before it. The last one is owed
 * until then: without it the service would keep what landed late.
 */
export function putOffRepeats(state: LoopState, nowMs: number): LoopState {
  const later = state.repeatsMs.filter((ms) => ms > nowMs);
  if (later.length > 0) return { ...state, repeatsMs: later, putOffMs: nowMs };
  return { ...state, repeatsMs: state.repeatsMs.slice(-1), putOffMs: nowMs };
}

/**
 * An attempt without an answer may land after the snapshot that was acknowledged next. Every acknowledged push undoes what
 * landed before it, so one that comes when a moment has passed is that repeat, whatever it was sent for. A repeat makes no
 * further ones: only a different snapshot that follows another open push does.
 */
function repeatsAfter({ repeatsMs }: LoopState, { begunMs, endedMs, followsOpenPush }: Attempt): readonly number[] {
  if (followsOpenPush) return repeatsAfterMs.map((ms) => endedMs + ms);
  return repeatsMs.filter((ms) => ms > begunMs);
}

function afterPass(state: LoopState, done: PassEnded): LoopState {
  const { begunMs, endedMs, unread, asked } = done;
  const polledMs = done.polls === 'all' ? Math.min(begunMs, endedMs) : state.polledMs;
  const base = { ...state, polledMs, broken: undefined };
  if (done.push !== 'newest') {
    // What was asked for between its decision and its beginning is for the next pass: this one sends nothing new.
    const changed = done.hasAccepted ? { firstMs: state.changed?.firstMs ?? endedMs, lastMs: endedMs } : state.changed;
    return { ...base, changed, unread: { ...state.unread, now: unread } };
  }
  const pushed = { ...base, asked, changed: undefined, unread: { now: unread, atPush: unread } };
  switch (done.outcome) {
    case 'acknowledged':
    case 'unchanged':
      // What was read had begun by then: a later schedule time is for another push.
      return { ...pushed, servedMs: Math.min(begunMs, endedMs), stopped: undefined, retry: undefined };
    case 'blocked':
      return { ...pushed, stopped: stoppedBy(done) };
    case 'refused':
      return pushed;
    case 'unreachable':
    case 'unknown':
      // Also where the service had asked for time and nothing was sent: what was refused before is tried again with this.
      return { ...pushed, stopped: undefined, retry: state.retry && { ...state.retry, push: 'newest' } };
  }
}

function stoppedBy({ begunMs, revision, reason, hint }: PassEnded): Stopped {
  return { atMs: begunMs, revision, isRefused: false, reason, hint };
}
