/** Drivers of the buffer, of which several are one row: whatever parts and chunks they came in, they come back in order and each once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LocalBuffer } from '../../src/core/buffer.ts';
import { placeOrder } from '../../src/core/series/merge-folds.ts';
import { mergePacked } from '../../src/core/series/merge-packed.ts';
import { type PackedDriver, monthsIn } from '../../src/core/series/packing.ts';
import { compareUtf8 } from '../../src/core/series/snapshot.ts';
import { openBuffer } from '../../src/edges/state/buffer.ts';
import { runsOf } from '../support/campaign.ts';
import { putFold, unbundle } from '../support/older-buffer.ts';
import { driver } from '../support/packed.ts';

const counts = { rows: 1, rejects: 0 };
const content = { version: '1', hash: '1', revisedAtMs: 0 };

interface Given {
  readonly id: string;
  readonly month: number;
  readonly digits: number;
  readonly otherPath: boolean;
}

/** The drivers of a chunk, each id once, some of them so large that a bundle ends with them. */
const chunk = fc
  .uniqueArray(
    fc.record({
      id: fc.oneof(
        fc.constantFrom('a', 'b', 'ab', 'é', '\u{1f600}', '\uffff', 'a"b', ''),
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      month: fc.integer({ min: 1, max: 9 }),
      digits: fc.constantFrom(1, 3, 20_000),
      otherPath: fc.boolean(),
    }),
    { selector: ({ id }) => id, maxLength: 8 },
  )
  .map((list) => list.map(packedOf));
/** By part, the chunks of each. */
const source = fc.array(fc.array(chunk, { maxLength: 3 }), { maxLength: 3 });

function packedOf({ id, month, digits, otherPath }: Given): PackedDriver {
  const one = driver(id, { [`2026-0${month}`]: '7'.repeat(digits) }, ['Sales', id]);
  return otherPath ? { ...one, otherPath: '["Other"]', entry: 2 } : one;
}

function write(buffer: LocalBuffer, name: string, parts: readonly (readonly (readonly PackedDriver[])[])[]): void {
  const ids = parts.map((chunks, at) => {
    const writer = buffer.parts.begin(name, { name: `${at}.csv`, kind: 'part' }, '');
    for (const drivers of chunks) writer.addPacked(drivers);
    return writer.commit(content, counts).id;
  });
  buffer.reads.set(
    name,
    'accepted',
    ids.map((id) => ({ id, carried: false, settled: false })),
  );
}

/** What a read of these parts holds. */
function expected(parts: readonly (readonly (readonly PackedDriver[])[])[]): readonly PackedDriver[] {
  const byId = Map.groupBy(parts.flat(2), ({ id }) => id);
  const order = placeOrder((id) => ({ id, source: '', name: '', revisedAtMs: 0 }));
  return [...byId.keys()].sort(compareUtf8).map((id) => mergePacked(byId.get(id) ?? [], order));
}

/** Bytes that were read go with the next driver, so a test keeps their text. */
function textOf({ points, origins, ties, ...names }: PackedDriver): object {
  return { ...names, points: Buffer.from(points).toString('hex'), origins: Buffer.from(origins).toString('hex'), ties };
}

function memoryBuffer(): LocalBuffer & Disposable {
  const buffer = openBuffer(':memory:', 'write');
  return Object.assign(buffer, { [Symbol.dispose]: () => buffer.close() });
}

const plain = (drivers: Iterable<PackedDriver>): readonly object[] => Array.from(drivers, textOf);

test('come back by the UTF-8 bytes of their ids, each once, merged over parts and chunks', () => {
  fc.assert(
    fc.property(source, (parts) => {
      using buffer = memoryBuffer();
      write(buffer, 'books', parts);
      const all = expected(parts);
      expect(plain(buffer.reads.drivers('books', 'accepted'))).toEqual(plain(all));
      for (const one of all) expect(textOf(buffer.reads.driver('books', one.id)!)).toEqual(textOf(one));
      expect(buffer.reads.driver('books', 'not there')).toBeUndefined();
      const parted = buffer.reads.parts('books', 'accepted') ?? [];
      expect(buffer.parts.earliestMonth(parted.map(({ id }) => id))).toBe(
        all.length === 0 ? undefined : Math.min(...all.flatMap(({ points }) => monthsIn(points))),
      );
    }),
    runsOf(20, 120),
  );
});

test('that are judged come back the same for the snapshot, though their bytes were kept', () => {
  fc.assert(
    fc.property(source, (parts) => {
      using buffer = memoryBuffer();
      write(buffer, 'books', parts);
      buffer.reads.set('books', 'candidate', buffer.reads.parts('books', 'accepted') ?? []);
      for (const _driver of buffer.reads.drivers('books', 'candidate'));
      expect(plain(buffer.reads.drivers('books', 'accepted'))).toEqual(plain(expected(parts)));
    }),
    runsOf(13, 80),
  );
});

test('are named in pieces, whatever the id that a piece begins behind', () => {
  fc.assert(
    fc.property(source, fc.integer({ min: 1, max: 3 }), fc.string({ maxLength: 2 }), (parts, limit, behind) => {
      using buffer = memoryBuffer();
      write(buffer, 'books', parts);
      const names = expected(parts).flatMap(({ id }) => (compareUtf8(id, behind) > 0 ? [id] : []));
      expect(buffer.names.after('books', behind, limit).map(({ id }) => id)).toEqual(names.slice(0, limit));
    }),
    runsOf(13, 80),
  );
});

test('can be taken out, and the others stay as they were', () => {
  fc.assert(
    fc.property(source, fc.array(fc.nat(7)), (parts, chosen) => {
      using buffer = memoryBuffer();
      write(buffer, 'books', parts);
      write(buffer, 'rents', parts);
      const all = expected(parts);
      const gone = new Set(['not there', ...chosen.flatMap((at) => all[at]?.id ?? [])]);
      buffer.reads.removeDrivers('books', gone);
      expect(plain(buffer.reads.drivers('books', 'accepted'))).toEqual(plain(all.filter(({ id }) => !gone.has(id))));
      expect(plain(buffer.reads.drivers('rents', 'accepted'))).toEqual(plain(all));
    }),
    runsOf(13, 80),
  );
});

test('of two sources are found in both', () => {
  fc.assert(
    fc.property(source, source, (one, other) => {
      using buffer = memoryBuffer();
      write(buffer, 'books', one);
      write(buffer, 'rents', other);
      const others = new Set(expected(other).map(({ id }) => id));
      const both = expected(one).flatMap(({ id }) => (others.has(id) ? [id] : []));
      const reads = ['books', 'rents'].map((name) => ({ source: name, kind: 'accepted' as const }));
      expect([...buffer.reads.sharedDrivers(reads)]).toEqual(
        both.map((id) => ({ driver: id, sources: ['books', 'rents'] })),
      );
      const parts = (name: string): { source: string; parts: number[] } => ({
        source: name,
        parts: (buffer.reads.parts(name, 'accepted') ?? []).map(({ id }) => id),
      });
      expect([...buffer.parts.sharedDrivers(parts('books'), parts('rents'))]).toEqual(both);
      expect([...buffer.reads.sharedDrivers([reads[0]!, reads[0]!])]).toEqual([]);
    }),
    runsOf(13, 80),
  );
});

test.each([
  ['last', `last = 'a'`],
  ['first', `first = 'a'`],
  ['drivers', 'drivers = 7'],
  ['earliest', 'earliest = 1'],
  ['rules', `rules = 'sum'`],
])('%s of a bundle that is not what was written is damage', (_column, change) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'damaged-bundle-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = path.join(directory, 'buffer.db');
  const written = openBuffer(file, 'write');
  write(written, 'books', [[[], [driver('m', { '2026-02': '2' }), driver('n', { '2026-02': '2' })]], []]);
  written.close();
  const db = new Database(file);
  db.exec(`UPDATE bundle SET ${change} WHERE first = 'm'`);
  db.close();
  const buffer = openBuffer(file, 'write');
  onTestFinished(() => buffer.close());
  expect(() => plain(buffer.reads.drivers('books', 'accepted'))).toThrow('is not what was written');
});

