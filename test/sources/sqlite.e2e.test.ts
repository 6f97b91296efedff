import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { type Place, place } from '../support/process.ts';
import { busyReaderOf, isReader, readerOf, readersIn } from '../support/reader-process.ts';
import { calm, laterClock, openSource, readWhole, tempDir } from '../support/source-world.ts';

interface Books {
  readonly dir: string;
  readonly file: string;
  readonly database: Database.Database;
}

/** A database that a program has open. */
async function books(sql: string): Promise<Books> {
  const dir = await tempDir();
  const file = path.join(dir, 'books.db');
  const database = new Database(file, { timeout: 0 });
  onTestFinished(() => void database.close());
  database.exec(sql);
  return { dir, file, database };
}

async function rowsOf({ dir }: Books, query: string): Promise<readonly Row[]> {
  return (await readWhole(openSource('sqlite', { file: 'books.db', query }, dir))).rows;
}

async function failureOf({ dir }: { readonly dir: string }, query: string, clock = laterClock()): Promise<unknown> {
  return await readWhole(openSource('sqlite', { file: 'books.db', query }, dir, clock)).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('a value', () => {
  test.each([
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ["'12345678901234567890.10'", '12345678901234567890.10'],
    ["' 007 '", ' 007 '],
    ["'1e3'", '1e3'],
    ["char(65279) || 'N'", '\uFEFFN'],
    ['NULL', ''],
    ["''", ''],
    ['0.1', '0.1'],
    ['100.0', '100'],
    ['7.0', '7'],
    ["CAST('1000.0' AS TEXT)", '1000.0'],
    ['-0.17', '-0.17'],
    ['1234567.123456789', '1234567.123456789'],
    ['0.1 + 0.2', '0.30000000000000004'],
    ['1e-7', '1e-7'],
    ['9e99', '9e+99'],
    ["CAST(x'3132' AS TEXT)", '12'],
  ])('%s is the text %j', async (sql, text) => {
    const world = await books('');
    expect(await rowsOf(world, `SELECT ${sql} AS amount`)).toEqual([[text]]);
  });

  test('that is a REAL is the shortest text of that very number', async () => {
    const world = await books('CREATE TABLE t (x REAL)');
    const insert = world.database.prepare('INSERT INTO t VALUES (?)');
    const real = fc.double({ noNaN: true, noDefaultInfinity: true });
    await fc.assert(
      fc.asyncProperty(fc.array(real, { minLength: 1, maxLength: 100 }), async (reals) => {
        world.database.exec('DELETE FROM t');
        for (const each of reals) insert.run(each);
        const texts = (await rowsOf(world, 'SELECT x FROM t ORDER BY rowid')).map(([text]) => text!);
        // Adding nothing makes -0 and 0 one.
        expect(texts.map((text) => Number(text) + 0)).toEqual(reals.map((each) => each + 0));
        for (const text of texts) expect(text).toMatch(/^-?\d+(\.\d+)?(e[+-]\d+)?$/);
      }),
      { numRuns: 10 },
    );
  });

  test('that is a BLOB is a failure that names the column', async () => {
    const world = await books("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, x'00')");
    expect(await failureOf(world, 'SELECT a, b FROM t ORDER BY a')).toMatchObject({
      code: 'part.unreadable',
      message: `${world.file}: row 2, column b: a BLOB, not a text`,
    });
  });

  test.each(["CAST(x'ff41' AS TEXT)", 'char(65, 0, 66)'])('%s is a failure, never another text', async (sql) => {
    const world = await books('');
    expect(await failureOf(world, `SELECT ${sql} AS name`)).toMatchObject({
      code: 'part.unreadable',
      message: `${world.file}: row 1, column name: a text that is not utf-8 or holds a NUL character`,
    });
  });
});

describe('a query', () => {
  test('gives its rows in its own order', async () => {
    const world = await books('CREATE TABLE t (a); INSERT INTO t VALUES (2), (3), (1)');
    expect(await rowsOf(world, 'SELECT a FROM t ORDER BY a DESC')).toEqual([['3'], ['2'], ['1']]);
  });

  test.each([
    ['INSERT INTO t VALUES (1)', /the query does not only read$/],
    ['DELETE FROM t RETURNING a', /the query does not only read$/],
    ['BEGIN', /the query does not only read$/],
    ['SELECT a FROM t; DELETE FROM t', /more than one statement$/],
    ['-- nothing', /no statements$/],
    ['SELEC a FROM t', /near "SELEC": syntax error$/],
    ['SELECT b FROM t', /no such column: b$/],
    ['SELECT a FROM missing', /no such table: missing$/],
    ['SELECT a, a FROM t', /the query gives two columns called a$/],
    ["SELECT a, json('{') AS j FROM t", /malformed JSON$/],
    [
      'WITH RECURSIVE c(x) AS (SELECT 50001 UNION ALL SELECT x - 1 FROM c WHERE x > 0) SELECT abs(iif(x > 0, x, -9223372036854775808)) FROM c',
      /integer overflow$/,
    ],
  ])('%s is a failure and changes nothing', async (query, message) => {
    const world = await books('CREATE TABLE t (a); INSERT INTO t VALUES (7)');
    expect(await failureOf(world, query)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(message),
    });
    expect(await rowsOf(world, 'SELECT a FROM t')).toEqual([['7']]);
  });
});

