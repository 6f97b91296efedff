/** Requests to generate, dry runs, refusals and the routing log, over HTTP. */
import { describe, expect, test } from 'vitest';
import { dryRunAnswerSchema, generateAnswerSchema, noEligibleModelSchema } from '../../src/contract/routing-answers.ts';
import { routingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9', resolution: '720p' };
const inputs = { video, image: { promptText: 'a cat' }, audio: { type: 'speech', promptText: 'hello' } };
const filters = ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price'];

describe('dry run', () => {
  test.for(Object.entries(inputs))('of %s gives the decision and the estimate', async ([modality, input]) => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a', { maxCreditsPerGeneration: { video: 100 } });
    const { status, body } = await dryRun(modality, 'a', input);
    expect(status).toBe(200);
    expect(dryRunAnswerSchema.parse(body)).toEqual({
      dryRun: true,
      routing: {
        model: expect.any(String),
        provider: expect.any(String),
        configId: 'a',
        resolvedSettings: { optimizeFor: 'cost', priceCeiling: modality === 'video' ? 100 : null },
        resolvedInput: expect.any(Object),
        estimatedCost: { credits: expect.any(Number) },
      },
    });
  });

  test('creates no task, charges nothing, logs nothing, and waits for no disk', async () => {
    const { createRouter, dryRun, balance, log, call } = await routingWorld();
    const { id } = await createRouter('a', { maxCreditsPerGeneration: { image: 0.01 } });
    const before = await balance();
    await dryRun('video', 'a', video);
    expect((await dryRun('image', 'a', inputs.image)).status).toBe(400);
    expect((await dryRun('video', 'a', { duration: 'long' })).status).toBe(400);
    expect(await balance()).toBe(before);
    expect(await log(id)).toEqual([]);
    const { body } = await call('POST', '/v1/organization/usage', {});
    expect(body.models).toEqual([]);
  });

  test('routes as the real run after it', async () => {
    const { createRouter, dryRun, call } = await routingWorld();
    await createRouter('a', { optimizeFor: 'quality' });
    const dry = await dryRun('video', 'a', video);
    const { body } = await call('POST', '/v1/generate/video', { configId: 'a', input: video });
    expect(generateAnswerSchema.parse(body).routing).toEqual(dry.body.routing);
    const { body: other } = await call('POST', '/v1/generate/video', { configId: 'a', input: video, dryRun: false });
    expect(generateAnswerSchema.parse(other).id).not.toBe(body.id);
  });
});

