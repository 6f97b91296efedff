/** Routers, their versions and their list. */
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/emulator-world.ts';
import { routingWorld, slugsOf } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };

describe('create a router', () => {
  test('a slug and a name are all that it needs; it is cheapest first among all models', async () => {
    const { call } = await routingWorld();
    const { status, body } = await call('POST', '/v1/routers', { slug: 'preview', name: 'Preview' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      slug: 'preview',
      name: 'Preview',
      description: null,
      version: 1,
      settings: { schemaVersion: 1, optimizeFor: 'cost', models: { mode: 'allow_new_except', ids: [] } },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: body.createdAt,
    });
  });

  test('settings are kept as given', async () => {
    const { createRouter, call } = await routingWorld();
    const settings = {
      optimizeFor: 'quality',
      models: { mode: 'allowlist_only', ids: ['veo3.1', 'seedance2'] },
      maxCreditsPerGeneration: { video: 120, audio: 2.5 },
      fallback: { onCapacity: true },
    };
    const router = await createRouter('best', settings);
    expect(router.settings).toEqual({ schemaVersion: 1, ...settings });
    expect((await call('GET', `/v1/routers/${router.id}`)).body).toEqual(router);
  });

  test('an empty list of models is one', async () => {
    const { createRouter, call } = await routingWorld();
    await createRouter('none', { models: { mode: 'allowlist_only', ids: [] } });
    const { status, body } = await call('POST', '/v1/generate/video', { configId: 'none', input: video });
    expect({ status, code: body.code, emptiedBy: body.emptiedBy }).toEqual({
      status: 400,
      code: 'no_eligible_model',
      emptiedBy: ['allow_deny'],
    });
  });

  test('a slug that is in use is refused, and the official client told not to repeat it', async () => {
    const { createRouter, call } = await routingWorld();
    await createRouter('taken');
    const { status, headers, body } = await call('POST', '/v1/routers', { slug: 'taken', name: 'Another' });
    expect({ status, retry: headers.get('x-should-retry'), error: body.error }).toEqual({
      status: 409,
      retry: 'false',
      error: 'the slug "taken" is in use by another router',
    });
  });

  test('a model that is not known is refused, and the refusal lists the known ones', async () => {
    const world = await routingWorld();
    const { status, body } = await world.call('POST', '/v1/routers', {
      slug: 'a',
      name: 'A',
      settings: { models: { mode: 'allow_new_except', ids: ['veo3.1', 'veo9'] } },
    });
    expect(status).toBe(400);
    expect(body.issues).toEqual([
      {
        code: 'invalid_value',
        path: ['settings', 'models', 'ids', 1],
        values: expect.arrayContaining(['veo3.1', 'gpt_image_2', 'eleven_v3']),
        message: expect.stringMatching(/^there is no model "veo9"; there are .*gen4_turbo/),
      },
    ]);
    expect(await slugsOf(world)).toEqual([]);
  });

  const body = { slug: 'a', name: 'A' };
  test.for([
    ['no slug', { name: 'A' }, ['slug']],
    ['no name', { slug: 'a' }, ['name']],
    ['an empty name', { ...body, name: '' }, ['name']],
    ['a name of 256 characters', { ...body, name: 'n'.repeat(256) }, ['name']],
    ['a slug with a capital', { ...body, slug: 'A' }, ['slug']],
    ['a slug that begins with a digit', { ...body, slug: '1a' }, ['slug']],
    ['a slug of 65 characters', { ...body, slug: 'a'.repeat(65) }, ['slug']],
    ['a description of 2001 characters', { ...body, description: 'd'.repeat(2_001) }, ['description']],
    ['an unknown key', { ...body, colour: 1 }, []],
    ['an unknown setting', { ...body, settings: { speed: 1 } }, ['settings']],
    ['an unknown target', { ...body, settings: { optimizeFor: 'beauty' } }, ['settings', 'optimizeFor']],
    [
      'a mode without ids',
      { ...body, settings: { models: { mode: 'allowlist_only' } } },
      ['settings', 'models', 'ids'],
    ],
    ['ids without a mode', { ...body, settings: { models: { ids: [] } } }, ['settings', 'models', 'mode']],
    [
      'a ceiling of 0',
      { ...body, settings: { maxCreditsPerGeneration: { video: 0 } } },
      ['settings', 'maxCreditsPerGeneration', 'video'],
    ],
    [
      'a ceiling for text',
      { ...body, settings: { maxCreditsPerGeneration: { text: 1 } } },
      ['settings', 'maxCreditsPerGeneration'],
    ],
    ['another schema version', { ...body, settings: { schemaVersion: 2 } }, ['settings', 'schemaVersion']],
  ])('is refused with %s', async ([, refused, path]) => {
    const { call } = await routingWorld();
    const answer = await call('POST', '/v1/routers', refused);
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 400,
      error: 'Validation of body failed',
    });
    expect(answer.body.issues).toMatchObject([{ path, message: expect.any(String), code: expect.any(String) }]);
  });
});

