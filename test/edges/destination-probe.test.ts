import { createServer as createRawServer } from 'node:net';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { Probe } from '../../src/core/ports.ts';
import { canCertify, certify } from '../support/certificate.ts';
import {
  answering,
  file,
  handling,
  keeping,
  openProxy,
  probe,
  rawReceiver,
  receiver,
  serve,
} from '../support/destination-world.ts';

const token = { kind: 'text', text: 's3cret-token' } as const;

/** The steps that hold, then the one that does not and what it says. */
function told({ outcome, steps }: Probe): readonly string[] {
  return [outcome, ...steps.map(({ step, holds, text }) => (holds ? step : `${step}: ${text}`))];
}

async function nobodyListens(): Promise<string> {
  const server = createRawServer();
  const url = await serve(server);
  await new Promise((closed) => server.close(closed));
  return url;
}

test('a good address holds in every step, and is sent an update that deletes nothing', async () => {
  const { url, received } = await keeping();
  const { host } = new URL(url);
  expect(await probe(url, { token })).toEqual({
    outcome: 'acknowledged',
    steps: [
      { step: 'name', holds: true, text: '127.0.0.1 is an IP address' },
      { step: 'connection', holds: true, text: `${host} takes connections` },
      { step: 'token', holds: true, text: 'the token is accepted' },
      { step: 'update', holds: true, text: 'an update that deletes nothing was acknowledged' },
    ],
  });
  expect(received.map(({ bytes }) => bytes.toString())).toEqual(['{"shouldDeleteMissing":false,"extDrivers":[]}']);
  expect(received[0]!.request.headers.authorization).toBe('Bearer s3cret-token');
});

test('the address that a name has is told, and a token only where there is one', async () => {
  const url = (await answering(200)).replace('127.0.0.1', 'localhost');
  const { steps } = await probe(url);
  expect(steps.map(({ step }) => step)).toEqual(['name', 'connection', 'update']);
  expect(steps[0]!.text).toMatch(/^localhost has the IP address (127\.0\.0\.1|::1)$/);
});

describe('the first step that does not hold is the last one told:', () => {
  test('an unknown host', async () => {
    expect(told(await probe('https://no-such-host.invalid', { token }))).toEqual([
      'unreachable',
      expect.stringMatching(/^name: https:\/\/no-such-host\.invalid: .*\((ENOTFOUND|EAI_AGAIN)\); check/),
    ]);
  });

  test('a refused connection', async () => {
    expect(told(await probe(await nobodyListens(), { token }))).toEqual([
      'unreachable',
      'name',
      expect.stringMatching(/^connection: .*: the connection was refused/),
    ]);
  });

  test('a port that does not speak TLS', async () => {
    const url = (await answering(200)).replace('http:', 'https:');
    expect(told(await probe(url))).toEqual([
      'unreachable',
      'name',
      'connection',
      expect.stringMatching(/^tls: .*does not speak TLS/),
    ]);
  });

  test.each([401, 403])('a token that is refused with %i', async (status) => {
    const url = await receiver(async (request, response) => {
      await buffer(request);
      response.writeHead(status).end(`no: ${request.headers.authorization}`);
    });
    expect(told(await probe(url, { token }))).toEqual([
      'refused',
      'name',
      'connection',
      expect.stringMatching(new RegExp(`^token: ${status} .*no: Bearer \\*\\*\\*; .*token`)),
    ]);
  });

  test('a token that is missing', async () => {
    const steps = told(await probe(await answering(401)));
    expect(steps).toEqual(['refused', 'name', 'connection', expect.stringMatching(/^token: 401 /)]);
  });

  test('a web page that answers with 200', async () => {
    const url = await answering(200, '<!DOCTYPE html><title>Login</title>', { 'content-type': 'text/html' });
    expect(told(await probe(url, { token }))).toEqual([
      'refused',
      'name',
      'connection',
      expect.stringMatching(/^update: .*a web page/),
    ]);
  });

  test.each([
    [404, 'refused'],
    [500, 'unknown'],
    [503, 'unreachable'],
  ])('an update that is answered with %i, which says nothing of the token', async (status, outcome) => {
    const steps = told(await probe(await answering(status), { token }));
    expect(steps).toEqual([outcome, 'name', 'connection', expect.stringMatching(`^update: ${status} `)]);
  });

  test('a silent service', async () => {
    const url = await rawReceiver((socket) => void socket.resume());
    expect(told(await probe(url, { timeoutMs: 1000 }))).toEqual([
      'unknown',
      'name',
      'connection',
      expect.stringMatching(/^update: .*: no byte moved for 1 s/),
    ]);
  });

  test('a proxy that opens no tunnel', async () => {
    const proxy = await openProxy(403);
    expect(told(await probe('https://drivers.example.com', { env: { HTTPS_PROXY: proxy.url } }))).toEqual([
      'unreachable',
      'name',
      expect.stringMatching(/^connection: .*through the proxy 127\.0\.0\.1/),
    ]);
  });
});

test('through a proxy that forwards, the name is that of the proxy', async () => {
  const proxy = await openProxy();
  const { outcome, steps } = await probe('http://drivers.example.com', { env: { HTTP_PROXY: proxy.url } });
  expect(outcome).toBe('acknowledged');
  expect(steps.map(({ text }) => text)).toEqual([
    '127.0.0.1 is an IP address',
    `drivers.example.com takes connections through the proxy ${new URL(proxy.url).host}`,
    'an update that deletes nothing was acknowledged',
  ]);
});

test('a token file that cannot be used is a failure of the config, as it is for a push', async () => {
  const url = await answering(200);
  await expect(probe(url, { token: { kind: 'file', file: file('token', ' ') } })).rejects.toMatchObject({
    code: 'config.invalid',
  });
});

describe.skipIf(!canCertify)('over TLS (the certificates need openssl on this machine)', () => {
  const service = canCertify ? certify('drivers.example.com') : { key: '', cert: '' };
  const secure = (): Promise<string> =>
    serve(
      createServer(
        service,
        handling((request, response) => request.resume() && response.end()),
      ),
      'https',
    );

  test('a certificate that nobody vouches for fails its step, and caFile mends it', async () => {
    const url = await secure();
    expect(told(await probe(url, { token }))).toEqual([
      'unreachable',
      'name',
      'connection',
      expect.stringMatching(/^tls: .*caFile/),
    ]);
    const mended = await probe(url, { token, caFile: file('ca.pem', service.cert) });
    expect(told(mended)).toEqual(['acknowledged', 'name', 'connection', 'tls', 'token', 'update']);
  });

  test('through the tunnel of a proxy it is the certificate of the service', async () => {
    const { port } = new URL(await secure());
    const proxy = await openProxy();
    const steps = told(
      await probe(`https://drivers.example.com:${port}`, { env: { HTTPS_PROXY: proxy.url }, timeoutMs: 5000 }),
    );
    expect(steps).toEqual(['unreachable', 'name', 'connection', expect.stringMatching(/^tls: .*caFile/)]);
  });
});
