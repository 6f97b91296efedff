/**
 * Speed and memory of the agent beside its limits and its peers. Prints tables; judges nothing and never fails by time.
 *
 *   node bench/run.ts                  everything, a few minutes
 *   node bench/run.ts --quick          small sizes, to see that it runs
 *   node bench/run.ts ingest idle      only these; cases: ingest ledger snapshot unchanged idle
 *                                      postgres mariadb pushdownPostgres pushdownMariadb
 *   node bench/run.ts --runs 9 --dir DIR
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Place, type Sizes, type Table, idle, ingest, ledger, snapshot, unchanged } from './cases.ts';
import { mariadb, postgres, pushdownMariadb, pushdownPostgres } from './databases.ts';
import { startHelper } from './measure.ts';

const cases = { ingest, ledger, snapshot, unchanged, idle, postgres, mariadb, pushdownPostgres, pushdownMariadb };
type CaseName = keyof typeof cases;

const full: Sizes = {
  drivers: 10_000,
  days: 100,
  daysMore: 400,
  ledgerDays: 1095,
  wideDrivers: 100_000,
  months: 60,
  runs: 3,
  idleSeconds: 10,
};
const quick: Sizes = {
  drivers: 1000,
  days: 50,
  daysMore: 100,
  ledgerDays: 100,
  wideDrivers: 5000,
  months: 24,
  runs: 1,
  idleSeconds: 1,
};

function isCase(name: string): name is CaseName {
  return Object.hasOwn(cases, name);
}

function table({ title, results, notes }: Table): string {
  const [first] = results;
  const rows = results.map(({ name, seconds, cpuSeconds, peakMb }) =>
    [
      name,
      seconds.toFixed(2),
      cpuSeconds.toFixed(2),
      ratio(seconds, first?.seconds),
      ratio(cpuSeconds, first?.cpuSeconds),
      peakMb.toFixed(0),
    ].join(' | '),
  );
  const head = `| ${title} | s | CPU s | ratio | CPU ratio | peak MB |\n| --- | ---: | ---: | ---: | ---: | ---: |\n`;
  return `${head}${rows.map((row) => `| ${row} |\n`).join('')}\n${notes.join('\n')}\n`;
}

function ratio(value: number, first: number | undefined): string {
  const times = value / (first ?? 0);
  return Number.isFinite(times) ? times.toFixed(2) : '';
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      runs: { type: 'string' },
      dir: { type: 'string', default: path.join(tmpdir(), 'driver-sync-bench') },
    },
  });
  const unknown = positionals.find((name) => !isCase(name));
  if (unknown !== undefined) {
    console.error(`there is no case "${unknown}"; there are ${Object.keys(cases).join(', ')}`);
    process.exit(64);
  }
  const base = values.quick ? quick : full;
  const sizes = values.runs === undefined ? base : { ...base, runs: Number(values.runs) };
  mkdirSync(values.dir, { recursive: true });
  const workDir = mkdtempSync(path.join(values.dir, 'work-'));
  try {
    await using receiver = startHelper([fileURLToPath(new URL('receiver.ts', import.meta.url))]);
    const place: Place = { dataDir: values.dir, workDir, receiver, url: await receiver.line() };
    console.log(
      `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model}; medians of ${sizes.runs} runs\n`,
    );
    for (const name of positionals.length > 0 ? positionals.filter(isCase) : (Object.keys(cases) as CaseName[])) {
      for (const measured of [await cases[name](place, sizes)].flat()) console.log(table(measured));
    }
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
}

await main();
