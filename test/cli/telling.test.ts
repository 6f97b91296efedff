/** What a `sync` tells, what `status` says of it, and `check --notify`. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CommandsWorld, commandsWorld, manyDrivers } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { type Receiver, openReceiver } from '../support/receiver.ts';

interface ToldCommands extends CommandsWorld {
  readonly hook: Receiver;
  readonly told: () => string[];
}

async function toldCommands(keys: object = {}): Promise<ToldCommands> {
  const hook = await openReceiver();
  onTestFinished(() => hook[Symbol.asyncDispose]());
  const notify = [{ url: `${hook.url}/services/a-secret-key` }];
  const world = await commandsWorld({ revenue: csv('*.csv') }, { 'a.csv': manyDrivers(20) }, { notify, ...keys });
  return {
    ...world,
    hook,
    told: () =>
      hook.posts.map(({ body }) => {
        const { event, source, state } = JSON.parse(body) as Record<string, string>;
        return [event, source, state].filter(Boolean).join(' ');
      }),
  };
}

test('a sync tells before it ends, and the next one tells nothing again', async () => {
  const { at, run, told } = await toldCommands();
  expect((await run('sync')).code).toBe(0);
  await at.write('a.csv', manyDrivers(5));
  expect((await run('sync')).code).toBe(4);
  expect(told()).toEqual(['held revenue started']);
  expect((await run('sync')).code).toBe(4);
  await at.write('a.csv', manyDrivers(20));
  expect((await run('sync')).code).toBe(0);
  expect(told()).toEqual(['held revenue started', 'held revenue ended']);
});

test('what a sync could not deliver is shown by status, and the next one tries again', async () => {
  const { at, run, json, hook, told } = await toldCommands();
  await run('sync');
  await at.write('a.csv', manyDrivers(5));
  hook.answer({ status: 500, text: 'a-secret-key does not work' });
  expect((await run('sync')).code).toBe(4);
  const { telling } = await json<{ telling: object }>('status');
  const channel = `hook ${new URL(hook.url).host}`;
  expect(telling).toMatchObject({ failures: 1, waiting: 1, dropped: 0, lastError: { channel } });
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^telling +1 notice cannot be delivered: http:.* answered 500 .*: \*\*\* does not work/m);
  expect(stdout).toContain(`${channel}, since`);
  expect(stdout + JSON.stringify(telling)).not.toContain('a-secret-key');
  await run('sync');
  expect(told()).toEqual(['held revenue started', 'held revenue started']);
  expect(await json('status')).toMatchObject({ telling: { failures: 1, waiting: 0, dropped: 0 } });
});

test('status names each of several that cannot be told, and what waits for it', async () => {
  const other = await openReceiver();
  onTestFinished(() => other[Symbol.asyncDispose]());
  const hook = await openReceiver();
  onTestFinished(() => hook[Symbol.asyncDispose]());
  const notify = [{ url: `${hook.url}/a` }, { url: `${other.url}/b`, format: 'slack' }];
  const { at, run, json } = await toldCommands({ notify });
  await run('sync');
  await at.write('a.csv', manyDrivers(5));
  hook.answer(500);
  other.answer(404);
  await run('sync');
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^telling +1 notice cannot be delivered: http:.* answered 500 .*\n +hook 127.*, since /m);
  expect(stdout).toMatch(/^telling +1 notice cannot be delivered: http:.* answered 404 .*\n +slack 127.*, since /m);
  const failing = ['hook', 'slack'].map((kind) => ({ channel: expect.stringMatching(`^${kind} 127`), waiting: 1 }));
  expect(await json('status')).toMatchObject({
    telling: { waiting: 2, failing: expect.arrayContaining(failing.map((one) => expect.objectContaining(one))) },
  });
});

test('a sync keeps to what a hook asked for with Retry-After', async () => {
  const { run, json, receiver, hook, told } = await toldCommands();
  hook.answer({ status: 429, headers: { 'retry-after': '600' } });
  receiver.answer(400);
  await run('sync');
  await run('sync');
  expect(told()).toEqual(['refused started']);
  expect(await json('status')).toMatchObject({ telling: { failures: 1, waiting: 2 } });
});

test('a heartbeat follows a sync that ends with 0, and nobody need be told beside it', async () => {
  const ping = await openReceiver();
  onTestFinished(() => ping[Symbol.asyncDispose]());
  const { run, at, hook } = await toldCommands({ notify: [], heartbeat: `${ping.url}/ping` });
  await run('sync');
  await run('sync');
  await at.write('a.csv', manyDrivers(5));
  expect((await run('sync')).code).toBe(4);
  expect(ping.posts.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /ping', 'GET /ping']);
  expect(hook.posts).toEqual([]);
});

test('a sync that breaks tells so before it fails, and the next one that it is over', async () => {
  const { run, at, hook } = await toldCommands();
  await run('sync');
  await at.write('a.csv', manyDrivers(19));
  await symlink('/dev/full', path.join(at.dir, '.driver-sync/archive', `draft-${process.pid}`));
  const { code, stderr } = await run('sync');
  expect([code, stderr]).toEqual([75, expect.stringContaining('the disk is full')]);
  await run('sync');
  const told = hook.posts.map(({ body }) => JSON.parse(body) as { event: string; state: string });
  expect(told.map(({ event, state }) => `${event} ${state}`)).toEqual(['broken started', 'broken ended']);
});

test('check --notify sends a test message to each channel, and says what came of it', async () => {
  const { run, hook, configure } = await toldCommands();
  const sources = { revenue: csv('*.csv') };
  await configure(sources, {
    notify: ['json', 'slack'].map((format) => ({ url: `${hook.url}/a-secret-key`, format })),
  });
  hook.answer(200, 403);
  const { code, stdout } = await run('check', '--notify');
  expect(code).toBe(75);
  const { host } = new URL(hook.url);
  expect(stdout).toMatch(new RegExp(`^notify\\n {2}(hook|slack) ${host}: .*\\n {2}(hook|slack) ${host}: .*\\n`, 'm'));
  expect(stdout).toMatch(/: ok: the test message was taken\n/);
  expect(stdout).toMatch(/: fails: http:.* answered 403 Forbidden; check the credentials/);
  expect(stdout).toContain('the config is valid, but somebody could not be told');
  expect(stdout).not.toContain('a-secret-key');
  const bodies = hook.posts.map(({ body }) => JSON.parse(body) as { event?: string; text: string });
  expect(bodies.map(({ text }) => text).join()).toContain('this is a test');
  expect(bodies.map(({ event }) => event)).toContain('test');
  hook.answer(500, 503);
  const failed = (await run('check', '--notify')).stdout;
  expect(failed).toMatch(/: fails: http:.* answered 500 .*; the receiver failed: look there/);
  expect(failed).toMatch(/: fails: http:.* answered 503 .*; the receiver is busy/);
  expect(failed).not.toContain('again');
  const again = (await run('check', '--notify', '--json')).json();
  expect(again).toMatchObject({ ok: true, notify: [{ ok: true }, { ok: true, channel: `slack ${host}` }] });
});

test('check alone sends nothing, and --notify says where there is nobody to tell', async () => {
  const { run, hook, configure } = await toldCommands();
  expect((await run('check')).code).toBe(0);
  expect(hook.posts).toEqual([]);
  await configure({ revenue: csv('*.csv') }, { notify: [] });
  const { code, stdout } = await run('check', '--notify');
  expect(code).toBe(0);
  expect(stdout).toContain('note: notify names nobody');
});
