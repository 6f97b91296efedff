/** Which drivers of a candidate are looked for among those that the service had. */
import { expect, test } from 'vitest';
import type { Dependencies } from '../../src/app/dependencies.ts';
import { departedOf } from '../../src/app/review/departed.ts';
import { compareRuns } from '../../src/core/series/compare.ts';
import { noChanges } from '../../src/core/series/diff.ts';
import { type KeptReads, keptReads } from '../support/kept-reads.ts';
import { openSqlite } from '../support/ledger-stores.ts';
import { driver } from '../support/packed.ts';

const nowMs = Date.parse('2026-03-15T12:00:00Z');
const address = 'https://service';

/** Reads of one part: ids by `source kind`. */
type Ids = Readonly<Record<string, readonly string[]>>;

/** @param pushes ids of each snapshot that the service had, oldest first */
async function departed(reads: Ids, pushes: readonly (readonly string[])[], isLookedFor = true): Promise<string[]> {
  await using stores = openSqlite();
  const { ledger, archive } = stores;
  for (const [at, ids] of pushes.entries()) {
    const drivers = ids.map((id) => ({ ...driver(id, { '2026-01': `${at + 1}` }), source: 'a' }));
    const { digest } = await archive.write(drivers, { shouldDeleteMissing: true, stamp: 'middle' }, []);
    const [counts, atMs] = [{ drivers: ids.length, points: ids.length, bytes: 1 }, nowMs - (9 - at) * 3_600_000];
    const push = { atMs, address, digest, ...counts, changes: noChanges, shouldDeleteMissing: true };
    const id = await ledger.pushes.begin(push);
    const result = { outcome: 'acknowledged', maybeTaken: false, detail: '' } as const;
    await ledger.pushes.acknowledge(id, result, { atMs, carried: [], state: {} });
  }
  const pointsOf = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, { '2026-01': '7' }]));
  const kept = Object.entries(reads).map(([read, ids]) => [read, { 'a.csv': { points: pointsOf(ids) } }]);
  const buffer = keptReads(Object.fromEntries(kept) as KeptReads);
  const clock = { now: () => new Date(nowMs) };
  const deps = { buffer, clock, address, ...(isLookedFor && { ledger, archive }) } as unknown as Dependencies;
  const comparison = compareRuns(buffer.reads.drivers('a', 'accepted'), buffer.reads.drivers('a', 'candidate'));
  const found = await departedOf(deps, { source: 'a', comparison });
  buffer.close();
  return found.map(({ id, points }) => `${id}=${Buffer.from(points).toString().slice(-1)}`);
}

test('those that nobody has accepted, and no others, in the order of ids, each as it was last', async () => {
  const reads = { 'a accepted': ['A'], 'a candidate': ['A', 'C', 'D', 'E', 'new'], 'b accepted': ['B', 'C'] };
  const pushes = [
    ['A', 'B', 'C', 'D', 'E', 'F'],
    ['A', 'B', 'C', 'E', 'F'],
    ['A', 'B', 'C', 'F'],
  ];
  expect(await departed(reads, pushes)).toEqual(['D=1', 'E=2']);
});

test('not one that its source has still, though another one has it by now as well', async () => {
  const reads = { 'a accepted': ['A'], 'a candidate': ['A', 'new'], 'b accepted': ['B'], 'b candidate': ['A'] };
  expect(await departed(reads, [['A', 'B']])).toEqual([]);
});

test('of a first read, too', async () => {
  expect(await departed({ 'a candidate': ['A', 'B'], 'b accepted': ['B'] }, [['A', 'B'], ['B']])).toEqual(['A=1']);
});

test('none where the service never had any', async () => {
  expect(await departed({ 'a candidate': ['A', 'B'] }, [])).toEqual([]);
});

test('nobody looks where a candidate has no new drivers', async () => {
  const never = false;
  expect(await departed({ 'a accepted': ['A', 'B'], 'a candidate': ['A'] }, [['A', 'B', 'C']], never)).toEqual([]);
});
