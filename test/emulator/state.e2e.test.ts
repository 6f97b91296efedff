/** State directories: their content, lock and modes, and the time and limits after a restart. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { openDatabase } from '../../src/emulator/database.ts';
import { EmulatorClock } from '../../src/emulator/routing/clock.ts';
import { RoutingStore } from '../../src/emulator/routing/store.ts';
import { executable } from '../support/built.ts';
import { commandLine } from '../support/command-line.ts';
import { driver, push, temporaryDirectory } from '../support/emulator-world.ts';
import { routingWorld } from '../support/routing-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5 };

/** Makes a router of one model and `count` tasks of it; one at a time may run. */
async function tasksOf(world: RoutingWorld, model: string, count: number): Promise<string[]> {
  await world.createRouter('only', { models: { mode: 'allowlist_only', ids: [model] } });
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await world.generate('video', 'only', video));
  return ids;
}

async function statuses(world: RoutingWorld, ids: readonly string[]): Promise<string[]> {
  const tasks = await Promise.all(ids.map((id) => world.task(id)));
  return tasks.map(({ status }) => status);
}

interface OtherProcess {
  readonly url: string;
  readonly kill: () => Promise<void>;
  /** Ends the limit for its files. */
  readonly makeRoom: () => void;
}

/** An emulator in another process, whose files may have at most so many KiB. */
async function otherProcess(state: string, filesKiBMax?: number): Promise<OtherProcess> {
  const index = new URL('../../src/emulator/index.ts', import.meta.url).href;
  const program = `
    import { startEmulator } from ${JSON.stringify(index)};
    const { url } = await startEmulator({ state: ${JSON.stringify(state)}, speed: 0 });
    process.stdout.write(url);`;
  const limit = filesKiBMax === undefined ? '' : `trap '' XFSZ; ulimit -S -f ${filesKiBMax}; `;
  const arguments_ = ['-c', `${limit}exec "$0" "$@"`, process.execPath, '--input-type=module', '--eval', program];
  const child = spawn('bash', arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  onTestFinished(kill);
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  const makeRoom = (): void => void execFileSync('prlimit', [`--pid=${child.pid}`, '--fsize=unlimited:']);
  return { url: url.toString(), kill, makeRoom };
}

describe('a state directory', () => {
  test('is held by one emulator, also of the same process, until that ends', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    await expect(startEmulator({ state })).rejects.toMatchObject({ name: 'StateError', code: 'held' });
    await first.close();
    await (await startEmulator({ state })).close();
  });

  test('is free the moment its emulator is killed, and has everything that was answered', async () => {
    const state = await temporaryDirectory();
    const other = await otherProcess(state);
    await expect(startEmulator({ state })).rejects.toMatchObject({
      message: `another emulator holds the state directory ${state}`,
    });
    const pusher = { fetch: (path: string, init?: RequestInit) => fetch(other.url + path, init) };
    expect(await push(pusher, { extDrivers: [driver('a', '0 1')] })).toBe(200);
    await other.kill();
    const { emulator } = await routingWorld({ state });
    expect(emulator.drivers()).toEqual([driver('a', '0 1')]);
    expect(emulator.requests()).toMatchObject([{ id: 1, status: 200, applied: true }]);
  });

  test.runIf(process.platform === 'linux')(
    'on a full disk takes nothing, keeps all that was answered, and goes on once there is room',
    async () => {
      const state = await temporaryDirectory();
      const { url, kill, makeRoom } = await otherProcess(state, 300);
      const ask = (path: string, body?: unknown): Promise<Response> =>
        fetch(url + path, { method: 'POST', ...(body !== undefined && { body: JSON.stringify(body) }) });
      const see = async (path: string): Promise<unknown> => (await fetch(url + path)).json();
      const held = (): Promise<unknown[]> =>
        Promise.all(['drivers', 'clock', 'faults', 'catalog', 'snapshots'].map((part) => see(`/_emulator/${part}`)));
      await ask('/v1/routers', { slug: 'draft', name: 'Draft' });
      await ask('/_emulator/faults', { path: '/none', status: 503 });
      await ask('/_emulator/snapshots', { name: 'before' });
      await ask('/api/extDrivers/update', { extDrivers: [driver('a', '0 1')] });
      const large = { shouldDeleteMissing: true, extDrivers: [driver('large'.repeat(100_000), '0 1')] };
      const refused = await ask('/api/extDrivers/update', large);
      expect([refused.status, await refused.text()]).toEqual([
        500,
        expect.stringMatching(/^\{"error":"the emulator cannot write what it holds: [^\\]+"\}$/),
      ]);
      let left: object[] = [];
      while ((await ask('/v1/routers', { slug: 'x', name: 'x'.repeat(255), description: 'x'.repeat(2_000) })).ok) {
        const { ok } = await fetch(`${url}/v1/routers/x`, { method: 'DELETE' });
        left = ok ? [] : [{ slug: 'x' }];
      }
      // The smallest of all writes: time stands still already.
      while ((await ask('/_emulator/clock', { speed: 0 })).ok);
      const before = await held();
      expect(before).toMatchObject([{ drivers: [driver('a', '0 1')] }, {}, { faults: [{ path: '/none' }] }, {}, {}]);
      const fixtures = { now: '2099-01-01T00:00:00Z', speed: 5, catalog: { models: [] }, drivers: large.extDrivers };
      for (const [path, body] of [
        ['/_emulator/reset'],
        ['/_emulator/snapshots/before/restore'],
        ['/_emulator/snapshots', { name: 'after' }],
        ['/_emulator/fixtures', fixtures],
        ['/_emulator/clock', { speed: 5 }],
        ['/_emulator/catalog', { models: [] }],
      ] as const) {
        expect([path, (await ask(path, body)).status]).toEqual([path, 500]);
        expect([path, await held()]).toEqual([path, before]);
      }
      makeRoom();
      expect((await ask('/api/extDrivers/update', { extDrivers: [driver('b', '0 2')] })).status).toBe(200);
      expect((await ask('/_emulator/snapshots', { name: 'after' })).status).toBe(200);
      expect((await ask('/api/extDrivers/update', { extDrivers: [driver('c', '0 3')] })).status).toBe(200);
      const routers = await see('/v1/routers');
      expect(routers).toMatchObject({ data: [...left, { slug: 'draft' }] });
      await kill();
      const { emulator } = await routingWorld({ state });
      expect(emulator.drivers()).toEqual([driver('a', '0 1'), driver('b', '0 2'), driver('c', '0 3')]);
      expect(await (await emulator.fetch('/v1/routers')).json()).toEqual(routers);
    },
  );

  test.for([0o000, 0o022, 0o077, 0o777])('is for its owner alone with a umask of %o', async (mask) => {
    const state = join(await temporaryDirectory(), 'state');
    const before = process.umask(mask);
    const modes: number[] = [];
    try {
      await using emulator = await startEmulator({ state });
      await push(emulator, { extDrivers: [driver('a', '0 1')] });
      modes.push((await stat(state)).mode & 0o777);
      for (const file of await readdir(state)) modes.push((await stat(join(state, file))).mode & 0o777);
    } finally {
      process.umask(before);
    }
    expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600', '600']);
  });

  test('that was open to others before holds a database that is not, and the command warns of it', async () => {
    const state = join(await temporaryDirectory(), 'state');
    await mkdir(state);
    await chmod(state, 0o755);
    await writeFile(join(state, 'emulator.sqlite'), '', { mode: 0o644 });
    const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', '--state', state]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const warning = text(child.stderr);
    await once(child.stdout, 'data');
    expect((await stat(join(state, 'emulator.sqlite'))).mode & 0o777).toBe(0o600);
    child.kill('SIGTERM');
    expect(await warning).toBe(`warning: the state directory ${state} is open to other users (0755): chmod 700 it\n`);
  });

  test('that is damaged, or of a newer version, is refused with what to do', async () => {
    const damaged = await temporaryDirectory();
    await writeFile(join(damaged, 'emulator.sqlite'), 'no database, and longer than the header of one'.repeat(100));
    await expect(startEmulator({ state: damaged })).rejects.toMatchObject({
      code: 'SQLITE_NOTADB',
      hint: `${join(damaged, 'emulator.sqlite')} is damaged: move it away, or use another directory`,
    });
    const newer = await temporaryDirectory();
    const database = new Database(join(newer, 'emulator.sqlite'));
    database.pragma('user_version = 99');
    database.close();
    await expect(startEmulator({ state: newer })).rejects.toMatchObject({
      code: 'newer',
      hint: 'use a newer driver-sync, or another directory',
    });
  });

  test('is refused where no folder can be made, and Node would try for ever', async () => {
    const state = '/proc/driver-sync/state';
    const child = spawn(process.execPath, [executable, 'emulator', '--listen', '127.0.0.1:0', '--state', state]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const said = text(child.stderr);
    expect(await once(child, 'exit')).toEqual([64, null]);
    expect(await said).toMatch(/^driver-sync: the state directory .* cannot be used: E.*\n {2}name a .*\n$/);
  });

  test('is refused on the command line in one line, with 64, and with 75 while another emulator holds it', async () => {
    const state = await temporaryDirectory();
    await using _holder = await startEmulator({ state });
    const command = ['emulator', '--listen', '127.0.0.1:0', '--state'] as const;
    const held = await commandLine(...command, state);
    expect(held.code).toBe(75);
    expect(held.stderr).toBe(
      `driver-sync: another emulator holds the state directory ${state}\n  end it, or use another directory\n`,
    );
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const unusable = await commandLine(...command, file);
    expect(unusable.code).toBe(64);
    expect(unusable.stderr).toMatch(/^driver-sync: the state directory .* cannot be used: EEXIST.*\n {2}name a .*\n$/);
  });
});

describe('the catalog', () => {
  test('that was posted outlives a restart, and a reset goes back to that of the start', async () => {
    const state = await temporaryDirectory();
    const first = await routingWorld({ state });
    await first.call('POST', '/_emulator/catalog', { remove: ['veo3.1'] });
    const { models } = (await first.call('GET', '/_emulator/catalog')).body;
    await first.emulator.close();
    const second = await routingWorld({ state });
    expect((await second.call('GET', '/_emulator/catalog')).body.models).toEqual(models);
    second.emulator.reset();
    expect((await second.call('GET', '/_emulator/catalog')).body.models).toHaveLength(models.length + 1);
    await second.emulator.close();
    const third = await routingWorld({ state });
    expect((await third.call('GET', '/_emulator/catalog')).body.models).toHaveLength(models.length + 1);
  });

  test('that is named at the start replaces it permanently', async () => {
    const state = await temporaryDirectory();
    const first = await routingWorld({ state });
    first.emulator.catalog({ remove: ['veo3.1'] });
    await first.emulator.close();
    const second = await routingWorld({ state, catalog: { remove: ['gen4.5'] } });
    const left = async (world: RoutingWorld): Promise<string[]> => {
      const { models } = (await world.call('GET', '/_emulator/catalog')).body as { models: { id: string }[] };
      return models.map(({ id }) => id).filter((id) => ['gen4.5', 'veo3.1'].includes(id));
    };
    expect(await left(second)).toEqual(['veo3.1']);
    await second.emulator.close();
    expect(await left(await routingWorld({ state }))).toEqual(['gen4.5', 'veo3.1']);
  });

  test('of another version is refused, unless another one is named', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    first.catalog([]);
    await first.close();
    const database = openDatabase(state);
    database.exec(
      `UPDATE routing SET value = '{"id":"catalog","seq":0,"models":[{"id":"gen9"}]}' WHERE kind = 'catalog'`,
    );
    database.close();
    await expect(startEmulator({ state })).rejects.toMatchObject({ name: 'StateError', code: 'catalog' });
    await (await startEmulator({ state, catalog: [] })).close();
  });
});

