/** The agent as a program of a comparison: its configs, its states, and the files that it reads. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LongFile, type WideFile, writeLong, writeWide } from './generate.ts';
import type { Place, Sizes } from './measurement.ts';
import type { Program } from './measure.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Builds the agent as its package has it, and gives the file that starts it: what people run is measured, and not the checkout. */
export function buildAgent(workDir: string): string {
  const home = path.join(workDir, 'package');
  for (const part of ['bin', 'package.json']) cpSync(path.join(root, part), path.join(home, part), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(home, 'node_modules'));
  const rolldown = path.join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  execFileSync(process.execPath, [rolldown, '-c', '-d', path.join(home, 'dist')], { cwd: root });
  return path.join(home, 'bin', 'driver-sync.js');
}

/** Arguments of node. */
export const agentArgs = (place: Place, command: 'sync' | 'run', config: string): readonly string[] => [
  place.agent,
  command,
  '--config',
  config,
  ...(command === 'sync' ? ['--json'] : ['--log-level', 'error']),
];

export const benchFile = (name: string): string => path.join(root, 'bench', `${name}.ts`);

/** Arguments of node for a program of `bench/` that has an agent in its own process: its young generation is that of the executable. */
export const agentInProcess = (name: string, config: string): readonly string[] => [
  '--max-semi-space-size=2',
  benchFile(name),
  config,
];

/** The file of `days`, generated where it is not there. */
export function longFile(place: Place, { drivers }: Sizes, size: Pick<LongFile, 'days' | 'order'>): string {
  const whole: LongFile = { ...size, drivers, seed: 1 };
  const file = path.join(place.dataDir, `long-${size.order}-${drivers}x${size.days}-${whole.seed}.csv`);
  writeLong(file, whole);
  return file;
}

/** The file of a row for each driver, generated where it is not there. */
export function wideFile({ dataDir }: Place, size: WideFile): string {
  const file = path.join(dataDir, `wide-${size.drivers}x${size.months}-${size.seed}.csv`);
  writeWide(file, size);
  return file;
}

/** The columns of `wideFile`. */
export const wideMapping = [
  String.raw`unpivot: { columns: "^\\d{4}-\\d{2}$", name: month, value: amount }`,
  'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{month}", value: "{amount}" }]',
];

export interface SourceText {
  /** Keys of the source that say its type and where it is, one a line. */
  readonly keys: readonly string[];
  /** The mapping, one key a line. Default: the columns of `longFile`. */
  readonly mapping?: readonly string[];
  /** Keys of the agent beside `destination` and `sources`. */
  readonly agent?: readonly string[];
}

const longMapping = [
  'drivers: [{ id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{date}", value: "{amount}" }]',
];

/** A config with one source, in a directory of its own that keeps its state too. `stamp` and the like are `more` of the destination. */
export function writeConfig(dir: string, url: string, source: SourceText, more = ''): string {
  const { keys, mapping = longMapping, agent = [] } = source;
  mkdirSync(dir, { recursive: true });
  const config = path.join(dir, 'driver-sync.yaml');
  const lines = [
    `destination: { url: "${url}"${more} }`,
    ...agent,
    'sources:',
    '  bench:',
    ...[...keys, ...mapping].map((line) => `    ${line}`),
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  return config;
}

/** Keys of a source that is one delimited file. */
export const csvKeys = (file: string): readonly string[] => ['type: csv', `files: ["${file}"]`, 'settle: 0s'];

/** A sync that starts without any state. */
export function syncOnce(place: Place, name: string, source: SourceText): Program {
  const dir = path.join(place.workDir, name.replaceAll(/\W+/g, '-'));
  return {
    name,
    args: agentArgs(place, 'sync', path.join(dir, 'driver-sync.yaml')),
    before: () => {
      rmSync(dir, { recursive: true, force: true });
      writeConfig(dir, place.url, source);
    },
  };
}

/** The sample of the checkout, with the receiver instead of the embedded emulator. */
export function sampleConfig(place: Place): string {
  const dir = directory(place, 'sample');
  cpSync(path.join(root, 'config', 'sample'), path.join(dir, 'sample'), { recursive: true });
  const sample = readFileSync(path.join(root, 'config', 'driver-sync.yaml'), 'utf8');
  const config = path.join(dir, 'driver-sync.yaml');
  writeFileSync(config, sample.replace(/^destination: emulator.*$/m, `destination: { url: "${place.url}" }`));
  return config;
}

/** An empty directory. */
export function directory({ workDir }: Place, name: string): string {
  const dir = path.join(workDir, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}
