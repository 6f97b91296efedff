/** Links that somebody put where a query of DuckDB finds them. */
import { link, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { kinds } from '../../src/sources/index.ts';
import { quoted } from '../support/pushdown-world.ts';
import { laterClock, noMapping, readWhole, tempDir, writeFiles } from '../support/source-world.ts';

const secret = 's3cr3t-t0ken';

/** A folder `exports` of one file, beside a state directory with a ledger and a file with a token. */
async function books(): Promise<string> {
  const dir = await tempDir();
  await writeFiles(dir, {
    'exports/a.csv': 'region,amount\nN,1.50\n',
    'state/ledger.csv': `region,amount\n${secret},1\n`,
    token: `${secret}\n`,
    'elsewhere/b.csv': `region,amount\n${secret},2\n`,
  });
  return dir;
}

async function rowsOf(dir: string, query: string, keys: object = {}): Promise<readonly Row[]> {
  const kind = kinds['duckdb']!;
  const forbidden = [path.join(dir, 'state'), path.join(dir, 'token')];
  const context = { name: 'sales', baseDir: dir, forbidden, clock: laterClock(), mapping: noMapping, timezone: 'UTC' };
  return (await readWhole(kind.open(kind.schema.parse({ query, ...keys }), context))).rows;
}

async function failureOf(dir: string, query: string, keys?: object): Promise<{ message: string; hint?: string }> {
  return await rowsOf(dir, query, keys).then(
    (rows) => ({ message: JSON.stringify(rows) }),
    (error: unknown) => error as Error,
  );
}

test.each([
  "SELECT * FROM read_csv('exports/*.csv', all_varchar = true, union_by_name = true)",
  "SELECT region FROM read_csv('exp' || 'orts/x.csv')",
  "SELECT amount FROM 'exports/x.csv'",
  "SELECT content FROM read_text('exports/*')",
  "SELECT hex(content) AS content FROM read_blob('exports/x.csv')",
  "SELECT count(*) AS n FROM read_csv('exports/x.csv')",
  "SELECT 1 AS a UNION ALL SELECT b FROM (SELECT error('no') AS b FROM read_csv('exports/x.csv', header = false))",
])('a file of the agent is refused, whatever the query makes of it: %s', async (query) => {
  const dir = await books();
  await symlink('../token', path.join(dir, 'exports/x.csv'));
  const failure = await failureOf(dir, query);
  expect(failure).toMatchObject({ code: 'part.unreadable', hint: expect.stringContaining('remove the link') });
  expect(failure.message).toMatch(/exports\/x\.csv is a link to .+token, which is the agent's own/);
});

test.each<[string, string, (dir: string) => Promise<void>]>([
  ['a hard link', 'exports/*.csv', (dir) => link(path.join(dir, 'state/ledger.csv'), path.join(dir, 'exports/x.csv'))],
  ['a link to the directory', 'exports/*/*.csv', (dir) => symlink('../state', path.join(dir, 'exports/more'))],
])('so is one in the state directory through %s', async (_what, glob, make) => {
  const dir = await books();
  await make(dir);
  const failure = await failureOf(dir, `SELECT * FROM read_csv('${glob}') ORDER BY ALL`);
  expect(failure.message).toMatch(/is a link to .+state, which is the agent's own/);
  expect(failure.message).not.toContain(secret);
});

test('so is one that a view of the database names', async () => {
  const dir = await books();
  await symlink('../token', path.join(dir, 'exports/x.csv'));
  const instance = await DuckDBInstance.create(path.join(dir, 'books.duckdb'));
  const connection = await instance.connect();
  await connection.run(`CREATE VIEW v AS SELECT content FROM read_text(${quoted(`${dir}/exports/*`)})`);
  connection.closeSync();
  instance.closeSync();
  const failure = await failureOf(dir, 'SELECT * FROM v', { file: 'books.duckdb' });
  expect(failure.message).toMatch(/x\.csv is a link to .+token, which is the agent's own/);
});

test('a link out of its folder is refused, and the hint has the path to write', async () => {
  const dir = await books();
  await symlink('../elsewhere/b.csv', path.join(dir, 'exports/x.csv'));
  expect(await failureOf(dir, "SELECT * FROM 'exports/*.csv'")).toMatchObject({
    code: 'part.unreadable',
    message: expect.stringMatching(/exports\/x\.csv is a link that leads out of its folder/),
    hint: expect.stringContaining('elsewhere/b.csv'),
  });
});

test('links within a folder, and a folder that is a link, are read', async () => {
  const dir = await books();
  await symlink('a.csv', path.join(dir, 'exports/newest.csv'));
  await mkdir(path.join(dir, 'shares'));
  await symlink('../exports', path.join(dir, 'shares/sales'));
  expect(await rowsOf(dir, "SELECT * FROM read_csv('shares/sales/newest.csv', all_varchar = true)")).toEqual([
    ['N', '1.50'],
  ]);
});

test('a file that is refused late, after many rows of another, leaves no complete read', async () => {
  const dir = await books();
  await symlink('../token', path.join(dir, 'exports/x.csv'));
  const query =
    "SELECT i::VARCHAR AS t FROM range(300000) r(i) UNION ALL SELECT content FROM read_text('exports/x.csv')";
  expect((await failureOf(dir, query)).message).toContain("which is the agent's own");
});
