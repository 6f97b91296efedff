/**
 * Histories of a shared ledger whose database is promoted, restored and exchanged, and of agents that reach one copy of it or
 * another. The agents note and doubt by `core/election`; the world knows what was really lost, and holds against them what
 * `docs/MACHINES.md` promises. All databases go by one clock.
 */
import { type RaisedDoubt, type Seen, doubtOf, sawLoss, timelineIn } from '../../src/core/election/doubt.ts';
import { type Glance, mayDoubtDiffer, noted } from '../../src/core/election/noting.ts';
import { randomOf } from './election-world.ts';

/** What a database holds after one of its transactions. */
interface Ledger {
  readonly term: number;
  readonly holder: string | undefined;
  readonly cluster: string | undefined;
  readonly chain: readonly Entry[];
  /** All that were raised in its past. The newest one is what an agent is told. */
  readonly doubts: readonly RaisedDoubt[];
  readonly isDoubted: boolean;
}

interface Entry {
  readonly name: string;
  readonly writtenMs: number;
}

interface Database {
  readonly system: string;
  readonly timeline: number;
  /** Its past, the newest state last: a standby or a backup has less of it. */
  readonly states: Ledger[];
}

interface Agent {
  id: string;
  readonly name: string;
  at: Database;
  heldTerm: number | undefined;
  seen: Seen | undefined;
  /** What it really saw, since it has its disk. */
  sights: Sight[];
  looked: { readonly entry: Entry; readonly term: number; readonly cluster: string | undefined } | undefined;
}

/** A record or a term that an agent saw. */
interface Sight {
  readonly entry: Entry | undefined;
  readonly term: number;
  /** When it came upon it, the last time. */
  readonly atMs: number;
  readonly system: string;
  readonly doubts: readonly RaisedDoubt[];
  /** It was missing at a look since this agent began to lead last. */
  wasMissing: boolean;
  /** A term of this agent began with a question since then. */
  wasAsked: boolean;
}

export interface PlayedDoubts {
  pushes: number;
  losses: number;
  asked: number;
  askedOfRecords: number;
  settledByOthers: number;
  lostLeads: number;
}

/** Plays one history. @throws Error with the story where a promise is broken */
export function playDoubts(seed: number): PlayedDoubts {
  return new World(seed).play();
}

