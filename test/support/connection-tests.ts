/** What every database server must show of its connections: cut, aborted, refused, encrypted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { closedPort, cuttingProxy, expectNoSecret, failureOf, listen, rowsAfter } from './database-world.ts';
import type { TestServer, UrlOptions } from './servers.ts';
import { calm, openSource, readWhole } from './source-world.ts';

export interface Engine {
  readonly type: 'mysql' | 'postgres';
  /** The server and its version. */
  readonly name: string;
  /** Whether this machine has no such server. */
  readonly cannot: boolean;
  /** With TLS, or as the engine comes. A user `careful` of the first must come with TLS. */
  readonly serve: (tls: 'tls' | 'bare') => Promise<TestServer>;
  /** Queries of one statement. */
  readonly queries: {
    /** A hundred thousand rows; the first come at once. */
    readonly long: string;
    /** Ten minutes. */
    readonly sleep: string;
    /** Of the present session. */
    readonly isEncrypted: string;
  };
  readonly yes: string;
  readonly no: string;
  /** How many sessions the agent has, or only those whose statement is like that. */
  readonly sessions: (server: TestServer, like?: string) => Promise<number>;
  /** Makes a table `locked` and locks it, on a connection of its own. */
  readonly lock: (server: TestServer) => Promise<{ release(): Promise<void> }>;
  /** The url of its socket. */
  readonly socketUrl: (server: TestServer) => string;
  readonly stopsBy: NodeJS.Signals;
  readonly words: {
    readonly stopped: RegExp;
    readonly silent: RegExp;
    /** Where `careful` comes without TLS. */
    readonly unencrypted: Words;
  };
  readonly refused: Readonly<Record<string, Words & { readonly url: UrlOptions }>>;
}

interface Words {
  readonly message: RegExp;
  readonly hint: RegExp;
}

/** The engine's server, for tests of its own. */
export interface Connected {
  readonly server: TestServer;
  open(query: string, keys?: object, url?: UrlOptions): Source;
}

export function connectionTests(engine: Engine, ownTests: (at: Connected) => void): void {
  describe.skipIf(engine.cannot)(`a connection of type ${engine.type}, on ${engine.name}`, () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await engine.serve('tls');
    });
    afterAll(() => server[Symbol.asyncDispose]());
    const at: Connected = {
      get server() {
        return server;
      },
      open: (query, keys = {}, url = {}) => openSource(engine.type, { url: server.url(url), query, ...keys }, '/'),
    };
    cutTests(engine, at);
    abortTests(engine, at);
    describe('a server that lets nobody in', () => {
      refusalTests(engine, at);
    });
    describe('TLS', () => {
      tlsTests(engine, at);
    });
    test('reads through a unix socket', async () => {
      const source = openSource(engine.type, { url: engine.socketUrl(server), query: 'SELECT 1 AS a' }, '/');
      expect((await readWhole(source)).rows).toEqual([['1']]);
    });
    ownTests(at);
  });
}

function cutTests({ queries: { long }, words, stopsBy, sessions }: Engine, at: Connected): void {
  describe('a connection that is cut in the middle gives no half read', () => {
    test('by a server that shuts down', async () => {
      const { server } = at;
      const error = await rowsAfter(at.open(long), () => server.stop(stopsBy));
      expect(error).toMatchObject({ code: 'part.unreadable', message: expect.stringMatching(words.stopped) });
      expectNoSecret(error, server.password);
      expect(await failureOf(at.open(long), server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('refused'),
      });
      await server.start();
      expect((await readWhole(at.open(long))).rows).toHaveLength(100_000);
    });

    test.each([
      ['reset', 'tried again'],
      ['end', 'read again'],
    ] as const)('by the network: %s', async (how, hint) => {
      const port = await cuttingProxy(at.server.port, 1_000_000, how);
      const error = await failureOf(at.open(long, {}, { port }), at.server);
      expect(error).toMatchObject({ code: 'part.unreadable', message: expect.stringContaining('was cut') });
      expect(error.hint).toContain(hint);
    });
  });

  test('a reader who stops early leaves nothing behind', async () => {
    const source = at.open(long);
    const [part] = await source.parts(calm);
    for await (const batch of source.rows(part!, calm)) {
      expect(batch.count).toBeGreaterThan(0);
      break;
    }
    await expect.poll(() => sessions(at.server)).toBe(0);
  });
}

