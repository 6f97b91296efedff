/** The file of a snapshot with many blocks: what went in comes out, whichever way it is read. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { diffDrivers } from '../../src/core/series/diff.ts';
import type { PackedPoints } from '../../src/core/series/packing.ts';
import { encodeBody } from '../../src/core/series/snapshot.ts';
import type { SnapshotDriver } from '../../src/core/ledger.ts';
import { openArchive } from '../../src/edges/state/archive.ts';
import { runsOf } from '../support/campaign.ts';
import { driver } from '../support/packed.ts';

const format = { shouldDeleteMissing: true, stamp: 'middle' } as const;

function folder(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'snapshot-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function bodyOf(drivers: readonly SnapshotDriver[]): Buffer {
  const chunks: Buffer[] = [];
  encodeBody(drivers, format, (chunk) => chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks);
}

/** Their points alone make more than three blocks, and their origins, which do not shrink, two more. */
function manyDrivers(): SnapshotDriver[] {
  return Array.from({ length: 1500 }, (_, index) => {
    const id = `driver ${String(index).padStart(5, '0')}`;
    const digits = createHash('sha512').update(id).digest('hex').replaceAll(/[a-f]/g, '7').repeat(20);
    const packed = driver(id, { '2026-01': `1${digits}`, '2026-02': '0.5' });
    return { ...packed, source: 'sales', origins: createHash('sha512').update(digits).digest() };
  });
}

test('a snapshot of many blocks has the digest of its body, and gives it out byte for byte', async () => {
  const drivers = manyDrivers();
  const expected = bodyOf(drivers);
  const snapshot = await openArchive(folder()).write(drivers, format, []);
  expect(snapshot).toMatchObject({ drivers: 1500, points: 3000, bytes: expected.length });
  expect(snapshot.digest).toBe(createHash('sha256').update(expected).digest('hex'));
  // Twice: an attempt that failed is followed by another one.
  for (let attempt = 0; attempt < 2; attempt++) {
    expect((await buffer(snapshot.body().chunks())).equals(expected)).toBe(true);
  }
});

test('a snapshot gives back every driver with its points and origins, whatever their sizes', async () => {
  const bytes = fc.uint8Array({ maxLength: 400_000, size: 'max' });
  const sizes = fc.array(fc.record({ digits: fc.integer({ min: 1, max: 700_000 }), origins: bytes }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sizes, async (made) => {
      const drivers = made.map(({ digits, origins }, index): SnapshotDriver => {
        return { ...driver(`d${index}`, { '2026-01': '7'.repeat(digits) }), source: 's', origins };
      });
      const snapshot = await openArchive(folder()).write(drivers, format, []);
      const plain = (list: Iterable<SnapshotDriver>): unknown[] =>
        // Copied one by one: their bytes go with the next one.
        Array.from(list, ({ id, points, origins }) => [id, Buffer.from(points), Buffer.from(origins)]);
      expect(plain(snapshot.read())).toEqual(plain(drivers));
      expect((await buffer(snapshot.body().chunks())).equals(bodyOf(drivers))).toBe(true);
    }),
    runsOf(1, 24),
  );
});

test('snapshots that differ in one driver share all other blocks, whatever the driver turned into', async () => {
  const drivers = manyDrivers();
  const archive = openArchive(folder());
  const before = await archive.write(drivers, format, []);
  const digits = '8'.repeat(3000);
  const changed = [
    drivers.with(700, { ...drivers[700]!, ...driver('driver 00700', { '2026-01': digits }) }),
    drivers.toSpliced(700, 1),
    drivers.toSpliced(700, 0, { ...drivers[0]!, ...driver('driver 00699 b', { '2026-01': digits }) }),
  ];
  for (const list of changed) {
    const after = await archive.write(list, format, []);
    const shared = [...after.blocks()].filter((name) => before.blocks().has(name));
    expect(before.blocks().size).toBeGreaterThan(5);
    expect(shared.length).toBeGreaterThanOrEqual(before.blocks().size - 2);
  }
});

