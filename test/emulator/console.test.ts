/** The console, as a browser without JavaScript sees it: what its pages share, and the routing log. */
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { createRouter, read, routerFields, submit } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

describe('every page', () => {
  const paths = ['drivers', 'routers', 'routers/new', 'playground', 'tasks', 'requests'].map(
    (path) => `/console/${path}`,
  );
  paths.unshift('/console');

  test.for(paths)('%s loads nothing from another host and runs no inline script', async (path) => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch(path);
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const page = await response.text();
    const links = [...page.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^(?:\/console(?:\/|$)|\/_emulator\/|#)/.test(link))).toEqual([]);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+="/);
  });

  test.for(paths.filter((path) => path !== '/console/routers/new'))(
    '%s says what would fill it, and the command that does',
    async (path) => {
      const emulator = await emulatorWorld();
      expect(await read(emulator, path)).toContain(`<code>curl ${emulator.url}/`);
    },
  );

  test.for([
    [{ strict: true }, '-H &#39;authorization: Bearer anything&#39;'],
    [{ token: 'very-secret' }, '-H &quot;authorization: Bearer $TOKEN&quot;'],
  ] as const)('%o: the commands bring what the service wants', async ([options, header]) => {
    const emulator = await emulatorWorld(options);
    for (const path of paths.filter((one) => one !== '/console/routers/new'))
      expect(await read(emulator, path), path).toContain(header);
  });

  test('the commands name the address that the emulator was told to be at', async () => {
    const emulator = await emulatorWorld({ publicUrl: 'https://emulator.example.com' });
    for (const path of paths.filter((one) => one !== '/console/routers/new'))
      expect(await read(emulator, path), path).toContain('curl https://emulator.example.com/');
  });

  test('the assets that pages name are served from the package', async () => {
    const emulator = await emulatorWorld();
    const page = await read(emulator, '/console/drivers');
    const assets = [...page.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, asset = '']) => asset);
    const answers = await Promise.all(assets.map(async (asset) => (await emulator.fetch(asset)).status));
    expect(answers).toEqual([200, 200, 200]);
  });

  test('/console/ leads to the overview, and a page that does not exist says so', async () => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch('/console/', { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('/console');
    expect((await emulator.fetch('/console/nothing')).status).toBe(404);
  });

  test.for([
    ['POST', '/console/drivers', 'GET, HEAD'],
    ['PUT', '/console/routers', 'GET, HEAD, POST'],
  ] as const)('%s %s is refused with a page and the allowed methods', async ([method, path, allow]) => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    expect(await response.text()).toContain(`<code>${method}</code>`);
  });

  test.for([['/console/undo/some-id', '/console']] as const)(
    'a browser that goes to %s once more is led to %s',
    async ([path, list]) => {
      const emulator = await emulatorWorld();
      const response = await emulator.fetch(path, { redirect: 'manual' });
      expect({ status: response.status, to: response.headers.get('location') }).toEqual({ status: 302, to: list });
    },
  );

  test('a look at the console is not recorded and meets no fault', async () => {
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
    const refused = await submit(emulator, '/console/routers', routerFields(), headers);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('<h1>Refused</h1>');
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

describe('the routing log', () => {
  const body = JSON.stringify({ configId: 'campaign', input: { promptText: 'a lighthouse' } });

  async function generate(emulator: Emulator): Promise<string> {
    const headers = { authorization: 'Bearer very-secret-key' };
    const response = await emulator.fetch('/v1/generate/image', { method: 'POST', body, headers });
    return ((await response.json()) as { id: string }).id;
  }

  async function generated(): Promise<Emulator> {
    const emulator = await emulatorWorld({ speed: 0 });
    await createRouter(emulator);
    await generate(emulator);
    return emulator;
  }

  test('the log of a router has the pick, the reason and its code, the task and the pipeline', async () => {
    const emulator = await generated();
    const id = await generate(emulator);
    const [, path = ''] =
      /href="(\/console\/routers\/[^"]+\/log)"/.exec(await read(emulator, '/console/routers')) ?? [];
    const page = await read(emulator, path);
    expect(page).toMatch(/routed.*lowest estimated cost.*<code>lowest_cost<\/code>.*allow_deny/s);
    expect(page).toContain(`<a href="/console/tasks/${id}"><bdi>a lighthouse</bdi></a>`);
    emulator.advance(60);
    await emulator.fetch(`/v1/tasks/${id}`, { method: 'DELETE' });
    expect(await read(emulator, path)).toContain('its task was deleted');
    expect((await emulator.fetch(`${path}?cursor=forged`)).status).toBe(400);
  });
});
