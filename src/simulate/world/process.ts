/** One process of the agent in the simulated world: the agent's own loop and passes, with stores, clock, sources and service of the world. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Dependencies, PassEvent } from '../../app/dependencies.ts';
import type { Agent } from '../../app/loop/agent.ts';
import { runDaemon } from '../../app/loop/daemon.ts';
import { nextPushOf } from '../../app/loop/next-push.ts';
import { Waker } from '../../app/loop/waker.ts';
import { confirmIn } from '../../app/shared/confirm.ts';
import { followingLedger } from '../../app/shared/following-ledger.ts';
import { AgentError, isAgentError } from '../../core/errors.ts';
import type { Clock, Log, Schedule } from '../../core/ports.ts';
import type { PassReport } from '../../core/report.ts';
import type { Settings, SourceSettings } from '../../core/settings.ts';
import type { Source } from '../../core/ports.ts';
import { type Disk, Killed, Plug } from './plug.ts';
import type { SharedPart } from '../machines/shared-part.ts';
import type { Receiver } from './receiver.ts';
import { type StateDirectory, type StoreListener, type Stores, pluggedStores } from './stores.ts';

export interface Surroundings {
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly disk: Disk;
  readonly state: StateDirectory;
  readonly receiver: Pick<Receiver, 'destination'>;
  readonly listener: StoreListener;
  /** Other settings are in use from now on. */
  readonly reconfigured: (settings: Settings) => void;
  readonly random: () => number;
  readonly openSource: (settings: SourceSettings) => Source;
  readLookups: Dependencies['readLookups'];
  readonly note: (line: string) => void;
  readonly passed: (report: PassReport) => void;
  /** Is told why the next push will be, where it is wanted. */
  readonly nextPush: ((why: string) => void) | undefined;
  readonly log?: Log;
  /** Where agents of several machines share a ledger. */
  readonly shared?: SharedPart | undefined;
  /** The process has ended for a reason that nobody foresaw. */
  readonly broke: (error: unknown) => void;
}

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
/** Long sleeps only: the clock of this world is never set unseen. */
const beatMs = 7 * 86_400_000;
/** The same for polls that would find what they found before. */
const unreadRetryMs = 6 * 3_600_000;
const nowhere: Dependencies['destination'] = {
  push: () => Promise.reject(new Error('an agent pushes that does not lead')),
  probe: () => Promise.reject(new Error('an agent that does not lead tries the address')),
};
const ended = new AgentError('aborted', 'stopped by SIGTERM');

export class Process implements Agent {
  readonly plug: Plug;
  readonly waker: Waker;
  readonly #around: Surroundings;
  readonly #stop = new AbortController();
  #settings: Settings;
  #next: Settings | undefined;
  #stores: Stores;
  #raw: Stores;
  /** Of these settings and stores. */
  #deps: Dependencies | undefined;
  #followingLedger: Stores['ledger'] | undefined;
  #loop: Promise<void> = Promise.resolve();
  /** What is to happen in the middle of a pass: at an event of this kind. */
  #step: { readonly kind: PassEvent['kind']; readonly take: () => void } | undefined;

  constructor(settings: Settings, around: Surroundings) {
    this.#settings = settings;
    this.#around = around;
    this.plug = new Plug(around.disk, around.note);
    this.waker = new Waker(around.clock);
    this.#raw = around.state.open();
    this.#stores = pluggedStores(this.#raw, this.plug, around.listener);
  }

  get deps(): Dependencies {
    this.#deps ??= this.#makeDeps();
    const { shared } = this.#around;
    return shared === undefined ? this.#deps : { ...this.#deps, confirm: confirmIn(shared.lead) };
  }

