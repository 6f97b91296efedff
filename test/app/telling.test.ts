/** Who is told of what a daemon meets, on a hand-held clock: the notices are posted to a real receiver. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentSaid, SharedView } from '../../src/core/election/lead.ts';
import type { Notice } from '../../src/core/telling/notice.ts';
import { knownAfter } from '../../src/app/telling/known.ts';
import { tellOnce } from '../../src/app/telling/teller.ts';
import { tellingReport } from '../../src/app/telling/telling-report.ts';
import { type DaemonWorld, daemonWorld, days, hours, minutes, rows, seconds } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { type Receiver, openReceiver } from '../support/receiver.ts';

interface ToldWorld {
  readonly w: DaemonWorld;
  readonly hook: Receiver;
  /** Waits for so many notices, and gives all that came: `held sales started`. */
  readonly told: (count: number) => Promise<string[]>;
}

async function toldWorld(keys: object = {}, on?: readonly string[]): Promise<ToldWorld> {
  const hook = await openReceiver();
  const notify = [{ url: `${hook.url}/hooks/a-secret-key`, ...(on && { on }) }];
  const w = await daemonWorld({ notify, ...keys });
  onTestFinished(async () => {
    await w[Symbol.asyncDispose]();
    await hook[Symbol.asyncDispose]();
  });
  return {
    w,
    hook,
    async told(count) {
      if (count > 0) await hook.post(count);
      // A notice has arrived for good once that is written down.
      await expect.poll(() => waiting(w)).toBe(0);
      return hook.posts.map(({ body }) => {
        const { event, source, state } = JSON.parse(body) as Notice;
        return [event, source, state].filter(Boolean).join(' ');
      });
    },
  };
}

const waiting = (w: DaemonWorld): Promise<number | undefined> =>
  w.open(async ({ ledger }) => (await ledger.state()).telling?.outbox.length);

const many = (count: number): string => rows(...Array.from({ length: count }, (_, index) => `D${index},2026-01,1`));

