/** Speed and memory of the agent beside its limits and its peers: tables, the goals, and whether a release made something worse. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { benchFile, buildAgent } from './agent.ts';
import { type Run, readRun, writeRun } from './last-run.ts';
import { type Figure, NotMeasured, type Place, type Sizes, type Table } from './measurement.ts';
import { startHelper } from './measure.ts';
import { registry } from './registry.ts';
import { compareFigures, showFigures, showTable } from './report.ts';

const usage = `npm run bench -- [MEASUREMENT...] [OPTION...]

Measures all, or only those that are named. A whole run takes a quarter to half an hour; it wants a machine that does nothing else.

${Object.entries(registry)
  .map(([name, { about }]) => `  ${name.padEnd(18)}${about}`)
  .join('\n')}

  --quick     small sizes, to see that it runs
  --runs N    runs of each program; the tables have their medians (5)
  --dir DIR   where generated files are kept (${path.join(tmpdir(), 'driver-sync-bench')})
  --check     compare with the committed run; exit 1 where a figure is more than 20 % worse
  --write     make this the committed run: bench/last-run.json, and what docs/ shows of it
`;

const full: Sizes = {
  drivers: 10_000,
  days: 100,
  ledgerDays: 1095,
  wideDrivers: 100_000,
  months: 60,
  bookRows: 100_000,
  requests: 4000,
  runs: 5,
  idleSeconds: 10,
};
const quick: Sizes = {
  drivers: 1000,
  days: 50,
  ledgerDays: 100,
  wideDrivers: 5000,
  months: 24,
  bookRows: 5000,
  requests: 400,
  runs: 1,
  idleSeconds: 1,
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      runs: { type: 'string' },
      dir: { type: 'string', default: path.join(tmpdir(), 'driver-sync-bench') },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const unknown = positionals.find((name) => !Object.hasOwn(registry, name));
  if (unknown !== undefined) return misused(`there is no measurement "${unknown}"`);
  if (values.quick && (values.check || values.write)) return misused('the figures of small sizes cannot be compared');
  const names = positionals.length > 0 ? positionals : Object.keys(registry);
  const base = values.quick ? quick : full;
  const sizes = values.runs === undefined ? base : { ...base, runs: Number(values.runs) };
  if (!(Number.isInteger(sizes.runs) && sizes.runs > 0)) return misused('--runs is a number from 1');
  const run = await measureAll(names, sizes, values.dir);
  const figures = figuresOf(run);
  console.log(`${showFigures(figures)}\n`);
  if (values.quick) console.log('The goals are for the full sizes.\n');
  if (values.write) writeRun(run);
  const hasFailed = names.some((name) => run[name] === undefined);
  return Math.max(hasFailed ? 1 : 0, values.check ? check(figures) : 0);
}

function misused(why: string): number {
  console.error(`${why}; --help says what there is`);
  return 64;
}

/** Prints the tables as they come. */
async function measureAll(names: readonly string[], sizes: Sizes, dataDir: string): Promise<Run> {
  mkdirSync(dataDir, { recursive: true });
  const workDir = mkdtempSync(path.join(dataDir, 'work-'));
  const machine = `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model}`;
  console.log(`${machine}; medians of ${sizes.runs} runs, the highest of the peaks\n`);
  const run: Record<string, Run[string]> = {};
  try {
    await using receiver = startHelper([benchFile('receiver')]);
    const place: Place = { dataDir, workDir, agent: buildAgent(workDir), receiver, url: await receiver.line() };
    for (const name of names) {
      const load = loadavg()[0]?.toFixed(1) ?? '';
      const tables = await measured(name, place, sizes);
      if (tables === undefined) continue;
      for (const table of tables) console.log(`${showTable(table)}\n`);
      run[name] = { at: new Date().toISOString().slice(0, 10), machine, load, runs: sizes.runs, tables };
    }
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return run;
}

/** `undefined` where it failed: the others are measured all the same, and the run ends with 1. */
async function measured(name: string, place: Place, sizes: Sizes): Promise<readonly Table[] | undefined> {
  try {
    return [(await registry[name]?.measure(place, sizes)) ?? []].flat();
  } catch (error) {
    if (error instanceof NotMeasured) {
      console.log(`${name} is not measured: ${error.message}\n`);
      return [];
    }
    console.error(`${name} failed:`, error);
    return undefined;
  }
}

function figuresOf(run: Run): readonly Figure[] {
  return Object.values(run).flatMap(({ tables }) => tables.flatMap(({ figures }) => figures ?? []));
}

function check(figures: readonly Figure[]): number {
  const committed = figuresOf(readRun());
  if (!figures.some(({ name }) => committed.some((figure) => figure.name === name))) {
    console.error('bench/last-run.json has none of these figures; a run with --write puts them there');
    return 1;
  }
  const { text, worse } = compareFigures(figures, committed);
  console.log(`${text}\n`);
  for (const name of worse) console.error(`worse: ${name}`);
  return worse.length > 0 ? 1 : 0;
}

process.exitCode = await main();
