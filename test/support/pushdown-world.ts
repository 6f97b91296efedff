/** Tables in every engine that is at hand, read with and without pushdown. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Fold } from '../../src/core/series/fold/fold.ts';
import { unpackDriver } from '../../src/core/series/packing.ts';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { Mapping } from '../../src/core/settings.ts';
import { constant } from '../../src/sources/databases/clickhouse-types.ts';
import { kinds } from '../../src/sources/index.ts';
import type { TestServer } from './servers.ts';
import { calm, laterClock, queryPart } from './source-world.ts';

/** The kind of values in a column of a table. */
export type Held = 'text' | 'padded' | 'integer' | 'decimal' | 'short' | 'float' | 'date' | 'wall' | 'instant';

export interface Table {
  readonly columns: Readonly<Record<string, Held>>;
  /** `null` is NULL. Instants and wall times as `2026-01-31 23:00:00`, instants in UTC. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A table without some of its rows, which keep their numbers. */
export type TableOfSome = Omit<Table, 'rows'> & { readonly rows: readonly (Table['rows'][number] | undefined)[] };

export interface Place {
  readonly type: string;
  /** Keys of the source, without its query. */
  readonly keys: object;
  readonly dir: string;
  /** Puts the table `t` there. Its rows have their number in a column `nr`. */
  write(table: Table): Promise<void>;
}

interface Syntax {
  /** Behind a table's columns. */
  readonly engine?: string;

