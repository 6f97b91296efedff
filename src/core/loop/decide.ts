/**
 * When the loop does what: a pure function of its state, of how things are, and of what happened. The daemon asks it after
 * everything that it does, and `status` asks it for the next push.
 *
 * A push is due for a reason that stands until a push has served it: a schedule time, a change, a repeat, a failed attempt.
 * So nothing has to remember that a push is still due.
 */
import type { LoopState, PlannedPass, Push } from './state.ts';

/** How things are at one moment. */
export interface Facts {
  readonly nowMs: number;
  /** The first schedule time after a moment. */
  readonly nextScheduledMs: (afterMs: number) => number;
  readonly pushOnChangeMs: number | undefined;
  /** When the first source is to be polled. */
  readonly pollMs: number;
  /** A push to this address was tried. */
  readonly hasPushed: boolean;
  /** A push that may have been taken has not been acknowledged since, and had other bytes than the last acknowledged one. */
  readonly isOpen: boolean;
  /**
   * A rollback holds, and a push with other bytes may have been taken since its acknowledgement: when the last such push ended. `undefined`:
   * the service has what was gone back to.
   */
  readonly rollbackOpenMs: number | undefined;
  /** A rollback holds, or the first push waits for its sources. */
  readonly isBlocked: boolean;
  /** The ledger may have lost pushes, so the next one waits for approval: whoever approves hears of it now, not when it is due. */
  readonly isDoubted: boolean;
  /** Counts up whenever accepted data changes. */
  readonly revision: number;
  /** Another text after every request and every approval. */
  readonly asked: string;
  /** A request waits to be carried out. */
  readonly hasRequest: boolean;
  /** The token file was written since the last pass that pushes began. */
  readonly hasNewToken: boolean;
}

/**
 * `start`: the daemon starts; `source`: a source says that it is worth a look; `request`: a command wakes the agent; `pass`:
 * somebody wants a pass; `reload`: the config was loaded again; `settings`: and it says something else.
 */
export type LoopEvent = 'start' | 'source' | 'request' | 'pass' | 'reload' | 'settings';

export type Decision =
  | { readonly kind: 'pass'; readonly pass: PlannedPass }
  | { readonly kind: 'wait'; readonly untilMs: number };

export interface NextPush {
  /** In the past or now where the push is due. */
  readonly atMs: number;
  readonly push: Push;
  readonly why: string;
}

export function decide(state: LoopState, facts: Facts, events: ReadonlySet<LoopEvent>): Decision {
  const { nowMs } = facts;
  const { broken } = state;
  // Going on where a pass broke would break it again, unless somebody asks.
  const isWoken = events.has('pass') || events.has('request') || events.has('reload');
  if (broken !== undefined && nowMs < broken.untilMs && !isWoken) return { kind: 'wait', untilMs: broken.untilMs };
  const isAsked = facts.asked !== state.asked || events.has('pass') || events.has('reload');
  const next = soonest(duePushes(state, facts), nowMs);
  const due = next !== undefined && next.atMs <= nowMs ? next : undefined;
  // What blocks a first push is mostly that nothing was read yet, which this very pass does.
  const isFirst = events.has('start') && !facts.hasPushed;
  const pushes = new Set([isAsked || isFirst ? 'newest' : 'no', due?.push, broken?.pass.push]);
  const push = pushes.has('newest') ? 'newest' : pushes.has('repeat') ? 'repeat' : 'no';
  if (push === 'no' && events.size === 0 && broken === undefined && facts.pollMs > nowMs) {
    return { kind: 'wait', untilMs: Math.min(facts.pollMs, next?.atMs ?? Infinity) };
  }
  // A rollback that no pass has taken up yet may be what somebody asked for last. One that was tried and waits is not.
  const isOlder = (than: string | undefined): boolean => !facts.hasRequest || facts.asked === than;
  const isLast = isOlder(state.asked) || isOlder(broken?.asked);
  const isResumed =
    events.has('settings') ||
    (events.has('pass') && isLast) ||
    // One that was asked for after a pass broke is not ended by what that pass was for.
    (broken?.pass.resume === true && isOlder(broken.asked));
  const isMoreThanSource = [...events].some((event) => event !== 'source');
  const isForAll =
    isAsked || broken !== undefined || isMoreThanSource || (push === 'newest' && isPollScheduled(state, facts));
  return {
    kind: 'pass',
    pass: { push, resume: isResumed, polls: isForAll ? 'all' : 'due' },
  };
}

/** The push that comes next, by what is known now; `undefined`: none will, as things stand. */
export function nextPush(state: LoopState, facts: Facts): NextPush | undefined {
  const askedMs = Math.max(facts.nowMs, state.retry?.askedUntilMs ?? -Infinity);
  const asked: NextPush = { atMs: askedMs, push: 'newest', why: 'somebody asked for it' };
  const next = facts.asked === state.asked ? soonest(duePushes(state, facts), facts.nowMs) : asked;
  if (next === undefined || state.broken === undefined) return next;
  return { ...next, atMs: Math.max(next.atMs, state.broken.untilMs) };
}

