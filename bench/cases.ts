/** What is measured: each case gives the rows of one table. */
import {
  closeSync,
  cpSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type LongFile, writeLong, writeWide } from './generate.ts';
import { type Helper, type Result, compare, startHelper } from './measure.ts';

export interface Sizes {
  readonly drivers: number;
  /** Of the file that is timed, and of a larger one that must not need more memory. */
  readonly days: number;
  readonly daysMore: number;
  /** Of the ledger. */
  readonly ledgerDays: number;
  readonly wideDrivers: number;
  readonly months: number;
  readonly runs: number;
  readonly idleSeconds: number;
}

export interface Place {
  /** Generated files, kept for the next time. */
  readonly dataDir: string;
  /** Configs and states, made anew. */
  readonly workDir: string;
  readonly receiver: Helper;
  readonly url: string;
}

export interface Table {
  readonly title: string;
  /** The first of them is what the others are compared with. */
  readonly results: readonly Result[];
  readonly notes: readonly string[];
}

const seed = 1;
const root = fileURLToPath(new URL('../', import.meta.url));
const agent = path.join(root, 'bin', 'driver-sync.js');
const peer = (name: string): string => path.join(root, 'bench', `peer-${name}.ts`);

/** A long file to an acknowledged snapshot, against csv-parse alone reading it. */
export async function ingest(place: Place, sizes: Sizes): Promise<Table> {
  const few: LongFile = { drivers: sizes.drivers, days: sizes.days, order: 'daily', seed };
  const many: LongFile = { ...few, days: sizes.daysMore };
  const scattered: LongFile = { ...few, order: 'scattered' };
  const [file, larger, mixed] = [longFile(place, few), longFile(place, many), longFile(place, scattered)];
  const timed = await compare(
    [
      { name: `csv-parse alone, ${few.drivers * few.days} rows`, args: [peer('csv-parse'), file] },
      { name: 'sync of them', ...syncOnce(place, file) },
      { name: 'sync of them, in scattered order', ...syncOnce(place, mixed) },
    ],
    sizes.runs,
  );
  const once = await compare(
    [{ name: `sync of ${many.drivers * many.days} rows, once`, ...syncOnce(place, larger) }],
    1,
  );
  const notes = ['Goals: a sync at most 1.6 times csv-parse; its peak below 200 MB, whatever the rows.'];
  return { title: 'CSV to an acknowledged snapshot', results: [...timed, ...once], notes };
}

/** A ledger of many millions of rows, in the order of its days and in none, against copying it and against DuckDB. */
export async function ledger(place: Place, sizes: Sizes): Promise<readonly Table[]> {
  const daily: LongFile = { drivers: sizes.drivers, days: sizes.ledgerDays, order: 'daily', seed };
  const rows = daily.drivers * daily.days;
  const tables: Table[] = [];
  for (const order of ['daily', 'scattered'] as const) {
    const file = longFile(place, { ...daily, order });
    const copy = path.join(place.workDir, 'copy.csv');
    const results = await compare(
      [
        { name: 'DuckDB, two threads', args: [peer('duckdb'), file] },
        { name: 'cp', args: [peer('copy'), file, copy], before: () => rmSync(copy, { force: true }) },
        { name: 'sync', ...syncOnce(place, file) },
        { name: 'sync with two workers', ...syncOnce(place, file, 'workers: 2') },
      ],
      sizes.runs,
    );
    rmSync(copy, { force: true });
    const notes = ['Goals: a third of DuckDB in the order of days and 0.6 of it in none, below 200 MB.'];
    tables.push({ title: `${rows} rows, ${order}`, results, notes });
  }
  return tables;
}

/** A snapshot of many drivers, from a buffer that has them all: built, kept, pushed and recorded. */
export async function snapshot(place: Place, sizes: Sizes): Promise<Table> {
  const { wideDrivers, months, runs } = sizes;
  const file = path.join(place.dataDir, `wide-${wideDrivers}x${months}-${seed}.csv`);
  writeWide(file, { drivers: wideDrivers, months, seed });
  const prepared = directory(place, 'wide-prepared');
  const mapping = `unpivot: { columns: "^\\\\d{4}-\\\\d{2}$", name: month, value: amount }
    drivers:
      - { id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{month}", value: "{amount}" }`;
  const write = (dir: string, url: string, stamp: string): string =>
    writeConfig(dir, `destination: { url: "${url}", stamp: ${stamp} }`, { file, mapping });
  place.receiver.skip();
  const [prepare] = await compare(
    [{ name: 'sync of the wide file, once', args: sync(write(prepared, place.url, 'middle')) }],
    1,
  );
  const { bytes } = JSON.parse(await place.receiver.line()) as { bytes: number };

  // Another stamp makes another snapshot of what was accepted; another address was never pushed to.
  const copy = path.join(place.workDir, 'wide');
  const from = (url: string, stamp: string) => (): void => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(prepared, copy, { recursive: true });
    write(copy, url, stamp);
    // Or the run would pay for writing the copy too, with its own first fsync.
    syncFiles(copy);
  };
  const args = sync(path.join(copy, 'driver-sync.yaml'));
  const results = await compare(
    [
      { name: `posting ${Math.round(bytes / 1e6)} MB that are ready`, args: [peer('post'), String(bytes), place.url] },
      {
        name: 'JSON.stringify and one POST',
        args: [peer('stringify'), String(wideDrivers), String(months), place.url],
      },
      { name: 'sync: first push to an address', args, before: from(`${place.url}/other`, 'end') },
      { name: 'sync: next push, all points equal', args, before: from(place.url, 'end') },
    ],
    runs,
  );
  rmSync(copy, { recursive: true, force: true });
  return {
    title: `Snapshot of ${wideDrivers} drivers x ${months} months`,
    results: [...results, ...(prepare === undefined ? [] : [prepare])],
    notes: [
      'Goals: a push of 100 000 x 60 at most 3 s and 200 MB.',
      'JSON.stringify is timed from the objects on; its peak and CPU include making them.',
    ],
  };
}

