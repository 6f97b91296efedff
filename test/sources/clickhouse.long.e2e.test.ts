import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import type { Source } from '../../src/core/ports.ts';
import {
  type ClickHouseServer,
  cannotClickhouse,
  cannotNewestClickhouse,
  clickhouseName,
  clickhouseServer,
  clickhouses,
  newestClickhouse,
  newestClickhouseName,
} from '../support/clickhouse-servers.ts';
import { failureOf, failureWithout } from '../support/database-world.ts';
import type { TestServer, UrlOptions } from '../support/servers.ts';
import { germanColumns, readOf } from '../support/number-world.ts';
import { calm, openSource, openSourceIn, readWhole } from '../support/source-world.ts';

describe.each(clickhouses)('a value of type clickhouse, on $name', ({ isMissing, start, isOld }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (!isMissing) server = await start();
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  async function rowsOf(query: string): Promise<readonly Row[]> {
    return (await readWhole(openSource('clickhouse', { url: server.url(), query }, '/'))).rows;
  }

  test.skipIf(isMissing)('that is a number is itself, whatever marks are declared for texts', async () => {
    const query = `SELECT toDecimal64(7.125, 3) AS n, toNullable(toDecimal32(7.125, 3)) AS short, toFloat64(-7.125) AS double,
      toFloat32(7.5) AS float, 1234 AS whole, '1.234,50' AS text, '7.125' AS point`;
    const by = germanColumns('n', 'short', 'double', 'float', 'whole', 'text', 'point');
    const source = openSourceIn({ mapping: by }, 'clickhouse', { url: server.url(), query });
    expect(await readOf(source, by)).toEqual({
      n: '7.125',
      short: '7.125',
      double: '-7.125',
      float: '7.5',
      whole: '1234',
      text: '1234.50 <- 1.234,50',
      point: '7125 <- 7.125',
    });
  });

  const always = [
    ['toInt64(-9223372036854775808)', '-9223372036854775808'],
    ['toUInt64(18446744073709551615)', '18446744073709551615'],
    ["toDecimal32('1.5', 4)", '1.5000'],
    ["toDecimal128('12345678901234567890.1234567890', 10)", '12345678901234567890.1234567890'],
    ["toDecimal128('-0.00000000000000000000000000000000000001', 38)", '-0.00000000000000000000000000000000000001'],
    ['toFloat64(0.1)', '0.1'],
    ['nan', 'nan'],
    ["toDate('2026-02-01')", '2026-02-01'],
    ["toDateTime('2026-01-31 23:30:00', 'UTC')", '2026-01-31 23:30:00+00:00'],
    ["toDateTime('2026-02-01 00:30:00', 'Europe/Berlin')", '2026-01-31 23:30:00+00:00'],
    ["toNullable(toDateTime('2026-01-31 23:30:00', 'UTC'))", '2026-01-31 23:30:00+00:00'],
    ["CAST('b', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)')", 'b'],
    ["toFixedString('ab', 5)", 'ab'],
    ["'ünïcode 😀'", 'ünïcode 😀'],
    ["'a\\tb\\nc\\\\N\\r\\'\"'", 'a\tb\nc\\N\r\'"'],
    ["'\\\\N'", '\\N'],
    ["' 007 '", ' 007 '],
    ["'+\\t'", '+\t'],
    ['NULL', ''],
    ["CAST(NULL, 'Nullable(Decimal(9, 2))')", ''],
    ["''", ''],
    ['[1, 2]', '[1,2]'],
  ] as const;
  const newer = [
    [
      "toInt256('-57896044618658097711785492504343953926634992332820282019728792003956564819968')",
      '-57896044618658097711785492504343953926634992332820282019728792003956564819968',
    ],
    ["toDecimal256('1.5', 60)", `1.5${'0'.repeat(59)}`],
    ["toDate32('1925-01-01')", '1925-01-01'],
    ["toDateTime64('2026-02-01 00:30:00.123456', 6, 'Europe/Berlin')", '2026-01-31 23:30:00.123456+00:00'],
    ["toDateTime64('1925-01-01 00:00:00.5', 1, 'UTC')", '1925-01-01 00:00:00.5+00:00'],
    ["toLowCardinality(toNullable('x'))", 'x'],
    ['true', 'true'],
    ["toUUID('00000000-0000-0000-0000-0000000000ff')", '00000000-0000-0000-0000-0000000000ff'],
    ["map('a', 1)", "{'a':1}"],
    ["tuple(1, 'a')", "(1,'a')"],
  ] as const;

  test.skipIf(isMissing).each(isOld ? always : [...always, ...newer])('%s comes as %s', async (sql, text) => {
    expect(await rowsOf(`SELECT ${sql} AS value`)).toEqual([[text]]);
  });

  test.skipIf(isMissing)('without a text is refused, and the message says what to write', async () => {
    const source = openSource('clickhouse', { url: server.url(), query: 'SELECT sumState(1) AS total' }, '/');
    expect(await failureOf(source, server)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/the column total is AggregateFunction\(sum, UInt8\), not a text$/),
      hint: 'write finalizeAggregation(total), or leave it out',
    });
  });

  test.skipIf(isMissing).each(["'a\\0b'", "unhex('FF')"])('%s is refused: no text', async (sql) => {
    const source = openSource('clickhouse', { url: server.url(), query: `SELECT 1 AS n, ${sql} AS x` }, '/');
    expect(await failureOf(source, server)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/row 1, column x: a text that is not utf-8 or holds a NUL/),
    });
  });

  test.skipIf(isMissing)('keeps its place in the order of the query', async () => {
    const rows = await rowsOf('SELECT number AS n FROM numbers(300000) ORDER BY n DESC');
    expect(rows).toHaveLength(300_000);
    expect(rows.every(([text], at) => text === String(299_999 - at))).toBe(true);
  });
});