function abortTests({ queries, sessions, lock }: Engine, at: Connected): void {
  /** Reads until the server runs the query, aborts, and gives how the read ended. */
  async function abortWhileRunning(query: string, reason: Error): Promise<unknown> {
    const controller = new AbortController();
    const source = at.open(query);
    const [part] = await source.parts(calm);
    const next = source.rows(part!, controller.signal).next();
    await expect.poll(() => sessions(at.server, `%${query.slice('SELECT '.length)}`)).toBe(1);
    controller.abort(reason);
    const end = await next.catch((error: unknown) => error);
    await expect.poll(() => sessions(at.server)).toBe(0);
    return end;
  }

  describe('an abort', () => {
    test('ends the query on the server', async () => {
      const reason = new Error('enough');
      expect(await abortWhileRunning(queries.sleep, reason)).toBe(reason);
    });

    test('ends a query that waits for a lock before it begins', async () => {
      const locked = await lock(at.server);
      const reason = new Error('enough');
      expect(await abortWhileRunning('SELECT * FROM locked', reason)).toBe(reason);
      await locked.release();
    });

    test('ends an attempt to connect', async () => {
      const controller = new AbortController();
      const port = await listen(() => controller.abort(new Error('enough')));
      await expect(at.open('SELECT 1', {}, { port }).parts(controller.signal)).rejects.toThrow('enough');
    });
  });
}

function refusalTests({ refused, words }: Engine, at: Connected): void {
  test.each(Object.entries(refused))('%s', async (_what, { url, message, hint }) => {
    const error = await failureOf(at.open('SELECT 1 AS a', {}, url), { password: url.password ?? at.server.password });
    expect(error).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  test('a port where nobody listens', async () => {
    const source = at.open('SELECT 1 AS a', {}, { port: await closedPort() });
    expect(await failureOf(source, at.server)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('the connection was refused'),
      hint: expect.stringContaining('running'),
    });
  });

  test('a server that never answers', async () => {
    const port = await listen(() => undefined);
    const source = at.open('SELECT 1 AS a', {}, { port, parameters: 'connect_timeout=1' });
    expect(await failureOf(source, at.server)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(words.silent),
    });
  });

  test('a port of something else', async () => {
    const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await failureOf(at.open('SELECT 1 AS a', {}, { port }), at.server)).toMatchObject({
      code: 'source.unreadable',
    });
  });
}

function tlsTests({ type, serve, queries: { isEncrypted }, yes, no, words }: Engine, at: Connected): void {
  test.each([
    ['', yes],
    ['sslmode=disable', no],
    ['sslmode=prefer', yes],
    ['sslmode=require', yes],
  ])('with parameters "%s" is there: %s', async (parameters, is) => {
    expect((await readWhole(at.open(isEncrypted, {}, { parameters }))).rows).toEqual([[is]]);
  });

  test.each(['', 'sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full'])(
    'with parameters "%s" trusts the authority of caFile',
    async (parameters) => {
      const source = at.open(isEncrypted, { caFile: at.server.caFile }, { parameters, host: 'localhost' });
      expect((await readWhole(source)).rows).toEqual([[yes]]);
    },
  );

  test.each(['sslmode=verify-full', 'sslmode=verify-ca'])(
    'with %s does not trust an unknown server',
    async (parameters) => {
      const source = at.open(isEncrypted, {}, { parameters, host: 'localhost' });
      expect(await failureOf(source, at.server)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringMatching(/certificate/),
        hint: expect.stringContaining('caFile'),
      });
    },
  );

  test('of another name is refused where the name counts', async () => {
    const keys = { caFile: at.server.caFile };
    expect(await failureOf(at.open(isEncrypted, keys, { host: '127.0.0.1' }), at.server)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(/127\.0\.0\.1/),
      hint: expect.stringContaining('the host as the certificate does'),
    });
    const source = at.open(isEncrypted, keys, { host: '127.0.0.1', parameters: 'sslmode=verify-ca' });
    expect((await readWhole(source)).rows).toEqual([[yes]]);
  });

  test('that the server demands and the url refuses', async () => {
    const as = { user: 'careful', password: 'careful-pass' };
    const plain = at.open('SELECT 1 AS a', {}, { ...as, parameters: 'sslmode=disable' });
    expect(await failureOf(plain, as)).toMatchObject({
      code: 'source.unreadable',
      message: expect.stringMatching(words.unencrypted.message),
      hint: expect.stringMatching(words.unencrypted.hint),
    });
    expect((await readWhole(at.open('SELECT 1 AS a', {}, as))).rows).toEqual([['1']]);
  });

  test('that the url demands and the server has not', async () => {
    await using bare = await serve('bare');
    const open = (parameters: string): Source =>
      openSource(type, { url: bare.url({ parameters }), query: isEncrypted }, '/');
    expect((await readWhole(open('sslmode=prefer'))).rows).toEqual([[no]]);
    for (const parameters of ['sslmode=require', 'sslmode=verify-full']) {
      expect(await failureOf(open(parameters), bare)).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining('the server has no TLS'),
        hint: expect.stringContaining('sslmode=disable'),
      });
    }
  });
}