/** A sync where nothing changed, against Node doing nothing. */
export async function unchanged(place: Place, sizes: Sizes): Promise<Table> {
  const sample = sampleConfig(place);
  const long = longFile(place, { drivers: sizes.drivers, days: sizes.days, order: 'daily', seed });
  const large = path.join(directory(place, 'unchanged'), 'driver-sync.yaml');
  writeLongConfig(path.dirname(large), place.url, { file: long });
  await compare(
    [sample, large].map((config) => ({ name: config, args: sync(config) })),
    1,
  );
  const results = await compare(
    [
      { name: 'node -e 0', args: ['-e', '0'] },
      { name: 'sync of the sample, nothing changed', args: sync(sample) },
      { name: `sync of ${sizes.drivers * sizes.days} rows, nothing changed`, args: sync(large) },
    ],
    sizes.runs * 2,
  );
  return { title: 'Nothing changed', results, notes: ['Goal: 0.5 s.'] };
}

/** The daemon on the sample, once its first push was taken. Linux only: it looks into /proc. */
export async function idle(place: Place, sizes: Sizes): Promise<Table> {
  // A start without Node's compile cache keeps the type stripper in memory; it is there from the second one on.
  await compare([{ name: 'warm up', args: sync(sampleConfig(place)) }], 1);
  const config = sampleConfig(place);
  place.receiver.skip();
  await using daemon = startHelper([agent, 'run', '--config', config, '--log-level', 'error']);
  await place.receiver.line();
  await wait(2000);
  const before = readProcess(daemon.process.pid);
  await wait(sizes.idleSeconds * 1000);
  const after = readProcess(daemon.process.pid);
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  const name = `idle for ${sizes.idleSeconds} s after its first pass, resident at the end`;
  return {
    title: 'Daemon on the sample',
    results: [{ name, seconds: sizes.idleSeconds, cpuSeconds, peakMb: after.mb }],
    notes: ['Goal: below 90 MB.', `Its peak so far: ${after.peakMb.toFixed(0)} MB.`],
  };
}

function readProcess(pid: number | undefined): { cpuSeconds: number; mb: number; peakMb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  // After the name in brackets: user and system time are the 12th and 13th fields, in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const megabytes = (key: string): number => Number(new RegExp(`${key}:\\s*(\\d+)`).exec(status)?.[1]) / 1024;
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return { cpuSeconds, mb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

function longFile(place: Place, size: LongFile): string {
  const file = path.join(place.dataDir, `long-${size.order}-${size.drivers}x${size.days}-${size.seed}.csv`);
  writeLong(file, size);
  return file;
}

/** A sync that starts without any state. */
function syncOnce(place: Place, file: string, more = ''): { args: readonly string[]; before: () => void } {
  const dir = path.join(place.workDir, `${path.basename(file, '.csv')}${more === '' ? '' : '-other'}`);
  return {
    args: sync(path.join(dir, 'driver-sync.yaml')),
    before: () => {
      rmSync(dir, { recursive: true, force: true });
      writeLongConfig(dir, place.url, { file, more });
    },
  };
}

function sync(config: string): readonly string[] {
  return [agent, 'sync', '--config', config, '--json'];
}

function writeLongConfig(
  dir: string,
  url: string,
  { file, more = '' }: { readonly file: string; readonly more?: string },
): void {
  const mapping = `drivers:
      - { id: "revenue/{product}", path: [Revenue, "{region}", "{product}"], time: "{date}", value: "{amount}" }`;
  writeConfig(dir, `destination: { url: "${url}" }\n${more}`, { file, mapping });
}

function writeConfig(dir: string, destination: string, { file, mapping }: { file: string; mapping: string }): string {
  mkdirSync(dir, { recursive: true });
  const config = path.join(dir, 'driver-sync.yaml');
  const source = `sources:\n  bench:\n    type: csv\n    files: ["${file}"]\n    settle: 0s\n    ${mapping}\n`;
  writeFileSync(config, `${destination}\n${source}`);
  return config;
}

function syncFiles(dir: string): void {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const fd = openSync(path.join(entry.parentPath, entry.name), 'r+');
    fsyncSync(fd);
    closeSync(fd);
  }
}

/** The sample of the checkout, with the receiver instead of the embedded emulator. */
function sampleConfig(place: Place): string {
  const dir = directory(place, 'sample');
  cpSync(path.join(root, 'config', 'sample'), path.join(dir, 'sample'), { recursive: true });
  const sample = readFileSync(path.join(root, 'config', 'driver-sync.yaml'), 'utf8');
  const config = path.join(dir, 'driver-sync.yaml');
  writeFileSync(config, sample.replace(/^destination: emulator.*$/m, `destination: { url: "${place.url}" }`));
  return config;
}

function directory({ workDir }: Place, name: string): string {
  const dir = path.join(workDir, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}
