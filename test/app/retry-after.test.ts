/** What the service asks for with `Retry-After`, and who keeps to it. */
import { expect, test } from 'vitest';
import { daemonWorld, rows, seconds } from '../support/daemon-world.ts';
import { type Answer, openReceiver } from '../support/receiver.ts';

const once = { retryForMs: 0 };

test.each([
  ['2', 2 * seconds],
  ['45', 45 * seconds],
])('Retry-After: %s is waited for', async (retryAfter, ms) => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 503, headers: { 'retry-after': retryAfter } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(w.waits.map((wait) => wait.ms)).toEqual([ms]);
});

test('Retry-After as a date is counted from the date of the answer', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  const headers = { date: 'Sun, 15 Mar 2026 07:00:00 GMT', 'retry-after': 'Sun, 15 Mar 2026 07:00:30 GMT' };
  w.service.answer({ status: 429, headers });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(w.waits.map((wait) => wait.ms)).toEqual([30 * seconds]);
});

test('a Retry-After beyond 60 seconds ends a sync at once with 75', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 503, headers: { 'retry-after': '61' } });
  expect(await w.sync()).toMatchObject({ outcome: 'unreachable', exit: 75 });
  expect(w.waits).toEqual([]);
});

test('the next sync keeps to Retry-After too: it says until when, exits 75, and sends nothing', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '300' } });
  await w.sync();
  await w.clock.advance(100 * seconds);
  expect(await w.sync()).toMatchObject({
    outcome: 'unreachable',
    exit: 75,
    reason: 'the service asked with Retry-After for no push before 2026-03-15T12:05:00.000Z',
    hint: expect.stringContaining('--force'),
  });
  expect(w.waits).toEqual([]);
  expect(w.service.posts).toHaveLength(1);
  // What is left is within the time that a sync tries for.
  await w.clock.advance(150 * seconds);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(w.waits.map(({ ms }) => ms)).toEqual([50 * seconds]);
});

test('sync --force pushes before Retry-After is over', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 503, headers: { 'retry-after': '300' } });
  await w.sync();
  expect(await w.sync({ push: 'always' })).toMatchObject({ outcome: 'acknowledged' });
});

test('Retry-After is of one address, and no matter where nothing is to be sent', async () => {
  await using w = await daemonWorld();
  await using other = await openReceiver();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  w.service.answer({ status: 429, headers: { 'retry-after': '300' } });
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,1'));
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged', exit: 0 });
  await w.configure({ destination: { url: other.url } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
});

test('Retry-After still holds for an address after pushes to another one', async () => {
  await using w = await daemonWorld();
  await using other = await openReceiver();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '300' } });
  await w.sync();
  await w.configure({ destination: { url: other.url } });
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  await w.configure();
  expect(await w.sync()).toMatchObject({ outcome: 'unreachable', exit: 75, reason: expect.stringContaining('asked') });
  expect(w.service.posts).toHaveLength(1);
});

test('the wait between tries of our own does not hold up the next sync', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(...Array<Answer>(8).fill(429));
  for (let tries = 0; tries < 8; tries += 1) await w.sync(once);
  expect(await w.sync(once)).toMatchObject({ outcome: 'acknowledged' });
});
