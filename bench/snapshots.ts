/** The emulator's snapshots, going back, forks, reset and page of drivers, over 6 M points, beside a copy of the file that holds them. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmulator } from '../src/emulator/index.ts';
import type { Emulator } from '../src/emulator/index.ts';
import type { Place, Sizes, Table } from './measurement.ts';
import { median } from './measure.ts';

/** Drivers pushed at once. */
const batch = 5_000;

const monthSeconds = 2_629_746;

export async function snapshots(place: Place, { wideDrivers, months, runs }: Sizes): Promise<Table> {
  const state = join(place.workDir, 'emulator');
  await using emulator = await startEmulator({ state });
  await pushAll(emulator, { drivers: wideDrivers, months, cents: '50' });
  const taken: Record<string, number[]> = {};
  const time = async (name: string, act: () => unknown): Promise<void> => {
    const startedMs = performance.now();
    await act();
    (taken[name] ??= []).push(performance.now() - startedMs);
  };
  for (let run = 0; run < runs; run += 1) {
    await time('copy', () => copyFileSync(join(state, 'emulator.sqlite'), join(place.workDir, 'copy.sqlite')));
    await time('snapshot', () => emulator.snapshot('all'));
    // A tenth of the drivers is other than in the snapshot.
    await pushAll(emulator, { drivers: wideDrivers / 10, months, cents: String(51 + run) });
    await time('page', async () => (await emulator.fetch('/console/drivers')).text());
    await time('restore', () => emulator.restore('all'));
    const forks: Emulator[] = [];
    await time('fork', async () => forks.push(await emulator.fork()));
    for (const fork of forks) await fork.close();
    await time('reset', () => emulator.reset());
    emulator.restore('all');
  }
  const msOf = (name: string): number => median(taken[name] ?? []);
  const row = (name: string, of: string) => ({
    name,
    seconds: msOf(of) / 1_000,
    cpuSeconds: Number.NaN,
    peakMb: Number.NaN,
  });
  const figure = (name: string, of: string, must = 100) =>
    ({ name: `emulator: ${name}`, value: msOf(of), unit: 'ms', better: 'less', must }) as const;
  return {
    title: `${wideDrivers * months} points of ${wideDrivers} drivers in the emulator`,
    results: [
      row('a copy of its file', 'copy'),
      row('a snapshot', 'snapshot'),
      row('going back to it, a tenth changed', 'restore'),
      row('a fork, until it listens', 'fork'),
      row('a reset', 'reset'),
      row('the page of drivers, after a push', 'page'),
    ],
    figures: [
      figure('a snapshot', 'snapshot'),
      figure('going back', 'restore'),
      figure('a fork', 'fork'),
      figure('a reset', 'reset'),
      figure('the page of drivers', 'page', 200),
    ],
  };
}

interface Content {
  readonly drivers: number;
  readonly months: number;
  /** Behind the point of every value. */
  readonly cents: string;
}

async function pushAll(emulator: Emulator, { drivers, months, cents }: Content): Promise<void> {
  const timeSeries = Array.from({ length: months }, (_, month) => ({
    time: String(1_577_836_800 + month * monthSeconds),
    value: `${10_000 + month * 37}.${cents}`,
  }));
  for (let first = 0; first < drivers; first += batch) {
    const extDrivers = Array.from({ length: Math.min(batch, drivers - first) }, (_, at) => ({
      id: `driver-${first + at}`,
      path: ['Sales', `Region ${at % 40}`, `Product ${first + at}`],
      timeSeries,
    }));
    const body = JSON.stringify({ extDrivers });
    const { status } = await emulator.fetch('/api/extDrivers/update', { method: 'POST', body });
    if (status !== 200) throw new Error(`the emulator answered ${status}`);
  }
}
