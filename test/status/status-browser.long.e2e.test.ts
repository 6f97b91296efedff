/** The status pages in a real browser: on a phone, light and dark, by keyboard, with and without JavaScript. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { busyWorld } from '../support/busy-world.ts';
import { browserName, cannotBrowse, launchBrowser } from '../support/real-browser.ts';
import { type StatusWorld, statusWorld } from '../support/status-world.ts';

const addresses = [
  '/',
  '/source?name=sales',
  '/source?name=costs',
  '/source?name=staff',
  '/drivers',
  '/driver?id=Sales%2FNorth',
  '/pushes',
  '/push?id=3',
  '/held?source=sales',
];

describe.skipIf(cannotBrowse)(`the status page in ${browserName}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  async function world(
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; status: StatusWorld; problems: string[] }> {
    const status = await statusWorld(await busyWorld());
    const context = await browser.newContext({ baseURL: status.url, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('request', (request) => request.url().startsWith(status.url) || problems.push(request.url()));
    return { page, status, problems };
  }

  test.for([
    { width: 400, colorScheme: 'light', javaScriptEnabled: false },
    { width: 400, colorScheme: 'dark', javaScriptEnabled: true },
    { width: 1280, colorScheme: 'dark', javaScriptEnabled: false },
    { width: 1280, colorScheme: 'light', javaScriptEnabled: true },
  ] as const)('nothing is cut off or comes from elsewhere: %o', async ({ width, ...options }) => {
    const { page, problems } = await world({ viewport: { width, height: 900 }, ...options });
    const shots = process.env['SCREENSHOTS'];
    for (const address of addresses) {
      await page.goto(address);
      expect(await page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(width);
      const name = address.replaceAll(/\W+/g, '-');
      if (shots) await page.screenshot({ path: `${shots}/${width}-${options.colorScheme}${name}.png`, fullPage: true });
    }
    expect(problems).toEqual([]);
  });

  test('the pictures of the documents show what the pages show', async () => {
    const { page } = await world({ viewport: { width: 1100, height: 720 }, colorScheme: 'light' });
    const shots = process.env['PICTURES'];
    for (const [name, address] of [
      ['status-overview', '/'],
      ['status-driver', '/driver?id=Sales%2FNorth'],
    ] as const) {
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
    }
    expect(await page.getByRole('img', { name: 'The points of Sales/North by month' }).count()).toBe(1);
  });

  test('by keyboard one comes from the overview to a driver and what it was before', async () => {
    const { page, problems } = await world();
    await page.goto('/');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const reach = async (name: string): Promise<void> => {
      const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent.trim()');
      for (let presses = 0; presses < 80 && (await focused()) !== name; presses += 1) await page.keyboard.press('Tab');
      expect(await focused()).toBe(name);
      await page.keyboard.press('Enter');
    };
    await reach('staff');
    await page.getByRole('heading', { name: 'staff', exact: true }).waitFor();
    await reach('Its drivers');
    await page.getByRole('heading', { name: 'Drivers', exact: true }).waitFor();
    await reach('Show all');
    await page.getByRole('link', { name: 'Sales/East' }).waitFor();
    await reach('Sales/East');
    await page.getByText('as it was in').waitFor();
    expect(problems).toEqual([]);
  });

  test('a page keeps up by itself, and what was opened or typed stays', async () => {
    const { page, status, problems } = await world();
    await page.goto('/');
    await page.getByRole('link', { name: 'costs', exact: true }).focus();
    status.agent.broken = 'the disk is full';
    await expect
      .poll(async () => {
        status.tellNews();
        return page.getByRole('status').textContent();
      })
      .toContain('the disk is full');
    await expect.poll(() => page.evaluate('document.activeElement.textContent.trim()')).toBe('costs');
    await page.goto('/drivers');
    await page.getByLabel('Search by id or path').fill('Onl');
    status.tellNews();
    await page.keyboard.type('ine');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Sales/Online' }).waitFor();
    expect(problems).toEqual([]);
  });
});