class World {
  readonly #random: () => number;
  readonly #databases: Database[];
  readonly #agents: readonly Agent[];
  readonly #story: string[] = [];
  readonly #played: PlayedDoubts = {
    pushes: 0,
    losses: 0,
    asked: 0,
    askedOfRecords: 0,
    settledByOthers: 0,
    lostLeads: 0,
  };
  #nowMs = 1000;
  #names = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    const first: Ledger = {
      term: 0,
      holder: undefined,
      cluster: undefined,
      chain: [{ name: '0:first', writtenMs: 0 }],
      doubts: [],
      isDoubted: false,
    };
    // Some users may not read the identifier of their system.
    const system = this.#chance(0.15) ? '' : '7100';
    this.#databases = [{ system, timeline: 1, states: [first] }];
    this.#agents = ['a', 'b', 'c'].map((name) => ({
      id: name,
      name,
      at: this.#databases[0]!,
      heldTerm: undefined,
      seen: undefined,
      sights: [],
      looked: undefined,
    }));
  }

  play(): PlayedDoubts {
    for (let step = 0; step < 40; step++) {
      this.#nowMs += Math.floor(this.#random() * 3);
      this.#step();
    }
    return this.#played;
  }

  #step(): void {
    const agent = this.#one(this.#agents);
    const dice = this.#random();
    if (dice < 0.3) this.#turn(agent);
    else if (dice < 0.5) this.#push(agent);
    else if (dice < 0.6) this.#look(agent);
    else if (dice < 0.68) this.#ask(this.#one(this.#databases));
    else if (dice < 0.76) this.#approve(this.#one(this.#databases));
    else if (dice < 0.86) this.#move(agent, this.#databases.at(this.#chance(0.8) ? -1 : 0)!);
    else if (dice < 0.89) this.#restart(agent);
    else if (dice < 0.91) this.#resign(agent);
    else this.#lose();
  }

  // --- databases ---

  /** A standby is promoted, a disk is put back, or a backup is restored elsewhere: the newest transactions are gone, or none. */
  #lose(): void {
    const from = this.#one(this.#databases);
    const kept = Math.max(1, from.states.length - Math.floor(this.#random() * 5));
    const states = from.states.slice(0, kept);
    const dice = this.#random();
    const newest = Math.max(...this.#databases.map(({ timeline }) => timeline));
    const database: Database =
      dice < 0.6
        ? { system: from.system, timeline: (this.#chance(0.8) ? newest : from.timeline) + 1, states }
        : dice < 0.8
          ? { system: from.system, timeline: from.timeline, states }
          : { system: from.system === '' ? '' : String(7100 + this.#databases.length), timeline: 1, states };
    this.#databases.push(database);
    this.#played.losses++;
    this.#tell(`${clusterOf(from)} goes on as ${clusterOf(database)} with ${entryNames(stateOf(database))}`);
    for (const agent of this.#agents) if (this.#chance(0.7)) this.#move(agent, database);
  }

  /** Somebody asks for something, on any machine. */
  #ask(database: Database): void {
    const now = stateOf(database);
    this.#commit(database, { chain: [...now.chain, this.#entry(now)] });
  }

  /** Somebody answers the question, and is written down. */
  #approve(database: Database): void {
    const now = stateOf(database);
    if (!now.isDoubted) return;
    this.#tell(`somebody approves in ${clusterOf(database)}`);
    this.#commit(database, { isDoubted: false, chain: [...now.chain, this.#entry(now)] });
  }

  #entry({ chain }: Ledger): Entry {
    return { name: `${chain.length}:${++this.#names}`, writtenMs: this.#nowMs };
  }

  #commit(database: Database, changed: Partial<Ledger>): void {
    database.states.push({ ...stateOf(database), ...changed });
  }

  // --- agents: as `edges/shared/lead.ts` does it ---

  #move(agent: Agent, to: Database): void {
    if (agent.at !== to) this.#tell(`${agent.name} reaches ${this.#nameOf(to)}`);
    agent.at = to;
  }

  #restart(agent: Agent): void {
    agent.id = `${agent.name}${++this.#names}`;
    agent.heldTerm = undefined;
    if (!this.#chance(0.2)) return;
    this.#tell(`${agent.name} has a new disk`);
    agent.seen = undefined;
    agent.sights = [];
    agent.looked = undefined;
  }

  #resign(agent: Agent): void {
    const now = stateOf(agent.at);
    if (agent.heldTerm !== undefined && now.holder === agent.id && now.term === agent.heldTerm)
      this.#commit(agent.at, { holder: undefined });
    agent.heldTerm = undefined;
  }

  #turn(agent: Agent): void {
    this.#look(agent);
    const { holder } = stateOf(agent.at);
    // The time of another one may be over.
    const isFree = holder === undefined || holder === agent.id || this.#chance(0.6);
    // The address may lead elsewhere by now.
    if (this.#chance(0.1)) this.#move(agent, this.#one(this.#databases));
    if (agent.heldTerm === undefined && isFree) this.#claim(agent);
  }

  #look(agent: Agent): void {
    const { at, seen } = agent;
    const now = stateOf(at);
    if (agent.heldTerm !== undefined && (now.term !== agent.heldTerm || now.holder !== agent.id))
      agent.heldTerm = undefined;
    const glance: Glance = {
      nowMs: this.#nowMs,
      head: now.chain.at(-1)!.name,
      term: now.term,
      holder: now.holder,
      cluster: now.cluster ?? '',
      isGone: seen?.head !== undefined && !hasEntry(now, seen.head),
    };
    const lastDoubt = mayDoubtDiffer(seen, glance) ? now.doubts.at(-1) : seen?.beside?.lastDoubt;
    agent.seen = noted(seen, glance, lastDoubt);
    if (sawLoss(agent.seen)) agent.heldTerm = undefined;
    this.#tell(`${agent.name} looks at ${this.#nameOf(at)}: ${entryNames(now)}, term ${now.term} of ${now.holder}`);
    this.#remember(agent, now);
  }

  #remember(agent: Agent, now: Ledger): void {
    for (const one of agent.sights) one.wasMissing ||= isMissing(one, now);
    const entry = now.chain.at(-1)!;
    const { looked } = agent;
    agent.looked = { entry, term: now.term, cluster: now.cluster };
    if (looked?.entry === entry && looked.term === now.term && looked.cluster === now.cluster) return;
    // Come upon anew: beside another record, or in another term, more may be lost with it.
    const isThis = (one: Sight): boolean => (one.entry === undefined ? one.term === now.term : one.entry === entry);
    const wasMissing = agent.sights.some((one) => isThis(one) && one.wasMissing);
    const sight = { ...this.#sightOf(now), wasMissing };
    agent.sights = agent.sights.filter((one) => !isThis(one));
    agent.sights.push({ ...sight, entry, term: 0 }, { ...sight, entry: undefined, term: now.term });
  }

  #sightOf({ cluster = '', doubts }: Ledger): Omit<Sight, 'entry' | 'term'> {
    return { atMs: this.#nowMs, system: systemIn(cluster), doubts, wasMissing: false, wasAsked: false };
  }

  #claim(agent: Agent): void {
    const { at } = agent;
    const now = stateOf(at);
    const cluster = clusterOf(at);
    const seenTerm = agent.seen?.term ?? 0;
    const found = { term: now.term, before: now.cluster, cluster, lastDoubt: now.doubts.at(-1) };
    const doubt = doubtOf({ seen: agent.seen, seenTerm }, found);
    this.#tell(`${agent.name} leads in ${this.#nameOf(at)}: ${doubt ?? 'no doubt'}`);
    this.#judge(agent, doubt);
    const term = Math.max(now.term, seenTerm) + 1;
    const raised = { sinceMs: this.#nowMs, term, holder: agent.id };
    this.#commit(at, {
      term,
      holder: agent.id,
      cluster,
      ...(doubt === undefined ? {} : { doubts: [...now.doubts, raised], isDoubted: true }),
    });
    agent.seen = { ...agent.seen, cluster, term, lost: undefined, lostBeside: undefined };
    agent.heldTerm = term;
    for (const sight of agent.sights) {
      sight.wasMissing = false;
      sight.wasAsked ||= doubt !== undefined;
    }
    // It was never looked at, so that nobody can tell beside what it stood.
    agent.sights.push({ ...this.#sightOf(stateOf(at)), system: '', entry: undefined, term });
  }

  #push(agent: Agent): void {
    const { at, heldTerm, seen } = agent;
    const now = stateOf(at);
    if (heldTerm === undefined) return;
    const isHeld = now.term === heldTerm && now.holder === agent.id;
    const hasHead = seen?.head === undefined || hasEntry(now, seen.head);
    if (!isHeld || !hasHead || timelineIn(clusterOf(at)) !== timelineIn(seen?.cluster ?? '')) {
      this.#played.lostLeads++;
      agent.heldTerm = undefined;
      return;
    }
    if (now.isDoubted) return;
    this.#tell(`${agent.name} pushes in ${this.#nameOf(at)}`);
    const unasked = agent.sights.find(
      ({ entry, wasAsked }) => entry !== undefined && !wasAsked && isUnasked(entry, now),
    );
    if (unasked !== undefined)
      this.#broken(`${agent.name} pushes, and nobody was asked about ${unasked.entry!.name}, which it saw`);
    this.#played.pushes++;
    this.#commit(at, { chain: [...now.chain, this.#entry(now)] });
  }

  // --- what must hold ---

  /** Whether a question was due, by what was really lost. */
  #judge({ at, seen, sights }: Agent, doubt: string | undefined): void {
    const now = stateOf(at);
    const isElsewhere = now.cluster !== undefined && now.cluster !== clusterOf(at);
    if (doubt !== undefined) this.#played.asked++;
    if (isElsewhere) {
      if (doubt === undefined) this.#broken('a promotion or another cluster is not asked about');
      return;
    }
    const last = now.doubts.at(-1);
    const missing = sights.filter((sight) => sight.wasMissing || isMissing(sight, now));
    const lostTerm = missing.find((sight) => sight.entry === undefined && sight.term > now.term);
    if (lostTerm !== undefined && doubt === undefined && !(last !== undefined && last.sinceMs >= lostTerm.atMs))
      this.#broken(`nobody was asked about term ${lostTerm.term}, which it saw`);
    const isSettled = missing.every((sight) => isCovered(sight, last, at.system));
    const ledElsewhere = seen?.cluster !== undefined && systemIn(seen.cluster) !== at.system;
    if (doubt === undefined) {
      if (missing.length > 0) this.#played.settledByOthers++;
    } else if (!ledElsewhere) {
      if (isSettled) this.#broken(`it asks once more: ${doubt}`);
      this.#played.askedOfRecords++;
    }
  }

  #broken(why: string): never {
    throw new Error([why, ...this.#story].join('\n'));
  }

  // --- chance ---

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)]!;
  }

  #tell(what: string): void {
    this.#story.push(`${this.#nowMs} ${what}`);
  }

  #nameOf(database: Database): string {
    return `${this.#databases.indexOf(database)} (${clusterOf(database)})`;
  }
}

