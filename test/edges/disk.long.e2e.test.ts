/** The disk under the state directory: full, or read-only. These tests mount small disks, which only root may. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, expect, onTestFinished, test, vi } from 'vitest';
import { csv, place } from '../support/process.ts';
import { openReceiver } from '../support/receiver.ts';
import { type World, holds, servedWorld, world } from '../support/state-world.ts';

/** A disk of a size, or the test is skipped. */
function disk({ skip }: TestContext, size: string): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'driver-sync-disk-'));
  const { status, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', dir]);
  onTestFinished(() => {
    if (status === 0) spawnSync('umount', ['--lazy', dir]);
    rmSync(dir, { recursive: true });
  });
  if (status !== 0) skip(`no disk can be mounted here${error === undefined ? '' : `: ${error.message}`}`);
  return dir;
}

function remount(dir: string, options: string): void {
  expect(spawnSync('mount', ['-o', `remount,${options}`, dir]).status).toBe(0);
}

/** Leaves so many bytes of a disk, whoever else writes to it meanwhile. */
function fill(dir: string, leftBytes: number): void {
  const ballast = path.join(dir, 'ballast');
  rmSync(ballast, { force: true });
  const { blocks, bsize } = statfsSync(dir);
  const fd = openSync(ballast, 'w');
  try {
    for (let written = 0; written <= blocks * bsize;) written += writeSync(fd, Buffer.alloc(bsize));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(fd);
  }
  truncateSync(ballast, Math.max(0, statSync(ballast).size - leftBytes));
}

function free(dir: string): void {
  rmSync(path.join(dir, 'ballast'));
}

/** An agent that ends well leaves nothing beside its databases; a command that looks does. */
function asLeftByAgent({ state }: World): void {
  for (const suffix of ['wal', 'shm'])
    for (const name of ['ledger', 'buffer']) rmSync(path.join(state, `${name}.db-${suffix}`), { force: true });
}

function expectWhole({ state }: World): void {
  expect(readdirSync(state).filter((name) => name.includes('damaged'))).toEqual([]);
}

const looking = [['status'], ['history'], ['diff', '1', '1'], ['explain', 'north'], ['rejects']];

const changing = Object.fromEntries([...Array(300).keys()].map((id) => [`d${id}`, String(id)]));

test('a disk that is full from the start is named as the reason, and nothing is sent', async (context) => {
  const dir = disk(context, '16k');
  const one = await world({ state: path.join(dir, 'state') });
  const { exit, json } = await one.run<{ error: { code: string; message: string; hint: string } }>('sync');
  expect({ exit, code: json.error.code }).toEqual({ exit: 75, code: 'state.full' });
  expect(json.error.message).toContain(dir);
  expect(json.error.hint).toMatch(/free some space/);
  expect(one.service.posts).toEqual([]);

  remount(dir, 'size=10m');
  expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
});

test('a disk that fills up anywhere in a pass costs nothing but that pass', async (context) => {
  const dir = disk(context, '4m');
  const one = await servedWorld({ state: path.join(dir, 'state') });
  one.write('sales.csv', { north: '0', south: '0', ...changing });
  expect(await one.run('sync')).toMatchObject({ exit: 0 });
  const exits = new Set<number>();
  for (let leftKb = 0; leftKb <= 768; leftKb += 32) {
    const before = holds(one);
    const wanted = { ...changing, north: `1.${leftKb}`, south: '2' };
    one.write('sales.csv', wanted);
    fill(dir, leftKb * 1024);
    const { exit, stderr } = await one.run('sync');
    exits.add(exit);
    expect([0, 75], `with ${leftKb} kB: ${stderr}`).toContain(exit);
    // The disk may also be full when the service has taken it and that cannot be recorded.
    const newest = { ...wanted, office: '300' };
    expect(exit === 0 ? [newest] : [before, newest]).toContainEqual(holds(one));
    expectWhole(one);
    free(dir);
    expect((await one.run('sync')).exit, `after ${leftKb} kB`).toBe(0);
    expect(holds(one)).toEqual(newest);
  }
  expect(exits).toEqual(new Set([0, 75]));
});

test.for(['full', 'ro'])(
  'commands that only look answer on a disk that is %s as they do elsewhere',
  async (state, context) => {
    const dir = disk(context, '4m');
    const one = await servedWorld({ state: path.join(dir, 'state') });
    const answers = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const args of looking) found.push(await one.run(...args));
      return found;
    };
    const before = await answers();
    asLeftByAgent(one);
    if (state === 'full') fill(dir, 0);
    else remount(dir, 'ro');
    expect(await answers()).toEqual(before);
    // What would have to be written is refused, and not lost in a copy.
    expect((await one.run('approve', '0123456789')).exit).not.toBe(0);
    expect((await one.run('forget', 'sales', '--yes')).exit).not.toBe(0);
  },
);

