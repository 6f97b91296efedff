/**
 * The daemon: it asks `decide` what comes next, and sleeps or runs a pass. Sources, commands and signals only wake it, so the
 * loop runs at its own pace and all that it goes by is in `LoopState`.
 */
import { type AgentError, isAgentError } from '../../core/errors.ts';
import type { Settings } from '../../core/settings.ts';
import { runPassOrRebuild } from '../pass.ts';
import { IdleWork } from '../read/idle-work.ts';
import { hasUnpushed } from '../push/newest-snapshot.ts';
import type { PassReport } from '../../core/report.ts';
import { type PassBroke, after } from '../../core/loop/after.ts';
import type { Agent } from './agent.ts';
import { type Facts, type LoopEvent, decide } from '../../core/loop/decide.ts';
import { loopFacts } from './facts.ts';
import { keepLoopState, loopState } from '../loop-record.ts';
import { PollSchedule } from './poll-schedule.ts';
import { SharedTurns } from './shared-turns.ts';
import { type LoopState, type PlannedPass, settle, start } from '../../core/loop/state.ts';
import type { WakeReason, Waker } from './waker.ts';
import { type Watching, watchSources } from './watching.ts';
import { Teller } from '../telling/teller.ts';

export interface DaemonOptions {
  readonly agent: Agent;
  readonly waker: Waker;
  /** Loads the config again; `undefined` where it is not valid (and says so in the log). */
  readonly reload: () => Promise<Settings | undefined>;
  /** Aborts when the daemon has to end. */
  readonly signal: AbortSignal;
  /** How long it sleeps at most; a simulated world, whose clock nobody sets unseen, can do without most beats. */
  readonly beatMs?: number;
  /** How soon a source that could not be read is polled again; for the same world, in which most of these polls find nothing new. */
  readonly unreadRetryMs?: number;
  /** Is told of every pass and how long it took, and waited for. */
  readonly passed?: (report: PassReport, tookMs: number) => void | Promise<void>;
  /** Is told that a pass broke, once `noteBroken` has it. */
  readonly broke?: () => void;
  /** While another agent leads: is told of every pass that read along. */
  readonly followed?: (report: Pick<PassReport, 'at' | 'sources'>, tookMs: number) => void;
}

/** The loop says that it moves at least this often, and sees this soon that the clock was set. */
const beatDefaultMs = 10_000;
/** Idle, it may be silent for this long; within a pass for as long as its timeouts allow. */
const idleAllowanceMs = 60_000;

/** Each makes a pass push; the others are found again by how things are. */
const asks = ['pass', 'reload', 'settings'] as const satisfies readonly LoopEvent[];

