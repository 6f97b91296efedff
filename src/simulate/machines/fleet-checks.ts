/** What agents that share a ledger may never do, held against what they send and what lands. It knows nothing of the agent's code. */
import type { Settings } from '../../core/settings.ts';
import { type SentPoints, readBody } from '../body.ts';
import { type Collapse, type HeldPart, type Points, foldParts } from '../model.ts';
import { Violation } from '../promises.ts';
import type { WorldClock } from '../world/clock.ts';
import { FleetDeletes, shapeOf } from './fleet-deletes.ts';
import { type BegunPush, FleetRollback } from './fleet-rollback.ts';
import type { Pushing } from './shared-part.ts';

/** A body whose last bytes were given to the network. */
export interface Sent {
  /** Counted from 1. */
  readonly request: number;
  readonly digest: string;
  readonly machine: Pushing;
  readonly term: number;
  readonly atMs: number;
  readonly points: SentPoints;
  /** By driver: which of its states, counted from 0. */
  readonly states: ReadonlyMap<string, number>;
  /** The push that it goes back to, where somebody asked for that. */
  readonly rollbackOf: number | undefined;
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
  readonly deletes: FleetDeletes;
  readonly rollback = new FleetRollback();
  /** By driver: every state that its owner meant, one after the other. One without months: it is not there. */
  readonly #states = new Map<string, Months[]>();
  /** By source: the same of all its drivers together. */
  readonly #wrote = new Map<string, Points[]>();
  readonly #sourceOf = new Map<string, string>();
  readonly #flying = new Set<Sent>();
  #acknowledged: Sent | undefined;
  #last: Sent | undefined;
  #requests = 0;
  /** Pushes that are on record as begun since the last bytes of a body were given to the network. */
  #begun = 0;
  /** What the service holds. */
  landed: Sent | undefined;

  constructor(settings: Settings, clock: WorldClock, { mark, note, broke }: Heard) {
    this.deletes = new FleetDeletes(settings, clock, mark);
    this.#clock = clock;
    this.#mark = mark;
    this.#note = note;
    this.#broke = broke;
  }

