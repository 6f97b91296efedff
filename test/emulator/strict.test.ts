/** What `--strict` changes: every difference, with the answers of both manners beside each other. */
import { expect, test } from 'vitest';
import { routingWorld } from '../support/routing-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';

const key = { authorization: 'Bearer key' };
const live = { ...key, 'x-runway-version': '2024-11-06' };

/** Sends as a client of the live service does, unless the row is about that. */
type Ask = (send: (method: string, path: string, body?: unknown) => ReturnType<RoutingWorld['call']>) => unknown;

const statusOf = async (answer: ReturnType<RoutingWorld['call']>) => (await answer).status;

function updated(change: object): Ask {
  return async (send) => {
    const { body } = await send('POST', '/v1/routers', { slug: 'a', name: 'A', settings: { optimizeFor: 'cost' } });
    const { body: after } = await send('PATCH', `/v1/routers/${body.id}`, change);
    return after.version;
  };
}

function created(body: object, path = ''): Ask {
  return async (send) => {
    const answer = await send('POST', '/v1/routers', body);
    return path === '' ? answer.status : (answer.body[path] ?? answer.status);
  };
}

function patched(change: object): Ask {
  return async (send) => {
    const { body } = await send('POST', '/v1/routers', { slug: 'a', name: 'A' });
    return statusOf(send('PATCH', `/v1/routers/${body.id}`, change));
  };
}

function dryRun(modality: string, input: object, settings: object = {}): Ask {
  return async (send) => {
    await send('POST', '/v1/routers', { slug: 'a', name: 'A', settings });
    const { status, body } = await send('POST', `/v1/generate/${modality}`, { configId: 'a', input, dryRun: true });
    return status === 200 ? 200 : (body.code ?? status);
  };
}

const ceiling = (credits: number | null) => ({ settings: { maxCreditsPerGeneration: { image: credits } } });
const fourImages = { promptText: 'waves', outputCount: 4 };
const onlyFlash = { models: { mode: 'allowlist_only', ids: ['gemini_image3.1_flash'] } };

test.each<[difference: string, ask: Ask, lenient: unknown, strict: unknown]>([
  ['an update of the name alone makes version', updated({ name: 'B' }), 2, 1],
  ['an update of the description alone makes version', updated({ description: 'b' }), 2, 1],
  ['an update with equal settings makes version', updated({ settings: { optimizeFor: 'cost' } }), 2, 1],
  ['an update of settings makes version', updated({ settings: { optimizeFor: 'latency' } }), 2, 2],
  ['an update of nothing makes version', updated({}), 1, 1],
  ['a router without a name is named', created({ slug: 'a' }, 'name'), 400, 'a'],
  ['a router whose description is null is', created({ slug: 'a', name: 'A', description: null }), 200, 400],
  ['an update to no description is', patched({ description: null }), 200, 200],
  ['a ceiling of half a credit is', created({ slug: 'a', name: 'A', ...ceiling(0.5) }), 200, 400],
  ['a ceiling of two and a half credits is', patched(ceiling(2.5)), 200, 400],
  ['a ceiling of one credit is', patched(ceiling(1)), 200, 200],
  ['a ceiling of nothing is', patched(ceiling(0)), 400, 400],
  ['a ceiling that is cleared is', patched(ceiling(null)), 200, 400],
  [
    'four images of 7 credits under a ceiling of 10 are',
    dryRun('image', fourImages, { ...onlyFlash, ...ceiling(10).settings }),
    'no_eligible_model',
    200,
  ],
  [
    'four images of 7 credits under a ceiling of 6 are',
    dryRun('image', fourImages, { ...onlyFlash, ...ceiling(6).settings }),
    'no_eligible_model',
    'no_eligible_model',
  ],
  ['an image at 720p is', dryRun('image', { promptText: 'waves', resolution: '720p' }), 200, 400],
  ['an image with a duration is', dryRun('image', { promptText: 'waves', duration: 5 }), 200, 400],
  ['an image at 1k is', dryRun('image', { promptText: 'waves', resolution: '1k' }), 200, 200],
  ['a video of five and a half seconds is', dryRun('video', { promptText: 'waves', duration: 5.5 }), 200, 400],
  ['a video of five seconds is', dryRun('video', { promptText: 'waves', duration: 5 }), 200, 200],
  [
    'a sound of half a second more is',
    dryRun('audio', { type: 'audio', promptText: 'waves', duration: 5.5 }),
    200,
    200,
  ],
  ['audio without a type is', dryRun('audio', { promptText: 'waves', duration: 5 }), 200, 400],
  ['audio with an aspectRatio is', dryRun('audio', { type: 'audio', promptText: 'a', aspectRatio: '1:1' }), 200, 400],
  [
    'a router asked for by its slug is',
    async (send) => {
      await send('POST', '/v1/routers', { slug: 'a', name: 'A' });
      return statusOf(send('GET', '/v1/routers/a'));
    },
    200,
    404,
  ],
])('%s: %o', async (_difference, ask, lenient, strict) => {
  for (const [manner, expected] of [
    [{}, lenient],
    [{ strict: true }, strict],
  ] as const) {
    const { call } = await routingWorld(manner);
    expect(await ask((method, path, body) => call(method, path, body, live)), JSON.stringify(manner)).toBe(expected);
  }
});