  readonly types: Readonly<Record<Held, string>>;
  readonly literal: (text: string, held: Held) => string;
}

/** Statements that make the table. */
export function statements({ types, literal, engine = '' }: Syntax, { columns, rows }: TableOfSome): readonly string[] {
  const held = Object.values(columns);
  const named = Object.entries(columns).map(([name, holds]) => `${name} ${types[holds]}`);
  const values = rows.flatMap((row, at) => {
    if (row === undefined) return [];
    const fields = row.map((text, index) => (text === null ? 'NULL' : literal(text, held[index]!)));
    return `(${[at + 1, ...fields].join(', ')})`;
  });
  return [
    'DROP TABLE IF EXISTS t',
    `CREATE TABLE t (nr INTEGER, ${named.join(', ')})${engine}`,
    ...(values.length === 0 ? [] : [`INSERT INTO t VALUES ${values.join(', ')}`]),
  ];
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export async function duckdbPlace(dir: string): Promise<Place> {
  const file = path.join(dir, 'books.duckdb');
  const types = {
    text: 'VARCHAR COLLATE NOCASE',
    padded: 'VARCHAR',
    integer: 'BIGINT',
    decimal: 'DECIMAL(38, 6)',
    short: 'DECIMAL(12, 4)',
    float: 'DOUBLE',
    date: 'DATE',
    wall: 'TIMESTAMP',
    instant: 'TIMESTAMPTZ',
  };
  const literal = (value: string, held: Held): string => {
    if (value === 'NaN' && isDecimal(held)) return 'NULL';
    return quoted(held === 'instant' && !isInfinite(value) ? `${value}+00` : value);
  };
  return {
    type: 'duckdb',
    keys: { file: 'books.duckdb' },
    dir,
    async write(table) {
      rmSync(file, { force: true });
      const instance = await DuckDBInstance.create(file);
      const connection = await instance.connect();
      for (const sql of statements({ types, literal }, table)) await connection.run(sql);
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export async function postgresPlace(dir: string, server: TestServer): Promise<Place> {
  // Two texts that this collation takes for the same are one to an index and to DISTINCT.
  await server.run("CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level1', deterministic = false)");
  const types = {
    text: 'text COLLATE lax',
    padded: 'char(5)',
    integer: 'bigint',
    decimal: 'numeric',
    short: 'numeric(12, 4)',
    float: 'float8',
    date: 'date',
    wall: 'timestamp',
    instant: 'timestamptz',
  };
  const literal = (value: string, held: Held): string =>
    quoted(held === 'instant' && !isInfinite(value) ? `${value}+00` : value);
  return {
    type: 'postgres',
    keys: { url: server.url() },
    dir,
    async write(table) {
      await server.run(statements({ types, literal }, table).join(';'));
    },
  };
}

export function mariadbPlace(dir: string, server: TestServer): Place {
  const types = {
    text: 'varchar(60)',
    padded: 'char(5)',
    integer: 'bigint',
    decimal: 'decimal(40, 10)',
    short: 'decimal(12, 4)',
    float: 'double',
    date: 'date',
    wall: 'datetime(1)',
    instant: 'timestamp(1) NULL',
  };
  return {
    type: 'mysql',
    keys: { url: server.url() },
    dir,
    async write(table) {
      const literal = (value: string, held: Held): string => {
        const isNone = (held === 'instant' && !isStamp(value)) || (held !== 'text' && isInfinite(value));
        return isNone || (value === 'NaN' && isDecimal(held)) ? 'NULL' : quoted(value);
      };
      await server.run(["SET time_zone = '+00:00'", ...statements({ types, literal }, table)].join(';'));
    },
  };
}

/** @param isNew whether it has days and moments of every year */
export function clickhouseStatements(table: TableOfSome, isNew: boolean): readonly string[] {
  const types = {
    text: 'Nullable(String)',
    padded: 'Nullable(String)',
    integer: 'Nullable(Int64)',
    decimal: 'Nullable(Decimal(38, 10))',
    short: 'Nullable(Decimal(12, 4))',
    float: 'Nullable(Float64)',
    date: isNew ? 'Nullable(Date32)' : 'Nullable(Date)',
    wall: isNew ? "Nullable(DateTime64(1, 'UTC'))" : "Nullable(DateTime('UTC'))",
    instant: isNew ? "Nullable(DateTime64(1, 'UTC'))" : "Nullable(DateTime('UTC'))",
  };
  const [first, last] = isNew ? ['1901', '2298'] : ['1970-01-02', '2105'];
  const value = (text: string, held: Held): string => {
    const isTime = held === 'date' || held === 'wall' || held === 'instant';
    if (isInfinite(text) && held !== 'text') return 'NULL';
    if ((isTime && (text < first || text > last)) || (text === 'NaN' && isDecimal(held))) return 'NULL';
    // No more digits than the type has.
    if (!isTime && held !== 'text' && held !== 'padded') return text.replace(/(\.\d{10})\d+$/, '$1');
    return constant(isTime && !isNew ? text.slice(0, 19) : text);
  };
  return statements({ types, literal: value, engine: ' ENGINE = Memory' }, table);
}

/** @param isNew as in `clickhouseStatements` */
export function clickhousePlace(dir: string, server: TestServer, isNew: boolean): Place {
  return {
    type: 'clickhouse',
    keys: { url: server.url() },
    dir,
    async write(table) {
      for (const sql of clickhouseStatements(table, isNew)) await server.run(sql);
    },
  };
}

function isDecimal(held: Held): boolean {
  return held === 'decimal' || held === 'short';
}

/** Whether it is a time that only some engines hold. */
function isInfinite(text: string): boolean {
  return text.endsWith('infinity');
}

/** Whether a TIMESTAMP can hold it. */
function isStamp(text: string): boolean {
  return text > '1970-01-02' && text < '2038-01-18';
}

/** The result of reading a query: drivers as folded, and counts of rows. */
export interface Outcome {
  readonly drivers: readonly object[];
  readonly passed: number;
  readonly rejects: number;
  /** How many rows left the database, and how many of them stand for others. */
  readonly rows: number;
  readonly collapsed: number;
}

export interface Reading {
  readonly query: string;
  readonly mapping: Mapping;
  readonly timezone: string;
}

/** Reads the query of a place as the agent does. */
export async function readOutcome(place: Place, reading: Reading, how: 'plain' | 'pushdown'): Promise<Outcome> {
  const { mapping, timezone, query } = reading;
  const kind = kinds[place.type]!;
  const context = { name: 'revenue', baseDir: place.dir, clock: laterClock(), mapping, timezone };
  const source = kind.open(kind.schema.parse({ ...place.keys, query, pushdown: how === 'pushdown' }), context);
  const fold = new Fold(0);
  let mapper: RowMapper | undefined;
  const counts = { passed: 0, rejects: 0, rows: 0, collapsed: 0 };
  for await (const batch of source.rows(queryPart, calm)) {
    mapper ??= new RowMapper(mapping, batch.columns, { timezone, calendar: undefined });
    counts.passed += mapper.read(batch, counts.rows, fold, {
      reject: (at) => (counts.rejects += batch.collapsed?.[at]?.rows ?? 1),
    });
    counts.rows += batch.count;
    if (batch.collapsed !== undefined) counts.collapsed += batch.count;
  }
  const drivers = [...fold.drain()].map(unpackDriver).map(({ id, path: names, otherPath, rule, pathPlace, cells }) => ({
    id,
    path: names,
    // Which of several paths it is depends on the order of all readings; only whether there is one matters.
    hasOtherPath: otherPath !== undefined,
    rule,
    latest: [pathPlace.seconds, pathPlace.nanos],
    cells: cells.map(({ month, value, count, seconds, nanos }) => ({
      month: formatMonth(month),
      value,
      count,
      at: [seconds, nanos],
    })),
  }));
  return { drivers, ...counts };
}
