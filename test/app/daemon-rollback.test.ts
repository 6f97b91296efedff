/** The daemon and a rollback: tried again, held, and given up. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loopState } from '../../src/app/loop-record.ts';
import { daemonWorld, minutes, rows, seconds } from '../support/daemon-world.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';

/** A daemon that has pushed 1, and then 22. */
async function pushedTwice(): ReturnType<typeof daemonWorld> {
  const w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  return w;
}

test('a rollback that does not arrive is tried again, and the newest snapshot does not take its place', async () => {
  await using w = await pushedTwice();
  w.service.answer(429);
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(4);
  expect(w.service.posts[3]?.body).toBe(w.service.posts[0]?.body);
});

test('a rollback holds through polls, schedules, changes and restarts', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s', schedule: '0 * * * *' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(2 * minutes);
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  expect(w.service.posts[2]?.body).toBe(w.service.posts[0]?.body);
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wait(61 * minutes);
  await w.stop();
  await w.start();
  await w.wait(61 * minutes);
  expect(w.service.posts).toHaveLength(3);
  // What is accepted is what the service has, so nothing waits for a push.
  expect((await w.open(loopState)).changed).toBeUndefined();
  await w.stop();
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(pointsOf(w.service.posts[3]!)).toEqual({ a: { '2026-01': '333' } });
});

test('a rollback whose snapshot is damaged is given up, and the daemon goes on', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wait(2 * minutes);
  const { digest } = await w.open(async ({ ledger }) => (await ledger.pushes.get(1))!);
  const archive = path.join(w.dir, '.driver-sync', 'archive');
  const name = (await readdir(archive)).find((one) => one.startsWith(digest)) ?? '';
  const file = path.join(archive, name);
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill('x', bytes.length - 8));
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  await w.write('a.csv', rows('a,2026-01,333'));
  await w.wait(5 * minutes);
  expect(await w.open(({ ledger }) => ledger.requests.pending())).toEqual([]);
  expect(pointsOf(w.service.posts[2]!)).toEqual({ a: { '2026-01': '333' } });
});

test('a rollback that waits for an address that left the config is given up', async () => {
  await using w = await daemonWorld();
  await using other = await openReceiver();
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer({ status: 429, headers: { 'retry-after': '600' } });
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  expect(w.service.posts).toHaveLength(2);
  await w.stop();
  await w.configure({ destination: { url: other.url } });
  await w.start();
  await w.wait(5 * minutes);
  expect(other.posts).toHaveLength(1);
});

test('a rollback that does not arrive after a refused push is tried again all the same', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer(400, 429);
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  await w.wait(10 * minutes);
  expect(w.service.posts).toHaveLength(4);
  expect(w.service.posts[3]?.body).toBe(w.service.posts[0]?.body);
});

test('a rollback that comes while a service asks for time waits for it, unless it is forced', async () => {
  await using w = await daemonWorld({ pushOnChange: '1s' });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.start();
  w.service.answer({ status: 429, headers: { 'retry-after': '600' } });
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.wake('source');
  await w.wait(2 * seconds);
  const ask = async (isForced: boolean): Promise<void> => {
    await w.open(({ ledger, clock }) =>
      ledger.requests.add({ kind: 'rollback', push: 1, isForced }, clock.now().getTime()),
    );
    await w.wake('request');
  };
  await ask(false);
  await w.wait(9 * minutes);
  expect(w.service.posts).toHaveLength(2);
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'unreachable', exit: 75 });
  await w.wait(1 * minutes);
  expect(w.service.posts[2]?.body).toBe(w.service.posts[0]?.body);
  w.service.answer({ status: 429, headers: { 'retry-after': '600' } });
  await w.wake('pass');
  expect(w.service.posts).toHaveLength(4);
  await ask(true);
  expect(w.service.posts).toHaveLength(5);
  expect(w.service.posts[4]?.body).toBe(w.service.posts[0]?.body);
});

test('whoever goes on from the sources while a rollback waits for the service has the last word', async () => {
  await using w = await pushedTwice();
  w.service.answer({ status: 429, headers: { 'retry-after': '600' } });
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
  await w.wake('request');
  expect(pointsOf(w.service.posts[2]!)).toEqual({ a: { '2026-01': '1' } });
  await w.wake('pass');
  const result = await w.open(async ({ ledger }) => (await ledger.requests.all())[0]?.result);
  expect(result).toContain('superseded');
  // The service has the newest data still.
  await w.wait(20 * minutes);
  expect(w.service.posts).toHaveLength(3);
});

test.each(['reload', 'pass'] as const)(
  'a rollback that somebody asks for after a %s is not ended by it, though both come within one pass',
  async (reason) => {
    await using w = await daemonWorld({ pushOnChange: '1s' });
    await w.write('a.csv', rows('a,2026-01,1'));
    await w.start();
    w.service.answer('hold');
    await w.write('a.csv', rows('a,2026-01,22'));
    w.wakeMeanwhile('pass');
    await w.service.post(2);
    await w.configure({ pushOnChange: '2s' });
    w.wakeMeanwhile(reason);
    await w.clock.advance(1 * seconds);
    await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push: 1 }, clock.now().getTime()));
    w.wakeMeanwhile('request');
    w.service.release(200);
    await w.wait(10 * minutes);
    expect(w.service.posts.map((post) => pointsOf(post)['a']?.['2026-01'])).toEqual(['1', '22', '1']);
    // Whoever asks later goes on from the sources.
    await w.wake('pass');
    expect(pointsOf(w.service.posts[3]!)).toEqual({ a: { '2026-01': '22' } });
  },
);
