/** The forms of routers in the console. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEligible, listOf } from '../../src/emulator/console/model-list.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';
import { createRouter, everyModel, read, routerFields, submit } from '../support/console-world.ts';
import type { Fields } from '../support/console-world.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

interface Router {
  readonly id: string;
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
  return [...page.matchAll(/name="model"\s+value="([^"]+)"[^>]* checked/g)].map(([, id = '']) => id);
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

  test('a refused form is shown again with its content and its problems', async () => {
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
    // The browser sends the form as it is shown, except for the switch.
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

  test('a router that is deleted is asked for, gone from the list, and comes back by one button', async () => {
    const emulator = await emulatorWorld();
    const path = await createRouter(emulator);
    const before = await routerOf(emulator, 'campaign');
    expect(await read(emulator, `${path}/delete`)).toMatch(/Delete this router\?.*<code>campaign<\/code> are refused/s);
    expect(await read(emulator, '/console/routers')).toContain(path);
    const list = (await submit(emulator, `${path}/delete`, {})).headers.get('location') ?? '';
    const page = await read(emulator, list);
    expect(page).not.toContain(`href="${path}"`);
    expect((await emulator.fetch(path)).status).toBe(404);
    const [, undo = ''] = /action="(\/console\/undo\/[^"]+)"/.exec(page) ?? [];
    expect((await submit(emulator, undo, {})).status).toBe(303);
    expect(await routerOf(emulator, 'campaign')).toEqual(before);
  });

  test('a router is not taken back where another one has its Config ID now', async () => {
    const emulator = await emulatorWorld();
    const path = await createRouter(emulator);
    const list = (await submit(emulator, `${path}/delete`, {})).headers.get('location') ?? '';
    const [, undo = ''] = /action="(\/console\/undo\/[^"]+)"/.exec(await read(emulator, list)) ?? [];
    await createRouter(emulator, routerFields({ name: 'Other', slug: 'campaign' }));
    const refused = await submit(emulator, undo, {});
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('in use by another router');
    expect((await routerOf(emulator, 'campaign')).name).toBe('Other');
  });

  test('the buttons of the picker work without a script, and save nothing', async () => {
    const emulator = await emulatorWorld();
    const pick = async (value: string, fields: Fields = {}): Promise<string[]> => {
      const page = await submit(emulator, '/console/routers', routerFields({ pick: value, name: 'Kept', ...fields }));
      const text = await page.text();
      expect(text).toMatch(/name="name"\s+value="Kept"/);
      return checkedIn(text);
    };
    const images = builtInCatalog.models.filter(({ modality }) => modality === 'image').map(({ id }) => id);
    expect(await pick('none')).toEqual([]);
    expect(await pick('all', { model: [] })).toHaveLength(everyModel.length);
    expect(new Set(await pick('all image', { model: [] }))).toEqual(new Set(images));
    expect(await pick('none image')).toHaveLength(everyModel.length - images.length);
    expect(await (await emulator.fetch('/v1/routers')).json()).toMatchObject({ data: [] });
  });

  test('the picker says what each model costs, how fast and how good it is, and what a ceiling excludes', async () => {
    const emulator = await emulatorWorld();
    const path = await createRouter(emulator, routerFields({ 'ceiling-video': '100' }));
    const page = await read(emulator, path);
    const rowOf = (id: string): string => page.split('<tr').find((row) => row.includes(`id="model-${id}"`)) ?? '';
    expect(rowOf('veo3.1')).toMatch(/data-credits="240".*id="above-veo3\.1" >above.*>240<.*>70<.*\s9\s/s);
    expect(rowOf('gen4.5')).toMatch(/data-credits="60".*id="above-gen4\.5" hidden>/s);
    expect(rowOf('eleven_v3')).toMatch(/data-credits="2"/);
    for (const id of everyModel) expect(rowOf(id), id).toContain('class="number quality"');
  });

  test('with --strict a ceiling is whole credits for each output, as the live service has it', async () => {
    const emulator = await emulatorWorld({ strict: true });
    expect(await read(emulator, '/console/routers/new')).toContain('Whole credits for each output');
    const refused = await submit(emulator, '/console/routers', routerFields({ 'ceiling-image': '12.5' }));
    expect(await refused.text()).toContain('Image ceiling: must be a whole number of credits from 1');
    await createRouter(emulator, routerFields({ 'ceiling-image': '12' }));
  });

  test('with --strict a ceiling that is set can be changed and not cleared, as at the live service', async () => {
    const emulator = await emulatorWorld({ strict: true });
    const path = await createRouter(emulator, routerFields({ 'ceiling-image': '12' }));
    const page = await read(emulator, path);
    expect(page).toContain('empty: none. One that is set cannot be cleared');
    expect(page).toMatch(/id="ceiling-image"[^>]*required/);
    expect(page).not.toMatch(/id="ceiling-video"[^>]*required/);
    const cleared = await submit(emulator, path, routerFields({ 'ceiling-image': '' }));
    expect(cleared.status).toBe(400);
    expect(await cleared.text()).toContain(
      'Image ceiling: must be a whole number of credits from 1: it can be changed',
    );
    await submit(emulator, path, routerFields({ 'ceiling-image': '13', 'ceiling-audio': '2' }));
    expect(await read(emulator, path)).toMatch(/id="ceiling-image"[^>]*value="13"/);
  });

  test('what is wrong is said above the form, beside its field, and leads there', async () => {
    const emulator = await emulatorWorld();
    await createRouter(emulator);
    const taken = await (await submit(emulator, '/console/routers', routerFields({ 'ceiling-image': '' }))).text();
    expect(taken).toMatch(/role="alert" tabindex="-1" autofocus.*<a href="#slug">the slug/s);
    expect(taken).toMatch(/id="slug"[^>]*aria-describedby="slug-hint problems" aria-invalid="true"/);
    const fields = routerFields({ slug: 'other', 'ceiling-image': 'ten' });
    const wrong = await (await submit(emulator, '/console/routers', fields)).text();
    expect(wrong).toContain('<a href="#ceiling-image">Image ceiling: must be a number');
    expect(wrong).toMatch(/id="ceiling-image"[^>]*aria-invalid="true"/);
    expect(wrong).not.toMatch(/id="slug"[^>]*aria-invalid/);
  });

  test('a form that is too long is refused', async () => {
    const emulator = await emulatorWorld();
    const answer = await submit(emulator, '/console/routers', routerFields({ name: 'x'.repeat(5_000_000) }));
    expect(answer.status).toBe(413);
  });

  describe('that came by the API', () => {
    /** Creates a router by the API; `save` sends its form as it is shown, with changes. */
    async function shown(router: object): Promise<{
      readonly emulator: Emulator;
      readonly path: string;
      readonly fields: Fields;
      readonly save: (changes: Fields) => Promise<Response>;
    }> {
      const emulator = await emulatorWorld();
      const body = JSON.stringify({ slug: 'campaign', name: 'Campaign', ...router });
      const { id } = (await (await emulator.fetch('/v1/routers', { method: 'POST', body })).json()) as Router;
      const path = `/console/routers/${id}`;
      const page = await read(emulator, path);
      const inputs = [
        ...page.matchAll(/<input\s+(?:type="hidden"\s+)?(?:id="[^"]*"\s+)?name="([^"]+)"\s+value="([^"]*)"/g),
      ];
      // A browser sends a value with line ends like this.
      const shownFields = Object.fromEntries(
        inputs.map(([, name = '', value = '']) => [name, value.replaceAll('\n', '')]),
      );
      const fields = routerFields({ includesNew: 'on', ...shownFields });
      return { emulator, path, fields, save: (changes) => submit(emulator, path, { ...fields, ...changes }) };
    }

    test.for([33.333_333_33, 0.300_000_000_000_000_04, 9_007_199_254_740_991, 1e21, 1e-7])(
      'keeps its ceiling of %d when something else is edited',
      async (video) => {
        const { emulator, save } = await shown({ settings: { maxCreditsPerGeneration: { video } } });
        expect((await save({ optimizeFor: 'quality' })).status).toBe(303);
        expect((await routerOf(emulator, 'campaign')).settings).toMatchObject({
          optimizeFor: 'quality',
          maxCreditsPerGeneration: { video },
        });
      },
    );

    test.for(['  lead and trail  ', 'two\nlines', '   '])(
      'keeps its name %j when something else is edited',
      async (name) => {
        const { emulator, save } = await shown({ name });
        expect((await save({ optimizeFor: 'latency' })).status).toBe(303);
        expect(await routerOf(emulator, 'campaign')).toMatchObject({ name, version: 2 });
        expect((await save({ name: ' Other ', version: '2' })).status).toBe(303);
        expect(await routerOf(emulator, 'campaign')).toMatchObject({ name: 'Other', version: 3 });
      },
    );

    test('goes by its Config ID where its name is blank', async () => {
      const { emulator, path } = await shown({ name: '   ' });
      expect(await read(emulator, path)).toContain('<h1><bdi>campaign</bdi></h1>');
      expect(await read(emulator, '/console/routers')).toContain('<bdi>campaign</bdi></a>');
      expect(await read(emulator, '/console/playground')).toContain('campaign (campaign)');
    });

    test('is not saved over what has changed meanwhile, until that was seen', async () => {
      const { emulator, save } = await shown({});
      const settings = { optimizeFor: 'latency', maxCreditsPerGeneration: { image: 5 } };
      await emulator.fetch('/v1/routers/campaign', { method: 'PATCH', body: JSON.stringify({ settings }) });
      const refused = await save({ name: 'Other' });
      expect(refused.status).toBe(409);
      const page = await refused.text();
      for (const now of ['version 2', 'Name is now Campaign', 'Optimize for is now latency', 'Image ceiling is now 5'])
        expect(page).toContain(now);
      expect(page).not.toContain('Audio ceiling is now');
      expect(await routerOf(emulator, 'campaign')).toMatchObject({ name: 'Campaign', settings });
      expect(page).toContain('name="version" value="2"');
      expect((await save({ name: 'Other', version: '2' })).status).toBe(303);
      expect(await routerOf(emulator, 'campaign')).toMatchObject({ name: 'Other', settings: { optimizeFor: 'cost' } });
    });
  });

  test.for(['0.0000001', '.5', '12.', '1e3'])('a ceiling of %s is a number above 0', async (text) => {
    const emulator = await emulatorWorld();
    await createRouter(emulator, routerFields({ 'ceiling-image': text }));
    const { maxCreditsPerGeneration } = (await routerOf(emulator, 'campaign')).settings;
    expect(maxCreditsPerGeneration).toEqual({ image: Number(text) });
  });

  test.for(['0', '-1', '12,5', 'ten', '1e999', '0x10', 'Infinity'])('a ceiling of %s is refused', async (text) => {
    const emulator = await emulatorWorld();
    const refused = await submit(emulator, '/console/routers', routerFields({ 'ceiling-image': text }));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('Image ceiling: must be a number of credits above 0');
  });
});
