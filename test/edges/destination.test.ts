import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isAgentError } from '../../src/core/errors.ts';
import type { SnapshotBody } from '../../src/core/ports.ts';
import {
  type Trial,
  file,
  keeping,
  large,
  log,
  megabyte,
  never,
  openDestination,
  push,
  rawReceiver,
  receiver,
  small,
} from '../support/destination-world.ts';

describe('a push', () => {
  test('posts the bytes of the snapshot and says who sends them', async () => {
    const { url, received } = await keeping();
    const token = { kind: 'text', text: ' s3cret\n' } as const;
    expect(await push(url, { token, headers: { 'X-Tenant': 'acme' } })).toEqual({
      outcome: 'acknowledged',
      status: 200,
      maybeTaken: false,
    });
    expect(received).toHaveLength(1);
    const { request, bytes } = received[0]!;
    expect(`${request.method} ${request.url}`).toBe('POST /api/extDrivers/update');
    expect(bytes.toString()).toBe('{"shouldDeleteMissing":true,"extDrivers":[]}');
    expect(request.headers).toMatchObject({
      authorization: 'Bearer s3cret',
      connection: 'close',
      'content-length': String(small.bytes),
      'content-type': 'application/json',
      'user-agent': `driver-sync/0.1.0 (${hostname()}; digest ${small.digest})`,
      'x-tenant': 'acme',
    });
  });

  test('sends any number of bytes, and the same again on a new connection', async () => {
    const { url, received } = await keeping();
    for (let pushes = 0; pushes < 2; pushes += 1)
      expect((await push(url, { body: large })).outcome).toBe('acknowledged');
    const digests = received.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'));
    expect(digests).toEqual([large.digest, large.digest]);
    expect(received[0]!.request.socket).not.toBe(received[1]!.request.socket);
  });

  test('compresses where it was told to, and the bytes are the same', async () => {
    const { url, received } = await keeping();
    expect((await push(url, { compress: 'gzip', body: large })).outcome).toBe('acknowledged');
    const { request, bytes } = received[0]!;
    expect(request.headers).toMatchObject({ 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' });
    expect(request.headers['content-length']).toBeUndefined();
    expect(createHash('sha256').update(gunzipSync(bytes)).digest('hex')).toBe(large.digest);
  });

  test('goes to the path of the configured address', async () => {
    const { url, received } = await keeping();
    await push(`${url}/planning/`);
    expect(received[0]!.request.url).toBe('/planning/api/extDrivers/update');
  });
});

describe('an answer before the snapshot was sent', () => {
  const refusingAtOnce = (status: number): Promise<string> =>
    receiver((_request, response) => response.writeHead(status, { connection: 'close' }).end('not you'));

  test.each([401, 413])('%i is taken, though the connection breaks', async (status) => {
    const url = await refusingAtOnce(status);
    for (let times = 0; times < 5; times += 1) {
      expect(await push(url, { body: large })).toMatchObject({
        outcome: 'refused',
        status,
        detail: expect.stringContaining('not you'),
      });
    }
  });

  test('is taken from a receiver that closes at once, whatever was sent meanwhile', async () => {
    for (let times = 0; times < 200; times += 1) {
      let chunks = times % 25;
      const url = await rawReceiver((socket) => {
        socket
          .on('error', () => {})
          .on('data', () => {
            if (chunks-- !== 0) return;
            socket.write('HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 7\r\n\r\nnot you');
            socket.destroy();
          });
      });
      expect(await push(url, { body: large })).toMatchObject({ outcome: 'refused', status: 413 });
    }
  });

  test('is taken from a receiver that never reads and keeps the connection', async () => {
    const url = await rawReceiver(
      (socket) => void socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 7\r\n\r\nnot you'),
      { pauseOnConnect: true },
    );
    expect(await push(url, { body: large })).toMatchObject({ outcome: 'refused', status: 413 });
  });

  test('200 is no acknowledgement: who has not seen all cannot have taken it', async () => {
    const url = await refusingAtOnce(200);
    expect(await push(url, { body: large })).toMatchObject({ outcome: 'unknown', status: 200, maybeTaken: true });
  });
});

describe('a failure of this machine', () => {
  const failing = (after: Buffer): SnapshotBody => ({
    digest: 'd',
    bytes: 3 * megabyte,
    async *chunks() {
      yield after;
      throw new Error('the disk is gone');
    },
  });

  test.each(['none', 'gzip'] as const)(
    'while it reads the snapshot (%s) is thrown, not blamed on the network, and half of it is not taken',
    async (compress) => {
      let whole = 0;
      const url = await receiver((request, response) => {
        request.on('error', () => {});
        request.resume().on('end', () => ((whole += 1), response.end()));
      });
      for (const after of [Buffer.alloc(0), Buffer.alloc(megabyte)]) {
        await expect(push(url, { compress, body: failing(after) })).rejects.toThrow('the disk is gone');
      }
      expect(whole).toBe(0);
    },
  );

  test('a snapshot that is shorter or longer than it says is not sent whole', async () => {
    const { url, received } = await keeping();
    for (const compress of ['none', 'gzip'] as const) {
      for (const bytes of [small.bytes - 1, small.bytes + 1]) {
        await expect(push(url, { compress, body: { ...small, bytes } })).rejects.toMatchObject({
          code: 'snapshot.damaged',
        });
      }
    }
    expect(received).toHaveLength(0);
  });

  test.each([
    [
      'a missing token file',
      { token: { kind: 'file', file: '/nonexistent/token' } },
      'the file of tokenFile cannot be read (ENOENT)',
    ],
    ['a missing CA file', { caFile: '/nonexistent/ca.pem' }, 'the caFile /nonexistent/ca.pem cannot be read (ENOENT)'],
    ['an empty token', { token: { kind: 'text', text: ' ' } }, 'the token is empty'],
    [
      'a token of two lines',
      { token: { kind: 'text', text: 'secret1\nsecret2' } },
      'the token has a character that no token has',
    ],
    [
      'a header that breaks the line',
      { headers: { 'X-A': 'secret\r\nX-B: 1' } },
      'destination.headers: "X-A" has characters that no header can carry',
    ],
    [
      'a header of the agent',
      { headers: { 'Content-Length': '1' } },
      'destination.headers: "Content-Length" is set by the agent itself',
    ],
    [
      'a password in the address',
      { url: 'http://user:secret@127.0.0.1' },
      'destination.url holds a user or a password',
    ],
    [
      'a variable that does not hold the address of a proxy',
      { env: { HTTP_PROXY: 'socks5://user:secret@proxy' } },
      'the environment variable HTTP_PROXY is not the address of an HTTP proxy',
    ],
  ] as [string, Trial, string][])(
    '%s is a failure of the config that tells no secret',
    async (_name, trial, message) => {
      const failure: unknown = await push('http://127.0.0.1:9', trial).catch((error: unknown) => error);
      expect(isAgentError(failure, 'config.invalid') && failure.message).toBe(message);
      expect(isAgentError(failure) && String(failure.hint)).not.toMatch(/secret/);
    },
  );
});

describe('a token file', () => {
  /** Takes only one token, and calls `onRefusal` before it refuses another. */
  async function guarded(token: string, onRefusal = (): void => {}): Promise<{ url: string; tokens: string[] }> {
    const tokens: string[] = [];
    const url = await receiver(async (request, response) => {
      const bytes = await buffer(request);
      const given = request.headers.authorization ?? '';
      tokens.push(given);
      if (given !== `Bearer ${token}`) onRefusal();
      response.writeHead(given === `Bearer ${token}` && bytes.length === small.bytes ? 200 : 401).end(`no: ${given}`);
    });
    return { url, tokens };
  }

  test('is read at each push', async () => {
    const path = file('token', 'first\n');
    const { url, tokens } = await guarded('any');
    await push(url, { token: { kind: 'file', file: path } });
    writeFileSync(path, 'second\n');
    await push(url, { token: { kind: 'file', file: path } });
    expect(tokens).toEqual(['Bearer first', 'Bearer second']);
  });

  test('that changed while the push was refused is tried once more in the same push', async () => {
    const path = file('token', 'old-token');
    const { url, tokens } = await guarded('new-token', () => writeFileSync(path, 'new-token\n'));
    expect((await push(url, { token: { kind: 'file', file: path } })).outcome).toBe('acknowledged');
    expect(tokens).toEqual(['Bearer old-token', 'Bearer new-token']);
    expect(JSON.stringify(log.lines)).toContain('tried once more');
    expect(JSON.stringify(log.lines)).not.toMatch(/old-token|new-token/);
  });

  test('that has not changed, is gone, or is refused too, is not tried again', async () => {
    const path = file('token', 'token-1');
    const unchanged = await guarded('any');
    expect((await push(unchanged.url, { token: { kind: 'file', file: path } })).detail).toContain(
      '401 Unauthorized: no: Bearer ***;',
    );
    expect(unchanged.tokens).toHaveLength(1);

    let next = 1;
    const changing = await guarded('any', () => writeFileSync(path, `token-${(next += 1)}`));
    expect(await push(changing.url, { token: { kind: 'file', file: path } })).toMatchObject({
      outcome: 'refused',
      status: 401,
    });
    expect(changing.tokens).toEqual(['Bearer token-1', 'Bearer token-2']);

    const gone = await guarded('any', () => rmSync(path));
    expect(await push(gone.url, { token: { kind: 'file', file: path } })).toMatchObject({
      outcome: 'refused',
      status: 401,
    });
    writeFileSync(path, '');
  });
});

describe('stopping', () => {
  const soon = (): { signal: AbortSignal; stop: () => void } => {
    const controller = new AbortController();
    return { signal: controller.signal, stop: () => controller.abort() };
  };

  test('before the beginning sends nothing', async () => {
    const { url, received } = await keeping();
    const { signal, stop } = soon();
    stop();
    expect(await push(url, { signal })).toEqual({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: 'the push was stopped',
    });
    expect(received).toHaveLength(0);
  });

  test('while it connects leaves nothing sent, and no connection open', async () => {
    const { signal, stop } = soon();
    let closed: Promise<unknown> | undefined;
    const url = await rawReceiver((socket) => {
      closed = once(socket.resume(), 'close');
      stop();
    });
    const result = await push(url.replace('http:', 'https:'), { signal });
    expect(result).toMatchObject({ outcome: 'unreachable', maybeTaken: false });
    await closed;
  });

  test('while it sends, or waits, leaves it unknown', async () => {
    for (const body of [small, large]) {
      const { signal, stop } = soon();
      const url = await rawReceiver((socket) => void socket.once('data', () => (socket.pause(), stop())));
      expect(await push(url, { body, signal })).toMatchObject({
        outcome: 'unknown',
        maybeTaken: true,
        detail: expect.stringContaining('the push was stopped'),
      });
    }
  });

  test('by disposing of the destination ends its push', async () => {
    let arrived = (): void => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const url = await rawReceiver((socket) => void socket.once('data', arrived));
    const destination = openDestination(url, {});
    const result = destination.push(small, never);
    await arrival;
    await destination[Symbol.asyncDispose]();
    expect((await result).outcome).toBe('unknown');
  });
});
