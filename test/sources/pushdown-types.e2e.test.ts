/** Pushdown over what is special to one engine: types, and a database whose encoding lacks most characters. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Place, readOutcome } from '../support/pushdown-world.ts';
import { entry, mapping } from '../support/row-world.ts';
import {
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
  const read = (where: string): Promise<unknown> =>
    readOutcome(
      place,
      {
        query: `SELECT account, day, CAST(amount AS ${type}) AS amount FROM t WHERE ${where}`,
        mapping: sumOf,
        timezone: 'UTC',
      },
      'pushdown',
    );
  await expect(read('TRUE')).rejects.toMatchObject({
    code: 'part.unreadable',
    message: expect.stringContaining(`a cast of the query makes another value: ${warning}`),
    hint: "correct that text, write NULLIF(amount, '') where it is empty, or leave pushdown out",
  });
  // The blanks around a number are no other value.
  expect(await read("day < '2026-01-02'")).toMatchObject({ drivers: [{ cells: [{ value: '1.50' }] }] });
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
