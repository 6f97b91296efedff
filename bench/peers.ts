/** Programs that read a ledger to the latest value of each driver and month, as a sync of it does. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { benchFile } from './agent.ts';
import type { Program } from './measure.ts';

export function duckdb(file: string): Program {
  const version = packageVersion('@duckdb/node-api');
  return { name: 'DuckDB, two threads', version, args: [benchFile('peer-duckdb'), file] };
}

/** What no reader of a file can be faster than by much. */
export function copyOf(file: string, copy: string): Program {
  return {
    name: 'cp',
    version: commandVersion('cp', '--version') ?? '',
    command: 'cp',
    args: ['--reflink=never', file, copy],
    before: () => rmSync(copy, { force: true }),
  };
}

/** Peers that this machine has, and a word on each that it lacks. */
export function otherPeers(file: string): {
  readonly programs: readonly Program[];
  readonly absent: readonly string[];
} {
  const programs: Program[] = ['udsv', 'papaparse', 'csv-parse'].map((name) => ({
    name: `${name} and a Map`,
    version: packageVersion(name),
    args: [benchFile('peer-javascript'), name, file],
  }));
  const absent: string[] = [];
  if (hasPolars()) programs.unshift(polars(file));
  else absent.push('polars is not measured: `npm ci` brings its binary only where npm runs on Node 22 or newer.');
  const [mawk, sqlite3] = [commandVersion('mawk', '-W', 'version'), commandVersion('sqlite3', '--version')];
  if (mawk === undefined) absent.push('mawk is not measured: this machine has none.');
  else programs.push({ name: 'mawk', version: mawk, command: 'mawk', args: [mawkProgram, file] });
  if (sqlite3 === undefined) absent.push('sqlite3 is not measured: this machine has none.');
  else
    programs.push({
      name: 'sqlite3',
      version: sqlite3,
      command: 'sqlite3',
      args: [':memory:', ...sqliteProgram(file)],
    });
  return { programs, absent };
}

function hasPolars(): boolean {
  return readdirSync(new URL('../node_modules/', import.meta.url)).some((name) => name.startsWith('nodejs-polars-'));
}

function polars(file: string): Program {
  return {
    name: 'polars, two threads',
    version: packageVersion('nodejs-polars'),
    args: [benchFile('peer-polars'), file],
    env: { POLARS_MAX_THREADS: '2' },
  };
}

/** Knows that only the product has quotes, and none inside: mawk takes no quotes apart by itself. */
const mawkProgram = String.raw`
  NR > 1 {
    if (index($0, "\"")) {
      split($0, quoted, "\"")
      split(quoted[1] quoted[3], cell, ",")
      cell[3] = quoted[2]
    } else split($0, cell, ",")
    key = cell[2] "\t" cell[3] "\t" substr(cell[1], 1, 7)
    if (!(key in date) || date[key] <= cell[1]) { date[key] = cell[1]; amount[key] = cell[5] }
  }
  END { for (key in amount) points++; printf "{\"points\":%d}\n", points }`;

const sqliteProgram = (file: string): readonly string[] => [
  `.import --csv "${file}" ledger`,
  `CREATE TEMP TABLE latest AS SELECT region, product, substr(date, 1, 7) AS month, max(date), amount FROM ledger GROUP BY 1, 2, 3;`,
  `SELECT '{"points":' || count(*) || '}' FROM latest;`,
];

function packageVersion(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** The version that a command prints; `undefined` where the machine has no such command. */
function commandVersion(command: string, ...args: readonly string[]): string | undefined {
  try {
    const printed = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return /\d+(?:\.\d+)+/.exec(printed)?.[0];
  } catch {
    return undefined;
  }
}