describe('update a router', () => {
  test('every update that names a field makes the next version, also with equal values; an empty update does not', async () => {
    const { createRouter, call, emulator } = await routingWorld();
    const { id } = await createRouter('a');
    const versions: number[] = [];
    for (const change of [
      { name: 'B' },
      { name: 'B' },
      {},
      { settings: { optimizeFor: 'latency' } },
      { description: null },
    ]) {
      emulator.advance(1);
      const { body } = await call('PATCH', `/v1/routers/${id}`, change);
      versions.push(body.version);
    }
    expect(versions).toEqual([2, 3, 3, 4, 5]);
    const { body } = await call('GET', `/v1/routers/${id}`);
    expect(Date.parse(body.updatedAt) - Date.parse(body.createdAt)).toBe(5_000);
  });

  test('an update is merged at any depth; null clears a ceiling and a description', async () => {
    const { createRouter, call } = await routingWorld();
    const { id } = await createRouter('a', {
      optimizeFor: 'quality',
      models: { mode: 'allow_new_except', ids: ['veo3.1'] },
      maxCreditsPerGeneration: { video: 100, image: 20 },
    });
    const patch = async (settings: object): Promise<object> =>
      (await call('PATCH', `/v1/routers/${id}`, { settings })).body.settings;
    const kept = { schemaVersion: 1, optimizeFor: 'quality', models: { mode: 'allow_new_except', ids: ['veo3.1'] } };
    expect(await patch({ maxCreditsPerGeneration: { audio: 5 } })).toEqual({
      ...kept,
      maxCreditsPerGeneration: { video: 100, image: 20, audio: 5 },
    });
    expect(await patch({ maxCreditsPerGeneration: { video: null, image: null } })).toEqual({
      ...kept,
      maxCreditsPerGeneration: { audio: 5 },
    });
    expect(await patch({ maxCreditsPerGeneration: { audio: null } })).toEqual(kept);
    expect(await patch({ fallback: { onCapacity: true } })).toEqual({ ...kept, fallback: { onCapacity: true } });
    expect(await patch({ models: { mode: 'allowlist_only' } })).toMatchObject({
      models: { mode: 'allowlist_only', ids: ['veo3.1'] },
    });
    expect(await patch({ models: { ids: [] } })).toMatchObject({ models: { mode: 'allowlist_only', ids: [] } });
    await call('PATCH', `/v1/routers/${id}`, { description: 'words' });
    expect((await call('PATCH', `/v1/routers/${id}`, { description: null })).body.description).toBeNull();
  });

  test('only newly named models are checked: one that left the catalog may stay', async () => {
    const { createRouter, call, emulator } = await routingWorld();
    const { id } = await createRouter('a', { models: { mode: 'allow_new_except', ids: ['veo3.1'] } });
    emulator.catalog({ remove: ['veo3.1'] });
    const patch = (ids: string[]) => call('PATCH', `/v1/routers/${id}`, { settings: { models: { ids } } });
    expect((await patch(['veo3.1', 'seedance2'])).status).toBe(200);
    expect((await patch(['seedance2'])).status).toBe(200);
    expect((await patch(['veo3.1'])).status).toBe(400);
  });

  test.for([{ slug: 'b' }, { name: '' }, { name: 'B', settings: { models: { ids: ['nope'] } } }, [], null, 'x'])(
    'is refused whole with %j',
    async (change) => {
      const { createRouter, call } = await routingWorld();
      const router = await createRouter('a');
      const { status } = await call('PATCH', `/v1/routers/${router.id}`, JSON.stringify(change));
      expect(status).toBe(400);
      expect((await call('GET', `/v1/routers/${router.id}`)).body).toEqual(router);
    },
  );

  test('applies to future requests only: those in flight keep what they were routed with', async () => {
    const { createRouter, call, generate, task, log, emulator } = await routingWorld();
    const { id } = await createRouter('a');
    const before = await generate('video', 'a', video);
    const [routed] = await log(id);
    await call('PATCH', `/v1/routers/${id}`, { settings: { models: { ids: [routed?.model] } } });
    await generate('video', 'a', video);
    const [after] = await log(id);
    expect(after?.model).not.toBe(routed?.model);
    emulator.advance(60);
    expect(await task(before)).toMatchObject({ status: 'SUCCEEDED', cost: { credits: routed?.estimatedCredits } });
    expect((await log(id))[1]).toEqual(routed);
  });

  test.for(['PATCH', 'DELETE'])(
    'a request that a fault keeps back is routed by what it came upon, with a %s or a catalog meanwhile',
    async (method) => {
      const { call, createRouter, emulator } = await routingWorld();
      const { id } = await createRouter('a', { models: { mode: 'allowlist_only', ids: ['gen4.5'] } });
      emulator.faults({ path: '/v1/generate/video', delayMs: 1000 });
      const answer = call('POST', '/v1/generate/video', { configId: 'a', input: video });
      await expect.poll(() => emulator.requests()[0]?.bytes, { interval: 1 }).toBeGreaterThan(0);
      const body = method === 'PATCH' ? { settings: { models: { ids: ['seedance2'] } } } : undefined;
      await call(method, `/v1/routers/${id}`, body);
      emulator.catalog({ remove: ['gen4.5'] });
      expect(await answer).toMatchObject({ status: 200, body: { routing: { model: 'gen4.5' } } });
    },
  );

  test('a router that is made while a fault delays a request is unknown to the request', async () => {
    const { call, createRouter, emulator } = await routingWorld();
    emulator.faults({ path: '/v1/generate/video', delayMs: 1000 });
    const answer = call('POST', '/v1/generate/video', { configId: 'a', input: video });
    await expect.poll(() => emulator.requests()[0]?.bytes, { interval: 1 }).toBeGreaterThan(0);
    await createRouter('a');
    expect(await answer).toMatchObject({ status: 404, body: { code: 'router_config_not_found' } });
  });
});

