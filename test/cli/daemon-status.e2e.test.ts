/** What `status` says beside a daemon, and after one that was killed. */
import { expect, test } from 'vitest';
import { acquireLock } from '../../src/edges/state/lock.ts';
import { commandAt } from '../support/command-line.ts';
import { twoPushes } from '../support/commands-world.ts';
import { scene, statusOf, two } from '../support/daemon-scene.ts';

test('status beside a daemon names it, and --live holds while it runs and no longer', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  expect(await statusOf(s.place)).toMatchObject({
    agent: { pid: daemon.pid, since: expect.any(String), configLoadedAt: expect.any(String) },
    lastPass: { outcome: 'acknowledged', exit: 0 },
    nextPush: '2027-01-01T02:15:00.000Z',
    lastAcknowledged: { id: 1, drivers: 1, points: 1 },
  });
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(0);
  daemon.kill('SIGTERM');
  await daemon.exit;
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(75);
});

test('status --live is not satisfied with a daemon that is stopped dead', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  daemon.kill('SIGSTOP');
  // The loop may be silent for a minute, so the heartbeat is aged instead of waited for.
  await s.place.write('.driver-sync/heartbeat', String(Date.now() - 1));
  expect((await commandAt(s.place, 'status', '--live')).code).toBe(75);
});

test('status --live names a sync that is at work, which is no daemon', async () => {
  const { run, at } = await twoPushes();
  using _lock = acquireLock(at.state, { command: 'sync', pid: process.pid });
  expect(await run('status', '--live')).toMatchObject({
    code: 75,
    stdout: `no daemon runs: a driver-sync sync (pid ${process.pid}) is at work\n`,
  });
});

test('status says since when accepted data waits for a push', async () => {
  await using s = await scene({}, { poll: '1s' });
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  expect(await statusOf(s.place)).not.toHaveProperty('unpushedSince');
  await s.place.write('sales.csv', two);
  await daemon.says(/"source accepted"/);
  await expect.poll(() => statusOf(s.place)).toMatchObject({ unpushedSince: expect.any(String) });
  expect((await commandAt(s.place, 'status')).stdout).toMatch(
    /\nwaiting +data that was accepted since .* is not pushed yet\n/,
  );
  daemon.kill('SIGUSR2');
  await s.service.post(2);
  await expect.poll(() => statusOf(s.place)).not.toHaveProperty('unpushedSince');
});

test('status says that a daemon was killed, until another agent came after it', async () => {
  await using s = await scene();
  const daemon = await s.place.daemon();
  await daemon.says(/"pushed"/);
  expect(await statusOf(s.place)).not.toHaveProperty('killed');
  daemon.kill('SIGKILL');
  await daemon.exit;
  expect(await statusOf(s.place)).toMatchObject({
    agent: null,
    killed: { pid: daemon.pid, since: expect.any(String) },
  });
  expect((await commandAt(s.place, 'status')).stdout).toMatch(
    new RegExp(`^agent +not running: .*pid ${daemon.pid}, .* was killed or crashed\n`),
  );
  await commandAt(s.place, 'sync');
  expect(await statusOf(s.place)).not.toHaveProperty('killed');
});
