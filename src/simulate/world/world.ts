/** The simulated world of one history: places, service, machine, and the agent in it. */
import type { Dependencies } from '../../app/dependencies.ts';
import type { Schedule } from '../../core/ports.ts';
import type { PassReport } from '../../core/report.ts';
import type { Settings, SourceSettings } from '../../core/settings.ts';
import { Checks } from '../checks.ts';
import { Entropy } from '../entropy.ts';
import { Journal } from '../journal.ts';
import type { Grid } from '../rows/grid.ts';
import { WorldClock } from './clock.ts';
import { Owner } from './owner.ts';
import { Place, sourceAt } from './place.ts';
import { type Disk, Killed } from './plug.ts';
import { Process } from './process.ts';
import { Receiver } from './receiver.ts';
import type { StateDirectory } from './stores.ts';

/** What all histories of a config have in common. */
export interface Stage {
  readonly settings: Settings;
  readonly schedule: Schedule;
  readonly grids: ReadonlyMap<string, Grid>;
  /** Sources whose files are text, and those that are a server's. */
  readonly kinds: ReadonlyMap<
    string,
    { readonly isText: boolean; readonly isExpensive: boolean; readonly isNewestOnly: boolean }
  >;
  openState(): StateDirectory;
}

const start = Date.UTC(2026, 2, 15, 12);
const thisMonth = 2026 * 12 + 2;

export class World {
  readonly clock: WorldClock;
  readonly journal: Journal;
  readonly receiver: Receiver;
  readonly checks: Checks;
  readonly disk: Disk = { isFull: false };
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
  passes = 0;
  /** The history in the words of a person. */
  readonly told: string[] = [];

  constructor(stage: Stage, seed: number, journal: Journal) {
    const entropy = new Entropy(seed);
    this.stage = stage;
    this.journal = journal;
    this.entropy = entropy;
    this.clock = new WorldClock(start + entropy.between(0, 86_400_000, 'start'));
    this.settings = stage.settings;
    this.state = stage.openState();
    this.owners = stage.settings.sources.map(({ name }) => {
      const isNewestOnly = stage.kinds.get(name)?.isNewestOnly === true;
      const clock = this.clock;
      return new Owner(new Place(name), stage.grids.get(name)!, {
        clock,
        entropy,
        isNewestOnly,
        lastMonth: thisMonth - 1,
      });
    });
    this.checks = new Checks(stage.settings, new Map(this.owners.map(({ place }) => [place.name, place])));
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

  /** Ends the process at once, and starts another one. */
  async restart(how: 'killed' | 'stopped'): Promise<void> {
    if (how === 'killed') this.process.plug.pull();
    else await this.process.stop();
    this.process = this.#newProcess();
    await this.process.start();
  }

  #newProcess(): Process {
    return new Process(this.settings, {
      clock: this.clock,
      schedule: this.stage.schedule,
      disk: this.disk,
      state: this.state,
      receiver: this.receiver,
      listener: {
        accepted: (source) => this.#check(() => this.checks.accepted(source)),
        replaced: (source, parts) => this.#check(() => this.checks.replaced(source, parts)),
      },
      random: () => this.#random(),
      openSource: (settings) => this.#openSource(settings),
      readLookups: this.#readLookups,
      note: (line) => this.note(line),
      passed: (report) => this.#passed(report),
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
      sent: (digest, text, request) => {
        this.note(`sent ${request} ${digest}`);
        this.#check(() => this.checks.sent(digest, text));
      },
      landed: (landing) => {
        this.note(`landed ${landing.request} ${landing.digest}`);
        this.checks.landed = landing;
      },
      answered: (digest, { outcome, status }) => {
        this.note(`answered ${outcome} ${status}`);
        this.journal.mark(`push ${outcome}`);
        if (outcome === 'acknowledged') this.checks.lastAcknowledged = digest;
      },
    });
  }

  #openSource({ name, mapping, timeoutMs }: SourceSettings): ReturnType<Dependencies['openSource']> {
    const owner = this.owners.find(({ place }) => place.name === name);
    const kind = this.stage.kinds.get(name) ?? { isText: true, isExpensive: false, isNewestOnly: false };
    const isWatched = !kind.isExpensive && this.entropy.isIn(0.8, 'watched', name);
    return sourceAt({ place: owner!.place, clock: this.clock, mapping, timeoutMs, ...kind, isWatched });
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
    this.journal.mark(`exit ${report.exit}`);
    this.journal.mark(`outcome ${report.outcome}`);
    for (const { name, state, reason = '', digest = '', findings = [] } of report.sources) {
      this.note(`${name} ${state} ${digest} ${reason}`);
      this.journal.mark(`source ${state}`);
      for (const { kind } of findings) this.journal.mark(`finding ${kind}`);
    }
    this.note(`pass ${report.exit} ${report.outcome} ${report.reason ?? ''}`);
  }
}
