import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { quoted } from '../support/pushdown-world.ts';
import { busyReaderOf } from '../support/reader-process.ts';
import { calm, openSource, queryPart, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

/** A database with these tables, which nobody has open. */
async function books(sql: string): Promise<string> {
  const dir = await tempDir();
  const instance = await DuckDBInstance.create(path.join(dir, 'books.duckdb'));
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
  return dir;
}

async function rowsOf(query: string, keys: object = {}, dir?: string): Promise<readonly Row[]> {
  return (await readWhole(openSource('duckdb', { query, ...keys }, dir ?? (await tempDir())), queryPart)).rows;
}

async function failureOf(query: string, keys: object = {}, dir?: string): Promise<unknown> {
  return await rowsOf(query, keys, dir).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('a value', () => {
  const texts = {
    "' 007 '": ' 007 ',
    "chr(65279) || 'N'": '\uFEFFN',
    'chr(65279)': '\uFEFF',
    "chr(65279) || chr(65279) || 'a text of more than 12 bytes'": '\uFEFF\uFEFFa text of more than 12 bytes',
    "'ü😀'": 'ü😀',
  };
  const others = {
    '1.50::DECIMAL(38, 2)': '1.50',
    '-99999999999999999999999999999999999.999::DECIMAL(38, 3)': '-99999999999999999999999999999999999.999',
    '170141183460469231731687303715884105727::HUGEINT': '170141183460469231731687303715884105727',
    '9007199254740993': '9007199254740993',
    '0.1::DOUBLE': '0.1',
    '0.1::DOUBLE + 0.2::DOUBLE': '0.30000000000000004',
    '0.1::FLOAT': '0.1',
    '7.0::DOUBLE': '7',
    '1000::FLOAT': '1000',
    '1e-7::DOUBLE': '1e-7',
    '1e20::DOUBLE': '100000000000000000000',
    "'NaN'::DOUBLE": 'nan',
    NULL: '',
    true: 'true',
    "DATE '2024-01-31'": '2024-01-31',
    "TIMESTAMP '2024-01-31 23:00:00.120'": '2024-01-31 23:00:00.12',
    "TIMESTAMP_NS '2024-01-31 23:00:00.123456789'": '2024-01-31 23:00:00.123456789',
    "TIMESTAMPTZ '2024-02-01 00:30:00+01:00'": '2024-01-31 23:30:00+00',
    '[1, NULL, 3]': '[1,null,3]',
    "{'region': 'N', 'day': DATE '2024-01-31'}": '{"region":"N","day":"2024-01-31"}',
    "MAP {'N': 1}": '{"N":1}',
    "'N'::ENUM ('N', 'S')": 'N',
  };
  // One query for many values: each query starts a process. Texts alone need no conversion and go another way.
  test.each<[string, Readonly<Record<string, string>>]>([
    ['a text', texts],
    ['another type', others],
  ])('of %s is its text, with all its digits', async (_type, expected) => {
    const literals = Object.keys(expected);
    const columns = literals.map((literal, at) => `${literal} AS c${at}`);
    const [row = []] = await rowsOf(`SELECT ${columns.join(', ')}`);
    expect(Object.fromEntries(literals.map((literal, at) => [literal, row[at]]))).toEqual(expected);
  });

  test('is the same under any zone of the process', async () => {
    const program = `
      import { openSource, readWhole } from './test/support/source-world.ts';
      const query = "SELECT DATE '2024-02-01' AS day, TIMESTAMP '2024-02-01 00:00:00' AS clock, TIMESTAMPTZ '2024-02-01 00:00:00+00' AS instant";
      console.log(JSON.stringify((await readWhole(openSource('duckdb', { query }, '.'))).rows));`;
    for (const zone of ['Pacific/Kiritimati', 'America/St_Johns']) {
      const child = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', program], {
        env: { ...process.env, TZ: zone },
      });
      expect(JSON.parse(child.stdout)).toEqual([['2024-02-01', '2024-02-01 00:00:00', '2024-02-01 00:00:00+00']]);
    }
  });

  test('that is a BLOB is a failure that names the column', async () => {
    expect(await failureOf("SELECT 1 AS a, 'x'::BLOB AS b")).toMatchObject({
      code: 'part.unreadable',
      message: 'duckdb: the column b is a BLOB, not a text',
    });
  });
});

