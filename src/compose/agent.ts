/** An agent of real parts: it holds the state directory, and reads and pushes. */
import { existsSync, renameSync } from 'node:fs';
import type { Dependencies } from '../app/dependencies.ts';
import type { Agent } from '../app/loop/agent.ts';
import { confirmIn } from '../app/shared/confirm.ts';
import { type AgentError, isAgentError } from '../core/errors.ts';
import type { Clock, Log, Supervisor } from '../core/ports.ts';
import type { DestinationSettings, LedgerSettings, Settings } from '../core/settings.ts';
import type { LocalBuffer } from '../core/buffer.ts';
import type { Archive, Ledger } from '../core/ledger.ts';
import { systemClock } from '../edges/clock.ts';
import { bytesSinceRelease, releaseMemory } from '../edges/memory.ts';
import { openHttpDestination } from '../edges/push/destination.ts';
import { openArchive } from '../edges/state/archive.ts';
import { openBuffer } from '../edges/state/buffer.ts';
import { onFile, removeFile } from '../edges/state/file-failure.ts';
import { type OpenedFiles, confirmInPlace, noteInPlace } from '../edges/state/in-place.ts';
import { forgetShared, isShared } from '../edges/shared/seen.ts';
import { type Lock, acquireLock, ensureStateDir } from '../edges/state/lock.ts';
import {
  type BrokenPass,
  dropOldScratch,
  monotonicMs,
  noteConfig,
  readHeartbeat,
  writeHeartbeat,
} from '../edges/state/state-directory.ts';
import { fileStamp } from './file-stamp.ts';
import { nowhere, refuseForgotten } from './look.ts';
import { fileIn } from './place.ts';
import { openOwnLedger, partsOf } from './parts.ts';
import type { SharedOptions, SharedParts } from './shared.ts';

export interface AgentOptions {
  readonly command: 'run' | 'sync' | 'rollback';
  readonly log: Log;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where `destination: emulator` listens. */
  readonly emulatorUrl?: string | undefined;
  readonly observe?: Dependencies['observe'];
  readonly supervisor?: Supervisor | undefined;
  /** Where agents share a ledger: another one leads now, this one does, or somebody asked for something. */
  readonly changed?: SharedOptions['changed'] | undefined;
}

export interface AgentWithSigns extends Agent {
  /** The last pass, where it broke. */
  readonly broken: BrokenPass | undefined;
  /** The lock, by which it holds its state directory while it is in place. */
  readonly lockFile: OpenedFiles;
}

const emulatorTimeoutMs = 60_000;

/** What passes may leave behind before it is given back at once. A pass over a thousand rows leaves 7 MB, and each further one 2. */
const leftBytesMax = 16 * 1024 * 1024;
/** Code that V8 optimised goes with the memory, and the next pass takes twice the CPU time: passes that follow each other keep it. */
const restingMs = 60_000;

/** @throws AgentError `state.locked` where another agent holds the state directory, and other `state.` failures. */
export async function openAgent(settings: Settings, options: AgentOptions): Promise<AgentWithSigns> {
  ensureStateDir(settings.state);
  const lock = await takeLock(settings, options.command);
  let kept: Kept | undefined;
  try {
    kept = settings.ledger === undefined ? await openOwn(settings) : await takePart(settings, settings.ledger, options);
    return new RunningAgent(settings, options, { lock, kept });
  } catch (error) {
    await kept?.[Symbol.asyncDispose]();
    lock.release();
    throw error;
  }
}

/** Beside a daemon that shares a ledger a command is told who leads, which need not be the one that holds the directory. */
async function takeLock({ state, ledger }: Settings, command: AgentOptions['command']): Promise<Lock> {
  try {
    return acquireLock(state, { command, pid: process.pid });
  } catch (error) {
    if (!isAgentError(error, 'state.locked') || ledger === undefined || command === 'run') throw error;
    const { refuseLed } = await import('./shared.ts');
    await refuseLed(ledger);
    throw error;
  }
}

/** Ledger and archive, and what an agent that shares them has beside them. */
interface Kept extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly shared?: SharedParts;
}

