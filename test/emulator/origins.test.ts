/** Which web pages may use the emulator, and at which names it answers. */
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { OriginError, startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

const writes = [
  ['POST', '/_emulator/reset', ''],
  ['DELETE', '/_emulator/faults', undefined],
  ['POST', '/_emulator/faults', '{"status":500}'],
  ['POST', '/_emulator/advance', '{"seconds":1}'],
  ['POST', updatePath, '{"shouldDeleteMissing":true,"extDrivers":[]}'],
  ['POST', '/v1/routers', '{"slug":"a","name":"A"}'],
  ['POST', '/uploads/4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f', ''],
  ['POST', '/console/routers', 'name=A'],
  ['POST', '/mcp', '{}'],
  ['POST', '/register', '{"redirect_uris":["http://127.0.0.1:9/"]}'],
  ['POST', '/token', 'grant_type=authorization_code'],
  ['POST', '/interaction/x', 'decision=allow'],
  ['POST', '/nothing', ''],
] as const;

const reads = [
  '/_emulator/drivers',
  '/_emulator/requests',
  '/_emulator/openapi.json',
  '/v1/routers',
  '/media/4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f/0.png',
  '/console/drivers',
  '/console',
  '/.well-known/oauth-authorization-server',
  '/authorize',
  '/nothing',
];

test.for([
  'http://evil.example',
  'https://evil.example:8787',
  'http://127.0.0.1.evil.example',
  'http://127.0.0.2:18890',
  'http://192.168.1.7',
  'http://[::1]:8080',
  'http://localhost:3000',
  'http://other',
  'null',
  'nonsense',
])('a page of %s changes and reads nothing', async (origin) => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a')] });
  emulator.faults({ status: 503 });
  const recorded = emulator.requests().length;
  for (const [method, path, body] of writes) {
    const response = await emulator.fetch(path, { method, body: body ?? null, headers: { origin } });
    expect({ path, status: response.status }).toEqual({ path, status: 403 });
  }
  for (const path of reads) {
    expect({ path, status: (await emulator.fetch(path, { headers: { origin } })).status }).toEqual({
      path,
      status: 403,
    });
  }
  expect(emulator.drivers()).toHaveLength(1);
  // Neither the record nor the fault that waits for the next request is touched.
  expect(emulator.requests()).toHaveLength(recorded);
  expect((await emulator.fetch('/v1/routers', { method: 'POST', body: '{"slug":"a","name":"A"}' })).status).toBe(503);
});

test.for(['cross-site', 'same-site'])(
  'a request that a %s page sends without its origin changes nothing',
  async (site) => {
    const emulator = await emulatorWorld();
    const headers = { 'sec-fetch-site': site };
    for (const [method, path, body] of writes) {
      const response = await emulator.fetch(path, { method, body: body ?? null, headers });
      expect({ path, status: response.status }).toEqual({ path, status: 403 });
    }
    // A link may be followed.
    expect((await emulator.fetch('/console/drivers', { headers })).status).toBe(200);
  },
);

test('its own pages and clients that name no origin may do everything', async () => {
  const emulator = await emulatorWorld();
  for (const headers of [{ origin: emulator.url, 'sec-fetch-site': 'same-origin' }, {}]) {
    for (const [method, path, body] of writes) {
      const response = await emulator.fetch(path, { method, body: body ?? null, headers });
      expect({ path, status: response.status }).not.toEqual({ path, status: 403 });
    }
  }
});

async function statusAt(emulator: Emulator, host: string, path = '/_emulator/drivers'): Promise<number> {
  return (await emulator.fetch(`http://${host}${path}`)).status;
}

test.for(['rebound.example.com', 'rebound.example.com:8787', '127.0.0.1.nip.io', 'localhost.example', 'printer.local'])(
  'a page whose name %s leads here reads nothing, anywhere',
  async (host) => {
    const emulator = await emulatorWorld();
    for (const path of reads)
      expect({ path, status: await statusAt(emulator, host, path) }).toEqual({ path, status: 403 });
    const refused = await emulator.fetch(`http://${host}/_emulator/drivers`);
    expect(await refused.text()).toContain(`--origin http://${host}`);
  },
);

test.for([
  'localhost:1',
  'app.localhost',
  '127.0.0.1',
  '[::1]',
  '192.168.1.7:80',
  'emulator',
  'host.docker.internal',
  'shop.test',
])('it answers at %s, which no page elsewhere can have lead here', async (host) => {
  expect(await statusAt(await emulatorWorld(), host)).toBe(200);
});