describe('a query', () => {
  test('reads files that it names relative to the config file', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'exports/a.csv': 'region,amount\nN,1.50\n', 'exports/b.csv': 'region,amount\nS,2\n' });
    const query = "SELECT region, amount FROM read_csv('exports/*.csv', all_varchar = true) ORDER BY region";
    expect(await rowsOf(query, {}, dir)).toEqual([
      ['N', '1.50'],
      ['S', '2'],
    ]);
  });

  test('reads them from the folder of the config alone, whatever its name has', async () => {
    const dir = path.join(await tempDir(), "a, b; 'c'");
    await writeFiles(dir, { 'exports/a.csv': 'region,amount\nN,1.50\n' });
    const query = (file: string): string => `SELECT region, amount FROM read_csv('${file}', all_varchar = true)`;
    expect(await rowsOf(query('exports/a.csv'), {}, dir)).toEqual([['N', '1.50']]);
    expect(await rowsOf(query('./exports/*.csv'), {}, dir)).toEqual([['N', '1.50']]);
    // The tests run in the checkout, which has one.
    await expect(rowsOf(query('package.json'), {}, dir)).rejects.toThrow(/No files found/);
  });

  test('reads Parquet and JSON', async () => {
    const dir = await tempDir();
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    await connection.run(
      `COPY (SELECT 'N' AS region, 1.50::DECIMAL(9, 2) AS amount) TO ${quoted(`${dir}/books.parquet`)}`,
    );
    connection.closeSync();
    instance.closeSync();
    await writeFiles(dir, { 'books.json': '[{"region": "S", "amount": 2}]' });
    const query = "SELECT * FROM 'books.parquet' UNION ALL SELECT region, amount FROM 'books.json' ORDER BY region";
    expect(await rowsOf(query, {}, dir)).toEqual([
      ['N', '1.50'],
      ['S', '2.00'],
    ]);
  });

  test('gives its rows in its own order, whatever it ends with', async () => {
    const query = 'SELECT i FROM range(5000) r(i) ORDER BY i % 7, i DESC; -- the end';
    const rows = await rowsOf(query);
    const expected = Array.from({ length: 5000 }, (_, i) => i).sort((a, b) => (a % 7) - (b % 7) || b - a);
    expect(rows).toEqual(expected.map((i) => [String(i)]));
  });

  test('that exports is refused before it makes a folder', async () => {
    const dir = await tempDir();
    const file = path.join(dir, 'out');
    expect(await failureOf(`/* all */ EXPORT DATABASE ${quoted(file)}`)).toMatchObject({
      message: 'duckdb: the query does not only read',
    });
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each([
    'FROM range(1) r(i)',
    '-- one\n(SELECT 0 AS i)',
    'WITH x AS (SELECT 0 AS i) SELECT i FROM x',
    'VALUES (0)',
  ])('%s only reads', async (query) => {
    expect(await rowsOf(query)).toEqual([['0']]);
  });

  test.each([
    ['CREATE TABLE t (a INT)', 'duckdb: the query does not only read'],
    ["COPY (SELECT 1) TO 'out.csv'", 'duckdb: the query does not only read'],
    ["ATTACH 'other.duckdb'", 'duckdb: the query does not only read'],
    ['INSTALL httpfs', 'duckdb: the query does not only read'],
    ['SELECT 1; SELECT 2', 'duckdb: the query does not only read'],
    ['-- none', 'duckdb: the query holds no statement'],
    [';', 'duckdb: the query holds no statement'],
    ['SHOW TABLES', 'duckdb: SHOW is no SELECT statement'],
    ['describe SELECT 1', 'duckdb: DESCRIBE is no SELECT statement'],
    ['EXPLAIN SELECT 1', 'duckdb: EXPLAIN is no SELECT statement'],
    ['SELEC 1', 'duckdb: Parser Error: syntax error at or near "SELEC"'],
    ['SELECT b FROM t', 'duckdb: Catalog Error: Table with name t does not exist!'],
    ["SELECT * FROM read_csv('none.csv')", 'duckdb: IO Error: No files found that match the pattern "none.csv"'],
    ["SELECT 'x'::INT AS a", "duckdb: Conversion Error: Could not convert string 'x' to INT32"],
    ['SELECT 1 AS a, 2 AS a', 'duckdb: the query gives two columns called a'],
  ])('%s is a failure in one line', async (query, message) => {
    const failure = await failureOf(query);
    expect(failure).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining(message) });
    expect(String(failure)).not.toContain('\n');
  });

  describe('that fails half way gives no complete read', () => {
    test.each([
      ['in the middle', 200_000, 100_000],
      ['in its last row', 200_000, 199_999],
      ['in its last row, of few', 60_000, 59_999],
      ['in its first row', 60_000, 0],
    ])('where it fails %s', async (_where, count, at) => {
      const dir = await books(
        `CREATE TABLE t AS SELECT i AS id, CASE WHEN i = ${at} THEN 'x' ELSE '1' END AS v FROM range(${count}) r(i)`,
      );
      const keys = { file: 'books.duckdb' };
      const failure = {
        code: 'part.unreadable',
        message: expect.stringContaining("Could not convert string 'x' to INT32"),
      };
      expect(await failureOf('SELECT id, CAST(v AS INTEGER) AS v FROM t', keys, dir)).toMatchObject(failure);
      // Where nothing has to be made a text.
      expect(await failureOf('SELECT repeat(v, CAST(v AS INTEGER)) AS v FROM t', keys, dir)).toMatchObject(failure);
    });

    test('where rows were given already', async () => {
      const dir = await books(
        "CREATE TABLE t AS SELECT CASE WHEN i = 50000 THEN 'x' ELSE '1' END AS v FROM range(60000) r(i)",
      );
      const query = 'SELECT CAST(v AS INTEGER) AS v FROM (SELECT v FROM t ORDER BY length(v))';
      const source = openSource('duckdb', { file: 'books.duckdb', query }, dir);
      let rows = 0;
      const reading = async (): Promise<void> => {
        for await (const batch of source.rows(queryPart, calm)) rows += batch.count;
      };
      await expect(reading()).rejects.toMatchObject({ code: 'part.unreadable' });
      expect(rows).toBeGreaterThan(0);
    });

    test('where it is the query of changed', async () => {
      const dir = await books(
        "CREATE TABLE t AS SELECT i, CASE WHEN i = 199999 THEN 'x' ELSE '1' END AS v FROM range(200000) r(i)",
      );
      const changed = 'SELECT CAST(v AS INTEGER) AS v FROM t WHERE i % 1000 = 999';
      const source = openSource('duckdb', { file: 'books.duckdb', query: 'SELECT 1 AS a', changed }, dir);
      await expect(source.parts(calm)).rejects.toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/Could not convert string 'x' to INT32.*\(asked by changed\)$/),
      });
    });

    const lines = Array.from({ length: 200_000 }, (_, i) => `{"id": "${i}", "note": "${'-'.repeat(20)}"}\n`).join('');
    test.each([
      ['CSV', "read_csv('books', delim = ' ', header = false, all_varchar = true)"],
      ['JSON lines', "read_json('books')"],
    ])('where a file of %s ends in a cut line', async (_format, table) => {
      const dir = await tempDir();
      const query = `SELECT length(COLUMNS(*)) FROM ${table}`;
      await writeFiles(dir, { books: lines });
      expect(await rowsOf(query, {}, dir)).toHaveLength(200_000);
      await writeFiles(dir, { books: lines.slice(0, -30) });
      expect(await failureOf(query, {}, dir)).toMatchObject({ code: 'part.unreadable' });
    });

    test('where a file of Parquet is cut short or damaged', async () => {
      const dir = await tempDir();
      const file = path.join(dir, 'books.parquet');
      const writer = await DuckDBInstance.create();
      const connection = await writer.connect();
      await connection.run(
        `COPY (SELECT 'the note of row ' || i AS note FROM range(300000) r(i)) TO ${quoted(file)} (ROW_GROUP_SIZE 10000)`,
      );
      connection.closeSync();
      writer.closeSync();
      const query = "SELECT note FROM read_parquet('books.parquet')";
      const bytes = await readFile(file);
      const end = Math.floor(bytes.length * 0.8);
      await writeFile(file, bytes.subarray(0, end));
      expect(await failureOf(query, {}, dir)).toMatchObject({ code: 'part.unreadable' });
      await writeFile(file, bytes.fill(0xff, end, end + 10_000));
      expect(await failureOf(query, {}, dir)).toMatchObject({ code: 'part.unreadable' });
    });
  });

  test('is given up when its signal aborts, however long it would take', async () => {
    const source = openSource(
      'duckdb',
      { query: 'SELECT sum(a.i * b.i) AS s FROM range(1000000) a(i), range(1000000) b(i)' },
      '.',
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = source.rows(queryPart, controller.signal).next();
    await busyReaderOf(process.pid, 'duckdb-child');
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test('that needs more memory than it may take says what to do', async () => {
    const query = 'SELECT list(i) AS all_of_them FROM range(20000000) r(i)';
    expect(await failureOf(query, { memoryMax: '32MB' })).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('Out of Memory'),
      hint: 'raise memoryMax, or say pushdown: true',
    });
  });

  test('runs again only when the answer of changed is another one', async () => {
    const dir = await tempDir();
    const source = openSource(
      'duckdb',
      { query: 'SELECT 1 AS a', changed: "SELECT content FROM read_text('version.txt')" },
      dir,
    );
    await writeFile(path.join(dir, 'version.txt'), '1');
    const [first] = await source.parts(calm);
    expect((await source.parts(calm))[0]).toEqual(first);
    await writeFile(path.join(dir, 'version.txt'), '2');
    expect((await source.parts(calm))[0]!.version).not.toBe(first!.version);
  });
});

