/**
 * The daemon: one loop, woken by sources, the schedule, retries, requests and signals; one pass at a time. Nothing is
 * done by an event itself, so the loop runs at its own pace and its state is all in one place.
 */
import { isAgentError } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';
import type { Agent } from './agent.ts';
import { Looks } from './poll-schedule.ts';
import { runPassOrRebuild } from '../pass.ts';
import { type Backoff, backoffLeftMs, blockedReason, hasUnpushed } from '../push/push.ts';
import { isRepeatDue, nextRepeatMs } from '../push/repeat.ts';
import type { PassReport } from '../report.ts';
import type { WakeReason, Waker } from './waker.ts';
import { type Watching, watchSources } from './watching.ts';

export interface DaemonOptions {
  readonly agent: Agent;
  readonly waker: Waker;
  /** Loads the config again; `undefined` where it is not valid (and says so in the log). */
  readonly reload: () => Promise<Settings | undefined>;
  /** Aborts when the daemon has to end. */
  readonly signal: AbortSignal;
  /** Is told of every pass. */
  readonly passed?: (report: PassReport) => void;
}

/** The loop says that it moves at least this often. */
const beatMs = 10_000;
/** Idle, it may be silent for this long; within a pass for as long as its timeouts allow. */
const idleAllowanceMs = 60_000;
/** A pass that broke (a full disk) is tried again after this long. */
const brokenPauseMs = 60_000;

/** Runs until the signal aborts; rejects for what nobody foresaw. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const daemon = new Daemon(options);
  try {
    await daemon.run();
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    await daemon.stopWatching();
  }
}

interface NextPass {
  readonly push: 'ifNeeded' | 'repeat' | 'no';
  /** Go on from the sources after a rollback. */
  readonly resume: boolean;
  readonly looks: 'all' | 'due';
}

/** What the last scheduled push had to do without. */
type Owed = readonly string[];

