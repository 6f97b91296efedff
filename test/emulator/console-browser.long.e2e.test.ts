/** The console in a real browser: by keyboard, on a phone, light and dark, with and without JavaScript. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { browserWorlds } from '../support/console-browser.ts';
import { createRouter as createRouterByForm } from '../support/console-world.ts';
import { driver, push } from '../support/emulator-world.ts';
import { browserName, cannotBrowse } from '../support/real-browser.ts';

describe.skipIf(cannotBrowse)(`the console in ${browserName}`, () => {
  const world = browserWorlds();

  async function createRouter(page: Page, name: string): Promise<void> {
    await page.goto('/console/routers');
    await page.getByRole('link', { name: 'New router' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Create router' }).click();
    await page.getByText('Saved as version 1').waitFor();
  }

  async function pushSample(emulator: Emulator): Promise<void> {
    const points = Array.from({ length: 24 }, (_, month) => `${Date.UTC(2024, month, 1) / 1_000} ${month * 7}.50`);
    await push(emulator, { extDrivers: [{ ...driver('sales', ...points), path: ['Revenue', 'Sales'] }] });
  }

  test.for([true, false])('a router is created and tried, with JavaScript: %s', async (javaScriptEnabled) => {
    const { page, problems } = await world({ javaScriptEnabled });
    await createRouter(page, 'Café campaign');
    expect(await page.getByLabel('Config ID').inputValue()).toBe('cafe-campaign');
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByLabel('Router').selectOption('cafe-campaign');
    expect(await page.getByLabel('Outputs').isVisible()).toBe(true);
    await page.getByText('Video', { exact: true }).click();
    expect(await page.getByLabel('Outputs').isVisible()).toBe(false);
    await page.getByLabel('First image').waitFor();
    await page.getByText('Image', { exact: true }).click();
    await page.getByLabel('Prompt').fill('a lighthouse at dusk');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('region', { name: 'Outcome' }).getByText('lowest_cost').waitFor();
    expect(problems).toEqual([]);
  });

  test('the Config ID follows the name until it is written by hand', async () => {
    const { page } = await world();
    await page.goto('/console/routers/new');
    const [name, slug] = [page.getByLabel('Name', { exact: true }), page.getByLabel('Config ID')];
    await name.fill('Spring Sale');
    expect(await slug.inputValue()).toBe('spring-sale');
    await slug.fill('mine');
    await name.fill('Summer Sale');
    expect(await slug.inputValue()).toBe('mine');
  });

  test('the count of eligible models follows the picker', async () => {
    const { page } = await world();
    await page.goto('/console/routers/new');
    const picker = page.getByRole('group', { name: 'Models' });
    const before = Number(await picker.locator('output').textContent());
    await picker.getByRole('checkbox').first().uncheck();
    expect(await picker.locator('output').textContent()).toBe(String(before - 1));
  });

  test('a router is created by the keyboard alone', async () => {
    const { page } = await world();
    await page.goto('/console/routers/new');
    const focused = () => page.evaluate('document.activeElement.id');
    await page.keyboard.press('Tab');
    // The first stop leads past the navigation.
    await page.keyboard.press('Enter');
    for (const _stop of ['back to the routers', 'the name']) await page.keyboard.press('Tab');
    expect(await focused()).toBe('name');
    await page.keyboard.type('By hand');
    for (const field of ['slug', 'optimizeFor-cost', 'includesNew', 'fallsBack', 'ceiling-video']) {
      await page.keyboard.press('Tab');
      expect(await focused()).toBe(field);
      if (field === 'fallsBack') await page.keyboard.press('Space');
    }
    await page.keyboard.type('40');
    await page.keyboard.press('Enter');
    await page.getByText('Saved as version 1').waitFor();
    expect(await page.getByRole('switch', { name: 'Fall back when a model is at capacity' }).isChecked()).toBe(true);
    expect(await page.getByLabel('Video ceiling').inputValue()).toBe('40');
  });

  test('a model of the picker goes by its id alone, and who provides it is beside it', async () => {
    const { page } = await world();
    await page.goto('/console/routers/new');
    const box = page.getByLabel('gen4_image', { exact: true });
    await box.uncheck();
    expect(await page.getByRole('checkbox', { name: 'gen4_image', exact: true, checked: false }).count()).toBe(1);
    const [id = ''] = (await box.getAttribute('aria-describedby'))?.split(' ') ?? [];
    expect(await page.locator(`[id="${id}"]`).textContent()).toBe('runway');
  });

  test('the picker is filtered, and its buttons mean what is seen', async () => {
    const { page, problems } = await world();
    await page.goto('/console/routers/new');
    const picker = page.getByRole('group', { name: 'Models' });
    const eligible = async (): Promise<number> => Number(await picker.locator('output').textContent());
    const all = await eligible();
    await picker.getByRole('button', { name: 'None image' }).click();
    expect(await picker.locator('fieldset[data-modality=image] [data-count]').textContent()).toBe('0');
    expect(await eligible()).toBeLessThan(all);
    await picker.getByRole('button', { name: 'All models' }).click();
    expect(await eligible()).toBe(all);
    await picker.getByLabel('Filter').fill('GEN4');
    const seen = await picker.locator('tbody tr:visible').count();
    await picker.getByRole('button', { name: 'None models' }).click();
    expect(await eligible()).toBe(all - seen);
    expect(await page.locator('fieldset[data-modality=audio]').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  test('what a ceiling excludes is seen while it is written', async () => {
    const { page } = await world();
    await page.goto('/console/routers/new');
    const above = page.getByText('above the ceiling');
    expect(await above.locator('visible=true').count()).toBe(0);
    await page.getByLabel('Video ceiling').fill('60');
    const veo = page.getByRole('row', { name: 'veo3.1 google', exact: false }).first();
    await veo.getByText('above the ceiling').waitFor();
    await page.getByLabel('Video ceiling').fill('');
    expect(await above.locator('visible=true').count()).toBe(0);
  });

  test.for([true, false])(
    'a refused form takes the focus to what is wrong, with JavaScript: %s',
    async (javaScriptEnabled) => {
      const { page } = await world({ javaScriptEnabled });
      await page.goto('/console/routers/new');
      await page.getByLabel('Name', { exact: true }).fill('Campaign');
      await page.getByLabel('Audio ceiling').fill('ten');
      await page.getByRole('button', { name: 'Create router' }).click();
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('problems');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('ceiling-audio');
      expect(await page.getByLabel('Audio ceiling').getAttribute('aria-invalid')).toBe('true');
    },
  );

  test('a command is copied as it stands there', async () => {
    const { emulator, page, problems } = await world({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/console/routers');
    const command = (await page.locator('pre').textContent()) ?? '';
    // Within the page, since the button says so for two seconds only.
    const said = page.evaluate(`new Promise((done) => {
      const button = document.querySelector('.copy');
      new MutationObserver(() => done(button.textContent)).observe(button, { childList: true });
    })`);
    await page.getByRole('button', { name: 'Copy' }).click();
    expect(await said).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(command);
    expect(command).toContain(`curl ${emulator.url}/v1/routers`);
    expect(problems).toEqual([]);
  });

  test('every field has a label', async () => {
    const { emulator, page } = await world();
    await pushSample(emulator);
    await createRouter(page, 'Labels');
    for (const path of ['drivers', 'routers/new', 'playground']) {
      await page.goto(`/console/${path}`);
      const unlabelled = await page.evaluate(`
        [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
          .filter(({ labels }) => !labels[0]?.textContent.trim())
          .map(({ outerHTML }) => outerHTML)
      `);
      expect(unlabelled, path).toEqual([]);
    }
  });

  test('a request is tried, generated, deleted and taken back by the keyboard alone', async () => {
    const { emulator, page, problems } = await world({}, { speed: 0 });
    await createRouterByForm(emulator);
    await page.goto('/console/playground');
    await page.getByLabel('Router').focus();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('modality-image');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a storm');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('video-duration');
    await page.keyboard.type('8');
    // The first button is the one that creates nothing.
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Outcome' }).getByText('lowest_cost').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('outcome');
    await page.getByRole('button', { name: 'Generate' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'a storm' }).waitFor();
    emulator.advance(600);
    await page.getByRole('link', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Delete this task?').waitFor();
    // What does no harm has the focus.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Keep it');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'a storm' }).waitFor();
    expect(problems).toEqual([]);
  });

  test.for([400, 1280])('everything that can be clicked is on the screen at %d px', async (width) => {
    const { emulator, page } = await world({ viewport: { width, height: 800 } });
    const slug = `s${'-long'.repeat(12)}`;
    for (const name of ['A router with a long name that is wrapped', 'Without-a-blank-'.repeat(15)]) {
      await emulator.fetch('/v1/routers', {
        method: 'POST',
        body: JSON.stringify({ slug: name.includes(' ') ? 'short' : slug, name }),
      });
    }
    for (const configId of ['short', slug]) {
      const body = JSON.stringify({ configId, input: { promptText: 'a lighthouse', outputCount: 3 } });
      await emulator.fetch('/v1/generate/image', { method: 'POST', body });
    }
    emulator.advance(60);
    for (const path of ['routers', 'tasks']) {
      await page.goto(`/console/${path}`);
      const right = await page.evaluate<number[]>(
        "[...document.querySelectorAll('table a, table button')].map((element) => element.getBoundingClientRect().right)",
      );
      expect(right.length).toBeGreaterThan(5);
      expect(Math.max(...right), path).toBeLessThanOrEqual(width);
    }
  });

  test.for([400, 1280])(
    'a chart of a century, of tiny values or of a single one is labelled at %d px',
    async (width) => {
      const { emulator, page, problems } = await world({ viewport: { width, height: 800 } });
      const century = Array.from({ length: 1_200 }, (_, month) => `${Date.UTC(1926, month, 1) / 1_000} ${month}`);
      const tiny = ['1767225600 0.000000001', '1769904000 0.000000005'];
      const extDrivers = [driver('century', ...century), driver('tiny', ...tiny), driver('single', '1767225600 40')];
      await push(emulator, { extDrivers });
      const drawnOf = async (id: string): Promise<string[]> => {
        await page.goto(`/console/drivers?id=${id}`);
        return page.locator('.chart text').allTextContents();
      };
      expect(await drawnOf('century')).toEqual(expect.arrayContaining(['1940', '1960', '1980', '2000', '2020']));
      expect(await drawnOf('tiny')).toEqual(expect.arrayContaining(['2026-01', '2e-9', '4e-9']));
      expect(new Set(await drawnOf('single'))).toEqual(new Set(['2026-01', '36', '38', '40', '42', '44']));
      expect(problems).toEqual([]);
    },
  );

  test.for([true, false])(
    'a driver is drawn, and read exactly from the years below it, with JavaScript: %s',
    async (on) => {
      const { emulator, page, problems } = await world({ javaScriptEnabled: on });
      await pushSample(emulator);
      await page.goto('/console/drivers');
      await page.getByRole('link', { name: 'Sales' }).click();
      await page.getByRole('img', { name: 'The points of Sales by month' }).waitFor();
      expect(await page.getByRole('row', { name: '2025' }).innerText()).toMatch(/\b161\.50$/);
      expect(problems).toEqual([]);
    },
  );

  test('a page keeps up with pushes, and marks the points that the last one changed', async () => {
    const { emulator, page, problems } = await world();
    await pushSample(emulator);
    await page.goto('/console/drivers?id=sales');
    const points = Array.from(
      { length: 24 },
      (_, month) => `${Date.UTC(2024, month, 1) / 1_000} ${month === 5 ? 1234567 : month * 7}.50`,
    );
    await push(emulator, { extDrivers: [{ ...driver('sales', ...points), path: ['Revenue', 'Sales'] }] });
    await page.locator('.years').getByText('was 35.50').waitFor();
    expect(await page.locator('.years .changed').allTextContents()).toEqual(['1\u202F234\u202F567.50']);
    expect(await page.locator('.chart svg.changed').count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('the address of the service leads a browser to the console, and a program to an answer for programs', async () => {
    const { emulator, page } = await world();
    await page.goto('/');
    expect(new URL(page.url()).pathname).toBe('/console');
    expect((await emulator.fetch('/')).status).toBe(404);
  });

  test('a hostile name is text, and runs nothing', async () => {
    const { emulator, page, problems } = await world();
    const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    await push(emulator, { extDrivers: [{ id: hostile, path: [hostile], timeSeries: [] }] });
    await page.goto('/console/drivers');
    await page.getByRole('link', { name: hostile }).click();
    await page.getByRole('heading', { name: hostile }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
