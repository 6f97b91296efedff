/**
 * A model of agents, the database of their ledger, and a receiver, played event by event. The agents ask the functions of
 * `core/election`; everything between them may be late, lost or asleep, and their clocks run apart.
 */
import {
  type LeadRow,
  isRenewalDue,
  isTrusted,
  lost,
  nextStep,
  overdue,
  pauseMs,
  saw,
  watched,
  won,
} from '../../src/core/election/election.ts';
import { type Agent, type Event, type Faults, type Push, isBefore } from './election-parts.ts';

const leaseMs = 10_000;
/** The receiver's: a body that was given to the network whole lands within this. */
const timeoutMs = 30_000;

export interface Played {
  readonly terms: number;
  readonly applied: number;
  readonly sleeps: number;
  readonly brokenOff: number;
  readonly refusedWrites: number;
  /** Terms that began though the deadline before had not passed. */
  readonly overdue: number;
}

/** What agents leave out, to see that the model finds it. */
export type Planted = 'confirmation' | 'waiting' | 'margin' | 'patience' | 'comparison';

/** Plays one history. @throws Error with the story where a promise is broken */
export function playElection(seed: number, without?: Planted): Played {
  return new World(seed, without).play();
}

class World {
  readonly #random: () => number;
  readonly #without: Planted | undefined;
  readonly #events: Event[] = [];
  readonly #agents: readonly Agent[];
  readonly #faults: Faults;
  readonly #story: string[] = [];
  readonly #pushes: Push[] = [];
  readonly #landed: Push[] = [];
  /** The clock of the database goes back, by as much as this. */
  #setBackMs = 0;
  #overdue = 0;
  readonly #row = { term: 0, holder: undefined as string | undefined, deadlineMs: 0 };
  /** Whole bodies on their way. */
  readonly #flying = new Set<Push>();
  #nowMs = 0;
  #n = 0;
  #data = 1;
  #sleeps = 0;
  #brokenOff = 0;
  #refusedWrites = 0;

