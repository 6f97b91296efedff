/** One of several machines: its clock, its disk, what it sees of the sources, and the process of the agent on it. */
import type { Seen } from '../../core/election/doubt.ts';
import type { PassEvent } from '../../app/dependencies.ts';
import { AgentError } from '../../core/errors.ts';
import type { Clock, Log, Schedule } from '../../core/ports.ts';
import type { PassReport } from '../../core/report.ts';
import type { Settings } from '../../core/settings.ts';
import type { Entropy } from '../entropy.ts';
import type { KeptSnapshot } from '../state/memory-archive.ts';
import { memoryBuffer } from '../state/memory-buffer.ts';
import { emptyTables } from '../state/tables.ts';
import type { WorldClock } from '../world/clock.ts';
import type { Place } from '../world/place.ts';
import { Process } from '../world/process.ts';
import { sourceAt } from '../world/reading.ts';
import type { SharedDatabase, Way } from './database.ts';
import type { Network } from './network.ts';
import type { OpenLead, RunningLead } from './shared-part.ts';

/** What happens to one statement on its way. */
export type StatementFault =
  /** Held up before it counts. */
  | { readonly kind: 'parked'; readonly ms: number }
  /** It counts, and its answer is held up. */
  | { readonly kind: 'late'; readonly ms: number }
  /** It never counts; or it does, and its answer never comes. */
  | { readonly kind: 'lost' | 'unheard' }
  /** The machine stops there, with all that runs on it. */
  | { readonly kind: 'stopped'; readonly ms: number }
  | { readonly kind: 'killed' };

export interface MachineAround {
  readonly settings: Settings;
  readonly schedule: Schedule;
  readonly clock: WorldClock;
  readonly database: SharedDatabase;
  readonly network: Network;
  readonly entropy: Entropy;
  readonly leaseMs: number;
  readonly openLead: OpenLead;
  readonly mark: (name: string) => void;
  readonly note: (line: string) => void;
  readonly passed: (machine: Machine, report: PassReport) => void;
  readonly broke: (error: unknown) => void;
}

/** How long a statement fails that never comes back. */
const unansweredMs = 10_000;
/** And one while its way is cut. */
const cutMs = 1000;
const forever = new AbortController().signal;

export class Machine {
  readonly name: string;
  readonly places: ReadonlyMap<string, Place>;
  readonly #around: MachineAround;
  readonly #rate: number;
  #wallMs: number;
  #tables = emptyTables();
  readonly #files = new Map<string, KeptSnapshot>();
  #seen: Seen | undefined;
  #process: Process | undefined;
  #lead: RunningLead | undefined;
  #stoppedUntilMs = -Infinity;
  /** When it last lost sight of each source. */
  readonly #hiddenMs = new Map<string, number>();
  /** Statements go well until the first of these, after so many. */
  faults: { after: number; readonly fault: StatementFault }[] = [];
  /** Its way to the database is cut until then. */
  cutUntilMs = -Infinity;
  /** Until then its statements, and their answers, take up to so long each. */
  #busy = { untilMs: -Infinity, maxMs: 0 };
  /** Since when nothing is wrong with it, by the clock that never jumps. */
  calmSinceMs = 0;
  /** What it draws at random is counted. */
  #draws = 0;

  constructor(name: string, places: ReadonlyMap<string, Place>, around: MachineAround) {
    this.name = name;
    this.places = places;
    this.#around = around;
    const { entropy } = around;
    // Clocks of machines differ by anything, and run apart by less than half a per cent.
    this.#rate = 0.995 + 0.01 * entropy.of('rate', name);
    this.#wallMs = Math.floor((entropy.of('offset', name) - 0.5) * 1e9);
  }

  get isRunning(): boolean {
    return this.#process?.plug.isPulled === false;
  }

  get isLeading(): boolean {
    return this.isRunning && this.#lead?.isLeading() === true;
  }

  get id(): string | undefined {
    return this.isRunning ? this.#lead?.self : undefined;
  }

  get term(): number {
    return this.#lead?.term()?.term ?? 0;
  }