test.for(['full', 'ro'])(
  'plan answers on a disk that is %s, by a copy elsewhere, and leaves nothing there',
  async (state, context) => {
    const dir = disk(context, '4m');
    const one = await servedWorld({ state: path.join(dir, 'state') });
    one.write('sales.csv', { north: '1.75', south: '2' });
    const answer = async (): Promise<unknown> => {
      const { json, ...rest } = await one.run<object>('plan');
      return { ...rest, json: { ...json, nextPush: undefined } };
    };
    const before = await answer();
    asLeftByAgent(one);
    expect(before).toMatchObject({ exit: 2, json: { changes: { points: { update: 3 } } } });
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'driver-sync-elsewhere-'));
    vi.stubEnv('TMPDIR', elsewhere);
    for (const leftBytes of state === 'full' ? [0, 8192, 65_536] : [0]) {
      if (state === 'full') fill(dir, leftBytes);
      else remount(dir, 'ro');
      expect(await answer(), `with ${leftBytes} bytes left`).toEqual(before);
      expect(readdirSync(elsewhere)).toEqual([]);
    }
    // What it would hold is said too, though it cannot be recorded now.
    one.write('rents.csv', {});
    expect(await one.run('plan')).toMatchObject({ exit: 4, json: { sources: [{}, { state: 'held' }] } });
    vi.unstubAllEnvs();
    rmSync(elsewhere, { recursive: true });
  },
);

test('a read-only disk is named as the reason, and sync goes on once it can be written again', async (context) => {
  const dir = disk(context, '4m');
  const one = await servedWorld({ state: path.join(dir, 'state') });
  remount(dir, 'ro');
  one.write('sales.csv', { north: '1.75', south: '2' });
  const { exit, json } = await one.run<{ error: { code: string; message: string; hint: string } }>('sync');
  expect({ exit, code: json.error.code }).toEqual({ exit: 78, code: 'state.unwritable' });
  expect(json.error.message).toContain(one.state);
  expect(json.error.hint).toMatch(/read-only/);
  expect(one.service.posts).toHaveLength(1);
  remount(dir, 'rw');
  expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
});

test('a place where no folder can be made, and Node would try for ever, is named as the reason', async ({ skip }) => {
  if (!existsSync('/proc/self')) skip('there is no /proc');
  const state = '/proc/driver-sync/state';
  const { service } = await servedWorld();
  await using where = await place(
    { destination: { url: service.url }, state, sources: { sales: csv('sales.csv') } },
    {},
  );
  const { code, stderr } = await where.command('sync');
  expect({ code, stderr }).toMatchObject({ code: 78, stderr: expect.stringContaining(state) as string });
});

test('a state directory that its user may not write is named as the reason', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root may write everywhere');
  const one = await servedWorld();
  chmodSync(one.state, 0o500);
  one.write('sales.csv', { north: '1.75', south: '2' });
  const refused = await one.run('sync');
  chmodSync(one.state, 0o700);
  expect(refused).toMatchObject({ exit: 78, json: { error: { code: 'state.unwritable' } } });
  expect(JSON.stringify(refused.json)).toContain(one.state);
  expect(one.service.posts).toHaveLength(1);
  expect(await one.run('sync')).toMatchObject({ exit: 0, json: { outcome: 'acknowledged' } });
});

test('the daemon outlives a full disk, and goes on when there is space', async (context) => {
  const dir = disk(context, '4m');
  mkdirSync(path.join(dir, 'state'));
  await using service = await openReceiver();
  const config = {
    state: path.join(dir, 'state'),
    destination: { url: service.url },
    pushOnChange: '10ms',
    sources: { sales: csv('sales.csv', { poll: '1h' }) },
  };
  await using home = await place(config, { 'sales.csv': 'id,time,value\nnorth,2026-01,1\n' });
  const daemon = await home.daemon();
  await daemon.says(/"msg":"pushed"/);

  fill(dir, 0);
  await home.write('sales.csv', `id,time,value\n${'south,2026-01,1\n'.repeat(100)}north,2026-01,2\n`);
  daemon.kill('SIGUSR2');
  await daemon.says(/the pass broke and is tried again/);
  const live = await home.command('status', '--live');
  expect(live, daemon.stderr).toMatchObject({ code: 0 });
  const shown = await home.command('status', '--json', '--exit-code');
  expect(shown, shown.stderr).toMatchObject({ code: 75 });
  expect(shown.json()).toMatchObject({
    lastPass: { outcome: 'broken', exit: 75, reason: expect.stringMatching(/full|space/), hint: expect.any(String) },
    lastAcknowledged: { id: 1 },
  });
  expect((await home.command('status')).stdout).toMatch(/last pass +.*: broken: .*(full|space)/);

  free(dir);
  daemon.kill('SIGUSR2');
  await daemon.says(/"msg":"pushed"/);
  expect(service.posts.at(-1)?.body).toContain('"value":"2"');
  expect((await home.command('status', '--json')).json()).toMatchObject({ lastPass: { outcome: 'acknowledged' } });
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
});

test('a daemon that is started on a full disk waits for space instead of being restarted over and over', async (context) => {
  const dir = disk(context, '4m');
  mkdirSync(path.join(dir, 'state'));
  fill(dir, 0);
  const config = {
    state: path.join(dir, 'state'),
    destination: { url: 'http://127.0.0.1:9' },
    sources: { sales: csv('sales.csv') },
  };
  await using home = await place(config, { 'sales.csv': 'id,time,value\nnorth,2026-01,1\n' });
  const daemon = home.start('run');
  await daemon.says(/no space left.*tries again/);
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toEqual({ code: 0, signal: undefined });
});