/** It is neither in the ledger nor was anybody asked, in the past of this ledger, since it was written. */
function isUnasked(entry: Entry, now: Ledger): boolean {
  return !hasEntry(now, entry.name) && !now.doubts.some(({ sinceMs }) => sinceMs >= entry.writtenMs);
}

function isMissing({ entry, term }: Sight, now: Ledger): boolean {
  return entry === undefined ? term > now.term : !hasEntry(now, entry.name);
}

/** The ledger's last question came later than this was seen, and was no part of what was seen. */
function isCovered({ atMs, system, doubts }: Sight, last: RaisedDoubt | undefined, here: string): boolean {
  if (last === undefined || here === '' || system !== here || last.sinceMs < atMs) return false;
  const beside = doubts.at(-1);
  return beside === undefined || beside.term < last.term;
}

function stateOf({ states }: Database): Ledger {
  return states.at(-1)!;
}

function hasEntry({ chain }: Ledger, name: string): boolean {
  return chain.some((entry) => entry.name === name);
}

function entryNames({ chain }: Ledger): string {
  return `records ${chain.map(({ name }) => name).join(' ')}`;
}

function clusterOf({ system, timeline }: Database): string {
  return `${system}/${String(timeline).padStart(8, '0')}`;
}

function systemIn(cluster: string): string {
  return cluster.split('/')[0]!;
}
