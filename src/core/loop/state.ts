/** The loop's memory between passes. All moments are milliseconds since 1970, by the clock on the wall. */

/** `newest`: the newest snapshot, where the service does not have it; `repeat`: the last acknowledged one, once more. */
export type Push = 'newest' | 'repeat';

/** One pass, as the loop decides it. */
export interface PlannedPass {
  readonly push: Push | 'no';
  /** Go on from the sources after a rollback. */
  readonly resume: boolean;
  /** Which sources that are expensive to ask are polled: all of them, or those that are due. */
  readonly polls: 'all' | 'due';
}

/** Kept in the ledger as one record for each address, except for `broken`. */
export interface LoopState {
  /** The destination that all of this is about. */
  readonly address: string;
  /** When this was last known to be true. A clock that shows less has been set back. */
  readonly notedMs: number;
  /** No schedule time up to this one wants a push any more. */
  readonly servedMs?: number | undefined;
  /** When the last pass began that polled every source. */
  readonly polledMs?: number | undefined;
  /** The first and the last time that new data was accepted since the last push. */
  readonly changed?: { readonly firstMs: number; readonly lastMs: number } | undefined;
  /** Sources that could not be read: in the last pass, and in the last one that pushed. */
  readonly unread: { readonly now: readonly string[]; readonly atPush: readonly string[] };
  /** A push that did not arrive. Nothing but somebody's word goes before its time, and no word before what the service asked for. */
  readonly retry?: Retry | undefined;
  /** The newest snapshot was refused or may not be sent: it takes another schedule time, or something new, to try again. */
  readonly stopped?: Stopped | undefined;
  /** When the last acknowledged snapshot is pushed again, since an older push may have landed after it. Earliest first. */
  readonly repeatsMs: readonly number[];
  /** When a repeat could not be made. One that was due by then and is still owed waits for the first schedule time after this. */
  readonly putOffMs?: number | undefined;
  /** The newest request and approval that a pass which pushes the newest snapshot has taken up, as `Ledger.asked` tells them. */
  readonly asked: string;
  /** The last pass broke, on a full disk for example. Not kept: another process tries at once. */
  readonly broken?: Broken | undefined;
}

export interface Broken {
  readonly pass: PlannedPass;
  /** The newest request and approval when it was decided on. */
  readonly asked: string;
  /** Passes in a row that broke. */
  readonly times: number;
  readonly untilMs: number;
}

export interface Retry {
  readonly push: Push;
  /** Attempts in a row that did not arrive. */
  readonly failures: number;
  readonly atMs: number;
  /** The service itself asked with `Retry-After` for nothing before this: whoever does not say `--force` keeps to that. */
  readonly askedUntilMs?: number | undefined;
}

export interface Stopped {
  readonly atMs: number;
  /** The revision of the data that was to be sent. */
  readonly revision: number;
  /** By the service; else nothing was sent. */
  readonly isRefused: boolean;
  /** What the service said, or why nothing was sent. */
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
}

/** The same state as of now. Where the clock was set back, every moment moves along: no wait becomes longer. */
export function settle(state: LoopState, nowMs: number): LoopState {
  if (nowMs >= state.notedMs) return { ...state, notedMs: nowMs };
  const move = (ms: number): number => ms + nowMs - state.notedMs;
  const { servedMs, changed, retry, stopped, putOffMs, broken } = state;
  return {
    ...state,
    notedMs: nowMs,
    servedMs: servedMs === undefined ? undefined : move(servedMs),
    polledMs: state.polledMs === undefined ? undefined : move(state.polledMs),
    changed: changed && { firstMs: move(changed.firstMs), lastMs: move(changed.lastMs) },
    retry: retry && {
      ...retry,
      atMs: move(retry.atMs),
      askedUntilMs: retry.askedUntilMs === undefined ? undefined : move(retry.askedUntilMs),
    },
    stopped: stopped && { ...stopped, atMs: move(stopped.atMs) },
    repeatsMs: state.repeatsMs.map(move),
    putOffMs: putOffMs === undefined ? undefined : move(putOffMs),
    broken: broken && { ...broken, untilMs: move(broken.untilMs) },
  };
}

/**
 * A record that was kept, as of now. By how much a clock was set back since then is not known exactly, so a served schedule
 * time that lies ahead counts as not served: one push too many is better than one too few.
 */
export function recall(kept: LoopState, nowMs: number): LoopState {
  const isAhead = kept.servedMs !== undefined && kept.servedMs > nowMs;
  return settle(isAhead ? { ...kept, servedMs: undefined } : kept, nowMs);
}

/** Where a daemon starts from. Starting it is somebody's deed: what was refused may have been mended, and is tried again. */
export function start(kept: LoopState, { nowMs, hasUnpushed }: { nowMs: number; hasUnpushed: boolean }): LoopState {
  const { stopped } = kept;
  const askedUntilMs = kept.retry?.askedUntilMs;
  return {
    ...kept,
    stopped: undefined,
    putOffMs: undefined,
    retry:
      stopped?.isRefused === true
        ? { push: 'newest', failures: 0, atMs: Math.max(nowMs, askedUntilMs ?? nowMs), askedUntilMs }
        : kept.retry,
    // A crash may have come between accepting and noting it.
    changed: kept.changed ?? (hasUnpushed ? { firstMs: nowMs, lastMs: nowMs } : undefined),
  };
}