describe.skipIf(cannotClickhouse)(`type clickhouse, on ${clickhouseName}`, () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await clickhouseServer();
    await server.run('CREATE TABLE revenue (date Date, amount Decimal(18, 2)) ENGINE = Memory');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (query: string, keys: object = {}, url: UrlOptions = {}): Source =>
    openSource('clickhouse', { url: server.url(url), query, ...keys }, '/');

  test.each([
    ['INSERT INTO revenue VALUES (today(), 1)', /Syntax error/, /one SELECT/],
    ['DROP TABLE revenue', /Syntax error/, /one SELECT/],
    ['SELECT 1 AS a; SELECT 2 AS b', /Syntax error/, /one SELECT/],
    ['SELECT 1 AS a FORMAT CSV', /Syntax error/, /without FORMAT/],
    ['SELECT amuont FROM revenue', /amuont/, /name of the column/],
    ['SELECT * FROM revenues', /default\.revenues doesn't exist/, /database\.table/],
    ['SELECT 1 AS a, 2 AS ` a`', /two columns called a/, /AS/],
    ['SELECT number % 2 AS a, sum(number) AS b FROM numbers(9) GROUP BY a WITH TOTALS', /gives totals/, /WITH TOTALS/],
  ])('%s is refused', async (query, message, hint) => {
    const error = await failureOf(open(query), server);
    expect(error).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(error.message).toContain(`http://admin@127.0.0.1:${server.port}/default: `);
  });

  test.each(['-- first\n SELECT 1 AS a;', '/* a; */ SELECT 1 AS a -- ; (', 'SELECT 1 AS a SETTINGS max_threads = 1'])(
    '%s is one',
    async (query) => {
      expect((await readWhole(open(query))).rows).toEqual([['1']]);
    },
  );

  test('a query without rows gives its columns', async () => {
    expect(await readWhole(open('SELECT * FROM revenue WHERE 0'))).toMatchObject({
      columns: ['date', 'amount'],
      rows: [],
    });
  });

  test.each([
    ['before its rows', 'SELECT throwIf(number = 10) AS a FROM numbers(100)'],
    ['among its rows', "SELECT throwIf(number = 3000000) AS a, 'text' AS b FROM numbers(4000000)"],
    [
      'among rows that look like the failure',
      "SELECT concat('Code: 395, e.displayText() = DB::Exception: ', toString(throwIf(number = 3000000))) AS a FROM numbers(4000000)",
    ],
  ])('a query that fails %s is no short read', async (_when, query) => {
    expect(await failureOf(open(query), server)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/Value passed to 'throwIf' function is non zero$/),
    });
  });

  test('rows that look like a failure are rows', async () => {
    const text = 'Code: 395, e.displayText() = DB::Exception: no';
    expect((await readWhole(open(`SELECT '${text}' AS a`))).rows).toEqual([[text]]);
  });

  test('changed says with its answer whether the query must run again', async () => {
    await server.run('CREATE TABLE versioned (version UInt32) ENGINE = Memory');
    await server.run('INSERT INTO versioned VALUES (7)');
    const source = open('SELECT * FROM versioned', { changed: 'SELECT max(version) FROM versioned' });
    const [first] = await source.parts(calm);
    expect(await source.parts(calm)).toEqual([first]);
    await server.run('INSERT INTO versioned VALUES (8)');
    expect((await source.parts(calm))[0]!.version).not.toBe(first!.version);
  });

  test('reads wide rows with bounded batches, and refuses a field that is too long', async () => {
    const text = (length: number): string => `arrayStringConcat(arrayMap(at -> 'x', range(${length})))`;
    const wide = open(`SELECT number AS n, ${text(1_000_000)} AS text FROM numbers(30)`);
    const batches: number[] = [];
    for await (const { count } of wide.rows((await wide.parts(calm))[0]!, calm)) batches.push(count);
    expect(batches.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(Math.max(...batches)).toBeLessThanOrEqual(6);
    expect(await failureOf(open(`SELECT 1 AS n, ${text(11_000_000)} AS text`), server)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/row 1.*a field over 10 MB/),
    });
  });
});

