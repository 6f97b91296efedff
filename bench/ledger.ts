/** Ledgers of many millions of rows to an acknowledged snapshot, beside programs that read the same file to the same points. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { csvKeys, longFile, syncOnce } from './agent.ts';
import { type Place, type Sizes, type Table, faster, peak, resultOf, slower } from './measurement.ts';
import { type Program, type Result, comparePeers } from './measure.ts';
import { copyOf, duckdb, otherPeers } from './peers.ts';

/** In the order of days, as exports have it: beside every peer that the machine has. */
export async function ledger(place: Place, sizes: Sizes): Promise<Table> {
  const days = sizes.ledgerDays;
  const file = longFile(place, sizes, { days, order: 'daily' });
  const copy = path.join(place.workDir, 'copy.csv');
  const { programs, absent } = otherPeers(file);
  const syncs = [withWorkers(place, file), withWorkers(place, file, 1), withWorkers(place, file, 2)];
  const results = await comparePeers([duckdb(file), ...syncs, copyOf(file, copy), ...programs], sizes.runs);
  rmSync(copy, { force: true });
  const [one, two] = [resultOf(results, 'sync, workers: 1'), resultOf(results, 'sync, workers: 2')];
  const best = bestOf(results);
  return {
    title: `${sizes.drivers * days} rows in the order of days`,
    results,
    figures: [
      faster('ledger: DuckDB', best, resultOf(results, 'DuckDB, two threads'), { must: 1.5, aim: 3 }),
      slower('cp of the ledger', best, resultOf(results, 'cp'), { must: 4, aim: 1.6 }),
      faster('ledger: one worker instead of two', two, one, { must: 1.6, aim: 1.8 }),
      peak('ledger: peak with two workers', two, { must: 200, aim: 150 }),
    ],
    notes: absent,
  };
}

/** The same rows in an order in which neighbours have nothing in common. */
export async function scattered(place: Place, sizes: Sizes): Promise<Table> {
  const file = longFile(place, sizes, { days: sizes.ledgerDays, order: 'scattered' });
  const syncs = [withWorkers(place, file), withWorkers(place, file, 2)];
  const results = await comparePeers([duckdb(file), ...syncs], sizes.runs);
  const peer = resultOf(results, 'DuckDB, two threads');
  return {
    title: `${sizes.drivers * sizes.ledgerDays} rows, scattered`,
    results,
    figures: [faster('scattered ledger: DuckDB', bestOf(results), peer, { must: 1, aim: 1.7 })],
  };
}

function withWorkers(place: Place, file: string, count?: number): Program {
  const keys = csvKeys(file);
  if (count === undefined) return syncOnce(place, 'sync', { keys });
  return syncOnce(place, `sync, workers: ${count}`, { keys, agent: [`workers: ${count}`] });
}

/** The faster one of what a user has by default and with two workers. */
function bestOf(results: readonly Result[]): Result {
  const [plain, two] = [resultOf(results, 'sync'), resultOf(results, 'sync, workers: 2')];
  return plain.seconds < two.seconds ? plain : two;
}