test.each([
  ['neither key nor version', {}, 200, 401],
  ['a key and no version', key, 200, 400],
  ['a version and no key', { 'x-runway-version': '2024-11-06' }, 200, 401],
  ['any key and the version', live, 200, 200],
  ['another version', { ...key, 'x-runway-version': '2023-01-01' }, 400, 400],
])(
  'a request with %s is answered with %o: %i, and %i as the live service does',
  async (_what, headers, ...statuses) => {
    for (const [index, manner] of [{}, { strict: true }].entries()) {
      const { call } = await routingWorld(manner);
      expect((await call('GET', '/v1/routers', undefined, headers)).status).toBe(statuses[index]);
    }
  },
);

test.for([
  [{}, 'cost', 'lowest_cost'],
  [{ strict: true }, 'single_candidate', 'only_eligible_model'],
] as const)(
  'one model that is left for a cost target is logged, with %j, as %s',
  async ([manner, outcome, reasonCode]) => {
    const { call } = await routingWorld(manner);
    const send = async (method: string, path: string, body?: unknown) => (await call(method, path, body, live)).body;
    const settings = { models: { mode: 'allowlist_only', ids: ['wan3', 'gen4.5'] } };
    const { id } = await send('POST', '/v1/routers', { slug: 'a', name: 'A', settings });
    await send('POST', '/v1/generate/video', { configId: 'a', input: { promptText: 'waves' } });
    await send('PATCH', `/v1/routers/${id}`, { settings: { models: { ...settings.models, ids: ['wan3'] } } });
    await send('POST', '/v1/generate/video', { configId: 'a', input: { promptText: 'waves' } });
    const { data } = await send('GET', `/v1/routers/${id}/requests`);
    expect(data).toMatchObject([{ reasonCode }, { reasonCode: 'lowest_cost' }]);
    expect(data[0].pipeline.at(-1)).toEqual({ type: 'rank', outcome });
    expect(data[1].pipeline.at(-1)).toEqual({ type: 'rank', outcome: 'cost' });
  },
);

test('a task takes five seconds, and with `strict` as long as its model is expected to', async () => {
  const input = { promptText: 'waves', duration: 5 };
  for (const [manner, seconds] of [
    [{}, 5],
    [{ strict: true }, 50],
  ] as const) {
    const { call, emulator } = await routingWorld(manner);
    const send = (method: string, path: string, body?: unknown) => call(method, path, body, live);
    await send('POST', '/v1/routers', { slug: 'a', name: 'A' });
    const { body } = await send('POST', '/v1/generate/video', { configId: 'a', input });
    const statusAfter = async (more: number) => {
      emulator.advance(more);
      return (await send('GET', `/v1/tasks/${body.id}`)).body.status;
    };
    expect(body.routing.model).toBe('h3_max');
    expect(await statusAfter(seconds - 0.001)).toBe('RUNNING');
    expect(await statusAfter(0.001)).toBe('SUCCEEDED');
  }
});

test('the refusal under a ceiling for each output says so', async () => {
  const { call } = await routingWorld({ strict: true });
  await call('POST', '/v1/routers', { slug: 'a', settings: { ...onlyFlash, ...ceiling(6).settings } }, live);
  const errorOf = async (input: object) =>
    (await call('POST', '/v1/generate/image', { configId: 'a', input: { ...fourImages, ...input } }, live)).body.error;
  expect(await errorOf({})).toMatch(/estimated at 7 credits an output; raise the ceiling$/);
  const remedy = 'estimated at 15 credits an output; raise the ceiling or ask for a lower resolution';
  expect(await errorOf({ resolution: '4k' })).toContain(remedy);
});

test.for([
  [false, 'speech', 200],
  [true, 'speech', 400],
  [false, undefined, 200],
  [true, undefined, 400],
] as const)('with strict: %s, audio of type %s with a duration is answered with %s', async ([strict, type, status]) => {
  const { call } = await routingWorld({ strict });
  await call('POST', '/v1/routers', { slug: 'a', name: 'A' }, live);
  const input = { type, promptText: 'waves', duration: 5 };
  const answer = await call('POST', '/v1/generate/audio', { configId: 'a', input, dryRun: true }, live);
  expect(answer.status).toBe(status);
});
