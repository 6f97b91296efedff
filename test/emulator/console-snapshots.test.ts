/** Snapshots and forks in the console: they are kept, gone back to, deleted and started, and what was done is taken back. */
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { createRouter, read, submit, undo } from '../support/console-world.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

const ids = (emulator: Emulator) => emulator.drivers().map(({ id }) => id);

/** Sends a form and returns the page that follows it. */
async function after(emulator: Emulator, path: string, fields: Record<string, string> = {}): Promise<string> {
  const answer = await submit(emulator, path, fields);
  expect(answer.status).toBe(303);
  return read(emulator, answer.headers.get('location') ?? '');
}

const keep = (emulator: Emulator, name: string) => after(emulator, '/console/snapshots', { name });

test('a snapshot is kept with what it holds', async () => {
  const emulator = await emulatorWorld({ credits: 12_345 });
  expect(await read(emulator, '/console/snapshots')).toContain('There are no snapshots');
  await push(emulator, { extDrivers: [driver('a', '0 1'), driver('b', '0 2')] });
  await createRouter(emulator);
  await keep(emulator, 'seeded');
  await push(emulator, { extDrivers: [driver('c', '0 3')] });
  const page = await keep(emulator, 'more');
  expect(page).toContain('Kept as <bdi>more</bdi>');
  const rows = [...page.matchAll(/<tr id="snapshot-(\w+)">.*?<\/tr>/gs)].map(([row, name]) => [
    name,
    ...[...row.matchAll(/data-name="(?:Drivers|Routers|Tasks|Credits)">([^<]*)</g)].map(([, cell]) => cell),
  ]);
  expect(rows).toEqual([
    ['more', '3', '1', '0', '12\u202F345'],
    ['seeded', '2', '1', '0', '12\u202F345'],
  ]);
});

test('a name that is taken or impossible is refused beside its field, and replaces nothing', async () => {
  const emulator = await emulatorWorld();
  await keep(emulator, 'seeded');
  await push(emulator, { extDrivers: [driver('a', '0 1')] });
  for (const [name, status, why] of [
    ['seeded', 409, 'already: choose another name'],
    ['with blanks', 400, 'the name of a snapshot has'],
    ['..', 400, 'the name of a snapshot has'],
    ['', 400, 'the name of a snapshot has'],
  ] as const) {
    const refused = await submit(emulator, '/console/snapshots', { name });
    expect(refused.status, name).toBe(status);
    const page = await refused.text();
    expect(page).toMatch(new RegExp(`role="alert".*<a href="#name">[^<]*${why}`, 's'));
    expect(page).toMatch(/id="name"[^>]*aria-invalid="true"/s);
  }
  emulator.restore('seeded');
  expect(ids(emulator)).toEqual([]);
});

test('going back is asked for, done, and taken back', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a', '0 1')] });
  await keep(emulator, 'seeded');
  await push(emulator, { extDrivers: [driver('b', '0 2')] });
  emulator.faults({ status: 503 });
  const question = await read(emulator, '/console/snapshots/seeded/restore');
  expect(question).toContain('Go back to this snapshot?');
  expect(ids(emulator)).toEqual(['a', 'b']);
  const page = await after(emulator, '/console/snapshots/seeded/restore');
  expect(page).toContain('Went back to: <bdi>seeded</bdi>');
  expect(ids(emulator)).toEqual(['a']);
  expect(emulator.requests()).toEqual([]);
  await push(emulator, { extDrivers: [driver('c', '0 3')] });
  expect(await undo(emulator, page)).toBe(303);
  expect(ids(emulator)).toEqual(['a', 'b']);
  expect(await undo(emulator, page)).toBe(404);
});

