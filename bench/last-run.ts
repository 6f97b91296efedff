/** The run that is committed: what `--check` compares with, and what docs/ shows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { chart } from './chart.ts';
import type { Table } from './measurement.ts';
import { registry } from './registry.ts';
import { showFigures, showTable } from './report.ts';

/** By the name of the measurement, since each may be measured again alone. */
export type Run = Readonly<Record<string, Measured>>;

interface Measured {
  readonly at: string;
  readonly machine: string;
  /** How busy the machine was when it began: the load of the minute before. */
  readonly load: string;
  readonly runs: number;
  readonly tables: readonly Table[];
}

const files = {
  run: new URL('last-run.json', import.meta.url),
  page: new URL('../docs/PERFORMANCE.md', import.meta.url),
  chart: new URL('../docs/performance.svg', import.meta.url),
};
const [begin, end] = ['<!-- written by npm run bench -- --write -->', '<!-- end of what is written -->'];

export function readRun(): Run {
  return JSON.parse(readFileSync(files.run, 'utf8')) as Run;
}

/** What was not measured now stays as it was. */
export function writeRun(now: Run): void {
  const measured = Object.entries(now).filter(([, { tables }]) => tables.length > 0);
  const whole: Run = { ...readRun(), ...Object.fromEntries(measured) };
  const run = Object.fromEntries(
    Object.keys(registry).flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name]]])),
  );
  writeFileSync(files.run, `${JSON.stringify(run, rounded, 2)}\n`);
  const [bars] = run['ledger']?.tables ?? [];
  if (bars !== undefined) writeFileSync(files.chart, chart(bars));
  const page = readFileSync(files.page, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/PERFORMANCE.md has no place for the run: "${begin}" and "${end}"`);
  writeFileSync(files.page, `${page.slice(0, from + begin.length)}\n\n${showRun(run)}\n\n${page.slice(to)}`);
}

/** Four digits say all that a measurement knows. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

function showRun(run: Run): string {
  const all = Object.values(run);
  const figures = all.flatMap(({ tables }) => tables.flatMap((table) => table.figures ?? []));
  const tables = all.flatMap(({ at, machine, load, runs, tables: own }) =>
    own.map((table) => `${showTable(table)}\n\n${at}, ${machine}, load ${load}; medians of ${runs}.`),
  );
  const [ledger] = run['ledger']?.tables ?? [];
  const image = ledger === undefined ? [] : [`![${ledger.title}, as bars](performance.svg)`];
  return [showFigures(figures), ...image, ...tables].join('\n\n');
}
