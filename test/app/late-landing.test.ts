/** A request that was given up may still be applied: the snapshot acknowledged after it is pushed again, the same bytes. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repeatFromMs } from '../../src/app/loop/next-push.ts';
import { type DaemonWorld, daemonWorld, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { daemonWithLatePush } from '../support/late-push.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';

const once = { retryForMs: 0 };
const held = (w: DaemonWorld): unknown => pointsOf(w.service.holds()!);
const a = (value: number): object => ({ a: { '2026-01': String(value) } });

/** The daemon that got 333 acknowledged as push 3, while 22 is still on its way. */
async function daemonAfterLoss(): Promise<DaemonWorld> {
  const w = await daemonWithLatePush();
  await w.wait(62 * seconds);
  expect(w.service.posts).toHaveLength(3);
  expect(held(w)).toEqual(a(333));
  return w;
}

test('what lands late is undone by the same bytes after ten minutes, and once more after an hour', async () => {
  await using w = await daemonAfterLoss();
  w.service.land();
  expect(held(w)).toEqual(a(22));
  await w.wait(9 * minutes);
  expect(w.service.posts).toHaveLength(3);
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(4);
  expect(w.service.posts[3]?.body).toBe(w.service.posts[2]?.body);
  await w.wait(49 * minutes);
  expect(w.service.posts).toHaveLength(4);
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(5);
  expect(w.service.posts[4]?.body).toBe(w.service.posts[2]?.body);
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(5);
});

test('a clock that is set forward does not shorten the wait for what may still land', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer('late');
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(1 * seconds);
  expect(w.service.posts).toHaveLength(2);
  w.clock.jump(1 * hours);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wake('source');
  await w.wait(50 * seconds);
  expect(w.service.posts).toHaveLength(2);
  await w.wait(12 * seconds);
  expect(w.service.posts).toHaveLength(3);
});

test('a snapshot that follows only attempts of its own bytes is not repeated', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer('late', 'late');
  await w.start();
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(3);
});

test('the repeats survive a restart, and what came due meanwhile is made up for by one push', async () => {
  await using w = await daemonAfterLoss();
  await w.stop();
  await w.start();
  await w.wait(9 * minutes);
  expect(w.service.posts).toHaveLength(3);
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(4);
  await w.stop();
  w.clock.jump(5 * hours);
  await w.start();
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(5);
});

test('a newer snapshot that is acknowledged meanwhile is what the repeats send', async () => {
  await using w = await daemonAfterLoss();
  await w.wait(5 * minutes);
  await w.write('a.csv', rows('a,2026-01,4444'));
  await w.wake('source');
  await w.wait(1 * seconds);
  expect(w.service.posts).toHaveLength(4);
  w.service.land();
  await w.wait(5 * minutes);
  expect(w.service.posts).toHaveLength(5);
  expect(held(w)).toEqual(a(4444));
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(6);
  expect(held(w)).toEqual(a(4444));
});

test('an acknowledged push after its moment is the repeat, whatever it was sent for', async () => {
  await using w = await daemonAfterLoss();
  await w.stop();
  w.clock.jump(20 * minutes);
  await w.write('a.csv', rows('a,2026-01,4444'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
  await w.start();
  await w.wait(39 * minutes);
  expect(w.service.posts).toHaveLength(4);
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(5);
});

test('a repeat that is not acknowledged is tried again until it is, and makes no further ones', async () => {
  await using w = await daemonAfterLoss();
  w.service.answer('drop', 429, 500);
  await w.wait(20 * minutes);
  expect(w.service.posts).toHaveLength(7);
  expect(new Set(w.service.posts.slice(2).map(({ digest }) => digest)).size).toBe(1);
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(8);
});

test('a repeat that is refused is left to the next moment', async () => {
  await using w = await daemonAfterLoss();
  w.service.answer(403);
  await w.wait(59 * minutes);
  expect(w.service.posts).toHaveLength(4);
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(5);
});

test('the last repeat is owed until it is acknowledged: refused, it is made with the next schedule time', async () => {
  await using w = await daemonAfterLoss();
  await w.configure({ schedule: '0 * * * *', defaults: { poll: '1h' } });
  await w.wake('reload');
  w.service.answer(422, 422, 422);
  await w.wait(61 * minutes);
  w.service.land();
  expect(w.service.posts).toHaveLength(5);
  await w.wait(1 * hours);
  expect(held(w)).toEqual(a(22));
  expect(w.service.posts).toHaveLength(6);
  await w.wait(1 * hours);
  expect(held(w)).toEqual(a(333));
  await w.wait(1 * hours);
  expect(w.service.posts).toHaveLength(7);
});

test('a repeat that was refused is tried again by the next sync', async () => {
  await using w = await daemonAfterLoss();
  w.service.answer(422, 422);
  await w.wait(2 * hours);
  w.service.land();
  await w.stop();
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(held(w)).toEqual(a(333));
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
});

test('a repeat that is acknowledged leaves the newest snapshot refused: it is not forgotten, and goes with new data', async () => {
  await using w = await daemonAfterLoss();
  await w.configure({ defaults: { poll: '1h' } });
  await w.wake('reload');
  await w.write('a.csv', rows('a,2026-01,4444'));
  w.service.answer(422);
  await w.wake('pass');
  await w.wait(20 * minutes);
  expect(w.service.posts).toHaveLength(5);
  expect(held(w)).toEqual(a(333));
  await w.wake('source');
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('422') });
  await w.write('a.csv', rows('a,2026-01,55555'));
  await w.wake('source');
  expect(held(w)).toEqual(a(55_555));
});

