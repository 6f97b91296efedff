/** Every page of the console in a real browser: on a phone and on a desk, light and dark, with and without JavaScript. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { browserWorlds } from '../support/console-browser.ts';
import { createRouter, routerFields } from '../support/console-world.ts';
import { driver, push } from '../support/emulator-world.ts';
import { browserName, cannotBrowse } from '../support/real-browser.ts';

describe.skipIf(cannotBrowse)(`a page in ${browserName}`, () => {
  const world = browserWorlds();

  async function generate(emulator: Emulator, modality: string, promptText: string): Promise<string> {
    const body = JSON.stringify({ configId: 'campaign', input: { promptText } });
    const response = await emulator.fetch(`/v1/generate/${modality}`, { method: 'POST', body });
    return ((await response.json()) as { id: string }).id;
  }

  /** Hands fixtures in that replace a value, and gives the address that asks whether to load them. */
  async function chosenFixtures(emulator: Emulator): Promise<string> {
    const body = new FormData();
    const drivers = [driver('sales', '1704067200 42'), driver('signups', '1704067200 7')];
    const routers = [{ slug: 'draft', name: 'Draft' }];
    const faults = { faults: [{ status: 503 }] };
    body.set('text', JSON.stringify({ drivers, routers, credits: 5_000, catalog: { remove: ['h3_max'] }, faults }));
    const chosen = await emulator.fetch('/console/fixtures', { method: 'POST', body, redirect: 'manual' });
    return chosen.headers.get('location') ?? '';
  }

  /** Fills an emulator, and gives the addresses of its pages. */
  async function filled(emulator: Emulator): Promise<Readonly<Record<string, string>>> {
    const point = (month: number): string => `${Date.UTC(2024, month, 1) / 1_000} ${month * 7}.50`;
    const sales = {
      ...driver('sales', ...Array.from({ length: 24 }, (_, month) => point(month))),
      path: ['A', 'Sales'],
    };
    await push(emulator, { extDrivers: [sales] });
    await push(emulator, { extDrivers: [{ ...sales, timeSeries: [{ time: '1704067200', value: '1234567' }] }] });
    const name = 'A router with a long name that has to be wrapped somewhere';
    const router = await createRouter(emulator, routerFields({ name, slug: 'campaign', 'ceiling-video': '60' }));
    const image = await generate(
      emulator,
      'image',
      'a lighthouse at dusk, with a very long prompt that goes on and on',
    );
    const video = await generate(emulator, 'video', 'a storm');
    emulator.faults({ failureCode: 'SAFETY.INPUT.TEXT' });
    const failed = await generate(emulator, 'audio', 'something refused');
    emulator.advance(60);
    const running = await generate(emulator, 'image', 'a harbour');
    emulator.advance(2);
    const [request] = emulator.requests();
    emulator.snapshot('seeded');
    emulator.snapshot(
      'a-name-that-is-as-long-as-names-of-snapshots-may-be-and-has-to-be-wrapped-somewhere-on-a-phone-1',
    );
    await emulator.fork({ snapshot: 'seeded' });
    emulator.faults(
      { status: 503, retryAfter: 2, times: 2, path: '/api/extDrivers/update', probability: 0.1, untilSeconds: 3600 },
      { delayMs: { logNormal: { medianMs: 120, sigma: 1 } }, drop: 'after', method: 'POST', times: 'always' },
    );
    return {
      overview: '/console',
      drivers: '/console/drivers?id=sales',
      routers: '/console/routers',
      router,
      'router-delete': `${router}/delete`,
      'router-log': `${router}/log`,
      'router-new': '/console/routers/new',
      playground: '/console/playground',
      tasks: '/console/tasks',
      'task-image': `/console/tasks/${image}`,
      'task-video': `/console/tasks/${video}`,
      'task-failed': `/console/tasks/${failed}`,
      'task-running': `/console/tasks/${running}`,
      requests: '/console/requests',
      request: `/console/requests/${request?.id}`,
      snapshots: '/console/snapshots?saved=seeded',
      fixtures: '/console/fixtures',
      'fixture-changes': await chosenFixtures(emulator),
      'snapshot-restore': '/console/snapshots/seeded/restore',
      faults: '/console/faults',
      fault: '/console/faults/waiting/2',
      interface: '/_emulator/openapi',
      evidence: '/_emulator/evidence',
      'not-found': '/console/nothing',
    };
  }

  async function brightnessOf(page: Page, property: string): Promise<number> {
    const colour = await page.evaluate<string>(`getComputedStyle(document.body).${property}`);
    return Number(/\d+/.exec(colour)?.[0]);
  }

  /** Where the environment names a folder, it gets a picture of each page. */
  async function look(page: Page, name: string): Promise<void> {
    const { width } = page.viewportSize() ?? { width: 0 };
    expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(width);
    const folder = process.env['SCREENSHOTS'];
    const scheme = (await brightnessOf(page, 'color')) > 128 ? 'dark' : 'light';
    if (folder) await page.screenshot({ path: `${folder}/console-${width}-${scheme}-${name}.png`, fullPage: true });
  }

  test.for([
    { width: 400, colorScheme: 'light', javaScriptEnabled: false },
    { width: 400, colorScheme: 'dark', javaScriptEnabled: true },
    { width: 1280, colorScheme: 'dark', javaScriptEnabled: false },
    { width: 1280, colorScheme: 'light', javaScriptEnabled: true },
  ] as const)('is whole, says what it holds and loads nothing from elsewhere: %o', async ({ width, ...options }) => {
    const { emulator, page, problems } = await world({ viewport: { width, height: 900 }, ...options }, { speed: 0 });
    const addresses = await filled(emulator);
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(address);
      expect(await page.getByRole('heading', { level: 1 }).count(), name).toBe(1);
      expect(
        await page.evaluate(
          "document.querySelectorAll('[id]').length === new Set([...document.querySelectorAll('[id]')].map(({ id }) => id)).size",
        ),
        name,
      ).toBe(true);
      await look(page, name);
    }
    await page.goto('/console/playground?router=campaign&modality=video&prompt=a+storm');
    await page.getByLabel('Compare with').selectOption('for:quality');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('region', { name: 'Outcome' }).getByText('best_quality').waitFor();
    await look(page, 'playground-compared');
    const [ground, text] = [await brightnessOf(page, 'backgroundColor'), await brightnessOf(page, 'color')];
    expect(ground > text).toBe(options.colorScheme === 'light');
    // A page that is not there is the one that may say so in the browser's own log.
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  test('the picture of the documents shows what the page shows', async () => {
    const { emulator, page, problems } = await world({ viewport: { width: 1100, height: 880 }, colorScheme: 'light' });
    const fields = { name: 'Spring campaign', slug: 'campaign', optimizeFor: 'quality', 'ceiling-video': '100' };
    await createRouter(emulator, routerFields(fields));
    const query = new URLSearchParams({
      router: 'campaign',
      modality: 'video',
      prompt: 'a crowd runs through the rain past a neon sign',
      'video-duration': '8',
    });
    await page.goto(`/console/playground?${query.toString()}`);
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('region', { name: 'Outcome' }).getByText('best_quality').waitFor();
    await page.evaluate('scrollTo(0, 0)');
    const folder = process.env['PICTURES'];
    if (folder) await page.screenshot({ path: `${folder}/console-playground.png` });
    expect(problems).toEqual([]);
  });
});