  #elapsedMs(): number {
    return this.#around.clock.monotonicMs();
  }

  troubled(untilMs = this.#elapsedMs()): void {
    this.calmSinceMs = Math.max(this.calmSinceMs, untilMs);
  }

  /** Until it goes on, where it is stopped. */
  #awake(isGone: () => boolean): Promise<void> | undefined {
    // A promise of its own: what waits for one that all share would be kept for as long as that one is.
    if (isGone()) return new Promise<never>(() => undefined);
    if (this.#stoppedUntilMs <= this.#elapsedMs()) return undefined;
    const leftMs = this.#stoppedUntilMs - this.#elapsedMs();
    return this.#around.clock.sleep(leftMs, forever).then(() => this.#awake(isGone));
  }

  #clockFor(isGone: () => boolean): Clock {
    const { clock } = this.#around;
    const monotonicMs = (): number => clock.monotonicMs() * this.#rate;
    return {
      monotonicMs,
      now: () => new Date(clock.now().getTime() + this.#wallMs + monotonicMs() - clock.monotonicMs()),
      sleep: async (ms, signal) => {
        try {
          await clock.sleep(ms / this.#rate, signal);
        } finally {
          await this.#awake(isGone);
        }
      },
    };
  }

  /** How its statements reach the database. */
  #wayFor(isGone: () => boolean): Way {
    return async (statement) => {
      await this.#awake(isGone);
      const fault = this.#nextFault();
      if (fault !== undefined) this.#around.mark(`statement ${fault.kind}`);
      if (fault?.kind === 'killed') this.kill();
      if (fault?.kind === 'stopped') this.stop(fault.ms);
      if (fault?.kind === 'parked') await this.#wait(fault.ms);
      if (fault?.kind === 'lost') await this.#unanswered(isGone);
      if (this.cutUntilMs > this.#elapsedMs()) await this.#unanswered(isGone, cutMs);
      await this.#turnOfBusy();
      await this.#awake(isGone);
      const answer = await statement();
      await this.#turnOfBusy();
      if (fault?.kind === 'late') await this.#wait(fault.ms);
      if (fault?.kind === 'unheard') await this.#unanswered(isGone);
      await this.#awake(isGone);
      return answer;
    };
  }

  async #turnOfBusy(): Promise<void> {
    const { untilMs, maxMs } = this.#busy;
    if (untilMs <= this.#elapsedMs()) return;
    const { clock, entropy } = this.#around;
    const drawn = entropy.of('busy', this.name, this.#draws++);
    // Most are hardly slower, and some take as long as anything may.
    await clock.sleep(maxMs * (drawn < 0.9 ? drawn / 50 : 10 * drawn - 9), forever);
  }

  #nextFault(): StatementFault | undefined {
    const [next] = this.faults;
    if (next === undefined || next.after-- > 0) return undefined;
    this.troubled();
    return this.faults.shift()!.fault;
  }

  #wait(ms: number): Promise<void> {
    this.troubled(this.#elapsedMs() + ms);
    return this.#around.clock.sleep(ms, forever);
  }

  async #unanswered(isGone: () => boolean, ms = unansweredMs): Promise<never> {
    await this.#wait(ms);
    await this.#awake(isGone);
    throw new AgentError('ledger.unreachable', 'the simulated ledger does not answer');
  }

  /** It, or the database, has much else to do. */
  busy(ms: number, maxMs: number): void {
    this.#busy = { untilMs: this.#elapsedMs() + ms, maxMs };
    this.troubled(this.#busy.untilMs + maxMs);
    this.#around.note(`${this.name} is busy for ${Math.round(ms)}`);
  }

  /** SIGSTOP, and SIGCONT later. */
  stop(ms: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#elapsedMs() + ms);
    this.troubled(this.#stoppedUntilMs);
    this.#around.note(`${this.name} is stopped for ${Math.round(ms)}`);
  }

  /** The same, once its pass comes to this point. */
  stopAt(step: PassEvent['kind'], ms: number): void {
    this.#process?.at(step, () => this.stop(ms));
  }

  /** Runs something on it, once it is awake. */
  #onceAwake(run: () => void): void {
    const leftMs = this.#stoppedUntilMs - this.#elapsedMs();
    if (leftMs <= 0) run();
    else void this.#around.clock.sleep(leftMs, forever).then(() => this.#onceAwake(run));
  }

  /** A source goes out of its sight. */
  hide(source: string): void {
    const place = this.places.get(source)!;
    if (!place.isAway) this.#hiddenMs.set(source, this.#elapsedMs());
    place.isAway = true;
    this.sees(source);
  }

  show(source: string): void {
    this.places.get(source)!.isAway = false;
    this.sees(source);
  }

  blindSinceMs(source: string): number | undefined {
    return this.places.get(source)?.isAway === true ? this.#hiddenMs.get(source) : undefined;
  }

  /** It sees that a source has something new. */
  sees(source: string): void {
    this.#onceAwake(() => this.places.get(source)?.watcher?.());
  }

  /** SIGUSR2. @returns whether it can hear it now */
  askPass(): boolean {
    if (!this.isRunning || this.#stoppedUntilMs > this.#elapsedMs()) return false;
    this.#process?.waker.wake('pass');
    return true;
  }

  /** SIGKILL. */
  kill(): void {
    if (!this.isRunning) return;
    this.#process?.plug.pull();
    this.troubled(Infinity);
    this.#around.note(`${this.name} is killed`);
  }

  /** The process is killed once its pass comes to this point. */
  killAt(step: PassEvent['kind']): void {
    this.#process?.killAt(step);
    this.troubled();
  }

  /** SIGTERM. It gives the lead back. */
  terminate(): void {
    const process = this.#process;
    this.troubled(Infinity);
    this.#around.note(`${this.name} is told to end`);
    this.#onceAwake(() => void process?.stop().catch(this.#around.broke));
  }

  setClock(byMs: number): void {
    this.#wallMs += byMs;
    this.troubled();
  }

  loseBuffer(): void {
    this.#tables = emptyTables();
  }

  heal(): void {
    this.faults = [];
    this.cutUntilMs = -Infinity;
    this.#busy = { untilMs: -Infinity, maxMs: 0 };
    this.#stoppedUntilMs = Math.min(this.#stoppedUntilMs, this.#elapsedMs());
  }

  start(): void {
    if (this.isRunning) return;
    const { around, process } = { around: this.#around, process: this.#newProcess() };
    this.#process = process;
    this.calmSinceMs = this.#elapsedMs();
    around.note(`${this.name} is started`);
    void process.start().catch(around.broke);
  }

  #newProcess(): Process {
    const around = this.#around;
    const { settings, database, network } = around;
    // Its parts know it, and it knows its parts.
    const made: { process?: Process } = {};
    const isGone = (): boolean => made.process?.plug.isPulled === true;
    const clock = this.#clockFor(isGone);
    const way = this.#wayFor(isGone);
    const log = this.#log(isGone);
    const lead = around.openLead(database.rows(way), {
      host: this.name,
      config: 'one',
      address: 'https://service.simulated',
      leaseMs: around.leaseMs,
      clock,
      log,
      seen: {
        get: () => this.#seen,
        set: (changed) => void (this.#seen = { term: 0, ...this.#seen, ...changed }),
      },
      // Who leads concerns the loop as much as a file that changed.
      changed: (what) => made.process?.waker.wake(what === 'lead' ? 'source' : what),
    });
    const term = (): ReturnType<RunningLead['term']> => lead.term();
    const archives = database.archivesOver(way, term, this.#files);
    const openStores = () => ({
      buffer: memoryBuffer(this.#tables),
      ledger: database.ledgerOver(way, term),
      archive: archives.leading,
    });
    made.process = new Process(settings, {
      clock,
      schedule: around.schedule,
      disk: { isFull: false, isBufferDamaged: false },
      state: { open: openStores, loseBuffer: () => this.loseBuffer(), damageSnapshot: () => undefined },
      receiver: { destination: (timeoutMs) => network.destination(this, { timeoutMs, clock, isGone }) },
      listener: {
        accepted: () => undefined,
        replaced: () => undefined,
        yielded: () => undefined,
        written: () => undefined,
        acknowledged: () => undefined,
        gaveUpRollback: () => undefined,
      },
      reconfigured: () => undefined,
      random: () => around.entropy.of('jitter', this.name, this.#draws++),
      openSource: ({ name, mapping, timeoutMs }) =>
        sourceAt({ place: this.places.get(name)!, clock, mapping, timeoutMs, isWatched: true }),
      readLookups: async () => ({ maps: {}, calendar: undefined, hash: '', files: [] }),
      note: (line) => around.note(`${this.name} ${line}`),
      passed: (report) => around.passed(this, report),
      nextPush: undefined,
      log,
      shared: {
        lead,
        clock: {
          ...clock,
          now: () => (lead.aheadMs === undefined ? clock.now() : new Date(clock.monotonicMs() + lead.aheadMs)),
        },
        followingArchive: archives.following,
      },
      broke: around.broke,
    });
    this.#lead = lead;
    return made.process;
  }

  /** What an agent says of the election is a mark. */
  #log(isGone: () => boolean): Log {
    const says = (text: string): void => {
      if (isGone()) return;
      this.#around.mark(`says: ${text}`);
      this.#around.note(`${this.name} says: ${text}`);
    };
    return { debug: () => undefined, info: says, warn: says, error: says };
  }
}
