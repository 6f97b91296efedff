/**
 * The agent in its test world: a directory with a config and files, the emulator as the service, and commands that do in
 * this process what the command line does. Every command opens the state and closes it, as processes do.
 */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { parse } from 'yaml';
import { openAgent } from '../../src/compose/agent.ts';
import { openScratch } from '../../src/compose/scratch.ts';
import { type PassOptions, runPass } from '../../src/app/pass.ts';
import { type PlanReport, plan } from '../../src/app/ask/plan.ts';
import type { PushReport } from '../../src/app/push/push-report.ts';
import type { PassReport, SourceReport } from '../../src/core/report.ts';
import { rollBack } from '../../src/app/prepare/requests.ts';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { approve } from '../../src/cli/approve.ts';
import type { Context } from '../../src/cli/context.ts';
import { explain } from '../../src/cli/explain.ts';
import { forget } from '../../src/cli/forget.ts';
import { rejects } from '../../src/cli/rejects.ts';
import type { StatusReport } from '../../src/app/ask/status-report.ts';
import { status } from '../../src/cli/status.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/core/settings.ts';
import { type EmulatedDriver, type Emulator, type RequestRecord, startEmulator } from '../../src/emulator/index.ts';
import { type HandClock, handClock } from './hand-clock.ts';
import { memoryLog } from './memory-log.ts';

/** As in the config file, `destination` left out; or that file's text. Files settle at once unless it says otherwise. */
export type Config = string | { readonly sources: Readonly<Record<string, object>>; readonly [key: string]: unknown };

/** `{ North: { '2026-01': '1.50' } }`. */
export type Points = Record<string, Record<string, string>>;

export interface TestWorld extends AsyncDisposable {
  /** Where the config and the files are. */
  readonly dir: string;
  /** The state directory. */
  readonly state: string;
  readonly emulator: Emulator;
  /** Moves on by a second with every `write`, and by hand. */
  readonly clock: HandClock;
  readonly log: ReturnType<typeof memoryLog>;
  /** Writes a file, revised now by the clock or at another time. */
  write(name: string, text: string, revisedAt?: Date): Promise<void>;
  remove(name: string): Promise<void>;
  reconfigure(config: Config): Promise<void>;
  /** The buffer is gone, as after a restore of a state directory from a backup of the rest. */
  loseBuffer(): Promise<void>;

  /** As the command does, without waiting for a push that did not arrive. `resume: false` is a pass of the daemon. */
  sync(options?: Partial<PassOptions>): Promise<PassReport>;
  plan(): Promise<PlanReport>;
  approve(digest: string): Promise<unknown>;
  forget(source: string, part?: string): Promise<unknown>;
  rollback(push: number): Promise<PushReport>;
  status(): Promise<StatusReport>;
  explain(driver: string, month?: string): Promise<unknown>;
  /** The CSV that the command prints. */
  rejects(source?: string): Promise<string>;
  /** For what no command shows. */
  open<T>(run: (deps: Dependencies) => Promise<T> | T): Promise<T>;

  /** What the service holds. */
  drivers(): EmulatedDriver[];
  points(): Points;
  /** Newest first. */
  requests(): RequestRecord[];
}

export interface WorldOptions {
  readonly config: Config;
  readonly files?: Readonly<Record<string, string>>;
}

const calm = new AbortController().signal;

