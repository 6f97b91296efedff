/** Starts the thread of the status page, tells it what happens, and starts it again should it die. */
import * as workerThreads from 'node:worker_threads';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { PassReport } from '../core/report.ts';
import type { Settings, StatusSettings } from '../core/settings.ts';
import type { PassNotes } from '../status/watched.ts';
import type { AgentWithSigns } from './agent.ts';
import {
  type FromStatusThread,
  type StatusThreadData,
  type ToStatusThread,
  settingsToLook,
} from './status-messages.ts';

type Heard = Extract<FromStatusThread, { kind: 'listening' | 'unheard' }>;

/** What a page makes is dropped again at once; measured in docs/PERFORMANCE.md. */
const youngMb = 2;
/** Beyond it the thread dies, and not the agent. */
const oldMb = 192;
const restartMs = 1000;
const restartMaxMs = 60_000;

export interface StatusPageOptions {
  readonly log: Log;
  readonly version: string;
  /** The digest of the settings as the config file has them now; `undefined` where it is not valid. */
  readonly fileDigest: () => string | undefined;
  /** Whose page it is. */
  readonly agent: Pick<AgentWithSigns, 'broken' | 'lockFile'>;
}

/** @throws AgentError `status.address` where it cannot listen */
export async function openStatusPage(settings: Settings, options: StatusPageOptions): Promise<StatusPage> {
  const page = new StatusPage(settings, options);
  await page.reconfigure(settings, 'required');
  return page;
}

export class StatusPage implements AsyncDisposable {
  readonly #options: StatusPageOptions;
  #settings: Settings;
  #ended: Omit<PassNotes, 'broken'> = { lastMs: undefined, readAtMs: {} };
  #thread: workerThreads.Worker | undefined;
  /** Is told whether the thread listens, while somebody waits for that. */
  #heard: ((message: Heard) => void) | undefined;
  #restart: NodeJS.Timeout | undefined;
  #restartMs = restartMs;

  constructor(settings: Settings, options: StatusPageOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  /** Notes a pass that has ended. */
  passed({ at, sources }: Pick<PassReport, 'at' | 'sources'> & Partial<PassReport>, tookMs: number): void {
    const atMs = Date.parse(at);
    const read = sources.filter(({ state }) => state !== 'unread').map(({ name }) => [name, atMs]);
    const readAtMs = { ...this.#ended.readAtMs, ...(Object.fromEntries(read) as Record<string, number>) };
    this.#ended = { lastMs: tookMs, readAtMs };
    this.#tell({ kind: 'notes', notes: this.#notes });
  }

  get #notes(): PassNotes {
    return { ...this.#ended, broken: this.#options.agent.broken };
  }

  /** Tells the page that a pass broke, and why. */
  broke(): void {
    this.#tell({ kind: 'notes', notes: this.#notes });
  }

  /**
   * Uses other settings from now on.
   * @param listening `required`: it must listen as they say; else the log says why it does not, and it stays where it was
   * @throws AgentError `status.address`
   */
  async reconfigure(settings: Settings, listening: 'required' | 'wanted'): Promise<void> {
    const before = this.#thread === undefined ? undefined : this.#settings.status;
    this.#settings = settings;
    if (settings.status === undefined) {
      if (before !== undefined) this.#options.log.info('the status page is closed: "status" left the config');
      return this[Symbol.asyncDispose]();
    }
    const said = await this.#listening();
    if (said.kind === 'listening') {
      const isNews = before?.host !== settings.status.host || before.port !== settings.status.port;
      if (isNews) this.#options.log.info('the status page listens', { address: addressOf(settings.status, said.port) });
      return;
    }
    const failure = cannotListen(settings.status, said.code);
    if (said.still === undefined) await this[Symbol.asyncDispose]();
    else this.#settings = { ...settings, status: said.still };
    if (listening === 'required') throw failure;
    this.#options.log.error(`${failure.message}; ${said.still === undefined ? 'there is none' : 'the old one stays'}`, {
      hint: failure.hint,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  /** Has the thread listen as the present settings say. */
  async #listening(): Promise<Heard> {
    const heard = new Promise<Heard>((resolve) => {
      this.#heard = resolve;
    });
    if (this.#thread === undefined) this.#start();
    else this.#tell({ kind: 'settings', settings: settingsToLook(this.#settings) });
    this.#thread?.ref();
    const said = await heard;
    this.#heard = undefined;
    // The agent ends when its loop does.
    this.#thread?.unref();
    return said;
  }

  #start(): void {
    const data: StatusThreadData = {
      settings: settingsToLook(this.#settings),
      notes: this.#notes,
      lockFile: this.#options.agent.lockFile,
      version: this.#options.version,
    };
    const file = new URL(
      import.meta.url.endsWith('.ts') ? './status-thread.ts' : './status-thread.js',
      import.meta.url,
    );
    const thread = new workerThreads.Worker(file, {
      workerData: data,
      // It needs no variable of the environment, and some are secrets.
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: youngMb, maxOldGenerationSizeMb: oldMb },
    });
    this.#thread = thread;
    thread.on('message', (message: FromStatusThread) => this.#hear(message));
    thread.on('error', (error) => this.#options.log.error('the status page failed', { error }));
    thread.on('exit', () => this.#exited(thread));
  }

  #hear(message: FromStatusThread): void {
    switch (message.kind) {
      case 'log':
        this.#options.log[message.level](message.message, message.fields);
        break;
      case 'fileDigest?':
        this.#tell({ kind: 'fileDigest', digest: this.#options.fileDigest() });
        break;
      case 'listening':
        this.#restartMs = restartMs;
        if (this.#heard !== undefined) this.#heard(message);
        else if (this.#settings.status !== undefined) {
          const address = addressOf(this.#settings.status, message.port);
          this.#options.log.info('the status page listens again', { address });
        }
        break;
      case 'unheard':
        if (this.#heard !== undefined) this.#heard(message);
        else void this.#thread?.terminate();
    }
  }

  #exited(thread: workerThreads.Worker): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    // Whoever waits for it reports that.
    if (this.#heard !== undefined) return this.#heard({ kind: 'unheard', code: 'it ended', still: undefined });
    this.#options.log.error('the status page has ended and is started again', { inMs: this.#restartMs });
    this.#restart = setTimeout(() => this.#start(), this.#restartMs).unref();
    this.#restartMs = Math.min(restartMaxMs, this.#restartMs * 2);
  }

  #tell(message: ToStatusThread): void {
    this.#thread?.postMessage(message);
  }
}

function addressOf({ host }: StatusSettings, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
}

function cannotListen({ host, port }: StatusSettings, code: string): AgentError {
  const shown = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const [why, hint] = reasons[code] ?? [`it cannot (${code})`, 'check "status" in the config'];
  return new AgentError('status.address', `the status page cannot listen at ${shown}: ${why}`, { hint });
}

const reasons: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EADDRINUSE: ['another program has this port', 'name another port in "status", or stop that program'],
  EACCES: ['only root may use this port', 'name a port above 1023 in "status", and put a proxy before it'],
  EADDRNOTAVAIL: ['this machine has no such address', 'name one that it has in "status", or 127.0.0.1'],
  ENOTFOUND: ['no such name is known', 'name an address of this machine in "status"'],
  EAI_AGAIN: ['the name cannot be looked up now', 'name an address of this machine in "status"'],
};
