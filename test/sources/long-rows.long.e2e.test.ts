/**
 * Texts that would fill the memory, in every kind of database: the read fails, and the process lives on in little memory. Those that take
 * seconds are for the campaign.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import {
  cannotMariadb,
  cannotPostgres,
  mariadbName,
  mariadbServer,
  postgresName,
  postgresServer,
} from '../support/servers.ts';

interface Read {
  readonly rows: number;
  /** Characters of the longest batch. */
  readonly charsMax: number;
  readonly failure?: { readonly message: string; readonly hint: string };
  /** Memory of the process: once it began, and at most. */
  readonly startMb: number;
  readonly peakMb: number;
}

/** Reads a source in a process of its own, whose memory is measured. */
async function read(type: string, keys: object, dir = '/'): Promise<Read> {
  const child = fileURLToPath(new URL('../support/read-child.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, type, JSON.stringify(keys), dir]);
  return JSON.parse(stdout) as Read;
}

interface Engine {
  readonly name: string;
  readonly type: string;
  readonly isMissing: boolean;
  readonly open: () => Promise<{
    readonly keys: object;
    readonly dir?: string;
    readonly leave: () => PromiseLike<void>;
  }>;
  /** SQL that makes a text of so many characters. */
  readonly long: (length: number) => string;
  /** A table of the numbers 1 to 700 in a column `n`. */
  readonly numbers: string;
}

const engines: readonly Engine[] = [
  {
    name: 'DuckDB',
    type: 'duckdb',
    isMissing: false,
    open: async () => ({ keys: {}, leave: async () => undefined }),
    long: (length) => `repeat('a', ${length})`,
    numbers: 'range(1, 701) t(n)',
  },
  {
    name: 'SQLite',
    type: 'sqlite',
    isMissing: false,
    async open() {
      const dir = await mkdtemp(path.join(tmpdir(), 'long-rows-'));
      new Database(`${dir}/books.db`).exec('CREATE TABLE t (a)').close();
      return { keys: { file: 'books.db' }, dir, leave: () => rm(dir, { recursive: true }) };
    },
    long: (length) => `printf('%${length}d', 1)`,
    numbers: '(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 700) SELECT n FROM c)',
  },
  {
    name: postgresName,
    type: 'postgres',
    isMissing: cannotPostgres,
    async open() {
      const server = await postgresServer();
      return { keys: { url: server.url() }, leave: () => server[Symbol.asyncDispose]() };
    },
    long: (length) => `repeat('a', ${length})`,
    numbers: 'generate_series(1, 700) AS n',
  },
  {
    name: mariadbName,
    type: 'mysql',
    isMissing: cannotMariadb,
    async open() {
      const server = await mariadbServer({ settings: ['--max-allowed-packet=1G'] });
      return { keys: { url: server.url() }, leave: () => server[Symbol.asyncDispose]() };
    },
    long: (length) => `REPEAT('a', ${length})`,
    numbers: '(SELECT seq AS n FROM seq_1_to_700) AS numbers',
  },
];

type Text = readonly [size: string, query: () => string, message: RegExp];

describe.each(engines)('in $name', ({ type, isMissing, open, long, numbers }) => {
  let at: Awaited<ReturnType<Engine['open']>>;
  beforeAll(async () => {
    if (!isMissing) at = await open();
  });
  afterAll(async () => await at?.leave());

  const texts: readonly Text[] = [
    [
      'a little over 10 MB, among others',
      () => `SELECT n, 'a' AS a, CASE n WHEN 2 THEN ${long(10_000_001)} ELSE 'b' END AS note FROM ${numbers}`,
      /: row 2, column note: a field over 10 MB$/,
    ],
  ];
  const huge: Text = [
    '300 MB',
    () => `SELECT ${long(300_000_000)} AS note`,
    /: row 1(, column note)?: a field over 10 MB$/,
  ];

  test.skipIf(isMissing).each(isCampaign ? [...texts, huge] : texts)(
    'a text of %s fails the part in little memory',
    async (_size, query, message) => {
      const { rows, failure, startMb, peakMb } = await read(type, { ...at.keys, query: query() }, at.dir);
      expect(failure).toEqual({
        message: expect.stringMatching(message),
        hint: 'leave it out in the query, or take its beginning: substr(…, 1, 1000)',
      });
      expect(rows).toBe(0);
      expect(peakMb - startMb).toBeLessThan(150);
    },
  );

  test.runIf(isCampaign && !isMissing)('a row over 64 MB fails the part in little memory', async () => {
    const columns = Array.from({ length: 8 }, (_, index) => `${long(9_000_000)} AS c${index}`);
    const { failure, startMb, peakMb } = await read(
      type,
      { ...at.keys, query: `SELECT ${columns.join(', ')}` },
      at.dir,
    );
    expect(failure).toMatchObject({ message: expect.stringMatching(/: row 1: a row over 64 MB$/) });
    expect(peakMb - startMb).toBeLessThan(350);
  });

  test.runIf(isCampaign && !isMissing)('many rows of 9 MB make batches of one', async () => {
    const note = `CASE WHEN n < 500 THEN 'a' ELSE ${long(9_000_000)} END AS note`;
    const query = `SELECT n, ${note} FROM ${numbers} WHERE n < 540`;
    const { rows, charsMax, startMb, peakMb } = await read(type, { ...at.keys, query }, at.dir);
    expect(rows).toBe(539);
    expect(charsMax).toBeLessThan(9_010_000);
    expect(peakMb - startMb).toBeLessThan(350);
  });
});

describe.runIf(isCampaign)('in DuckDB', () => {
  test('rows that take more memory than they may end their process and not the agent', async () => {
    const query = "SELECT i, repeat('a', 9000000) AS note FROM range(2000) t(i)";
    const { rows, failure, startMb, peakMb } = await read('duckdb', { query });
    expect(failure).toEqual({
      message: 'duckdb: the query takes over 1256 MB of memory',
      hint: 'select fewer columns and shorter texts, raise memoryMax, or say pushdown: true',
    });
    expect(rows).toBe(0);
    expect(peakMb - startMb).toBeLessThan(150);
  });

  test('one text of a file that many rows share fails in the same way', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'long-rows-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const data = Array<string>(400).fill('a'.repeat(9_000_000));
    await writeFile(`${dir}/a.parquet`, new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'note', data }] })));
    expect((await stat(`${dir}/a.parquet`)).size).toBeLessThan(2_000_000);
    const { failure, startMb, peakMb } = await read('duckdb', { query: "SELECT * FROM 'a.parquet'" }, dir);
    expect(failure).toMatchObject({ message: expect.stringContaining('takes over 1256 MB of memory') });
    expect(peakMb - startMb).toBeLessThan(150);
  });
});