describe('delete a router', () => {
  test('it is gone, its slug is free again, and its task goes on', async () => {
    const { createRouter, call, generate, task, emulator } = await routingWorld();
    const { id } = await createRouter('a');
    const taskId = await generate('video', 'a', video);
    expect(await call('DELETE', `/v1/routers/${id}`)).toMatchObject({ status: 204, body: '' });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/requests'],
    ] as const)
      expect((await call(method, `/v1/routers/${id}${path}`, method === 'PATCH' ? {} : undefined)).status).toBe(404);
    expect(await call('POST', '/v1/generate/video', { configId: 'a', input: video })).toMatchObject({
      status: 404,
      body: { code: 'router_config_not_found' },
    });
    const again = await createRouter('a');
    expect(again).toMatchObject({ version: 1 });
    expect(again.id).not.toBe(id);
    emulator.advance(60);
    expect(await task(taskId)).toMatchObject({ status: 'SUCCEEDED' });
  });
});

describe('a router is found', () => {
  test('by its id, and by its slug as well', async () => {
    const { createRouter, call } = await routingWorld();
    const router = await createRouter('a');
    expect((await call('GET', '/v1/routers/a')).body).toEqual(router);
    expect((await call('PATCH', '/v1/routers/a', { name: 'B' })).body).toMatchObject({ id: router.id, version: 2 });
    expect((await call('GET', '/v1/routers/a/requests')).body).toEqual({ data: [], hasMore: false, nextCursor: null });
    expect((await call('DELETE', '/v1/routers/a')).status).toBe(204);
  });

  test('by its id first, where the slug of another one looks the same', async () => {
    const { call, createRouter, generate, log } = await routingWorld();
    let named = await createRouter('a');
    // An id may begin with a digit, and a slug may not.
    for (let index = 0; !/^[a-f]/.test(named.id); index++) named = await createRouter(`a${index}`);
    const other = await createRouter(named.id);
    await generate('video', named.slug, video);
    expect((await call('GET', `/v1/routers/${named.id}`)).body).toEqual(named);
    expect(await log(named.id)).toHaveLength(1);
    expect((await call('PATCH', `/v1/routers/${named.id}`, { name: 'B' })).body.slug).toBe(named.slug);
    await call('DELETE', `/v1/routers/${named.id}`);
    expect((await call('GET', `/v1/routers/${named.id}`)).body).toEqual(other);
  });

  test('in the live manner by its id alone', async () => {
    const { call, emulator } = await routingWorld({ strict: true });
    const headers = { authorization: 'Bearer key', 'x-runway-version': '2024-11-06' };
    const { body } = await call('POST', '/v1/routers', { slug: 'a', name: 'A' }, headers);
    expect((await call('GET', '/v1/routers/a', undefined, headers)).status).toBe(404);
    expect((await call('GET', `/v1/routers/${body.id}`, undefined, headers)).status).toBe(200);
    expect(emulator.requests()).toHaveLength(3);
  });
});