class Daemon {
  readonly #options: DaemonOptions;
  readonly #agent: Agent;
  #watching: Watching | undefined;
  /** The schedule is due when its next time after this has come. */
  #scheduledAfter: Date;
  #looks: Looks;
  /** Monotonic: the first and the last change since the last push. */
  #changedMs: { readonly first: number; readonly last: number } | undefined;
  #retryAtMs: number | undefined;
  /** What the push that failed was to send. */
  #retryPush: 'ifNeeded' | 'repeat' = 'ifNeeded';
  #brokenUntilMs: number | undefined;
  /** The pass that broke was to push. */
  #brokenPush = false;
  #tokenVersion: string | undefined;
  /** What was done when the daemon gave its memory back last. */
  #restedAt = '';
  /** The newest request and approval that a pass has seen. */
  #asked: string;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#agent = options.agent;
    const { clock, ledger, address } = this.#agent.deps;
    this.#scheduledAfter = clock.now();
    this.#looks = new Looks(this.#agent.deps);
    this.#tokenVersion = this.#agent.tokenVersion();
    this.#asked = ledger.asked();
    const backoff = ledger.fact<Backoff>('backoff');
    if (backoff?.address === address) {
      this.#retryAtMs = clock.monotonicMs() + backoffLeftMs(backoff, clock.now().getTime());
    }
    // What was accepted and waited for its push when the agent ended is a change still.
    const nowMs = clock.monotonicMs();
    if (hasUnpushed(this.#agent.deps)) this.#changedMs = { first: nowMs, last: nowMs };
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    await this.#watch();
    let looks: 'all' | 'due' = 'all';
    let push: NextPass['push'] = this.#retryAtMs === undefined && this.#owesPushAtStart() ? 'ifNeeded' : 'no';
    let resume = false;
    for (;;) {
      signal.throwIfAborted();
      await this.#pass({ push, resume, looks });
      this.#rest();
      let reasons: ReadonlySet<WakeReason>;
      do {
        this.#agent.beat(idleAllowanceMs);
        reasons = await this.#options.waker.wait(this.#msToNext(), signal);
      } while (!this.#isDue(reasons));
      ({ push, resume, looks } = await this.#decide(reasons));
    }
  }

  /** After a pass that did something; a poll that found nothing needed nothing. */
  #rest(): void {
    const { deps } = this.#agent;
    const done = `${deps.buffer.reads.revision()} ${deps.ledger.lastPush()?.id}`;
    if (done !== this.#restedAt) this.#agent.releaseMemory();
    this.#restedAt = done;
  }

  async stopWatching(): Promise<void> {
    await this.#watching?.[Symbol.asyncDispose]();
  }

  /** At the start: nothing was acknowledged yet, the last push may not have arrived, or a due schedule was not served. */
  #owesPushAtStart(): boolean {
    const { ledger, address, settings, clock, schedule } = this.#agent.deps;
    if (ledger.lastAcknowledged(address) === undefined || ledger.pendingRequests().length > 0) return true;
    if (ledger.approvals().some(({ state }) => state === 'pending')) return true;
    // A start is somebody's deed: what was refused may have been mended.
    const outcome = ledger.lastPush(address)?.outcome;
    if (outcome === 'unknown' || outcome === 'refused') return true;
    const nowMs = clock.now().getTime();
    const last = ledger.lastAcknowledged(address);
    // A moment that lies ahead was noted by a clock that was wrong.
    const served = [ledger.fact<number>('servedMs'), last?.endedAtMs].filter((ms) => ms !== undefined && ms <= nowMs);
    const due = schedule.previousDue(settings.schedule, settings.timezone, clock.now());
    return due !== undefined && served.every((ms) => (ms ?? 0) < due.getTime());
  }

  async #decide(reasons: ReadonlySet<WakeReason>): Promise<NextPass> {
    const isScheduled = this.#isScheduleDue();
    const isRetry = this.#isRetryDue() && this.#retryPush === 'ifNeeded';
    const isDue = isRetry || (!this.#isWaiting() && (this.#brokenPush || isScheduled || this.#isChangeDue()));
    let push: NextPass['push'] = isDue ? 'ifNeeded' : this.#isRepeatDue() ? 'repeat' : 'no';
    // A rollback that waits is what somebody asked for last.
    let resume = reasons.has('pass') && this.#agent.deps.ledger.pendingRequests().length === 0;
    if (reasons.has('reload')) {
      const before = this.#agent.deps.settings.digest;
      const settings = await this.#options.reload();
      if (settings !== undefined) {
        await this.#reconfigure(settings);
        resume ||= settings.digest !== before;
        push = 'ifNeeded';
      }
    }
    const { ledger } = this.#agent.deps;
    const version = this.#agent.tokenVersion();
    if (version !== this.#tokenVersion && ledger.lastPush()?.outcome === 'refused') push = 'ifNeeded';
    this.#tokenVersion = version;
    const isAsked = ledger.asked() !== this.#asked || resume;
    if (isAsked) push = 'ifNeeded';
    const isBroken = this.#brokenUntilMs !== undefined;
    const isAtSchedule = push === 'ifNeeded' && isScheduled;
    const looks = isAsked || isBroken || isAtSchedule || [...reasons].some((reason) => reason !== 'source');
    return { push, resume, looks: looks ? 'all' : 'due' };
  }

  async #reconfigure(settings: Settings): Promise<void> {
    await this.stopWatching();
    await this.#agent.reconfigure(settings);
    this.#looks = new Looks(this.#agent.deps);
    await this.#watch();
  }

  async #watch(): Promise<void> {
    this.#watching = await watchSources(this.#agent.deps, (source) => {
      this.#looks.touch(source);
      this.#options.waker.wake('source');
    });
  }

  async #pass({ push, resume, looks }: NextPass): Promise<void> {
    const { deps } = this.#agent;
    const { clock, ledger, settings } = deps;
    const isScheduled = push === 'ifNeeded' && this.#isScheduleDue();
    this.#scheduledAfter = isScheduled ? clock.now() : this.#scheduledAfter;
    if (push !== 'no') this.#retryAtMs = undefined;
    this.#asked = ledger.asked();
    this.#agent.beat(passAllowanceMs(settings));
    try {
      const first = await this.#run({ push, resume, looks });
      const report =
        push === 'no' && !this.#isWaiting() && this.#owesPush(first)
          ? await this.#run({ push: 'ifNeeded', resume: false, looks: 'due' })
          : first;
      this.#brokenUntilMs = undefined;
      this.#brokenPush = false;
      this.#agent.noteBroken(undefined);
      if (push !== 'no' || report !== first) this.#waitAfter(report, push === 'repeat' ? 'repeat' : 'ifNeeded');
      if (report !== first || push === 'ifNeeded') this.#served(report);
      else this.#noteChanges(first);
    } catch (error) {
      if (this.#options.signal.aborted || !isAgentError(error)) throw error;
      this.#brokenUntilMs = clock.monotonicMs() + brokenPauseMs;
      this.#brokenPush = push === 'ifNeeded';
      this.#agent.noteBroken(error);
      deps.log.error('the pass broke and is tried again', {
        error: error.message,
        hint: error.hint,
        inMs: brokenPauseMs,
      });
    }
  }

  async #run({ push, resume, looks }: NextPass): Promise<PassReport> {
    const { agent, signal, passed } = this.#options;
    const options = {
      push,
      resume,
      retryForMs: 0,
      looks: this.#looks.begin(looks),
    } as const;
    const report = await runPassOrRebuild(agent, options, signal);
    passed?.(report);
    return report;
  }

  /** After a pass that only read: whether what it found is pushed at once. */
  #owesPush(report: PassReport): boolean {
    const { ledger, address, buffer } = this.#agent.deps;
    const unread = new Set(report.sources.filter(({ state }) => state === 'unread').map(({ name }) => name));
    if ((ledger.fact<Owed>('owed') ?? []).some((name) => !unread.has(name))) return true;
    if (blockedReason(this.#agent.deps) !== undefined) return false;
    const last = ledger.lastPush(address);
    if (last === undefined) return true;
    return last.outcome === 'refused' && ledger.fact<number>('refusedRevision') !== buffer.reads.revision();
  }

  #served(report: PassReport): void {
    const { clock, ledger, buffer } = this.#agent.deps;
    this.#changedMs = undefined;
    const unread = report.sources.filter(({ state }) => state === 'unread').map(({ name }) => name);
    ledger.setFact('owed', unread.length === 0 ? undefined : unread);
    if (report.outcome === 'refused') ledger.setFact('refusedRevision', buffer.reads.revision());
    if (report.outcome === 'acknowledged' || report.outcome === 'unchanged') {
      ledger.setFact('servedMs', clock.now().getTime());
    }
  }

  #waitAfter({ outcome }: PassReport, push: 'ifNeeded' | 'repeat'): void {
    if (outcome !== 'unreachable' && outcome !== 'unknown') return;
    const { clock, ledger } = this.#agent.deps;
    const backoff = ledger.fact<Backoff>('backoff');
    const waitMs = backoff === undefined ? 0 : backoffLeftMs(backoff, clock.now().getTime());
    this.#retryAtMs = clock.monotonicMs() + waitMs;
    this.#retryPush = push;
  }

  #noteChanges(report: PassReport): void {
    if (!report.sources.some(({ state }) => state === 'accepted')) return;
    const nowMs = this.#agent.deps.clock.monotonicMs();
    this.#changedMs = { first: this.#changedMs?.first ?? nowMs, last: nowMs };
  }

  #isDue(reasons: ReadonlySet<WakeReason>): boolean {
    const { clock, ledger } = this.#agent.deps;
    const nowMs = clock.monotonicMs();
    // Going on where a pass broke would break it again, unless somebody asks.
    const isAsked = reasons.has('pass') || reasons.has('request') || reasons.has('reload');
    if (this.#brokenUntilMs !== undefined && nowMs < this.#brokenUntilMs && !isAsked) return false;
    if (reasons.size > 0 || this.#looks.msToNext() <= 0 || this.#brokenPush) return true;
    if (this.#isRetryDue() || (!this.#isWaiting() && (this.#isScheduleDue() || this.#isChangeDue()))) return true;
    if (this.#isRepeatDue()) return true;
    return this.#agent.tokenVersion() !== this.#tokenVersion || ledger.asked() !== this.#asked;
  }

  #isScheduleDue(): boolean {
    const { clock, schedule, settings } = this.#agent.deps;
    const now = clock.now();
    // A clock that was set back would put the schedule off by as much.
    if (this.#scheduledAfter > now) this.#scheduledAfter = now;
    return schedule.nextDue(settings.schedule, settings.timezone, this.#scheduledAfter) <= now;
  }

  #isChangeDue(): boolean {
    const atMs = this.#changeDueMs();
    return atMs !== undefined && this.#agent.deps.clock.monotonicMs() >= atMs;
  }

  /** So long after the last change, but at most ten times as long after the first one. */
  #changeDueMs(): number | undefined {
    const { pushOnChangeMs } = this.#agent.deps.settings;
    if (pushOnChangeMs === undefined || this.#changedMs === undefined) return undefined;
    return Math.min(this.#changedMs.last + pushOnChangeMs, this.#changedMs.first + 10 * pushOnChangeMs);
  }

  /** For the time that the service asked for, or the backoff: only a person's word goes before. */
  #isWaiting(): boolean {
    return this.#retryAtMs !== undefined && this.#agent.deps.clock.monotonicMs() < this.#retryAtMs;
  }

  #isRepeatDue(): boolean {
    return !this.#isWaiting() && isRepeatDue(this.#agent.deps);
  }

  #isRetryDue(): boolean {
    return this.#retryAtMs !== undefined && this.#agent.deps.clock.monotonicMs() >= this.#retryAtMs;
  }

  /** Until something may be due; short enough that a clock that jumps, or a heartbeat, is not missed. */
  #msToNext(): number {
    const { clock, schedule, settings } = this.#agent.deps;
    const nowMs = clock.monotonicMs();
    const due =
      schedule.nextDue(settings.schedule, settings.timezone, this.#scheduledAfter).getTime() - clock.now().getTime();
    if (this.#brokenUntilMs !== undefined && nowMs < this.#brokenUntilMs) {
      return Math.min(beatMs, this.#brokenUntilMs - nowMs);
    }
    const isWaiting = this.#isWaiting();
    const repeatMs = nextRepeatMs(this.#agent.deps);
    const repeatAtMs = repeatMs === undefined ? undefined : nowMs + repeatMs - clock.now().getTime();
    const pushes = isWaiting ? [this.#retryAtMs] : [this.#changeDueMs(), repeatAtMs, nowMs + due];
    const waits = pushes.flatMap((at) => (at === undefined ? [] : [at - nowMs]));
    return Math.max(0, Math.min(beatMs, this.#looks.msToNext(), ...waits));
  }
}

/** A pass may be silent for as long as its slowest step. */
export function passAllowanceMs(settings: Settings): number {
  const readMs = Math.max(0, ...settings.sources.map(({ timeoutMs }) => timeoutMs));
  const pushMs = settings.destination === 'emulator' ? 60_000 : settings.destination.timeoutMs;
  return readMs + 2 * pushMs + 120_000;
}
