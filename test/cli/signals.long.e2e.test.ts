/** The agent as a process: signals, the lock, pipes, and commands beside a running daemon. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, readdir, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { commandAt } from '../support/command-line.ts';
import { type Status, one, scene, statusOf, two } from '../support/daemon-scene.ts';
import { type Place, csv, place } from '../support/process.ts';
import { openReceiver, pointsOf } from '../support/receiver.ts';

test.each(['SIGTERM', 'SIGINT'] as const)('an idle daemon ends with 0 on %s and frees its state', async (signal) => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  daemon.kill(signal);
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
  expect(await statusOf(s.place)).toMatchObject({ agent: null, lastPush: { outcome: 'acknowledged' } });
});

test('a daemon that waits for a file to settle ends with 0 on SIGTERM and has sent nothing', async () => {
  await using s = await scene({}, { settle: '50s' });
  const daemon = await s.place.daemon();
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
  expect(s.service.posts).toEqual([]);
});

test('a push under way at SIGTERM is finished and recorded', async () => {
  await using s = await scene();
  s.service.answer('hold');
  const daemon = await s.place.daemon();
  await s.service.post(1);
  daemon.kill('SIGTERM');
  await daemon.says(/ending/);
  s.service.release(200);
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
  expect(await statusOf(s.place)).toMatchObject({ agent: null, lastAcknowledged: { id: 1 } });
});

test('a second signal ends it at once; the push is unknown then, and its bytes go again at the next start', async () => {
  await using s = await scene();
  s.service.answer('hold');
  const daemon = await s.place.daemon();
  const first = await s.service.post(1);
  daemon.kill('SIGTERM');
  await daemon.says(/ending/);
  daemon.kill('SIGTERM');
  expect((await daemon.exit).code).not.toBe(0);
  expect(await statusOf(s.place)).toMatchObject({ agent: null, lastPush: { outcome: 'unknown' } });

  const next = await s.place.daemon();
  await next.says(/"pushed"/);
  expect(s.service.posts.map(({ digest }) => digest)).toEqual([first.digest, first.digest]);
});

test('a daemon that pushed before and was killed in a push sends it again at the next start', async () => {
  await using s = await scene({ pushOnChange: '10ms' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  s.service.answer('hold');
  await s.place.write('sales.csv', two);
  const lost = await s.service.post(2);
  daemon.kill('SIGKILL');
  await daemon.exit;

  await s.place.daemon();
  expect((await s.service.post(3)).digest).toBe(lost.digest);
});

test('a sync that is stopped while it reads says so, is no bug, and has sent nothing', async () => {
  await using s = await scene({}, { settle: '50s' });
  const sync = s.place.start('sync', '--json', '--log-level', 'debug');
  await lockOf(s.place);
  sync.kill('SIGTERM');
  const { code, signal } = await sync.exit;
  expect({ code, signal, stderr: sync.stderr }).not.toMatchObject({ code: 1 });
  expect(sync.stderr).not.toContain('a bug');
  expect(s.service.posts).toEqual([]);
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a sync whose push is under way at %s finishes it and ends as it does',
  async (signal) => {
    await using s = await scene();
    s.service.answer('hold');
    const sync = s.place.start('sync', '--json');
    await s.service.post(1);
    sync.kill(signal);
    await sync.says(/waiting for the push to be answered/);
    s.service.release(200);
    expect(await sync.exit).toEqual({ code: 0, signal: undefined });
    expect(JSON.parse(sync.stdout)).toMatchObject({ outcome: 'acknowledged', exit: 0 });
    expect(await statusOf(s.place)).toMatchObject({ lastAcknowledged: { id: 1 }, lastPass: { exit: 0 } });
  },
);

test('a sync whose push fails after SIGTERM is not tried again, and ends with 75', async () => {
  await using s = await scene();
  s.service.answer('hold');
  const sync = s.place.start('sync', '--json');
  await s.service.post(1);
  sync.kill('SIGTERM');
  await sync.says(/waiting for the push to be answered/);
  s.service.release(503);
  expect(await sync.exit).toEqual({ code: 75, signal: undefined });
  expect(JSON.parse(sync.stdout)).toMatchObject({
    error: { code: 'aborted', message: 'stopped by SIGTERM' },
    exit: 75,
  });
  expect(s.service.posts).toHaveLength(1);
  expect(await statusOf(s.place)).toMatchObject({ lastPush: { outcome: 'unreachable' } });
});

test('a second signal ends a sync at once', async () => {
  await using s = await scene();
  s.service.answer('hold');
  const sync = s.place.start('sync');
  await s.service.post(1);
  sync.kill('SIGINT');
  await sync.says(/waiting for the push to be answered/);
  sync.kill('SIGINT');
  expect(await sync.exit).toEqual({ code: 130, signal: undefined });
  expect(await statusOf(s.place)).toMatchObject({ lastPush: { outcome: 'unknown' } });
});

test('SIGUSR2 makes a pass that pushes what changed, and SIGUSR1 opens no debugger', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  daemon.kill('SIGUSR1');
  await daemon.says(/SIGUSR1 does nothing: SIGUSR2 asks for a pass/);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  expect(pointsOf(await s.service.post(2))).toEqual({ a: { '2026-01': '1.50' }, b: { '2026-01': '2' } });
});

test('SIGUSR2 in the middle of a push makes another pass after it', async () => {
  await using s = await scene();
  s.service.answer('hold');
  const daemon = await s.place.daemon();
  await s.service.post(1);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  s.service.release(200);
  expect(pointsOf(await s.service.post(2))).toHaveProperty('b');
});

test('sync --wake beside a daemon waits for the pass that it asked for, and ends as that does', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.write('sales.csv', two);
  const woken = await s.place.command('sync', '--wake', '--json');
  expect(woken).toMatchObject({ code: 0, stderr: expect.stringContaining(`woke the agent with pid ${daemon.pid}`) });
  expect(woken.json()).toMatchObject({ outcome: 'acknowledged', push: { id: 2 } });
  s.service.answer(400);
  await s.place.write('sales.csv', `${two}c,2026-01,3\n`);
  expect((await commandAt(s.place, 'sync', '--wake')).code).toBe(5);
  const forced = await commandAt(s.place, 'sync', '--wake', '--force');
  expect(forced).toMatchObject({ code: 64, stderr: expect.stringContaining('cannot be forced') });
  daemon.kill('SIGTERM');
  await daemon.exit;
  s.service.answer(200);
  expect((await s.place.command('sync', '--wake', '--json')).json()).toMatchObject({ outcome: 'acknowledged' });
});

test('SIGHUP with a valid config swaps it, says what it changes, and passes', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  const before = await statusOf(s.place);
  await s.place.write('more/costs.csv', 'id,time,value\nc,2026-01,3\n');
  await s.place.configure({ ...s.config, sources: { sales: csv('*.csv'), costs: csv('more/*.csv') } });
  expect((await commandAt(s.place, 'status', '--json')).json()).toMatchObject({ configDiffers: true });
  daemon.kill('SIGHUP');
  expect(pointsOf(await s.service.post(2))).toEqual({ a: { '2026-01': '1.50' }, c: { '2026-01': '3' } });
  await daemon.says(/"pushed"/);
  const wouldChange = expect.objectContaining({ changes: expect.stringContaining('drivers: 1 created') });
  expect(daemon.log()).toContainEqual(expect.objectContaining({ wouldChange }));
  const after = await commandAt(s.place, 'status', '--json');
  expect(after.json()).toMatchObject({ configDiffers: false });
  expect(Date.parse(after.json<Status>().agent?.configLoadedAt ?? '')).toBeGreaterThan(
    Date.parse(before.agent?.configLoadedAt ?? ''),
  );
});

test('SIGHUP to a new address says that its push is the first there and what that deletes', async () => {
  await using s = await scene();
  await using other = await openReceiver();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.configure({ ...s.config, destination: { url: other.url } });
  daemon.kill('SIGHUP');
  await other.post(1);
  const wouldChange = expect.objectContaining({
    firstPush: `the first push to ${other.url}: it deletes every driver there that is not among these 1`,
  });
  expect(daemon.log()).toContainEqual(expect.objectContaining({ wouldChange }));
  expect(daemon.log()).toContainEqual(
    expect.objectContaining({ msg: expect.stringMatching(/first push to this address/), address: other.url }),
  );
});

test('SIGHUP with a config that is not valid keeps the old one and says why', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.configure({ ...s.config, scedule: 'daily' });
  daemon.kill('SIGHUP');
  await daemon.says(/driver-sync\.yaml:\d+:\d+ .*scedule/);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  expect(pointsOf(await s.service.post(2))).toHaveProperty('b');
});

test('SIGHUP survives a source that cannot be read by the new config', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.configure({ ...s.config, sources: { sales: csv('*.csv'), costs: csv('none/*.csv') } });
  daemon.kill('SIGHUP');
  await daemon.says(/source unread/);
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(0);
});

test('a second daemon and a sync are refused with 75, and told the pid and how to wake it', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  const commands = [['run'], ['sync'], ['sync', '--json']];
  for (const args of commands) {
    const refused = await s.place.command(...args);
    expect(refused.code).toBe(75);
    expect(refused.stdout + refused.stderr).toContain(`kill -USR2 ${daemon.pid}`);
  }
  expect(s.service.posts).toHaveLength(1);
});

test('the lock of a daemon that was killed holds nobody up', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  daemon.kill('SIGKILL');
  await daemon.exit;
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(75);
  expect((await s.place.command('sync', '--json')).json()).toMatchObject({ outcome: 'unchanged', exit: 0 });
});

test('approve wakes a running daemon, which pushes what was held', async () => {
  await using s = await scene();
  await s.place.write('sales.csv', 'id,time,value\n' + 'abcdefghij'.replace(/./g, '$&,2026-01,1\n'));
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.write('sales.csv', one);
  daemon.kill('SIGUSR2');
  await daemon.says(/source held/);
  const [held] = (await statusOf(s.place)).held;
  expect((await commandAt(s.place, 'approve', held!.digest.slice(0, 8))).code).toBe(0);
  expect(pointsOf(await s.service.post(2))).toEqual({ a: { '2026-01': '1.50' } });
});

test('forget wakes a running daemon, which pushes without what was carried', async () => {
  await using s = await scene();
  await s.place.write('old.csv', 'id,time,value\nz,2026-01,9\n');
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.remove('old.csv');
  daemon.kill('SIGUSR2');
  await daemon.says(/parts are gone and carried/);
  expect((await commandAt(s.place, 'forget', 'sales', 'old.csv', '--yes')).code).toBe(0);
  expect(pointsOf(await s.service.post(2))).toEqual({ a: { '2026-01': '1.50' } });
});

test('rollback is carried out by a running daemon, byte for byte, and lasts until SIGUSR2', async () => {
  await using s = await scene({ pushOnChange: '10ms' });
  let daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.write('sales.csv', two);
  await daemon.says(/"pushed"/);
  const back = await commandAt(s.place, 'rollback', '1', '--json');
  expect({ code: back.code, ...back.json() }).toMatchObject({ code: 0, outcome: 'acknowledged' });
  expect(s.service.posts[2]?.body).toBe(s.service.posts[0]?.body);

  daemon.kill('SIGTERM');
  await daemon.exit;
  daemon = await s.place.daemon();
  await daemon.says(/blocked/);
  expect((await commandAt(s.place, 'status')).stdout).toMatch(/rolled back to push 1/);
  expect(s.service.posts).toHaveLength(3);
  daemon.kill('SIGUSR2');
  expect((await s.service.post(4)).body).toBe(s.service.posts[1]?.body);
});

test('rollback to a snapshot that is damaged ends with 65, also where a daemon finds it out', async () => {
  await using s = await scene({ pushOnChange: '10ms' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  const archive = path.join(s.place.state, 'archive');
  const [first] = await readdir(archive);
  await s.place.write('sales.csv', two);
  await daemon.says(/"pushed"/);
  const file = path.join(archive, first!);
  await truncate(file, (await stat(file)).size - 1);
  const { code, stderr } = await commandAt(s.place, 'rollback', '1');
  expect([code, stderr]).toEqual([65, expect.stringContaining(`the snapshot in ${file} cannot be read`)]);
  expect(s.service.posts).toHaveLength(2);
});

test('a SIGHUP ends a rollback where a setting changed, and not where only the text of the file did', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  await s.place.write('sales.csv', two);
  daemon.kill('SIGUSR2');
  await daemon.says(/"pushed"/);
  expect((await commandAt(s.place, 'rollback', '1')).code).toBe(0);
  await appendFile(path.join(s.place.dir, 'driver-sync.yaml'), '\n# a comment\n');
  expect((await commandAt(s.place, 'status', '--json')).json()).toMatchObject({ configDiffers: false });
  daemon.kill('SIGHUP');
  await daemon.says(/blocked/);
  expect(s.service.posts).toHaveLength(3);
  await s.place.configure({ ...s.config, keep: '300d' });
  daemon.kill('SIGHUP');
  expect((await s.service.post(4)).body).toBe(s.service.posts[1]?.body);
});

test('a pipe that is closed early is no error', async () => {
  await using s = await scene();
  await s.place.command('sync');
  for (const args of [['history', '--json'], ['schema'], ['status'], ['explain', 'a']]) {
    const child = s.place.start(...args);
    child.deafen();
    expect(await child.exit).toEqual({ code: 0, signal: undefined });
  }
  const shell = spawn(
    'bash',
    ['-c', `set -o pipefail; "${process.execPath}" bin/driver-sync.js schema | head -c 10 >/dev/null`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let stderr = '';
  shell.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const [code] = (await once(shell, 'close')) as [number];
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('a daemon goes on when whoever read its output has gone', async () => {
  await using s = await scene({ pushOnChange: '10ms' });
  const daemon = await s.place.daemon('--log-level', 'debug');
  await daemon.says(/"pushed"/);
  daemon.deafen();
  await s.place.write('sales.csv', two);
  await s.service.post(2);
  await s.place.write('sales.csv', one);
  daemon.kill('SIGHUP');
  daemon.kill('SIGUSR2');
  await s.service.post(3);
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
});

test('secrets stand in no output, log or file of the state', async () => {
  const secret = 'xk-93f7-very-secret';
  await using s = await scene();
  await using where = await place(
    { ...s.config, destination: { url: s.service.url, token: '${T}', headers: { 'X-Key': '${K}' } } },
    { 'sales.csv': one },
    { T: secret, K: `${secret}-key` },
  );
  const echo = { status: 401, text: `no entry for Bearer ${secret} with ${secret}-key` };
  s.service.answer(echo, echo, 200);
  const daemon = await where.daemon('--log-level', 'trace');
  await daemon.says(/push refused/);
  daemon.kill('SIGTERM');
  await daemon.exit;
  const done = [await where.command('sync', '--json', '--log-level', 'trace'), await where.command('sync')];
  for (const args of [
    ['check', '--json'],
    ['plan', '--json'],
    ['status', '--json'],
    ['history', '--json'],
  ]) {
    done.push(await where.command(...args));
  }
  expect(s.service.posts[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-key': `${secret}-key` });
  expect(done.map(({ stdout, stderr }) => stdout + stderr).join('') + daemon.stdout + daemon.stderr).not.toContain(
    secret,
  );
  for (const file of await readdir(where.state, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    expect((await readFile(path.join(file.parentPath, file.name))).includes(secret), file.name).toBe(false);
  }
});

/** Resolves when some agent holds the state. */
async function lockOf(where: Place): Promise<void> {
  await expect.poll(async () => (await commandAt(where, 'status', '--json')).stdout).toContain('"agent":{"pid"');
}
