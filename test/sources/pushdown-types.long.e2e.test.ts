/** Pushdown over what is special to one engine: types, and a database whose encoding lacks most characters. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Place, readOutcome } from '../support/pushdown-world.ts';
import { entry, mapping } from '../support/row-world.ts';
import {
  type TestServer,
  cannotMariadb,
  cannotPostgres,
  mariadbName,
  mariadbServer,
  postgresName,
  postgresServer,
} from '../support/servers.ts';

const sumOf = mapping([entry({ path: ['{account}'], time: '{day}', rule: 'sum' })]);

test.skipIf(cannotPostgres)(`a database in LATIN1 is collapsed as it is read plainly (${postgresName})`, async () => {
  await using server = await postgresServer();
  await server.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  await server.run(
    `CREATE TABLE t (account text, day date, amount numeric(9, 2));
    INSERT INTO t VALUES ('é', '2026-01-01', 1), ('é', '2026-01-02', 2), (chr(160), '2026-01-02', 4), ('b', '2026-01-02', 8)`,
    'latin',
  );
  const place = { type: 'postgres', keys: { url: server.url({ database: 'latin' }) }, dir: '/', write: async () => {} };
  const reading = { query: 'SELECT account, day, amount FROM t ORDER BY day', mapping: sumOf, timezone: 'UTC' };
  const plain = await readOutcome(place, reading, 'plain');
  const pushed = await readOutcome(place, reading, 'pushdown');
  expect(plain).toMatchObject({ rejects: 1, drivers: [{ id: 'b' }, { id: 'é' }] });
  expect(pushed).toEqual({ ...plain, rows: 3, collapsed: 2 });
});

const lastOf = mapping([entry({ path: ['{account}'], time: '{day}' })]);

async function expectSame(place: Omit<Place, 'write'>, query: string, values: readonly string[]): Promise<void> {
  const reading = { query, mapping: lastOf, timezone: 'UTC' };
  const whole = { ...place, write: async () => {} };
  const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(whole, reading, 'plain');
  const pushed = await readOutcome(whole, reading, 'pushdown');
  expect(pushed).toMatchObject(plain);
  expect(plain).toMatchObject({ drivers: values.map((value) => ({ cells: [{ value }] })) });
}

test.skipIf(cannotMariadb)(`a number that the server fills with zeros is a text (${mariadbName})`, async () => {
  await using server = await mariadbServer();
  await server.run(`CREATE TABLE t (account varchar(9), day date, amount int(60) zerofill);
    INSERT INTO t VALUES ('a', '2026-01-01', 2), ('a', '2026-01-02', 3)`);
  const place = { type: 'mysql', keys: { url: server.url() }, dir: '/', write: async () => {} };
  const query = 'SELECT account, day, amount FROM t ORDER BY day';
  await expect(readOutcome(place, { query, mapping: lastOf, timezone: 'UTC' }, 'pushdown')).rejects.toMatchObject({
    message: 'the column amount is of type LONG ZEROFILL, and pushdown takes only an exact number there',
    hint: 'write CAST(amount AS DECIMAL(18, 2)) AS amount in the query with all digits that it has, or leave pushdown out',
  });
});

test.skipIf(cannotMariadb).each([
  ["'1.234,56'", 'DECIMAL(18, 2)', "Truncated incorrect DECIMAL value: '1.234,56'"],
  ["''", 'DECIMAL(18, 2)', "Truncated incorrect DECIMAL value: ''"],
  ["'12345'", 'DECIMAL(4, 2)', 'Out of range value'],
])(`%s cast to %s, which is another number, is refused (${mariadbName})`, async (text, type, warning) => {
  await using server = await mariadbServer();
  await server.run(`CREATE TABLE t (account varchar(9), day date, amount varchar(20));
    INSERT INTO t VALUES ('a', '2026-01-01', ' 1.50 '), ('a', '2026-01-02', ${text})`);
  const place = { type: 'mysql', keys: { url: server.url() }, dir: '/', write: async () => {} };
  for (const how of ['plain', 'pushdown'] as const) {
    const read = (where: string): Promise<unknown> =>
      readOutcome(
        place,
        {
          query: `SELECT account, day, CAST(amount AS ${type}) AS amount FROM t WHERE ${where}`,
          mapping: sumOf,
          timezone: 'UTC',
        },
        how,
      );
    const ofEmpty = text === "''" ? " write NULLIF(…, '') around it in the query," : '';
    await expect(read('TRUE')).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining(`a cast or comparison of the query makes another value: ${warning}`),
      hint: `correct that text,${ofEmpty} or leave the cast out (and pushdown), so that the agent reads the text itself`,
    });
    // The blanks around a number are no other value.
    expect(await read("day < '2026-01-02'")).toMatchObject({ drivers: [{ cells: [{ value: '1.50' }] }] });
  }
});

describe.skipIf(cannotMariadb)(`what a query warns of (${mariadbName})`, () => {
  let server: TestServer;
  let place: Place;
  beforeAll(async () => {
    server = await mariadbServer();
    place = { type: 'mysql', keys: { url: server.url() }, dir: '/', write: async () => {} };
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const row = "'a' AS account, DATE '2026-01-01' AS day";
  const read = (query: string, how: 'plain' | 'pushdown'): Promise<unknown> =>
    readOutcome(place, { query, mapping: sumOf, timezone: 'UTC' }, how);

  for (const how of ['plain', 'pushdown'] as const) {
    test(`hides no cast that makes another number, however much it is: ${how}`, async () => {
      const text = "IF(seq = 200, '1,234.50', '1')";
      const query = `SELECT ${row}, CAST(${text} AS DECIMAL(18, 2)) AS amount FROM seq_1_to_200 WHERE 1 / (seq MOD 2) IS NULL
        OR JSON_VALUE(seq, 'never') IS NULL ORDER BY seq`;
      const refused = { message: expect.stringContaining("Truncated incorrect DECIMAL value: '1,234.50'") };
      await expect(read(query, how)).rejects.toMatchObject(refused);
      await server.run('SET GLOBAL max_error_count = 0');
      try {
        await expect(read(query, how)).rejects.toMatchObject(refused);
      } finally {
        await server.run('SET GLOBAL max_error_count = DEFAULT');
      }
    });

    test(`is refused where the server does not show all of it: ${how}`, async () => {
      const query = `SELECT ${row}, 1 AS amount FROM seq_1_to_65540 WHERE JSON_VALUE(seq, 'never') IS NULL`;
      await expect(read(query, how)).rejects.toMatchObject({
        message: expect.stringMatching(/the server shows only 65535 of \d+ warnings, .*; the first: .*JSON/),
        hint: 'correct what the query warns of',
      });
    });

    test(`may be a division by zero, which is NULL, in any number of rows: ${how}`, async () => {
      const query = `SELECT ${row}, CAST(COALESCE(1 / 0, 2) AS DECIMAL(9, 2)) AS amount FROM seq_1_to_70000`;
      expect(await read(query, how)).toMatchObject({ drivers: [{ cells: [{ value: '140000.00' }] }] });
    });

    test(`hides no cast in a comparison: ${how}`, async () => {
      const query = `SELECT ${row}, 1 AS amount FROM seq_1_to_1 WHERE 'abc' = 0`;
      await expect(read(query, how)).rejects.toMatchObject({ message: expect.stringContaining("value: 'abc'") });
    });

    test.each([
      ["CAST(IF(seq = 2, '-5', '5') AS UNSIGNED)", 'Cast to unsigned converted negative integer'],
      ["CAST(IF(seq = 2, '9223372036854775808', '5') AS SIGNED)", 'Cast to signed converted positive'],
      ['CAST(IF(seq = 2, 1e20, 5) AS INT)', "overflow when converting '1e20' to SIGNED BIGINT"],
    ])(`hides no integer that becomes another one, though the server only notes it: %s: ${how}`, async (cast, note) => {
      const refused = read(`SELECT ${row}, ${cast} AS amount FROM seq_1_to_3`, how);
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(note) });
    });

    test(`digits of a second that are left out make no other day: ${how}`, async () => {
      const moment = "TIMESTAMP('2026-01-05 10:00:00.1234567')";
      const query = `SELECT 'a' AS account, ${moment} AS day, CAST('2' AS SIGNED) AS amount FROM seq_1_to_200`;
      const { drivers } = (await read(query, how)) as { drivers: readonly { cells: unknown }[] };
      expect(drivers).toMatchObject([{ cells: [{ value: '400' }] }]);
    });

    test.each([
      ["COALESCE(STR_TO_DATE('2026-01-06', '%d.%m.%Y'), DATE '2026-03-01')", "Incorrect datetime value: '2026-01-06'"],
      ["COALESCE(DATE '9999-12-31' + INTERVAL 7 DAY, DATE '2026-03-01')", 'field overflow'],
    ])(`hides no date that becomes NULL: %s: ${how}`, async (day, warning) => {
      const refused = read(`SELECT 'a' AS account, ${day} AS day, 1 AS amount`, how);
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(warning) });
    });

    test.each(["CAST(X'4DE9' AS CHAR)", "CONVERT('€ł' USING latin1)"])(
      `hides no text with a question mark in the place of a letter: %s: ${how}`,
      async (text) => {
        await expect(
          read(`SELECT ${text} AS account, DATE '2026-01-01' AS day, 1 AS amount`, how),
        ).rejects.toMatchObject({
          message: expect.stringContaining('makes another text'),
          hint: expect.stringContaining('character set'),
        });
      },
    );

    test(`is refused where the server ends it early: ${how}`, async () => {
      const refused = read(`SELECT ${row}, 1 AS amount FROM seq_1_to_3000 LIMIT ROWS EXAMINED 2000`, how);
      await expect(refused).rejects.toMatchObject({
        message: expect.stringContaining('The query result may be incomplete'),
        hint: 'leave LIMIT ROWS EXAMINED out of the query',
      });
    });

    test(`a date that is none is refused without a word on numbers: ${how}`, async () => {
      const query = `SELECT 'a' AS account, CAST('31.12.2026' AS DATE) AS day, 1 AS amount`;
      await expect(read(query, how)).rejects.toMatchObject({
        message: expect.stringContaining("makes another value: Incorrect datetime value: '31.12.2026'"),
        hint: 'correct that text, or leave the cast out (and pushdown), so that the agent reads the text itself',
      });
    });
  }
});

describe.skipIf(cannotMariadb)(`a day that no calendar has (${mariadbName})`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await mariadbServer();
    await server.run(`SET sql_mode = 'ALLOW_INVALID_DATES';
      CREATE TABLE t (account varchar(9), day date, moment datetime, amount int);
      INSERT INTO t VALUES ('a', '2026-02-28', '2026-02-28', 1), ('a', '2026-02-31', '2026-02-31', 2), ('a', '2026-02-00', '2026-00-01', 4),
        ('a', '0000-00-00', '0000-00-00', 8), ('a', '2024-02-29', '2024-02-29', 16), ('a', '2026-04-31', '2026-04-31', 32)`);
  });
  afterAll(async () => await server?.[Symbol.asyncDispose]());

  test.each(['day', 'moment'])('is a reject as a %s, and moves no other row to its month', async (time) => {
    const place = { type: 'mysql', keys: { url: server.url() }, dir: '/', write: async () => {} };
    const drivers = (['sum', 'last'] as const).map((rule) => entry({ path: [rule], time: `{${time}}`, rule }));
    const reading = { query: `SELECT ${time}, amount FROM t`, mapping: mapping(drivers), timezone: 'UTC' };
    const { rows: _rows, collapsed: _none, ...plain } = await readOutcome(place, reading, 'plain');
    const cells = [
      { month: '2024-02', value: '16' },
      { month: '2026-02', value: '1' },
    ];
    expect(plain).toMatchObject({ rejects: 4, drivers: [{ cells }, { cells }] });
    expect(await readOutcome(place, reading, 'pushdown')).toMatchObject(plain);
  });
});

test.skipIf(cannotMariadb)(`a query that locks rows is refused (${mariadbName})`, async () => {
  await using server = await mariadbServer();
  await server.run(`CREATE TABLE t (account varchar(20), day date, amount int);
    INSERT INTO t VALUES ('for\nshare', '2026-01-01', 2)`);
  const place = { type: 'mysql', keys: { url: server.url() }, dir: '/', write: async () => {} };
  const query = "SELECT account, day, amount FROM t WHERE account <> '\nfor\nshare\n' ORDER BY day";
  const read = (asked: string): Promise<unknown> =>
    readOutcome(place, { query: asked, mapping: lastOf, timezone: 'UTC' }, 'pushdown');
  await expect(read(`${query} lock in share mode`)).rejects.toMatchObject({
    message: 'the query locks rows, which cannot be pushed down',
    hint: 'leave LOCK IN SHARE MODE out of the query: a read sees one state of the database without it',
  });
  await expect(read(`${query} FOR UPDATE`)).rejects.toMatchObject({
    hint: expect.stringContaining('without FOR UPDATE'),
  });
  expect(await read(query)).toMatchObject({ drivers: [{ cells: [{ value: '2' }] }] });
});

test.each([
  [
    'whole numbers of 39 digits',
    "SELECT 'a' AS account, DATE '2026-01-01' AS day, 340282366920938463463374607431768211455::UHUGEINT AS amount",
    '340282366920938463463374607431768211455',
  ],
  [
    'more digits before the point than are ranked',
    "SELECT 'a' AS account, DATE '2026-01-01' AS day, 1234567890123456789012345678901.123456::DECIMAL(38, 6) AS amount",
    '1234567890123456789012345678901.123456',
  ],
])('DuckDB: %s', async (_what, query, value) => {
  const dir = await mkdtemp(path.join(tmpdir(), 'pushdown-types-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await expectSame({ type: 'duckdb', keys: {}, dir }, query, [value]);
});

describe('an id of several columns', () => {
  /** Of rows of two columns at one moment: drivers as they are read plainly, which have to be the same with pushdown. */
  async function read(
    id: string | undefined,
    names: readonly string[],
    rows: readonly string[],
    how: 'plain' | 'pushdown',
  ) {
    const dir = await mkdtemp(path.join(tmpdir(), 'pushdown-types-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const query = `SELECT a, b, DATE '2026-01-01' AS day, n FROM (VALUES ${rows.join(', ')}) AS t (n, a, b) ORDER BY n`;
    const sum = entry({ ...(id !== undefined && { id }), path: [...names], time: '{day}', value: '{n}', rule: 'sum' });
    const place = { type: 'duckdb', keys: {}, dir, write: async () => {} };
    return await readOutcome(place, { query, mapping: mapping([sum]), timezone: 'UTC' }, how);
  }

  test.each([[["(1, '1', '23')", "(2, '12', '3')"]], [["(1, '12', '3')", "(2, '1', '23')"]]])(
    'without a mark between them has the path of its latest row: %j',
    async (rows) => {
      const plain = await read('{a}{b}', ['X', '{a}', '{b}'], rows, 'plain');
      const pushed = await read('{a}{b}', ['X', '{a}', '{b}'], rows, 'pushdown');
      expect(pushed.drivers).toEqual(plain.drivers);
      expect(pushed.drivers).toMatchObject([{ path: ['X', ...rows[1]!.match(/\d+(?=')/g)!], hasOtherPath: true }]);
    },
  );

  test.each([
    ['{a}-{b}', ['X', '{a}', '{b}']],
    ['{a}-{b|lower}', ['{a}']],
    ['{a}-{b}-', ['X', '{b}']],
  ] as const)('%s is refused where two keys make it, which only the order of rows could decide', async (id, names) => {
    const rows = ["(1, 'x-y', 'z')", "(2, 'x', 'y-z')"];
    await expect(read(id, names, rows, 'pushdown')).rejects.toMatchObject({
      code: 'part.unreadable',
      message: expect.stringMatching(
        /^the id "x-y-z-?" has two paths, \[.*\] and \[.*\], and pushdown cannot say which counts$/,
      ),
      hint: expect.stringContaining('"{region}|{product}", or leave pushdown out'),
    });
  });

  test('that is its path is refused likewise', async () => {
    const rows = ["(1, 'x/y', 'z')", "(2, 'x', 'y/z')"];
    await expect(read(undefined, ['X', '{a}', '{b}'], rows, 'pushdown')).rejects.toThrow(
      'the id "X/x/y/z" has two paths',
    );
  });

  test.each([
    ['{a}-{b}', ['X', '{a}', '{b}']],
    ['{a}', ['{a}', '{a|slug}']],
    ['{a}-{b}', ['all']],
    [undefined, ['{a}', '{b}']],
  ] as const)('%s may have the mark in its texts while each id has one path', async (id, names) => {
    const rows = ["(1, 'x-y', 'z')", "(2, 'x-y', 'z')", "(3, 'x', 'y')", "(4, 'x/y', 'z')"];
    const plain = await read(id, names, rows, 'plain');
    const pushed = await read(id, names, rows, 'pushdown');
    expect({ ...pushed, rows: 4, collapsed: 0 }).toEqual(plain);
  });
});
