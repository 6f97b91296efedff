/** Runs of drivers on their way out: whatever their number, no more than one at a time is in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SnapshotDriver } from '../../src/core/ledger.ts';
import { pointCount } from '../../src/core/series/packing.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { driver } from '../support/packed.ts';

const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;
const digits = '7'.repeat(50_000);
/** 50 MB of points. */
const count = 1000;

function folder(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'passing-drivers-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function* manyDrivers(): Generator<SnapshotDriver> {
  const one = driver('', { '2026-01': digits });
  for (let index = 0; index < count; index++) {
    const id = `driver ${String(index).padStart(4, '0')}`;
    yield { ...one, id, path: JSON.stringify([id]), source: 'books' };
  }
}

/** The most memory of buffers that was in use while drivers came by, beyond what was before; without any collection. */
function mostBytes<T>(drivers: Iterable<T>, use: (one: T) => void): number {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (const one of drivers) {
    use(one);
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  return most;
}

test('the bytes of a driver of a read go when the next one is asked for', () => {
  const buffer = openBuffer(path.join(folder(), 'buffer.db'), 'write');
  onTestFinished(() => buffer.close());
  const writer = buffer.parts.begin('books', { name: 'ledger.csv', kind: 'part' }, '');
  writer.addPacked(manyDrivers());
  const { id } = writer.commit({ version: '1', hash: '1', revisedAtMs: 0 }, { rows: count, rejects: 0 });
  buffer.reads.set('books', 'accepted', [{ id, carried: false, settled: false }]);

  let points = 0;
  expect(
    mostBytes(buffer.reads.drivers('books', 'accepted'), (one) => (points += pointCount(one.points))),
  ).toBeLessThan(2_000_000);
  expect(points).toBe(count);

  const [first] = buffer.reads.drivers('books', 'accepted');
  expect(first?.points.length).toBeGreaterThan(digits.length);
  const kept = [...buffer.reads.drivers('books', 'accepted')];
  expect(() => pointCount(kept[0]!.points)).toThrow('ends too early');
});

test('the bytes of a block of a snapshot go when the next one is read', async () => {
  const snapshot = await openArchive(folder()).write(manyDrivers(), format, []);
  for (const drivers of [snapshot.read(), snapshot.readPoints()]) {
    let points = 0;
    expect(mostBytes(drivers, (one) => (points += pointCount(one.points)))).toBeLessThan(8_000_000);
    expect(points).toBe(count);
  }
});
