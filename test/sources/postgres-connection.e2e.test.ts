import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Engine, connectionTests } from '../support/connection-tests.ts';
import { expectNoSecret, failureOf, rowsAfter } from '../support/database-world.ts';
import { cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';
import { openSource, tempDir } from '../support/source-world.ts';

const long = "SELECT n, repeat('x', 100) AS text FROM generate_series(1, 100000) AS n";

const engine: Engine = {
  type: 'postgres',
  name: postgresName,
  cannot: cannotPostgres,
  async serve(tls) {
    if (tls === 'bare') return await postgresServer();
    const access = ['hostssl all careful all scram-sha-256', 'hostnossl all careful all reject'];
    const server = await postgresServer({ tls: true, access });
    await server.run(`CREATE ROLE careful LOGIN PASSWORD 'careful-pass';
      CREATE ROLE crowded LOGIN PASSWORD 'crowded-pass' CONNECTION LIMIT 0`);
    return server;
  },
  queries: {
    long,
    sleep: 'SELECT pg_sleep(600), 1 AS a',
    isEncrypted: 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
  },
  yes: 't',
  no: 'f',
  async sessions(server, like = '%') {
    const found = await server.run(
      `SELECT FROM pg_stat_activity WHERE application_name = 'driver-sync' AND query LIKE '${like}'`,
    );
    return found.length;
  },
  async lock(server) {
    await server.run('CREATE TABLE locked (a int)');
    const { default: pg } = await import('pg');
    const other = new pg.Client({ host: server.socket, port: server.port, user: 'admin', database: 'postgres' });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE locked');
    return { release: () => other.end() };
  },
  // The socket's name has the port in it.
  socketUrl: ({ port, socket }) => `postgres://admin@localhost:${port}/postgres?host=${encodeURIComponent(socket)}`,
  // It waits for no session to end.
  stopsBy: 'SIGINT',
  words: {
    stopped: /terminating connection|was cut/,
    silent: /no connection within 1 s/,
    unencrypted: { message: /no encryption/, hint: /sslmode=require/ },
  },
  refused: {
    'a wrong password': {
      url: { password: 'wr0ng/pass' },
      message: /password authentication failed for user "admin"/,
      hint: /password in the url/,
    },
    'no password': { url: { password: '' }, message: /wants a password/, hint: /url has none/ },
    'an unknown database': {
      url: { database: 'nowhere' },
      message: /database "nowhere" does not exist/,
      hint: /name of the database/,
    },
    'an unknown host': { url: { host: 'no-such-host.invalid' }, message: /no-such-host\.invalid/, hint: /name/ },
    'too many connections': {
      url: { user: 'crowded', password: 'crowded-pass' },
      message: /too many connections for role/,
      hint: /max_connections/,
    },
    'a missing socket': { url: { parameters: 'host=/nowhere' }, message: /no such socket/, hint: /running/ },
  },
};

connectionTests(engine, (at) => {
  test('a connection that an administrator cuts gives no half read', async () => {
    const error = await rowsAfter(at.open(long), () =>
      at.server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'driver-sync'`),
    );
    expect(error).toMatchObject({
      code: 'part.unreadable',
      message: expect.stringContaining('terminating connection due to administrator command'),
    });
    expectNoSecret(error, at.server.password);
  });

  test('a caFile must be there and hold a certificate', async () => {
    const dir = await tempDir();
    await writeFile(path.join(dir, 'ca.pem'), 'no certificate');
    for (const [caFile, message] of [
      ['ca.pem', 'holds no certificate'],
      ['missing.pem', 'cannot be read (ENOENT)'],
    ]) {
      const source = openSource('postgres', { url: at.server.url(), query: 'SELECT 1 AS a', caFile }, dir);
      expect(await failureOf(source, at.server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining(message!),
      });
    }
  });
});
