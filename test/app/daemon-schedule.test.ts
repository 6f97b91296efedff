/** The daemon and its schedule: when a push is due, what serves it, and clocks that are set. */
import { expect, test } from 'vitest';
import { daemonWorld, days, hours, minutes, rows } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';

test('pushes at the start where nothing was acknowledged, and then keeps still', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  expect(w.service.posts).toHaveLength(1);
  await w.wait(20 * minutes);
  await w.stop();
  await w.start();
  await w.wait(20 * minutes);
  expect(w.service.posts).toHaveLength(1);
});

test('reads what changes as it comes and pushes it when the schedule is due', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(2 * minutes);
  w.clock.jump(14 * hours + 10 * minutes);
  await w.wait(2 * minutes);
  expect(w.passes.map(({ sources }) => sources[0]?.state)).toContain('accepted');
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '22' } });
});

test('a pass that somebody asked for is told apart from the polls around it', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  const asked = (): Promise<string | undefined> =>
    w.open(async ({ ledger }) => (await ledger.state()).askedPass?.outcome);
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  expect(await asked()).toBeUndefined();
  await w.wake('pass');
  expect(await asked()).toBe('acknowledged');
  await w.wait(2 * minutes);
  expect(w.passes.at(-1)?.outcome).toBe('unchanged');
  expect(await asked()).toBe('acknowledged');
});

test('the hours of the schedule are those of `timezone`', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *', timezone: 'America/New_York' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  // From 12:00 to 06:10 UTC, which is 02:10 in New York's summer time.
  w.clock.jump(18 * hours + 10 * minutes);
  await w.wait(4 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a daily schedule refreshes an equal snapshot every day', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' }, '2026-03-15T02:10:00Z');
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  for (const posts of [2, 3, 4]) {
    w.clock.jump(1 * days - 6 * minutes);
    await w.wait(6 * minutes);
    expect(w.service.posts).toHaveLength(posts);
  }
});

test('a schedule that was missed several times is caught up once, at the start', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.stop();
  w.clock.jump(3 * days);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.start();
  expect(w.service.posts).toHaveLength(2);
  await w.wait(1 * hours);
  await w.stop();
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.start();
  await w.wait(1 * hours);
  expect(w.service.posts).toHaveLength(2);
});

test('a sync serves the schedule that was due before it', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.start();
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.stop();
  w.clock.jump(15 * hours);
  await w.start();
  expect(w.service.posts).toHaveLength(2);
});

test('a monthly schedule neither overflows a timer nor comes early', async () => {
  await using w = await daemonWorld({ schedule: '0 6 1 * *', sources: { sales: csv('*.csv', { poll: '12h' }) } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.clock.jump(16 * days + 17 * hours);
  await w.wait(50 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(20 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a scheduled push that went without an unread source is followed by another once it is read', async () => {
  await using w = await daemonWorld({ schedule: '0 * * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', 'a file without any header that fits\n');
  await w.wait(61 * minutes);
  const sent = w.service.posts.length;
  await w.stop();
  await w.start();
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(sent);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(sent + 1);
  expect(pointsOf(w.service.posts.at(-1)!)).toEqual({ a: { '2026-01': '22' } });
});

test('a clock that is set forth and back costs no push and puts no schedule off', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *', refresh: '1h' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.clock.jump(40 * days);
  await w.wait(1 * minutes);
  const sent = w.service.posts.length;
  w.clock.jump(-40 * days);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(2 * minutes);
  w.clock.jump(14 * hours);
  await w.wait(14 * minutes);
  expect(w.service.posts).toHaveLength(sent + 1);
  expect(pointsOf(w.service.posts.at(-1)!)).toEqual({ a: { '2026-01': '22' } });
});

test('a clock that was far ahead does not make a restart forget a missed schedule', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  w.clock.jump(40 * days);
  await w.start();
  await w.stop();
  w.clock.jump(-40 * days);
  await w.write('a.csv', rows('a,2026-01,22'));
  w.clock.jump(3 * days);
  await w.start();
  expect(pointsOf(w.service.posts.at(-1)!)).toEqual({ a: { '2026-01': '22' } });
});
