/** What judging values adds to a pass: the guard alone, beside passes in which it judges. */
import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { agentArgs, benchFile, directory, wideFile, wideMapping, writeConfig } from './agent.ts';
import { type Figure, type Place, type Sizes, type Table, resultOf } from './measurement.ts';
import { compare } from './measure.ts';

const keys = ['type: csv', 'files: ["export.csv"]', 'settle: 0s'];

/** A pass takes a quarter of a minute, and differs from the next one by more than the guard takes: so that is timed by itself. */
export async function values(place: Place, { wideDrivers, months, runs }: Sizes): Promise<Table> {
  const wide = (size: { months: number; seed: number }): string => wideFile(place, { drivers: wideDrivers, ...size });
  const prepared = directory(place, 'values-prepared');
  const copy = path.join(place.workDir, 'values');
  const put = (dir: string, file: string): string => {
    cpSync(file, path.join(dir, 'export.csv'));
    // The values of the first file have nothing to do with those of the second, so nothing of them is held.
    return writeConfig(dir, place.url, { keys, mapping: wideMapping });
  };
  await compare([{ name: 'first read', args: agentArgs(place, 'sync', put(prepared, wide({ months, seed: 1 }))) }], 1);
  const args = agentArgs(place, 'sync', path.join(copy, 'driver-sync.yaml'));
  const sync = (name: string, file: string) => ({
    name,
    args,
    before: (): void => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(prepared, copy, { recursive: true });
      put(copy, file);
    },
  });
  const results = await compare(
    [sync('a new month', wide({ months: months + 1, seed: 1 })), sync('all values changed', wide({ months, seed: 2 }))],
    1,
  );
  rmSync(copy, { recursive: true, force: true });
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [benchFile('timed-values'), wideDrivers, months, runs].map(String),
  );
  const judging = JSON.parse(stdout) as Readonly<Record<'month' | 'all' | 'sums', number>>;
  const figure = (name: string, judged: number): Figure => {
    const { cpuSeconds } = resultOf(results, name);
    const figureName = `CPU of a pass that judges its values, ${name}`;
    return { name: figureName, value: cpuSeconds / (cpuSeconds - judged), unit: 'times', better: 'less', must: 1.03 };
  };
  return {
    title: `Judging the values of ${wideDrivers} drivers x ${months} months`,
    results,
    figures: [figure('a new month', judging.month), figure('all values changed', judging.all)],
    notes: [
      `Judging took ${judging.month.toFixed(2)} s of CPU time for a new month and ${judging.all.toFixed(2)} s for all values, and ${judging.sums.toFixed(2)} s where these are sums, the medians of ${runs}. Each pass ran once.`,
    ],
  };
}
