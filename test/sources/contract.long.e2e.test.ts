import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, test } from 'vitest';
import { isAgentError } from '../../src/core/errors.ts';
import { cannotClickhouse } from '../support/clickhouse-servers.ts';
import { oneClickhouse, oneMariadb, onePostgres } from '../support/server-places.ts';
import { type Place, type Table, delimited, fixedFile, jsonRecords, textFile } from '../support/file-places.ts';
import { cannotMariadb, cannotPostgres } from '../support/servers.ts';
import { cannotRclone, cannotSsh, davServer, sshServer } from '../support/remote-servers.ts';
import { s3Keys, s3Server } from '../support/s3-server.ts';
import { cannotSwift, swiftKeys, swiftServer } from '../support/swift-server.ts';
import { calm, laterClock, openSource, readWhole, tempDir } from '../support/source-world.ts';
import { publishedReport } from '../support/web-world.ts';
import { workbook } from '../support/workbooks.ts';

/** What all tests of this file use: a server takes longer to start than a test to run. */
const left: (() => unknown)[] = [];
const untilAllEnd = {
  async tempDir() {
    const dir = await mkdtemp(path.join(tmpdir(), 'contract-'));
    left.push(() => rm(dir, { recursive: true, force: true }));
    return dir;
  },
  atEnd: (cleanup: () => unknown) => void left.push(cleanup),
};
let ssh: ReturnType<typeof sshServer> | undefined;
let dav: ReturnType<typeof davServer> | undefined;
let swift: ReturnType<typeof swiftServer> | undefined;
let buckets = 0;

afterAll(async () => {
  for (const cleanup of left.toReversed()) await cleanup();
});