  /** An owner has written what its source says now. */
  exported(source: string, parts: readonly HeldPart[], rules: readonly Collapse[]): void {
    const points = foldParts(parts, rules);
    const wrote = this.#wrote.get(source) ?? [];
    this.#wrote.set(source, [...wrote, points]);
    this.deletes.of(source).wrote(shapeOf(points));
    for (const driver of points.keys()) {
      if (this.#states.has(driver)) continue;
      this.#sourceOf.set(driver, source);
      this.#states.set(driver, wrote.length === 0 ? [] : [gone]);
    }
    for (const [driver, states] of this.#states) {
      const months = points.get(driver) ?? gone;
      const last = states.at(-1);
      if (this.#sourceOf.get(driver) === source && (last === undefined || !isSame(last, months))) states.push(months);
    }
  }

  begun(push: BegunPush): void {
    this.#begun++;
    this.rollback.begun(push);
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
    const { points } = readBody(text);
    const rollbackOf = this.rollback.sent(name, digest);
    const states = this.#statesOf(points);
    for (const [source, wrote] of this.#wrote) {
      const state = this.#whole(source, wrote, points);
      if (rollbackOf === undefined) this.deletes.of(source).sent(state);
      else this.deletes.of(source).wentBack(state);
    }
    const atMs = this.#clock.monotonicMs();
    const sent = { request: ++this.#requests, digest, machine, term, atMs, points, states, rollbackOf };
    const beside = [...this.#flying].find((one) => one.digest !== digest);
    if (beside !== undefined)
      throw new Violation('waits', `${name} sends a body while another one of ${beside.machine.name} is on its way`);
    const last = this.#last;
    if (last !== undefined) this.#follows(last, sent);
    this.#last = sent;
    this.#begun = 0;
    this.#flying.add(sent);
    return sent;
  }

  #follows(last: Sent, sent: Sent): void {
    const { term, machine, states } = sent;
    if (last.term > term) throw new Violation('lead', `a body of term ${term} is sent after one of term ${last.term}`);
    if (last.term === term && last.machine !== machine)
      throw new Violation('lead', `two machines push in term ${term}`);
    if (sent.rollbackOf !== undefined) return this.#mark('went back to an earlier push');
    if (last.rollbackOf !== undefined) {
      this.#mark('went on after a rollback');
      return this.#goesOn(last, sent);
    }
    const older = [...last.states].find(([driver, state]) => (states.get(driver) ?? -1) < state);
    if (last.term === term) {
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
  #goesOn(last: Sent, { machine, states, points }: Sent): void {
    if (this.#acknowledged !== last) return;
    for (const [driver, state] of last.states) {
      const source = this.#sourceOf.get(driver)!;
      const blindSinceMs = machine.blindSinceMs(source) ?? Infinity;
      if (blindSinceMs > last.atMs) continue;
      this.#mark('pushed what a machine cannot see');
      // One that was begun after it, and never sent, was tried too.
      const isAsPushed =
        this.#begun > 1
          ? (states.get(driver) ?? -1) >= state
          : isEqual(last.points.get(driver) ?? nothing, points.get(driver) ?? nothing);
      if (!isAsPushed)
        throw new Violation('order', `${machine.name} cannot see ${source}, and changes "${driver}" of it`);
    }
  }

  /** The ledger knows that what was sent last was taken. */
  acknowledged(id: number): void {
    this.#acknowledged = this.#last;
    this.deletes.acknowledged(id, this.rollback.acknowledged(id));
  }

  /** Which state of each driver a body has: where several are alike, none that is older than what was sent before. */
  #statesOf(points: SentPoints): ReadonlyMap<string, number> {
    for (const driver of points.keys())
      if (!this.#states.has(driver)) throw new Violation('digits', `"${driver}" was sent as it never was`);
    const found = new Map<string, number>();
    for (const [driver, states] of this.#states) {
      const months = points.get(driver);
      const alike = [...states.keys()].filter((at) => isSent(states[at]!, months ?? nothing));
      const state = alike.find((at) => at >= (this.#last?.states.get(driver) ?? 0)) ?? alike.at(-1);
      if (state === undefined && months === undefined)
        throw new Violation('evidence', `"${driver}" is left out, and its owner never did that`);
      if (state === undefined) throw new Violation('digits', `"${driver}" was sent as it never was`);
      found.set(driver, state);
    }
    return found;
  }

  /** Which of the states that an owner wrote a body has of a source: all of it, and nothing of another one. */
  #whole(source: string, wrote: readonly Points[], sent: SentPoints): number {
    const ofSource = [...sent].filter(([driver]) => this.#sourceOf.get(driver) === source);
    const state = wrote.findLastIndex(
      (one) =>
        one.size === ofSource.length && ofSource.every(([driver, months]) => isSent(one.get(driver) ?? gone, months)),
    );
    if (state < 0) throw new Violation('whole', `${source} is sent as no export of it ever was`);
    return state;
  }

  get isFlying(): boolean {
    return this.#flying.size > 0;
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
    return (
      landed !== undefined &&
      [...this.#states].every(([id, all]) => isSent(all.at(-1) ?? gone, landed.points.get(id) ?? nothing))
    );
  }
}

const gone: Months = new Map();
const nothing: ReadonlyMap<number, string> = new Map();

function isSame(one: Months, other: Months): boolean {
  return one.size === other.size && [...one].every(([month, texts]) => texts.join() === other.get(month)?.join());
}

function isSent(months: Months, sent: ReadonlyMap<number, string>): boolean {
  return months.size === sent.size && [...months].every(([month, texts]) => texts.includes(sent.get(month) ?? ''));
}

function isEqual(one: ReadonlyMap<number, string>, other: ReadonlyMap<number, string>): boolean {
  return one.size === other.size && [...one].every(([month, text]) => text === other.get(month));
}