/** Runs until the signal aborts; rejects for what nobody foresaw. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const daemon = new Daemon(options);
  try {
    await daemon.run();
  } catch (error) {
    if (!options.signal.aborted) throw error;
  } finally {
    await daemon.end();
  }
}

class Daemon {
  readonly #options: DaemonOptions;
  readonly #agent: Agent;
  readonly #idleWork = new IdleWork();
  readonly #teller: Teller;
  #watching: Watching | undefined;
  #polls: PollSchedule;
  /** `undefined` until this agent leads, where several share a ledger. */
  #known: LoopState | undefined;
  readonly #turns: SharedTurns | undefined;
  /** What somebody asked an agent that shares its ledger for, and no pass has carried out: its turn may end before that. */
  readonly #askedFor = new Set<LoopEvent>();
  /** The version of the token file when the last pass that pushes began. */
  #tokenVersion: string | undefined;
  /** Somebody asked for a pass, and none has ended since. */
  #isAwaited = false;
  /** The data and the push that the daemon had when it last released memory. */
  #doneAtRelease = '';

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#agent = options.agent;
    const { deps } = this.#agent;
    this.#teller = new Teller(() => this.#agent.deps, 'loop');
    this.#polls = new PollSchedule(deps, options.unreadRetryMs);
    this.#tokenVersion = this.#agent.tokenVersion();
    const { shared } = this.#agent;
    const rest = (): Promise<void> => this.#idleWork.stop();
    this.#turns = shared && new SharedTurns(this.#agent, shared, { stop: options.signal, rest });
  }

  get #state(): LoopState {
    if (this.#known === undefined) throw new Error('an agent that does not lead decides nothing');
    return this.#known;
  }

  set #state(state: LoopState) {
    this.#known = state;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    await this.#watch();
    if (this.#turns === undefined) await this.#begin();
    let events: ReadonlySet<LoopEvent> = new Set(['start']);
    for (;;) {
      signal.throwIfAborted();
      events = this.#turns === undefined ? await this.#turn(events) : await this.#sharedTurn(this.#turns, events);
    }
  }

  async #begin(): Promise<void> {
    const { deps } = this.#agent;
    const nowMs = deps.clock.now().getTime();
    this.#state = start(await loopState(deps), { nowMs, hasUnpushed: hasUnpushed(deps) });
  }

  /** One pass, or one wait. Gives what happened meanwhile. */
  async #turn(events: ReadonlySet<LoopEvent>): Promise<ReadonlySet<LoopEvent>> {
    const facts = await this.#facts();
    const decision = decide(this.#state, facts, events);
    let next: ReadonlySet<LoopEvent>;
    if (decision.kind === 'pass') {
      await this.#pass(decision.pass, facts);
      await this.#releaseMemory();
      // Where passes take longer than `poll` the next one is due at once, and nobody would ever wait.
      next = await this.#heard(this.#options.waker.taken());
    } else {
      next = await this.#wait(decision.untilMs);
    }
    await this.#settle();
    return next;
  }

  /** As the only agent, while it leads; else it reads along. What the ledger says ends the turn alone. */
  async #sharedTurn(turns: SharedTurns, events: ReadonlySet<LoopEvent>): Promise<ReadonlySet<LoopEvent>> {
    const before = turns.role;
    for (const event of asks) if (events.has(event)) this.#askedFor.add(event);
    return turns.guarded(
      async () => {
        const role = await turns.next();
        if (role !== before) this.#teller.beginAnew();
        if (role === 'follows') {
          const { clock } = this.#agent.deps;
          const isDue = events.size > 0 || before !== role || this.#polls.msToNext() <= 0;
          if (isDue) await this.#follow(turns, events);
          if (turns.isLedByOther) this.#askedFor.clear();
          return this.#wait(clock.now().getTime() + this.#polls.msToNext());
        }
        if (before !== 'leads') await this.#begin();
        // What it read while it followed counts, unless another agent has pushed since.
        const begun: readonly LoopEvent[] = before === 'leads' ? [] : [turns.isWarm ? 'source' : 'start'];
        return this.#turn(new Set([...events, ...this.#askedFor, ...begun]));
      },
      () => this.#wait(Infinity),
    );
  }

  async #follow(turns: SharedTurns, events: ReadonlySet<LoopEvent>): Promise<void> {
    await this.#idleWork.stop();
    this.#agent.beat(passAllowanceMs(this.#agent.deps.settings));
    const isMore = [...events].some((event) => event !== 'source');
    const { clock } = this.#agent.deps;
    const beganMs = clock.monotonicMs();
    const sources = await turns.follow({ due: this.#polls.begin(isMore ? 'all' : 'due'), proof: 'idle' });
    this.#agent.noteBroken(undefined);
    this.#options.followed?.({ at: clock.now().toISOString(), sources }, clock.monotonicMs() - beganMs);
    await this.#agent.releaseMemory();
  }

  async end(): Promise<void> {
    await this.stop();
    await this.#teller[Symbol.asyncDispose]();
  }

  /** Ends what it does beside its loop for the settings that it has. */
  async stop(): Promise<void> {
    await this.#idleWork.stop();
    await this.#watching?.[Symbol.asyncDispose]();
  }

  /** Waits until then, or until the next beat, and gives what happened meanwhile. */
  async #wait(untilMs: number): Promise<ReadonlySet<LoopEvent>> {
    const { waker, signal, beatMs = beatDefaultMs } = this.#options;
    const { deps } = this.#agent;
    const leftMs = untilMs - deps.clock.now().getTime();
    this.#agent.beat(idleAllowanceMs);
    this.#idleWork.start(deps, (source) => this.#wakeFor(source));
    if (this.#turns === undefined || this.#turns.role === 'leads') await this.#teller.look();
    return this.#heard(await waker.wait(Math.max(0, Math.min(beatMs, leftMs)), signal));
  }

  /** What happened, once what it asks of the agent itself is done: another config is loaded by then. */
  async #heard(woken: ReadonlyMap<WakeReason, number>): Promise<ReadonlySet<LoopEvent>> {
    const events = new Set<LoopEvent>(woken.keys());
    this.#isAwaited ||= woken.has('pass');
    const isBeforeRollback = await this.#isBeforeRollback(woken);
    if (isBeforeRollback('pass')) events.delete('pass');
    if (!woken.has('reload')) return events;
    const before = this.#agent.deps.settings.digest;
    // What another config would change is found out by reading, as in a pass.
    this.#agent.beat(passAllowanceMs(this.#agent.deps.settings));
    const settings = await this.#options.reload();
    if (settings === undefined) events.delete('reload');
    else await this.#reconfigure(settings);
    if (settings !== undefined && settings.digest !== before && !isBeforeRollback('reload')) events.add('settings');
    return events;
  }

  /**
   * Of what happened while a pass was under way: whether somebody rolled back after it. The rollback is their last word then, and is not
   * ended by going on from the sources.
   */
  async #isBeforeRollback(woken: ReadonlyMap<WakeReason, number>): Promise<(reason: WakeReason) => boolean> {
    const requestMs = woken.get('request') ?? -Infinity;
    const isBefore = (reason: WakeReason): boolean => requestMs > (woken.get(reason) ?? Infinity);
    if (!isBefore('pass') && !isBefore('reload')) return () => false;
    const [newest] = await this.#agent.deps.ledger.requests.all();
    return newest?.request.kind === 'rollback' ? isBefore : () => false;
  }

  #facts(): Promise<Facts> {
    const { deps } = this.#agent;
    return loopFacts(deps, {
      pollMs: deps.clock.now().getTime() + this.#polls.msToNext(),
      hasNewToken: this.#agent.tokenVersion() !== this.#tokenVersion,
    });
  }

  /** Where the clock was set back, the next pass has to find moments that moved along. */
  async #settle(): Promise<void> {
    const { deps } = this.#agent;
    const nowMs = deps.clock.now().getTime();
    const isSetBack = nowMs < this.#state.notedMs;
    this.#state = settle(this.#state, nowMs);
    if (isSetBack) await ifWritable(() => keepLoopState(deps, this.#state));
  }

  async #reconfigure(settings: Settings): Promise<void> {
    await this.stop();
    await this.#agent.reconfigure(settings);
    const { deps } = this.#agent;
    this.#polls = new PollSchedule(deps, this.#options.unreadRetryMs);
    if (this.#known !== undefined && deps.address !== this.#known.address) this.#state = await loopState(deps);
    await this.#watch();
  }

  async #watch(): Promise<void> {
    this.#watching = await watchSources(this.#agent.deps, (source) => this.#wakeFor(source));
  }

  #wakeFor(source: string): void {
    this.#polls.makeDue(source);
    this.#options.waker.wake('source');
  }

  async #pass(pass: PlannedPass, { asked }: Pick<Facts, 'asked'>): Promise<void> {
    const { signal, passed } = this.#options;
    await this.#idleWork.stop();
    const { deps } = this.#agent;
    if (pass.push !== 'no') this.#tokenVersion = this.#agent.tokenVersion();
    this.#agent.beat(passAllowanceMs(deps.settings));
    const { resume, polls } = pass;
    const push = pass.push === 'newest' ? 'ifNeeded' : pass.push;
    const due = this.#polls.begin(polls);
    const beganMs = deps.clock.monotonicMs();
    const { broken } = this.#state;
    let isKept = false;
    try {
      deps.confirmState?.();
      await keepLoopState(deps, this.#state);
      isKept = true;
      const report = await runPassOrRebuild(
        this.#agent,
        {
          push,
          resume,
          retryForMs: 0,
          keepsToRetryAfter: 'loop',
          polls,
          due,
          proof: 'idle',
          isAwaited: this.#isAwaited,
        },
        this.#turns?.signal ?? signal,
      );
      this.#isAwaited = false;
      this.#askedFor.clear();
      this.#state = await loopState(this.#agent.deps);
      this.#agent.noteBroken(undefined);
      await passed?.(report, deps.clock.monotonicMs() - beganMs);
      await this.#teller.passed(report);
      await this.#turns?.passed(report);
    } catch (error) {
      if (signal.aborted || !isAgentError(error) || this.#turns?.hasLost === true) throw error;
      // A push may have been tried before the pass broke.
      if (isKept) this.#state = { ...(await loopState(this.#agent.deps)), broken };
      this.#turns?.broke(error);
      this.#askedFor.clear();
      await this.#broke({ pass, asked }, error);
    }
  }

  /** Where the buffer cannot tell now, it is taken to have some: the next pass sends nothing that the service has. */
  #hasUnpushed(): boolean {
    try {
      return hasUnpushed(this.#agent.deps);
    } catch (error) {
      if (!isAgentError(error)) throw error;
      return true;
    }
  }

  async #broke(tried: Pick<PassBroke, 'pass' | 'asked'>, error: AgentError): Promise<void> {
    const { clock, log } = this.#agent.deps;
    const nowMs = clock.now().getTime();
    this.#agent.noteBroken(error);
    this.#options.broke?.();
    const isAway = isAgentError(error, 'ledger.unreachable');
    this.#state = after(this.#state, {
      kind: 'broke',
      ...tried,
      atMs: nowMs,
      hasUnpushed: this.#hasUnpushed(),
      isAway,
    });
    const inMs = (this.#state.broken?.untilMs ?? nowMs) - nowMs;
    log.error('the pass broke and is tried again', { error: error.message, hint: error.hint, inMs });
    await this.#teller.passed(error);
  }

  /** After a pass that did something; a poll that found nothing needed nothing. */
  async #releaseMemory(): Promise<void> {
    const { deps } = this.#agent;
    const done = `${deps.buffer.reads.revision()} ${(await deps.ledger.pushes.last())?.id}`;
    if (done !== this.#doneAtRelease) await this.#agent.releaseMemory();
    this.#doneAtRelease = done;
  }
}

/** Writes unless the disk is full: the next pass breaks on that, and says so. */
async function ifWritable(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isAgentError(error, 'state.full')) throw error;
  }
}

/** How long a pass may be silent before it pushes: as long as its slowest step. */
export function passAllowanceMs(settings: Settings): number {
  const readMs = Math.max(0, ...settings.sources.map(({ timeoutMs }) => timeoutMs));
  return readMs + 2 * timeoutOf(settings) + 120_000;
}

/** How long it may be silent once it pushes: an answer has ten timeouts in all, and a token that was renewed a second one. */
export function pushAllowanceMs(settings: Settings): number {
  return 22 * timeoutOf(settings) + 120_000;
}

function timeoutOf({ destination }: Settings): number {
  return destination === 'emulator' ? 60_000 : destination.timeoutMs;
}
