/** `destination: emulator`: the service inside the agent, and the first run of somebody who has no account. */
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { rows } from '../support/daemon-world.ts';
import { type Place, csv, place } from '../support/process.ts';

const config = { destination: 'emulator', schedule: '15 2 1 1 *', sources: { sales: csv('*.csv', { poll: '1h' }) } };

/** Somebody listens on 8787: this test, or another program, which may end at any time. */
async function busyPort(): Promise<AsyncDisposable & { readonly isOurs: boolean }> {
  const server = createServer();
  server.listen(8787, '127.0.0.1');
  const isOurs = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  return {
    isOurs,
    async [Symbol.asyncDispose]() {
      if (!isOurs) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** The same as `run` while 8787 is in use all the time. */
async function runBeside(where: Place): Promise<Awaited<ReturnType<typeof run>>> {
  for (;;) {
    await using busy = await busyPort();
    const done = await run(where);
    if (busy.isOurs || done.port !== 8787) return done;
  }
}

interface Held {
  readonly drivers: readonly { readonly id: string; readonly timeSeries: readonly unknown[] }[];
}

const heldBy = async (url: string): Promise<Held> => (await fetch(`${url}/_emulator/drivers`)).json() as Promise<Held>;

/** Runs the daemon until it has pushed or found nothing to push, and gives what its emulator holds. */
async function run(where: Place): Promise<{ port: number; held: Held; pushes: number }> {
  await using daemon = where.start('run', '--log-level', 'debug');
  const [, url = ''] = await daemon.says(/emulator: +(http:\/\/127\.0\.0\.1:\d+)\n/);
  await daemon.says(/"msg":"(pushed|nothing to push)"/);
  const held = await heldBy(url);
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toMatchObject({ code: 0 });
  const { pushes } = (await where.command('history', '--json')).json<{ pushes: unknown[] }>();
  return { port: Number(new URL(url).port), held, pushes: pushes.length };
}

test('takes the next port where 8787 is in use, keeps its drivers, and is one address on every port', async () => {
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1.50') });
  const first = await run(where);
  expect(first.held.drivers).toMatchObject([{ id: 'a', timeSeries: [{ time: '1768478400', value: '1.50' }] }]);
  const second = await runBeside(where);
  expect(second.port).toBeGreaterThan(8787);
  expect(second).toMatchObject({ held: first.held, pushes: 1 });
});

test('ends with sync, which says what keeps it up', async () => {
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1.50') });
  expect((await where.command('sync')).stderr).toMatch(
    /^emulator: http:\/\/127\.0\.0\.1:\d+ \(until this ends; "driver-sync run" keeps it up, with its console\)$/m,
  );
});

test('goes on when whoever read its stdout has gone', async () => {
  await using where = await place({ ...config, pushOnChange: '10ms' }, { 'a.csv': rows('a,2026-01,1.50') });
  const daemon = where.start('run');
  const [, url = ''] = await daemon.says(/emulator: +(http:\/\/127\.0\.0\.1:\d+)\n/);
  await daemon.says(/"msg":"pushed"/);
  daemon.deafen();
  for (const value of ['2.50', '3.50']) {
    await where.write('a.csv', rows(`a,2026-01,${value}`));
    await expect.poll(async () => (await heldBy(url)).drivers[0]?.timeSeries).toMatchObject([{ value }]);
  }
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toMatchObject({ code: 0 });
});

test('a sync starts it too, and keeps stdout for its data', async () => {
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1.50') });
  const sync = await where.command('sync', '--json');
  expect(sync.json()).toMatchObject({ outcome: 'acknowledged', exit: 0 });
  expect(sync.stderr).toMatch(/emulator: +http:\/\/127\.0\.0\.1:\d+/);
  expect((await run(where)).held.drivers).toHaveLength(1);
});

test('the sample config shows its drivers in the emulator, and stays quiet about it', async () => {
  const sample = fileURLToPath(new URL('../../config/', import.meta.url));
  const text = readFileSync(path.join(sample, 'driver-sync.yaml'), 'utf8');
  await using where = await place(parse(text) as object, {});
  cpSync(path.join(sample, 'sample'), path.join(where.dir, 'sample'), { recursive: true });
  const { held, pushes } = await run(where);
  expect(pushes).toBe(1);
  expect(held.drivers.length).toBeGreaterThanOrEqual(10);
  expect(held.drivers.some(({ timeSeries }) => timeSeries.length >= 24)).toBe(true);
  expect((await where.command('status', '--exit-code')).code).toBe(0);
});

test('a sync beside the daemon is told who holds the state, and leaves its drivers alone', async () => {
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1.50') });
  await using daemon = where.start('run');
  const [, url = ''] = await daemon.says(/emulator: +(http:\/\/127\.0\.0\.1:\d+)\n/);
  await daemon.says(/"msg":"pushed"/);
  const { code, stderr } = await where.command('sync');
  expect(code).toBe(75);
  expect(stderr).toMatch(/another agent \(pid (\d+), driver-sync run\) holds .*\n.*kill -USR2 \1 /);
  expect((await heldBy(url)).drivers).toHaveLength(1);
  daemon.kill('SIGTERM');
  expect(await daemon.exit).toMatchObject({ code: 0 });
});

test('beside an emulator that was given the same folder, it is told that this one does not end by itself', async () => {
  await using where = await place(config, { 'a.csv': rows('a,2026-01,1.50') });
  await where.command('sync');
  await using emulator = where.start(
    'emulator',
    '--state',
    path.join(where.state, 'emulator'),
    '--listen',
    '127.0.0.1:0',
  );
  await emulator.says(/emulator: +(http:\/\/127\.0\.0\.1:\d+)\n/);
  const { code, stderr } = await where.command('sync');
  expect(code).toBe(75);
  expect(stderr).toMatch(/an emulator that runs by itself holds .*\/emulator\n.*it does not end by itself: stop/);
  expect(stderr).not.toContain('another agent');
  emulator.kill('SIGTERM');
  expect(await emulator.exit).toMatchObject({ code: 0 });
});
