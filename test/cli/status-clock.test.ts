/** What `status` says by its clock: of a last pass that lies ahead, and of a loop that stands still. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock } from '../../src/edges/state/lock.ts';
import { writeHeartbeat } from '../../src/edges/state/state-directory.ts';
import { type CommandsWorld, commandsWorld, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

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
function daemonAt({ at: { state } }: CommandsWorld, said: { beganAgoMs: number; silentForMs: number }): void {
  const lock = acquireLock(state, { command: 'run', pid: 2 ** 30 });
  onTestFinished(() => lock.release());
  lock.describe({ since: new Date(Date.now() - said.beganAgoMs).toISOString() });
  writeHeartbeat(state, { untilMs: Date.now() + said.silentForMs });
}

const hourMs = 3_600_000;
const stalled = { beganAgoMs: hourMs, silentForMs: -600_000 };

test('a daemon whose loop stands still is asked for no rollback, and forget says when it takes that up', async () => {
  const files = { 'r-1.csv': longFile({ A: { '2026-01': 1 } }), 'r-2.csv': longFile({ B: { '2026-01': 1 } }) };
  const world = await commandsWorld({ revenue: csv('r-*.csv') }, files);
  const { run, json, at } = world;
  await run('sync');
  await at.remove('r-1.csv');
  await run('sync');
  daemonAt(world, stalled);
  const { code, stderr } = await run('rollback', '1');
  expect(code).toBe(75);
  expect(stderr).toMatch(
    /makes no pass: its loop was to move by .*Z and has not\n {2}"driver-sync status" says what to do\n$/,
  );
  expect(await json('status')).toMatchObject({ decisions: [] });
  expect((await run('forget', 'revenue', 'r-1.csv', '--yes')).stdout).toContain(
    'the agent takes it up once its loop moves: see "driver-sync status"\n',
  );
});

test('a daemon whose loop stands still is not well: since when is said, and --exit-code is 75 as --live is', async () => {
  const world = await twoPushes();
  const { run, json } = world;
  daemonAt(world, stalled);
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
  const world = await twoPushes();
  const { run, json } = world;
  daemonAt(world, said);
  expect(await json('status')).not.toHaveProperty('stalledSince');
  expect((await run('status')).stdout).toContain('all is well');
  expect((await run('status', '--exit-code')).code).toBe(0);
});