describe('a daemon tells', () => {
  test('that a source is held, with the command that approves it, and that it is over', async () => {
    const { w, hook, told } = await toldWorld();
    await w.write('a.csv', many(20));
    await w.start();
    await w.write('a.csv', many(9));
    await w.wait(1 * minutes);
    expect(await told(1)).toEqual(['held sales started']);
    const notice = JSON.parse(hook.posts[0]?.body ?? '') as Notice;
    expect(notice).toEqual({
      event: 'held',
      state: 'started',
      source: 'sales',
      text: 'source "sales" is held: it would delete 11 of 20 drivers, more than guard.maxDeletes 10%',
      hint: expect.stringMatching(/approve it with: driver-sync approve [0-9a-f]{12}$/),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      at: '2026-03-15T12:01:00.000Z',
      host: expect.stringMatching(/./),
      address: w.service.url,
    });
    expect(hook.posts[0]).toMatchObject({ url: '/hooks/a-secret-key', method: 'POST' });
    await w.wait(10 * minutes);
    await w.open(({ ledger }) => ledger.holds.approve(notice.digest ?? '', 'sales', w.clock.now().getTime()));
    await w.wake('request');
    expect(await told(2)).toEqual(['held sales started', 'held sales ended']);
    expect(JSON.parse(hook.posts[1]?.body ?? '')).toMatchObject({
      text: 'source "sales" is not held any more: its read was accepted',
    });
  });

  test('that a source is not read, and once a restart tells nothing again', async () => {
    const { w, told } = await toldWorld();
    await w.write('a.csv', many(2));
    await w.start();
    await w.remove('a.csv');
    await w.wait(1 * minutes);
    expect(await told(1)).toEqual(['unread sales started']);
    await w.stop();
    await w.start();
    await w.wait(5 * minutes);
    await w.write('a.csv', many(2));
    await w.wait(1 * minutes);
    expect(await told(2)).toEqual(['unread sales started', 'unread sales ended']);
  });

  test('that the service refuses, with what it said', async () => {
    const { w, hook, told } = await toldWorld();
    await w.write('a.csv', many(2));
    w.service.answer({ status: 422, text: 'no such tenant' });
    await w.start();
    expect(await told(1)).toEqual(['refused started']);
    expect(JSON.parse(hook.posts[0]?.body ?? '').text).toMatch(/^the service refused the push: 422 .*no such tenant/);
    await w.wake('pass');
    expect(await told(2)).toEqual(['refused started', 'refused ended']);
  });

  test('that the service is not reached, once that has lasted for an hour', async () => {
    const gone = await openReceiver();
    await gone[Symbol.asyncDispose]();
    const { w, hook, told } = await toldWorld({ destination: { url: gone.url } });
    await w.write('a.csv', many(2));
    await w.start();
    await w.wait(59 * minutes);
    expect(await told(0)).toEqual([]);
    await w.wait(1 * minutes + 10 * seconds);
    expect(await told(1)).toEqual(['unreachable started']);
    expect(JSON.parse(hook.posts[0]?.body ?? '').text).toMatch(
      /^no push has reached the service since 2026-03-15 12:00 UTC: .*the connection was refused/,
    );
    await using _back = await openReceiver({ port: Number(new URL(gone.url).port) });
    await w.wake('pass');
    expect(await told(2)).toEqual(['unreachable started', 'unreachable ended']);
  });

  test('that nothing was acknowledged for twice the schedule', async () => {
    const { w, hook, told } = await toldWorld({ schedule: '*/10 * * * *' }, ['stale']);
    await w.write('a.csv', many(2));
    await w.start();
    await w.write('a.csv', many(3));
    w.service.answer(400, 400);
    await w.wait(19 * minutes);
    expect(await told(0)).toEqual([]);
    await w.wait(1 * minutes);
    expect(await told(1)).toEqual(['stale started']);
    expect(JSON.parse(hook.posts[0]?.body ?? '').text).toMatch(
      /^nothing was acknowledged since 2026-03-15 12:00 UTC, which is twice the schedule; the last pass ended refused: 400/,
    );
    await w.wait(10 * minutes);
    expect(await told(2)).toEqual(['stale started', 'stale ended']);
  });

  test('that a pass broke, and that passes end again', async () => {
    const { w, hook, told } = await toldWorld({
      schedule: '*/10 * * * *',
      sources: { sales: csv('*.csv', { poll: '1h' }) },
    });
    await w.write('a.csv', many(2));
    await w.start();
    await w.write('a.csv', many(3));
    // What a snapshot is drafted in: every write to this device fails for want of space.
    const draft = path.join(w.dir, '.driver-sync', 'archive', `draft-${process.pid}`);
    await symlink('/dev/full', draft);
    await w.wait(10 * minutes + 1 * seconds);
    expect(await told(1)).toEqual(['broken started']);
    expect(JSON.parse(hook.posts[0]?.body ?? '')).toMatchObject({
      text: expect.stringMatching(
        /^a pass broke, and nothing is read or pushed until one ends: .*(space|full)/,
      ) as string,
      hint: expect.stringContaining('free some space') as string,
    });
    await w.wait(2 * minutes);
    expect(await told(2)).toEqual(['broken started', 'broken ended']);
    expect(JSON.parse(hook.posts[1]?.body ?? '').text).toBe('passes end again: push 2 was acknowledged');
  });

  test('of the agents that share its ledger those that see other data', async () => {
    const { w } = await toldWorld();
    await w.write('a.csv', many(2));
    await w.start();
    const said = (digest: string): AgentSaid => ({ would: { digest, drivers: 2, points: 2 }, sources: [] });
    const one = { pid: 1, sinceMs: 0, seenMs: 0, isSilent: false, hasLeadersConfig: true };
    const view: SharedView = {
      term: 1,
      leader: { id: 'a', host: 'books-1', pid: 1, sinceMs: 0 },
      address: undefined,
      agents: [
        { ...one, id: 'a', host: 'books-1', said: said('1') },
        { ...one, id: 'b', host: 'books-2', said: said('2') },
        { ...one, id: 'c', host: 'books-3', said: said('1') },
      ],
    };
    const known = await w.open((deps) =>
      knownAfter({ ...deps, ledger: { ...deps.ledger, agents: async () => view } }, undefined, undefined),
    );
    expect(known.others).toEqual({
      machines: ['books-1', 'books-2', 'books-3'],
      differing: [{ machine: 'books-2', text: expect.stringContaining('has other data') as string }],
      patienceMs: 120_000,
    });
  });

  test('nothing of a clock that is set back, though the last push lies ahead from then on', async () => {
    const { w, told } = await toldWorld({ schedule: '*/10 * * * *', defaults: { poll: '10m' } });
    await w.write('a.csv', many(2));
    await w.start();
    await w.wait(2 * hours);
    await w.write('a.csv', many(3));
    await w.wait(10 * minutes);
    w.clock.jump(-9 * minutes);
    await w.wait(2 * hours);
    w.clock.jump(100 * days);
    await w.write('a.csv', many(4));
    await w.wait(20 * minutes);
    w.clock.jump(-100 * days);
    await w.wait(2 * hours);
    await w.stop();
    await w.start();
    await w.wait(2 * hours);
    expect((await told(0)).filter((notice) => notice.startsWith('stale'))).toEqual([]);
  });

  test('nothing of a schedule that comes more often than data changes: the service has everything', async () => {
    const { w, told } = await toldWorld({ schedule: '*/10 * * * *' });
    await w.write('a.csv', many(2));
    await w.start();
    await w.wait(30 * minutes);
    expect(await told(0)).toEqual([]);
  });
});

