/** The console, as a browser without JavaScript sees it. Its routers are in console-routers.test.ts. */
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../src/emulator/index.ts';
import { createRouter, read, routerFields, submit } from './console-world.ts';
import { driver, emulatorWorld, push } from './emulator-world.ts';

describe('every page', () => {
  const paths = ['drivers', 'routers', 'routers/new', 'playground', 'tasks', 'requests'].map(
    (path) => `/console/${path}`,
  );

  test.for(paths)('%s loads nothing from another host and runs no inline script', async (path) => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch(path);
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const page = await response.text();
    const links = [...page.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^(?:\/console\/|#)/.test(link))).toEqual([]);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+="/);
  });

  test.for(paths.filter((path) => path !== '/console/routers/new'))(
    '%s says what would fill it, and the command that does',
    async (path) => {
      const emulator = await emulatorWorld();
      expect(await read(emulator, path)).toContain(`<code>curl ${emulator.url}/`);
    },
  );

  test('the assets that pages name are served from the package', async () => {
    const emulator = await emulatorWorld();
    const page = await read(emulator, '/console/drivers');
    const assets = [...page.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, asset = '']) => asset);
    const answers = await Promise.all(assets.map(async (asset) => (await emulator.fetch(asset)).status));
    expect(answers).toEqual([200, 200, 200, 200, 200]);
  });

  test('/console leads to the drivers, and a page that is none says so', async () => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch('/console', { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('/console/drivers');
    expect((await emulator.fetch('/console/nothing')).status).toBe(404);
  });

  test('looking is no request to the service, and meets no fault', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 503 });
    expect((await emulator.fetch('/console/requests')).status).toBe(200);
    expect(emulator.requests()).toEqual([]);
  });
});

describe('who may come in', () => {
  test.for<Record<string, string>>([
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ])('a form of another site is refused: %o', async (headers) => {
    const emulator = await emulatorWorld();
    expect((await submit(emulator, '/console/routers', routerFields(), headers)).status).toBe(403);
    expect((await emulator.fetch('/v1/routers/campaign')).status).toBe(404);
  });

  test('its own form is taken', async () => {
    const emulator = await emulatorWorld();
    const headers = { origin: emulator.url, 'sec-fetch-site': 'same-origin' };
    expect((await submit(emulator, '/console/routers', routerFields(), headers)).status).toBe(303);
  });

  test('a name of the public DNS is refused, which may have been pointed here', async () => {
    const emulator = await emulatorWorld();
    const statusOf = async (host: string) => (await emulator.fetch(`http://${host}/console/drivers`)).status;
    expect(await statusOf('rebound.example.com')).toBe(403);
    expect(await Promise.all(['localhost:1', '[::1]', '192.168.1.7', 'emulator'].map(statusOf))).toEqual([
      200, 200, 200, 200,
    ]);
  });
});

