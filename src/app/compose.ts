/** Puts an agent together out of real edges. The only room that names them. */
import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import { AgentError, isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { DestinationSettings, Settings } from '../core/settings.ts';
import type { Archive, Buffer, Ledger } from '../core/stores.ts';
import { openArchive } from '../edges/archive.ts';
import { openBuffer } from '../edges/buffer.ts';
import { systemClock } from '../edges/clock.ts';
import { openHttpDestination } from '../edges/http-destination.ts';
import { openLedger } from '../edges/ledger.ts';
import { type Lock, type LockHolder, acquireLock, ensureStateDir, lockHolder } from '../edges/lock.ts';
import { giveBackMemory } from '../edges/memory.ts';
import { nextDue, previousDue } from '../edges/schedule.ts';
import {
  dropOldScratch,
  readHeartbeat,
  scratchDirectory,
  watchWake,
  writeHeartbeat,
  writeWake,
} from '../edges/state-directory.ts';
import { kinds } from '../sources/index.ts';
import { readLookups } from '../sources/lookups.ts';
import { adoptAfterLoss } from './adopt.ts';
import { holdingOnly } from './plan.ts';
import type { World } from './world.ts';

export { openLog } from '../edges/log.ts';
export { systemClock } from '../edges/clock.ts';

/** An agent that holds its state directory. */
export interface Agent extends AsyncDisposable {
  readonly world: World;
  /** Uses other settings from now on; the state directory stays. */
  reconfigure(settings: Settings): Promise<void>;
  /** Moves a damaged buffer aside and starts a new one from the archive. */
  rebuildBuffer(): void;
  /** Gives back what a pass needed and waiting does not. */
  rest(): void;
  /** Says that the loop moves, and until when it may be silent. */
  beat(allowanceMs: number): void;
}

export interface AgentOptions {
  readonly command: 'run' | 'sync' | 'rollback';
  readonly log: Log;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where `destination: emulator` listens. */
  readonly emulatorUrl?: string | undefined;
  readonly observe?: World['observe'];
}

/** Schedules, for the daemon: pure functions of a date. */
export const schedule = { nextDue, previousDue };

const emulatorTimeoutMs = 60_000;

/** @throws AgentError `state.locked` where another agent holds the state directory, and other `state.` failures. */
export function openAgent(settings: Settings, options: AgentOptions): Agent {
  // The young generation would grow to 64 MB and more without being any faster: it stays at what starting took. Measured on
  // 4 M rows: a peak of 157 instead of 225 MB, the same CPU time.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  ensureStateDir(settings.state);
  const lock = acquireLock(settings.state, { command: options.command, pid: process.pid });
  try {
    return new RunningAgent(settings, options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class RunningAgent implements Agent {
  #settings: Settings;
  readonly #options: AgentOptions;
  readonly #lock: Lock;
  readonly #ledger: Ledger;
  readonly #archive: Archive;
  #buffer: Buffer;
  #destination: ReturnType<typeof openHttpDestination>;
  #beatAtMs = 0;

  constructor(settings: Settings, options: AgentOptions, lock: Lock) {
    this.#settings = settings;
    this.#options = options;
    this.#lock = lock;
    dropOldScratch(settings.state);
    this.#ledger = openLedger(fileIn(settings, 'ledger'), 'migrate');
    this.#ledger.endOrphans(systemClock.now().getTime());
    this.#buffer = this.#openBuffer();
    this.#archive = openArchive(fileIn(settings, 'archive'));
    this.#destination = this.#openDestination();
    this.#describe();
  }

  get world(): World {
    return {
      ...worldOf(this.#settings, this.#options),
      buffer: this.#buffer,
      ledger: this.#ledger,
      archive: this.#archive,
      destination: this.#destination,
    };
  }

  async reconfigure(settings: Settings): Promise<void> {
    await this.#destination[Symbol.asyncDispose]();
    this.#settings = { ...settings, state: this.#settings.state };
    this.#destination = this.#openDestination();
    this.#describe();
  }

  rebuildBuffer(): void {
    this.#buffer.close();
    this.#moveAside();
    this.#buffer = openBuffer(fileIn(this.#settings, 'buffer'), 'write');
  }

  rest(): void {
    this.#buffer.shrink();
    this.#ledger.shrink();
    giveBackMemory();
  }

  beat(allowanceMs: number): void {
    const nowMs = systemClock.now().getTime();
    if (nowMs - this.#beatAtMs < 1000 && nowMs >= this.#beatAtMs) return;
    this.#beatAtMs = nowMs;
    try {
      writeHeartbeat(this.#settings.state, nowMs + allowanceMs);
    } catch (error) {
      // `status --live` will say so; the pushes are worth more than their heartbeat.
      this.#options.log.warn('the heartbeat cannot be written', { error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#destination[Symbol.asyncDispose]();
    this.#buffer.close();
    this.#ledger.close();
    this.#lock.release();
  }

  #describe(): void {
    const { file, digest } = this.#settings;
    const configLoadedAt = systemClock.now().toISOString();
    try {
      this.#lock.describe({ configLoadedAt, configFile: file, configDigest: digest });
    } catch (error) {
      if (!isAgentError(error, 'state.full')) throw error;
      this.#options.log.warn('agent.json cannot be written', { error });
    }
  }

  #openBuffer(): Buffer {
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
    if (existsSync(file)) renameSync(file, aside);
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
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

/** The parts of a world that hold nothing open. */
function worldOf(
  settings: Settings,
  options: Pick<AgentOptions, 'log' | 'observe'>,
): Omit<World, 'buffer' | 'ledger' | 'archive' | 'destination'> {
  return {
    settings,
    clock: systemClock,
    log: options.log,
    random: Math.random,
    address: settings.destination === 'emulator' ? 'emulator' : settings.destination.url,
    openSource: sourceOpener(settings),
    readLookups: lookupReader(settings),
    observe: options.observe ?? (() => undefined),
  };
}

function fileIn(settings: Settings, name: 'buffer' | 'ledger' | 'archive'): string {
  return path.join(settings.state, name === 'archive' ? name : `${name}.db`);
}

/** The stores of a state directory as a command finds them, beside a running agent or without one. */
export interface OpenState extends Disposable {
  readonly world: World;
}

/**
 * Opens the state to look at, or to leave a request in. Takes no lock.
 * @throws AgentError `state.missing` that says where it looked.
 */
export function openState(settings: Settings, log: Log): OpenState {
  if (!existsSync(fileIn(settings, 'ledger'))) throw noState(settings);
  const ledger = openWritable(fileIn(settings, 'ledger'));
  const archive = openArchive(fileIn(settings, 'archive'));
  const kept = { ...worldOf(settings, { log }), ledger, archive, destination: nowhere };
  const buffer = openReadableBuffer(fileIn(settings, 'buffer'), kept);
  return {
    world: { ...kept, buffer },
    [Symbol.dispose]() {
      buffer.close();
      ledger.close();
    },
  };
}

/** Where there is no buffer to read, the last acknowledged snapshot answers, as it will for the next pass. */
function openReadableBuffer(file: string, kept: Omit<World, 'buffer'>): Buffer {
  try {
    if (existsSync(file)) return openBuffer(file, 'read');
  } catch (error) {
    if (!isAgentError(error, 'state.corrupt')) throw error;
    kept.log.warn('the buffer is damaged: this is of the last acknowledged snapshot', { cause: error.message });
  }
  const buffer = openBuffer(':memory:', 'write');
  adoptAfterLoss({ ...kept, buffer, log: silent });
  return buffer;
}

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Opens the ledger alone, to leave a word in it.
 * @throws AgentError `state.missing`
 */
export function openAsked(settings: Settings): Ledger {
  const file = fileIn(settings, 'ledger');
  if (!existsSync(file)) throw noState(settings);
  return openLedger(file, 'write');
}

function noState(settings: Settings): AgentError {
  return new AgentError('state.missing', `there is no state in ${settings.state}`, {
    hint: '"driver-sync run" or "sync" makes it; check "state" in the config and which user runs the agent',
  });
}

function openWritable(file: string): Ledger {
  try {
    return openLedger(file, 'write');
  } catch (error) {
    if (!isAgentError(error, 'state.unwritable') && !isAgentError(error, 'state.full')) throw error;
    return openLedger(file, 'read');
  }
}

const nowhere: World['destination'] = {
  push: () => Promise.reject(new Error('this command pushes nothing')),
};

/** A world whose buffer and archive are copies: what a pass would do, without doing it. */
export function openScratch(settings: Settings, log: Log, observe?: World['observe']): OpenState {
  ensureStateDir(settings.state);
  const ledgerFile = fileIn(settings, 'ledger');
  if (!existsSync(ledgerFile)) {
    using _lock = acquireLock(settings.state, { command: 'plan', pid: process.pid });
    openLedger(ledgerFile, 'migrate').close();
  }
  const directory = scratchDirectory(settings.state);
  rmSync(directory, { recursive: true, force: true });
  ensureStateDir(directory);
  const ledger = openLedger(ledgerFile, 'write');
  const buffer = copyBuffer(fileIn(settings, 'buffer'), path.join(directory, 'buffer.db'));
  const archive = openArchive(fileIn(settings, 'archive'));
  const drafts = openArchive(directory);
  const world: World = {
    ...worldOf(settings, { log, ...(observe === undefined ? {} : { observe }) }),
    buffer,
    ledger: holdingOnly(ledger),
    archive: {
      ...archive,
      write: (...snapshot) => drafts.write(...snapshot),
      open: (digest) => drafts.open(digest) ?? archive.open(digest),
      keepOnly: () => undefined,
    },
    destination: nowhere,
  };
  return {
    world,
    [Symbol.dispose]() {
      buffer.close();
      ledger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function copyBuffer(from: string, to: string): Buffer {
  try {
    if (existsSync(from)) {
      const buffer = openBuffer(from, 'read');
      try {
        buffer.copyTo(to);
      } finally {
        buffer.close();
      }
    }
  } catch (error) {
    // The next run or sync rebuilds it, so that is what a plan starts from too.
    if (!isAgentError(error, 'state.corrupt')) throw error;
    rmSync(to, { force: true });
  }
  return openBuffer(to, 'write');
}

/** The agent that holds a state directory now. */
export function runningAgent({ state }: Pick<Settings, 'state'>): LockHolder | undefined {
  return existsSync(state) ? lockHolder(state) : undefined;
}

/** Until when the loop said that it may be silent, in ms since 1970; `undefined` where it never said so. */
export function aliveUntilMs({ state }: Pick<Settings, 'state'>): number | undefined {
  return readHeartbeat(state);
}

/** Makes the running agent look at its requests now. */
export function wakeAgent(settings: Settings): void {
  writeWake(settings.state);
}

/** Calls `asked` when a command left a request. */
export function watchRequests(settings: Settings, asked: () => void): Disposable {
  return watchWake(settings.state, asked);
}

/** Creates the state directory. @throws AgentError `state.unwritable`, `state.full` */
export function ensureState(settings: Settings): void {
  ensureStateDir(settings.state);
}

/** How sources are opened; `check` needs nothing else of a world. */
export function sourceOpener({ file, timezone }: Settings): World['openSource'] {
  const baseDir = path.dirname(file);
  return ({ name, type, kind, mapping }) => {
    const known = kinds[type];
    if (known === undefined) throw new AgentError('config.invalid', `there is no source of type "${type}"`);
    return known.open(kind, { name, baseDir, clock: systemClock, mapping, timezone });
  };
}

export function lookupReader({ file }: Settings): World['readLookups'] {
  const place = { baseDir: path.dirname(file), clock: systemClock };
  return ({ lookups }, signal) => readLookups(lookups, place, signal);
}

/** What a token file looks like from outside: a refused push is worth another try once this changed. */
export function tokenStamp(settings: Settings): string | undefined {
  if (settings.destination === 'emulator' || settings.destination.token?.kind !== 'file') return undefined;
  const stat = statSync(settings.destination.token.file, { throwIfNoEntry: false });
  return createHash('sha256').update(`${stat?.size} ${stat?.mtimeMs} ${stat?.ino}`).digest('hex');
}
