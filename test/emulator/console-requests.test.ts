/** The requests of the console, as a browser without JavaScript sees them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layOut } from '../../src/emulator/console/json-text.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { read } from '../support/console-world.ts';
import { driver, emulatorWorld, push, send } from '../support/emulator-world.ts';

/** Requests in a list, as `GET /v1/organization`. */
async function listed(emulator: Emulator, query = ''): Promise<string[]> {
  const page = await read(emulator, `/console/requests${query}`);
  return [...page.matchAll(/href="\/console\/requests\/\d+"><code>([^<]+)</g)].map(([, request = '']) => request);
}

/** The page of the newest request. */
async function newest(emulator: Emulator): Promise<string> {
  const [, path = ''] = /href="(\/console\/requests\/\d+)"/.exec(await read(emulator, '/console/requests')) ?? [];
  return read(emulator, path);
}

test('requests are found by how they were answered, and by what they say', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [driver('a')] });
  await push(emulator, { extDrivers: [{ id: '' }] });
  await emulator.fetch('/v1/organization', { headers: { 'x-agent': 'Somebody' } });
  const update = 'POST /api/extDrivers/update';
  expect(await listed(emulator)).toEqual(['GET /v1/organization', update, update]);
  expect(await listed(emulator, '?answer=refused')).toEqual([update]);
  expect(await listed(emulator, '?answer=answered')).toEqual(['GET /v1/organization', update]);
  expect(await listed(emulator, '?answer=changes')).toEqual([update]);
  expect(await listed(emulator, '?find=organ')).toEqual(['GET /v1/organization']);
  expect(await listed(emulator, '?find=somebody')).toEqual(['GET /v1/organization']);
  expect(await listed(emulator, '?answer=refused&find=400')).toEqual([update]);
  const none = await read(emulator, '/console/requests?find=nothing');
  expect(none).toContain('No request is like that');
  expect(none).toMatch(/changes\s*<span class="count">1</);
});

test('a body of nothing but brackets is a page of about a megabyte, and not of hundreds', async () => {
  const emulator = await emulatorWorld();
  await emulator.fetch('/v1/routers', { method: 'POST', body: '['.repeat(16 * 1024) });
  const page = await newest(emulator);
  expect(page).toContain(`[\n${'  '.repeat(32)}[`);
  expect(page.length).toBeLessThan(2_000_000);
});

test('a push that says what is held already was applied, and what asks for no change was not', async () => {
  const emulator = await emulatorWorld();
  const post = async (path: string, body: object, method = 'POST') =>
    void (await emulator.fetch(path, { method, body: JSON.stringify(body) }));
  const isApplied = () => emulator.requests()[0]?.applied;
  for (const shouldDeleteMissing of [false, true]) {
    await push(emulator, { extDrivers: [driver('a')], shouldDeleteMissing });
    expect(isApplied()).toBe(true);
    expect(await newest(emulator)).toMatch(/<dt>Applied<\/dt>\s*<dd>\s*yes/);
  }
  await post('/v1/routers', { slug: 'a', name: 'A' });
  expect(isApplied()).toBe(true);
  await post('/v1/routers/a', { name: 'A' }, 'PATCH');
  expect(isApplied()).toBe(true);
  const input = { promptText: 'waves' };
  for (const [path, body, method] of [
    ['/v1/routers/a', {}, 'PATCH'],
    ['/v1/generate/image', { configId: 'a', input, dryRun: true }, 'POST'],
    ['/v1/generate/image', { configId: 'a', input: {} }, 'POST'],
  ] as const) {
    await post(path, body, method);
    expect(isApplied()).toBe(false);
    expect(await newest(emulator)).toMatch(/<dt>Applied<\/dt>\s*<dd>\s*no/);
  }
});