describe('the input is generic', () => {
  test.for(['video', 'image', 'audio'])("%s takes the four fields that the service's guide shows", async (modality) => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a');
    const answer = await dryRun(modality, 'a', video);
    expect(answer).toMatchObject({ status: 200, body: { dryRun: true } });
  });

  test('audio without a type is speech, or audio where a duration or a loop is given', async () => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a');
    const typeOf = async (input: object): Promise<string> =>
      (await dryRun('audio', 'a', { promptText: 'rain', ...input })).body.routing.resolvedInput.type;
    expect(await Promise.all([{}, { duration: 3 }, { loop: true }].map(typeOf))).toEqual(['speech', 'audio', 'audio']);
  });

  test('a data URI of 4 MB is taken', async () => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a');
    const uri = `data:image/png;base64,${'A'.repeat(4_000_000)}`;
    const answer = await dryRun('video', 'a', { ...video, referenceImages: [{ uri, role: 'first' }] });
    expect(answer.status).toBe(200);
  });

  test.for([
    ['video', { ...video, duration: 1 }, ['input', 'duration']],
    ['video', { ...video, duration: 31 }, ['input', 'duration']],
    ['video', { ...video, duration: 30.5 }, ['input', 'duration']],
    ['video', { ...video, aspectRatio: '1280:720' }, ['input', 'aspectRatio']],
    ['video', { ...video, resolution: '721p' }, ['input', 'resolution']],
    ['video', { ...video, promptText: '' }, ['input', 'promptText']],
    ['video', { ...video, model: 'veo3.1' }, ['input']],
    [
      'video',
      { ...video, referenceImages: [{ uri: 'http://a.example/b.png', role: 'first' }] },
      ['input', 'referenceImages', 0, 'uri'],
    ],
    ['image', {}, ['input', 'promptText']],
    ['image', { promptText: 'x', outputCount: 11 }, ['input', 'outputCount']],
    ['audio', { type: 'speech' }, ['input', 'promptText']],
    ['audio', { type: 'song', promptText: 'x' }, ['input', 'type']],
  ] as const)('%s refuses %j', async ([modality, input, path]) => {
    const { createRouter, call, log } = await routingWorld();
    const { id } = await createRouter('a');
    const { status, body } = await call('POST', `/v1/generate/${modality}`, { configId: 'a', input });
    expect(status).toBe(400);
    expect(body).toEqual({
      error: 'Validation of body failed',
      issues: [expect.objectContaining({ path, code: expect.any(String), message: expect.any(String) })],
      docUrl: 'https://docs.dev.runwayml.com/api',
    });
    expect(await log(id)).toMatchObject([{ status: 'invalid_request', model: null, reasonCode: null, pipeline: [] }]);
  });

  test('issues are those of zod 4', async () => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a');
    const issueOf = async (input: object): Promise<object> => (await dryRun('video', 'a', input)).body.issues[0];
    expect(await issueOf({ duration: '5' })).toMatchObject({ code: 'invalid_type', expected: 'number' });
    expect(await issueOf({ duration: 31 })).toMatchObject({ code: 'too_big', maximum: 30, inclusive: true });
    expect(await issueOf({ resolution: '5p' })).toMatchObject({
      code: 'invalid_value',
      values: ['480p', '720p', '1080p', '4k'],
    });
    expect(await issueOf({ fps: 24 })).toMatchObject({ code: 'unrecognized_keys', keys: ['fps'] });
  });

  test.for([
    {},
    { configId: 'a' },
    { input: video },
    { configId: 'a', input: video, model: 'x' },
    { configId: 'a', input: video, dryRun: 1 },
    [],
    'x',
    null,
  ])('a request that is %j is refused', async (request) => {
    const { createRouter, call, balance } = await routingWorld();
    await createRouter('a');
    const before = await balance();
    expect((await call('POST', '/v1/generate/video', JSON.stringify(request))).status).toBe(400);
    expect(await balance()).toBe(before);
  });

  test('an unknown Config ID is 404, and the id of a router is not a Config ID', async () => {
    const { createRouter, dryRun } = await routingWorld();
    const { id } = await createRouter('a');
    expect(await dryRun('video', 'b', video)).toMatchObject({ status: 404, body: { code: 'router_config_not_found' } });
    expect((await dryRun('video', id, video)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('when no model satisfies the routing rules', () => {
  test.for([
    ['price', { maxCreditsPerGeneration: { video: 1 } }, video, /ceiling/],
    ['input_support', {}, { ...video, duration: 20, resolution: '4k' }, /constraint/],
    ['allow_deny', { models: { mode: 'allowlist_only', ids: [] } }, video, /model list/],
  ] as const)(
    'the request is refused with the pipeline that emptied it: %s',
    async ([filter, settings, input, says]) => {
      const { createRouter, call, dryRun, log } = await routingWorld();
      const { id } = await createRouter('a', settings);
      const { status, body } = await call('POST', '/v1/generate/video', { configId: 'a', input });
      expect(status).toBe(400);
      const refusal = noEligibleModelSchema.parse(body);
      expect(refusal).toMatchObject({
        code: 'no_eligible_model',
        emptiedBy: [filter],
        error: expect.stringMatching(says),
      });
      const ran = filters.slice(0, filters.indexOf(filter) + 1);
      expect(refusal.pipeline.map((entry) => entry.filter)).toEqual(ran);
      expect(refusal.pipeline.map(({ models }) => models.length === 0)).toEqual(ran.map((name) => name === filter));
      expect((await dryRun('video', 'a', input)).body).toEqual(body);
      expect(await log(id)).toEqual([
        {
          id: expect.any(String),
          requestId: expect.any(String),
          status: 'no_eligible_model',
          model: null,
          provider: null,
          reason: refusal.error,
          reasonCode: null,
          estimatedCredits: null,
          taskId: null,
          createdAt: expect.any(String),
          pipeline: refusal.pipeline,
          emptiedBy: [filter],
        },
      ]);
    },
  );
});

describe('the routing log', () => {
  test('holds a record of each routed request, newest first, with the id that its answer carried', async () => {
    const { createRouter, call, log, emulator } = await routingWorld();
    const { id } = await createRouter('a');
    const first = await call('POST', '/v1/generate/video', { configId: 'a', input: video });
    emulator.advance(1);
    const second = await call('POST', '/v1/generate/audio', { configId: 'a', input: inputs.audio });
    const records = await log(id);
    expect(records.map(({ taskId }) => taskId)).toEqual([second.body.id, first.body.id]);
    expect(records[1]).toEqual({
      id: expect.any(String),
      requestId: first.headers.get('x-request-id'),
      status: 'routed',
      model: first.body.routing.model,
      provider: first.body.routing.provider,
      reason: expect.stringMatching(/./),
      reasonCode: 'lowest_cost',
      estimatedCredits: first.body.routing.estimatedCost.credits,
      taskId: first.body.id,
      createdAt: expect.stringMatching(/Z$/),
      pipeline: [
        ...filters.map((filter) => ({
          type: 'filter',
          filter,
          models: expect.arrayContaining([first.body.routing.model]),
        })),
        { type: 'rank', outcome: 'cost' },
      ],
      emptiedBy: [],
    });
  });

  test('comes in pages', async () => {
    const { createRouter, call, generate, log } = await routingWorld();
    const { id } = await createRouter('a');
    for (let index = 0; index < 5; index++) await generate('audio', 'a', inputs.audio);
    const ids = (await log(id)).map((record) => record.id);
    const { body: first } = await call('GET', `/v1/routers/${id}/requests?limit=3`);
    // A request that arrives meanwhile does not move the pages.
    await generate('audio', 'a', inputs.audio);
    const { body: second } = await call('GET', `/v1/routers/${id}/requests?limit=3&cursor=${first.nextCursor}`);
    expect([...first.data, ...second.data].map((record) => record.id)).toEqual(ids);
    expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, null]);
  });

  test('is each router its own, also where one takes over the slug of another', async () => {
    const { createRouter, call, generate, log } = await routingWorld();
    await createRouter('a');
    await generate('audio', 'a', inputs.audio);
    await call('DELETE', '/v1/routers/a');
    const { id } = await createRouter('a');
    expect(await log(id)).toEqual([]);
  });
});

describe('newly released models', () => {
  test('are eligible at once under allow_new_except, and never under allowlist_only', async () => {
    const { createRouter, dryRun, emulator, call } = await routingWorld();
    const { body: catalog } = await call('GET', '/_emulator/catalog');
    await createRouter('open', { models: { mode: 'allow_new_except', ids: ['veo3.1'] } });
    await createRouter('closed', {
      models: { mode: 'allowlist_only', ids: catalog.models.map(({ id }: { id: string }) => id) },
    });
    const template = catalog.models.find(({ id }: { id: string }) => id === 'gen4.5');
    const perSecond = { '720p': 0.5 };
    const newest = { ...template, id: 'newest', price: { perSecond } };
    const modelOf = async (slug: string): Promise<string> => (await dryRun('video', slug, video)).body.routing.model;
    const before = await modelOf('open');
    expect((await call('POST', '/_emulator/catalog', { add: [newest] })).status).toBe(200);
    expect([await modelOf('open'), await modelOf('closed')]).toEqual(['newest', before]);
    // A change applies to the present catalog and does not undo the change before it.
    expect((await call('POST', '/_emulator/catalog', { remove: ['veo3.1'] })).status).toBe(200);
    expect(await modelOf('open')).toBe('newest');
    emulator.reset();
  });

  test('an invalid catalog changes nothing', async () => {
    const { call } = await routingWorld();
    const { body: before } = await call('GET', '/_emulator/catalog');
    for (const body of ['', '[{"id":"x"}]', '{"remove":["nope"]}', '{"models":7}', 'null'])
      expect(await call('POST', '/_emulator/catalog', body)).toMatchObject({
        status: 400,
        body: { error: expect.any(String) },
      });
    expect((await call('GET', '/_emulator/catalog')).body).toEqual(before);
    expect((await call('POST', '/_emulator/catalog', before)).body).toEqual(before);
  });
});
