/** The same table through every kind of source gives the same bytes, whatever the zone of the machine. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import { constant } from '../../src/sources/databases/clickhouse-types.ts';
import { clickhouseName, clickhouses, newestClickhouseName } from '../support/clickhouse-servers.ts';
import {
  type TestServer,
  cannotMariadb,
  cannotPostgres,
  mariadbName,
  mariadbServer,
  postgresName,
  postgresServer,
} from '../support/servers.ts';

type Line = readonly [region: string, product: string, posted: string, amount: string];

const columns = ['region', 'product', 'posted', 'amount'] as const;

/** Amounts of two digits after the point, the last of them not zero: a column of a database has one scale. */
const table: readonly Line[] = ['North', 'Süd', 'O\'Hara, "Inc"'].flatMap((region, r) =>
  ['Bike', 'bike', 'Bike '].flatMap((product, p) =>
    Array.from({ length: 40 }, (_, at): Line => {
      const day = new Date(Date.UTC(2024, 0, 31 + at * 13 + p)).toISOString().slice(0, 10);
      const cents = (r * 7919 + p * 104_729 + at * 1_299_709) % 99_999_999;
      return [region, product, day, `${at % 3 === 0 ? '-' : ''}${Math.floor(cents / 100)}.${(cents % 9) + 1}1`];
    }),
  ),
);

/** Templates trim what they put into an id, so that the one with a blank at its end has a mark of its own. */
const drivers = [
  { id: '{region}/[{product}]', path: ['Last', '{region}', '{product}'], time: '{posted}', value: '{amount}' },
  { path: ['Sum', '{region}', '{product}'], time: '{posted}', value: '{amount}', collapse: 'sum' },
  { path: ['Average', '{region}', '{product}'], time: '{posted}', value: '{amount}', collapse: 'average' },
  { path: ['Max', '{region}', '{product}'], time: '{posted}', value: '{amount}', collapse: 'max' },
  { path: ['Count', '{region}', '{product}'], time: '{posted}', value: '{amount}', collapse: 'count' },
];

/** As many rows leave a database that collapses. */
const keysAndMonths = new Set(table.map(([region, product, posted]) => [region, product, posted.slice(0, 7)].join('|')))
  .size;

const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-same-'));
const servers: TestServer[] = [];
/** The keys of each kind, by its name. */
const kinds: Record<string, object> = {};

const query = 'SELECT region, product, posted, amount FROM booked ORDER BY n';
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const rowsSql = table.map((row, n) => `(${n}, ${row.map(quoted).join(', ')})`).join(', ');

function writeTexts(): void {
  const csv = (mark: string): string =>
    [columns, ...table].map((row) => `${row.map((text) => `"${text.replaceAll('"', '""')}"`).join(mark)}\n`).join('');
  const records = table.map(
    ([region, product, posted, amount]) =>
      `{"region":${JSON.stringify(region)},"product":${JSON.stringify(product)},"posted":"${posted}","amount":${amount}}`,
  );
  writeFileSync(path.join(dir, 'table.csv'), csv(','));
  writeFileSync(path.join(dir, 'table.tsv'), csv('\t'));
  writeFileSync(path.join(dir, 'table.jsonl'), `${records.join('\n')}\n`);
  writeFileSync(path.join(dir, 'table.json'), `{"rows":[${records.join(',')}]}`);
  for (const type of ['csv', 'tsv', 'jsonl']) kinds[type] = { type, files: [`table.${type}`] };
  kinds['json'] = { type: 'json', files: ['table.json'], items: 'rows' };
}

async function writeWorkbook(): Promise<void> {
  const cells = table.map(([region, product, posted, amount]) => [
    { type: String, value: region },
    { type: String, value: product },
    { type: Date, value: new Date(`${posted}T00:00:00Z`), format: 'dd.mm.yyyy' },
    { type: Number, value: Number(amount) },
  ]);
  const header = columns.map((value) => ({ type: String, value }));
  writeFileSync(path.join(dir, 'table.xlsx'), await writeExcelFile([header, ...cells], {}).toBuffer());
  kinds['xlsx'] = { type: 'xlsx', files: ['table.xlsx'] };
}

function writeParquet(): void {
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'region', data: table.map(([region]) => region), type: 'STRING' },
      { name: 'product', data: table.map(([, product]) => product), type: 'STRING' },
      { name: 'posted', data: table.map(([, , posted]) => new Date(`${posted}T00:00:00Z`)) },
      { name: 'amount', data: table.map(([, , , amount]) => amount), type: 'STRING' },
    ],
  });
  writeFileSync(path.join(dir, 'table.parquet'), Buffer.from(buffer));
  kinds['parquet'] = { type: 'parquet', files: ['table.parquet'] };
}