test('a newer snapshot that is refused is no word about the one before: that one is still repeated', async () => {
  await using w = await daemonAfterLoss();
  w.service.land();
  await w.wait(9 * minutes);
  await w.write('a.csv', rows('a,2026-01,4444'));
  w.service.answer(422);
  await w.wake('source');
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(5);
  expect(held(w)).toEqual(a(333));
});

test('a repeat brings what was acknowledged, and not what waits for the schedule', async () => {
  await using w = await daemonAfterLoss();
  await w.configure();
  await w.wake('reload');
  await w.write('a.csv', rows('a,2026-01,4444'));
  w.service.answer(429);
  await w.wait(20 * minutes);
  expect(held(w)).toEqual(a(333));
  expect(w.service.posts).toHaveLength(5);
});

test('a newer push without an answer is not undone by a repeat of the one before', async () => {
  await using w = await daemonAfterLoss();
  await w.wait(8 * minutes);
  w.service.answer('late', 'late', 'late', 'late', 'late', 'late', 'late', 'late');
  await w.write('a.csv', rows('a,2026-01,4444'));
  await w.wake('source');
  await w.wait(10 * minutes);
  const later = w.service.posts.slice(3).map(pointsOf);
  expect(new Set(later.map((points) => JSON.stringify(points)))).toEqual(new Set([JSON.stringify(a(4444))]));
});

test('the next sync does the repeat that is due, once', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  w.service.answer('late');
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.sync(once);
  await w.write('a.csv', rows('a,2026-01,333'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  await w.clock.advance(9 * minutes);
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
  w.service.land();
  await w.clock.advance(1 * minutes);
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(held(w)).toEqual(a(333));
  expect(await w.sync()).toMatchObject({ outcome: 'unchanged' });
});

test('a sync whose newest snapshot is blocked keeps to Retry-After with the repeat too', async () => {
  await using w = await daemonAfterLoss();
  await w.stop();
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  const pass = { push: 'ifNeeded', resume: false, retryForMs: 0 } as const;
  expect(await w.sync(pass)).toMatchObject({ outcome: 'acknowledged' });
  await w.clock.advance(11 * minutes);
  w.service.answer({ status: 429, headers: { 'retry-after': '300' } });
  expect(await w.sync(pass)).toMatchObject({ outcome: 'unreachable' });
  expect(w.service.posts).toHaveLength(5);
  await w.clock.advance(4 * minutes);
  expect(await w.sync(pass)).toMatchObject({
    outcome: 'unreachable',
    exit: 75,
    reason: expect.stringContaining('asked'),
  });
  expect(w.service.posts).toHaveLength(5);
  await w.clock.advance(1 * minutes);
  expect(await w.sync(pass)).toMatchObject({ outcome: 'blocked' });
  expect(w.service.posts).toHaveLength(6);
  expect(held(w)).toEqual(a(1));
});

test('where no daemon runs, status and plan say that the push is due once more', async () => {
  await using w = await daemonAfterLoss();
  await w.stop();
  const acknowledgedMs = w.clock.now().getTime();
  const repeatFrom = await w.open(repeatFromMs);
  expect(repeatFrom).toBeGreaterThan(acknowledgedMs + 8 * minutes);
  expect(repeatFrom).toBeLessThanOrEqual(acknowledgedMs + 10 * minutes);
  expect(await w.plan()).toMatchObject({
    exit: 0,
    isRepeatDue: false,
    nextPush: new Date(repeatFrom ?? 0).toISOString(),
    nextPushWhy: 'an earlier push may have landed after the acknowledged one',
  });
  await w.clock.advance(11 * minutes);
  expect(await w.plan()).toMatchObject({ exit: 0, isRepeatDue: true });
  await w.sync();
  expect(await w.plan()).toMatchObject({ isRepeatDue: false });
});

test('plan says that a different snapshot waits for one that may still land', async () => {
  await using w = await daemonWithLatePush();
  await w.stop();
  const nowMs = w.clock.now().getTime();
  const { nextPush, nextPushWhy } = await w.plan();
  expect(nextPushWhy).toBe('an earlier push may still land; a different snapshot waits for it');
  expect(Date.parse(nextPush ?? '')).toBeGreaterThan(nowMs);
  expect(Date.parse(nextPush ?? '')).toBeLessThanOrEqual(nowMs + 1 * minutes);
});

test('after a rollback its snapshot is what is repeated, and the rollback goes on', async () => {
  await using w = await daemonAfterLoss();
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  w.service.land();
  await w.wait(10 * minutes);
  expect(held(w)).toEqual(a(1));
  expect(w.service.posts).toHaveLength(5);
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'blocked', reason: 'rolled back to push 1' });
});

test('a snapshot that is not kept any more is made from the sources again', async () => {
  await using w = await daemonAfterLoss();
  w.service.land();
  await rm(path.join(w.dir, '.driver-sync', 'archive'), { recursive: true });
  await w.wait(10 * minutes);
  expect(held(w)).toEqual(a(333));
  expect(w.service.posts).toHaveLength(4);
});

test('the repeats of an address wait while the daemon pushes to another one, and are made when it comes back', async () => {
  await using w = await daemonAfterLoss();
  await using other = await openReceiver();
  await w.configure({ destination: { url: other.url } });
  await w.wake('reload');
  w.service.land();
  await w.wait(20 * minutes);
  expect(other.posts).toHaveLength(1);
  expect(held(w)).toEqual(a(22));
  await w.configure();
  await w.wake('reload');
  expect(held(w)).toEqual(a(333));
  expect(w.service.posts).toHaveLength(4);
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(5);
  expect(other.posts).toHaveLength(1);
});
