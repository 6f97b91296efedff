import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAgentError } from '../src/core/errors.ts';
import type { Source } from '../src/core/ports.ts';
import { calm, openSource, readWhole, tempDir } from './source-world.ts';

/** What every kind of source promises. A new kind joins by saying here how a table gets into its place. */
interface Place {
  readonly source: Source;
  /** Puts this table there, instead of the one before. */
  write(table: Table): Promise<void>;
  remove(): Promise<void>;
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  async csv() {
    const dir = await tempDir();
    const file = path.join(dir, 'revenue.csv');
    const quoted = (fields: readonly string[]): string =>
      `${fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')}\n`;
    return {
      source: openSource('csv', { files: ['revenue.csv'] }, dir),
      write: ({ columns, rows }) => writeFile(file, [columns, ...rows].map(quoted).join('')),
      remove: () => rm(file),
    };
  },
  async sqlite() {
    const dir = await tempDir();
    const file = path.join(dir, 'books.db');
    return {
      // The names of a query's columns are those of its text, so that they come from a view.
      source: openSource('sqlite', { file: 'books.db', query: 'SELECT * FROM revenue' }, dir),
      async write({ columns, rows }) {
        const name = (column: string): string => `"${column.replaceAll('"', '""')}"`;
        const database = new Database(file, { timeout: 0 });
        database.transaction(() => {
          database.exec('DROP VIEW IF EXISTS revenue; DROP TABLE IF EXISTS stored');
          const stored = columns.map((_column, at) => `c${at}`);
          database.exec(`CREATE TABLE stored (${stored.map((column) => `${column} TEXT`).join(', ')})`);
          const view = stored.map((column, at) => `${column} AS ${name(columns[at]!)}`);
          database.exec(`CREATE VIEW revenue AS SELECT ${view.join(', ')} FROM stored ORDER BY rowid`);
          const insert = database.prepare(`INSERT INTO stored VALUES (${stored.map(() => '?').join(', ')})`);
          for (const row of rows) insert.run(...row);
        })();
        database.close();
      },
      remove: () => rm(file),
    };
  },
};

const north: Table = { columns: ['date', 'amount'], rows: [['2026-01-31', '1.50']] };
const empty: Table = { columns: ['date', 'amount'], rows: [] };

/** More than any kind gives in one batch. */
function longTable(text: string): Table {
  return {
    columns: ['n', 'text'],
    rows: Array.from({ length: 20_000 }, (_, at) => [String(at), `${text} ${'-'.repeat(10)}`]),
  };
}

