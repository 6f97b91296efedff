/** A binary number has the same text from sqlite and duckdb as from parquet and xlsx: the shortest that means it, as JavaScript spells it. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Place, duckdbPlace, readOutcome } from '../support/pushdown-world.ts';
import { entry, mapping } from '../support/row-world.ts';
import { openSource, queryPart, readWhole, tempDir } from '../support/source-world.ts';

const plain = [7, 1000, -1000, 0, 0.5, -0.17, 1e-4, 1e-5, -1.25e-5, 1e-6, 1e-7, -1.5e-7, 1.234e-10, 1e10];
const large = [1e14, 1e15, 1_234_567_890_123_456, -1.5e15, 1e16, 12_345_678_901_234_568, 1.25e17, -1e20];
const others = [-0, 1e21, 1.5e21, -1e22, 1e-14, 1e-15, 1.5e-15, 1e100, 1e-100, 1.5e300, 0.1 + 0.2];
const all = [...plain, ...large, ...others];

test('of sqlite and duckdb, as of parquet and xlsx', async () => {
  const dir = await tempDir();
  const database = new Database(path.join(dir, 'books.db'));
  database.exec('CREATE TABLE t (nr INTEGER, x REAL)');
  for (const [at, number] of all.entries()) database.prepare('INSERT INTO t VALUES (?, ?)').run(at, number);
  database.close();
  const query = 'SELECT x FROM t ORDER BY nr';
  const { rows } = await readWhole(openSource('sqlite', { file: 'books.db', query }, dir));
  expect(rows.flat()).toEqual(all.map(String));

  const some = [7, 1000, 0, -0, 0.1, -1.5e-7, 1e-5, 1e16, 16_777_216, 123_456_790_000, -16_777_215, 0.5];
  const values = (of: readonly number[], type: string): string =>
    of.map((number, at) => `(${at}, '${Object.is(number, -0) ? '-0' : number}'::${type})`).join(', ');
  for (const [numbers, type] of [
    [all, 'DOUBLE'],
    [some, 'FLOAT'],
    // The digits of an exact number stay.
    [['7.0', '1000.00'], 'VARCHAR'],
  ] as const) {
    const asked = `SELECT x FROM (VALUES ${values(numbers as readonly number[], type)}) t (nr, x) ORDER BY nr`;
    const found = await readWhole(openSource('duckdb', { query: asked }, dir), queryPart);
    expect(found.rows.flat(), type).toEqual(numbers.map(String));
  }
  const exact = await readWhole(openSource('duckdb', { query: 'SELECT 1000.00::DECIMAL(12, 2) AS x' }, dir), queryPart);
  expect(exact.rows).toEqual([['1000.00']]);
});

async function expectOneText(place: Place, numbers: readonly number[]): Promise<void> {
  const rows = numbers.map((number, at) => [Object.is(number, -0) ? '-0' : String(number), '2026-01-31', String(at)]);
  await place.write({ columns: { x: 'float', day: 'date', amount: 'short' }, rows });
  const query = 'SELECT x, day, amount FROM t ORDER BY nr';
  // Ordered by their bytes.
  const ids = [...new Set(numbers.map(String))].sort();
  const some = ids.filter((_id, at) => at % 2 === 0);
  for (const [wanted, where] of [
    [ids, []],
    [some, [{ column: 'x', test: { kind: 'oneOf', texts: some } }]],
  ] as const) {
    const ofX = mapping([entry({ path: ['{x}'], time: '{day}', rule: 'sum' })], { where });
    for (const how of ['plain', 'pushdown'] as const) {
      const { drivers } = await readOutcome(place, { query, mapping: ofX, timezone: 'UTC' }, how);
      expect(
        drivers.map((driver) => (driver as { id: string }).id),
        how,
      ).toEqual(wanted);
    }
  }
}

test('of duckdb also with pushdown', async () => {
  await expectOneText(await duckdbPlace(await tempDir()), all);
});
