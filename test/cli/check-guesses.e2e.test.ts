/** What `check` says of a query that may give other values than are stored. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commandsWorld } from '../support/commands-world.ts';

async function warningsOf(query: string): Promise<readonly string[]> {
  const drivers = [{ path: ['{region}'], time: '{day}', value: '{amount}' }];
  const { at, run } = await commandsWorld({ books: { type: 'duckdb', query, drivers } }, {});
  await writeFile(
    path.join(at.dir, 'x.csv'),
    'region,day,amount\nN,2026-01-05,12345678901234567.89\nS,2026-01-05,1.5\n',
  );
  const { code, stdout } = await run('check', '--json');
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { sources: { warnings: string[] }[] }).sources[0]?.warnings ?? [];
}

test('check says that types are guessed, and that a value is a binary number', async () => {
  expect(await warningsOf("SELECT * FROM 'x.csv' ORDER BY ALL")).toEqual([
    expect.stringMatching(
      /^the query lets DuckDB guess the types of CSV files: .+ all_varchar = true\), or use type: csv$/,
    ),
    expect.stringMatching(
      /^the column amount is a binary number \(DOUBLE\), of which only the first 15 digits are sure/,
    ),
  ]);
});

test.each([
  'amount',
  // Whoever casts says which digits are meant.
  'amount::DOUBLE::DECIMAL(38, 2) AS amount',
])('check says nothing where all is a text or a decimal: %s', async (amount) => {
  const query = `SELECT region, day, ${amount} FROM read_csv('x.csv', all_varchar = true) ORDER BY ALL`;
  expect(await warningsOf(query)).toEqual([]);
});

test('a binary number of which no value is made is not worth a word', async () => {
  const query = "SELECT *, 0.5::DOUBLE AS share FROM read_csv('x.csv', all_varchar = true) ORDER BY ALL";
  expect(await warningsOf(query)).toEqual([]);
});
