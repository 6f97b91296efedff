/** Dry runs with the form of the console. */
import { describe, expect, test } from 'vitest';
import { createRouter, everyModel, routerFields, submit } from '../support/console-world.ts';
import type { Fields } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

describe('the playground', () => {
  test('shows who fell out where, the ranking and the pick, and leaves no trace', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ 'ceiling-video': '60' }));
    const fields = { router: 'campaign', modality: 'video', prompt: 'a <b>storm</b>', duration: '8' };
    const page = await (await submit(emulator, '/console/playground', fields)).text();
    for (const stage of ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price']) {
      expect(page).toContain(`<code>${stage}</code>`);
    }
    expect(page).toMatch(/<dt>320 credits, above the ceiling of 60<\/dt>\s*<dd>veo3\.1<\/dd>/);
    expect(page).toContain('a &lt;b&gt;storm&lt;/b&gt;</textarea>');
    const log = await emulator.fetch('/v1/routers/campaign/requests');
    expect(await log.json()).toMatchObject({ data: [] });
    expect(emulator.requests().filter(({ path }) => path.startsWith('/v1/generate'))).toEqual([]);
  });

  test('says of each model why it was dropped, and opens the stage that left no model', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ model: everyModel.slice(1), 'ceiling-image': '0.01' }));
    const run = async (fields: Fields): Promise<string> =>
      (
        await submit(emulator, '/console/playground', { router: 'campaign', modality: 'image', prompt: 'x', ...fields })
      ).text();
    const expensive = await run({});
    expect(expensive).toContain('<dt>not on the allow list</dt>');
    expect(expensive).toMatch(/<dt>no image model<\/dt>\s*<dd>[^<]*gen4_turbo/);
    expect(expensive).toMatch(/<details open>.*<code>price<\/code>.*credits, above the ceiling of 0\.01<\/dt>/s);
    expect(await run({ modality: 'video', duration: '30' })).toContain('<dt>cannot do duration 30</dt>');
    expect(await run({ prompt: 'x'.repeat(1_001) })).toContain(
      '<dt>takes at most 1\u202F000 characters, and these are 1\u202F001</dt>',
    );
    expect(await run({ modality: 'video', prompt: '' })).toContain('<dt>needs a prompt</dt>');
  });

  test('routes with an image, several outputs and any other input', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ model: ['gen4_turbo', 'gpt_image_2'] }));
    const run = async (fields: Fields): Promise<string> => {
      const page = await submit(emulator, '/console/playground', { router: 'campaign', prompt: 'x', ...fields });
      return (await page.text()).replaceAll('&quot;', '"');
    };
    const imageUri = 'https://example.com/first.png';
    const animated = await run({ modality: 'video', imageUri });
    expect(animated).toMatch(/class="verdict">.*gen4_turbo/);
    expect(animated).toContain('"referenceImages":[{"uri":"https://example.com/first.png","role":"first"}]');
    expect(await run({ modality: 'image', imageUri, outputCount: '3' })).toContain('"outputCount":3');
    expect(await run({ modality: 'image', more: '{"seed": 7}' })).toContain('cannot do seed');
    expect(await run({ modality: 'image', more: '{"seed": ' })).toContain('More input: is not JSON');
    expect(await run({ modality: 'image', more: '[7]' })).toContain('More input: must be an object');
  });

  test('tries audio in the live manner, which wants its type', async () => {
    const emulator = await emulatorWorld({ strict: true });
    await createRouter(emulator);
    const fields = { router: 'campaign', modality: 'audio', prompt: 'hello' };
    expect(await (await submit(emulator, '/console/playground', fields)).text()).toContain('input.type');
    const page = await (await submit(emulator, '/console/playground', { ...fields, audioType: 'speech' })).text();
    expect(page).toContain('lowest_cost');
    expect(page).toContain('<option value="speech" selected>');
  });

  test('says which filter left nobody, and what to do', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ model: [] }));
    const page = await (
      await submit(emulator, '/console/playground', { router: 'campaign', modality: 'image', prompt: 'x' })
    ).text();
    expect(page).toMatch(/No eligible model.*none left/s);
  });

  test('shows the problems of a request that is not routed', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator);
    const fields = { router: 'campaign', modality: 'video', prompt: 'x', duration: 'long' };
    expect(await (await submit(emulator, '/console/playground', fields)).text()).toContain('input.duration');
    expect(
      await (await submit(emulator, '/console/playground', { ...fields, router: 'none', duration: '' })).text(),
    ).toMatch(/configId|no router with the Config ID/);
  });
});
