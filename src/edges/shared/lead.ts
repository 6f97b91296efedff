/**
 * One agent's part in the election, at the database. It looks who leads twice a second, renews its own term, and takes over
 * when the deadline of another one has passed. Every answer also tells the clock of the database.
 */
import { randomUUID } from 'node:crypto';
import { AgentError, isAgentError } from '../../core/errors.ts';
import {
  type Candidacy,
  type LeadRow,
  type OtherAgent,
  givesWay,
  isRenewalDue,
  isTrusted,
  lost,
  nextStep,
  pauseMs,
  overdue,
  saw,
  watched,
  whyNotLead,
  won,
} from '../../core/election/election.ts';
import { sawLoss, timelineIn } from '../../core/election/doubt.ts';
import type { AgentSaid, Lead } from '../../core/election/lead.ts';
import type { LeadRows, Looked, Term } from '../../core/election/rows.ts';
import { Patience } from '../../core/election/patience.ts';
import type { Clock, Log } from '../../core/ports.ts';
import { ledByOther, lostRecords } from './fence.ts';
import type { LedgerSchema } from './schema.ts';
import { noteSeen } from './note-seen.ts';
import type { SeenFile } from './seen.ts';

export interface LeadOptions {
  readonly host: string;
  readonly pid: number;
  /** Of the settings that all agents have to have alike. */
  readonly config: string;
  readonly address: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly seen: Pick<SeenFile, 'get' | 'set'>;
  readonly schema: LedgerSchema;
  /** Makes sure that this agent may use the tables. */
  readonly prepare: () => Promise<void>;
  /** Leads also where the ledger was given back. */
  readonly isCopying?: true;
  /** Somebody else leads now, this agent does, or somebody asked for something. */
  readonly changed: (what: 'lead' | 'request' | 'pass') => void;
}

/** A variable may hide another address in the same text of a config. */
function alike({ config, address }: Pick<LeadOptions, 'config' | 'address'>): string {
  return `${config} ${address}`;
}

export class SharedLead implements Lead, AsyncDisposable {
  readonly self = randomUUID();
  readonly #rows: LeadRows;
  readonly #options: LeadOptions;
  readonly #closing = new AbortController();
  #config: string;
  #address: string;
  #candidacy: Candidacy;
  #row: LeadRow | undefined;
  #others: readonly OtherAgent[] = [];
  #asked: { readonly asked: string; readonly wakes: number } | undefined;
  #term = new AbortController();
  /** Of the wait for the end of its trust. */
  #end = new AbortController();
  #said: AgentSaid = { sources: [] };
  #saidMs = -Infinity;
  #failure: AgentError | undefined;
  #aheadMs: number | undefined;
  #running: Promise<void> | undefined;
  #mayClaim = true;
  readonly #patience: Patience;
  /** `false` while something of an earlier term may be under way: its writes would count as those of the next one. */
  #isFollowing = true;
  #isPrepared = false;
  #toldWhy: string | undefined;

  constructor(rows: LeadRows, options: LeadOptions) {
    this.#rows = rows;
    this.#options = options;
    this.#config = alike(options);
    this.#address = options.address;
    const { leaseMs, seen } = options;
    const config = this.#config;
    this.#candidacy = { self: this.self, config, leaseMs, seenTerm: seen.get()?.term ?? 0 };
    this.#patience = new Patience(leaseMs);
    this.#term.abort(ledByOther(rows.label));
  }

  /** The first turn, which fails where the ledger cannot be reached; then it goes on by itself. */
  async begin(): Promise<void> {
    await this.#turn();
    this.go();
  }

  /** Goes on by itself, whether or not the ledger can be reached. */
  go(): void {
    this.#running ??= this.#run();
  }

  get signal(): AbortSignal {
    return this.#term.signal;
  }

