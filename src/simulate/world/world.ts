/** The simulated world of one history: places, service, machine, and the agent in it. */
import type { Dependencies } from '../../app/dependencies.ts';
import { hasUnpushed } from '../../app/push/newest-snapshot.ts';
import type { Schedule } from '../../core/ports.ts';
import type { PassReport } from '../../core/report.ts';
import type { Settings, SourceSettings } from '../../core/settings.ts';
import { Checks } from '../checks.ts';
import { marksOf } from '../marks.ts';
import { WireChecks } from '../wire-checks.ts';
import { Entropy } from '../entropy.ts';
import { Journal } from '../journal.ts';
import type { OpenLead } from '../machines/shared-part.ts';
import { type FamilyNames, openFamilies } from '../rows/family.ts';
import type { Grid } from '../rows/grid.ts';
import { WorldClock } from './clock.ts';
import { Owner } from './owner.ts';
import { Place, type PlaceKind, placeNameOf } from './place.ts';
import { type Disk, Killed } from './plug.ts';
import { Process } from './process.ts';
import { sourceAt } from './reading.ts';
import { type Landing, Receiver } from './receiver.ts';
import type { StateDirectory } from './stores.ts';

/** What all histories of a config have in common. */
export interface Stage {
  readonly settings: Settings;
  readonly schedule: Schedule;
  readonly grids: ReadonlyMap<string, Grid>;
  readonly families: FamilyNames;
  /** By source. */
  readonly kinds: ReadonlyMap<string, PlaceKind>;
  openState(): StateDirectory;
  /** The agent's own part in an election; for histories of several machines. */
  readonly openLead?: OpenLead | undefined;
}

/** Is told of what happens in a world, for another purpose than to find a bug in it. */
export interface Watcher {
  /** Nothing has happened yet. */
  begun(world: World): void;
  /** The service took a body. */
  landed(world: World, text: string): void;
  passed(report: PassReport): void;
}

export const startMs = Date.UTC(2026, 2, 15, 12);
const thisMonth = 2026 * 12 + 2;

export class World {
  readonly clock: WorldClock;
  readonly journal: Journal;
  readonly receiver: Receiver;
  readonly checks: Checks;
  readonly wire: WireChecks;
  readonly disk: Disk = { isFull: false, isBufferDamaged: false };
  readonly owners: readonly Owner[];
  readonly state: StateDirectory;
  readonly entropy: Entropy;
  readonly stage: Stage;
  process: Process;
  settings: Settings;
  lastReport: PassReport | undefined;
  /** What broke, if something did: it is thrown where the world is next looked at. */
  #broken: Error | undefined;
  #draws = 0;
  /** What the loop will do next is asked for in some histories: it costs as much as a small pass. */
  readonly #tellsWhy: boolean;
  readonly #damaged = new Set<string>();
  /** When processes were started again, by the clock that never jumps. */
  readonly #startsMs: number[] = [];
  passes = 0;
  /** The history in the words of a person. */
  readonly told: string[] = [];

  readonly #watcher: Watcher | undefined;

