/** `status` says of the next push what the daemon then does. */
import { expect, test } from 'vitest';
import { nextPushOf } from '../../src/app/loop/next-push.ts';
import { type DaemonWorld, daemonWorld, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { daemonWithLatePush } from '../support/late-push.ts';
import { csv } from '../support/process.ts';

const hourly = { sources: { sales: csv('*.csv', { poll: '1h' }) } };

/** In how many milliseconds, and why. */
async function next(w: DaemonWorld): Promise<{ inMs: number; why: string } | undefined> {
  const push = await w.open((deps) => nextPushOf(deps));
  return push && { inMs: push.atMs - w.clock.now().getTime(), why: push.why };
}

/** The daemon pushes when it was said to, and not a second before. */
async function expectPushIn(w: DaemonWorld, ms: number): Promise<void> {
  const sent = w.service.posts.length;
  await w.wait(ms - 1 * seconds);
  expect(w.service.posts).toHaveLength(sent);
  await w.wait(2 * seconds);
  expect(w.service.posts).toHaveLength(sent + 1);
}

test('the next push is the schedule where nothing is sooner', async () => {
  await using w = await daemonWorld({ ...hourly, schedule: '15 14 * * *', refresh: '1h' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  expect(await next(w)).toEqual({ inMs: 135 * minutes, why: 'the schedule' });
  await expectPushIn(w, 135 * minutes);
});

test('the next push is that of pushOnChange, once a change was accepted', async () => {
  await using w = await daemonWorld({ ...hourly, pushOnChange: '90s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  expect(await next(w)).toEqual({ inMs: 90 * seconds, why: 'pushOnChange' });
  await expectPushIn(w, 90 * seconds);
});

test('the next push is the try after one that did not arrive, when Retry-After says', async () => {
  await using w = await daemonWorld(hourly);
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '200' } });
  await w.start();
  expect(await next(w)).toMatchObject({ inMs: 200 * seconds, why: expect.stringContaining('tried again') });
  await expectPushIn(w, 200 * seconds);
});

test('the next push is the repeat of a snapshot that followed a push without an answer', async () => {
  await using w = await daemonWorld();
  await w.configure({ ...hourly, destination: { url: w.service.url, timeout: '1s' } });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer('late');
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('pass');
  await w.wait(2 * seconds);
  const repeat = await next(w);
  expect(repeat?.why).toContain('once more');
  expect(repeat?.inMs).toBeGreaterThan(9 * minutes);
  await expectPushIn(w, repeat?.inMs ?? NaN);
});

test('a push that waits until an earlier one cannot land any more is said to, with the moment', async () => {
  await using w = await daemonWithLatePush();
  await w.wait(10 * seconds);
  expect(w.service.posts).toHaveLength(2);
  expect(await next(w)).toEqual({
    inMs: 50 * seconds,
    why: 'an earlier push may still land; a different snapshot waits for it',
  });
  await expectPushIn(w, 50 * seconds);
});

test('the next push is now where a source that the last push went without can be read again', async () => {
  await using w = await daemonWorld({ ...hourly, schedule: '0 * * * *', refresh: '1h' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', 'no header that fits\n');
  await w.wait(1 * hours + 1 * seconds);
  const sent = w.service.posts.length;
  expect((await next(w))?.why).toBe('the schedule');
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  expect(w.service.posts).toHaveLength(sent + 1);
});

test('there is no next push while a rollback holds, and none of what was refused before the schedule', async () => {
  await using w = await daemonWorld({ ...hourly, pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer(403);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  expect((await next(w))?.why).toBe('the schedule');
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  expect(await next(w)).toEqual({ inMs: 0, why: 'somebody asked for it' });
  await w.wake('request');
  expect(await next(w)).toBeUndefined();
});
