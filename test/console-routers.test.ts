/** Routers and the playground, by the forms of the console. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEligible, listOf } from '../src/emulator/console/model-list.ts';
import type { Emulator } from '../src/emulator/index.ts';
import { builtInCatalog } from '../src/emulator/routing/catalog.ts';
import { createRouter, everyModel, read, routerFields, submit } from './console-world.ts';
import type { Fields } from './console-world.ts';
import { emulatorWorld } from './emulator-world.ts';

interface Router {
  readonly name: string;
  readonly version: number;
  readonly settings: {
    readonly models: { readonly mode: string; readonly ids: readonly string[] };
    readonly [key: string]: unknown;
  };
}

async function routerOf(emulator: Emulator, slug: string): Promise<Router> {
  return (await (await emulator.fetch(`/v1/routers/${slug}`)).json()) as Router;
}

/** Ids of the checked boxes of the picker. */
function checkedIn(page: string): string[] {
  return [...page.matchAll(/name="model" value="([^"]+)" checked/g)].map(([, id = '']) => id);
}

describe('routers', () => {
  test('a new one has its Config ID from its name, and every model', async () => {
    const emulator = await emulatorWorld();
    const page = await read(emulator, '/console/routers/new');
    expect(checkedIn(page).toSorted()).toEqual(everyModel.toSorted());
    await createRouter(
      emulator,
      routerFields({ name: 'Café 2026!', includesNew: 'on', fallsBack: 'on', 'ceiling-video': '12.5' }),
    );
    expect((await routerOf(emulator, 'cafe-2026')).settings).toEqual({
      schemaVersion: 1,
      optimizeFor: 'cost',
      models: { mode: 'allow_new_except', ids: [] },
      maxCreditsPerGeneration: { video: 12.5 },
      fallback: { onCapacity: true },
    });
  });

  test('what is refused stands in the form again, with what is wrong about it', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator);
    const taken = await submit(emulator, '/console/routers', routerFields({ model: ['gen4.5'] }));
    expect(taken.status).toBe(409);
    const page = await taken.text();
    expect(page).toContain('in use by another router');
    expect(checkedIn(page)).toEqual(['gen4.5']);
    const nameless = await submit(emulator, '/console/routers', routerFields({ name: '東京', 'ceiling-audio': '0' }));
    expect(nameless.status).toBe(400);
    expect(await nameless.text()).toMatch(/Config ID: must begin.*Audio ceiling: must be/s);
  });

  test('unchecked models are a deny list, or the checked ones an allow list', async () => {
    const emulator = await emulatorWorld();
    const model = everyModel.slice(2);
    const path = await createRouter(emulator, routerFields({ includesNew: 'on', model }));
    expect((await routerOf(emulator, 'campaign')).settings.models).toEqual({
      mode: 'allow_new_except',
      ids: everyModel.slice(0, 2),
    });
    await submit(emulator, path, routerFields({ model }));
    expect((await routerOf(emulator, 'campaign')).settings.models).toEqual({ mode: 'allowlist_only', ids: model });
  });

  test('flipping the switch changes nobody who is eligible today, and only that decides about new models', async () => {
    const emulator = await emulatorWorld();
    const model = everyModel.filter((_, index) => index % 3 > 0);
    const path = await createRouter(emulator, routerFields({ includesNew: 'on', model }));
    // What the browser sends is what the page shows, but for the switch.
    const flip = async (fields: Fields): Promise<string[]> => {
      await submit(emulator, path, routerFields({ model: checkedIn(await read(emulator, path)), ...fields }));
      return checkedIn(await read(emulator, path));
    };
    expect(new Set(await flip({}))).toEqual(new Set(model));
    expect(new Set(await flip({ includesNew: 'on' }))).toEqual(new Set(model));
    const added = { ...builtInCatalog.models[0], id: 'brand_new' };
    emulator.catalog({ add: [added] });
    expect(checkedIn(await read(emulator, path))).toContain('brand_new');
    emulator.catalog({}, 'builtIn');
    await flip({});
    emulator.catalog({ add: [added] });
    expect(checkedIn(await read(emulator, path))).not.toContain('brand_new');
  });

  test('no list of models changes by being shown and saved, whichever way the switch stands then', () => {
    const someIds = fc.subarray(['a', 'b', 'c', 'd', 'e', 'f']);
    const mode = fc.constantFrom('allow_new_except' as const, 'allowlist_only' as const);
    const lists = fc.record({ list: fc.record({ mode, ids: someIds }), known: someIds, late: someIds });
    fc.assert(
      fc.property(lists, fc.boolean(), ({ list, known, late }, includesNew) => {
        const shown = known.filter((id) => !late.includes(id));
        const checked = new Set(shown.filter((id) => isEligible(list, id)));
        const saved = listOf({ includesNew, shown, checked }, known, list);
        for (const id of [...known, ...list.ids]) expect(isEligible(saved, id), id).toBe(isEligible(list, id));
      }),
    );
  });

  test('a model that leaves the catalog while the form is open neither stops it nor is forgotten', async () => {
    const emulator = await emulatorWorld();
    const [gone = '', ...model] = everyModel;
    const path = await createRouter(emulator, routerFields({ includesNew: 'on', model }));
    emulator.catalog({ remove: [gone, 'gen4_turbo'] });
    const saved = await submit(emulator, path, routerFields({ includesNew: 'on', model: [] }));
    expect(saved.status).toBe(303);
    const { ids } = (await routerOf(emulator, 'campaign')).settings.models;
    expect(ids).toContain(gone);
    expect(ids).not.toContain('gen4_turbo');
  });

  test('an edit makes a new version, and an empty ceiling clears one', async () => {
    const emulator = await emulatorWorld();
    const path = await createRouter(emulator, routerFields({ 'ceiling-image': '5', includesNew: 'on' }));
    const saved = await submit(emulator, path, routerFields({ name: 'Other', slug: 'ignored', includesNew: 'on' }));
    expect(await read(emulator, saved.headers.get('location') ?? '')).toContain('Saved as version 2');
    const router = await routerOf(emulator, 'campaign');
    expect(router).toMatchObject({ name: 'Other', version: 2 });
    expect(router.settings).not.toHaveProperty('maxCreditsPerGeneration');
  });

  test('a router that is deleted is gone from the list, and its page says so', async () => {
    const emulator = await emulatorWorld();
    const path = await createRouter(emulator);
    expect(await read(emulator, '/console/routers')).toContain(path);
    expect((await submit(emulator, `${path}/delete`, {})).status).toBe(303);
    expect(await read(emulator, '/console/routers')).not.toContain(path);
    expect((await emulator.fetch(path)).status).toBe(404);
  });

  test('a form that is too long is refused', async () => {
    const emulator = await emulatorWorld();
    const answer = await submit(emulator, '/console/routers', routerFields({ name: 'x'.repeat(5_000_000) }));
    expect(answer.status).toBe(413);
  });
});