describe('drivers', () => {
  test('names are shown as they are, whatever they hold', async () => {
    const emulator = await emulatorWorld();
    const hostile = `"><img src=x onerror='alert(1)'>&amp;`;
    await push(emulator, { extDrivers: [{ id: hostile, path: [hostile, hostile], timeSeries: [] }] });
    const page = await read(
      emulator,
      `/console/drivers?id=${encodeURIComponent(hostile)}&find=${encodeURIComponent('"<')}`,
    );
    expect(page).not.toContain('<img');
    expect(page).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;');
  });

  test('values are shown as they were sent, by month, newest first', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '1767225600 0.10000000000000000001', '1772323200 -2.50')] });
    const page = await read(emulator, '/console/drivers');
    expect(
      [...page.matchAll(/scope="row">(.*?)<\/th>\s*<td class="number">(.*?)</g)].map(([, ...cells]) => cells),
    ).toEqual([
      ['2026-03', '-2.50'],
      ['2026-01', '0.10000000000000000001'],
    ]);
  });

  test('a time beyond all calendars has no month, and is shown all the same', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '99999999999999999999 1')] });
    expect(await read(emulator, '/console/drivers')).toContain('99999999999999999999');
  });

  test('a search finds drivers by id and path', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('revenue'), driver('cost')] });
    const page = await read(emulator, '/console/drivers?find=REV');
    const [tree] = /<nav class="tree".*?<\/nav>/s.exec(page) ?? [];
    expect(tree).toContain('?id=revenue&amp;find=REV');
    expect(tree).not.toContain('?id=cost');
  });

  test('the last push says which drivers and points it added, changed and removed', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', '1767225600 1', '1769904000 2'), driver('b'), driver('same')] });
    await push(emulator, {
      shouldDeleteMissing: true,
      extDrivers: [driver('a', '1767225600 9', '1772323200 3'), driver('c'), driver('same')],
    });
    const page = await read(emulator, '/console/drivers?id=a');
    for (const change of ['1 driver added', '1 driver changed', '1 driver removed']) expect(page).toContain(change);
    expect(page).toMatch(/2026-01<.*?changed from 1</s);
    expect(page).toMatch(/2026-02<.*?<del>2<\/del>.*?removed</s);
    expect(page).toMatch(/2026-03<.*?>added</s);
  });

  test('a push that is refused is not the last one, and one that changes nothing says so', async () => {
    const emulator = await emulatorWorld();
    const extDrivers = [driver('a', '1767225600 1')];
    await push(emulator, { extDrivers });
    await push(emulator, { extDrivers });
    await push(emulator, { extDrivers: [{ id: '' }] });
    expect(await read(emulator, '/console/drivers')).toContain('It changed nothing');
    emulator.reset();
    expect(await read(emulator, '/console/drivers')).not.toContain('Last push');
  });

  test('a path of a thousand elements is a page like any other', async () => {
    const emulator = await emulatorWorld();
    const path = Array.from({ length: 1_000 }, (_, depth) => `level ${depth}`);
    await push(emulator, { extDrivers: [{ id: 'deep', path, timeSeries: [] }] });
    expect(await read(emulator, '/console/drivers')).toContain('level 999');
  });
});

describe('tasks, log and requests', () => {
  async function generated(): Promise<Emulator> {
    const emulator = await emulatorWorld({ speed: 0 });
    await createRouter(emulator);
    const body = JSON.stringify({ configId: 'campaign', input: { promptText: 'a lighthouse' } });
    const headers = { authorization: 'Bearer very-secret-key' };
    expect((await emulator.fetch('/v1/generate/image', { method: 'POST', body, headers })).status).toBe(200);
    return emulator;
  }

  test('a task is shown with its state, and its output once it has one', async () => {
    const emulator = await generated();
    expect(await read(emulator, '/console/tasks')).toContain('</span>pending');
    emulator.advance(60);
    expect(await read(emulator, '/console/tasks')).toMatch(/<\/span>succeeded.*\/media\//s);
  });

  test('a task is cancelled by its button, and gives its credits back', async () => {
    const emulator = await generated();
    const [, action = ''] = /action="(\/console\/tasks\/[^"]+)"/.exec(await read(emulator, '/console/tasks')) ?? [];
    expect((await submit(emulator, action, {})).status).toBe(303);
    expect(await read(emulator, '/console/tasks')).toContain('There are no tasks');
    expect((await submit(emulator, action, {})).status).toBe(404);
  });

  test('the log of a router has the pick, the reason and the pipeline', async () => {
    const emulator = await generated();
    const [, path = ''] =
      /href="(\/console\/routers\/[^"]+\/log)"/.exec(await read(emulator, '/console/routers')) ?? [];
    expect(await read(emulator, path)).toMatch(/routed.*lowest estimated cost.*allow_deny/s);
    expect((await emulator.fetch(`${path}?cursor=forged`)).status).toBe(400);
  });

  test('requests are shown with their answer, and no secret', async () => {
    const emulator = await generated();
    const page = await read(emulator, '/console/requests');
    expect(page).toMatch(/200 answered.*POST \/v1\/generate\/image.*authorization: Bearer \*\*\*/s);
    expect(page).not.toContain('very-secret-key');
  });

  test('more than a page of requests goes on at the older ones', async () => {
    const emulator = await emulatorWorld();
    for (let count = 1; count <= 101; count++) await emulator.fetch(`/v1/nothing-${count}`);
    const page = await read(emulator, '/console/requests');
    expect(page).not.toContain('/v1/nothing-1<');
    const [, older = ''] = /href="([^"]+)">Older requests/.exec(page) ?? [];
    expect(await read(emulator, older)).toContain('/v1/nothing-1<');
  });
});
