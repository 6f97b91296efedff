/** The built files read every kind of source as the checkout does. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { checkout, executable } from '../support/built.ts';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { workbook } from '../support/workbooks.ts';

const columns = ['id', 'time', 'value'];
const row = ['a', '2026-03-01', '1.50'];
const entry = (name: string): object => ({
  id: `${name}/{id}`,
  path: [name, '{id}'],
  time: '{time}',
  value: '{value}',
});
const drivers = (name: string): object => ({ drivers: [entry(name)] });
const fileKeys = { settle: '0s' };

/** A source of each kind that needs no server, and of what only some files need: code pages, names of months, threads. */
const sources = {
  csv: csv('a.csv', drivers('csv')),
  gzip: csv('a.csv.gz', drivers('gzip')),
  dos: csv('dos.csv', { ...drivers('dos'), encoding: 'cp437' }),
  german: csv('german.csv', {
    drivers: [{ ...entry('german'), time: { from: '{time}', format: 'd. MMMM yyyy', locale: 'de' } }],
  }),
  large: csv('large.csv', drivers('large')),
  json: { type: 'json', files: ['a.json'], ...fileKeys, ...drivers('json') },
  jsonl: { type: 'jsonl', files: ['a.jsonl'], ...fileKeys, ...drivers('jsonl') },
  xlsx: { type: 'xlsx', files: ['a.xlsx'], ...fileKeys, ...drivers('xlsx') },
  parquet: { type: 'parquet', files: ['a.parquet'], ...fileKeys, ...drivers('parquet') },
  sqlite: { type: 'sqlite', file: 'a.db', query: 'SELECT * FROM revenue', ...drivers('sqlite') },
  duckdb: { type: 'duckdb', query: "SELECT * FROM read_csv('a.csv', all_varchar = true)", ...drivers('duckdb') },
};

async function writeAll(dir: string): Promise<void> {
  const at = (name: string): string => path.join(dir, name);
  const lines = `${columns.join()}\n${row.join()}\n`;
  const record = JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
  await writeFile(at('a.csv'), lines);
  await writeFile(at('a.csv.gz'), gzipSync(lines));
  await writeFile(at('dos.csv'), Buffer.from(`${columns.join()}\n\x84,2026-03-01,1\n`, 'latin1'));
  await writeFile(at('german.csv'), 'id,time,value\na,3. März 2026,1\n');
  // Large enough for threads.
  const many = Array.from({ length: 900_000 }, (_, index) => `d${index % 1000},2026-03-01,${index}\n`);
  await writeFile(at('large.csv'), `${columns.join()}\n${many.join('')}`);
  await writeFile(at('a.json'), `[${record}]`);
  await writeFile(at('a.jsonl'), `${record}\n`);
  await writeFile(at('a.xlsx'), workbook({ sheets: [{ name: 'Sheet1', rows: [columns, row] }] }));
  const columnData = columns.map((name, index) => ({ name, type: 'STRING' as const, data: [row[index]!] }));
  await writeFile(at('a.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })));
  const database = new Database(at('a.db'));
  database.exec(`CREATE TABLE revenue (id, time, value TEXT); INSERT INTO revenue VALUES ('a', '2026-03-01', '1.50')`);
  database.close();
}

test('push what the checkout pushes, of every kind of source', async () => {
  await using receiver = await openReceiver();
  const config = { destination: { url: receiver.url }, workers: 2, sources };
  const pushed: unknown[] = [];
  for (const program of [executable, checkout]) {
    await using at = await place(config, {}, {}, program);
    await writeAll(at.dir);
    const done = await at.command('sync', '--json');
    expect(done.json()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    const { push, sources: reports } = done.json<{ push: { digest: string }; sources: { state: string }[] }>();
    expect(reports.map(({ state }) => state)).toEqual(Object.keys(sources).map(() => 'accepted'));
    pushed.push(push.digest);
  }
  expect(pushed[0]).toBe(pushed[1]);
});