describe('time', () => {
  test('that stands still stands still between two lives as well', async () => {
    const state = await temporaryDirectory();
    const first = await routingWorld({ state });
    const ids = await tasksOf(first, 'gen4.5', 1);
    const { body } = await first.call('POST', '/_emulator/advance', { seconds: 0.4 });
    await first.emulator.close();
    const second = await routingWorld({ state });
    expect(await statuses(second, ids)).toEqual(['PENDING']);
    expect((await second.call('POST', '/_emulator/advance', { seconds: 0 })).body).toEqual(body);
  });

  test('never goes back: what was shown before an emulator was killed is past after it', async () => {
    const state = await temporaryDirectory();
    const other = await otherProcess(state);
    const post = async (path: string, body: object): Promise<unknown> =>
      (await fetch(other.url + path, { method: 'POST', body: JSON.stringify(body) })).json();
    await post('/v1/routers', { slug: 'a', name: 'A' });
    const { id } = (await post('/v1/generate/video', { configId: 'a', input: video })) as { id: string };
    await post('/_emulator/advance', { seconds: 4 });
    await other.kill();
    const world = await routingWorld({ state });
    expect(await world.task(id)).toMatchObject({ status: 'RUNNING', progress: 0.77 });
  });

  test('goes on between two lives as fast as it did', () => {
    const database = new Database(':memory:');
    const clockOf = (speed: number) => new EmulatorClock({ store: new RoutingStore(database), speed });
    const fast = clockOf(1_000);
    fast.advance(60 * 60 * 1_000);
    const shownMs = fast.now();
    const stopped = clockOf(0).now();
    expect(stopped).toBeGreaterThanOrEqual(shownMs);
    expect(clockOf(1).now()).toBe(stopped);
  });

  test('keeps the speed that somebody has set, until a start names another or a reset', async () => {
    const state = await temporaryDirectory();
    const speedIn = async (
      options: EmulatorOptions,
      act: (emulator: Emulator) => unknown = () => {},
    ): Promise<number> => {
      await using emulator = await startEmulator({ state, ...options });
      const { speed } = emulator.clock();
      act(emulator);
      return speed;
    };
    expect(await speedIn({}, (emulator) => emulator.clock({ speed: 0 }))).toBe(1);
    expect(await speedIn({}, (emulator) => emulator.load({ speed: 60 }))).toBe(0);
    expect(await speedIn({})).toBe(60);
    expect(await speedIn({ speed: 7 })).toBe(7);
    expect(await speedIn({}, (emulator) => emulator.reset())).toBe(7);
    expect(await speedIn({})).toBe(1);
  });

  test('is not set back with the clock of the machine', () => {
    const database = new Database(':memory:');
    const store = new RoutingStore(database);
    const shownMs = Date.UTC(2900, 0, 1);
    const kept = { id: 'clock', seq: 0, shownMs, realMs: Date.UTC(2800, 0, 1), speed: 1 };
    store.change(() => store.shelf('clock').set(kept));
    expect(new EmulatorClock({ store: new RoutingStore(database), speed: 0 }).now()).toBe(shownMs);
  });
});