test('every driver is found by its id alone, and none that is not there', async () => {
  const drivers = manyDrivers();
  const snapshot = await openArchive(folder()).write(drivers, format, []);
  expect(snapshot.blocks().size).toBeGreaterThan(5);
  for (const { id, points, origins } of drivers.filter((_one, at) => at % 7 === 0 || at > drivers.length - 3)) {
    const found = snapshot.driver(id);
    expect(found?.id).toBe(id);
    expect(Buffer.compare(found?.points ?? Buffer.of(), points)).toBe(0);
    expect(Buffer.compare(found?.origins ?? Buffer.of(), origins)).toBe(0);
    expect(snapshot.driver(`${id} `)).toBeUndefined();
  }
  for (const id of ['', 'a', 'zzz', '\u{1F600}']) expect(snapshot.driver(id)).toBeUndefined();
  const empty = await openArchive(folder()).write([], format, []);
  expect(empty.driver('a')).toBeUndefined();
});

test('what differs between two snapshots is found without the blocks that they share', async () => {
  const drivers = manyDrivers();
  const archive = openArchive(folder());
  const before = await archive.write(drivers, format, []);
  const index = fc.integer({ min: 0, max: drivers.length - 1 });
  const edit = fc.record({ index, kind: fc.constantFrom('drop', 'value', 'path', 'source'), digits: fc.nat(9000) });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 6 }), async (edits) => {
      const edited = new Map(drivers.map((one) => [one.id, one]));
      for (const { index: at, kind, digits } of edits) {
        const one = drivers[at]!;
        if (kind === 'drop') edited.delete(one.id);
        else if (kind === 'path') edited.set(one.id, { ...one, path: '["moved"]' });
        else if (kind === 'source') edited.set(one.id, { ...one, source: 'other' });
        else edited.set(one.id, { ...one, points: driver('', { '2026-01': `1${'0'.repeat(digits)}` }).points });
      }
      const after = await archive.write(edited.values(), format, []);
      const changes = (a: Iterable<PackedPoints>, b: Iterable<PackedPoints>): unknown[] =>
        Array.from(diffDrivers(a, b), ({ kind, id, created, updated, deleted }) => [
          kind,
          id,
          created,
          updated,
          deleted,
        ]);
      expect(changes(before.readPoints(after.blocks()), after.readPoints(before.blocks()))).toEqual(
        changes(before.readPoints(), after.readPoints()),
      );
    }),
    runsOf(2, 36),
  );
});

test('a block that is damaged ends the body with an error, after the drivers before it', async () => {
  const directory = folder();
  const snapshot = await openArchive(directory).write(manyDrivers(), format, []);
  const file = path.join(directory, `${snapshot.digest}.snapshot`);
  const bytes = readFileSync(file);
  bytes.fill(0, Math.floor(bytes.length * 0.8));
  writeFileSync(file, bytes);
  let sent = 0;
  const sending = async (): Promise<void> => {
    for await (const chunk of snapshot.body().chunks()) sent += chunk.length;
  };
  await expect(sending()).rejects.toMatchObject({ code: 'snapshot.damaged' });
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(snapshot.bytes);
});

test('a push that stops early leaves nothing behind that could end the process', async () => {
  const directory = folder();
  const snapshot = await openArchive(directory).write(manyDrivers(), format, []);
  const file = path.join(directory, `${snapshot.digest}.snapshot`);
  const bytes = readFileSync(file);
  // The second block of points is unpacked ahead, and fails, while the first one is sent.
  bytes.fill(0, Math.floor(bytes.length * 0.28));
  writeFileSync(file, bytes);
  const failures: unknown[] = [];
  const note = (error: unknown): number => failures.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  for await (const _chunk of snapshot.body().chunks()) break;
  // The same block once more: when this one has failed, so has the first.
  await expect(buffer(snapshot.body().chunks())).rejects.toMatchObject({ code: 'snapshot.damaged' });
  expect(failures).toEqual([]);
});

test('drivers that cannot be read to their end leave no file', async () => {
  const directory = folder();
  const drivers = manyDrivers();
  const broken = function* (): Generator<SnapshotDriver> {
    yield* drivers.slice(0, 1200);
    throw new Error('the buffer is damaged');
  };
  await expect(openArchive(directory).write(broken(), format, [])).rejects.toThrow('the buffer is damaged');
  expect(readdirSync(directory)).toEqual([]);
});
