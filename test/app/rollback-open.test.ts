/** A rollback holds, and another push that may have been taken has come after it: what was gone back to is pushed again. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { nextPushOf, repeatFromMs } from '../../src/app/loop/next-push.ts';
import { type DaemonWorld, daemonWorld, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { type Answer, pointsOf } from '../support/receiver.ts';

const held = { push: 'ifNeeded', resume: false } as const;
const sent = (w: DaemonWorld): readonly (string | undefined)[] =>
  w.service.posts.map((post) => pointsOf(post)['a']?.['2026-01']);

async function ask(w: DaemonWorld, push: number): Promise<void> {
  await w.open(({ ledger, clock }) => ledger.requests.add({ kind: 'rollback', push }, clock.now().getTime()));
}

/** 1 and 22 were pushed, and a rollback to 1 was acknowledged as push 3. No daemon runs. */
async function rolledBack(keys: object = {}): Promise<DaemonWorld> {
  const w = await daemonWorld({ pushOnChange: '1s', ...keys });
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.sync();
  await w.write('a.csv', rows('a,2026-01,22'));
  await w.sync();
  await ask(w, 1);
  await w.sync(held);
  expect(sent(w)).toEqual(['1', '22', '1']);
  return w;
}

/** A second rollback, to 22, that a command has tried and given up. */
async function secondRollback(w: DaemonWorld, ...answers: readonly Answer[]): Promise<void> {
  await ask(w, 2);
  w.service.answer(...answers);
  await w.sync({ ...held, retryForMs: 1 });
  w.service.calm();
  expect(await w.open(({ ledger }) => ledger.requests.pending())).toEqual([]);
  expect(sent(w).slice(3)).toEqual(answers.map(() => '22'));
}

test.each<[string, readonly Answer[]]>([
  ['202', [202]],
  ['503', [503, 503]],
  ['500', [500, 500]],
  ['a connection that is cut', ['late', 'late']],
])('a second rollback that got %s is undone by a daemon, since the first one holds', async (_, answers) => {
  await using w = await rolledBack();
  await secondRollback(w, ...answers);
  w.service.land();
  await w.start();
  await w.wait(50 * seconds);
  expect(w.service.posts).toHaveLength(3 + answers.length);
  await w.wait(15 * seconds);
  expect(sent(w).slice(3 + answers.length)).toEqual(['1']);
  expect(pointsOf(w.service.holds()!)).toEqual({ a: { '2026-01': '1' } });
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'blocked', reason: 'rolled back to push 1' });
  // It may land later still, and the rollback goes on through all of it.
  await w.wait(2 * hours);
  expect(sent(w).slice(3 + answers.length)).toEqual(['1', '1', '1']);
  expect((await w.open(({ ledger }) => ledger.state())).rolledBack?.push).toBe(1);
});

test('a second rollback that a daemon sent and that was refused, perhaps taken, is undone by the same daemon', async () => {
  await using w = await rolledBack();
  await w.start();
  await ask(w, 2);
  w.service.answer(202);
  await w.wake('request');
  await w.wait(2 * minutes);
  expect(sent(w).slice(3)).toEqual(['22', '1']);
});

test('a second rollback that does not arrive is tried again by the daemon, and what holds is not pushed between', async () => {
  await using w = await rolledBack();
  await w.start();
  await ask(w, 2);
  w.service.answer(503, 500, 'late');
  await w.wake('request');
  await w.wait(20 * minutes);
  expect(sent(w).slice(3)).toEqual(['22', '22', '22', '22']);
  expect((await w.open(({ ledger }) => ledger.state())).rolledBack?.push).toBe(2);
});

test('a pass that pushes and does not go on from the sources does it too, once', async () => {
  await using w = await rolledBack();
  await secondRollback(w, 202);
  expect(await w.sync(held)).toMatchObject({ outcome: 'blocked', push: { id: 5 } });
  expect(w.waits.at(-1)?.why).toBe('an earlier push may still land; a different snapshot waits for it');
  await w.sync(held);
  expect(sent(w).slice(3)).toEqual(['22', '1']);
});

test('what is said of the next push names it, with a daemon and without one', async () => {
  await using w = await rolledBack();
  expect(await w.open(nextPushOf)).toBeUndefined();
  const beganMs = w.clock.now().getTime();
  await secondRollback(w, 202);
  const landsMs = beganMs + 1 * minutes;
  expect(await w.open(repeatFromMs)).toBe(landsMs);
  const waiting = { atMs: landsMs, push: 'repeat', why: expect.stringContaining('may still land') };
  expect(await w.open((deps) => nextPushOf(deps))).toEqual(waiting);
  await w.clock.advance(2 * minutes);
  expect(await w.open((deps) => nextPushOf(deps))).toMatchObject({
    push: 'repeat',
    why: 'the same bytes once more, since another push may have been taken after the rollback',
  });
});

test('a rollback that is still asked for is what comes, and not the one before it', async () => {
  await using w = await rolledBack();
  await secondRollback(w, 202);
  await ask(w, 2);
  expect(await w.open(repeatFromMs)).toBeUndefined();
  await w.start();
  await w.wait(2 * minutes);
  expect(sent(w).slice(4)).toEqual(['22']);
  expect((await w.open(({ ledger }) => ledger.state())).rolledBack?.push).toBe(2);
});

test('a push that did not reach the service leaves nothing to undo', async () => {
  await using w = await rolledBack();
  await secondRollback(w, 400);
  expect(await w.open(repeatFromMs)).toBeUndefined();
  await w.start();
  await w.wait(2 * hours);
  expect(w.service.posts).toHaveLength(4);
});

test('it is tried again as any push is, and once it is refused with the next schedule time', async () => {
  await using w = await rolledBack({ schedule: '0 * * * *' });
  await secondRollback(w, 202);
  await w.start();
  w.service.answer(500, 429, 422);
  await w.wait(30 * minutes);
  expect(sent(w).slice(4)).toEqual(['1', '1', '1']);
  await w.wait(31 * minutes);
  expect(sent(w).slice(4)).toEqual(['1', '1', '1', '1']);
});

test('where its snapshot is damaged it waits for the next schedule time, and the daemon does not turn in a circle', async () => {
  await using w = await rolledBack({ schedule: '0 * * * *' });
  await secondRollback(w, 202);
  const { digest } = await w.open(async ({ ledger }) => (await ledger.pushes.get(1))!);
  const archive = path.join(w.dir, '.driver-sync', 'archive');
  const file = path.join(archive, (await readdir(archive)).find((one) => one.startsWith(digest)) ?? '');
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill('x', bytes.length - 8));
  await w.start();
  await w.wait(30 * minutes);
  expect(w.service.posts).toHaveLength(4);
  expect(w.passes.length).toBeLessThan(40);
});

test('whoever goes on from the sources pushes the newest data instead', async () => {
  await using w = await rolledBack();
  await secondRollback(w, 202);
  await w.write('a.csv', rows('a,2026-01,333'));
  expect(await w.sync()).toMatchObject({ outcome: 'acknowledged' });
  expect(sent(w).slice(4)).toEqual(['333']);
  expect(await w.open(repeatFromMs)).toBeGreaterThan(w.clock.now().getTime());
});
