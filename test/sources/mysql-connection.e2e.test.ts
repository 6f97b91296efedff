import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { closedPort, cuttingProxy, expectNoSecret, failureOf, listen, rowsAfter } from '../support/database-world.ts';
import { type TestServer, type UrlOptions, cannotMariadb, mariadbName, mariadbServer } from '../support/servers.ts';
import { calm, openSource, readWhole } from '../support/source-world.ts';

/** A hundred thousand rows; the first come at once. */
const long = "SELECT seq AS n, repeat('x', 100) AS text FROM seq_1_to_100000";

describe.skipIf(cannotMariadb)(`a connection of type mysql, on ${mariadbName}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await mariadbServer({ tls: true });
    await server.run(`CREATE TABLE open_to_all (a INT);
      CREATE USER reader IDENTIFIED BY 'reader-pass'; GRANT SELECT ON books.open_to_all TO reader;
      CREATE USER careful IDENTIFIED BY 'careful-pass' REQUIRE SSL; GRANT SELECT ON books.* TO careful;
      CREATE USER crowded IDENTIFIED BY 'crowded-pass' WITH MAX_USER_CONNECTIONS 1; GRANT SELECT ON books.* TO crowded`);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  function open(query: string, keys: object = {}, url: UrlOptions = {}): Source {
    return openSource('mysql', { url: server.url(url), query, ...keys }, '/');
  }

  /** The ids of the agent's sessions, as it is the only one to come by TCP; or only of those that run such a statement. */
  async function sessions(like = '%'): Promise<readonly string[]> {
    const found = await server.run(
      `SELECT id FROM information_schema.processlist WHERE host LIKE '%:%' AND coalesce(info, '') LIKE '${like}'`,
    );
    return found.map(({ id }) => String(id));
  }

  describe('a connection that is cut in the middle gives no half read', () => {
    test.each(['KILL', 'KILL QUERY'])('by %s', async (kill) => {
      const error = await rowsAfter(open(long), async () => {
        for (const id of await sessions()) await server.run(`${kill} ${id}`);
      });
      expect(error).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/was cut|killed|interrupted/),
        hint: expect.stringContaining('next look'),
      });
      expectNoSecret(error, server.password);
    });

    test('by a server that shuts down', async () => {
      const error = await rowsAfter(open(long), () => server.stop('SIGKILL'));
      expect(error).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining('was cut') });
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
    test('ends the query on the server', async () => {
      const controller = new AbortController();
      const source = open('SELECT SLEEP(600), 1 AS a');
      const [part] = await source.parts(calm);
      const reading = source.rows(part!, controller.signal);
      const next = reading.next();
      await expect.poll(() => sessions('%SLEEP%')).toHaveLength(1);
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(next).rejects.toBe(reason);
      await expect.poll(() => sessions()).toHaveLength(0);
    });

    test('ends a query that waits for a lock before it begins', async () => {
      await server.run('CREATE TABLE locked (a INT)');
      const { default: mysql } = await import('mysql2/promise');
      const { socket: socketPath, user, password } = server;
      const other = await mysql.createConnection({ socketPath, user, password, database: 'books' });
      await other.query('LOCK TABLE locked WRITE');
      const controller = new AbortController();
      const source = open('SELECT * FROM locked');
      const [part] = await source.parts(calm);
      const next = source.rows(part!, controller.signal).next();
      await expect.poll(() => sessions('%FROM locked')).toHaveLength(1);
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
      await expect.poll(() => sessions()).toHaveLength(0);
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
    await expect.poll(() => sessions()).toHaveLength(0);
  });

  describe('a server that lets nobody in', () => {
    const cases: Record<string, { url: UrlOptions; message: RegExp; hint: RegExp }> = {
      'a wrong password': {
        url: { password: 'wr0ng/pass' },
        message: /Access denied for user 'admin'/,
        hint: /password in the url/,
      },
      'no password': {
        url: { password: '' },
        message: /Access denied for user 'admin'.*password: NO/,
        hint: /password in the url/,
      },
      'an unknown database': {
        url: { database: 'nowhere' },
        message: /Unknown database 'nowhere'/,
        hint: /name of the database/,
      },
      'a database of others': {
        url: { user: 'reader', password: 'reader-pass', database: 'mysql' },
        message: /Access denied.*'mysql'/,
        hint: /GRANT SELECT/,
      },
      'an unknown host': { url: { host: 'no-such-host.invalid' }, message: /no-such-host\.invalid/, hint: /name/ },
      'a missing socket': { url: { parameters: 'host=/nowhere' }, message: /no such socket/, hint: /running/ },
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

    test('too many connections', async () => {
      const as = { user: 'crowded', password: 'crowded-pass' };
      const first = open(long, {}, as).rows({ name: 'query', version: '', revisedAtMs: 0 }, calm);
      await first.next();
      expect(await failureOf(open('SELECT 1 AS a', {}, as), as)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(/max_user_connections/),
        hint: expect.stringMatching(/close some/),
      });
      await first.return({ hash: '', version: '', revisedAtMs: 0 });
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
        message: expect.stringMatching(/does not answer|no connection within 1 s/),
      });
    });

    test('a port of something else', async () => {
      const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      expect(await failureOf(open('SELECT 1 AS a', {}, { port }), server)).toMatchObject({ code: 'source.unreadable' });
    });
  });

  describe('TLS', () => {
    const cipher = `SELECT variable_value <> '' AS is_encrypted FROM information_schema.session_status
      WHERE variable_name = 'Ssl_cipher'`;

    test.each([
      ['', '1'],
      ['sslmode=disable', '0'],
      ['sslmode=prefer', '1'],
      ['sslmode=require', '1'],
    ])('with parameters "%s" is there: %s', async (parameters, is) => {
      expect((await readWhole(open(cipher, {}, { parameters }))).rows).toEqual([[is]]);
    });

    test.each(['', 'sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full'])(
      'with parameters "%s" trusts the authority of caFile',
      async (parameters) => {
        const source = open(cipher, { caFile: server.caFile }, { parameters, host: 'localhost' });
        expect((await readWhole(source)).rows).toEqual([['1']]);
      },
    );

    test.each(['sslmode=verify-full', 'sslmode=verify-ca'])(
      'with %s does not trust an unknown server',
      async (parameters) => {
        expect(await failureOf(open(cipher, {}, { parameters, host: 'localhost' }), server)).toMatchObject({
          code: 'source.unreadable',
          message: expect.stringMatching(/certificate/),
          hint: expect.stringContaining('caFile'),
        });
      },
    );

    test('of another name is refused where the name counts', async () => {
      const keys = { caFile: server.caFile };
      expect(await failureOf(open(cipher, keys, { host: '127.0.0.1' }), server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(/127\.0\.0\.1/),
        hint: expect.stringContaining('the host as the certificate does'),
      });
      const source = open(cipher, keys, { host: '127.0.0.1', parameters: 'sslmode=verify-ca' });
      expect((await readWhole(source)).rows).toEqual([['1']]);
    });

    test('that the server demands and the url refuses', async () => {
      const as = { user: 'careful', password: 'careful-pass' };
      expect(await failureOf(open('SELECT 1 AS a', {}, { ...as, parameters: 'sslmode=disable' }), as)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining("Access denied for user 'careful'"),
        hint: expect.stringContaining('TLS'),
      });
      expect((await readWhole(open('SELECT 1 AS a', {}, as))).rows).toEqual([['1']]);
    });

    test('that the url demands and the server has not', async () => {
      await using bare = await mariadbServer();
      const at = (parameters: string): Source =>
        openSource('mysql', { url: bare.url({ parameters }), query: cipher }, '/');
      expect((await readWhole(at('sslmode=prefer'))).rows).toEqual([['0']]);
      for (const parameters of ['sslmode=require', 'sslmode=verify-full']) {
        expect(await failureOf(at(parameters), bare)).toMatchObject({
          code: 'source.unreadable',
          message: expect.stringContaining('the server has no TLS'),
          hint: expect.stringContaining('sslmode=disable'),
        });
      }
    });
  });

  test('reads through a unix socket', async () => {
    const source = open('SELECT 1 AS a', {}, { parameters: `host=${encodeURIComponent(server.socket)}` });
    expect((await readWhole(source)).rows).toEqual([['1']]);
  });
});
