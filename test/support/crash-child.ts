/**
 * An agent that pulls its own plug. `crash.long.e2e.test.ts` runs this file, built as the agent is, as a process of its own, with a
 * `ChildPlan` as JSON. It runs one pass after the other, each over the next version of the files, until it is killed.
 *
 * It kills itself at the nth event of a kind, or right before the nth touch. A touch is whatever changes something
 * outside of the process: a statement that SQLite runs (BEGIN and COMMIT too), a file that is written, synced, renamed or
 * removed, and every event of the pass. Counting them reaches every gap between two writes, and needs no clock.
 */
import fs from 'node:fs';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import Database from 'better-sqlite3';
import { openAgent } from '../../src/compose/agent.ts';
import { runPass } from '../../src/app/pass.ts';
import { rollBack } from '../../src/app/prepare/requests.ts';
import type { PassEvent } from '../../src/app/dependencies.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Settings } from '../../src/core/settings.ts';

export interface ChildPlan {
  readonly config: string;
  /** `never`: by whoever started it, or not at all. */
  readonly kill: Kill | 'never';
  /** The versions of the files that the passes run over, or the push to roll back to. */
  readonly work: { readonly versions: Versions } | { readonly rollbackTo: number };
}

export type Kill =
  | { readonly event: PassEvent['kind']; readonly nth: number }
  | { readonly touch: number }
  /** Right before the nth statement that has this text. */
  | { readonly sql: string; readonly nth: number };

export interface Versions {
  /** Where the files are. */
  readonly folder: string;
  /** Of the first pass. */
  readonly from: number;
  /** How large a version is. */
  readonly drivers: number;
}

/** Whoever is not killed until then is a failure, and must not live for ever. */
const passesMax = 50;

const never = new AbortController().signal;

/** Writes all files of a version, each at once. A driver of the second file is in every third version only. */
export function writeVersion({ folder, drivers }: Versions, version: number): void {
  const rows = Array.from({ length: drivers }, (_, index) =>
    ['01', '02', '03'].map((month) => `d${String(index).padStart(4, '0')},2026-${month},${version}.${index}`),
  );
  replaceFile(path.join(folder, 'revenue', 'one.csv'), ['name,month,amount', ...rows.flat()]);
  replaceFile(path.join(folder, 'revenue', 'two.csv'), [
    'name,month,amount',
    `extra${version % 3},2026-01,${version}.5`,
  ]);
}

export function replaceFile(file: string, lines: readonly string[]): void {
  fs.writeFileSync(`${file}.new`, `${lines.join('\n')}\n`);
  fs.renameSync(`${file}.new`, file);
}

export function settingsOf(config: string): Settings {
  const { settings, problems } = loadConfig(config, { env: {}, secrets: 'required' });
  if (settings === undefined) throw new Error(JSON.stringify(problems));
  return settings;
}

class Plug {
  readonly #kill: Kill | undefined;
  #isCounting = false;
  #touches = 0;
  #events = 0;
  #statements = 0;

  constructor(kill: ChildPlan['kill']) {
    this.#kill = kill === 'never' ? undefined : kill;
  }

  /** Counts what is done within: what the child does to the files of the sources is not the agent's. */
  async counting<T>(run: () => Promise<T>): Promise<T> {
    this.#isCounting = true;
    try {
      return await run();
    } finally {
      this.#isCounting = false;
    }
  }

  noteEvent({ kind }: PassEvent): void {
    const kill = this.#kill;
    if (kill !== undefined && 'event' in kill && kill.event === kind && ++this.#events === kill.nth) pull();
    this.noteTouch('');
  }

  noteTouch(sql: string): void {
    const kill = this.#kill;
    if (!this.#isCounting || kill === undefined) return;
    if ('touch' in kill && ++this.#touches === kill.touch) pull();
    if ('sql' in kill && sql.includes(kill.sql) && ++this.#statements === kill.nth) pull();
  }

  /** Puts itself before every call that touches the disk. */
  connect(): void {
    const note = (sql: string): void => this.noteTouch(sql);
    for (const name of ['writeSync', 'fsyncSync', 'renameSync', 'rmSync', 'writeFileSync', 'mkdirSync'] as const) {
      const call = fs[name] as (...values: unknown[]) => unknown;
      Object.assign(fs, { [name]: (...values: unknown[]) => (note(name), call(...values)) });
    }
    syncBuiltinESMExports();
    const database = new Database(':memory:');
    const statement = Object.getPrototypeOf(database.prepare('SELECT 1')) as { run: (...values: unknown[]) => unknown };
    const { run } = statement;
    statement.run = function counted(this: Database.Statement, ...values) {
      note(this.source);
      return run.apply(this, values);
    };
    const databases = Database.prototype as { exec: (this: Database.Database, sql: string) => Database.Database };
    const { exec } = databases;
    databases.exec = function counted(sql) {
      note(sql);
      return exec.call(this, sql);
    };
    database.close();
  }
}

function pull(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('the kernel was too slow');
}

async function live({ config, kill, work }: ChildPlan): Promise<void> {
  // Whoever is killed writes no cache at its end; without it, starting takes 150 ms more.
  flushCompileCache();
  const plug = new Plug(kill);
  plug.connect();
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const options = { command: 'sync', log: silent, version: '0.1.0', env: {} } as const;
  const settings = settingsOf(config);
  const observe = (event: PassEvent): void => plug.noteEvent(event);
  await using agent = await plug.counting(async () => openAgent(settings, { ...options, observe }));
  if ('rollbackTo' in work) {
    await plug.counting(() => rollBack(agent.deps, { push: work.rollbackTo }, never));
    return;
  }
  const { folder, from } = work.versions;
  for (let version = from; version < from + passesMax; version++) {
    writeVersion(work.versions, version);
    // Now and then the share with the other source is not there.
    const isSteadyKnown = agent.deps.buffer.reads.acceptedSources().includes('steady');
    if (version % 4 === 3 && isSteadyKnown) fs.rmSync(path.join(folder, 'steady.csv'), { force: true });
    else replaceFile(path.join(folder, 'steady.csv'), steadyLines);
    const world = { ...agent.deps, random: () => 0 };
    await plug.counting(() => runPass(world, { push: 'ifNeeded', resume: true, retryForMs: 60_000 }, never));
  }
}

/** The other source never changes, so whatever happens its drivers are to stay. */
export const steadyLines = ['name,month,amount', 'alpha,2026-01,7', 'alpha,2026-02,7.10', 'beta,2026-01,-.5'];

const [, script, plan] = process.argv;
if (script === import.meta.filename && plan !== undefined) await live(JSON.parse(plan) as ChildPlan);