  constructor(stage: Stage, seed: number, { journal, watcher }: { journal: Journal; watcher?: Watcher | undefined }) {
    const entropy = new Entropy(seed);
    this.#watcher = watcher;
    this.stage = stage;
    this.journal = journal;
    this.entropy = entropy;
    this.#tellsWhy = entropy.isIn(0.2, 'tells why');
    this.state = this.#openState();
    const { state } = this;
    this.clock = new WorldClock(startMs + entropy.between(0, 86_400_000, 'start'), () => state.isBusy?.() === true);
    this.settings = stage.settings;
    const familyOf = openFamilies(stage.families, stage.grids, entropy);
    this.owners = stage.settings.sources.map(({ name }) => {
      const { clock } = this;
      const family = familyOf(name);
      const place = new Place(name, stage.kinds.get(name)!, (mark) => journal.mark(mark));
      return new Owner(place, stage.grids.get(name)!, { clock, entropy, family, lastMonth: thisMonth - 1 });
    });
    const places = new Map(this.owners.map(({ place }) => [place.name, place]));
    this.checks = new Checks(stage.settings, places);
    this.checks.closedUpTo = () => this.#closedUpTo();
    this.checks.overUpTo = () => monthOfDay(this.#daysAgo(2)) - 1;
    this.wire = new WireChecks(this.checks);
    this.receiver = this.#openReceiver();
    this.process = this.#newProcess();
  }

  note(line: string): void {
    this.journal.note(`${this.clock.monotonicMs()} ${line}`);
  }

  tell(text: string): void {
    this.told.push(`${this.clock.now().toISOString().slice(0, 16).replace('T', ' ')} ${text}`);
  }

  /** Lets time pass. @throws what the agent or a check broke on */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    if (this.#broken !== undefined) throw this.#broken;
  }

  #openState(): StateDirectory {
    const state = this.stage.openState();
    return {
      open: () => state.open(),
      isBusy: () => state.isBusy?.() === true,
      damageSnapshot: (digest) => {
        this.#damaged.add(digest);
        this.checks.served.isKept = false;
        this.wire.leftOut.damaged();
        state.damageSnapshot(digest);
      },
      loseBuffer: () => {
        state.loseBuffer();
        this.disk.isBufferDamaged = false;
        this.checks.lost((digest) => !this.#damaged.has(digest));
      },
    };
  }

  /** A second agent on the same state directory: the lock is the world's, and the first one has it. */
  startSecond(): string {
    if (this.process.plug.isPulled) return 'a second agent is started';
    this.journal.mark('exit 75');
    return 'a second agent is started, and refused: the first one holds the state';
  }

  /** The config file says something else, and the agent is told so. */
  reload(settings: Settings): void {
    this.wire.resume();
    this.process.reloadWith(settings);
  }

  /** The config is loaded again without a source, where others are left. @returns what was done, for a story */
  leaveOut(place: string): string {
    const sources = this.settings.sources.filter(({ name }) => placeNameOf(name) !== place);
    if (sources.length === 0) return 'and stays in the config';
    this.reload({ ...this.settings, sources, digest: `${this.settings.digest}-` });
    return `and ${place} is not in the config any more`;
  }

  /** Ends the process at once, and starts another one. */
  async restart(how: 'killed' | 'stopped'): Promise<void> {
    if (how === 'killed') {
      this.process.plug.pull();
      this.wire.killed();
    } else await this.process.stop();
    this.process = this.#newProcess();
    this.#startsMs.push(this.clock.monotonicMs());
    await this.process.start();
    // On a real disk its first pass takes turns of the event loop.
    await this.clock.advance(0);
  }

  #newProcess(): Process {
    return new Process(this.settings, {
      clock: this.clock,
      schedule: this.stage.schedule,
      disk: this.disk,
      state: this.state,
      receiver: this.receiver,
      listener: {
        accepted: (source, together) =>
          this.#check(() => this.checks.accepted(source, together, this.clock.monotonicMs())),
        replaced: (source, parts, gone) => this.#check(() => this.checks.replaced(source, parts, gone)),
        yielded: (source, drivers) => this.#check(() => this.checks.yielded(source, drivers)),
        written: (digest) => this.checks.built(digest, this.clock.monotonicMs()),
        acknowledged: (digest, isRollback) => {
          this.wire.acknowledged(digest, isRollback);
          this.checks.acknowledged(digest, this.clock.monotonicMs());
        },
        gaveUpRollback: () => this.wire.resume(),
      },
      random: () => this.#random(),
      openSource: (settings) => this.#openSource(settings),
      readLookups: this.#readLookups,
      reconfigured: (settings) => {
        this.settings = settings;
        this.checks.settings = settings;
      },
      note: (line) => this.note(line),
      passed: (report) => this.#passed(report),
      nextPush: this.#tellsWhy ? (why) => this.journal.mark(`next push: ${why}`) : undefined,
      broke: (error) => this.broke(error),
    });
  }

