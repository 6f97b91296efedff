/** What `status` says by its clock: of a last pass that lies ahead, and of a loop that stands still. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock } from '../../src/edges/state/lock.ts';
import { writeHeartbeat } from '../../src/edges/state/state-directory.ts';
import { type CommandsWorld, twoPushes } from '../support/commands-world.ts';

/** As an agent leaves it whose clock said this. */
function passedAt(dir: string, at: string): void {
  const db = new Database(path.join(dir, '.driver-sync/ledger.db'));
  db.prepare(`UPDATE state SET record = json_set(record, '$.lastPass.at', ?)`).run(at);
  db.close();
}

test('--max-age is not met by a pass that lies ahead of the clock: nobody knows how old it is', async () => {
  const { at, run } = await twoPushes();
  passedAt(at.dir, '2099-01-01T00:00:00.000Z');
  expect(await run('status', '--exit-code', '--max-age', '26h')).toMatchObject({
    code: 75,
    stderr: 'the last pass lies ahead of the clock, at 2099-01-01T00:00:00.000Z: how old it is nobody knows\n',
  });
  expect((await run('status', '--exit-code')).code).toBe(0);
});

test('a pass that broke is the last one until another one has ended, whatever the clock said then', async () => {
  const { at, run, json } = await twoPushes();
  passedAt(at.dir, '2099-01-01T00:00:00.000Z');
  const broken = { at: '2026-01-01T00:00:00.000Z', exit: 75, reason: 'the disk is full' };
  writeHeartbeat(path.join(at.dir, '.driver-sync'), { untilMs: 0, broken });
  expect(await json('status')).toMatchObject({ lastPass: { ...broken, outcome: 'broken' } });
  await run('sync');
  expect(await json('status')).toMatchObject({ lastPass: { outcome: 'unchanged', exit: 0 } });
});

/** As a daemon leaves it that began then and said until when its loop may be silent. */
async function daemonThat(said: { beganAgoMs: number; silentForMs: number }): Promise<CommandsWorld> {
  const world = await twoPushes();
  const { state } = world.at;
  const lock = acquireLock(state, { command: 'run', pid: 2 ** 30 });
  onTestFinished(() => lock.release());
  lock.describe({ since: new Date(Date.now() - said.beganAgoMs).toISOString() });
  writeHeartbeat(state, { untilMs: Date.now() + said.silentForMs });
  return world;
}

const hourMs = 3_600_000;

test('a daemon whose loop stands still is not well: since when is said, and --exit-code is 75 as --live is', async () => {
  const { run, json } = await daemonThat({ beganAgoMs: hourMs, silentForMs: -600_000 });
  const { stdout } = await run('status');
  expect(stdout).toMatch(
    /^agent +running, pid \d+, since .*\nstalled +its loop was to move by .*, 10 min ago, and has not: nothing is read or pushed\n/,
  );
  expect(stdout).toMatch(/\nnext push +none while the loop stands still\n/);
  expect(stdout).not.toContain('all is well');
  const { stalledSince } = await json<{ stalledSince: string }>('status');
  expect(Date.now() - Date.parse(stalledSince)).toBeGreaterThanOrEqual(600_000);
  expect(await run('status', '--exit-code')).toMatchObject({
    code: 75,
    stderr: `the agent with pid ${2 ** 30} has not moved for too long: it was to move by ${stalledSince}\n`,
  });
  expect((await run('status', '--live')).code).toBe(75);
});

test.each([
  ['moves', { beganAgoMs: hourMs, silentForMs: 60_000 }],
  ['has just begun and finds the heartbeat of the one before it', { beganAgoMs: 1000, silentForMs: -hourMs }],
])('a daemon that %s does not stand still', async (_, said) => {
  const { run, json } = await daemonThat(said);
  expect(await json('status')).not.toHaveProperty('stalledSince');
  expect((await run('status')).stdout).toContain('all is well');
  expect((await run('status', '--exit-code')).code).toBe(0);
});
