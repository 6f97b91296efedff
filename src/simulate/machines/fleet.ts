/** The world of one history of two or three machines: what they share, what each sees, and who waits for whom. */
import type { Term } from '../../core/election/rows.ts';
import { differsFromLeader } from '../../core/election/differing.ts';
import type { PassReport, SourceReport } from '../../core/report.ts';
import type { HeldPart } from '../model.ts';
import { Entropy } from '../entropy.ts';
import type { Journal } from '../journal.ts';
import { Violation } from '../promises.ts';
import { WorldClock } from '../world/clock.ts';
import { openFamilies } from '../rows/family.ts';
import { Owner } from '../world/owner.ts';
import { Place, type WorldFile } from '../world/place.ts';
import type { Stage } from '../world/world.ts';
import { SharedDatabase } from './database.ts';
import { FleetChecks, type Heard } from './fleet-checks.ts';
import { FleetPeople } from './fleet-people.ts';
import { Machine } from './machine.ts';
import { Network } from './network.ts';

const start = Date.UTC(2026, 2, 15, 12);
const lastMonth = 2026 * 12 + 1;
/** Without `ledger` in the config; the agent's own default. */
const leaseDefaultMs = 20_000;
/** A machine that nothing is wrong with takes over within this once the lead is free, or its deadline has passed. */
const takenWithinMs = 1000;
/** What was wrong with it is over for it to count: a statement that hangs, a term that it lost, a pass of it that goes on. */
const calmForMs = 60_000;
const forever = new AbortController().signal;

export class Fleet {
  readonly clock: WorldClock;
  readonly entropy: Entropy;
  readonly journal: Journal;
  readonly checks: FleetChecks;
  readonly people: FleetPeople;
  readonly network: Network;
  readonly database: SharedDatabase;
  readonly owners: readonly Owner[];
  readonly machines: readonly Machine[];
  readonly stage: Stage;
  readonly leaseMs: number;
  readonly told: string[] = [];
  passes = 0;
  /** How long until each machine sees what an owner has written; by machine, in milliseconds. */
  readonly lags = new Map<string, number>();
  #exports = 0;
  /** By machine and source: which export it sees. */
  readonly #visible = new Map<string, number>();
  #broken: Error | undefined;

