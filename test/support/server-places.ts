/** Tables of database servers as places of the contract suite: each has a table, a view of it and a user of its own. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { constant, named } from '../../src/sources/databases/clickhouse-types.ts';
import { clickhouseServer } from './clickhouse-servers.ts';
import { type TestServer, mariadbServer, postgresServer } from './servers.ts';
import { laterClock, openSource } from './source-world.ts';

interface ServerTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface ServerPlace {
  readonly source: Source;
  write(table: ServerTable): Promise<void>;
  remove(): Promise<void>;
}

/** One server for all tests of a file, started by the first that wants it. To be called where hooks may be. */
export function onePostgres(): () => Promise<ServerPlace> {
  const server = oneServer(postgresServer);
  let count = 0;
  return async () => await postgresPlace(await server(), `place${++count}`);
}

export function oneMariadb(): () => Promise<ServerPlace> {
  const server = oneServer(mariadbServer);
  let count = 0;
  return async () => await mariadbPlace(await server(), `place${++count}`);
}

export function oneClickhouse(): () => Promise<ServerPlace> {
  const server = oneServer(clickhouseServer);
  let count = 0;
  return async () => await clickhousePlace(await server(), `place${++count}`);
}

function oneServer(start: () => Promise<TestServer>): () => Promise<TestServer> {
  let server: Promise<TestServer> | undefined;
  afterAll(async () => await (await server)?.[Symbol.asyncDispose]());
  return () => (server ??= start());
}

function openPlace(type: string, server: TestServer, name: string): Source {
  const keys = {
    url: server.url({ user: name, password: 'pass' }),
    query: `SELECT * FROM ${name}_view`,
    changed: `SELECT version FROM ${name}_version`,
  };
  return openSource(type, keys, '/', laterClock(0));
}

async function postgresPlace(server: TestServer, name: string): Promise<ServerPlace> {
  await server.run(`CREATE TABLE ${name} (n bigint GENERATED ALWAYS AS IDENTITY, fields text[]);
    CREATE TABLE ${name}_version AS SELECT 0 AS version; CREATE ROLE ${name} LOGIN PASSWORD 'pass';
    GRANT SELECT ON ${name}_version TO ${name}`);
  const quoted = (column: string): string => `"${column.replaceAll('"', '""')}"`;
  let shown: readonly string[] = [];
  return {
    source: openPlace('postgres', server, name),
    async write({ columns, rows }) {
      const client = new pg.Client({ host: server.socket, port: server.port, user: server.user, database: 'postgres' });
      await client.connect();
      try {
        await client.query(`BEGIN; SET LOCAL lock_timeout = '1s'; UPDATE ${name}_version SET version = version + 1;
          DELETE FROM ${name}`);
        // A view that is being read cannot be replaced, and the same columns need no other.
        if (columns.join() !== shown.join()) {
          const fields = columns.map((column, at) => `fields[${at + 1}] AS ${quoted(column)}`);
          await client.query(`DROP VIEW IF EXISTS ${name}_view;
            CREATE VIEW ${name}_view AS SELECT ${fields.join(', ')} FROM ${name} ORDER BY ${name}.n;
            GRANT SELECT ON ${name}_view TO ${name}`);
        }
        await client.query(
          `INSERT INTO ${name} (fields) SELECT ARRAY(SELECT json_array_elements_text(fields))
            FROM json_array_elements($1) WITH ORDINALITY AS row (fields, n) ORDER BY n`,
          [JSON.stringify(rows)],
        );
        await client.query('COMMIT');
        shown = columns;
      } finally {
        await client.end();
      }
    },
    remove: async () => void (await server.run(`ALTER ROLE ${name} NOLOGIN`)),
  };
}

async function mariadbPlace(server: TestServer, name: string): Promise<ServerPlace> {
  await server.run(`CREATE TABLE ${name} (n INT AUTO_INCREMENT PRIMARY KEY, c0 LONGTEXT, c1 LONGTEXT, c2 LONGTEXT);
    CREATE TABLE ${name}_version AS SELECT 0 AS version; CREATE USER ${name} IDENTIFIED BY 'pass';
    GRANT SELECT ON ${name}_version TO ${name}`);
  // No name there ends with a blank.
  const quoted = (column: string): string => `\`${column.replace(/ $/, '\u00A0').replaceAll('`', '``')}\``;
  let shown: readonly string[] = [];
  return {
    source: openPlace('mysql', server, name),
    async write({ columns, rows }) {
      const { socket: socketPath, user, password } = server;
      const client = await mysql.createConnection({
        socketPath,
        user,
        password,
        database: 'books',
        charset: 'utf8mb4',
      });
      try {
        await client.query('SET lock_wait_timeout = 1');
        // A view that is being read cannot be replaced, and the same columns need no other.
        if (columns.join() !== shown.join()) {
          const fields = columns.map((column, at) => `c${at} AS ${quoted(column)}`);
          await client.query(
            `CREATE OR REPLACE VIEW ${name}_view AS SELECT ${fields.join(', ')} FROM ${name} ORDER BY ${name}.n`,
          );
          await client.query(`GRANT SELECT ON ${name}_view TO ${name}`);
        }
        await client.query('START TRANSACTION');
        await client.query(`UPDATE ${name}_version SET version = version + 1`);
        await client.query(`DELETE FROM ${name}`);
        const values = rows.map((row) => [0, 1, 2].map((at) => row[at] ?? ''));
        if (values.length > 0) await client.query(`INSERT INTO ${name} (c0, c1, c2) VALUES ?`, [values]);
        await client.query('COMMIT');
        shown = columns;
      } finally {
        await client.end();
      }
    },
    remove: async () => void (await server.run(`DROP USER ${name}`)),
  };
}

/** A database of its own. Each table is another, since a server has no transactions. */
async function clickhousePlace(server: TestServer, database: string): Promise<ServerPlace> {
  await server.run(`CREATE DATABASE ${database}`);
  let version = 0;
  return {
    source: openSource(
      'clickhouse',
      { url: server.url({ database }), query: 'SELECT * FROM shown', changed: 'SELECT version FROM books' },
      '/',
      laterClock(0),
    ),
    async write({ columns, rows }) {
      version += 1;
      const table = `rows${version}`;
      const stored = columns.map((_column, at) => `c${at} String`);
      await server.run(`CREATE TABLE ${table} (n UInt32, ${stored.join(', ')}) ENGINE = Memory`, database);
      const values = rows.map((row, n) => `(${n}, ${row.map(constant).join(', ')})`);
      if (values.length > 0) await server.run(`INSERT INTO ${table} VALUES ${values.join(', ')}`, database);
      const fields = columns.map((column, at) => `c${at} AS ${named(column)}`);
      for (const [view, sql] of [
        ['shown', `SELECT ${fields.join(', ')} FROM (SELECT * FROM ${table} ORDER BY n)`],
        ['books', `SELECT ${version} AS version`],
      ]) {
        await server.run(`DROP TABLE IF EXISTS ${view}`, database);
        await server.run(`CREATE VIEW ${view} AS ${sql}`, database);
      }
    },
    remove: async () => void (await server.run(`DROP DATABASE ${database}`)),
  };
}
