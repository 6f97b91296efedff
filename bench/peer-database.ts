/**
 * A database's own client alone: streams the rows of a query to nowhere. What a source is measured against.
 *
 *   node bench/peer-database.ts URL QUERY [--own]     --own: without the start of the process
 */
import { createClient } from '@clickhouse/client';
import mysql from 'mysql2';
import pg from 'pg';
import Cursor from 'pg-cursor';

const [url = '', sql = '', own] = process.argv.slice(2);
const startedMs = performance.now();
const countRows = url.startsWith('mysql') ? countMySql : url.startsWith('http') ? countClickhouse : countPostgres;
const rows = await countRows();
const seconds = (performance.now() - startedMs) / 1000;
console.log(JSON.stringify(own === undefined ? { rows } : { seconds }));

async function countPostgres(): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const cursor = client.query(new Cursor<unknown[]>(sql, [], { rowMode: 'array' }));
  let count = 0;
  for (let batch = await cursor.read(1000); batch.length > 0; batch = await cursor.read(1000)) count += batch.length;
  await client.end();
  return count;
}

async function countMySql(): Promise<number> {
  const client = mysql.createConnection(url);
  const ended = Promise.withResolvers<void>();
  const stream = client.query({ sql, rowsAsArray: true }).stream();
  let count = 0;
  stream.on('data', () => count++);
  stream.once('error', ended.reject);
  stream.once('end', ended.resolve);
  await ended.promise;
  client.end();
  return count;
}

async function countClickhouse(): Promise<number> {
  const client = createClient({ url, request_timeout: 3_600_000 });
  const answer = await client.query({ query: sql, format: 'TabSeparated' });
  let lines = 0;
  for await (const some of answer.stream()) lines += some.length;
  await client.close();
  return lines;
}