test('a request has a page with what was received and what was answered', async () => {
  const emulator = await emulatorWorld();
  const body = '{"extDrivers":[{"id":"a","path":["<b>"],"timeSeries":[{"time":"1767225600","value":1250.50}]}]}';
  await send(emulator, body, { 'x-agent': 'Somebody', authorization: 'Bearer very-secret-key' });
  const page = await newest(emulator);
  expect(page).toMatch(/<h1>\s*<code class="breaks">POST \/api\/extDrivers\/update<\/code>/);
  expect(page).toMatch(/<dt>x-agent<\/dt>\s*<dd><code class="breaks">Somebody</);
  expect(page).toMatch(/<dt>authorization<\/dt>\s*<dd><code class="breaks">Bearer \*\*\*</);
  expect(page).toContain('      &quot;path&quot;: [\n        &quot;&lt;b&gt;&quot;\n      ]');
  expect(page).toContain('&quot;value&quot;: 1250.50');
  expect(page).toMatch(/id="answered".*&quot;error&quot;/s);
  expect(page).not.toContain('very-secret-key');
  expect((await emulator.fetch('/console/requests/999')).status).toBe(404);
});

test('a body that is no text, or longer than what is kept, says so', async () => {
  const emulator = await emulatorWorld();
  await send(emulator, new Uint8Array([0xff, 0xfe, 0]));
  expect(await newest(emulator)).toMatch(/\/\/4A<.*It is not text/s);
  await push(emulator, { extDrivers: [driver('x'.repeat(2_000_000))] });
  expect(await newest(emulator)).toContain('Only the beginning is kept');
  await emulator.fetch('/v1/organization');
  expect(await newest(emulator)).toContain('It had no body.');
});

test('more than a page of requests goes on at the older ones, with the same choice', async () => {
  const emulator = await emulatorWorld();
  for (let count = 1; count <= 102; count++) await emulator.fetch(count === 2 ? '/v1/other' : `/v1/nothing-${count}`);
  const page = await read(emulator, '/console/requests?find=nothing');
  expect(page).not.toContain('/v1/nothing-1<');
  const [, older = ''] = /href="\/console\/requests([^"]+)">Older requests/.exec(page) ?? [];
  expect(await listed(emulator, older.replaceAll('&amp;', '&'))).toEqual(['GET /v1/nothing-1']);
});

test('from a request one comes to the next newer and the next older one', async () => {
  const emulator = await emulatorWorld();
  for (const name of ['one', 'two', 'three']) await emulator.fetch(`/v1/${name}`);
  const [, middle = ''] =
    /href="(\/console\/requests\/\d+)"><code>GET \/v1\/two/.exec(await read(emulator, '/console/requests')) ?? [];
  const page = await read(emulator, middle);
  const to = async (name: string): Promise<string> =>
    read(emulator, new RegExp(`href="(/console/requests/\\d+)">${name}<`).exec(page)?.[1] ?? '');
  expect(await to('Newer')).toContain('GET /v1/three');
  expect(await to('Older')).toContain('GET /v1/one');
});

test('a list that is paused stays as it is, with the same choice', async () => {
  const emulator = await emulatorWorld();
  await emulator.fetch('/v1/organization');
  const live = await read(emulator, '/console/requests?answer=answered');
  expect(live).toContain('data-events');
  const [, pause = ''] = /href="([^"]+)">Pause</.exec(live) ?? [];
  const paused = await read(emulator, pause.replaceAll('&amp;', '&'));
  expect(paused).not.toContain('data-events');
  expect(/href="([^"]+)">Go on</.exec(paused)?.[1]).toContain('answer=answered');
});

test('laid out for reading, JSON says the same, and no number of it changes', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      const laid = layOut(json);
      expect(JSON.parse(laid)).toEqual(JSON.parse(json));
    }),
  );
  expect(layOut('{"value":0.10000000000000000001,"none":[]}')).toBe(
    '{\n  "value": 0.10000000000000000001,\n  "none": []\n}',
  );
  expect(layOut('{"a":[1,{"b":"cu')).toBe('{\n  "a": [\n    1,\n    {\n      "b": "cu');
  expect(layOut('plain, [text]')).toBe('plain, [text]');
});