describe('a hook that fails', () => {
  test('with a 500 gets everything in its order once it works, and holds up no pass', async () => {
    const { w, hook, told } = await toldWorld();
    hook.answer(500, 500, 500, 500);
    await w.write('a.csv', many(2));
    await w.start();
    await w.remove('a.csv');
    for (const [index, ms] of [1 * minutes, 10 * seconds, 10 * seconds, 20 * seconds].entries()) {
      await w.wait(ms);
      await hook.post(index + 1);
      await expect.poll(() => failures(w)).toBe(index + 1);
    }
    await w.write('a.csv', many(2));
    await w.wait(20 * seconds);
    expect(await report(w)).toMatchObject({ waiting: 2, lastError: { error: expect.stringContaining('500') } });
    await w.wait(20 * seconds);
    expect((await told(6)).slice(4)).toEqual(['unread sales started', 'unread sales ended']);
    expect(await report(w)).toEqual({ failures: 4, waiting: 0, dropped: 0 });
    expect(new Set(hook.posts.slice(0, 5).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test('without an answer delays nothing, and counts after half a minute', async () => {
    const { w, hook } = await toldWorld();
    hook.answer('hold');
    await w.write('a.csv', many(2));
    w.service.answer(400);
    await w.start();
    await hook.post(1);
    await w.wake('pass');
    expect(w.passes.map(({ outcome }) => outcome)).toEqual(['refused', 'acknowledged']);
    await w.wait(29 * seconds);
    expect(await failures(w)).toBe(0);
    await w.wait(2 * seconds);
    await expect
      .poll(() => report(w))
      .toMatchObject({
        failures: 1,
        waiting: 2,
        lastError: { channel: `hook ${new URL(hook.url).host}`, error: 'no answer within 30 s' },
      });
  });

  test('when the daemon ends is tried again by the next one', async () => {
    const { w, hook, told } = await toldWorld();
    hook.answer('hold');
    await w.write('a.csv', many(2));
    w.service.answer(400);
    await w.start();
    await hook.post(1);
    await w.stop();
    expect(await report(w)).toEqual({ failures: 0, waiting: 1, dropped: 0 });
    await w.start();
    expect((await told(3)).slice(1)).toEqual(['refused started', 'refused ended']);
  });

  test('and leaves the config takes what waits for it along, and not what was counted', async () => {
    const { w, hook } = await toldWorld();
    hook.answer(500);
    await w.write('a.csv', many(2));
    w.service.answer(400);
    await w.start();
    await hook.post(1);
    await expect.poll(() => failures(w)).toBe(1);
    await w.configure({ notify: [] });
    await w.wake('reload');
    expect(await report(w)).toEqual({ failures: 1, waiting: 0, dropped: 0 });
    hook.answer(500);
    await w.write('a.csv', many(3));
    w.service.answer(400);
    await w.configure({ notify: [{ url: `${hook.url}/hooks/another-secret-key` }] });
    await w.wake('reload');
    await expect.poll(() => failures(w)).toBe(2);
    expect(hook.posts.map(({ headers }) => String(headers['idempotency-key']).split('.')[0])).toEqual(['1', '2']);
  });
});

test('a command gives a hook that hangs ten seconds after its pass, and leaves the notice in the outbox', async () => {
  const { w, hook } = await toldWorld();
  hook.answer('hold');
  await w.write('a.csv', many(2));
  w.service.answer(400);
  const passed = await w.sync();
  await w.open(async (deps) => {
    const over = tellOnce(() => deps, passed, new AbortController().signal);
    await hook.post(1);
    await w.clock.advance(10 * seconds);
    await over;
  });
  expect(await report(w)).toMatchObject({ failures: 1, waiting: 1, lastError: { error: 'no answer within 10 s' } });
});

describe('the heartbeat', () => {
  test('is fetched after a pass that left the service right, and after no other', async () => {
    const ping = await openReceiver();
    onTestFinished(() => ping[Symbol.asyncDispose]());
    const { w } = await toldWorld({ notify: [], heartbeat: `${ping.url}/ping/a-secret-key?run=1` });
    await w.write('a.csv', many(2));
    w.service.answer(400);
    await w.start();
    await w.wake('pass');
    expect(await ping.post(1)).toMatchObject({ method: 'GET', url: '/ping/a-secret-key?run=1', body: '' });
    expect(w.passes.map(({ outcome }) => outcome)).toEqual(['refused', 'acknowledged']);
    await w.wait(1 * minutes);
    await ping.post(2);
    await w.remove('a.csv');
    await w.wait(3 * minutes);
    expect(ping.posts).toHaveLength(2);
  });

  test('that fails is said once in the log and shown by status, and no pass fails for it', async () => {
    const ping = await openReceiver();
    onTestFinished(() => ping[Symbol.asyncDispose]());
    const { w } = await toldWorld({ notify: [], heartbeat: `${ping.url}/ping/a-secret-key` });
    ping.answer(404, 500);
    await w.write('a.csv', many(2));
    await w.start();
    for (const status of ['404', '500']) {
      await expect.poll(() => report(w)).toMatchObject({ heartbeat: { error: expect.stringContaining(status) } });
      await w.wait(1 * minutes);
    }
    await ping.post(3);
    await expect.poll(async () => (await report(w))?.heartbeat).toBeUndefined();
    const said = w.log.lines.filter(({ message }) => message.includes('heartbeat'));
    expect(said.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'the heartbeat cannot be sent'],
      ['info', 'the heartbeat is sent again'],
    ]);
    expect(JSON.stringify(w.log.lines)).not.toContain('a-secret-key');
    expect(w.passes.map(({ exit }) => exit)).toEqual([0, 0, 0]);
  });
});

const report = (w: DaemonWorld): Promise<ReturnType<typeof tellingReport>> =>
  w.open(async ({ ledger }) => tellingReport(await ledger.state()));

const failures = async (w: DaemonWorld): Promise<number | undefined> => (await report(w))?.failures;