describe('tasks that wait', () => {
  test('begin when a restart brings a higher limit, and later ones do not overtake them', async () => {
    const state = await temporaryDirectory();
    const first = await routingWorld({ state });
    const ids = await tasksOf(first, 'gen4.5', 5);
    await first.emulator.close();
    const second = await routingWorld({ state, tier: 2 });
    expect(await statuses(second, ids)).toEqual(['PENDING', 'PENDING', 'PENDING', 'THROTTLED', 'THROTTLED']);
    const later = await second.generate('video', 'only', video);
    expect(await statuses(second, [...ids, later])).toEqual([
      'PENDING',
      'PENDING',
      'PENDING',
      'THROTTLED',
      'THROTTLED',
      'THROTTLED',
    ]);
  });

  test('begin when a catalog gives their model a higher limit', async () => {
    const world = await routingWorld();
    const ids = await tasksOf(world, 'gen4.5', 3);
    expect(await statuses(world, ids)).toEqual(['PENDING', 'THROTTLED', 'THROTTLED']);
    const { models } = (await world.call('GET', '/_emulator/catalog')).body as { models: { id: string }[] };
    const moved = models.filter(({ id }) => id === 'gen4.5').map((model) => ({ ...model, concurrencyGroup: 'image' }));
    world.emulator.catalog({ add: moved });
    world.emulator.advance(1);
    expect(await statuses(world, ids)).toEqual(['RUNNING', 'RUNNING', 'THROTTLED']);
  });
});
