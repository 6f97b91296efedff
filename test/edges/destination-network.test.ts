import { once } from 'node:events';
import { type Socket, createServer as createRawServer } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { PushResult, SnapshotBody } from '../../src/core/ports.ts';
import {
  answering,
  keeping,
  large,
  openProxy,
  push,
  rawReceiver,
  serve,
  small,
  snapshotOf,
} from '../support/destination-world.ts';
import { type HandClock, handClock } from '../support/hand-clock.ts';

/** Straight, and past a proxy that is named: what sends the request is another one then. */
const ways: readonly (readonly [string, typeof push])[] = [
  ['straight', push],
  ['past a proxy', (url, trial) => push(url, { env: { http_proxy: 'http://127.0.0.1:1', no_proxy: '*' }, ...trial })],
];

describe.each(ways)('silence and broken connections (%s)', (_way, send) => {
  test('a receiver that no longer reads is given up after the timeout', async () => {
    const url = await rawReceiver(() => {}, { pauseOnConnect: true });
    const result = await send(url, { body: large, timeoutMs: 1000 });
    expect(result).toMatchObject({ outcome: 'unknown', maybeTaken: true });
    expect(result.detail).toMatch(/: no byte moved for 1 s; \d+ bytes were sent: the service may have taken/);
  });

  test('so is one that never answers', async () => {
    const result = await send(await rawReceiver((socket) => void socket.resume()), { timeoutMs: 1000 });
    expect(result).toMatchObject({
      outcome: 'unknown',
      maybeTaken: true,
      detail: expect.stringContaining('no byte moved for 1 s; the request was sent whole'),
    });
  });

  test('so is one that stops within its answer', async () => {
    const url = await rawReceiver(
      (socket) => void socket.resume().write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
    );
    expect(await send(url, { timeoutMs: 1000 })).toMatchObject({
      outcome: 'unknown',
      status: 200,
      maybeTaken: true,
      detail: expect.stringContaining('200 OK: half; no byte moved for 1 s'),
    });
  });

  test('half an answer of a connection that then breaks is unknown, unless it is a refusal', async () => {
    const half = (status: number): Promise<string> =>
      rawReceiver(
        (socket) =>
          void socket.once('data', () => socket.end(`HTTP/1.1 ${status} Text\r\ncontent-length: 10\r\n\r\nhalf`)),
      );
    expect(await send(await half(200))).toMatchObject({ outcome: 'unknown', maybeTaken: true });
    expect(await send(await half(400))).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('half') });
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'a connection dropped without an answer (%s) is unknown',
    async (way) => {
      const url = await rawReceiver((socket) => void socket.once('data', () => socket[way]()));
      expect(await send(url)).toMatchObject({
        outcome: 'unknown',
        maybeTaken: true,
        detail: expect.stringContaining('the connection was'),
      });
    },
  );

  const switching = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n';

  test.each([
    ['keeps', 'write', small],
    ['closes', 'end', small],
    ['closes before all was sent', 'end', large],
  ] as const)('101 is refused, whether the receiver %s the connection', async (_how, go, body) => {
    const url = await rawReceiver((socket) => void socket.once('data', () => socket[go](switching)));
    expect(await send(url, { body })).toEqual({
      outcome: 'refused',
      status: 101,
      maybeTaken: true,
      detail: '101 Switching Protocols; only 200 says that the snapshot was taken: check url',
    });
  });

  test('an answer that is not HTTP is unknown', async () => {
    const url = await rawReceiver(
      (socket) => void socket.once('data', () => socket.end('220 mail.example.com ESMTP\r\n')),
    );
    expect(await send(url)).toMatchObject({ outcome: 'unknown', maybeTaken: true });
  });

  test('a slow receiver and a slow answer may take longer than the timeout, as long as bytes move', async () => {
    const clock = handClock(new Date(0));
    const handle = async (socket: Socket): Promise<void> => {
      let bytesLeft = large.bytes;
      while (bytesLeft > 0) {
        await once(socket, 'readable');
        for (let piece = socket.read(); piece !== null; piece = socket.read()) bytesLeft -= piece.length;
        await clock.advance(1000);
      }
      for (const piece of 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'.match(/.{1,8}/gs)!) {
        await new Promise((written) => socket.write(piece, written));
        await clock.advance(15_000);
      }
    };
    const url = await rawReceiver((socket) => void handle(socket));
    expect((await send(url, { body: large, timeoutMs: 60_000, clock })).outcome).toBe('acknowledged');
    expect(clock.monotonicMs()).toBeGreaterThan(60_000);
  });

  test('a disk that is slow for longer than the timeout is no silence of the service', async () => {
    const clock = handClock(new Date(0));
    const { url, received } = await keeping();
    const bytes = Buffer.alloc(200_000, 'x');
    const body: SnapshotBody = {
      ...snapshotOf(bytes),
      async *chunks() {
        yield bytes.subarray(0, 100_000);
        await clock.advance(90_000);
        yield bytes.subarray(100_000);
      },
    };
    expect((await send(url, { body, timeoutMs: 60_000, clock })).outcome).toBe('acknowledged');
    expect(received[0]!.bytes.equals(bytes)).toBe(true);
  });
});

