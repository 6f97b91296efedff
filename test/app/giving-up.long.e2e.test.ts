/** A read that is given up ends at the server too, before the process does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cannotClickhouse, clickhouseName, clickhouseServer } from '../support/clickhouse-servers.ts';
import { type Place, place } from '../support/process.ts';
import {
  type TestServer,
  cannotMariadb,
  cannotPostgres,
  mariadbName,
  mariadbServer,
  postgresName,
  postgresServer,
} from '../support/servers.ts';

const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}' }];

interface Engine {
  readonly type: 'postgres' | 'mysql' | 'clickhouse';
  readonly start: () => Promise<TestServer>;
  /** A query that takes a minute. */
  readonly query: string;
  /** How many of those a server is at. */
  readonly running: string;
}

const engines: readonly (readonly [name: string, isMissing: boolean, engine: Engine])[] = [
  [
    postgresName,
    cannotPostgres,
    {
      type: 'postgres',
      start: postgresServer,
      query: "SELECT 'a' AS id, '2026-01' AS time, 1 AS value FROM pg_sleep(60)",
      running:
        "SELECT count(*)::text AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%FROM pg_sleep(60)%'",
    },
  ],
  [
    mariadbName,
    cannotMariadb,
    {
      type: 'mysql',
      start: mariadbServer,
      query: "SELECT 'a' AS id, '2026-01' AS time, sleep(60) AS value",
      running: "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE '%sleep(60) AS value%'",
    },
  ],
  [
    clickhouseName,
    cannotClickhouse,
    {
      type: 'clickhouse',
      start: clickhouseServer,
      query:
        "SELECT 'a' AS id, '2026-01' AS time, sleep(1) AS value FROM numbers(60) SETTINGS max_block_size = 1, max_threads = 1",
      running: "SELECT count() AS n FROM system.processes WHERE query LIKE '%FROM numbers(60)%'",
    },
  ],
];

describe.each(engines)('%s', (_name, isMissing, { type, start, query, running }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (!isMissing) server = await start();
  });
  afterAll(async () => {
    if (!isMissing) await server.stop();
  });

  const count = async (): Promise<number> => {
    // Not the question itself, which names what it looks for.
    const [row] = await server.run(running);
    return Number(row?.['n']) - 1;
  };
  /** A server of a busy machine takes a moment to see that it is to end a query. By itself it would go on for a minute. */
  const isEnded = async (): Promise<void> => await expect.poll(count, { timeout: 30_000 }).toBe(0);
  const slow = (timeout: string): Promise<Place> =>
    place(
      {
        destination: { url: 'http://127.0.0.1:9' },
        sources: { books: { type, url: server.url(), query, timeout, drivers } },
      },
      {},
    );

  test.skipIf(isMissing)('a signal ends the query', async () => {
    await using at = await slow('5m');
    const sync = at.start('sync');
    await expect.poll(count).toBe(1);
    sync.kill('SIGTERM');
    await sync.exit;
    await isEnded();
  });

  test.skipIf(isMissing)('the timeout of its source ends the query', async () => {
    await using at = await slow('1s');
    const done = await at.command('sync', '--json');
    expect(done.json()).toMatchObject({
      sources: [{ state: 'unread', reason: expect.stringContaining('took longer') }],
    });
    await isEnded();
  });
});