describe('a query that never ends', () => {
  const reads = 'sqlite-child';
  const endless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'a' AS id, '2026-01' AS time, count(*) AS value FROM c";
  const slowSync = async (timeout: string): Promise<Place> => {
    const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}' }];
    const source = { type: 'sqlite', file: 'books.db', query: endless, timeout, drivers };
    const at = await place({ destination: { url: 'http://127.0.0.1:9' }, sources: { books: source } }, {});
    new Database(path.join(at.dir, 'books.db')).exec('CREATE TABLE t (a)').close();
    return at;
  };

  test('is given up when its signal aborts', async () => {
    const { dir } = await books('');
    const source = openSource('sqlite', { file: 'books.db', query: `${endless} UNION ALL SELECT 1, 2, 3` }, dir);
    const [part] = await source.parts(calm);
    const controller = new AbortController();
    const reading = source.rows(part!, controller.signal).next();
    const reader = await busyReaderOf(process.pid, reads);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(await isReader(reader, reads)).toBe(false);
  });

  test('is given up between its rows when the rest is not wanted', async () => {
    const { dir } = await books('');
    const query =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 5000 OR x < 0';
    const source = openSource('sqlite', { file: 'books.db', query }, dir);
    const [part] = await source.parts(calm);
    let reader = 0;
    for await (const batch of source.rows(part!, calm)) {
      expect(batch.count).toBe(4096);
      reader = await readerOf(process.pid, reads);
      break;
    }
    expect(await isReader(reader, reads)).toBe(false);
  });

  test('ends with the timeout of its source', async () => {
    await using at = await slowSync('1s');
    const sync = await at.command('sync', '--json');
    expect(sync.json()).toMatchObject({
      sources: [{ state: 'unread', reason: expect.stringContaining('took longer') }],
    });
    expect(await readersIn(at.dir, reads)).toEqual([]);
  });

  test('ends with a signal', async () => {
    await using at = await slowSync('5m');
    const sync = at.start('sync');
    const reader = await busyReaderOf(sync.pid, reads);
    sync.kill('SIGTERM');
    expect(await sync.exit).toMatchObject({ signal: undefined });
    expect(await isReader(reader, reads)).toBe(false);
  });

  test('ends soon after the agent is killed', async () => {
    await using at = await slowSync('5m');
    const sync = at.start('sync');
    const reader = await busyReaderOf(sync.pid, reads);
    sync.kill('SIGKILL');
    await sync.exit;
    await expect.poll(() => isReader(reader, reads)).toBe(false);
  });

  test('is a failure where its process is killed', async () => {
    const { dir, file } = await books('');
    const source = openSource('sqlite', { file: 'books.db', query: endless }, dir);
    const [part] = await source.parts(calm);
    const reading = source.rows(part!, calm).next();
    process.kill(await busyReaderOf(process.pid, reads), 'SIGKILL');
    await expect(reading).rejects.toMatchObject({
      code: 'part.unreadable',
      message: `${file}: the process that reads it ended (SIGKILL)`,
    });
  });
});