describe.each(Object.keys(places))('a source of type %s', (type) => {
  async function placeWith(table: Table): Promise<Place> {
    const place = await places[type]!();
    await place.write(table);
    return place;
  }

  test('gives the columns and the rows of its table, in order', async () => {
    const table = longTable('ünïcode 😀, "quoted"\nand broken');
    const { source } = await placeWith(table);
    const whole = await readWhole(source);
    expect(whole).toMatchObject(table);
    expect(whole.batches).toBeGreaterThan(1);
  });

  test('gives every text as it is', async () => {
    const place = await places[type]!();
    const field = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/\0|\uFFFD/g, ''));
    const tables = fc.array(fc.tuple(field, field), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(tables, async (rows) => {
        await place.write({ columns: ['a', 'b'], rows });
        expect((await readWhole(place.source)).rows).toEqual(rows);
      }),
      { numRuns: 40 },
    );
  });

  test('gives the columns of a table without rows', async () => {
    const { source } = await placeWith(empty);
    expect(await readWhole(source)).toMatchObject({ columns: ['date', 'amount'], rows: [], batches: 1 });
  });

  test('trims the names of its columns', async () => {
    const { source } = await placeWith({ columns: [' date ', 'amount\u00A0'], rows: [] });
    expect(await readWhole(source)).toMatchObject({ columns: ['date', 'amount'] });
  });

  test('gives the same array of columns with every batch', async () => {
    const { source } = await placeWith(longTable('x'));
    const [part] = await source.parts(calm);
    const seen = new Set<readonly string[]>();
    for await (const batch of source.rows(part!, calm)) seen.add(batch.columns);
    expect(seen.size).toBe(1);
  });

  test('refuses two columns of one name', async () => {
    const { source } = await placeWith({ columns: ['date', 'amount', 'amount '], rows: [] });
    await expect(readWhole(source)).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('amount'),
    });
  });

  test('gives equal content an equal hash, and other content another one', async () => {
    const [one, same, other] = [await placeWith(north), await placeWith(north), await placeWith(empty)];
    const hashes = await Promise.all(
      [one, same, other].map(async ({ source }) => (await readWhole(source)).content.hash),
    );
    expect(hashes[0]).toMatch(/^[\da-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test('says the stamp of what it read, which holds until the place changes', async () => {
    const place = await placeWith(north);
    const [before] = await place.source.parts(calm);
    const { content } = await readWhole(place.source);
    expect(content).toMatchObject({ stamp: before!.stamp, revisedAtMs: before!.revisedAtMs });
    expect(await place.source.parts(calm)).toEqual([before]);
    await place.write(longTable('x'));
    const [after] = await place.source.parts(calm);
    expect(after!.name).toBe(before!.name);
    expect(after!.stamp).not.toBe(before!.stamp);
    expect(Math.abs(after!.revisedAtMs - Date.now())).toBeLessThan(60_000);
  });

  test('never gives rows of two contents when it changes while it is read', async () => {
    const before = longTable('before');
    const place = await placeWith(before);
    let isFirst = true;
    const reading = readWhole(place.source, undefined, async () => {
      // A writer may be locked out until the read has ended, which is as good.
      if (isFirst) await place.write(longTable('after')).catch(() => undefined);
      isFirst = false;
    });
    const outcome = await reading.then(
      ({ rows }) => rows,
      (error: unknown) => (isAgentError(error, 'part.changing') ? 'changing' : error),
    );
    expect(outcome === 'changing' ? before.rows : outcome).toEqual(before.rows);
  });

  test('stops with the reason of a signal that aborts before it begins', async () => {
    const { source } = await placeWith(north);
    const [part] = await source.parts(calm);
    const reason = new Error('enough');
    await expect(source.parts(AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(source.rows(part!, AbortSignal.abort(reason)).next()).rejects.toBe(reason);
  });

  test('stops with the reason of a signal that aborts between two batches', async () => {
    const { source } = await placeWith(longTable('x'));
    const [part] = await source.parts(calm);
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = source.rows(part!, controller.signal);
    expect((await reading.next()).done).toBe(false);
    controller.abort(reason);
    await expect(reading.next()).rejects.toBe(reason);
  });

  test('lets go of its place when nobody wants the rest', async () => {
    const place = await placeWith(longTable('x'));
    const [part] = await place.source.parts(calm);
    for await (const batch of place.source.rows(part!, calm)) {
      expect(batch.rows.length).toBeGreaterThan(0);
      break;
    }
    await place.write(north);
    expect(await readWhole(place.source)).toMatchObject(north);
  });

  test('cannot be read while its place is gone', async () => {
    const place = await placeWith(north);
    const [part] = await place.source.parts(calm);
    await place.remove();
    await expect(place.source.parts(calm)).rejects.toMatchObject({ code: 'source.unreadable' });
    await expect(readWhole(place.source, part)).rejects.toMatchObject({
      code: expect.stringMatching(/^(source\.unreadable|part\.changing)$/),
    });
  });

  test('wakes whoever watches when its content changes', async () => {
    const place = await placeWith(north);
    const woken = Promise.withResolvers<void>();
    const watch = await place.source.watch!(woken.resolve);
    await place.write(longTable('x'));
    await woken.promise;
    await watch[Symbol.asyncDispose]();
    expect((await readWhole(place.source)).rows).toHaveLength(20_000);
  });
});
