/** What agents that share a ledger may never do, held against what they send and what lands. It knows nothing of the agent's code. */
import { readBody } from '../body.ts';
import { type Collapse, type HeldPart, foldParts } from '../model.ts';
import { Violation } from '../promises.ts';
import type { WorldClock } from '../world/clock.ts';
import type { Pushing } from './shared-part.ts';

/** A body whose last bytes were given to the network. */
export interface Sent {
  /** Counted from 1. */
  readonly request: number;
  readonly digest: string;
  readonly machine: Pushing;
  readonly term: number;
  readonly atMs: number;
  /** By driver: which of its states, counted from 0. */
  readonly states: ReadonlyMap<string, number>;
}

type Months = ReadonlyMap<number, readonly string[]>;

/** Who hears of what is found. */
export interface Heard {
  readonly mark: (name: string) => void;
  readonly note: (line: string) => void;
  readonly broke: (error: unknown) => void;
}

export class FleetChecks {
  readonly #mark: (name: string) => void;
  readonly #note: (line: string) => void;
  readonly #broke: (error: unknown) => void;
  readonly #clock: WorldClock;
  machines: readonly Pushing[] = [];
  /** By driver: every state that its owner meant, one after the other. */
  readonly #states = new Map<string, Months[]>();
  readonly #sourceOf = new Map<string, string>();
  readonly #flying = new Set<Sent>();
  #acknowledged: Sent | undefined;
  #last: Sent | undefined;
  #requests = 0;
  /** What the service holds. */
  landed: Sent | undefined;

  constructor(clock: WorldClock, { mark, note, broke }: Heard) {
    this.#clock = clock;
    this.#mark = mark;
    this.#note = note;
    this.#broke = broke;
  }

  /** An owner has written what its source says now. Nothing that was there is ever left out. */
  exported(source: string, parts: readonly HeldPart[], rules: readonly Collapse[]): void {
    for (const [driver, months] of foldParts(parts, rules)) {
      this.#sourceOf.set(driver, source);
      const states = this.#states.get(driver) ?? [];
      this.#states.set(driver, states);
      const last = states.at(-1);
      if (last === undefined || !isSame(last, months)) states.push(months);
    }
  }

  brokenOff(): void {
    this.#mark('push broken off before its last bytes');
  }

  /** The last bytes go. @throws Violation, which ends the history */
  sent(machine: Pushing, digest: string, text: string): Sent {
    try {
      return this.#sent(machine, digest, text);
    } catch (error) {
      this.#broke(error);
      throw error;
    }
  }

  #sent(machine: Pushing, digest: string, text: string): Sent {
    const { name, term } = machine;
    this.#note(`${name} sends ${digest.slice(0, 12)} in term ${term}`);
    const other = this.machines.find((one) => one !== machine && one.isLeading);
    if (other !== undefined) throw new Violation('lead', `${name} sends a body while ${other.name} leads`);
    const states = this.#statesOf(text);
    const sent = { request: ++this.#requests, digest, machine, term, atMs: this.#clock.monotonicMs(), states };
    const beside = [...this.#flying].find((one) => one.digest !== digest);
    if (beside !== undefined)
      throw new Violation('waits', `${name} sends a body while another one of ${beside.machine.name} is on its way`);
    const last = this.#last;
    if (last !== undefined) this.#follows(last, sent);
    this.#last = sent;
    this.#flying.add(sent);
    return sent;
  }

  #follows(last: Sent, sent: Sent): void {
    const { term, machine, states } = sent;
    if (last.term > term) throw new Violation('lead', `a body of term ${term} is sent after one of term ${last.term}`);
    const older = [...last.states].find(([driver, state]) => (states.get(driver) ?? -1) < state);
    if (last.term === term) {
      if (last.machine !== machine) throw new Violation('lead', `two machines push in term ${term}`);
      if (older !== undefined)
        throw new Violation('order', `${machine.name} sends an older state of "${older[0]}" after a newer one`);
    } else {
      this.#mark(last.machine === machine ? 'pushed in a later term' : 'pushed after another machine');
      if (older !== undefined) this.#mark('pushed what a machine sees that is behind');
      this.#goesOn(last, sent);
      if (last.digest === sent.digest) this.#mark('the same bytes from another term');
    }
  }

  /** What a machine has not seen since before the last push is as that push had it, and not as the machine had seen it. */
  #goesOn(last: Sent, { machine, states }: Sent): void {
    if (this.#acknowledged !== last) return;
    for (const [driver, state] of last.states) {
      const source = this.#sourceOf.get(driver)!;
      const blindSinceMs = machine.blindSinceMs(source) ?? Infinity;
      if (blindSinceMs > last.atMs) continue;
      this.#mark('pushed what a machine cannot see');
      if (states.get(driver) !== state)
        throw new Violation('order', `${machine.name} cannot see ${source}, and changes "${driver}" of it`);
    }
  }

  /** The ledger knows that what was sent last was taken. */
  acknowledged(): void {
    this.#acknowledged = this.#last;
  }

  /** Which state of each driver a body has. */
  #statesOf(text: string): ReadonlyMap<string, number> {
    const { points } = readBody(text);
    const found = new Map<string, number>();
    for (const [driver, months] of points) {
      const states = this.#states.get(driver) ?? [];
      const state = states.findLastIndex((one) => isSent(one, months));
      if (state < 0) throw new Violation('digits', `"${driver}" was sent as it never was`);
      found.set(driver, state);
    }
    return found;
  }

  /** It never lands. */
  lost(sent: Sent): void {
    this.#flying.delete(sent);
    this.#mark('body lost');
  }

  land(sent: Sent): void {
    this.#flying.delete(sent);
    this.#note(`${sent.digest.slice(0, 12)} lands`);
    const { landed } = this;
    if (landed !== undefined && landed.request > sent.request && landed.digest !== sent.digest)
      this.#broke(new Violation('order', 'an older body landed after a newer one'));
    this.landed = sent;
  }

  /** Whether the service holds the newest state of everything. */
  isServed(): boolean {
    const { landed } = this;
    return landed !== undefined && [...this.#states].every(([id, all]) => landed.states.get(id) === all.length - 1);
  }
}

function isSame(one: Months, other: Months): boolean {
  return one.size === other.size && [...one].every(([month, texts]) => texts.join() === other.get(month)?.join());
}

function isSent(months: Months, sent: ReadonlyMap<number, string>): boolean {
  return months.size === sent.size && [...months].every(([month, texts]) => texts.includes(sent.get(month) ?? ''));
}