/** What every kind of source promises. A new kind joins by saying here how a table gets into its place. */
const places: Readonly<Record<string, () => Promise<Place>>> = {
  csv: () => textFile('csv', 'revenue.csv', (table) => delimited(table, ',')),
  'csv, as gzip': () => textFile('csv', 'revenue.csv.gz', (table) => gzipSync(delimited(table, ','))),
  'csv, as zstd': () => textFile('csv', 'revenue.csv.zst', (table) => zstdCompressSync(delimited(table, ','))),
  async 'csv, in a zip archive'() {
    const dir = await tempDir();
    const file = path.join(dir, 'exports.zip');
    return {
      source: openSource('csv', { files: ['exports.zip'], members: ['**/*.csv'] }, dir),
      write: (table) => writeFile(file, zipSync({ 'march/revenue.csv': Buffer.from(delimited(table, ',')) })),
      remove: () => rm(file),
    };
  },
  async 'csv, in a bucket'() {
    const server = await s3Server();
    const key = 'finance/revenue.csv';
    return {
      source: openSource('csv', { files: [`s3://exports/${key}`], s3: { endpoint: server.endpoint, ...s3Keys } }, '/'),
      write: async (table) => server.put(key, delimited(table, ',')),
      remove: async () => void server.objects.delete(key),
    };
  },
  ...(!cannotSwift && {
    async 'csv, in a bucket of Swift'() {
      const server = await (swift ??= swiftServer(untilAllEnd));
      const bucket = await server.bucket(`bucket-${buckets++}`);
      const s3 = { endpoint: server.endpoint, ...swiftKeys };
      return {
        source: openSource('csv', { files: [`s3://${bucket.name}/revenue.csv`], s3 }, '/'),
        write: (table) => bucket.put('revenue.csv', delimited(table, ',')),
        remove: () => bucket.remove('revenue.csv'),
      };
    },
  }),
  ...(!cannotSsh && {
    async 'csv, by SFTP'() {
      const { port, user, keyFile, hostKey, ...server } = await (ssh ??= sshServer(untilAllEnd));
      const folder = await mkdtemp(path.join(server.folder, 'place-'));
      const files = [`sftp://${user}@127.0.0.1:${port}${folder}/revenue.csv`];
      const file = path.join(folder, 'revenue.csv');
      return {
        source: openSource('csv', { files, sftp: { keyFile, hostKey } }, '/'),
        write: (table) => writeFile(file, delimited(table, ',')),
        remove: () => rm(file),
      };
    },
  }),
  ...(!cannotRclone && {
    async 'csv, over WebDAV'() {
      const server = await (dav ??= davServer(untilAllEnd));
      const folder = await mkdtemp(path.join(server.folder, 'place-'));
      const url = `${server.url}/${path.basename(folder)}`;
      const file = path.join(folder, 'revenue.csv');
      return {
        source: openSource('csv', { files: [`${url}/revenue.csv`] }, '/'),
        write: (table) => writeFile(file, delimited(table, ',')),
        remove: () => rm(file),
      };
    },
  }),
  tsv: () => textFile('tsv', 'revenue.tsv', (table) => delimited(table, '\t')),
  fixed: fixedFile,
  async jsonl() {
    const place = await textFile('jsonl', 'revenue.jsonl', (table) =>
      jsonRecords(table)
        .map((record) => `${record}\n`)
        .join(''),
    );
    return { ...place, namesColumnsByRow: true };
  },
  async json() {
    const place = await textFile('json', 'revenue.json', (table) => `[${jsonRecords(table).join(', ')}]`);
    return { ...place, namesColumnsByRow: true };
  },
  async xlsx() {
    const dir = await tempDir();
    const file = path.join(dir, 'revenue.xlsx');
    return {
      source: openSource('xlsx', { files: ['revenue.xlsx'] }, dir),
      write: ({ columns, rows }) =>
        writeFile(file, workbook({ sheets: [{ name: 'Sheet1', rows: [columns, ...rows] }] })),
      remove: () => rm(file),
      losesEmptyRows: true,
    };
  },
  async parquet() {
    const dir = await tempDir();
    const file = path.join(dir, 'revenue.parquet');
    return {
      source: openSource('parquet', { files: ['revenue.parquet'] }, dir),
      async write({ columns, rows }) {
        const columnData = columns.map((name, at) => ({
          name,
          type: 'STRING' as const,
          data: rows.map((row) => row[at]!),
        }));
        await writeFile(file, new Uint8Array(parquetWriteBuffer({ columnData })));
      },
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
  async duckdb() {
    const dir = await tempDir();
    const file = path.join(dir, 'books.duckdb');
    const keys = { file: 'books.duckdb', query: 'SELECT * FROM revenue', changed: 'SELECT version FROM books' };
    let version = 0;
    return {
      source: openSource('duckdb', keys, dir, laterClock(0)),
      // In a file of its own, since DuckDB writes none that it reads.
      async write({ columns, rows }) {
        const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
        const stored = columns.map((column) => `"${column.replaceAll('"', '""')}" VARCHAR`);
        const instance = await DuckDBInstance.create(`${file}.new`);
        const connection = await instance.connect();
        await connection.run(`CREATE TABLE books AS SELECT ${(version += 1)} AS version`);
        await connection.run(`CREATE TABLE revenue (${stored.join(', ')})`);
        const values = rows.map((row) => `(${row.map(quoted).join(', ')})`);
        if (rows.length > 0) await connection.run(`INSERT INTO revenue VALUES ${values.join(', ')}`);
        connection.closeSync();
        instance.closeSync();
        await rename(`${file}.new`, file);
      },
      remove: () => rm(file),
    };
  },
  async http() {
    const { source, publish, withdraw } = await publishedReport();
    return {
      source,
      write: async (table) => publish(delimited(table, ',')),
      remove: async () => withdraw(),
    };
  },
  async command() {
    const dir = await tempDir();
    const file = path.join(dir, 'revenue.csv');
    return {
      source: openSource('command', { command: ['cat', 'revenue.csv'], format: 'csv' }, dir, laterClock(0)),
      write: (table) => writeFile(file, delimited(table, ',')),
      remove: () => rm(file),
    };
  },
  // Where one is not installed, the suite of its own names it.
  ...(!cannotPostgres && { postgres: onePostgres() }),
  ...(!cannotMariadb && { mysql: oneMariadb() }),
  ...(!cannotClickhouse && { clickhouse: oneClickhouse() }),
};

const north: Table = { columns: ['date', 'amount'], rows: [['2026-01-31', '1.50']] };
const empty: Table = { columns: ['date', 'amount'], rows: [] };

/** Characters that some format or language gives a meaning. Among all of Unicode they would hardly ever be drawn. */
const signs = [
  ['"', "'", '\\', ',', ';', '\t', '\r', '\n', '\r\n', ' ', '0', '=', '&', '<', '_x', '😀'],
  ['\u0001', '\u0085', '\u00A0', '\u2028', '\uFEFF', 'e\u0301'],
].flat();
const character = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom(...signs));
const anyText = fc.string({ unit: character }).map((text) => text.replaceAll(/\0|\uFFFD/g, ''));

const south: Table = { columns: ['date', 'amount'], rows: [...north.rows, ['2026-02-28', '2']] };

/** More than any kind gives in one batch: up to 10 000 rows of these, in a workbook. */
function longTable(text: string): Table {
  return {
    columns: ['n', 'text'],
    rows: Array.from({ length: 11_000 }, (_, at) => [String(at), `${text} ${'-'.repeat(10)}`]),
  };
}

describe.each(Object.keys(places))('a source of type %s', (type) => {
  async function placeWith(table: Table): Promise<Place> {
    const place = await places[type]!();
    await place.write(table);
    return place;
  }

  test('gives the columns and the rows of its table, in order', async () => {
    const broken = 'ünïcode 😀, "quoted"\nand broken';
    const { holds } = await places[type]!();
    const table = longTable(holds?.(broken) === false ? broken.replace('\n', ' ') : broken);
    const { source } = await placeWith(table);
    const whole = await readWhole(source);
    expect(whole).toMatchObject(table);
    expect(whole.batches).toBeGreaterThan(1);
  });

  test('gives every text as it is', async () => {
    const place = await places[type]!();
    // Few tables of many rows, since some kinds start processes for each.
    const tables = fc.array(fc.tuple(anyText, anyText), { minLength: 40, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(tables, async (rows) => {
        const { holds = () => true } = place;
        const held = rows.map((row) => row.map((text) => (holds(text) ? text : '')));
        await place.write({ columns: ['a', 'b'], rows: held });
        const kept = place.losesEmptyRows === true ? held.filter((row) => row.some((text) => text !== '')) : held;
        expect((await readWhole(place.source)).rows).toEqual(kept);
      }),
      { numRuns: 6 },
    );
  });

  test('gives the columns of a table without rows', async () => {
    const { source, namesColumnsByRow = false } = await placeWith(empty);
    const columns = namesColumnsByRow ? [] : empty.columns;
    expect(await readWhole(source)).toMatchObject({ columns, rows: [], batches: 1 });
  });

  test('trims the names of its columns', async () => {
    const { source } = await placeWith({ columns: [' date ', 'amount\u00A0'], rows: north.rows });
    expect(await readWhole(source)).toMatchObject({ columns: ['date', 'amount'] });
  });

  test('gives the same array of columns with every batch', async () => {
    const { source } = await placeWith(longTable('x'));
    const [part] = await source.parts(calm);
    const seen = new Set<readonly string[]>();
    for await (const batch of source.rows(part!, calm)) seen.add(batch.columns);
    expect(seen.size).toBe(1);
  });

  test('refuses two columns of one name', async ({ skip }) => {
    if (type === 'fixed') return skip('its config names each column, and once');
    const { source } = await placeWith({ columns: ['date', 'amount', 'amount '], rows: [['2026-01-31', '1', '2']] });
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

  test('says the version of what it read, which holds until the place changes', async () => {
    const place = await placeWith(north);
    const [before] = await place.source.parts(calm);
    const { content } = await readWhole(place.source);
    expect(content).toMatchObject({ version: before!.version, revisedAtMs: before!.revisedAtMs });
    expect(await place.source.parts(calm)).toEqual([before]);
    await place.write(south);
    const [after] = await place.source.parts(calm);
    expect(after!.name).toBe(before!.name);
    expect(after!.version).not.toBe(before!.version);
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
      expect(batch.count).toBeGreaterThan(0);
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

  test('wakes whoever watches when its content changes', async ({ skip }) => {
    const place = await placeWith(north);
    if (place.source.watch === undefined) return skip('its place sends no events: it is polled');
    const woken = Promise.withResolvers<void>();
    const watch = await place.source.watch(woken.resolve);
    await place.write(south);
    await woken.promise;
    await watch[Symbol.asyncDispose]();
    expect(await readWhole(place.source)).toMatchObject(south);
  });
});