async function openOwn(settings: Settings): Promise<Kept> {
  refuseForgotten(settings);
  const ledger = openOwnLedger(settings);
  const close = { [Symbol.asyncDispose]: () => ledger.close() };
  try {
    await ledger.pushes.endOrphans(systemClock.now().getTime());
    return { ledger, archive: openArchive(fileIn(settings, 'archive'), ledger.snapshots), ...close };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

/** What a person or time mends at the ledger while the daemon waits for it. */
const mendItself: ReadonlySet<AgentError['code']> = new Set(['ledger.unreachable', 'state.full', 'state.older']);

/** The daemon starts though the ledger cannot be reached, and reads meanwhile; a command needs the lead at once. */
async function takePart(settings: Settings, of: LedgerSettings, options: AgentOptions): Promise<Kept> {
  // Whoever is alone has no use for any of it.
  const { openSharedParts, requireLead } = await import('./shared.ts');
  const { address } = partsOf(settings, options);
  const { log, changed = () => undefined } = options;
  const wasShared = isShared(settings.state);
  const shared = openSharedParts(settings, { of, address }, { log, changed });
  const { ledger, archive, lead } = shared;
  try {
    await lead.begin().catch((error: unknown) => {
      if (options.command !== 'run' || !isAgentError(error) || !mendItself.has(error.code)) throw error;
      log.error('the ledger cannot be used: nothing is pushed, and sources are read meanwhile', {
        error: error.message,
        hint: error.hint,
      });
      lead.go();
    });
    if (options.command !== 'run') await requireLead(shared);
    return { ledger, archive, shared, [Symbol.asyncDispose]: () => shared[Symbol.asyncDispose]() };
  } catch (error) {
    await shared[Symbol.asyncDispose]();
    // To look at a ledger that refuses it notes that the agent shares one, and so it could not go on alone.
    if (!wasShared && isAgentError(error, 'ledger.refused')) forgetShared(settings.state);
    throw error;
  }
}

class RunningAgent implements AgentWithSigns {
  #settings: Settings;
  readonly #options: AgentOptions;
  readonly #lock: Lock;
  readonly #kept: Kept;
  readonly #confirmState: () => void;
  #buffer: LocalBuffer;
  #destination: ReturnType<typeof openHttpDestination>;
  #beatAtMs = 0;
  #beatUntilMs = 0;
  #beatMonotonicUntilMs = 0;
  #broken: BrokenPass | undefined;
  /** When it began. */
  #since: string | undefined;
  /** Why the heartbeat cannot be written: said once. */
  #heartbeatTrouble: string | undefined;
  /** Until what small passes left behind is given back. */
  #resting: NodeJS.Timeout | undefined;

  constructor(settings: Settings, options: AgentOptions, { lock, kept }: { lock: Lock; kept: Kept }) {
    this.#settings = settings;
    this.#options = options;
    this.#lock = lock;
    dropOldScratch(settings.state);
    this.#kept = kept;
    const ledgerFile = noteInPlace(settings.state, kept.shared === undefined ? ['ledger.db'] : []);
    this.#confirmState = () => {
      lock.confirm();
      confirmInPlace(settings.state, ledgerFile);
    };
    this.#broken = readHeartbeat(settings.state)?.broken;
    this.#buffer = this.#openBuffer();
    this.#destination = this.#openDestination();
    this.#describe();
  }

  get broken(): BrokenPass | undefined {
    return this.#broken;
  }

  get lockFile(): OpenedFiles {
    return this.#lock.opened;
  }

  get deps(): Dependencies {
    const { ledger, archive, shared } = this.#kept;
    return {
      ...partsOf(this.#settings, this.#options),
      buffer: this.#buffer,
      ledger,
      archive,
      destination: this.#destination,
      confirmState: this.#confirmState,
      ...(shared === undefined ? {} : { clock: shared.clock, confirm: confirmIn(shared.lead) }),
    };
  }

  get shared(): Agent['shared'] {
    const { shared } = this.#kept;
    if (shared === undefined) return undefined;
    return { lead: shared.lead, following: { ...this.deps, ...shared.following, destination: nowhere } };
  }

  /** Of every moment that `status` tells: it compares them with those of passes. */
  get #clock(): Clock {
    return this.#kept.shared?.clock ?? systemClock;
  }

  async reconfigure(settings: Settings): Promise<void> {
    await this.#destination[Symbol.asyncDispose]();
    this.#settings = { ...settings, state: this.#settings.state };
    this.#destination = this.#openDestination();
    const { ledger } = settings;
    const { address } = this.deps;
    if (ledger !== undefined) this.#kept.shared?.lead.reconfigure({ config: ledger.alike, address });
    this.#describe();
  }

  rebuildBuffer(): void {
    this.#buffer.close();
    this.#moveAside();
    this.#buffer = openBuffer(fileIn(this.#settings, 'buffer'), 'write');
  }

  async releaseMemory(): Promise<void> {
    clearTimeout(this.#resting);
    if (bytesSinceRelease() < leftBytesMax) {
      this.#resting = setTimeout(releaseMemory, restingMs).unref();
      return;
    }
    this.#buffer.shrink();
    await this.#kept.ledger.shrink();
    releaseMemory();
  }

  tokenVersion(): string | undefined {
    return tokenVersion(this.#settings);
  }

  beat(allowanceMs: number): void {
    this.#options.supervisor?.beat(allowanceMs);
    const nowMs = systemClock.now().getTime();
    const untilMs = nowMs + allowanceMs;
    const isFresh = nowMs >= this.#beatAtMs && nowMs - this.#beatAtMs < 1000;
    // A step that may take longer than the one before says so at once.
    if (isFresh && untilMs < this.#beatUntilMs + 1000) return;
    this.#beatAtMs = nowMs;
    this.#beatUntilMs = untilMs;
    this.#beatMonotonicUntilMs = Math.ceil(monotonicMs() + allowanceMs);
    this.#writeHeartbeat();
  }

  noteBroken(failure: AgentError | undefined): void {
    if (failure === undefined && this.#broken === undefined) return;
    const { exit, message: reason, hint } = failure ?? {};
    const at = this.#clock.now().toISOString();
    this.#broken = exit === undefined || reason === undefined ? undefined : { at, exit, reason, hint };
    this.#writeHeartbeat();
  }

  #writeHeartbeat(): void {
    try {
      // Where the lock is another one now, so is the heartbeat.
      this.#lock.confirm();
      writeHeartbeat(this.#settings.state, {
        untilMs: this.#beatUntilMs,
        monotonicUntilMs: this.#beatMonotonicUntilMs,
        broken: this.#broken,
      });
      this.#heartbeatTrouble = undefined;
    } catch (error) {
      // `status --live` will say so; the pushes are worth more than their heartbeat.
      if (!isAgentError(error)) throw error;
      if (error.message !== this.#heartbeatTrouble)
        this.#options.log.warn('the heartbeat cannot be written', { error: error.message, hint: error.hint });
      this.#heartbeatTrouble = error.message;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#resting);
    await this.#destination[Symbol.asyncDispose]();
    this.#buffer.close();
    await this.#kept[Symbol.asyncDispose]();
    this.#release();
  }

  /** What was done is done: an `agent.json` that stays makes `status` say that this agent was killed. */
  #release(): void {
    try {
      this.#lock.release();
    } catch (error) {
      if (!isAgentError(error)) throw error;
      this.#options.log.warn('agent.json cannot be removed', { error: error.message, hint: error.hint });
    }
  }

  #describe(): void {
    const { file, digest, writtenDigest } = this.#settings;
    const configLoadedAt = this.#clock.now().toISOString();
    this.#since ??= configLoadedAt;
    try {
      const agentId = this.#kept.shared?.lead.self;
      this.#lock.describe({
        since: this.#since,
        configLoadedAt,
        configFile: file,
        configDigest: digest,
        configWrittenDigest: writtenDigest,
        agentId,
      });
      noteConfig(this.#settings.state, file);
    } catch (error) {
      if (!isAgentError(error)) throw error;
      this.#options.log.warn('what this agent is cannot be written to its state directory', {
        error: error.message,
        hint: error.hint,
      });
    }
  }

  #openBuffer(): LocalBuffer {
    const file = fileIn(this.#settings, 'buffer');
    try {
      return openBuffer(file, 'write');
    } catch (error) {
      if (!isAgentError(error, 'state.corrupt')) throw error;
      this.#options.log.error('the buffer is damaged; it is moved aside and rebuilt', { cause: error.message });
      this.#moveAside();
      return openBuffer(file, 'write');
    }
  }

  #moveAside(): void {
    const file = fileIn(this.#settings, 'buffer');
    const aside = `${file}.damaged-${systemClock.now().getTime()}`;
    onFile(file, () => {
      if (existsSync(file)) renameSync(file, aside);
    });
    for (const suffix of ['-wal', '-shm']) removeFile(file + suffix);
    this.#options.log.warn('the damaged buffer was kept', { file: aside });
  }

  #openDestination(): ReturnType<typeof openHttpDestination> {
    const { log, version, env, emulatorUrl } = this.#options;
    return openHttpDestination(destinationSettings(this.#settings, emulatorUrl), { log, version, env });
  }
}

function destinationSettings(settings: Settings, emulatorUrl: string | undefined): DestinationSettings {
  if (settings.destination !== 'emulator') return settings.destination;
  return {
    url: emulatorUrl ?? 'http://127.0.0.1:8787',
    token: undefined,
    headers: {},
    timeoutMs: emulatorTimeoutMs,
    compress: 'none',
    caFile: undefined,
  };
}

/** The version of the token file: after a refusal, a new one is worth another push. */
function tokenVersion(settings: Settings): string | undefined {
  if (settings.destination === 'emulator' || settings.destination.token?.kind !== 'file') return undefined;
  return fileStamp(settings.destination.token.file);
}