test.runIf(isCampaign)('a text beyond the limit of SQLite itself fails the part in the same words', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'long-rows-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  new Database(`${dir}/books.db`).exec('CREATE TABLE t (a)').close();
  const { failure } = await read('sqlite', { file: 'books.db', query: "SELECT printf('%900000000d', 1) AS note" }, dir);
  expect(failure).toMatchObject({ message: `${dir}/books.db: a field over 10 MB: string or blob too big` });
});

describe.skipIf(cannotMariadb)(`in ${mariadbName}`, () => {
  test.each([
    ["SELECT REPEAT('a', 300000000) AS note", 16_777_216, 'a field over 10 MB: Result of repeat() was larger'],
    ["SELECT REPEAT('a', 2000000) AS note", 1_048_576, 'Result of repeat() was larger'],
    ["SELECT GROUP_CONCAT(REPEAT('a', 1000)) AS note FROM seq_1_to_2000", 1_048_576, 'was cut by GROUP_CONCAT()'],
  ])('%s is a failure where the server cuts the text at %i bytes', async (query, limit, message) => {
    await using server = await mariadbServer({ settings: [`--max-allowed-packet=${limit}`] });
    const { rows, failure } = await read('mysql', { url: server.url(), query });
    expect({ rows, failure }).toMatchObject({ failure: { message: expect.stringContaining(message) } });
  });
});
