/** The daemon after a push that failed: what it tries again, when, and what it remembers over a restart. */
import { rm, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { daemonWorld, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';

test('a refused push is repeated when the schedule is due and not before', async () => {
  await using w = await daemonWorld({ schedule: '0 * * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(400);
  await w.start();
  await w.wait(59 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a refused push is repeated when there is new data', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(400);
  await w.start();
  await utimes(path.join(w.dir, 'a.csv'), new Date(), new Date());
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a refused push is repeated when the token file changes', async () => {
  await using w = await daemonWorld();
  await w.write('token', 'first-token');
  await w.configure({ destination: { url: w.service.url, tokenFile: 'token' } });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(401);
  await w.start();
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.write('token', 'second-token');
  await w.wait(1 * minutes);
  expect(w.service.posts.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer first-token',
    'Bearer second-token',
  ]);
});

test('a token file that nobody can look at ends no daemon: its pushes say so and are tried again', async () => {
  await using w = await daemonWorld();
  await w.write('token', 'first-token');
  await w.configure({ destination: { url: w.service.url, tokenFile: 'token' } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  const file = path.join(w.dir, 'token');
  await rm(file);
  // As a share that is away, and the folder of another user: any failure but that there is no such file.
  await symlink('token', file);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('pass');
  expect(w.passes.at(-1)).toMatchObject({
    outcome: 'unreachable',
    reason: 'the file of tokenFile cannot be read (ELOOP)',
  });
  await rm(file);
  await w.write('token', 'second-token');
  await w.wait(6 * minutes);
  expect(w.service.posts.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer first-token',
    'Bearer second-token',
  ]);
});

test('what the first push to an address deletes is said once for each snapshot, however often it is tried', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  const said = (): number => w.log.lines.filter(({ message }) => message.includes('first push to this address')).length;
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(...Array<number>(100).fill(503));
  await w.start();
  await w.wait(10 * minutes);
  expect(w.service.posts.length).toBeGreaterThan(2);
  expect(said()).toBe(1);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(10 * minutes);
  expect(said()).toBe(2);
});

test('the last outcome stays in sight while the daemon only polls its sources', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(400);
  await w.start();
  await w.wait(5 * minutes);
  const last = await w.open(async ({ ledger }) => (await ledger.state()).lastPass);
  expect(last).toMatchObject({ outcome: 'refused', exit: 5 });
});

test('what did not arrive is tried again ever more slowly, up to five minutes apart', async () => {
  await using w = await daemonWorld({ sources: { sales: csv('*.csv', { poll: '1h' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(...Array<number>(100).fill(429));
  await w.start();
  await w.wait(0.4 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(0.2 * seconds);
  expect(w.service.posts).toHaveLength(2);
  await w.wait(1 * hours);
  const before = w.service.posts.length;
  // Half of the cap each time, since the jitter of this world is one half.
  await w.wait(30 * minutes);
  expect(w.service.posts.length - before).toBe(12);
});

test('the wait for another try survives a restart', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 503, headers: { 'retry-after': '200' } });
  await w.start();
  await w.wait(100 * seconds);
  await w.stop();
  await w.start();
  await w.wait(99 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * seconds);
  expect(w.service.posts).toHaveLength(2);
});

test('a long Retry-After is honoured, over a restart too', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 503, headers: { 'retry-after': '3600' } });
  await w.start();
  await w.wait(20 * minutes);
  await w.stop();
  await w.start();
  await w.wait(39 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('new data does not cut a Retry-After short', async () => {
  await using w = await daemonWorld({ pushOnChange: '5s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '1800' } });
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(29 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '22' } });
});

test('a try whose time came while nothing ran is made at the start', async () => {
  await using w = await daemonWorld({ pushOnChange: '5s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer({ status: 429, headers: { 'retry-after': '60' } });
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(10 * seconds);
  expect(w.service.posts).toHaveLength(2);
  await w.stop();
  w.clock.jump(10 * minutes);
  await w.start();
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(3);
});

test('after an unknown outcome the newest snapshot goes, once the timeout has passed', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer({ status: 503, headers: { 'retry-after': '20' } });
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wake('source');
  await w.wait(57 * seconds);
  expect(w.service.posts).toHaveLength(2);
  await w.wait(3 * seconds);
  expect(pointsOf(w.service.posts[2]!)).toEqual({ a: { '2026-01': '333' } });
});

test('a token file that changed while nothing ran makes the next daemon repeat a refused push', async () => {
  await using w = await daemonWorld();
  await w.write('token', 'first-token');
  await w.configure({ destination: { url: w.service.url, tokenFile: 'token' } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer(401);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('pass');
  expect(w.service.posts).toHaveLength(2);
  await w.stop();
  await w.write('token', 'second-token');
  await w.start();
  await w.wait(1 * minutes);
  expect(w.service.posts[2]?.headers.authorization).toBe('Bearer second-token');
});

test('a schedule that was refused is a due one that was not acknowledged: the next start tries again', async () => {
  await using w = await daemonWorld({ schedule: '30 * * * *', refresh: '10m' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer(403);
  await w.wait(31 * minutes);
  expect(w.service.posts).toHaveLength(2);
  await w.stop();
  await w.start();
  expect(w.service.posts).toHaveLength(3);
});

test('all is well again where the data of a refused push was taken back', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer(400);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.wait(5 * minutes);
  expect(w.service.posts).toHaveLength(2);
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'unchanged', exit: 0 });
});

test('a wait for an older push ends with the daemon, and goes on with the next one', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer('drop');
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(1 * seconds);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wait(20 * seconds);
  expect(w.waits).toHaveLength(1);
  await w.stop();
  await w.start();
  await w.wait(30 * seconds);
  expect(w.service.posts).toHaveLength(2);
  await w.wait(20 * seconds);
  expect(pointsOf(w.service.posts[2]!)).toEqual({ a: { '2026-01': '333' } });
});