describe('the list of routers', () => {
  test('is newest first, and its pages are stable while routers come and go', async () => {
    const world = await routingWorld();
    for (const slug of ['a', 'b', 'c', 'd', 'e']) await world.createRouter(slug);
    const { body: first } = await world.call('GET', '/v1/routers?limit=2');
    expect(first).toMatchObject({ data: [{ slug: 'e' }, { slug: 'd' }], hasMore: true });
    // The router of the cursor and the next one are deleted, and a new one is created.
    await world.call('DELETE', '/v1/routers/d');
    await world.call('DELETE', '/v1/routers/c');
    await world.createRouter('f');
    const { body: second } = await world.call('GET', `/v1/routers?limit=2&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ data: [{ slug: 'b' }, { slug: 'a' }], hasMore: false, nextCursor: null });
    expect(await slugsOf(world)).toEqual(['f', 'e', 'b', 'a']);
  });

  test('has 50 on a page unless told otherwise', async () => {
    const world = await routingWorld();
    for (let index = 0; index < 51; index++) await world.createRouter(`r${index}`);
    expect(await slugsOf(world)).toHaveLength(50);
    expect(await slugsOf(world, '?limit=100')).toHaveLength(51);
  });

  test.for(['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=', 'limit=x', 'limit=1e1', 'limit=%00'])(
    'refuses %s',
    async (query) => {
      const { call } = await routingWorld();
      expect(await call('GET', `/v1/routers?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'Validation of query failed', issues: [{ path: ['limit'] }] },
      });
    },
  );

  test.for(['', 'x', 'MQ', '%F0%9F%92%A9', 'a'.repeat(1_001)])('refuses the cursor "%s"', async (cursor) => {
    const { call } = await routingWorld();
    expect(await call('GET', `/v1/routers?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { issues: [{ path: ['cursor'] }] },
    });
  });

  test('refuses the cursor of another list', async () => {
    const { call, createRouter, dryRun: _, generate } = await routingWorld();
    const { id } = await createRouter('a');
    await createRouter('b');
    await generate('video', 'a', video);
    await generate('video', 'a', video);
    const { body: routers } = await call('GET', '/v1/routers?limit=1');
    const { body: requests } = await call('GET', `/v1/routers/${id}/requests?limit=1`);
    expect((await call('GET', `/v1/routers/${id}/requests?cursor=${routers.nextCursor}`)).status).toBe(400);
    expect((await call('GET', `/v1/routers?cursor=${requests.nextCursor}`)).status).toBe(400);
    expect((await call('GET', `/v1/routers/b/requests?cursor=${requests.nextCursor}`)).status).toBe(400);
  });
});

describe('with a state directory', () => {
  test('routers, tasks, log, balance and time outlive a restart', async () => {
    const state = await temporaryDirectory();
    const before = await routingWorld({ state, credits: 500 });
    const router = await before.createRouter('kept', { maxCreditsPerGeneration: { video: 100 } });
    await before.call('PATCH', '/v1/routers/kept', { name: 'Kept' });
    const running = await before.generate('video', 'kept', video);
    const throttled = await before.generate('video', 'kept', video);
    before.emulator.advance(2);
    const log = await before.log(router.id);
    const kept = (await before.call('GET', '/v1/routers/kept')).body;
    const balance = await before.balance();
    await before.emulator.close();

    const after = await routingWorld({ state });
    expect((await after.call('GET', '/v1/routers/kept')).body).toEqual(kept);
    expect(kept.version).toBe(2);
    expect(await after.log(router.id)).toEqual(log);
    expect(await after.balance()).toBe(balance);
    expect(balance).toBeLessThan(500);
    expect((await after.task(throttled)).status).toBe('THROTTLED');
    after.emulator.advance(6);
    expect((await after.task(running)).status).toBe('SUCCEEDED');
    expect((await after.task(throttled)).status).not.toBe('THROTTLED');
    expect((await after.call('POST', '/v1/routers', { slug: 'kept', name: 'x' })).status).toBe(409);
  });

  test('a reset leaves nothing', async () => {
    const world = await routingWorld({ credits: 500 });
    await world.createRouter('a');
    await world.generate('video', 'a', video);
    world.emulator.reset();
    expect(await slugsOf(world)).toEqual([]);
    expect(await world.balance()).toBe(500);
    await world.createRouter('a');
  });
});
