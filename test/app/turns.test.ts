/** Long work of a pass lets timers and sockets have their turn. */
import { expect, test } from 'vitest';
import { restoreSnapshot } from '../../src/app/prepare/restore.ts';
import { addInTurns, inTurns } from '../../src/app/turns.ts';
import type { PackedDriver } from '../../src/core/series/packing.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { openSqlite } from '../support/ledger-stores.ts';
import { driver } from '../support/packed.ts';

const { signal } = new AbortController();

/** Counts the turns that others had until it is stopped. */
function countTurns(): { readonly turns: () => number; readonly stop: () => void } {
  let turns = 0;
  let next = setImmediate(again);
  function again(): void {
    turns++;
    next = setImmediate(again);
  }
  return { turns: () => turns, stop: () => clearImmediate(next) };
}

function* steps(count: number): Generator<void, string> {
  for (let left = count; left > 0; left--) yield;
  return 'the end';
}

function drivers(count: number): readonly PackedDriver[] {
  return Array.from({ length: count }, (_, at) => driver(`d${at}`, { '2025-01': '1' }));
}

test('others have a turn while many drivers are compared, and none for a few', async () => {
  const others = countTurns();
  expect(await inTurns(steps(10))).toBe('the end');
  const before = others.turns();
  expect(await inTurns(steps(5000))).toBe('the end');
  others.stop();
  expect(before).toBe(0);
  expect(others.turns()).toBeGreaterThan(10);
});

test('drivers are written in their order, in pieces, with a turn of others between them', async () => {
  const others = countTurns();
  const pieces: string[][] = [];
  const turnsBefore: number[] = [];
  const writer = {
    addPacked: (piece: Iterable<PackedDriver>) => {
      turnsBefore.push(others.turns());
      pieces.push([...piece].map(({ id }) => id));
    },
  };
  const all = drivers(1000);
  await addInTurns(writer, all, signal);
  others.stop();
  expect(pieces.flat()).toEqual(all.map(({ id }) => id));
  expect(pieces.length).toBeGreaterThan(2);
  expect(new Set(turnsBefore).size).toBe(pieces.length);
});

test('a generator is run to its end, so that a fold begins anew behind it', async () => {
  for (const count of [0, 1, 250, 251, 500]) {
    let hasEnded = false;
    const run = function* (): Generator<PackedDriver> {
      yield* drivers(count);
      hasEnded = true;
    };
    await addInTurns({ addPacked: (piece) => void [...piece] }, run(), signal);
    expect(hasEnded).toBe(true);
  }
});

test('writing ends between two pieces where the pass is stopped', async () => {
  const stopped = new AbortController();
  let pieces = 0;
  const writer = {
    addPacked: (piece: Iterable<PackedDriver>) => {
      pieces += [...piece].length > 0 ? 1 : 0;
      stopped.abort(new Error('stopped'));
    },
  };
  await expect(addInTurns(writer, drivers(1000), stopped.signal)).rejects.toThrow('stopped');
  expect(pieces).toBe(1);
});

test('others have a turn while an agent goes back to a large snapshot: one that leads renews its term meanwhile', async () => {
  await using stores = openSqlite();
  const all = drivers(3000).map((one) => ({ ...one, source: 'sales' }));
  const origin = { id: 1, source: 'sales', name: 'sales.csv', revisedAtMs: 0, endsWithLineEnd: true };
  const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
  const ids = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { digest } = await stores.archive.write(ids, format, [origin]);
  const snapshot = (await stores.archive.open(digest))!;
  const buffer = openBuffer(':memory:', 'write');
  const others = countTurns();
  await restoreSnapshot({ buffer }, snapshot);
  others.stop();
  expect([...buffer.reads.drivers('sales', 'accepted')]).toHaveLength(3000);
  expect(others.turns()).toBeGreaterThan(20);
  buffer.close();
});
