/** Which pages a browser may let write to the emulator. */
import { expect, test } from 'vitest';
import { updatePath } from '../../src/contract/driver-push.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

const writes = [
  ['POST', '/_emulator/reset', ''],
  ['POST', '/_emulator/faults', '{"status":500}'],
  ['POST', updatePath, '{"shouldDeleteMissing":true,"extDrivers":[]}'],
  ['POST', '/v1/routers', '{"slug":"a","name":"A"}'],
  ['POST', '/uploads/4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f', ''],
] as const;

test.for(['http://evil.example', 'https://evil.example:8787', 'http://127.0.0.1.evil.example', 'null', 'nonsense'])(
  'a page of %s changes nothing',
  async (origin) => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a')] });
    for (const [method, path, body] of writes) {
      const response = await emulator.fetch(path, { method, body, headers: { origin } });
      expect(response.status).toBe(403);
    }
    expect(emulator.drivers()).toHaveLength(1);
    expect((await emulator.fetch('/v1/routers', { method: 'POST', body: '{"slug":"a","name":"A"}' })).status).toBe(200);
  },
);

test.for([
  'http://localhost:3000',
  'http://127.0.0.1:5173',
  'http://[::1]:8080',
  'http://emulator:8787',
  'https://app.localhost',
  'https://shop.test',
])('a page of %s, which is of the same machine or network, may write', async (origin) => {
  const emulator = await emulatorWorld();
  expect((await emulator.fetch('/_emulator/reset', { method: 'POST', headers: { origin } })).status).toBe(204);
});

test('reading needs no origin', async () => {
  const emulator = await emulatorWorld();
  const headers = { origin: 'http://evil.example' };
  expect((await emulator.fetch('/_emulator/drivers', { headers })).status).toBe(200);
});