  constructor(seed: number, without: Planted | undefined) {
    this.#without = without;
    this.#random = randomOf(seed);
    const some = (share: number): number => (this.#random() < 0.6 ? this.#random() * share : 0);
    this.#faults = { sleep: some(0.05), loss: some(0.2), slow: some(0.3), park: some(0.1) };
    this.#agents = ['a', 'b', 'c'].map((id) => ({
      id,
      // Clocks of machines differ by anything, and run apart by less than half a per cent.
      rate: 0.995 + this.#random() * 0.01,
      offsetMs: Math.floor(this.#random() * 1e9),
      candidacy: { self: id, config: 'one', leaseMs, seenTerm: 0 },
      wakesAtMs: 0,
      isBusy: false,
      push: undefined,
      digest: 1,
    }));
  }

  play(): Played {
    for (const agent of this.#agents) this.#after(this.#random() * 1000, () => this.#turn(agent));
    this.#after(5000, () => this.#change());
    for (let set = 0; set < 2; set++) {
      if (this.#random() < 0.6) this.#after(this.#random() * 150_000, () => this.#setBack());
    }
    const endMs = 200_000;
    while (this.#events.length > 0) {
      const event = this.#next();
      if (event.atMs > endMs) break;
      this.#nowMs = event.atMs;
      event.run();
    }
    return {
      terms: this.#row.term,
      applied: this.#landed.length,
      sleeps: this.#sleeps,
      brokenOff: this.#brokenOff,
      refusedWrites: this.#refusedWrites,
      overdue: this.#overdue,
    };
  }

  // --- time ---

  #after(ms: number, run: () => void): void {
    const event = { atMs: this.#nowMs + ms, n: ++this.#n, run };
    let at = this.#events.length;
    while (at > 0 && isBefore(this.#events[at - 1]!, event)) at--;
    this.#events.splice(at, 0, event);
  }

  /** The last one is the next. */
  #next(): Event {
    return this.#events.pop()!;
  }

  #clock({ rate, offsetMs }: Agent): number {
    return offsetMs + this.#nowMs * rate;
  }

  /** Runs something in an agent, once it is awake. */
  #within(agent: Agent, run: () => void): void {
    if (agent.wakesAtMs > this.#nowMs) this.#after(agent.wakesAtMs - this.#nowMs, () => this.#within(agent, run));
    else {
      run();
      if (this.#random() >= this.#faults.sleep) return;
      this.#sleeps++;
      agent.wakesAtMs = this.#nowMs + this.#random() * 3 * leaseMs;
    }
  }

  #delay(): number {
    return this.#random() < this.#faults.slow ? this.#random() * leaseMs : this.#random() * 50;
  }

  // --- the database ---

  /** A statement: it may be lost on its way, be late, or be parked before it counts; its answer may be lost too. */
  #ask<T>(agent: Agent, statement: () => T, answered: (answer: T) => void, failed: () => void): void {
    let isOver = false;
    const settle = (run: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#within(agent, run);
    };
    this.#after(leaseMs * 3, () => settle(failed));
    if (this.#random() < this.#faults.loss / 2) return;
    const parkedMs = this.#random() < this.#faults.park ? this.#random() * leaseMs : 0;
    this.#after(this.#delay() + parkedMs, () => {
      const answer = statement();
      if (this.#random() < this.#faults.loss / 2) return;
      this.#after(this.#delay(), () => settle(() => answered(answer)));
    });
  }

  #look(): LeadRow {
    const { term, holder, deadlineMs } = this.#row;
    return { term, holder, leftMs: deadlineMs - this.#databaseMs, deadline: deadlineMs, leaseMs, config: 'one' };
  }

  /** @param seen the term and the deadline that stood for too long */
  #claim(
    { id, candidacy }: Agent,
    seen: { readonly term: number; readonly deadline: number } | undefined,
  ): number | undefined {
    const row = this.#row;
    const isSeen = seen?.term === row.term && (seen.deadline === row.deadlineMs || this.#without === 'comparison');
    const hasPassed = row.deadlineMs <= this.#databaseMs || row.holder === id;
    if (!hasPassed && !isSeen) return undefined;
    if (!hasPassed) this.#overdue++;
    const term = Math.max(row.term, candidacy.seenTerm) + 1;
    if (term <= row.term) this.#broken(`the term fell from ${row.term} to ${term}`);
    Object.assign(row, { term, holder: id, deadlineMs: this.#databaseMs + leaseMs });
    this.#tell(`${id} claims term ${term}`);
    return term;
  }

  #renew(id: string, term: number): boolean {
    if (this.#row.holder !== id || this.#row.term !== term) return false;
    this.#row.deadlineMs = this.#databaseMs + leaseMs;
    return true;
  }

  /** What an agent writes with its term. */
  #write<T>(id: string, term: number, run: () => T): T | undefined {
    if (this.#row.holder === id && this.#row.term === term) return run();
    this.#refusedWrites++;
    return undefined;
  }

  /** As a failover to a server whose clock is behind: by less than a lease, or by more than a history takes. */
  #setBack(): void {
    const ms = this.#random() < 0.3 ? this.#random() * leaseMs : leaseMs + this.#random() * 3_600_000;
    this.#setBackMs += ms;
    this.#tell(`the clock of the database goes back by ${ms} ms`);
  }

  get #databaseMs(): number {
    return this.#nowMs - this.#setBackMs;
  }

  // --- an agent ---

  #turn(agent: Agent): void {
    this.#within(agent, () => {
      const askedMs = this.#clock(agent);
      this.#ask(
        agent,
        () => this.#look(),
        (row) => this.#judge(agent, row, askedMs),
        () => this.#rest(agent, undefined),
      );
    });
  }

  #judge(agent: Agent, row: LeadRow, askedMs: number): void {
    this.#checkTrust();
    const begunMs = this.#clock(agent);
    // A deadline that is taken to have stood since long before it was first seen.
    const waitedMs = this.#without === 'patience' ? leaseMs : 0;
    agent.candidacy = watched(saw(agent.candidacy, row), row, { askedMs, answeredMs: begunMs - waitedMs });
    // As the agent does it: trust that ran out is given up, whatever the database would answer.
    if (agent.candidacy.held !== undefined && !isTrusted(agent.candidacy, begunMs))
      agent.candidacy = lost(agent.candidacy);
    const step = nextStep(agent.candidacy, row, []);
    const rest = (): void => this.#rest(agent, row);
    if (step === 'claim') {
      const answered = (term: number | undefined): void => {
        // Trust that counts from the answer on, and not from before the question.
        const fromMs = this.#without === 'margin' ? this.#clock(agent) : begunMs;
        if (term !== undefined) agent.candidacy = won(agent.candidacy, { term, begunMs: fromMs });
        rest();
      };
      const deadline = overdue(agent.candidacy, row);
      const seen = deadline === undefined ? undefined : { term: row.term, deadline };
      this.#ask(agent, () => this.#claim(agent, seen), answered, rest);
    } else if (step === 'renew' && isRenewalDue(agent.candidacy, begunMs)) this.#confirm(agent, rest, rest);
    else rest();
    if (isTrusted(agent.candidacy, this.#clock(agent)) && !agent.isBusy && this.#random() < 0.3) this.#begin(agent);
  }

  #rest(agent: Agent, row: LeadRow | undefined): void {
    this.#checkTrust();
    const ms = Math.max(20, pauseMs(agent.candidacy, row, this.#clock(agent)));
    this.#after(ms, () => this.#turn(agent));
  }

  /** @param of the term that a push was begun in: another one does not confirm it */
  #confirm(agent: Agent, confirmed: () => void, refused: () => void, of = agent.candidacy.held?.term): void {
    const term = agent.candidacy.held?.term;
    if (term === undefined || term !== of) return refused();
    const begunMs = this.#clock(agent);
    const answered = (isHeld: boolean): void => {
      if (!isHeld) agent.candidacy = lost(agent.candidacy);
      else if (agent.candidacy.held?.term === term) agent.candidacy = won(agent.candidacy, { term, begunMs });
      this.#checkTrust();
      const isSame = agent.candidacy.held?.term === term;
      return isSame && isTrusted(agent.candidacy, this.#clock(agent)) ? confirmed() : refused();
    };
    this.#ask(agent, () => this.#renew(agent.id, term), answered, refused);
  }

  /** One push: a row, a body without its end, the word of the database, the end, and the row's end. */
  #begin(agent: Agent): void {
    const term = agent.candidacy.held!.term;
    agent.isBusy = true;
    const over = (): void => void (agent.isBusy = false);
    const { digest } = agent;
    this.#ask(
      agent,
      () => this.#write(agent.id, term, () => this.#insert(term, digest)),
      (push) => {
        if (push === undefined) return over();
        const waitMs = this.#landsIn(push);
        this.#after(waitMs, () => this.#within(agent, () => this.#upload(agent, push)));
      },
      over,
    );
  }

  /** The row; what an earlier term did not see end counts as ended now. */
  #insert(term: number, digest: number): Push {
    for (const one of this.#pushes) {
      if (one.endedAtMs === undefined && one.term < term) one.endedAtMs = this.#nowMs;
      // The agent itself found out that its own earlier attempt has ended, or it would not be here.
      if (one.endedAtMs === undefined) one.endedAtMs = this.#nowMs;
    }
    const push: Push = { id: this.#pushes.length + 1, digest, term, endedAtMs: undefined, isOpen: true };
    this.#pushes.push(push);
    return push;
  }

  /** How long a body waits for others that may still land. */
  #landsIn({ id, digest }: Push): number {
    if (this.#without === 'waiting') return 0;
    const others = this.#pushes.filter((one) => one.id < id && one.isOpen && one.digest !== digest);
    const lastMs = Math.max(-Infinity, ...others.map(({ endedAtMs }) => endedAtMs ?? this.#nowMs));
    return Math.max(0, lastMs + timeoutMs - this.#nowMs);
  }

  #upload(agent: Agent, push: Push): void {
    this.#after(this.#random() * 3000, () =>
      this.#within(agent, () => {
        const broken = (): void => {
          this.#brokenOff++;
          push.isOpen = false;
          agent.isBusy = false;
        };
        const send = (): void => this.#send(agent, push);
        if (this.#without === 'confirmation') send();
        else this.#confirm(agent, send, broken, push.term);
      }),
    );
  }

  /** The last bytes. The body lands within the timeout, or never. */
  #send(agent: Agent, push: Push): void {
    const others = this.#agents.filter((one) => one !== agent && isTrusted(one.candidacy, this.#clock(one)));
    if (others.length > 0) this.#broken(`${agent.id} sends push ${push.id} while ${others[0]!.id} leads`);
    this.#tell(`${agent.id} sends push ${push.id} (data ${push.digest})`);
    const beside = [...this.#flying].find((one) => one.digest !== push.digest);
    if (beside !== undefined) this.#broken(`push ${push.id} is on its way beside push ${beside.id}, with other data`);
    this.#flying.add(push);
    const isLost = this.#random() < this.#faults.loss;
    this.#after(this.#random() * timeoutMs * 0.95, () => {
      this.#flying.delete(push);
      if (!isLost) this.#land(push);
      const isHeard = this.#random() >= this.#faults.loss;
      const ended = (): void => {
        const term = agent.candidacy.held?.term ?? -1;
        const over = (): void => void (agent.isBusy = false);
        if (!isHeard || isLost) return over();
        const end = (): boolean => {
          push.endedAtMs ??= this.#nowMs;
          push.isOpen = false;
          return true;
        };
        this.#ask(agent, () => this.#write(agent.id, term, end), over, over);
      };
      this.#within(agent, ended);
    });
  }

  #land(push: Push): void {
    const newer = this.#landed.find((one) => one.id > push.id && one.digest !== push.digest);
    if (newer !== undefined) this.#broken(`push ${push.id} lands after push ${newer.id}, which has other data`);
    this.#landed.push(push);
    this.#tell(`push ${push.id} lands`);
  }

  /** New data, which the machines see one after the other. */
  #change(): void {
    const digest = ++this.#data;
    for (const agent of this.#agents) this.#after(this.#random() * 4000, () => void (agent.digest = digest));
    this.#after(4000 + this.#random() * 20_000, () => this.#change());
  }

  #checkTrust(): void {
    const leading = this.#agents.filter((agent) => isTrusted(agent.candidacy, this.#clock(agent)));
    if (leading.length > 1) this.#broken(`${leading.map(({ id }) => id).join(' and ')} lead at once`);
  }

  #tell(text: string): void {
    this.#story.push(`${(this.#nowMs / 1000).toFixed(3)} ${text}`);
  }

  #broken(text: string): never {
    throw new Error([...this.#story.slice(-15), text].join('\n'));
  }
}

/** The same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
