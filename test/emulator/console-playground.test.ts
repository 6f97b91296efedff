/** Dry runs with the form of the console. */
import { describe, expect, test } from 'vitest';
import { createRouter, everyModel, read, routerFields, submit } from '../support/console-world.ts';
import type { Fields } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

describe('the playground', () => {
  test('shows who fell out where, the ranking and the pick, and leaves no trace', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ 'ceiling-video': '60' }));
    const fields = { router: 'campaign', modality: 'video', prompt: 'a <b>storm</b>', 'video-duration': '8' };
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
    expect(await run({ modality: 'video', 'video-duration': '30' })).toContain('<dt>cannot do duration 30</dt>');
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
    const animated = await run({ modality: 'video', 'video-imageUri': imageUri });
    expect(animated).toMatch(/class="verdict">.*gen4_turbo/);
    expect(animated).toContain('"referenceImages":[{"uri":"https://example.com/first.png","role":"first"}]');
    expect(await run({ modality: 'image', 'image-outputCount': '3' })).toContain('"outputCount":3');
    // What was written for another modality is kept, and not sent.
    const image = await run({ modality: 'image', 'image-imageUri': imageUri, 'video-duration': '8' });
    expect(image).toContain('"referenceImages":[{"uri":"https://example.com/first.png"}]');
    expect(image).toMatch(/name="video-duration"\s+value="8"/);
    expect(image).not.toContain('"duration"');
    expect(await run({ modality: 'image', more: '{"seed": 7}' })).toContain('cannot do seed');
    expect(await run({ modality: 'image', more: '{"seed": ' })).toContain('More input: is not JSON');
    expect(await run({ modality: 'image', more: '[7]' })).toContain('More input: must be an object');
  });

  test('tries audio in the live manner, which wants its type', async () => {
    const emulator = await emulatorWorld({ strict: true });
    await createRouter(emulator);
    const fields = { router: 'campaign', modality: 'audio', prompt: 'hello' };
    expect(await (await submit(emulator, '/console/playground', fields)).text()).toMatch(/href="#audio-type">Type: /);
    const page = await (await submit(emulator, '/console/playground', { ...fields, 'audio-type': 'speech' })).text();
    expect(page).toContain('only_eligible_model');
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
    const fields = { router: 'campaign', modality: 'video', prompt: 'x', 'video-duration': 'long' };
    const page = await (await submit(emulator, '/console/playground', fields)).text();
    expect(page).toMatch(/refused before it is routed.*<a href="#video-duration">Duration: /s);
    expect(page).toMatch(/id="video-duration"[^>]*aria-invalid="true"/);
    expect(
      await (await submit(emulator, '/console/playground', { ...fields, router: 'none', 'video-duration': '' })).text(),
    ).toMatch(/configId|no router with the Config ID/);
  });

  test('shows how many models each stage leaves, as numbers and as bars', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ 'ceiling-video': '100' }));
    const fields = { router: 'campaign', modality: 'video', prompt: 'a storm', 'video-duration': '8' };
    const page = await (await submit(emulator, '/console/playground', fields)).text();
    const stages = page.matchAll(
      /class="stage">[^<]*<code>(\w+)<\/code>.*?<rect width="([\d.]+)%".*?class="left"[^>]*>\s*(?:<span[^>]*>)?\s*>?(\d+)/gs,
    );
    const left = [...stages].map(([, stage, width, count]) => ({ stage, width: Number(width), count: Number(count) }));
    expect(left.map(({ stage }) => stage)).toEqual([
      'allow_deny',
      'capability',
      'input_support',
      'prompt_length',
      'price',
    ]);
    const counts = left.map(({ count }) => count);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts[0]).toBe(everyModel.length);
    for (const { width, count } of left) expect(width).toBeCloseTo((100 * count) / everyModel.length, 0);
    expect(page).toMatch(/Ranked by cost.*scope="row" class="row">/s);
  });

  test('compares a router with another one, or with another target, and says what that costs', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ model: ['gen4.5', 'veo3.1'] }));
    await createRouter(emulator, routerFields({ name: 'Other', slug: 'other', model: ['veo3.1'] }));
    const run = async (against: string, fields: Fields = {}): Promise<string> =>
      (
        await submit(emulator, '/console/playground', {
          router: 'campaign',
          modality: 'video',
          prompt: 'a storm',
          against,
          ...fields,
        })
      ).text();
    const other = await run('router:other');
    expect(other).toMatch(/The second takes veo3\.1 instead of gen4\.5: [\d.]+ credits more, [\d.]+ s more\./);
    expect(other.match(/class="verdict"/g)).toHaveLength(2);
    const quality = await run('for:quality');
    expect(quality).toContain('<bdi>Campaign, for quality</bdi>');
    expect(quality).toMatch(/By the estimate, lowest first\..*By the score for this prompt, highest first\./s);
    expect(await run('for:latency')).toContain('By the expected seconds, fewest first.');
    expect(await run('for:cost')).toContain('Both take gen4.5.');
    expect(await run('router:other', { 'video-duration': '30' })).toContain('Neither has an eligible model.');
    expect(await run('router:gone')).not.toContain('class="notice"');
  });

  test('generates a task with what was tried, and says where no model may', async () => {
    const emulator = await emulatorWorld({ speed: 0 });
    await createRouter(emulator, routerFields({ model: ['gen4_image'] }));
    const fields = { router: 'campaign', modality: 'image', prompt: 'a lighthouse', act: 'generate' };
    const made = await submit(emulator, '/console/playground', fields);
    expect(made.status).toBe(303);
    const task = await read(emulator, made.headers.get('location') ?? '');
    expect(task).toMatch(/<h1><bdi>a lighthouse<\/bdi>.*pending/s);
    const [, again = ''] = /href="(\/console\/playground\?[^"]+)">Try again</.exec(task) ?? [];
    expect(await read(emulator, again.replaceAll('&amp;', '&'))).toContain('a lighthouse</textarea>');
    const log = await (await emulator.fetch('/v1/routers/campaign/requests')).json();
    expect(log).toMatchObject({ data: [{ status: 'routed', model: 'gen4_image' }] });
    const refused = await submit(emulator, '/console/playground', { ...fields, modality: 'video' });
    expect(await refused.text()).toMatch(/Nothing was generated.*No eligible model/s);
    expect(await (await submit(emulator, '/console/playground', { ...fields, prompt: '' })).text()).toContain(
      'refused before it is routed',
    );
  });
});
