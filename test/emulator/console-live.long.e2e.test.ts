/** Pages of the console that keep up by themselves, in a real browser, and leave alone what somebody does there. */
import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';
import { browserWorlds } from '../support/console-browser.ts';
import { createRouter, submit } from '../support/console-world.ts';
import { driver, push } from '../support/emulator-world.ts';
import { browserName, cannotBrowse } from '../support/real-browser.ts';

describe.skipIf(cannotBrowse)(`a page that keeps up, in ${browserName}`, () => {
  const world = browserWorlds();

  async function generate(emulator: Emulator, modality: string, promptText: string): Promise<string> {
    const body = JSON.stringify({ configId: 'campaign', input: { promptText } });
    const response = await emulator.fetch(`/v1/generate/${modality}`, { method: 'POST', body });
    return ((await response.json()) as { id: string }).id;
  }

  test('a task that runs moves on without being asked for again, up to its picture', async () => {
    const { emulator, page, problems } = await world({}, { speed: 0 });
    await createRouter(emulator);
    await page.goto(`/console/tasks/${await generate(emulator, 'image', 'a lighthouse')}`);
    await page.getByText('pending').first().waitFor();
    emulator.advance(3);
    await page.getByRole('progressbar').first().waitFor();
    emulator.advance(60);
    await page.getByRole('img', { name: 'Output 1' }).waitFor();
    const drawn = 'document.querySelector(\'img[alt="Output 1"]\')?.naturalWidth ?? 0';
    await expect.poll(() => page.evaluate(drawn)).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });

  test('a player goes on while the page around it is made anew', async () => {
    const { emulator, page, problems } = await world({}, { speed: 0 });
    await createRouter(emulator);
    const id = await generate(emulator, 'video', 'a storm');
    emulator.advance(60);
    await page.goto(`/console/tasks/${id}`);
    await page.locator('video').waitFor();
    await page.evaluate("document.querySelector('video').seen = 'before'");
    emulator.advance(120);
    await generate(emulator, 'image', 'something else');
    await page.getByText('3 min ago').waitFor();
    expect(await page.evaluate("document.querySelector('video').seen")).toBe('before');
    expect(problems).toEqual([]);
  });

  test('what is opened stays open, and what is focused stays so, while rows come before it', async () => {
    const { emulator, page, problems } = await world();
    await push(emulator, { extDrivers: [driver('sales', '1767225600 1')] });
    await page.goto('/console');
    await page.getByText('An agent').click();
    const request = page.getByRole('link', { name: 'POST /api/extDrivers/update' });
    await request.focus();
    await emulator.fetch('/v1/organization');
    await page.getByRole('link', { name: 'GET /v1/organization' }).waitFor();
    await expect
      .poll(() => page.evaluate('document.activeElement.textContent.trim()'))
      .toBe('POST /api/extDrivers/update');
    expect(await page.getByText('Agent tools speak MCP').isVisible()).toBe(true);
    expect(problems).toEqual([]);
  });

  test('a list follows what is done in another window of the console, and by the controls', async () => {
    const { emulator, page, problems } = await world();
    await page.goto('/console/routers');
    await page.getByText('There are no routers').waitFor();
    const router = await createRouter(emulator);
    await page.getByRole('link', { name: 'Campaign', exact: true }).waitFor();
    const [gone] = builtInCatalog.models;
    const body = JSON.stringify({ remove: [gone?.id] });
    await emulator.fetch('/_emulator/catalog', { method: 'POST', body });
    await page.getByText(`of ${builtInCatalog.models.length - 1}`).waitFor();
    await submit(emulator, `${router}/delete`, {});
    await page.getByText('There are no routers').waitFor();
    expect(problems).toEqual([]);
  });

  test('a list of requests that is paused stands still', async () => {
    const { emulator, page } = await world();
    await emulator.fetch('/v1/organization');
    await page.goto('/console/requests');
    await emulator.fetch('/v1/routers');
    await page.getByRole('link', { name: 'GET /v1/routers' }).waitFor();
    await page.getByRole('link', { name: 'Pause' }).click();
    await page.getByRole('link', { name: 'Go on' }).waitFor();
    await emulator.fetch('/v1/nothing');
    expect(await page.evaluate('document.body.dataset.events')).toBeUndefined();
    expect(await page.getByRole('link', { name: 'GET /v1/nothing' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByRole('link', { name: 'GET /v1/nothing' }).waitFor();
  });
});