test('it answers at the name of its machine and at the name that it listens at', async () => {
  const emulator = await emulatorWorld({ host: 'localhost' });
  expect(await statusAt(emulator, 'localhost')).toBe(200);
  expect(await statusAt(emulator, hostname())).toBe(200);
  expect(await statusAt(emulator, `${hostname().split('.')[0]}.local`)).toBe(200);
});

test('an origin that is named at the start is one of its own addresses, and its pages may send requests', async () => {
  const emulator = await emulatorWorld({ origins: ['https://emulator.example.com', 'http://localhost:6274'] });
  const statusFrom = async (origin: string) =>
    (await emulator.fetch('/_emulator/reset', { method: 'POST', headers: { origin, 'sec-fetch-site': 'cross-site' } }))
      .status;
  expect(await statusAt(emulator, 'emulator.example.com')).toBe(200);
  expect(await statusFrom('https://emulator.example.com')).toBe(204);
  expect(await statusFrom('http://localhost:6274')).toBe(204);
  expect(await statusFrom('http://localhost:6275')).toBe(403);
  // Agents in a browser read what the login answers.
  const token = await emulator.fetch('/token', { method: 'POST', headers: { origin: 'http://localhost:6274' } });
  expect(token.headers.get('access-control-allow-origin')).toBe('http://localhost:6274');
});

test.for(['emulator.example.com', 'https://emulator.example.com/path', 'ftp://emulator.example.com'])(
  '%s is refused as an origin',
  async (origin) => {
    await expect(startEmulator({ origins: [origin] })).rejects.toThrow(OriginError);
  },
);

const asks = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,x-runway-version',
};

test('a page that is allowed is told what it may send, and may read every answer', async () => {
  const origin = 'http://localhost:3000';
  const emulator = await emulatorWorld({ origins: [origin], token: 'secret' });
  const asked = await emulator.fetch('/v1/routers', { method: 'OPTIONS', headers: { origin, ...asks } });
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization,x-runway-version',
    vary: 'Origin',
  });
  for (const path of ['/v1/routers', '/_emulator/drivers', '/nothing']) {
    const answer = await emulator.fetch(path, { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin'), path).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers'), path).toContain('x-request-id');
  }
  const other = { origin: 'http://localhost:3001', ...asks };
  expect((await emulator.fetch('/v1/routers', { method: 'OPTIONS', headers: other })).status).toBe(403);
});

test.for([
  ['http://localhost:3000', 200],
  ['http://app.localhost:3000', 200],
  ['https://127.0.0.1:5173', 200],
  ['http://[::1]:8080', 200],
  ['http://192.168.1.7:3000', 403],
  ['http://localhost.evil.example', 403],
  ['http://127.0.0.1.nip.io', 403],
  ['null', 403],
] as const)('with `local` a page of %s is answered with %i', async ([origin, status]) => {
  const emulator = await emulatorWorld({ origins: ['local'] });
  expect((await emulator.fetch('/v1/routers', { headers: { origin } })).status).toBe(status);
});

test("a public address is in every link and in the agents' login, however a request arrived", async () => {
  const publicUrl = 'https://emulator.example.com';
  const emulator = await emulatorWorld({ publicUrl, speed: 0 });
  const upload = await emulator.fetch('/v1/uploads', {
    method: 'POST',
    body: '{"filename":"a.png","type":"ephemeral"}',
  });
  expect(((await upload.json()) as { uploadUrl: string }).uploadUrl).toMatch(
    /^https:\/\/emulator\.example\.com\/uploads\//,
  );
  const described = await (await emulator.fetch('/_emulator/openapi.json')).json();
  expect(described).toMatchObject({ servers: [{ url: publicUrl }] });
  const login = await (await emulator.fetch('/.well-known/oauth-authorization-server')).json();
  expect(login).toMatchObject({
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/authorize`,
    token_endpoint: `${publicUrl}/token`,
  });
  const unknown = await emulator.fetch('/mcp', { method: 'POST', body: '{}' });
  expect(unknown.headers.get('www-authenticate')).toContain(`${publicUrl}/.well-known/oauth-protected-resource/mcp`);
  expect(await statusAt(emulator, 'emulator.example.com')).toBe(200);
  const page = { origin: publicUrl };
  expect((await emulator.fetch('/v1/routers', { headers: page })).status).toBe(200);
});