describe('a database', () => {
  test('must exist, and be a database', async () => {
    const dir = await tempDir();
    expect(await failureOf({ dir }, 'SELECT 1')).toMatchObject({
      code: 'source.unreadable',
      message: `the database ${dir}/books.db does not exist`,
    });
    await writeFile(path.join(dir, 'books.db'), 'date,amount\n'.repeat(1000));
    expect(await failureOf({ dir }, 'SELECT a FROM t')).toMatchObject({
      code: 'part.unreadable',
      message: `${dir}/books.db: file is not a database`,
    });
  });

  test('that is damaged is a failure in the words of SQLite', async () => {
    const world = await books("CREATE TABLE t (a); INSERT INTO t VALUES (printf('%5000d', 1)), (printf('%5000d', 2))");
    const bytes = world.database.serialize();
    bytes.fill(0xff, 4096);
    const dir = path.join(world.dir, 'damaged');
    await mkdir(dir);
    await writeFile(path.join(dir, 'books.db'), bytes);
    expect(await failureOf({ dir }, 'SELECT a FROM t')).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('malformed'),
    });
  });

  test.each([1, 1000, 3000])('that lacks its last %i bytes is not read', async (lacking) => {
    const world = await books(
      `CREATE TABLE t (id TEXT, cents INT);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) INSERT INTO t SELECT 'a', 100 FROM n`,
    );
    const bytes = world.database.serialize();
    const dir = path.join(world.dir, 'cut');
    await mkdir(dir);
    await writeFile(path.join(dir, 'books.db'), bytes.subarray(0, -lacking));
    expect(await failureOf({ dir }, 'SELECT id, cents FROM t')).toMatchObject({
      code: 'part.unreadable',
      message: `${dir}/books.db: the file is cut short: ${bytes.length - lacking} of ${bytes.length} bytes are there`,
      hint: expect.stringContaining('is a copy still under way?'),
    });
  });

  test('that is empty is named as such, not only its table as missing', async () => {
    const { dir } = await books('CREATE TABLE t (a)');
    const empty = path.join(dir, 'empty');
    await mkdir(empty);
    await writeFile(path.join(empty, 'books.db'), '');
    expect(await failureOf({ dir: empty }, 'SELECT a FROM a_table')).toMatchObject({
      code: 'part.unreadable',
      message: `${empty}/books.db: the file is empty: no such table: a_table`,
      hint: expect.stringContaining('is a copy still under way?'),
    });
  });

  test('is never opened where it is not a file', async () => {
    const dir = await tempDir();
    execFileSync('mkfifo', [path.join(dir, 'books.db')]);
    expect(await failureOf({ dir }, 'SELECT 1')).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('is a FIFO, not a file'),
    });
  });

  test('that a program keeps locked is waited for, and a failure after five seconds', async () => {
    const world = await books('CREATE TABLE t (a); INSERT INTO t VALUES (7)');
    world.database.exec('BEGIN EXCLUSIVE');
    const clock = laterClock();
    expect(await failureOf(world, 'SELECT a FROM t', clock)).toMatchObject({
      code: 'part.unreadable',
      message: `${world.file}: database is locked`,
    });
    expect(clock.monotonicMs()).toBe(5_000);

    const freed = laterClock(0, async () => void (world.database.inTransaction && world.database.exec('COMMIT')));
    const source = openSource('sqlite', { file: 'books.db', query: 'SELECT a FROM t' }, world.dir, freed);
    expect((await readWhole(source)).rows).toEqual([['7']]);
  });

  test('in WAL mode is read with its log, and its version shows a commit that is only there', async () => {
    const world = await books('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
    const source = openSource('sqlite', { file: 'books.db', query: 'SELECT a FROM t' }, world.dir);
    const [before] = await source.parts(calm);
    world.database.exec('INSERT INTO t VALUES (7)');
    const [after] = await source.parts(calm);
    expect(after!.version).not.toBe(before!.version);
    expect((await readWhole(source)).rows).toEqual([['7']]);
  });

  test('that a query asks for the time besides is read at each look, and an equal read is the same', async () => {
    const { dir } = await books('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    const versionsOf = async (query: string): Promise<ReadonlySet<string>> => {
      const source = openSource('sqlite', { file: 'books.db', query }, dir);
      return new Set([...(await source.parts(calm)), ...(await source.parts(calm))].map(({ version }) => version));
    };
    const query = "SELECT a FROM t WHERE date('now') > '2020-01-01'";
    expect((await versionsOf(query)).size).toBe(2);
    expect((await versionsOf('SELECT a FROM t')).size).toBe(1);
    const hashes = [1, 2].map(async () => await readWhole(openSource('sqlite', { file: 'books.db', query }, dir)));
    expect(new Set((await Promise.all(hashes)).map(({ content }) => content.hash)).size).toBe(1);
  });

  test('in WAL mode that nobody has open keeps its version when it is read', async () => {
    const world = await books('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
    world.database.close();
    const source = openSource('sqlite', { file: 'books.db', query: 'SELECT a FROM t' }, world.dir);
    const before = await source.parts(calm);
    await readWhole(source);
    expect(await source.parts(calm)).toEqual(before);
  });

  test('may be written by others while it is read in WAL mode: the read is the state before', async () => {
    const world = await books('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
    const insert = world.database.prepare('INSERT INTO t VALUES (?)');
    world.database.transaction(() => {
      for (let at = 0; at < 5000; at += 1) insert.run(at);
    })();
    const source = openSource('sqlite', { file: 'books.db', query: 'SELECT a FROM t' }, world.dir);
    const { rows } = await readWhole(source, undefined, async () => void insert.run(-1));
    expect(rows).toHaveLength(5000);
    expect((await readWhole(source)).rows.length).toBeGreaterThan(5000);
  });
});
