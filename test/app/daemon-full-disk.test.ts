/** The daemon on a disk without room: passes break, and nothing is lost. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { nextPushOf } from '../../src/app/loop/next-push.ts';
import { daemonWorld, minutes, rows, seconds } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';

test('a heartbeat that cannot be written ends nothing', async () => {
  await using w = await daemonWorld({ schedule: '30 * * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  const heartbeat = path.join(w.dir, '.driver-sync', 'heartbeat');
  await w.start();
  await rm(heartbeat);
  await mkdir(heartbeat);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(31 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a scheduled push that a full disk broke is made when there is room again', async () => {
  await using w = await daemonWorld({ schedule: '30 * * * *', sources: { sales: csv('*.csv', { poll: '1h' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  // What a snapshot is drafted in: every write to this device fails for want of space.
  await symlink('/dev/full', path.join(w.dir, '.driver-sync', 'archive', `draft-${process.pid}`));
  await w.wait(30 * minutes + 1 * seconds);
  expect(w.log.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      fields: expect.objectContaining({ error: expect.stringMatching(/space|full/) }),
    }),
  );
  expect(w.broken()).toBeGreaterThan(0);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(5 * minutes);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '22' } });
});

test('what was accepted before a pass broke is pushed soon after the change all the same', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  w.breakAt('read.judged');
  await w.wait(1 * minutes);
  expect(w.broken()).toBe(1);
  expect(w.service.posts).toHaveLength(1);
  expect(await w.open(async (deps) => await nextPushOf(deps, w.clock.now().getTime()))).toMatchObject({
    push: 'newest',
    atMs: w.clock.now().getTime() + 1 * minutes,
  });
  await w.wait(2 * minutes);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '22' } });
});
