import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { closedPort, cuttingProxy, expectNoSecret, failureOf, listen, rowsAfter } from '../support/database-world.ts';
import { type TestServer, type UrlOptions, cannotPostgres, postgresName, postgresServer } from '../support/servers.ts';
import { calm, openSource, readWhole, tempDir } from '../support/source-world.ts';

/** A hundred thousand rows; the first come at once. */
const long = "SELECT n, repeat('x', 100) AS text FROM generate_series(1, 100000) AS n";

describe.skipIf(cannotPostgres)(`a connection of type postgres, on ${postgresName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    // A user of this name must come with TLS.
    server = await postgresServer({
      tls: true,
      access: ['hostssl all careful all scram-sha-256', 'hostnossl all careful all reject'],
    });
    await server.run(`CREATE ROLE careful LOGIN PASSWORD 'careful-pass';
      CREATE ROLE crowded LOGIN PASSWORD 'crowded-pass' CONNECTION LIMIT 0`);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  function open(query: string, keys: object = {}, url: UrlOptions = {}): Source {
    return openSource('postgres', { url: server.url(url), query, ...keys }, '/');
  }

  /** How many sessions the agent has, or only those that run such a statement. */
  async function sessions(like = '%'): Promise<number> {
    const found = await server.run(
      `SELECT FROM pg_stat_activity WHERE application_name = 'driver-sync' AND query LIKE '${like}'`,
    );
    return found.length;
  }

  describe('a connection that is cut in the middle gives no half read', () => {
    test('by an administrator', async () => {
      const error = await rowsAfter(open(long), () =>
        server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'driver-sync'`),
      );
      expect(error).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringContaining('terminating connection due to administrator command'),
      });
      expectNoSecret(error, server.password);
    });

    test('by a server that shuts down', async () => {
      const error = await rowsAfter(open(long), () => server.stop());
      expect(error).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/terminating connection|was cut/),
      });
      expectNoSecret(error, server.password);
      expect(await failureOf(open(long), server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('refused'),
      });
      await server.start();
      expect((await readWhole(open(long))).rows).toHaveLength(100_000);
    });

    test('by the network', async () => {
      const port = await cuttingProxy(server.port, 1_000_000);
      const error = await failureOf(open(long, {}, { port }), server);
      expect(error).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining('was cut') });
      expect(error.hint).toContain('tried again');
    });
  });

  describe('an abort', () => {
    test('cancels the query on the server', async () => {
      const controller = new AbortController();
      const source = open('SELECT pg_sleep(600), 1 AS a');
      const [part] = await source.parts(calm);
      const reading = source.rows(part!, controller.signal);
      const next = reading.next();
      await expect.poll(() => sessions('%pg_sleep%')).toBe(1);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(next).rejects.toBe(reason);
      await expect.poll(() => sessions()).toBe(0);
    });

    test('cancels a query that waits for a lock before it begins', async () => {
      await server.run('CREATE TABLE locked (a int)');
      const { default: pg } = await import('pg');
      const other = new pg.Client({ host: server.socket, port: server.port, user: 'admin', database: 'postgres' });
      await other.connect();
      await other.query('BEGIN; LOCK TABLE locked');
      const controller = new AbortController();
      const source = open('SELECT * FROM locked');
      const [part] = await source.parts(calm);
      const next = source.rows(part!, controller.signal).next();
      await expect.poll(() => sessions('SELECT * FROM locked')).toBe(1);
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
      await expect.poll(() => sessions()).toBe(0);
      await other.end();
    });

    test('ends an attempt to connect', async () => {
      const controller = new AbortController();
      const port = await listen(() => controller.abort(new Error('enough')));
      await expect(open('SELECT 1', {}, { port }).parts(controller.signal)).rejects.toThrow('enough');
    });
  });

  test('a reader who stops early leaves nothing behind', async () => {
    const source = open(long);
    const [part] = await source.parts(calm);
    for await (const batch of source.rows(part!, calm)) {
      expect(batch.count).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => sessions()).toBe(0);
  });

  describe('a server that lets nobody in', () => {
    const cases: Record<string, { url: UrlOptions; message: RegExp; hint: RegExp }> = {
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
      'a missing socket': { url: { parameters: 'host=/nowhere' }, message: /no such socket/, hint: /running/ },
      'too many connections': {
        url: { user: 'crowded', password: 'crowded-pass' },
        message: /too many connections for role/,
        hint: /max_connections/,
      },
    };
    test.each(Object.keys(cases))('%s', async (name) => {
      const { url, message, hint } = cases[name]!;
      const error = await failureOf(open('SELECT 1 AS a', {}, url), { password: url.password ?? server.password });
      expect(error).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
    });

    test('a port where nobody listens', async () => {
      const source = open('SELECT 1 AS a', {}, { port: await closedPort() });
      expect(await failureOf(source, server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('the connection was refused'),
        hint: expect.stringContaining('running'),
      });
    });

    test('a server that never answers', async () => {
      const port = await listen(() => undefined);
      const source = open('SELECT 1 AS a', {}, { port, parameters: 'connect_timeout=1' });
      expect(await failureOf(source, server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('no connection within 1 s'),
      });
    });

    test('a port of something else', async () => {
      const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      expect(await failureOf(open('SELECT 1 AS a', {}, { port }), server)).toMatchObject({ code: 'source.unreadable' });
    });
  });

  describe('TLS', () => {
    const isEncrypted = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

    test.each([
      ['', 't'],
      ['sslmode=disable', 'f'],
      ['sslmode=prefer', 't'],
      ['sslmode=require', 't'],
    ])('with parameters "%s" is there: %s', async (parameters, is) => {
      expect((await readWhole(open(isEncrypted, {}, { parameters }))).rows).toEqual([[is]]);
    });

    test.each(['', 'sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full'])(
      'with parameters "%s" trusts the authority of caFile',
      async (parameters) => {
        const source = open(isEncrypted, { caFile: server.caFile }, { parameters, host: 'localhost' });
        expect((await readWhole(source)).rows).toEqual([['t']]);
      },
    );

    test.each([
      ['sslmode=verify-full', 'localhost', /certificate/],
      ['sslmode=verify-ca', 'localhost', /certificate/],
    ])('with %s does not trust an unknown server', async (parameters, host, message) => {
      const error = await failureOf(open(isEncrypted, {}, { parameters, host }), server);
      expect(error).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringContaining('caFile'),
      });
    });

    test('of another name is refused where the name counts', async () => {
      const keys = { caFile: server.caFile };
      expect(await failureOf(open(isEncrypted, keys, { host: '127.0.0.1' }), server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(/127\.0\.0\.1/),
        hint: expect.stringContaining('the host as the certificate does'),
      });
      const source = open(isEncrypted, keys, { host: '127.0.0.1', parameters: 'sslmode=verify-ca' });
      expect((await readWhole(source)).rows).toEqual([['t']]);
    });

    test('that the server demands and the url refuses', async () => {
      const plain = open(
        'SELECT 1 AS a',
        {},
        { user: 'careful', password: 'careful-pass', parameters: 'sslmode=disable' },
      );
      expect(await failureOf(plain, { password: 'careful-pass' })).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('no encryption'),
        hint: expect.stringContaining('sslmode=require'),
      });
      const safe = open('SELECT 1 AS a', {}, { user: 'careful', password: 'careful-pass' });
      expect((await readWhole(safe)).rows).toEqual([['1']]);
    });

    test('that the url demands and the server has not', async () => {
      await using bare = await postgresServer();
      const at = (parameters: string): Source =>
        openSource('postgres', { url: bare.url({ parameters }), query: isEncrypted }, '/');
      expect((await readWhole(at('sslmode=prefer'))).rows).toEqual([['f']]);
      for (const parameters of ['sslmode=require', 'sslmode=verify-full']) {
        expect(await failureOf(at(parameters), bare)).toMatchObject({
          code: 'source.unreadable',
          message: expect.stringContaining('the server has no TLS'),
          hint: expect.stringContaining('sslmode=disable'),
        });
      }
    });

    test('needs a caFile that can be read and holds a certificate', async () => {
      const dir = await tempDir();
      await writeFile(path.join(dir, 'ca.pem'), 'no certificate');
      for (const [caFile, message] of [
        ['ca.pem', 'holds no certificate'],
        ['missing.pem', 'cannot be read (ENOENT)'],
      ]) {
        const source = openSource('postgres', { url: server.url(), query: 'SELECT 1 AS a', caFile }, dir);
        expect(await failureOf(source, server)).toMatchObject({
          code: 'source.unreadable',
          message: expect.stringContaining(message!),
        });
      }
    });
  });

  test('reads through a unix socket', async () => {
    const url = `postgres://admin@/postgres?host=${encodeURIComponent(server.socket)}`;
    // The socket's name has the port in it.
    const source = openSource(
      'postgres',
      { url: url.replace('@/', `@localhost:${server.port}/`), query: 'SELECT 1 AS a' },
      '/',
    );
    expect((await readWhole(source)).rows).toEqual([['1']]);
  });
});