test('a deleted snapshot comes back to its place, unless another has its name', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a', '0 1')] });
  for (const name of ['one', 'two']) await keep(emulator, name);
  const deleted = await after(emulator, '/console/snapshots/one/delete');
  expect(deleted).toContain('Deleted: <bdi>snapshot one</bdi>');
  expect(deleted).not.toContain('id="snapshot-one"');
  // Only the deletion that can be taken back still needs the tables of its drivers.
  await push(emulator, { shouldDeleteMissing: true, extDrivers: [] });
  expect(await undo(emulator, deleted)).toBe(303);
  const names = [...(await read(emulator, '/console/snapshots')).matchAll(/id="snapshot-(\w+)"/g)].map(
    ([, name]) => name,
  );
  expect(names).toEqual(['two', 'one']);
  emulator.restore('one');
  expect(ids(emulator)).toEqual(['a']);
  const again = await after(emulator, '/console/snapshots/one/delete');
  await keep(emulator, 'one');
  expect(await undo(emulator, again)).toBe(409);
});

test('emptying is asked for, done, and taken back', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a', '0 1')] });
  const router = await createRouter(emulator);
  expect(await read(emulator, '/console/snapshots/reset')).toContain('Empty the emulator?');
  const page = await after(emulator, '/console/snapshots/reset');
  expect(ids(emulator)).toEqual([]);
  expect(await undo(emulator, page)).toBe(303);
  expect(ids(emulator)).toEqual(['a']);
  expect((await emulator.fetch(router)).status).toBe(200);
});

test('a reset leaves nothing to be taken back', async () => {
  const emulator = await emulatorWorld();
  for (const empty of [() => emulator.reset(), () => emulator.restore('begin')]) {
    emulator.snapshot('begin');
    const router = await createRouter(emulator);
    const page = await after(emulator, `${router}/delete`);
    empty();
    expect(await undo(emulator, page)).toBe(404);
    expect(await (await emulator.fetch('/v1/routers')).json()).toMatchObject({ data: [] });
  }
});

test('a fork is started from a snapshot or from now, listed, and ended after a question', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a', '0 1')] });
  await keep(emulator, 'seeded');
  await push(emulator, { extDrivers: [driver('b', '0 2')] });
  await after(emulator, '/console/forks', { snapshot: 'seeded' });
  const page = await after(emulator, '/console/forks');
  const urls = [...page.matchAll(/href="(http:\/\/127\.0\.0\.1:\d+)\/console"/g)].map(([, url = '']) => url);
  expect(urls).toHaveLength(2);
  const held = async (url: string) =>
    ((await (await fetch(`${url}/_emulator/drivers`)).json()) as { drivers: { id: string }[] }).drivers.map(
      ({ id }) => id,
    );
  expect(await Promise.all(urls.map(held))).toEqual([['a', 'b'], ['a']]);
  expect(await (await emulator.fetch('/_emulator/forks')).json()).toEqual({
    forks: [
      { url: urls[1], port: expect.any(Number), snapshot: 'seeded', at: expect.any(String) },
      { url: urls[0], port: expect.any(Number), snapshot: null, at: expect.any(String) },
    ],
  });
  const { port } = new URL(urls[0] ?? '');
  expect(await read(emulator, `/console/forks/${port}/end`)).toContain('cannot be taken back');
  const ended = await after(emulator, `/console/forks/${port}/end`);
  expect(ended).not.toContain(urls[0]);
  await expect(fetch(`${urls[0]}/_emulator/health`)).rejects.toThrow('fetch failed');
  expect((await emulator.fetch(`/console/forks/${port}/end`)).status).toBe(404);
});

test.for(['/console/snapshots/none/restore', '/console/snapshots/none/delete', '/console/forks/1/end'])(
  'what is not there is not found: %s',
  async (path) => {
    const emulator = await emulatorWorld();
    expect((await emulator.fetch(path)).status).toBe(404);
    expect((await submit(emulator, path, {})).status).toBe(404);
  },
);

test('a fork of a snapshot that is not there is refused', async () => {
  const emulator = await emulatorWorld();
  expect((await submit(emulator, '/console/forks', { snapshot: 'none' })).status).toBe(404);
});
