/** A ledger that grows by a thousand rows: how long it takes from the end of their write until they are in the buffer. */
import { execFile } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { agentInProcess, csvKeys, directory, longFile, writeConfig } from './agent.ts';
import { type Place, type Sizes, type Table, resultOf } from './measurement.ts';
import { type Result, median } from './measure.ts';

interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** What `timed-appends.ts` prints: the read of the whole file, and each of the appends. */
interface Timed {
  readonly whole: Taken;
  readonly committed: readonly Taken[];
  readonly judged: readonly Taken[];
}

export async function appends(place: Place, sizes: Sizes): Promise<Table> {
  const dir = directory(place, 'appends');
  const file = path.join(dir, 'ledger.csv');
  copyFileSync(longFile(place, sizes, { days: sizes.ledgerDays, order: 'daily' }), file);
  const config = writeConfig(dir, place.url, { keys: csvKeys(file) });
  const { stdout } = await promisify(execFile)(process.execPath, [...agentInProcess('timed-appends', config), file]);
  rmSync(file);
  const { whole, committed, judged } = JSON.parse(stdout) as Timed;
  const results = [
    resultFrom('the whole file, committed', [whole]),
    resultFrom('the rows appended, committed', committed),
    resultFrom('the same, and judged', judged),
  ];
  const value = 1000 * resultOf(results, 'the rows appended, committed').seconds;
  return {
    title: `A file of ${sizes.drivers * sizes.ledgerDays} rows that grows by 1000`,
    results,
    figures: [{ name: '1000 rows appended, committed', value, unit: 'ms', better: 'less', must: 20, aim: 5 }],
    notes: [
      'Medians of appends in one process, as a daemon meets them, from the end of the write. The proof is for idle time.',
    ],
  };
}

function resultFrom(name: string, all: readonly Taken[]): Result {
  return {
    name,
    seconds: median(all.map(({ seconds }) => seconds)),
    cpuSeconds: median(all.map(({ cpuSeconds }) => cpuSeconds)),
    peakMb: NaN,
  };
}
