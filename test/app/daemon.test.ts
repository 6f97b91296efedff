/** The daemon and time: when it pushes, when it tries again, and what it remembers over a restart. */
import { utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { daemonWorld, days, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';

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

test('waits of the service are for the schedule and for changes, not for a person', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '3600' } });
  await w.start();
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wake('pass');
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

test('pushOnChange pushes so long after the last change', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(20 * seconds);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wake('source');
  await w.wait(29 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * seconds);
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '333' } });
});

test('pushOnChange waits at most ten times its time for a file that never rests', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  let value = 1000;
  const changeFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 20 * seconds) {
      await w.write('a.csv', rows(`a,2026-01,${(value += 1)}`));
      await w.wake('source');
      await w.wait(20 * seconds);
    }
  };
  await changeFor(280 * seconds);
  expect(w.service.posts).toHaveLength(1);
  await changeFor(40 * seconds);
  expect(w.service.posts).toHaveLength(2);
});

test('a change that waits for pushOnChange is not forgotten by a restart', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.stop();
  await w.start();
  await w.wait(1 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('a touched file and rewritten rows are no change to push', async () => {
  await using w = await daemonWorld({ pushOnChange: '30s' });
  await w.write('a.csv', rows('a,2026-01,1', 'b,2026-01,2'));
  await w.start();
  utimesSync(path.join(w.dir, 'a.csv'), new Date(), new Date());
  await w.wake('source');
  await w.write('a.csv', rows('b,2026-01,2', 'a,2026-01,1'));
  await w.wake('source');
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(1);
});

test('the first push goes as soon as its last source was read', async () => {
  await using w = await daemonWorld({ sources: { sales: csv('*.csv'), costs: csv('costs/*.csv') } });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'blocked', exit: 4 });
  await w.wait(5 * minutes);
  await w.write('costs/c.csv', rows('c,2026-01,3'));
  await w.wait(1 * minutes);
  expect(pointsOf(w.service.posts[0]!)).toEqual({ a: { '2026-01': '1' }, c: { '2026-01': '3' } });
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

test('SIGUSR2 pushes what changed, and SIGHUP what another config makes of it', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('pass');
  expect(w.service.posts).toHaveLength(2);
  await w.configure({ destination: { url: w.service.url, stamp: 'start' } });
  await w.wake('reload');
  expect(w.service.posts).toHaveLength(3);
  await w.wake('reload');
  expect(w.service.posts).toHaveLength(3);
});

test('a new address in the config gets its first push at once', async () => {
  await using w = await daemonWorld();
  await using other = await openReceiver();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.configure({ destination: { url: other.url } });
  await w.wake('reload');
  expect(other.posts[0]?.body).toBe(w.service.posts[0]?.body);
});

test('with `firstPush: approve` a new address waits for an approval of its own', async () => {
  await using w = await daemonWorld({ guard: { firstPush: 'approve' } });
  await using other = await openReceiver();
  const approve = (): Promise<void> => {
    w.open(({ ledger, clock }) => {
      const [first] = ledger.holds.held();
      ledger.holds.approve(first!.digest, first!.source, clock.now().getTime());
    });
    return w.wake('request');
  };
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '600' } });
  await w.start();
  await approve();
  expect(w.service.posts).toHaveLength(1);
  await w.configure({ guard: { firstPush: 'approve' }, destination: { url: other.url } });
  await w.wake('reload');
  await w.wait(5 * minutes);
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'blocked', exit: 4 });
  expect(other.posts).toEqual([]);
  await approve();
  expect(other.posts).toHaveLength(1);
  expect(w.log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: { address: other.url, drivers: 1 } }),
  );
});

test('an approval given while nothing ran is pushed at the start', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows(...'abcdefghij'.replace(/./g, '$&,2026-01,1 ').trim().split(' ')));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.wake('pass');
  await w.stop();
  w.open(({ ledger, clock }) => {
    const [held] = ledger.holds.held();
    ledger.holds.approve(held!.digest, held!.source, clock.now().getTime());
  });
  await w.start();
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '1' } });
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
