/** What the daemon does because somebody said so: signals, another config, approvals, and the first push to an address. */
import { expect, test } from 'vitest';
import { daemonWorld, minutes, rows } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';

test('waits of the agent itself are for the schedule and for changes, not for a person', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer(429);
  await w.start();
  expect(w.service.posts).toHaveLength(1);
  await w.wake('pass');
  expect(w.service.posts).toHaveLength(2);
});

test.each([
  ['pass', {}],
  ['reload', {}],
  ['reload', { keep: '300d' }],
] as const)('what the service asked for with Retry-After holds for a person too: %s with %o', async (reason, keys) => {
  await using w = await daemonWorld();
  await w.write('a.csv', rows('a,2026-01,1'));
  w.service.answer({ status: 429, headers: { 'retry-after': '3600' } });
  await w.start();
  await w.wait(10 * minutes);
  await w.configure(keys);
  await w.wake(reason);
  expect(w.service.posts).toHaveLength(1);
  expect(w.passes.at(-1)).toMatchObject({
    outcome: 'unreachable',
    exit: 75,
    reason: 'the service asked with Retry-After for no push before 2026-03-15T13:00:00.000Z',
    hint: 'the agent tries again then',
  });
  await w.wait(49 * minutes);
  expect(w.service.posts).toHaveLength(1);
  await w.wait(2 * minutes);
  expect(w.service.posts).toHaveLength(2);
});

test('what is approved while the service asks for time is accepted at once and pushed when that is over', async () => {
  await using w = await daemonWorld();
  const many = Array.from('abcdefghij', (name) => `${name},2026-01,1`);
  await w.write('a.csv', rows(...many));
  await w.start();
  w.service.answer({ status: 503, headers: { 'retry-after': '3600' } });
  await w.write('a.csv', rows(...many, 'k,2026-01,1'));
  await w.wake('pass');
  await w.write('a.csv', rows('a,2026-01,1'));
  await w.wait(2 * minutes);
  await w.open(async ({ ledger, clock }) => {
    const [held] = await ledger.holds.held();
    await ledger.holds.approve(held!.digest, held!.source, clock.now().getTime());
  });
  await w.wake('request');
  expect(w.passes.at(-1)).toMatchObject({ outcome: 'unreachable', sources: [{ state: 'accepted', drivers: 1 }] });
  await w.wait(57 * minutes);
  expect(w.service.posts).toHaveLength(2);
  await w.wait(2 * minutes);
  expect(w.service.posts.map((post) => Object.keys(pointsOf(post)).length)).toEqual([10, 11, 1]);
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
  const approve = async (): Promise<void> => {
    await w.open(async ({ ledger, clock }) => {
      const [first] = await ledger.holds.held();
      await ledger.holds.approve(first!.digest, first!.source, clock.now().getTime());
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
  await w.open(async ({ ledger, clock }) => {
    const [held] = await ledger.holds.held();
    await ledger.holds.approve(held!.digest, held!.source, clock.now().getTime());
  });
  await w.start();
  expect(pointsOf(w.service.posts[1]!)).toEqual({ a: { '2026-01': '1' } });
});