export async function world({ config, files = {} }: WorldOptions): Promise<TestWorld> {
  const dir = await mkdtemp(path.join(tmpdir(), 'driver-sync-world-'));
  const emulator = await startEmulator();
  const clock = handClock(new Date('2026-03-15T12:00:00Z'));
  const log = memoryLog();
  const configFile = path.join(dir, 'driver-sync.yaml');
  const context: Context = { options: { config: configFile, json: true }, env: {}, cwd: dir, version: '0.0.0' };

  const settings = (): Settings => {
    const loaded = loadConfig(configFile, { env: {}, secrets: 'required' });
    if (loaded.settings === undefined) throw new Error(JSON.stringify(loaded.problems, null, 1));
    return loaded.settings;
  };
  const withAgent = async <T>(
    command: 'sync' | 'rollback',
    run: (deps: Dependencies) => Promise<T> | T,
  ): Promise<T> => {
    await using agent = await openAgent(settings(), { command, log, version: '0.0.0', env: {} });
    return await run({ ...agent.deps, clock, random: () => 0.5 });
  };
  const write: TestWorld['write'] = async (name, text, revisedAt) => {
    const file = path.join(dir, name);
    // So that a file written twice is never taken for the same, however coarse the file system's clock.
    clock.jump(1000);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
    await utimes(file, clock.now(), revisedAt ?? clock.now());
  };
  const reconfigure: TestWorld['reconfigure'] = (next) => writeFile(configFile, configText(next, emulator.url));

  await reconfigure(config);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return {
    dir,
    state: settings().state,
    emulator,
    clock,
    log,
    write,
    remove: (name) => rm(path.join(dir, name)),
    reconfigure,
    async loseBuffer() {
      for (const suffix of ['', '-wal', '-shm'])
        await rm(path.join(settings().state, `buffer.db${suffix}`), { force: true });
    },
    sync: (options) =>
      withAgent('sync', (inner) => runPass(inner, { push: 'ifNeeded', resume: true, retryForMs: 0, ...options }, calm)),
    async plan() {
      await using scratch = await openScratch(settings(), log);
      return await plan({ ...scratch.deps, clock }, { shownMax: 20 }, calm);
    },
    approve: async (digest) => JSON.parse(await printed(() => approve(context, digest))),
    forget: async (source, part) => JSON.parse(await printed(() => forget(context, { source, part }, { yes: true }))),
    rollback: (push) => withAgent('rollback', async (inner) => (await rollBack(inner, { push }, calm))!),
    status: async () => JSON.parse(await printed(() => status(context, {}))) as StatusReport,
    explain: async (driver, month) => JSON.parse(await printed(() => explain(context, { driver, month, rows: false }))),
    rejects: (source) => printed(() => rejects({ ...context, options: { config: configFile } }, source)),
    open: (run) => withAgent('sync', run),
    drivers: () => emulator.drivers(),
    points: () => pointsOf(emulator.drivers()),
    requests: () => emulator.requests(),
    async [Symbol.asyncDispose]() {
      await emulator.close();
      await rm(dir, { recursive: true });
    },
  };
}

/** A CSV source with the columns `id,time,value`; what `keys` says comes on top. */
export function longSource(files: string | readonly string[], keys: object = {}): object {
  const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }];
  return { type: 'csv', files: [files].flat(), drivers, ...keys };
}

/** The same with a rule of collapse. */
export function collapsing(rule: string, files: string | readonly string[], keys: object = {}): object {
  return longSource(files, { drivers: [longEntry('{id}', rule)], ...keys });
}

/** An entry of `drivers` for such files. */
export function longEntry(id: string, collapse: string): object {
  return { id, path: [id], time: '{time}', value: '{value}', collapse };
}

/** Ids from `first` to `last`: `D01`, `D02` and so on. */
export function ids(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `D${String(first + index).padStart(2, '0')}`);
}

/** Months from `first` to `last`, counted from 2024-01. */
export function months(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) =>
    new Date(Date.UTC(2024, first - 1 + index)).toISOString().slice(0, 7),
  );
}

/** The text of a file for `longSource` in which every driver has a value in every month. */
export function gridFile(drivers: readonly string[], inMonths: readonly string[] = ['2026-01']): string {
  return longFile(
    Object.fromEntries(drivers.map((id) => [id, Object.fromEntries(inMonths.map((month) => [month, 1]))])),
  );
}

/** The text of a file for `longSource`. */
export function longFile(points: Readonly<Record<string, Readonly<Record<string, string | number>>>>): string {
  const rows = Object.entries(points).flatMap(([id, values]) =>
    Object.entries(values).map(([month, value]) => `${id},${month},${value}\n`),
  );
  return `id,time,value\n${rows.join('')}`;
}

/** Of a pass or a plan in which one source came to this. */
export function judged(exit: number, name: string, found: Partial<SourceReport>): object {
  return { exit, sources: expect.arrayContaining([expect.objectContaining({ name, ...found })]) };
}

/** What a pass or a plan says of one source. */
export function sourceOf(report: { readonly sources: readonly SourceReport[] }, name: string): SourceReport {
  const found = report.sources.find((source) => source.name === name);
  if (found === undefined) throw new Error(`the report says nothing of "${name}"`);
  return found;
}

function configText(config: Config, url: string): string {
  const written = typeof config === 'string' ? (parse(config) as Exclude<Config, string>) : config;
  const sources = Object.entries(written.sources).map(([name, keys]) => {
    return [name, { ...('files' in keys ? { settle: '0s' } : {}), ...keys }];
  });
  const destination = { url, ...(written['destination'] as object | undefined) };
  return JSON.stringify({ ...written, destination, sources: Object.fromEntries(sources) }, null, 1);
}

function pointsOf(drivers: readonly EmulatedDriver[]): Points {
  const month = (time: string): string => new Date(Number(time) * 1000).toISOString().slice(0, 7);
  return Object.fromEntries(
    drivers.map(({ id, timeSeries }) => [
      id,
      Object.fromEntries(timeSeries.map(({ time, value }) => [month(time), value])),
    ]),
  );
}

/** What a command prints to stdout. */
async function printed(command: () => number | Promise<number>): Promise<string> {
  let text = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    await command();
  } finally {
    stdout.mockRestore();
  }
  return text;
}
