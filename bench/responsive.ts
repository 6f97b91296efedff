/** Whether the main thread stays awake: how late a timer of 10 ms is while threads read a ledger. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { agentInProcess, csvKeys, directory, longFile, writeConfig } from './agent.ts';
import type { Figure, Place, Sizes, Table } from './measurement.ts';
import { median } from './measure.ts';

interface Lateness {
  readonly seconds: number;
  readonly whileReadingMs: number;
  readonly wholePassMs: number;
}

export async function responsive(place: Place, sizes: Sizes): Promise<Table> {
  const file = longFile(place, sizes, { days: sizes.ledgerDays, order: 'daily' });
  const runs: Lateness[] = [];
  for (let round = 0; round < sizes.runs; round++) {
    const config = writeConfig(directory(place, 'responsive'), place.url, {
      keys: csvKeys(file),
      agent: ['workers: 2'],
    });
    const { stdout } = await promisify(execFile)(process.execPath, agentInProcess('timed-pass', config));
    runs.push(JSON.parse(stdout) as Lateness);
  }
  const figure = (name: string, latest: readonly number[], goal: Pick<Figure, 'must'>): Figure => ({
    name,
    value: Math.max(...latest),
    unit: 'ms',
    better: 'less',
    ...goal,
  });
  return {
    title: `A pass over ${sizes.drivers * sizes.ledgerDays} rows with two workers, beside a timer of 10 ms`,
    results: [{ name: 'a pass', seconds: median(runs.map(({ seconds }) => seconds)), cpuSeconds: NaN, peakMb: NaN }],
    figures: [
      figure(
        'latest timer while rows are read',
        runs.map(({ whileReadingMs }) => whileReadingMs),
        { must: 50 },
      ),
      figure(
        'latest timer of a whole pass',
        runs.map(({ wholePassMs }) => wholePassMs),
        {},
      ),
    ],
    notes: ['Each is the highest of the runs. A machine that is busy with something else makes a timer late too.'],
  };
}