function writeSqlite(): void {
  const database = new Database(path.join(dir, 'table.db'));
  database.exec('CREATE TABLE booked (n INTEGER, region TEXT, product TEXT, posted TEXT, amount TEXT)');
  database.exec(`INSERT INTO booked VALUES ${rowsSql}`);
  database.close();
  kinds['sqlite'] = { type: 'sqlite', file: 'table.db', query };
}

/** Over the file that another kind reads. */
function configureDuckdb(): void {
  const from = "SELECT *, CAST(amount AS DECIMAL(18, 2)) AS exact FROM read_csv('table.csv', all_varchar = true)";
  const typed = `SELECT region, product, CAST(posted AS DATE) AS posted, exact AS amount FROM (${from})`;
  withPushdown('duckdb', { type: 'duckdb', query: typed });
}

function withPushdown(name: string, keys: object): void {
  kinds[name] = keys;
  kinds[`${name} with pushdown`] = { ...keys, pushdown: true };
}

async function fillPostgres(): Promise<void> {
  if (cannotPostgres) return;
  const server = await postgresServer();
  servers.push(server);
  await server.run('CREATE TABLE booked (n int, region text, product text, posted date, amount numeric(18, 2))');
  await server.run(`INSERT INTO booked VALUES ${rowsSql}`);
  withPushdown('postgres', { type: 'postgres', url: server.url(), query });
}

async function fillMariadb(): Promise<void> {
  if (cannotMariadb) return;
  const server = await mariadbServer();
  servers.push(server);
  const text = 'varchar(40) CHARACTER SET utf8mb4';
  await server.run(
    `CREATE TABLE booked (n int, region ${text}, product ${text}, posted date, amount decimal(18, 2))`,
    'books',
  );
  await server.run(`INSERT INTO booked VALUES ${rowsSql}`, 'books');
  withPushdown('mysql', { type: 'mysql', url: server.url({ database: 'books' }), query });
}

async function fillClickhouse({ name, isMissing, start }: (typeof clickhouses)[number]): Promise<void> {
  if (isMissing) return;
  const server = await start();
  servers.push(server);
  await server.run(`CREATE TABLE booked (n Int32, region String, product String, posted Date, amount Decimal(18, 2))
    ENGINE = MergeTree ORDER BY n`);
  const rows = table.map(([region, product, posted, amount], n) => {
    return `(${[n, constant(region), constant(product), constant(posted), amount].join(', ')})`;
  });
  await server.run(`INSERT INTO booked VALUES ${rows.join(', ')}`);
  withPushdown(name, { type: 'clickhouse', url: server.url(), query });
}

beforeAll(async () => {
  writeTexts();
  await writeWorkbook();
  writeParquet();
  writeSqlite();
  configureDuckdb();
  await Promise.all([fillPostgres(), fillMariadb(), ...clickhouses.map(fillClickhouse)]);
  for (const [name, keys] of Object.entries(kinds)) {
    const settled = 'files' in keys ? { settle: '0s', ...keys } : keys;
    const config = {
      state: `state ${name}`,
      timezone: 'Europe/Berlin',
      destination: { url: 'http://127.0.0.1:9' },
      sources: { table: { ...settled, drivers } },
    };
    writeFileSync(path.join(dir, `${name}.yaml`), JSON.stringify(config));
  }
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  rmSync(dir, { recursive: true });
});

/** Minutes that a zone's clock is behind UTC on the last of January. */
const zones = { 'Pacific/Kiritimati': -840, 'America/St_Johns': 210, 'Europe/Berlin': -60 } as const;

describe(`csv, tsv, jsonl, json, xlsx, parquet, sqlite, duckdb, ${postgresName}, ${mariadbName}, ${clickhouseName} and ${newestClickhouseName}`, () => {
  test.each(Object.entries(zones))('give one snapshot, byte for byte, with TZ=%s', async (zone, offset) => {
    const child = path.join(import.meta.dirname, '../support/same-table-child.ts');
    const files = Object.keys(kinds).map((name) => path.join(dir, `${name}.yaml`));
    const env = { ...process.env, TZ: zone };
    const { stdout } = await promisify(execFile)(process.execPath, [child, ...files], { env });
    const done = JSON.parse(stdout) as { zone: number; built: Record<string, { digest: string; rows: number }> };
    expect(done.zone).toBe(offset);
    const built = Object.fromEntries(
      Object.entries(done.built).map(([file, snapshot]) => [path.basename(file, '.yaml'), snapshot]),
    );
    const digest = built['csv']?.digest;
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const rowsOf = (name: string): number => (name.endsWith('with pushdown') ? keysAndMonths : table.length);
    expect(built).toEqual(Object.fromEntries(Object.keys(kinds).map((name) => [name, { digest, rows: rowsOf(name) }])));
  });
});
