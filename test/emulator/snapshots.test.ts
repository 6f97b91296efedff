/** Named snapshots, going back to them, and emulators that are made of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { runsOf } from '../support/campaign.ts';
import { driver, emulatorWorld, push, temporaryDirectory } from '../support/emulator-world.ts';
import { routingWorld, slugsOf, worldOf } from '../support/routing-world.ts';

const ids = (emulator: Emulator) => emulator.drivers().map(({ id }) => id);

describe('a snapshot', () => {
  test('brings back drivers, routers, tasks, credits, catalog and time', async () => {
    const world = await routingWorld();
    const { emulator, createRouter, generate, task, balance } = world;
    await push(emulator, { extDrivers: [driver('a', '0 1'), driver('b', '0 2')] });
    await createRouter('first');
    const id = await generate('video', 'first', { promptText: 'waves', duration: 5 });
    const before = {
      drivers: emulator.drivers(),
      clock: emulator.clock(),
      credits: await balance(),
      task: await task(id),
    };
    emulator.snapshot('seeded');

    emulator.advance(60);
    emulator.catalog({ remove: ['h3_max'] });
    await push(emulator, { shouldDeleteMissing: true, extDrivers: [driver('b', '0 3'), driver('c', '0 4')] });
    await createRouter('second');
    await generate('video', 'second', { promptText: 'waves', duration: 5 });
    expect((await task(id)).status).toBe('SUCCEEDED');
    emulator.faults({ status: 503 });

    emulator.restore('seeded');
    expect({
      drivers: emulator.drivers(),
      clock: emulator.clock(),
      credits: await balance(),
      task: await task(id),
    }).toEqual(before);
    expect(await slugsOf(world)).toEqual(['first']);
    expect((await world.dryRun('video', 'first', { promptText: 'waves', duration: 5 })).body.routing.model).toBe(
      'h3_max',
    );
    // A slug that was given after the snapshot is free again.
    await createRouter('second');
  });

  test('can be gone back to again and again, and is not changed by what follows', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '0 1', '3000000 5')] });
    emulator.snapshot('one');
    await push(emulator, { extDrivers: [driver('b', '0 2')] });
    emulator.snapshot('two');
    for (let round = 0; round < 20; round++) {
      await push(emulator, { extDrivers: [driver('a', '0 9'), driver('c', '0 3')] });
      emulator.restore(round % 2 === 0 ? 'one' : 'two');
      expect(ids(emulator)).toEqual(round % 2 === 0 ? ['a'] : ['a', 'b']);
      expect(emulator.drivers()[0]).toEqual(driver('a', '0 1', '3000000 5'));
    }
    emulator.reset();
    expect(ids(emulator)).toEqual([]);
    emulator.restore('two');
    expect(ids(emulator)).toEqual(['a', 'b']);
  });

  test('is taken, listed, restored and deleted by path too', async () => {
    const { call, emulator } = await routingWorld();
    await push(emulator, { extDrivers: [driver('a')] });
    expect((await call('POST', '/_emulator/snapshots', { name: 'seeded' })).body).toEqual({
      name: 'seeded',
      at: expect.stringMatching(/Z$/),
    });
    emulator.reset();
    expect((await call('POST', '/_emulator/snapshots/seeded/restore')).status).toBe(204);
    expect(ids(emulator)).toEqual(['a']);
    expect((await call('GET', '/_emulator/snapshots')).body.snapshots).toMatchObject([{ name: 'seeded' }]);
    expect((await call('DELETE', '/_emulator/snapshots/seeded')).status).toBe(204);
    expect((await call('POST', '/_emulator/snapshots/seeded/restore')).status).toBe(404);
    expect((await call('POST', '/_emulator/snapshots', { name: '' })).status).toBe(400);
    expect((await call('POST', '/_emulator/snapshots', {})).status).toBe(400);
    expect(() => emulator.restore('other')).toThrow('there is no snapshot "other"');
  });

  test('does not change what a restart finds', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    await push(first, { extDrivers: [driver('a', '0 1'), driver('b', '0 1')] });
    first.snapshot('one');
    await push(first, { shouldDeleteMissing: true, extDrivers: [driver('b', '0 2'), driver('c', '0 3')] });
    first.snapshot('two');
    await push(first, { extDrivers: [driver('d', '0 4')] });
    const held = first.drivers();
    await first.close();
    const second = await emulatorWorld({ state });
    expect(second.drivers()).toEqual(held);
    expect(ids(second)).toEqual(['b', 'c', 'd']);
  });
});

describe('a fork', () => {
  test('begins with what there is, and neither sees what the other changes', async () => {
    const world = await routingWorld();
    await push(world.emulator, { extDrivers: [driver('a', '0 1')] });
    await world.createRouter('first');
    const fork = await world.emulator.fork();
    const forked = worldOf(fork);
    await push(fork, { shouldDeleteMissing: true, extDrivers: [driver('b', '0 2')] });
    await forked.createRouter('second');
    await push(world.emulator, { extDrivers: [driver('a', '0 3'), driver('c', '0 4')] });
    expect(fork.drivers()).toEqual([driver('b', '0 2')]);
    expect(world.emulator.drivers()).toEqual([driver('a', '0 3'), driver('c', '0 4')]);
    expect(await slugsOf(forked)).toEqual(['second', 'first']);
    expect(await slugsOf(world)).toEqual(['first']);
    expect(fork.requests()).toHaveLength(3);
    await fork.close();
    expect(world.emulator.drivers()).toHaveLength(2);
  });

  test('may be made of a snapshot, of a fork, and in numbers', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '0 1')] });
    emulator.snapshot('seeded');
    await push(emulator, { extDrivers: [driver('b', '0 2')] });
    const forks = await Promise.all(Array.from({ length: 8 }, () => emulator.fork({ snapshot: 'seeded' })));
    await Promise.all(forks.map((fork, at) => push(fork, { extDrivers: [driver(`own-${at}`)] })));
    const grandchild = await (forks[3] as Emulator).fork();
    expect(ids(grandchild)).toEqual(['a', 'own-3']);
    for (const [at, fork] of forks.entries()) expect(ids(fork)).toEqual(['a', `own-${at}`]);
    expect(ids(emulator)).toEqual(['a', 'b']);
  });

  test('listens at an address of its own, is ended by path, and ends with the emulator that it is of', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '0 1')] });
    const start = async () => {
      const answer = await fetch(`${emulator.url}/_emulator/forks`, { method: 'POST' });
      return ((await answer.json()) as { url: string }).url;
    };
    const [first, second] = [await start(), await start()];
    expect(await (await fetch(`${second}/_emulator/drivers`)).json()).toEqual({ drivers: [driver('a', '0 1')] });
    const end = async () => fetch(`${emulator.url}/_emulator/forks/${new URL(first).port}`, { method: 'DELETE' });
    expect([(await end()).status, (await end()).status]).toEqual([204, 404]);
    await expect(fetch(first)).rejects.toThrow('fetch failed');
    await emulator.close();
    await expect(fetch(second)).rejects.toThrow('fetch failed');
  });

  test('keeps nothing in the state directory', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    await push(first, { extDrivers: [driver('a', '0 1')] });
    const fork = await first.fork();
    await push(fork, { extDrivers: [driver('b', '0 1')] });
    await first.close();
    expect(ids(await emulatorWorld({ state }))).toEqual(['a']);
  });
});

test('whatever is pushed between snapshots, an emulator holds what one without snapshots does', async () => {
  const updates = fc.record({
    shouldDeleteMissing: fc.boolean(),
    extDrivers: fc.array(
      fc
        .record({ id: fc.constantFrom('a', 'b', 'c', 'd'), month: fc.integer({ min: 0, max: 2 }), value: fc.nat(3) })
        .map(({ id, month, value }) => driver(id, `${month * 3_000_000} ${value}`)),
      { maxLength: 4 },
    ),
  });
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: updates.map((update) => ({ update })) },
      { weight: 2, arbitrary: fc.constantFrom('x', 'y').map((take) => ({ take })) },
      { weight: 1, arbitrary: fc.constantFrom('x', 'y').map((restore) => ({ restore })) },
      { weight: 1, arbitrary: fc.constant({ reset: true }) },
    ),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await using layered = await startEmulator();
      const kept = new Map<string, ReturnType<Emulator['drivers']>>();
      await using plain = await startEmulator();
      for (const step of all) {
        if ('update' in step) {
          await push(layered, step.update);
          await push(plain, step.update);
        } else if ('take' in step) {
          layered.snapshot(step.take);
          kept.set(step.take, plain.drivers());
        } else if ('reset' in step) {
          layered.reset();
          plain.reset();
        } else if (kept.has(step.restore)) {
          layered.restore(step.restore);
          await push(plain, { shouldDeleteMissing: true, extDrivers: kept.get(step.restore) ?? [] });
        }
        expect(layered.drivers()).toEqual(plain.drivers());
      }
    }),
    runsOf(15, 80),
  );
});
