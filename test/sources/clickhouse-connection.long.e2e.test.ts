import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { kinds } from '../../src/sources/index.ts';
import {
  type ClickHouseServer,
  cannotClickhouse,
  clickhouseName,
  clickhouseServer,
} from '../support/clickhouse-servers.ts';
import { closedPort, cuttingProxy, expectNoSecret, failureOf, listen, rowsAfter } from '../support/database-world.ts';
import { openProxy } from '../support/destination-world.ts';
import type { UrlOptions } from '../support/servers.ts';
import { calm, openSource, readWhole } from '../support/source-world.ts';

/** A hundred bytes each. */
const long =
  "SELECT number AS n, '0123456789012345678901234567890123456789012345678901234567890123456789' AS text FROM numbers(1000000)";
/** One row every second, for ten minutes. */
const slow = 'SELECT sleep(1) AS a FROM numbers(600) SETTINGS max_block_size = 1';

/** What the agent has the server at: statements that give rows, not those that ask for columns first. */
async function running(server: ClickHouseServer): Promise<number> {
  const found = await server.run(
    "SELECT count() AS n FROM system.processes WHERE http_user_agent LIKE '%clickhouse-js%' AND startsWith(query, 'SELECT \\'+\\'')",
  );
  return Number(found[0]!['n']);
}