describe.skipIf(cannotClickhouse)(`a profile of ${clickhouseName}`, () => {
  const as = { user: 'reader', password: 'reader-pass' };

  test.each([
    { max_result_rows: '10', result_overflow_mode: 'break' },
    { max_rows_to_group_by: '10', group_by_overflow_mode: 'any' },
  ])('that cuts results makes the read fail: %j', async (profile) => {
    await using server = await clickhouseServer({ profile });
    const source = openSource(
      'clickhouse',
      { url: server.url(as), query: 'SELECT number AS n, count() AS c FROM numbers(100000) GROUP BY n' },
      '/',
    );
    expect(await failureOf(source, as)).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(/limit|too many|exceeded/i),
      hint: expect.stringMatching(/max_result_rows|max_rows_to_read/),
    });
  });

  test('that lets nothing be set is enough to read', async () => {
    await using server = await clickhouseServer({ profile: { readonly: '1' } });
    const source = openSource('clickhouse', { url: server.url(as), query: 'SELECT 1 AS a' }, '/');
    expect((await readWhole(source)).rows).toEqual([['1']]);
  });

  test('that lets nothing be set and cuts results is refused, and the message says what to set', async () => {
    await using server = await clickhouseServer({ profile: { readonly: '1', result_overflow_mode: 'break' } });
    const source = openSource('clickhouse', { url: server.url(as), query: 'SELECT 1 AS a' }, '/');
    expect(await failureOf(source, as)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/the profile of the user says result_overflow_mode = break$/),
      hint: 'say result_overflow_mode = throw there, or say readonly = 2, with which the agent may set it itself',
    });
  });
});

test.skipIf(cannotNewestClickhouse)(
  `a profile of ${newestClickhouseName} that limits rows cuts no result`,
  async () => {
    await using server = await newestClickhouse();
    // What a profile says and what a session says are one to a statement.
    await server.run("SET limit = '1'");
    const source = openSource('clickhouse', { url: server.url(), query: 'SELECT number AS n FROM numbers(500)' }, '/');
    expect((await readWhole(source)).rows).toHaveLength(500);
  },
);

test('type clickhouse says what to install where the driver is missing', async () => {
  expect(await failureWithout('@clickhouse/client', 'clickhouse', 'http://me:hidden@localhost/books')).toEqual({
    code: 'source.unreadable',
    message: 'install @clickhouse/client to use type clickhouse',
    hint: 'npm install @clickhouse/client',
  });
});