describe('the playground', () => {
  test('shows who fell out where, the ranking and the pick, and leaves no trace', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ 'ceiling-video': '60' }));
    const fields = { router: 'campaign', modality: 'video', prompt: 'a <b>storm</b>', duration: '8' };
    const page = await (await submit(emulator, '/console/playground', fields)).text();
    for (const stage of ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price']) {
      expect(page).toContain(`<code>${stage}</code>`);
    }
    expect(page).toMatch(/<dt>320 credits<\/dt>\s*<dd>veo3\.1<\/dd>/);
    expect(page).toContain('a &lt;b&gt;storm&lt;/b&gt;</textarea>');
    const log = await emulator.fetch('/v1/routers/campaign/requests');
    expect(await log.json()).toMatchObject({ data: [] });
    expect(emulator.requests().filter(({ path }) => path.startsWith('/v1/generate'))).toEqual([]);
  });

  test('says which filter left nobody, and what to do', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ model: [] }));
    const page = await (
      await submit(emulator, '/console/playground', { router: 'campaign', modality: 'image', prompt: 'x' })
    ).text();
    expect(page).toMatch(/No eligible model.*none left/s);
  });

  test('says what is wrong with a request that is not routed at all', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator);
    const fields = { router: 'campaign', modality: 'video', prompt: 'x', duration: 'long' };
    expect(await (await submit(emulator, '/console/playground', fields)).text()).toContain('input.duration');
    expect(
      await (await submit(emulator, '/console/playground', { ...fields, router: 'none', duration: '' })).text(),
    ).toMatch(/configId|no router with the Config ID/);
  });
});