/** Passes answers on, and ends those with rows behind so many of them. @param isFramed whether it says where its answers end */
async function endingProxy(port: number, { afterRows = Infinity, isFramed = true } = {}): Promise<number> {
  const proxy = createServer((asked, answer) => {
    const { method = 'POST', url: at = '/', headers } = asked;
    const far = request({ host: '127.0.0.1', port, method, path: at, headers }, (given) => {
      answer.useChunkedEncodingByDefault = isFramed;
      answer.writeHead(given.statusCode ?? 500, { connection: 'close' });
      let rows = 0;
      given.on('data', (data: Buffer) => {
        const lines = data.toString('latin1').split('\n');
        const left = afterRows - rows;
        rows += lines.length - 1;
        if (left <= 0) return;
        if (lines.length - 1 < left) answer.write(data);
        else answer.end(Buffer.from(`${lines.slice(0, left).join('\n')}\n`, 'latin1'));
      });
      given.on('end', () => answer.end());
    });
    asked.pipe(far);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return (proxy.address() as AddressInfo).port;
}

describe.skipIf(cannotClickhouse)(`a connection of type clickhouse, on ${clickhouseName}`, () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await clickhouseServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (query: string, url: UrlOptions = {}): Source =>
    openSource('clickhouse', { url: server.url(url), query }, '/');

  describe('that is cut in the middle gives no half read', () => {
    test('by a server that dies', async () => {
      const error = await rowsAfter(open(long), () => server.stop('SIGKILL'));
      expect(error).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining('was cut') });
      expectNoSecret(error, server.password);
      await server.start();
      expect((await readWhole(open(long))).rows).toHaveLength(1_000_000);
    });

    test('by the network', async () => {
      const port = await cuttingProxy(server.port, 2_000_000);
      expect(await failureOf(open(long, { port }), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringContaining('was cut'),
        hint: expect.stringContaining('next look'),
      });
    });

    test('by a proxy that ends the answer as if it were whole, between two rows', async () => {
      const port = await endingProxy(server.port, { afterRows: 1000 });
      expect(await failureOf(open(long, { port }), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringContaining('was cut'),
        hint: expect.stringContaining('next look'),
      });
    });

    test('by a proxy whose answers end with their connection, where nothing says that they are whole: they have no rows', async () => {
      const port = await endingProxy(server.port, { isFramed: false });
      expect((await readWhole(open('SELECT 1 AS a', { port }))).rows).toEqual([['1']]);
      expect(await failureOf(open('SELECT 1 AS a WHERE 0', { port }), server)).toMatchObject({
        code: 'part.unreadable',
        message: expect.stringContaining('does not say where it ends'),
        hint: expect.stringContaining('HTTP/1.1'),
      });
    });

    test('by somebody who ends the query', async () => {
      const [part] = await open(slow).parts(calm);
      const reading = open(slow).rows(part!, calm).next();
      await expect.poll(() => running(server)).toBe(1);
      await server.run("KILL QUERY WHERE query LIKE '%FROM numbers(600)%'");
      await expect(reading).rejects.toMatchObject({
        code: 'part.unreadable',
        message: expect.stringMatching(/cancel/i),
        hint: expect.stringContaining('next look'),
      });
    });
  });

  test('that a reader leaves early ends its query on the server', async () => {
    for await (const batch of open(long).rows({ name: 'query', version: '', revisedAtMs: 0 }, calm)) {
      expect(batch.count).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => running(server)).toBe(0);
  });

  describe('that is aborted', () => {
    test('ends its query on the server', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const reading = open(slow).rows({ name: 'query', version: '', revisedAtMs: 0 }, controller.signal).next();
      await expect.poll(() => running(server)).toBe(1);
      controller.abort(reason);
      await expect(reading).rejects.toBe(reason);
      await expect.poll(() => running(server)).toBe(0);
    });

    test('before it stands, stops at once', async () => {
      const controller = new AbortController();
      const port = await listen(() => controller.abort(new Error('enough')));
      await expect(open('SELECT 1 AS a', { port }).parts(controller.signal)).rejects.toThrow('enough');
    });
  });

  test.each<[string, UrlOptions, RegExp, RegExp]>([
    ['a wrong password', { password: 'wr0ng/pass' }, /Wrong password/, /password in the url/],
    ['no password', { password: '' }, /password/i, /password in the url/],
    ['an unknown user', { user: 'nobody' }, /Unknown user nobody/, /user in the url/],
    ['an unknown database', { database: 'nowhere' }, /Database nowhere doesn't exist/, /name of the database/],
    ['an unknown host', { host: 'no-such-host.invalid' }, /the host is unknown|could not be looked up/, /name/],
  ])('is not let in: %s', async (_what, url, message, hint) => {
    const error = await failureOf(open('SELECT 1 AS a', url), { password: url.password ?? server.password });
    expect(error).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  test.each<[string, () => Promise<number>, RegExp, RegExp]>([
    ['nobody listens', closedPort, /the connection was refused/, /running/],
    [
      'the native protocol listens',
      async () => server.nativePort,
      /you must use port|no ClickHouse|does not speak HTTP/i,
      /HTTP|host and port/,
    ],
    [
      'a web page answers',
      async () =>
        await listen((socket) => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<!doctype html><p>Log in')),
      /a web page answered/,
      /check url/,
    ],
    [
      'another service answers',
      async () => await listen((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')),
      /no ClickHouse/,
      /host and port/,
    ],
    [
      'a gateway answers',
      async () => await listen((socket) => socket.end('HTTP/1.1 503 x\r\nContent-Length: 4\r\n\r\nbusy')),
      /it answered 503: busy/,
      /tried again/,
    ],
  ])('is refused where %s', async (_what, port, message, hint) => {
    expect(await failureOf(open('SELECT 1 AS a', { port: await port() }), server)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

describe.skipIf(cannotClickhouse)(`TLS of type clickhouse, on ${clickhouseName}`, () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await clickhouseServer({ tls: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (keys: object, url: UrlOptions = {}): Source =>
    openSource('clickhouse', { url: server.url({ host: 'localhost', ...url }), query: 'SELECT 1 AS a', ...keys }, '/');

  describe('through the proxy of the environment', () => {
    afterEach(() => void vi.unstubAllEnvs());

    test('stands as without', async () => {
      const proxy = await openProxy();
      vi.stubEnv('https_proxy', proxy.url);
      expect((await readWhole(open({ caFile: server.caFile }))).rows).toEqual([['1']]);
      expect(proxy.seen).toContain(`CONNECT localhost:${server.port}`);
    });

    test.each<[string, () => Promise<string>, RegExp, RegExp]>([
      ['wants a password', async () => (await openProxy(407)).url, /the proxy wants user and password/, /HTTPS_PROXY/],
      ['opens no tunnel', async () => (await openProxy(403)).url, /the proxy answered 403/, /NO_PROXY/],
      ['is none', async () => 'ftp://me:hidden@nowhere', /HTTPS_PROXY is not the address of an HTTP proxy/, /write it/],
    ])('that %s is not there', async (_what, proxy, message, hint) => {
      vi.stubEnv('https_proxy', await proxy());
      const error = await failureOf(open({ caFile: server.caFile }), server);
      expect(error).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
      expectNoSecret(error, 'hidden');
    });
  });

  test('trusts the authority of caFile', async () => {
    expect((await readWhole(open({ caFile: server.caFile }))).rows).toEqual([['1']]);
  });

  test.each<[string, () => Source, RegExp, RegExp]>([
    ['an unknown authority', () => open({}), /no authority that is known here/, /caFile/],
    [
      'a certificate of another host',
      () => open({ caFile: server.caFile }, { host: '127.0.0.1' }),
      /the certificate is for another host/,
      /host as the certificate/,
    ],
    [
      'a server that wants TLS',
      () =>
        openSource(
          'clickhouse',
          { url: server.url({ host: 'localhost' }).replace('https', 'http'), query: 'SELECT 1 AS a' },
          '/',
        ),
      /does not speak HTTP|was cut|failed/,
      /./,
    ],
  ])('refuses %s', async (_what, source, message, hint) => {
    expect(await failureOf(source(), server)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

test.each([
  ['postgres://me:s3cret@localhost/books', /begins with https:\/\/ or http:\/\//],
  ['https://me:12/s3cret@localhost/books', /can be read/],
  ['https://me:s3%cret@localhost/books', /stands for no character/],
  ['https://me:s3cret@localhost/books?ssl=true', /has parameters/],
  ['https://me:s3cret@localhost/books/2026', /is not one database/],
])('type clickhouse refuses the url %s without showing any of it', (url, message) => {
  const { error } = kinds['clickhouse']!.schema.safeParse({ url, query: 'SELECT 1' });
  expect(error!.issues[0]!.message).toMatch(message);
  expect(JSON.stringify(error!.issues)).not.toMatch(/s3|cret/);
});

test.each([
  ['https://me:a%40b@db.example/books', 'https://me@db.example:8443/books'],
  ['http://db.example', 'http://default@db.example:8123'],
  ['https://me:x@db.example:443/', 'https://me@db.example:443'],
  ['http://me@[::1]:8124/books', 'http://me@[::1]:8124/books'],
])('the url %s is shown as %s', (url, label) => {
  const { data } = kinds['clickhouse']!.schema.safeParse({ url, query: 'SELECT 1' });
  expect(data).toMatchObject({ url: { label } });
});