/** The newest snapshot where one is due, else what comes first. */
function soonest(pushes: readonly NextPush[], nowMs: number): NextPush | undefined {
  const [first] = pushes.toSorted((a, b) => a.atMs - b.atMs);
  return pushes.find(({ push, atMs }) => push === 'newest' && atMs <= nowMs) ?? first;
}

function duePushes(state: LoopState, facts: Facts): readonly NextPush[] {
  const notBeforeMs = state.retry?.atMs ?? -Infinity;
  const pushes = [...newestPushes(state, facts), ...repeats(state, facts)];
  return pushes.map((push) => ({ ...push, atMs: Math.max(push.atMs, notBeforeMs) }));
}

function* newestPushes(state: LoopState, facts: Facts): Generator<NextPush> {
  const { nowMs, pushOnChangeMs } = facts;
  // A rollback that was asked for is tried again also where another one holds.
  if (facts.isBlocked && !facts.hasRequest) return;
  const newest = (atMs: number, why: string): NextPush => ({ atMs, push: 'newest', why });
  const { changed, retry, stopped, unread } = state;
  // First, since of two reasons for one moment the first is told.
  if (retry?.push === 'newest' && !isStopped(state, facts)) {
    yield newest(retry.atMs, 'the last push did not arrive and is tried again');
  }
  if (unread.atPush.some((source) => !unread.now.includes(source))) {
    yield newest(nowMs, 'a source that the last push went without can be read again');
  }
  yield newest(scheduledMs(state, facts), 'the schedule');
  if (isStopped(state, facts)) return;
  if (stopped?.isRefused === true) yield newest(nowMs, 'new data or a new token after a refusal');
  if (!facts.hasPushed) yield newest(nowMs, 'the first push to this address');
  if (facts.isDoubted) yield newest(nowMs, 'the ledger may have lost pushes');
  if (retry === undefined && facts.isOpen) yield newest(nowMs, 'the last push was not answered');
  if (changed !== undefined && pushOnChangeMs !== undefined) {
    // So long after the last change, but at most ten times as long after the first one.
    const atMs = Math.min(changed.lastMs + pushOnChangeMs, changed.firstMs + 10 * pushOnChangeMs);
    yield newest(atMs, 'pushOnChange');
  }
}

/**
 * What may have been taken after the acknowledged snapshot is not to be undone: then the newest one goes instead. While a rollback holds none
 * does, and what was gone back to has to stay.
 */
function repeats({ repeatsMs, putOffMs }: LoopState, facts: Facts): readonly NextPush[] {
  const { rollbackOpenMs, hasNewToken, nextScheduledMs, nowMs } = facts;
  const isPutOff = (dueMs: number): boolean => putOffMs !== undefined && dueMs <= putOffMs && !hasNewToken;
  const repeat = (atMs: number, why: string): readonly NextPush[] => [{ atMs, push: 'repeat', why }];
  if (rollbackOpenMs !== undefined) {
    const atMs = isPutOff(rollbackOpenMs) ? nextScheduledMs(putOffMs ?? nowMs) : nowMs;
    return repeat(atMs, 'the same bytes once more, since another push may have been taken after the rollback');
  }
  const [dueMs] = repeatsMs;
  if (dueMs === undefined || facts.isOpen) return [];
  const atMs = isPutOff(dueMs) ? Math.max(dueMs, nextScheduledMs(putOffMs ?? dueMs)) : dueMs;
  return repeat(atMs, 'the same bytes once more, since an earlier push may have landed after them');
}

/** A schedule time has come that no pass has polled every source for. A push that is tried again asks none of them again. */
function isPollScheduled({ servedMs, polledMs }: LoopState, { nowMs, nextScheduledMs }: Facts): boolean {
  if (servedMs === undefined && polledMs === undefined) return true;
  return nextScheduledMs(Math.max(servedMs ?? -Infinity, polledMs ?? -Infinity)) <= nowMs;
}

function isStopped({ stopped }: LoopState, { revision, hasNewToken }: Facts): boolean {
  if (stopped === undefined) return false;
  return revision === stopped.revision && !(stopped.isRefused && hasNewToken);
}

/** The schedule time that is to be served: the first after the last one that was, and after a refusal a later one. */
function scheduledMs(state: LoopState, facts: Facts): number {
  const { servedMs, stopped } = state;
  const afterMs = isStopped(state, facts) ? Math.max(servedMs ?? -Infinity, stopped?.atMs ?? -Infinity) : servedMs;
  return afterMs === undefined ? facts.nowMs : facts.nextScheduledMs(afterMs);
}
