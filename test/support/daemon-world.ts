/**
 * The agent in one process with a hand-held clock: its real stores and files, an independent receiver, and time that
 * moves when a test says so. Sources are not watched, so that only polls and the test itself wake the daemon.
 */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import type { Agent } from '../../src/app/loop/agent.ts';
import { AgentError } from '../../src/core/errors.ts';
import { openAgent } from '../../src/compose/agent.ts';
import { openScratch } from '../../src/compose/scratch.ts';
import { openState } from '../../src/compose/state.ts';
import { runDaemon } from '../../src/app/loop/daemon.ts';
import { type PlanReport, plan } from '../../src/app/ask/plan.ts';
import { type PassOptions, runPass } from '../../src/app/pass.ts';
import type { PassReport } from '../../src/core/report.ts';
import { type WakeReason, Waker } from '../../src/app/loop/waker.ts';
import type { PassEvent, Dependencies } from '../../src/app/dependencies.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/core/settings.ts';
import { type HandClock, handClock } from './hand-clock.ts';
import { memoryLog } from './memory-log.ts';
import { csv } from './process.ts';
import { type Receiver, openReceiver } from './receiver.ts';

export interface DaemonWorld extends AsyncDisposable {
  readonly dir: string;
  readonly service: Receiver;
  readonly clock: HandClock;
  readonly log: ReturnType<typeof memoryLog>;
  /** What passes waited for, other than the daemon's own naps. */
  readonly waits: readonly { readonly ms: number; readonly why: string }[];
  /** All passes of daemons, oldest first. */
  readonly passes: readonly PassReport[];
  /** How many passes of daemons broke. */
  readonly broken: () => number;
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Keys beside the receiver as destination, one source `sales` of all CSV files, and a yearly schedule. */
  configure(keys?: object): Promise<void>;
  /** As the command; what it waits for passes at once. */
  sync(options?: Partial<PassOptions>): Promise<PassReport>;
  /** As the command, beside a daemon or without one. */
  plan(): Promise<PlanReport>;
  /** A daemon's first pass is over when this resolves. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Lets time pass, and with it everything that the daemon does then. */
  wait(ms: number): Promise<void>;
  /** As an event or a signal, and what follows from it. */
  wake(reason: WakeReason): Promise<void>;
  /** The same while a pass is under way: what follows comes after it. */
  wakeMeanwhile(reason: WakeReason): void;
  /** Breaks a pass, as a full disk does, at the next event of this kind. */
  breakAt(kind: PassEvent['kind']): void;
  /** Looks at the state, and acts on it, as a command beside the agent does; also while a daemon runs. */
  open<T>(look: (deps: Dependencies) => Promise<T> | T): Promise<T>;
}

export const seconds = 1000;
export const minutes = 60 * seconds;
export const hours = 60 * minutes;
export const days = 24 * hours;

/** `rows('a,2026-01,1')`: the text of a file for the source. */
export const rows = (...lines: readonly string[]): string => ['id,time,value', ...lines, ''].join('\n');

const never = new AbortController().signal;

