/**
 * `npm run soak -- --minutes 1440 --speed 10 --chart soak.svg`: a daemon at speed. Files change every second, one comes and goes, the
 * config is read again, commands wake it, the service fails now and then, its page is asked; ten times as often with a speed of 10, so
 * that what happens in a day takes two and a half hours. Memory, open files, threads and disk are measured; at the end they must be where
 * they were after the first quarter, and the service must hold what the files say. Ctrl-C ends it early.
 */
import { randomInt } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { csv, place } from './process.ts';
import { type Receiver, openReceiver, pointsOf } from './receiver.ts';
import { type Line, lineChart } from './line-chart.ts';

interface Sample {
  readonly seconds: number;
  readonly memoryMb: number;
  readonly files: number;
  readonly threads: number;
  /** Of the archive and the buffer, which are bounded. */
  readonly diskMb: number;
  /** Of the ledger, which remembers every push. */
  readonly ledgerKb: number;
  readonly pushes: number;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function sizeOf(folder: string, isWanted: (name: string) => boolean): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (isWanted(name)) bytes += statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function measure(pid: number, state: string, pushes: number, beganMs: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const numberOf = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    seconds: Math.round((performance.now() - beganMs) / 1000),
    memoryMb: numberOf('VmRSS') / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    threads: numberOf('Threads'),
    diskMb: sizeOf(state, (name) => !name.startsWith('ledger')) / 1e6,
    ledgerKb: sizeOf(state, (name) => name.startsWith('ledger')) / 1e3,
    pushes,
  };
}

function valueOf(version: number, driver: number): string {
  return `${version}.${driver % 100}`;
}

function rows(name: string, drivers: number, version: number): string {
  const lines = Array.from({ length: drivers }, (_, at) =>
    months.map((month) => `${name}${at},2026-${month},${valueOf(version, at)}`),
  );
  return ['id,time,value', ...lines.flat(), ''].join('\n');
}

function middle(samples: readonly Sample[], of: (sample: Sample) => number): number {
  return samples.map(of).toSorted((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
}

/** What grew between the second quarter and the last. */
function grown(samples: readonly Sample[]): string[] {
  const quarter = Math.max(1, samples.length >> 2);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)];
  const limits = [
    ['memory (MB)', (one: Sample) => one.memoryMb, 20],
    ['open files', (one: Sample) => one.files, 3],
    ['threads', (one: Sample) => one.threads, 2],
    ['archive and buffer (MB)', (one: Sample) => one.diskMb, 3],
  ] as const;
  return limits.flatMap(([name, of, allowed]) => {
    const [before, after] = [middle(early, of), middle(late, of)];
    say(`${name}: ${before.toFixed(1)}, then ${after.toFixed(1)}`);
    return after - before > allowed ? [name] : [];
  });
}

interface Soak {
  /** Of the day that is played. */
  readonly minutes: number;
  /** How many of its seconds pass in a second. */
  readonly speed: number;
  /** Where the chart is written to. */
  readonly chart: string | undefined;
}

const months = ['01', '02', '03'];
const smallDrivers = 20;
const largeDrivers = 3000;
const moreDrivers = 5;