  broke(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error));
  }

  #check(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broke(error);
      throw new Killed('a promise was broken');
    }
  }

  #random(): number {
    const drawn = this.entropy.of('jitter', this.#draws++);
    this.note(`jitter ${this.#draws}`);
    return drawn;
  }

  #openReceiver(): Receiver {
    return new Receiver(this.clock, {
      sent: (digest, text, inFlight) => {
        this.note(`sent ${digest}`);
        this.#check(() => this.wire.sent(digest, text, inFlight));
      },
      landed: (landing) => {
        this.note(`landed ${landing.request} ${landing.digest}`);
        try {
          this.wire.land(landing, this.#isGuarded(landing));
          this.#watcher?.landed(this, landing.text);
        } catch (error) {
          this.broke(error);
        }
      },
      answered: ({ outcome, status }) => {
        this.note(`answered ${outcome} ${status}`);
        this.journal.mark(`push ${outcome}`);
      },
    });
  }

  /** Whether the agent waits for this one: for a timeout since it gave it up, or since the first start after it was killed. */
  #isGuarded({ atMs, sentAtMs, lateMs, isOrphan }: Landing): boolean {
    if (this.checks.clockSetMs >= sentAtMs) return false;
    const startedMs = this.#startsMs.find((ms) => ms > sentAtMs) ?? atMs;
    return (isOrphan ? atMs - startedMs : lateMs) < this.timeoutMs;
  }

  get timeoutMs(): number {
    const { destination } = this.settings;
    return destination === 'emulator' ? 60_000 : destination.timeoutMs;
  }

  setClock(byMs: number): void {
    this.clock.jump(byMs);
    this.checks.clockSetMs = this.clock.monotonicMs();
    this.process.waker.wake('source');
  }

  /** Somebody wants a pass, and goes on from the sources where a rollback holds. */
  askPass(): void {
    this.wire.resume();
    this.process.waker.wake('pass');
  }

  #daysAgo(days: number): Date {
    return new Date(this.clock.now().getTime() - days * 86_400_000);
  }

  /** Months that are closed for sure, whatever the zone. */
  #closedUpTo(): number | undefined {
    const { lastClose } = this.settings;
    if (lastClose === undefined) return undefined;
    if (lastClose.kind === 'month') return lastClose.month;
    const yesterday = this.#daysAgo(1);
    const month = monthOfDay(yesterday);
    return yesterday.getUTCDate() >= lastClose.day ? month - 1 : month - 2;
  }

  #openSource({ name, mapping, timeoutMs }: SourceSettings): ReturnType<Dependencies['openSource']> {
    const owner = this.owners.find(({ place }) => place.name === placeNameOf(name));
    const { place } = owner!;
    const isWatched = !place.kind.isExpensive && this.entropy.isIn(0.8, 'watched', name);
    return sourceAt({ place, clock: this.clock, mapping, timeoutMs, isWatched });
  }

  readonly #readLookups: Dependencies['readLookups'] = async () => ({
    maps: {},
    calendar: undefined,
    hash: '',
    files: [],
  });

  #passed(report: PassReport): void {
    this.passes++;
    this.lastReport = report;
    for (const mark of marksOf(report)) this.journal.mark(mark);
    for (const { name, state, reason = '', digest = '' } of report.sources)
      this.note(`${name} ${state} ${digest} ${reason}`);
    this.note(`pass ${report.exit} ${report.outcome} ${report.reason ?? ''}`);
    this.#check(() => {
      this.checks.passed(report);
      if (report.outcome === 'unchanged' && !hasUnpushed(this.process.deps)) this.wire.saidServed();
    });
    this.#watcher?.passed(report);
  }
}

function monthOfDay(day: Date): number {
  return day.getUTCFullYear() * 12 + day.getUTCMonth();
}