export async function daemonWorld(keys: object = {}, now = '2026-03-15T12:00:00Z'): Promise<DaemonWorld> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-daemon-'));
  const service = await openReceiver();
  const clock = handClock(new Date(now));
  const log = memoryLog();
  const waits: { ms: number; why: string }[] = [];
  const passes: PassReport[] = [];
  let broken = 0;
  const configFile = path.join(dir, 'driver-sync.yaml');
  const rest = new Rest();
  let revisedAtMs = Date.now() - 1_000_000_000;
  let isSyncing = false;
  let daemon: { agent: Agent; waker: Waker; stop: AbortController; ended: Promise<void> } | undefined;

  const load = (): Settings => {
    const loaded = loadConfig(configFile, { env: {}, secrets: 'required' });
    if (loaded.settings === undefined) throw new Error(JSON.stringify(loaded.problems, null, 1));
    return loaded.settings;
  };
  let breaking: PassEvent['kind'] | undefined;
  const observe = (event: PassEvent): void => {
    if (event.kind === breaking) {
      breaking = undefined;
      throw new AgentError('state.full', 'the disk is full');
    }
    if (event.kind !== 'waiting') return;
    waits.push({ ms: event.ms, why: event.why });
    if (isSyncing) setImmediate(() => void clock.advance(event.ms));
    else rest.begin(event.ms);
  };
  const openedAgent = async (command: 'run' | 'sync'): Promise<Agent> => {
    const agent = await openAgent(load(), { command, log, version: '0.0.0', env: {} });
    return byHand(agent, { clock, random: () => 0.5, observe });
  };
  const configure: DaemonWorld['configure'] = (more = {}) => {
    const sources = { sales: csv('*.csv', { poll: '1m' }) };
    const config = { destination: { url: service.url }, schedule: '15 2 1 1 *', sources, ...more };
    return writeFile(configFile, stringify(config));
  };
  const stop = async (): Promise<void> => {
    daemon?.stop.abort(new Error('the test stops the daemon'));
    await daemon?.ended;
    await daemon?.agent[Symbol.asyncDispose]();
    daemon = undefined;
  };
  const settled = async (): Promise<void> => {
    const ended = daemon?.ended.then(() => Promise.reject(new Error('the daemon ended')));
    await Promise.race([rest.reached(), ended]);
  };

  await configure(keys);
  return {
    dir,
    service,
    clock,
    log,
    waits,
    passes,
    broken: () => broken,
    configure,
    async write(name, text) {
      const file = path.join(dir, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
      // Two writes in one tick of the file system's clock would look alike.
      revisedAtMs += 1000;
      await utimes(file, new Date(revisedAtMs), new Date(revisedAtMs));
    },
    remove: (name) => rm(path.join(dir, name)),
    async sync(options) {
      isSyncing = true;
      try {
        await using agent = await openedAgent('sync');
        return await runPass(
          agent.deps,
          {
            push: 'ifNeeded',
            resume: true,
            retryForMs: 60 * seconds,
            keepsToRetryAfter: options?.push === 'always' ? undefined : 'sync',
            ...options,
          },
          never,
        );
      } finally {
        isSyncing = false;
      }
    },
    async plan() {
      await using scratch = await openScratch(load(), log);
      return await plan({ ...scratch.deps, clock }, { shownMax: 20 }, never);
    },
    async start() {
      const agent = await openedAgent('run');
      const ending = new AbortController();
      const waker = new RestingWaker(clock, rest);
      rest.end();
      const passed = (report: PassReport): void => void passes.push(report);
      const broke = (): void => void (broken += 1);
      const ended = runDaemon({ agent, waker, reload: async () => load(), signal: ending.signal, passed, broke });
      daemon = { agent, waker, stop: ending, ended };
      await settled();
    },
    stop,
    async wait(ms) {
      for (let leftMs = ms; leftMs > 0;) {
        await settled();
        leftMs -= await rest.spend(leftMs, clock);
      }
      await settled();
    },
    async wake(reason) {
      await settled();
      rest.end();
      daemon?.waker.wake(reason);
      await settled();
    },
    wakeMeanwhile(reason) {
      rest.end();
      daemon?.waker.wake(reason);
    },
    breakAt: (kind) => {
      breaking = kind;
    },
    async open(look) {
      await using state = await openState(load(), log);
      return await look({ ...state.deps, clock });
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await service[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    },
  };
}

/** When the daemon has nothing to do before time moves, and for how long. */
class Rest {
  #now: { leftMs: number } | undefined;
  #begun = Promise.withResolvers<void>();

  begin(ms: number): void {
    this.#now = { leftMs: ms };
    this.#begun.resolve();
  }

  end(): void {
    if (this.#now === undefined) return;
    this.#now = undefined;
    this.#begun = Promise.withResolvers();
  }

  async reached(): Promise<void> {
    while (this.#now === undefined) await this.#begun.promise;
  }

  /** Moves the clock up to the end of this rest, at most by `ms`; gives by how much. */
  async spend(ms: number, clock: HandClock): Promise<number> {
    const now = this.#now;
    if (now === undefined) return 0;
    const stepMs = Math.max(1, Math.min(ms, now.leftMs));
    await clock.advance(stepMs);
    now.leftMs -= stepMs;
    // Where another rest has begun meanwhile, this one is over by itself.
    if (this.#now === now && now.leftMs <= 0) this.end();
    return stepMs;
  }
}

class RestingWaker extends Waker {
  readonly #rest: Rest;

  constructor(clock: HandClock, rest: Rest) {
    super(clock);
    this.#rest = rest;
  }

  override async wait(ms: number, signal: AbortSignal): Promise<ReadonlyMap<WakeReason, number>> {
    this.#rest.begin(ms);
    try {
      return await super.wait(ms, signal);
    } finally {
      this.#rest.end();
    }
  }
}

/** The agent as it is, with another clock and unwatched sources. */
function byHand(agent: Agent, hands: Pick<Dependencies, 'clock' | 'random' | 'observe'>): Agent {
  return {
    get deps(): Dependencies {
      const { deps } = agent;
      return {
        ...deps,
        ...hands,
        openSource(settings) {
          const source = deps.openSource(settings);
          return {
            newestOnly: source.newestOnly ?? false,
            isExpensive: source.isExpensive ?? false,
            parts: (signal, known) => source.parts(signal, known),
            rows: (part, signal) => source.rows(part, signal),
            ...(source.growing && { growing: source.growing }),
          };
        },
      };
    },
    reconfigure: (settings) => agent.reconfigure(settings),
    rebuildBuffer: () => agent.rebuildBuffer(),
    // Collecting the memory of a process full of tests takes 30 ms, and some of them make a thousand passes.
    releaseMemory: async () => undefined,
    tokenVersion: () => agent.tokenVersion(),
    beat: (allowanceMs) => agent.beat(allowanceMs),
    noteBroken: (failure) => agent.noteBroken(failure),
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}
