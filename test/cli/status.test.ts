/** `status`: what it says, and the exit codes that monitors ask it for. */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock } from '../../src/edges/state/lock.ts';
import { writeHeartbeat } from '../../src/edges/state/state-directory.ts';
import { shapes } from '../support/command-line.ts';
import { commandsWorld, manyDrivers, threeSources, twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

test('prints what scripts rely on, and all of it for people', async () => {
  const { at, receiver } = await twoPushes();
  const done = await at.command('status', '--json');
  expect(done.code).toBe(0);
  expect(done.json()).toMatchObject({
    agent: null,
    lastPass: { at: shapes.moment, outcome: 'acknowledged', exit: 0 },
    sources: [{ ...shapes.source, name: 'revenue', drivers: 2, points: 3 }],
    held: [],
    lastPush: { id: 2, at: shapes.moment, outcome: 'acknowledged', digest: receiver.posts[1]?.digest },
    lastAcknowledged: { id: 2, at: shapes.moment, digest: receiver.posts[1]?.digest, drivers: 2, points: 3 },
  });
  const shown = await at.command('status');
  for (const word of ['not running', 'acknowledged', 'revenue']) expect(shown.stdout).toContain(word);
});

test('shows what is held, since when and why', async () => {
  const { at, run, json } = await commandsWorld({ revenue: csv('a.csv') }, { 'a.csv': manyDrivers(20) });
  await run('sync');
  await at.write('a.csv', manyDrivers(3));
  await run('sync');
  expect(await json('status')).toMatchObject({
    held: [
      { source: 'revenue', digest: shapes.digest, reason: expect.stringMatching(/17 of 20/), since: shapes.moment },
    ],
    lastPass: { outcome: 'unchanged', exit: 4 },
  });
});

test('--exit-code is that of the last pass, or 75 where it is older than --max-age', async () => {
  const { at, run } = await twoPushes();
  expect((await run('status', '--exit-code', '--max-age', '26h')).code).toBe(0);
  await at.remove('a.csv');
  expect((await run('sync')).code).toBe(3);
  expect((await run('status')).code).toBe(0);
  expect((await run('status', '--exit-code')).code).toBe(3);
  expect((await run('status', '--exit-code', '--max-age', '0s')).code).toBe(75);
  const refused = await run('status', '--exit-code', '--max-age', 'soon', '--json');
  expect(refused.code).toBe(64);
  expect(refused.json()).toMatchObject({ exit: 64 });
});

test('--max-age without --exit-code is refused: a monitor would see 0 for ever', async () => {
  const { run } = await twoPushes();
  expect(await run('status', '--max-age', '0s')).toMatchObject({
    code: 64,
    stdout: '',
    stderr: [
      'driver-sync: --max-age says nothing without --exit-code',
      '  driver-sync status --exit-code --max-age 0s',
      '',
    ].join('\n'),
  });
});

test.each([
  ['--exit-code', '--live and --exit-code ask for two exit codes'],
  ['--max-age=1h', '--max-age says nothing without --exit-code'],
])('--live with %s is refused: it would hide what the last pass came to', async (option, said) => {
  const { run } = await twoPushes();
  const { code, stdout, stderr } = await run('status', '--live', option);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(said);
});

test('says that all is well only where nothing is carried, held, blocked or not pushed yet', async () => {
  const { at, run } = await threeSources();
  const well = 'all is well';
  await run('sync');
  expect((await run('status')).stdout).toContain(well);
  await at.write('revenue.csv', manyDrivers(3));
  await run('plan');
  expect((await run('status')).stdout).not.toContain(well);
  await at.write('revenue.csv', manyDrivers(20));
  await run('sync');
  expect((await run('status')).stdout).toContain(well);
  await run('rollback', '1');
  expect((await run('status')).stdout).not.toContain(well);
  await run('sync');
  await at.write('costs.csv', longFile({ Rent: { '2026-01': '-7.50' } }));
  await at.remove('staff.csv');
  await run('sync');
  await run('sync');
  expect((await run('status')).stdout).not.toContain(well);
});

test('does not say that all is well after a rollback that the service may have taken', async () => {
  const { run, receiver } = await twoPushes();
  receiver.answer({ status: 503, headers: { 'retry-after': '3600' } });
  expect((await run('rollback', '1')).code).toBe(75);
  const { stdout } = await run('status');
  expect(stdout).toMatch(/^last pass +.*: acknowledged$/m);
  expect(stdout).toMatch(/^last push +push 3, .*: unreachable: 503/m);
});

test('--state without --live is refused: all else is of the directory that the config names', async () => {
  const { run } = await twoPushes();
  expect(await run('status', '--state', 'x')).toMatchObject({
    code: 64,
    stdout: '',
    stderr: expect.stringContaining('--state says nothing without --live'),
  });
});

test.each([
  ['is empty', ''],
  ['is no mapping', '- x\n'],
  ['names another state directory', 'state: other\n'],
  ['is away', undefined],
])('--live with --state finds the daemon there though the config %s', async (_, text) => {
  const { at, run } = await twoPushes();
  const lock = acquireLock(at.state, { command: 'run', pid: 7 });
  onTestFinished(() => lock.release());
  writeHeartbeat(at.state, { untilMs: Date.now() + 60_000 });
  if (text === undefined) await at.remove('driver-sync.yaml');
  else await at.write('driver-sync.yaml', text);
  expect((await run('status', '--live')).code).not.toBe(0);
  expect(await run('status', '--live', '--state', at.state)).toMatchObject({
    code: 0,
    stdout: 'the agent is alive, pid 7\n',
    stderr: '',
  });
  lock.release();
  expect((await run('status', '--live', '--state', at.state)).code).not.toBe(0);
});

test('--live looks where the config says first, also with --state', async () => {
  const { at, run } = await twoPushes();
  const lock = acquireLock(at.state, { command: 'run', pid: 7 });
  onTestFinished(() => lock.release());
  writeHeartbeat(at.state, { untilMs: Date.now() + 60_000 });
  expect((await run('status', '--live', '--state', path.join(at.dir, 'no', 'such'))).code).toBe(0);
  writeHeartbeat(at.state, { untilMs: Date.now() - 1 });
  expect(await run('status', '--live', '--state', path.join(at.dir, 'no', 'such'))).toMatchObject({
    code: 75,
    stdout: 'the agent with pid 7 has not moved for too long\n',
  });
});

test('--live is not 0 without a daemon', async () => {
  const { run } = await twoPushes();
  expect((await run('status', '--live')).code).not.toBe(0);
});

test('--live finds no daemon where a file stands in the place of the state directory', async () => {
  const { at, run } = await twoPushes();
  await rm(at.state, { recursive: true });
  await writeFile(at.state, '');
  expect(await run('status', '--live')).toMatchObject({ code: 75, stderr: '' });
});