async function soak({ minutes, speed, chart }: Soak): Promise<number> {
  // Bodies of a day are more than memory holds.
  await using service = await openReceiver({ bodiesMax: 8 });
  const port = 20_000 + randomInt(20_000);
  const passing = (ms: number): string => `${Math.ceil(ms / speed)}ms`;
  const configOf = (change: number): object => ({
    destination: { url: service.url, timeout: '5s' },
    status: `127.0.0.1:${port}`,
    pushOnChange: passing(200 + (change % 3) * 100),
    schedule: '0 * * * *',
    keepMax: '2MB',
    guard: { maxDeletes: '100%', values: 'off' },
    sources: {
      small: { ...csv('small*.csv'), poll: passing(1000) },
      large: { ...csv('large.csv'), poll: passing(2000) },
    },
  });
  const files = { 'small.csv': rows('small', smallDrivers, 0), 'large.csv': rows('large', largeDrivers, 0) };
  await using at = await place(configOf(0), files, {}, path.join(import.meta.dirname, '../../bin/driver-sync.js'));
  const daemon = await at.daemon();
  const beganMs = performance.now();
  const samples: Sample[] = [];
  const stopped = new AbortController();
  process.once('SIGINT', () => stopped.abort());
  let second = 0;
  const changed = { small: 0, large: 0, more: 0 };
  while (second < minutes * 60 && !stopped.signal.aborted) {
    second++;
    await at.write('small.csv', rows('small', smallDrivers, (changed.small = second)));
    if (second % 7 === 0) await at.write('large.csv', rows('large', largeDrivers, (changed.large = second)));
    if (second % 11 === 0) await at.write('small-more.csv', rows('more', moreDrivers, (changed.more = second)));
    // Whoever gets no answer waits for real time.
    if (second % (30 * speed) === 0) service.answer(503, 'drop', 'late');
    if (second % (30 * speed) === 15 * speed) service.land();
    if (second % 20 === 0) daemon.kill('SIGUSR2');
    if (second % 45 === 0) {
      await at.configure(configOf(second));
      daemon.kill('SIGHUP');
    }
    if (second % 10 === 0) {
      for (const page of ['/', '/api/status', '/metrics'])
        await (await fetch(`http://127.0.0.1:${port}${page}`)).text();
    }
    if (second % 30 === 0) samples.push(measure(daemon.pid, at.state, service.posts.length, beganMs));
    if (second % (60 * speed) === 0) say(JSON.stringify({ minute: second / 60, ...samples.at(-1) }));
    await sleep(Math.max(0, beganMs + (second * 1000) / speed - performance.now()));
  }
  service.calm();
  const arrived = await arrives(service, {
    ...pointsFor('small', smallDrivers, changed.small),
    ...pointsFor('large', largeDrivers, changed.large),
    ...pointsFor('more', moreDrivers, changed.more),
  });
  daemon.kill('SIGTERM');
  const { code } = await daemon.exit;
  const wrong = grown(samples);
  const last = samples.at(-1);
  if (!arrived) wrong.push('nothing, and the service does not hold what the files say');
  if ((last?.pushes ?? 0) < second / 60) wrong.push('nothing, and there were hardly any pushes');
  const took = Math.round((performance.now() - beganMs) / 60_000);
  say(
    `${second} seconds of changes and ${last?.pushes} pushes in ${took} minutes; the ledger has ${last?.ledgerKb.toFixed(0)} kB; exit ${code}`,
  );
  if (chart !== undefined)
    writeFileSync(chart, lineChart(linesOf(samples), `${second} seconds of changes in ${took} minutes`));
  if (wrong.length > 0) say(`this grew: ${wrong.join(', ')}`);
  return wrong.length > 0 || code !== 0 ? 1 : 0;
}

type Points = ReturnType<typeof pointsOf>;

function pointsFor(name: string, drivers: number, version: number): Points {
  if (version === 0 && name === 'more') return {};
  return Object.fromEntries(
    Array.from({ length: drivers }, (_, at) => [
      name + at,
      Object.fromEntries(months.map((month) => [`2026-${month}`, valueOf(version, at)])),
    ]),
  );
}

/** Whether the service comes to hold this within two minutes. */
async function arrives(service: Receiver, points: Points): Promise<boolean> {
  for (let waited = 0; waited < 120; waited++) {
    const held = service.holds();
    if (held !== undefined && isDeepStrictEqual(pointsOf(held), points)) return true;
    await sleep(1000);
  }
  return false;
}

function linesOf(samples: readonly Sample[]): Line[] {
  const line = (name: string, of: (sample: Sample) => number): Line => ({
    name,
    points: samples.map((sample) => [sample.seconds / 60, of(sample)] as const),
  });
  return [
    line('memory, MB', (one) => one.memoryMb),
    line('open files', (one) => one.files),
    line('archive and buffer, MB', (one) => one.diskMb),
    line('ledger, kB', (one) => one.ledgerKb),
    line('pushes', (one) => one.pushes),
  ];
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    speed: { type: 'string', default: '1' },
    chart: { type: 'string' },
  },
});
process.exitCode = await soak({ minutes: Number(values.minutes), speed: Number(values.speed), chart: values.chart });