describe.each(ways)(
  'an answer has ten times the timeout in all, however steadily its bytes come (%s)',
  (_way, send) => {
    const timeoutMs = 60_000;
    const minuteMs = 60_000;

    /** A receiver that reads the request, begins its answer so and then goes on by hand. */
    async function trickling(begin: string): Promise<{ url: string; asked: Promise<Socket> }> {
      const asked = Promise.withResolvers<Socket>();
      const url = await rawReceiver((socket) => {
        socket.once('data', () => socket.write(begin, () => asked.resolve(socket)));
      });
      return { url, asked: asked.promise };
    }

    /** Moves one byte and ten seconds on, until the push has ended; gives the result and the minutes that it took. */
    async function trickleUntil(
      pushing: Promise<PushResult>,
      socket: Socket,
      clock: HandClock,
    ): Promise<PushResult & { minutes: number }> {
      let result: PushResult | undefined;
      void pushing.then((ended) => (result = ended));
      for (let steps = 0; steps < 200; steps += 1) {
        if (result !== undefined) return { ...result, minutes: Math.ceil(clock.monotonicMs() / minuteMs) };
        await new Promise((written) => socket.write('x', written));
        await clock.advance(10_000);
      }
      throw new Error('the push goes on without end');
    }

    test('while it has no head yet', async () => {
      const clock = handClock(new Date(0));
      const { url, asked } = await trickling('HTTP/1.1 200 OK\r\nx-trickle: ');
      const pushing = send(url, { timeoutMs, clock });
      expect(await trickleUntil(pushing, await asked, clock)).toEqual({
        outcome: 'unknown',
        maybeTaken: true,
        detail: expect.stringMatching(/: no whole answer within 600 s \(ten times timeout\); .* may have taken/),
        minutes: 10,
      });
    });

    test.each([
      [200, 'unknown', /^200 OK: x+; no whole answer within 600 s \(ten times timeout\); .* may have taken/],
      [503, 'unreachable', /^503 OK: x+; the server is busy/],
      [400, 'refused', /^400 OK: x+; the same snapshot will be refused again/],
    ] as const)('while its body comes: %i is %s', async (status, outcome, detail) => {
      const clock = handClock(new Date(0));
      const { url, asked } = await trickling(`HTTP/1.1 ${status} OK\r\ncontent-length: 1000\r\n\r\n`);
      const pushing = send(url, { timeoutMs, clock });
      const result = await trickleUntil(pushing, await asked, clock);
      expect(result).toMatchObject({ outcome, status, detail: expect.stringMatching(detail) });
      expect([10, 11]).toContain(result.minutes);
    });

    test('before the tunnel of a proxy stands', async () => {
      const clock = handClock(new Date(0));
      const { url, asked } = await trickling('HTTP/1.1 200 OK\r\nx-trickle: ');
      const pushing = send('https://drivers.example.com', { env: { HTTPS_PROXY: url }, timeoutMs, clock });
      const { outcome, detail, minutes } = await trickleUntil(pushing, await asked, clock);
      expect({ outcome, minutes }).toEqual({ outcome: 'unreachable', minutes: 10 });
      expect(detail).toMatch(`https://drivers.example.com (through the proxy ${new URL(url).host}): no whole answer`);
    });

    test('a snapshot that goes on being sent takes as long as it takes', async () => {
      const clock = handClock(new Date(0));
      const { url, received } = await keeping();
      const bytes = Buffer.alloc(5000, 'x');
      const body: SnapshotBody = {
        ...snapshotOf(bytes),
        async *chunks() {
          for (let at = 0; at < 5000; at += 1000) {
            yield bytes.subarray(at, at + 1000);
            await clock.advance(9 * minuteMs);
          }
        },
      };
      expect((await send(url, { body, timeoutMs, clock })).outcome).toBe('acknowledged');
      expect(received[0]!.bytes.equals(bytes)).toBe(true);
    });
  },
);