describe('a buffer with a row for each driver, as an older agent wrote it,', () => {
  const many = Array.from({ length: 1201 }, (_, at) =>
    driver(`driver ${String(at).padStart(4, '0')}`, { '2026-01': '1.5' }),
  );

  function olderBuffer(): string {
    const directory = mkdtempSync(path.join(tmpdir(), 'older-buffer-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = path.join(directory, 'buffer.db');
    const now = openBuffer(file, 'write');
    write(now, 'books', [[[], [driver('driver 0002', { '2026-02': '2' })]], []]);
    now.close();
    const db = new Database(file);
    unbundle(db);
    const put = (run: number, chunkNumber: number, one: PackedDriver): void =>
      putFold(db, { source: 'books', run, chunk: chunkNumber }, one);
    for (const one of many.toReversed()) put(1, 1, one);
    put(1, 2, driver('driver 0001', { '2026-03': '3' }));
    db.close();
    return file;
  }

  test('is brought up to date, with all that it held', () => {
    const buffer = openBuffer(olderBuffer(), 'write');
    onTestFinished(() => buffer.close());
    const second = driver('driver 0002', { '2026-02': '2' });
    const all = expected([[many, [driver('driver 0001', { '2026-03': '3' })]], [[second]]]);
    expect(plain(buffer.reads.drivers('books', 'accepted'))).toEqual(plain(all));
  });

  test('in which a digit has flipped since, is damaged, and is not taken over', () => {
    const file = olderBuffer();
    const db = new Database(file);
    db.prepare(
      `UPDATE fold SET points = CAST(replace(points, '1.5', '7.5') AS BLOB) WHERE driver = 'driver 0700'`,
    ).run();
    db.close();
    expect(() => openBuffer(file, 'write')).toThrow(
      expect.objectContaining({ code: 'state.corrupt', message: expect.stringContaining('driver 0700') }),
    );
  });
});
