/** What an emulator begins with. */
import { expect, onTestFinished, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, temporaryDirectory } from '../support/emulator-world.ts';
import { routingWorld, slugsOf } from '../support/routing-world.ts';

const fixtures = {
  drivers: [driver('a', '1772323200 12.50'), driver('b')],
  routers: [
    { slug: 'draft', name: 'Draft' },
    { slug: 'final', name: 'Final', settings: { optimizeFor: 'quality' as const } },
  ],
  credits: 4711,
  now: '2026-03-01T00:00:00Z',
  speed: 0,
  catalog: { remove: ['h3_max'] },
  faults: { seed: 7, faults: [{ status: 503, path: '/v1/tasks/*' }] },
};

test('are drivers, routers, credits, time, catalog and faults, all in one', async () => {
  const world = await routingWorld({ speed: 1 });
  world.emulator.load(fixtures);
  expect(world.emulator.drivers()).toEqual(fixtures.drivers);
  expect(await slugsOf(world)).toEqual(['final', 'draft']);
  expect(await world.balance()).toBe(4711);
  expect(world.emulator.clock()).toEqual({ now: new Date('2026-03-01T00:00:00Z'), speed: 0 });
  expect((await world.dryRun('video', 'draft', { promptText: 'waves' })).body.routing.model).not.toBe('h3_max');
  expect((await world.call('GET', '/v1/tasks/x')).status).toBe(503);
});

test('are added to what there is, by path too', async () => {
  const { call, emulator } = await routingWorld();
  emulator.load({ drivers: [driver('c', '0 1')] });
  expect((await call('POST', '/_emulator/fixtures', { drivers: fixtures.drivers })).status).toBe(200);
  expect(emulator.drivers().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(emulator.requests()).toEqual([]);
});

test.for([
  [{ drivers: [{ id: 'x', path: [], timeSeries: [] }] }, 400],
  [{ routers: [{ slug: 'Draft', name: 'x' }] }, 400],
  [
    {
      routers: [
        { slug: 'new', name: 'x' },
        { slug: 'taken', name: 'x' },
      ],
    },
    409,
  ],
  [{ drivers: [driver('x')], now: '1999-01-01T00:00:00Z' }, 409],
  [{ routers: [{ slug: 'new', name: 'x' }], catalog: { remove: 'all' } }, 400],
  [{ tasks: [] }, 400],
  [{ now: '0001-01-01T00:00:00Z' }, 400],
  [{ speed: 1e9 }, 400],
] as const)('that are wrong change nothing: %j', async ([wrong, status]) => {
  const world = await routingWorld();
  await world.createRouter('taken');
  const before = world.emulator.clock();
  expect((await world.call('POST', '/_emulator/fixtures', wrong)).status).toBe(status);
  expect(world.emulator.drivers()).toEqual([]);
  expect(await slugsOf(world)).toEqual(['taken']);
  expect(world.emulator.clock()).toEqual(before);
});

test.for([
  [
    {
      routers: [
        { slug: 'a', name: 'A' },
        { slug: 'a', name: 'B' },
      ],
    },
    ['routers', 1],
    'the slug "a" is in use',
  ],
  [
    { routers: [{ slug: 'a', name: 'A', settings: { models: { mode: 'allowlist_only', ids: ['gen4.5', 'gen9'] } } }] },
    ['routers', 0, 'settings', 'models', 'ids', 1],
    'there is no model "gen9"',
  ],
  [{ catalog: { add: [{ id: 'x' }] } }, ['catalog', 'add', 0, 'modality'], 'Invalid'],
  [{ catalog: { remove: ['gen9'] } }, ['catalog', 'remove', 0], 'there is no model gen9'],
  [{ drivers: [driver('')] }, ['drivers', 0, 'id'], 'must not be empty'],
] as const)('that are wrong are refused with the place in them: %j', async ([wrong, path, message]) => {
  const { call } = await routingWorld();
  const { body } = await call('POST', '/_emulator/fixtures', wrong);
  expect(body.issues[0]).toMatchObject({ path, message: expect.stringContaining(message) });
  await expect(startEmulator({ fixtures: wrong })).rejects.toMatchObject({
    name: 'FixturesError',
    message: expect.stringContaining(`the fixtures are not valid at ${path.join('.')}: ${message}`),
  });
});

test('can be what an emulator is started with, in the place of what its state has kept', async () => {
  const state = await temporaryDirectory();
  const first = await startEmulator({ state, fixtures });
  expect(first.drivers()).toEqual(fixtures.drivers);
  await first.close();
  const emulator = await startEmulator({ state, fixtures: { drivers: [driver('c')] }, faults: { faults: [] } });
  onTestFinished(() => emulator.close());
  const idsOf = (one: Emulator) => one.drivers().map(({ id }) => id);
  expect(idsOf(emulator)).toEqual(['c']);
  const fork = await emulator.fork();
  emulator.reset();
  expect([idsOf(emulator), idsOf(fork)]).toEqual([[], ['c']]);
  emulator.restore('fixtures');
  expect(idsOf(emulator)).toEqual(['c']);
  await expect(startEmulator({ fixtures, faults: { faults: [] } })).rejects.toThrow('not valid at faults');
});

test.for(['/_emulator/fixtures', '/_emulator/catalog', '/_emulator/faults'])(
  'what %s is given is UTF-8, and has each key once',
  async (path) => {
    const { emulator } = await routingWorld();
    const answerTo = async (bytes: Buffer) => {
      const answer = await emulator.fetch(path, { method: 'POST', body: new Uint8Array(bytes) });
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    const one = path.endsWith('faults') ? '"status":503' : '"remove":["h3_max"]';
    const catalog = path.endsWith('catalog') || path.endsWith('faults');
    const text = catalog ? `{${one}}` : `{"catalog":{${one}}}`;
    const [key = ''] = /\w+/.exec(one) ?? [];
    const place = catalog ? key : `catalog.${key}`;
    expect(await answerTo(Buffer.from(text.replace('}', '\xE9}'), 'latin1'))).toEqual([
      400,
      `not JSON: invalid UTF-8 at byte ${text.indexOf('}')}`,
    ]);
    expect(await answerTo(Buffer.from(text.replace(one, `${one},${one}`)))).toEqual([
      400,
      `not clear: ${place} is given twice`,
    ]);
    expect(await answerTo(Buffer.from(`\uFEFF${text.slice(0, -1)}`))).toEqual([
      400,
      `not JSON: it ends where "}" should be at byte ${text.length + 2}`,
    ]);
    expect((await answerTo(Buffer.from(`\uFEFF${text}`)))[0]).toBe(200);
  },
);

test('have routers as a POST takes them, with --strict too', async () => {
  const nameless = { routers: [{ slug: 'draft' }] };
  const half = { routers: [{ slug: 'half', name: 'Half', settings: { maxCreditsPerGeneration: { video: 0.5 } } }] };
  const statuses = async (strict: boolean) => {
    const { call, emulator } = await routingWorld({ strict });
    const loaded: number[] = [];
    for (const given of [nameless, half]) loaded.push((await call('POST', '/_emulator/fixtures', given)).status);
    const headers = { authorization: 'Bearer key', 'x-runway-version': '2024-11-06' };
    const { data } = (await (await emulator.fetch('/v1/routers', { headers })).json()) as { data: { name: string }[] };
    return [...loaded, ...data.map(({ name }) => name)];
  };
  expect(await statuses(false)).toEqual([400, 200, 'Half']);
  expect(await statuses(true)).toEqual([200, 400, 'draft']);
});