describe('what comes before the connection is unreachable: nothing was sent', () => {
  test('a port where nobody listens', async () => {
    const server = createRawServer();
    const url = await serve(server);
    await new Promise((closed) => server.close(closed));
    expect(await push(url)).toEqual({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: `${url}: the connection was refused: nothing listens there (ECONNREFUSED); check host and port, and whether the server is running`,
    });
  });

  test('a host without an address', async () => {
    const result = await push('http://no-such-host.invalid');
    expect(result).toMatchObject({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: expect.stringMatching(/no-such-host\.invalid.*\((ENOTFOUND|EAI_AGAIN)\)/),
    });
  });

  test('a TLS handshake that gets no answer', async () => {
    const url = await rawReceiver((socket) => void socket.resume());
    const result = await push(url.replace('http:', 'https:'), { timeoutMs: 1000 });
    expect(result).toMatchObject({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: expect.stringContaining('within 1 s'),
    });
  });

  test('a port that does not speak TLS', async () => {
    const result = await push((await answering(200)).replace('http:', 'https:'));
    expect(result).toMatchObject({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: expect.stringContaining('what listens there does not speak TLS'),
    });
  });
});

describe('a proxy', () => {
  test('of HTTP_PROXY forwards, with its own password', async () => {
    const proxy = await openProxy();
    const env = { HTTP_PROXY: proxy.url.replace('//', '//user:p%40ss@') };
    expect((await push('http://drivers.example.com', { env })).outcome).toBe('acknowledged');
    expect(proxy.seen).toEqual([
      `POST http://drivers.example.com/api/extDrivers/update Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    ]);
  });

  test.each([{ NO_PROXY: '127.0.0.1' }, { no_proxy: 'example.com,127.0.0.1' }, { NO_PROXY: '*' }])(
    'is left out for %j',
    async (noProxy) => {
      const { url, received } = await keeping();
      const proxy = await openProxy();
      expect((await push(url, { env: { http_proxy: proxy.url, ...noProxy } })).outcome).toBe('acknowledged');
      expect(received).toHaveLength(1);
      expect(proxy.seen).toHaveLength(0);
    },
  );

  test('of another scheme, or of the process, is not used', async () => {
    const { url, received } = await keeping();
    const proxy = await openProxy();
    vi.stubEnv('HTTP_PROXY', proxy.url);
    expect((await push(url, { env: { HTTPS_PROXY: proxy.url } })).outcome).toBe('acknowledged');
    expect(received).toHaveLength(1);
  });

  test('that wants a password is a refusal that says so', async () => {
    const proxy = await openProxy(407);
    expect(await push('http://drivers.example.com', { env: { HTTP_PROXY: proxy.url } })).toMatchObject({
      outcome: 'refused',
      status: 407,
      detail: expect.stringContaining('the proxy wants user and password; put them into its address'),
    });
  });

  test('that does not tunnel, or is not there, leaves the service unreachable, and its password is not told', async () => {
    const proxy = await openProxy(403);
    for (const address of [proxy.url.replace('//', '//user:hunter22@'), 'http://user:hunter22@127.0.0.1:1']) {
      const result = await push('https://drivers.example.com', { env: { HTTPS_PROXY: address } });
      expect(result).toMatchObject({ outcome: 'unreachable', maybeTaken: false });
      expect(result.detail).toContain(`drivers.example.com (through the proxy ${new URL(address).host})`);
      expect(result.detail).not.toContain('hunter22');
    }
  });

  test('that takes the tunnel and then says nothing is given up after the timeout', async () => {
    const url = await rawReceiver((socket) => void socket.resume());
    const result = await push('https://drivers.example.com', { env: { HTTPS_PROXY: url }, timeoutMs: 1000 });
    expect(result).toMatchObject({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: expect.stringContaining('no byte moved for 1 s'),
    });
  });
});