describe('a database', () => {
  test('is read without a lock that keeps other readers out', async () => {
    const dir = await books("CREATE TABLE t AS SELECT 'N' AS region, 1.50::DECIMAL(9, 2) AS amount");
    const query = 'SELECT * FROM t';
    const keys = { file: 'books.duckdb' };
    expect(await Promise.all([rowsOf(query, keys, dir), rowsOf(query, keys, dir)])).toEqual([
      [['N', '1.50']],
      [['N', '1.50']],
    ]);
  });

  test.each(['INSERT INTO t VALUES (2)', 'DELETE FROM t', 'UPDATE t SET a = 2'])(
    'is not written by %s',
    async (query) => {
      const dir = await books('CREATE TABLE t AS SELECT 1 AS a');
      const keys = { file: 'books.duckdb' };
      expect(await failureOf(query, keys, dir)).toMatchObject({ code: 'part.unreadable' });
      expect(await rowsOf('SELECT a FROM t', keys, dir)).toEqual([['1']]);
    },
  );

  test('must exist, and be a database', async () => {
    const dir = await tempDir();
    const keys = { file: 'books.duckdb' };
    expect(await failureOf('SELECT 1', keys, dir)).toMatchObject({
      code: 'source.unreadable',
      message: `the database ${dir}/books.duckdb does not exist`,
    });
    await mkdir(path.join(dir, 'folder'));
    expect(await failureOf('SELECT 1', { file: 'folder' }, dir)).toMatchObject({
      code: 'source.unreadable',
      message: `${dir}/folder is not a file`,
    });
    await writeFiles(dir, { 'books.duckdb': 'date,amount\n'.repeat(1000) });
    expect(await failureOf('SELECT 1', keys, dir)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('not a valid DuckDB database'),
      hint: 'is this the right file, and is it complete?',
    });
  });

  test('that another program writes is a failure that says so', async () => {
    const dir = await books('CREATE TABLE t AS SELECT 1 AS a');
    const program = `
      const { DuckDBInstance } = await import('@duckdb/node-api');
      const instance = await DuckDBInstance.create(process.argv[1]);
      await instance.connect();
      console.log('open');
      process.stdin.resume();`;
    const child = execFile(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
      path.join(dir, 'books.duckdb'),
    ]);
    onTestFinished(() => void child.kill());
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    expect(await failureOf('SELECT a FROM t', { file: 'books.duckdb' }, dir)).toMatchObject({
      code: 'source.unreadable',
      hint: 'another program has it open for writing; it is tried again at the next look',
    });
  });
});
