/** The time of model routing: read, set, frozen, and set going again. */
import { expect, test } from 'vitest';
import { routingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5 };

test('is told by a path for health checks, which needs no token and is not recorded', async () => {
  const { call, emulator } = await routingWorld({ token: 'secret' });
  const { now } = emulator.clock();
  expect((await call('GET', '/_emulator/health')).body).toEqual({ status: 'ok', now: now.toISOString(), speed: 0 });
  expect(emulator.requests()).toEqual([]);
});

test('is set where nothing has happened yet, and tasks go by it', async () => {
  const { call, createRouter, generate, task } = await routingWorld();
  const { body } = await call('POST', '/_emulator/clock', { now: '2026-03-01T00:00:00+01:00', speed: 0 });
  expect(body).toEqual({ now: '2026-02-28T23:00:00.000Z', speed: 0 });
  const router = await createRouter('a');
  expect(router.createdAt).toBe('2026-02-28T23:00:00.000Z');
  const id = await generate('video', 'a', video);
  expect((await task(id)).status).toBe('PENDING');
  await call('POST', '/_emulator/clock', { now: '2026-02-28T23:00:05Z' });
  expect((await task(id)).status).toBe('SUCCEEDED');
});

test('never goes back behind what has happened, until a reset', async () => {
  const { call, createRouter, emulator } = await routingWorld();
  await createRouter('a');
  const before = emulator.clock();
  expect(await call('POST', '/_emulator/clock', { now: '2020-01-01T00:00:00Z', speed: 9 })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('reset') },
  });
  expect(emulator.clock()).toEqual(before);
  emulator.reset();
  expect(emulator.clock({ now: '2020-01-01T00:00:00Z' }).now).toEqual(new Date('2020-01-01T00:00:00Z'));
});

test('stands still when it is frozen, and goes on from there', async () => {
  const { emulator } = await routingWorld({ speed: 1 });
  const { now } = emulator.clock({ speed: 0 });
  expect(emulator.clock().now).toEqual(now);
  emulator.advance(60);
  expect(emulator.clock()).toEqual({ now: new Date(now.getTime() + 60_000), speed: 0 });
  expect(emulator.clock({ speed: 1_000_000 }).now.getTime()).toBeGreaterThanOrEqual(now.getTime() + 60_000);
  await expect.poll(() => emulator.clock().now.getTime()).toBeGreaterThan(now.getTime() + 61_000);
  emulator.reset();
  expect(emulator.clock().speed).toBe(1);
});

test.for([
  { now: 'yesterday' },
  { now: '0000-01-01T00:00:00Z' },
  { now: '9999-12-31T00:00:00Z' },
  { speed: -1 },
  { speed: 1e9 },
  { paused: true },
])('refuses %j', async (change) => {
  const { call } = await routingWorld();
  expect((await call('POST', '/_emulator/clock', change)).status).toBe(400);
});