  constructor(stage: Stage, seed: number, journal: Journal) {
    const entropy = new Entropy(seed);
    this.stage = stage;
    this.entropy = entropy;
    this.journal = journal;
    const { settings } = stage;
    this.leaseMs = settings.ledger?.leaseMs ?? leaseDefaultMs;
    this.clock = new WorldClock(start + entropy.between(0, 86_400_000, 'start'), () => false);
    const heard: Heard = {
      mark: (name) => journal.mark(name),
      note: (line) => this.note(line),
      broke: (error) => this.broke(error),
    };
    this.checks = new FleetChecks(settings, this.clock, heard);
    this.network = new Network(this.clock, entropy, this.checks);
    this.network.uploadMs = entropy.isIn(0.5, 'uploads') ? 3000 : 0;
    this.database = new SharedDatabase(this.clock, {
      claimed: (by) => this.#claimed(by),
      deadline: (atMs, by) => this.#deadline(atMs, by),
      refused: () => journal.mark('a write was refused: its term is over'),
      begun: (push) => this.checks.begun(push),
      acknowledged: (id) => this.checks.acknowledged(id),
    });
    this.people = new FleetPeople(this.database.ledger, this.clock, this.checks, heard);
    const familyOf = openFamilies(stage.families, stage.grids, entropy);
    this.owners = settings.sources.map(({ name }) => {
      const place = new Place(name, stage.kinds.get(name)!, heard.mark);
      const owner = new Owner(place, stage.grids.get(name)!, {
        clock: this.clock,
        entropy,
        family: familyOf(name),
        lastMonth,
      });
      place.grows = false;
      return owner;
    });
    const names = ['a', 'b', 'c'].slice(0, entropy.between(2, 3, 'machines'));
    this.machines = names.map((name) => this.#newMachine(name, heard));
    this.checks.machines = this.machines;
  }

  #newMachine(name: string, heard: Heard): Machine {
    const { stage, clock, database, network, entropy, leaseMs } = this;
    const places = stage.settings.sources.map((source): [string, Place] => {
      const place = new Place(source.name, stage.kinds.get(source.name)!, heard.mark);
      place.isAway = true;
      return [source.name, place];
    });
    const { settings, schedule, openLead } = stage;
    if (openLead === undefined) throw new Error('this stage has no election');
    const world = { settings, schedule, clock, database, network, entropy, leaseMs, openLead, ...heard };
    return new Machine(name, new Map(places), { ...world, passed: (machine, report) => this.#passed(machine, report) });
  }

  note(line: string): void {
    this.journal.note(`${Math.round(this.clock.monotonicMs())} ${line}`);
  }

  tell(text: string): void {
    const seconds = (this.clock.monotonicMs() / 1000).toFixed(1);
    this.told.push(`${seconds.padStart(7)} s ${text}`);
  }

  broke(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Lets time pass. @throws what an agent or a check broke on */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    if (this.#broken !== undefined) throw this.#broken;
    const leading = this.machines.filter((one) => one.isLeading);
    if (leading.length > 1)
      throw new Violation('lead', `${leading.map(({ name }) => name).join(' and ')} lead at once`);
  }

  /** Runs something in so many milliseconds. */
  later(ms: number, run: () => void): void {
    void this.clock.sleep(ms, forever).then(run);
  }

  /** Somebody tells the agent that leads to go on from the sources, where it can hear it. */
  goOn(): boolean {
    const isTold = this.leader?.askPass() === true;
    if (isTold) this.checks.rollback.goOn();
    return isTold;
  }

  get leader(): Machine | undefined {
    return this.machines.find((one) => one.isLeading);
  }

  /** What owners have written is there, and each machine sees it in its own time. */
  export(owner: Owner): void {
    owner.export();
    const { name, files } = owner.place;
    const parts = [...files].map(([part, { sheet }]): HeldPart => ({ name: part, sheet, isCarried: false }));
    const { mapping } = this.stage.settings.sources.find((source) => source.name === name)!;
    const rules = mapping.drivers.map(({ rule }) => rule);
    this.checks.exported(name, parts, rules);
    const now = { order: ++this.#exports, files: new Map(files) };
    for (const machine of this.machines) this.#show(machine, name, now);
  }

  #show(
    machine: Machine,
    source: string,
    { order, files }: { readonly order: number; readonly files: ReadonlyMap<string, WorldFile> },
  ): void {
    const lagMs = this.lags.get(machine.name) ?? 0;
    const show = (): void => {
      const key = `${machine.name} ${source}`;
      if (order < (this.#visible.get(key) ?? 0)) return;
      this.#visible.set(key, order);
      const place = machine.places.get(source)!;
      for (const [part, { sheet, revisedAtMs }] of files)
        if (place.files.get(part)?.sheet.hash !== sheet.hash) place.write(part, sheet, { revisedAtMs });
      machine.sees(source);
    };
    if (lagMs === 0) show();
    else this.later(lagMs, show);
  }

  #passed({ name }: Machine, report: PassReport): void {
    const { outcome, reason = '', sources } = report;
    this.passes++;
    this.people.see(report);
    this.journal.mark(`outcome ${outcome}`);
    const whyOf = ({ state, reason: why = '' }: SourceReport): string => (state === 'held' ? `: ${why}` : '');
    const states = sources.map((source) => `${source.name} ${source.state}${whyOf(source)}`).join(', ');
    this.note(`${name} pass ${outcome} ${reason} (${states})`);
  }

  #claimed({ holder, term }: Term): void {
    const machine = this.machines.find(({ id }) => id === holder);
    this.journal.mark('the lead was claimed');
    this.note(`${machine?.name ?? 'somebody'} claims term ${term}`);
    const other = this.machines.find((one) => one !== machine && one.isLeading);
    if (other !== undefined)
      this.broke(new Violation('lead', `${machine?.name} claims a term while ${other.name} leads`));
  }

  /** Once it has passed, whoever nothing is wrong with takes over. */
  #deadline(atMs: number, by: Term): void {
    const inMs = Math.max(0, atMs - this.clock.now().getTime()) + takenWithinMs;
    this.later(inMs, () => {
      if (this.database.deadlineMs !== atMs || !this.#isFreeAfter(by)) return;
      const calmMs = this.clock.monotonicMs() - calmForMs;
      const calm = this.machines.find((one) => one.isRunning && one.calmSinceMs <= calmMs);
      if (calm !== undefined)
        this.broke(
          new Violation('lead', `term ${by.term} is over, and ${calm.name} does not take over within a second`),
        );
    });
  }

  #isFreeAfter({ term }: Term): boolean {
    return this.database.view().term === term && this.database.view().leader === undefined;
  }

  /** Whether an agent that follows says that it sees other data than the one that leads. */
  noteDiffering(): void {
    const view = this.database.view();
    if (view.agents.some((agent) => differsFromLeader(agent, view)))
      this.journal.mark('a follower says that it differs');
  }

  /** Whether all has come to rest: one leads, the service has the newest data, and everybody would push just that. */
  whyNotArrived(): string | undefined {
    const { leader, agents } = this.database.view();
    if (leader === undefined || this.leader === undefined) return 'nobody leads';
    if (!this.checks.isServed()) return 'the service does not hold the newest data';
    const digest = this.checks.landed?.digest;
    const isThere = (id: string): boolean => this.machines.some((one) => one.id === id);
    const behind = agents.filter(({ id, said }) => isThere(id) && said.would?.digest !== digest);
    return behind.length === 0
      ? undefined
      : `${behind.map(({ host }) => host).join(' and ')} would push something else`;
  }
}
