/** The turns of an agent that shares its ledger with others: whether it leads now, and what it does while another one does. */
import { differsAfterMs, differsFromLeader } from '../../core/election/differing.ts';
import type { AgentSaid } from '../../core/election/lead.ts';
import { type AgentError, isAgentError } from '../../core/errors.ts';
import type { PassReport, SourceReport } from '../../core/report.ts';
import type { ReadOptions } from '../read/look-at-all.ts';
import { followingPass, endsTurn, noteOwnPush, readOnly } from '../shared/follow.ts';
import { beginToLead } from '../shared/take-over.ts';
import { wouldPush } from '../shared/would-push.ts';
import type { Agent, Shared } from './agent.ts';

export class SharedTurns {
  readonly #agent: Agent;
  readonly #shared: Shared;
  readonly #stop: AbortSignal;
  readonly #rest: () => Promise<void>;
  #role: 'leads' | 'follows' | undefined;
  /** The ledger may not know what became of a push. */
  #isToSetRight = false;
  #isWarm = false;
  #failure: string | undefined;
  #differsSinceMs: number | undefined;
  #isToldDiffers = false;
  #said: AgentSaid = { sources: [] };

  /** @param rest ends what the agent does beside its passes: to begin to lead changes what that looks at */
  constructor(agent: Agent, shared: Shared, { stop, rest }: { stop: AbortSignal; rest: () => Promise<void> }) {
    this.#agent = agent;
    this.#shared = shared;
    this.#stop = stop;
    this.#rest = rest;
  }

  get role(): 'leads' | 'follows' | undefined {
    return this.#role;
  }

  /** When it began to lead, it had looked at every source since the last push was made. */
  get isWarm(): boolean {
    return this.#isWarm;
  }

  /** Whatever is asked for is the matter of another agent. */
  get isLedByOther(): boolean {
    return this.#shared.lead.isLedByOther();
  }

  /** What a pass of an agent that leads goes by: it ends with its lead. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#stop, this.#shared.lead.signal]);
  }

  /** Whether its lead ended during a pass. */
  get hasLost(): boolean {
    return this.#role === 'leads' && this.#shared.lead.signal.aborted;
  }

  /** A pass broke: the next turn sets right what the ledger could not be told. It leads as before, so that it keeps what it waits for. */
  broke(error: AgentError): void {
    this.#isToSetRight = true;
    this.#sayBroken(error);
  }

  /** The others would see what it said before, and nothing wrong. */
  #sayBroken({ message: why }: AgentError): void {
    const { clock } = this.#agent.deps;
    const { sinceMs } = this.#said.broken ?? { sinceMs: clock.now().getTime() };
    this.#tell({ ...this.#said, broken: { sinceMs, why } });
  }

  #tell(said: AgentSaid): void {
    this.#said = said;
    this.#shared.lead.say(said);
  }

  /** What it does next. Whoever begins to lead goes on from what was pushed. */
  async next(): Promise<'leads' | 'follows'> {
    const { lead } = this.#shared;
    await lead.giveWay();
    if (!lead.isLeading()) {
      this.#role = 'follows';
      lead.follow();
    } else if (this.#role !== 'leads' || this.#isToSetRight) {
      const before = this.#role === 'follows' ? this.#followed() : undefined;
      await this.#rest();
      await beginToLead(this.#agent, this.#stop);
      this.#isWarm = before !== undefined && before === this.#followed();
      this.#role = 'leads';
      this.#isToSetRight = false;
    }
    return this.#role ?? 'follows';
  }

  /** The push that it goes on from; `undefined`: its snapshot cannot be read, or there is none. */
  #followed(): string | undefined {
    const { follows, isBare = false } = this.#agent.deps.buffer.state();
    return isBare ? undefined : follows;
  }

  /** Runs a turn; where the ledger ends it, waits for what comes next instead. */
  async guarded<T>(turn: () => Promise<T>, wait: () => Promise<T>): Promise<T> {
    try {
      const result = await turn();
      this.#failure = undefined;
      return result;
    } catch (error) {
      const isLost = this.hasLost && isAgentError(error);
      if (this.#stop.aborted || !(isLost || endsTurn(error))) throw error;
      this.#say(error);
      if (error.code.startsWith('state.')) this.#sayBroken(error);
      this.#role = undefined;
    }
    return wait();
  }

  /** Reads and judges along, and tells the others what it would push. A buffer that turns out to be damaged is rebuilt, once. */
  async follow(options: ReadOptions): Promise<readonly SourceReport[]> {
    try {
      return await this.#readAlong(options);
    } catch (error) {
      if (!isAgentError(error, 'state.corrupt')) throw error;
      const { log } = this.#agent.shared!.following;
      log.error('the buffer is damaged; it is moved aside and rebuilt', { cause: error.message });
      this.#agent.rebuildBuffer();
      options.due?.forget();
      return this.#readAlong(options);
    }
  }

  async #readAlong(options: ReadOptions): Promise<readonly SourceReport[]> {
    const { following } = this.#agent.shared!;
    try {
      const { said, sources } = await followingPass(following, options, this.#stop);
      this.#tell(said);
      await this.#compare();
      return sources;
    } catch (error) {
      if (!endsTurn(error)) throw error;
      // Reading goes on, so that it is warm once the ledger answers.
      await readOnly(following, options, this.#stop);
      throw error;
    }
  }

  /** Tells the others what an agent that leads would push after a pass. */
  async passed(report: PassReport): Promise<void> {
    const { following } = this.#agent.shared!;
    await noteOwnPush(this.#agent.deps);
    this.#tell(await wouldPush({ ...this.#agent.deps, archive: following.archive }, report.sources));
  }

  /** What this machine sees is compared with what the one that leads sees. */
  async #compare(): Promise<void> {
    const { clock, ledger, log, settings } = this.#agent.shared!.following;
    const view = await ledger.agents?.();
    const own = view?.agents.find(({ id }) => id === this.#shared.lead.self);
    const differs = view !== undefined && own !== undefined && differsFromLeader(own, view);
    const nowMs = clock.monotonicMs();
    this.#differsSinceMs = differs ? (this.#differsSinceMs ?? nowMs) : undefined;
    const afterMs = differsAfterMs(settings.sources);
    const isLong = this.#differsSinceMs !== undefined && nowMs - this.#differsSinceMs >= afterMs;
    if (isLong && !this.#isToldDiffers) {
      log.warn(
        'this machine does not see what the agent that leads sees: is a mount missing, or an older copy there?',
        {
          hint: '"driver-sync status" says how much differs',
        },
      );
    }
    this.#isToldDiffers = isLong;
  }

  #say(error: AgentError): void {
    const { log } = this.#shared.following;
    if (this.#failure !== error.message) log.warn('the turn ended', { why: error.message, hint: error.hint });
    this.#failure = error.message;
  }
}