  isLeading(): boolean {
    return isTrusted(this.#candidacy, this.#nowMs());
  }

  isLedByOther(): boolean {
    if (this.#failure !== undefined || this.#row === undefined || this.isLeading()) return false;
    const { holder, leftMs } = this.#row;
    return holder !== undefined && holder !== this.self && leftMs > 0;
  }

  /** What writes of the ledger name. */
  term(): Term | undefined {
    const { held } = this.#candidacy;
    return held && { holder: this.self, term: held.term };
  }

  follow(): void {
    this.#isFollowing = true;
  }

  async confirm(): Promise<void> {
    await this.#renew();
    if (!this.isLeading()) throw ledByOther(this.#rows.label, this.#failure);
  }

  whyNot(): string | undefined {
    if (this.#failure !== undefined) return this.#failure.message;
    if (this.#row === undefined || this.isLeading()) return undefined;
    switch (whyNotLead(this.#candidacyNow(), this.#row, this.#others)) {
      case 'leader differs':
        return this.#row.address === this.#address
          ? 'its config is not that of the agent that leads: it does not take over before they are equal'
          : `it pushes to ${this.#address}, and the agent that leads to ${this.#row.address}: it does not take over before they are equal`;
      case 'others differ':
        return 'nobody leads, and the agents that are there have different configs: give all of them the same';
      case 'others can':
        return 'its passes break, and another agent is there that can lead';
      case undefined:
        return undefined;
    }
  }

  async giveWay(): Promise<void> {
    const term = this.term();
    if (term === undefined || !givesWay(this.#candidacyNow(), this.#others)) return;
    this.#patience.gaveWay();
    this.#lose(new AgentError('ledger.led', 'its passes break, and another agent is there that can lead'));
    await this.#rows.resign(this.self, term);
    // That took its own row too.
    this.#saidMs = -Infinity;
  }

  #candidacyNow(): Candidacy {
    return { ...this.#candidacy, isBroken: this.#patience.isOver(this.#nowMs()) };
  }

  say(said: AgentSaid): void {
    if (JSON.stringify(said) !== JSON.stringify(this.#said)) this.#saidMs = -Infinity;
    this.#patience.passed({ isBroken: said.broken !== undefined, isLeading: this.isLeading() }, this.#nowMs());
    this.#said = said;
  }

  /** Another config: what it may lead with. */
  reconfigure(to: Pick<LeadOptions, 'config' | 'address'>): void {
    this.#config = alike(to);
    this.#address = to.address;
    this.#candidacy = { ...this.#candidacy, config: this.#config };
    this.#saidMs = -Infinity;
  }

  /** How far the clock of the database is ahead of this machine's monotonic one; `undefined` before its first answer. */
  get aheadMs(): number | undefined {
    return this.#aheadMs;
  }

  /** Gives the lead back, so that another one has it at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#mayClaim = false;
    this.#closing.abort();
    await this.#running;
    const term = this.term();
    this.#lose(new AgentError('aborted', 'the agent ends'));
    await this.#rows.resign(this.self, term).catch((error: unknown) => {
      if (!isAgentError(error)) throw error;
      if (term !== undefined)
        this.#options.log.warn('the lead could not be given back: another agent takes over when its time is over', {
          error: error.message,
        });
    });
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const ms = Math.max(20, pauseMs(this.#candidacy, this.#row, this.#nowMs()));
      await clock.sleep(ms, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#turn().catch((error: unknown) => this.#fail(error));
    }
  }

  async #turn(): Promise<void> {
    const { schema } = this.#options;
    if (!this.#isPrepared) {
      await schema.ensure();
      await this.#options.prepare();
    }
    this.#isPrepared = true;
    if (isRenewalDue(this.#candidacy, this.#nowMs())) await this.#renew();
    const version = await this.#look();
    if (this.#row !== undefined && nextStep(this.#candidacyNow(), this.#row, this.#others) === 'claim')
      await this.#claim(version);
    await this.#tell();
    if (version < schema.version && this.#candidacy.held === undefined) throw schema.older(version);
    if (this.#failure !== undefined) this.#options.log.info('the ledger answers again');
    this.#failure = undefined;
    const why = this.whyNot();
    if (why !== undefined && why !== this.#toldWhy) this.#options.log.warn('this agent would not take over', { why });
    this.#toldWhy = why;
  }

  /** Gives the version of the tables. */
  async #look(): Promise<number> {
    const askedMs = this.#options.clock.monotonicMs();
    const looked = await this.#timed(() => this.#rows.look());
    const answeredMs = this.#options.clock.monotonicMs();
    this.#refuseNewer(looked.version);
    const before = this.#row;
    this.#row = looked.row;
    this.#others = looked.agents;
    const candidacy = watched(saw(this.#candidacy, looked.row), looked.row, { askedMs, answeredMs });
    if (candidacy.held === undefined) this.#lose(ledByOther(this.#rows.label));
    this.#candidacy = candidacy;
    await noteSeen(this.#options.seen, looked, this.#rows);
    if (sawLoss(this.#options.seen.get()) && this.#options.isCopying !== true)
      this.#lose(lostRecords(this.#rows.label));
    if (before !== undefined && before.term !== looked.row.term) this.#options.changed('lead');
    const earlier = this.#asked;
    this.#asked = { asked: looked.asked, wakes: looked.wakes };
    if (earlier !== undefined && earlier.asked !== looked.asked) this.#options.changed('request');
    if (earlier !== undefined && earlier.wakes !== looked.wakes) this.#options.changed('pass');
    return looked.version;
  }

  /** What a newer version made of the tables this agent does not know. */
  #refuseNewer(version: number): void {
    try {
      this.#options.schema.refuseNewer(version);
    } catch (error) {
      if (isAgentError(error)) this.#lose(error);
      throw error;
    }
  }

  /** @param version of the tables: who leads brings them up to date before it does anything else */
  async #claim(version: number): Promise<void> {
    if (!this.#mayClaim || !this.#isFollowing) return;
    const begunMs = this.#nowMs();
    const { host, pid, leaseMs, seen, isCopying, schema, log } = this.#options;
    const { term = 0 } = this.#row ?? {};
    const deadline = this.#row && overdue(this.#candidacy, this.#row);
    const claimed = await this.#timed(() =>
      this.#rows.claim({
        holder: this.self,
        host,
        pid,
        config: this.#config,
        address: this.#address,
        leaseMs,
        seenTerm: this.#candidacy.seenTerm,
        seen: seen.get(),
        isCopying,
        version,
        overdue: deadline === undefined ? undefined : { term, deadline },
      }),
    );
    if (claimed.term === undefined) return;
    if (version < schema.version) {
      await schema.migrate(version, { holder: this.self, term: claimed.term });
      log.info('the ledger was brought up to date', { from: version, to: schema.version });
    }
    seen.set({ cluster: claimed.cluster, term: claimed.term, lost: undefined, lostBeside: undefined });
    this.#candidacy = won(this.#candidacy, { term: claimed.term, begunMs });
    this.#term = new AbortController();
    this.#trust();
    if (claimed.doubt !== undefined) log.warn(claimed.doubt, { hint: 'see "driver-sync plan"' });
    log.info('this agent leads now', { term: claimed.term });
    this.#options.changed('lead');
  }

  async #renew(): Promise<void> {
    const { held } = this.#candidacy;
    if (held === undefined) throw ledByOther(this.#rows.label, this.#failure);
    const begunMs = this.#nowMs();
    const { leaseMs, seen, isCopying } = this.#options;
    const { cluster = '', head: seenHead } = seen.get() ?? {};
    const head = isCopying === true ? undefined : seenHead;
    const mine = { holder: this.self, term: held.term, config: this.#config, address: this.#address, head };
    const renewed = await this.#timed(() => this.#rows.renew({ ...mine, leaseMs }));
    if (!renewed.isHeld) return this.#lose(ledByOther(this.#rows.label));
    // Rows are gone, or may be: the next term begins with that question.
    if (!renewed.hasHead || renewed.timeline !== timelineIn(cluster)) return this.#lose(lostRecords(this.#rows.label));
    if (this.#candidacy.held?.term !== held.term) return;
    this.#candidacy = won(this.#candidacy, {
      term: held.term,
      begunMs: Math.max(begunMs, this.#candidacy.held.begunMs),
    });
    this.#trust();
  }

  async #tell(): Promise<void> {
    const nowMs = this.#nowMs();
    if (nowMs - this.#saidMs < this.#options.leaseMs / 3) return;
    const { host, pid } = this.#options;
    const said = JSON.stringify({ ...this.#said, leaseMs: this.#options.leaseMs });
    const oldMs = this.isLeading() ? 50 * this.#options.leaseMs : undefined;
    await this.#rows.tell({ id: this.self, host, pid, config: this.#config, said }, oldMs);
    this.#saidMs = nowMs;
  }

  /** What this agent still has under way ends with its trust, whatever the database answers later. */
  #trust(): void {
    this.#end.abort();
    this.#end = new AbortController();
    const { held } = this.#candidacy;
    const leftMs = (held?.trustedUntilMs ?? 0) - this.#nowMs();
    const late = new AgentError(
      'ledger.unreachable',
      `the ledger at ${this.#rows.label} did not answer in time to go on leading`,
      { hint: 'another agent takes over, or this one again when it answers' },
    );
    void this.#options.clock.sleep(Math.max(0, leftMs), this.#end.signal).then(
      () => this.#lose(late),
      () => undefined,
    );
  }

  #lose(why: AgentError): void {
    this.#end.abort();
    if (this.#candidacy.held === undefined) return;
    this.#candidacy = lost(this.#candidacy);
    this.#isFollowing = false;
    this.#term.abort(why);
    if (!this.#closing.signal.aborted)
      this.#options.log.warn('this agent does not lead any more', { why: why.message });
    this.#options.changed('lead');
  }

  #fail(error: unknown): void {
    if (!isAgentError(error)) throw error;
    if (this.#closing.signal.aborted) return;
    if (this.#failure?.message !== error.message) {
      this.#options.log.error('the ledger cannot be used: nothing is pushed, and sources are read meanwhile', {
        error: error.message,
        hint: error.hint,
      });
    }
    this.#failure = error;
    this.#row = undefined;
  }

  /**
   * Notes how far the database's clock is ahead. It was read somewhere between the question and the answer, so a slow answer says little:
   * what was known before stays as it is, unless it cannot be true any more. Else the clock would go back and forth by half of each delay.
   */
  async #timed<T extends Pick<Looked, 'nowMs'>>(ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const beganMs = clock.monotonicMs();
    const answer = await ask();
    const [leastMs, mostMs] = [answer.nowMs - clock.monotonicMs(), answer.nowMs - beganMs];
    const before = this.#aheadMs ?? (leastMs + mostMs) / 2;
    this.#aheadMs = Math.min(Math.max(before, leastMs), mostMs);
    return answer;
  }

  /** Of this machine alone. Where it slept, or its clock was set, the larger step counts: trust may end too early, never too late. */
  #nowMs(): number {
    const { clock } = this.#options;
    const monotonicMs = clock.monotonicMs();
    this.#sleptMs = Math.max(this.#sleptMs, clock.now().getTime() - monotonicMs - this.#beganWallMs(clock));
    return monotonicMs + this.#sleptMs;
  }

  #sleptMs = 0;
  #wallMs: number | undefined;

  #beganWallMs(clock: Clock): number {
    return (this.#wallMs ??= clock.now().getTime() - clock.monotonicMs());
  }
}
