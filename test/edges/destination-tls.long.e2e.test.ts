import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { canCertify, certify } from '../support/certificate.ts';
import { type Received, file, handling, large, openProxy, push, serve } from '../support/destination-world.ts';

describe.skipIf(!canCertify)('over TLS (the certificates need openssl on this machine)', () => {
  const service = canCertify ? certify('drivers.example.com') : { key: '', cert: '' };

  async function tlsReceiver(): Promise<{ url: string; received: Received[] }> {
    const received: Received[] = [];
    const server = createServer(
      service,
      handling(async (request, response) => {
        received.push({ request, bytes: await buffer(request) });
        response.end();
      }),
    );
    return { url: await serve(server, 'https'), received };
  }

  test('a certificate that nobody vouches for is unreachable, and caFile vouches for it', async () => {
    const { url, received } = await tlsReceiver();
    expect(await push(url)).toMatchObject({
      outcome: 'unreachable',
      maybeTaken: false,
      detail: expect.stringContaining('name the authority of the certificate with caFile'),
    });
    expect(received).toHaveLength(0);
    expect((await push(url, { caFile: file('ca.pem', service.cert), body: large })).outcome).toBe('acknowledged');
    expect(received[0]!.bytes.equals(await buffer(large.chunks()))).toBe(true);
  });

  test('the authorities that Node trusts anyway still count beside caFile', async () => {
    const { url } = await tlsReceiver();
    const settings = {
      url,
      headers: {},
      timeoutMs: 5000,
      compress: 'none',
      caFile: file('other.pem', certify('drivers.example.com').cert),
    };
    const program = `
      import { openHttpDestination } from ${JSON.stringify(new URL('../../src/edges/push/destination.ts', import.meta.url).href)};
      const destination = openHttpDestination(${JSON.stringify(settings)}, { version: '0.1.0', env: {}, log: console });
      const body = { digest: 'd', bytes: 2, async *chunks() { yield Buffer.from('{}'); } };
      console.log((await destination.push(body, new AbortController().signal)).outcome);`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file('extra.pem', service.cert) };
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said.trim()).toBe('acknowledged');
  });

  test('a certificate of another host is unreachable', async () => {
    const { url } = await tlsReceiver();
    const result = await push(url.replace('127.0.0.1', 'localhost'), { caFile: file('ca.pem', service.cert) });
    expect(result).toMatchObject({ outcome: 'unreachable', maybeTaken: false });
    expect(result.detail).toContain(
      'the certificate is for another host (DNS:drivers.example.com, IP Address:127.0.0.1)',
    );
  });

  test('a caFile without a certificate is a failure of the config', async () => {
    const caFile = file('ca.pem', service.key);
    await expect(push('https://127.0.0.1:9', { caFile })).rejects.toMatchObject({
      code: 'config.invalid',
      message: `the caFile ${caFile} holds no certificate`,
    });
  });

  describe('through the tunnel of HTTPS_PROXY', () => {
    test('the bytes arrive, and the proxy sees neither them nor the token', async () => {
      const { url, received } = await tlsReceiver();
      const proxy = await openProxy();
      const host = `drivers.example.com:${new URL(url).port}`;
      const result = await push(`https://${host}`, {
        env: { HTTPS_PROXY: proxy.url },
        token: { kind: 'text', text: 's3cret' },
        caFile: file('ca.pem', service.cert),
        body: large,
      });
      expect(result.outcome).toBe('acknowledged');
      expect(received[0]!.bytes.equals(await buffer(large.chunks()))).toBe(true);
      expect(received[0]!.request.headers.authorization).toBe('Bearer s3cret');
      expect(proxy.seen).toEqual([`CONNECT ${host}`]);
    });

    test('a receiver that stops reading is given up after the timeout, a slow one is not', async () => {
      const proxy = await openProxy();
      const pushTo = async (server: ReturnType<typeof createServer>): ReturnType<typeof push> => {
        const { port } = new URL(await serve(server, 'https'));
        const caFile = file('ca.pem', service.cert);
        const env = { HTTPS_PROXY: proxy.url };
        return await push(`https://drivers.example.com:${port}`, { env, caFile, body: large, timeoutMs: 2000 });
      };
      const stalled = createServer(service, (request) => void request.pause());
      const slow = createServer(
        service,
        handling(async (request, response) => {
          await buffer(request);
          response.writeHead(200, { 'content-length': 5 });
          for (const letter of 'slow!') {
            response.write(letter);
            await pause(500);
          }
          response.end();
        }),
      );
      expect(await Promise.all([pushTo(stalled), pushTo(slow)])).toMatchObject([
        { outcome: 'unknown', maybeTaken: true },
        { outcome: 'acknowledged' },
      ]);
    });
  });
});