  get shared(): Agent['shared'] {
    const { shared } = this.#around;
    if (shared === undefined) return undefined;
    this.#followingLedger ??= followingLedger(this.#stores.ledger);
    const kept = { ledger: this.#followingLedger, archive: shared.followingArchive };
    return { lead: shared.lead, following: { ...this.deps, ...kept, destination: nowhere } };
  }

  #makeDeps(): Dependencies {
    const { schedule, receiver, random, openSource, readLookups, log = silent, shared } = this.#around;
    const { clock } = shared ?? this.#around;
    const { destination } = this.#settings;
    const { url, timeoutMs } = destination === 'emulator' ? { url: 'emulator', timeoutMs: 60_000 } : destination;
    return {
      ...this.#stores,
      settings: this.#settings,
      clock,
      schedule,
      log,
      random,
      destination: receiver.destination(timeoutMs, this.plug),
      outlets: { host: 'simulated', channels: [], heartbeat: undefined },
      address: url,
      openSource,
      readLookups,
      observe: (event) => this.#observe(event),
    };
  }

  #observe({ kind }: PassEvent): void {
    this.plug.check();
    if (kind !== this.#step?.kind) return;
    const { take } = this.#step;
    this.#step = undefined;
    take();
    this.plug.check();
  }

  /** Has something happen when its pass comes to this point. */
  at(kind: PassEvent['kind'], take: () => void): void {
    this.#step = { kind, take };
  }

  /** Kills the process when its pass comes to this point. */
  killAt(kind: PassEvent['kind']): void {
    this.at(kind, () => {
      this.#around.note(`killed at ${kind}`);
      this.plug.pull();
    });
  }

  /** Runs the loop. What it ends with is told. */
  async start(): Promise<void> {
    const { around, isStarted } = { around: this.#around, isStarted: await this.#open() };
    if (!isStarted) return;
    this.#loop = runDaemon({
      agent: this,
      waker: this.waker,
      reload: async () => this.#next ?? this.#settings,
      signal: this.#stop.signal,
      // What a ledger kept from a turn is tried again by the next beat.
      ...(around.shared === undefined && { beatMs }),
      unreadRetryMs,
      passed: async (report) => {
        this.plug.check();
        around.passed(report);
        if (around.nextPush !== undefined) around.nextPush((await nextPushOf(this.deps))?.why ?? 'none');
      },
    }).catch((error: unknown) => this.#ended(error));
    await turn();
  }

  /** Whoever starts first notes what the one before left open. */
  async #open(): Promise<boolean> {
    const { shared } = this.#around;
    if (shared !== undefined) return this.#takePart(shared);
    try {
      await this.#stores.ledger.pushes.endOrphans(this.#around.clock.now().getTime());
      return true;
    } catch (error) {
      if (error instanceof AgentError) this.plug.pull();
      this.#ended(error);
      return false;
    }
  }

  /** The daemon starts though the ledger cannot be reached. */
  async #takePart({ lead }: SharedPart): Promise<boolean> {
    try {
      await lead.begin();
    } catch (error) {
      if (!isAgentError(error, 'ledger.unreachable')) {
        this.#ended(error);
        return false;
      }
      lead.go();
    }
    return true;
  }

  #ended(error: unknown): void {
    // A process that is told to end, or was killed, or cannot write on a full disk when it starts.
    if (error === ended || error instanceof Killed || this.plug.isPulled) return;
    this.#around.broke(error);
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    this.#stop.abort(ended);
    if (!this.plug.isPulled) await this.#loop;
    if (!this.plug.isPulled) await this.#around.shared?.lead[Symbol.asyncDispose]();
    this.plug.pull();
  }

  reloadWith(settings: Settings): void {
    this.#next = settings;
    this.waker.wake('reload');
  }

  async reconfigure(settings: Settings): Promise<void> {
    this.plug.check();
    this.#settings = settings;
    this.#deps = undefined;
    this.#around.reconfigured(settings);
  }

  rebuildBuffer(): void {
    this.plug.write('rebuildBuffer');
    this.#around.state.loseBuffer();
    this.#raw = this.#around.state.open();
    this.#stores = pluggedStores(this.#raw, this.plug, this.#around.listener);
    this.#deps = undefined;
  }

  async releaseMemory(): Promise<void> {
    this.plug.check();
  }

  tokenVersion(): string | undefined {
    return undefined;
  }

  beat(): void {
    this.plug.check();
  }

  noteBroken(failure: AgentError | undefined): void {
    if (failure !== undefined) this.#around.note(`broke: ${failure.code} ${failure.message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
