/** Model routing over HTTP: headers, methods, sizes, faults, invalid bodies, and the interface description. */
import { describe, expect, test, vi } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { emulatorWorld } from '../support/emulator-world.ts';
import { anyId as id, paths, routingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };
describe("a client that knows only the service's guide", () => {
  test('needs no credential and no version', async () => {
    const { createRouter, dryRun } = await routingWorld();
    await createRouter('a');
    expect((await dryRun('video', 'a', video)).status).toBe(200);
  });

  test.for(['Bearer key_anything', 'Bearer x', 'Basic eDp5', ''])(
    'may send the credential "%s"',
    async (authorization) => {
      const { call } = await routingWorld();
      expect((await call('GET', '/v1/routers', undefined, { authorization })).status).toBe(200);
    },
  );

  test.for(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8', 'nonsense'])(
    'may call its JSON %s',
    async (type) => {
      const { call } = await routingWorld();
      const answer = await call('POST', '/v1/routers', { slug: 'a', name: 'A' }, { 'content-type': type });
      expect(answer.status).toBe(200);
    },
  );
});

describe('a token that was set', () => {
  test('is required everywhere under /v1, and nowhere else', async () => {
    const { call } = await routingWorld({ token: 's3cret' });
    const right = { authorization: 'Bearer s3cret' };
    for (const path of Object.keys(paths).filter((each) => each.startsWith('/v1'))) {
      for (const authorization of [undefined, 'Bearer wrong', 's3cret']) {
        const headers = authorization === undefined ? undefined : { authorization };
        expect(await call('POST', path, {}, headers)).toMatchObject({
          status: 401,
          body: { error: expect.any(String) },
        });
      }
    }
    expect((await call('GET', '/v1/routers', undefined, right)).status).toBe(200);
    expect((await call('GET', `/media/${id}/0.png`)).status).toBe(404);
    expect((await call('GET', '/_emulator/catalog')).status).toBe(200);
  });
});

describe('the version header', () => {
  test.for(['2024-11-05', '2025-01-01', '', 'latest'])('is refused where it is "%s"', async (version) => {
    const { call } = await routingWorld();
    const { status, body } = await call('GET', '/v1/routers', undefined, { 'x-runway-version': version });
    expect({ status, body }).toEqual({ status: 400, body: { error: expect.stringContaining('2024-11-06') } });
  });

  test('is accepted where it is the only one there is', async () => {
    const { call } = await routingWorld();
    expect((await call('GET', '/v1/routers', undefined, { 'x-runway-version': '2024-11-06' })).status).toBe(200);
  });
});

describe('the live manner', () => {
  const headers = { authorization: 'Bearer key', 'x-runway-version': '2024-11-06' };

  test('wants a key and a version', async () => {
    const { call } = await routingWorld({ strict: true });
    expect(await call('GET', '/v1/routers')).toMatchObject({
      status: 401,
      body: { error: 'No API key was provided.' },
    });
    expect((await call('GET', '/v1/routers', undefined, { authorization: 'Bearer key' })).status).toBe(400);
    expect((await call('GET', '/v1/routers', undefined, headers)).status).toBe(200);
  });

  test('knows only the fields of each modality', async () => {
    const { call } = await routingWorld({ strict: true });
    await call('POST', '/v1/routers', { slug: 'a', name: 'A' }, headers);
    const dryRun = (modality: string, input: object) =>
      call('POST', `/v1/generate/${modality}`, { configId: 'a', dryRun: true, input }, headers);
    expect((await dryRun('video', video)).status).toBe(200);
    expect((await dryRun('image', video)).status).toBe(400);
    expect((await dryRun('audio', { promptText: 'hello' })).status).toBe(400);
    expect(
      (await dryRun('audio', { type: 'speech', promptText: 'hello', voice: { type: 'preset', presetId: 'Maya' } }))
        .status,
    ).toBe(200);
  });

  test('takes the time of the model', async () => {
    const { call, emulator } = await routingWorld({ strict: true });
    await call('POST', '/v1/routers', { slug: 'a', name: 'A' }, headers);
    const { body } = await call('POST', '/v1/generate/video', { configId: 'a', input: video }, headers);
    const { body: catalog } = await call('GET', '/_emulator/catalog');
    const model = catalog.models.find((one: { id: string }) => one.id === body.routing.model);
    const statusAfter = async (seconds: number): Promise<string> => {
      emulator.advance(seconds);
      return (await call('GET', `/v1/tasks/${body.id}`, undefined, headers)).body.status;
    };
    expect(await statusAfter(model.expectedSeconds - 0.001)).toBe('RUNNING');
    expect(await statusAfter(0.001)).toBe('SUCCEEDED');
  });
});

describe('every path', () => {
  test.for(Object.entries(paths))('%s says which methods it has', async ([path, allow]) => {
    const { call } = await routingWorld();
    const others = ['PUT', 'GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (name) => !allow.split(', ').includes(name),
    );
    for (const method of others) {
      const { status, headers, body } = await call(method, path, method === 'GET' ? undefined : '');
      expect({ method, status, allow: headers.get('allow'), body }).toEqual({
        method,
        status: 405,
        allow,
        body: { error: expect.any(String) },
      });
    }
  });

  test('and an unknown path is 404; each answer carries the id of its request', async () => {
    const { call } = await routingWorld();
    const seen = new Set<string | null>();
    for (const path of ['/v1', '/v1/', '/v1/models', '/v1/routers/', '/v1/routers/a/b', '/v1/generate', '/v2/routers'])
      for (const method of ['GET', 'POST']) {
        const { status, body, headers } = await call(method, path, method === 'POST' ? {} : undefined);
        expect({ path, status, body }).toEqual({ path, status: 404, body: { error: expect.any(String) } });
        seen.add(headers.get('x-request-id'));
      }
    expect(seen.size).toBe(14);
    expect(seen).not.toContain(null);
  });

  test.for(Object.entries(paths))('%s gets the faults that are ordered', async ([path, allow]) => {
    const { call, emulator } = await routingWorld();
    const method = allow.split(', ').find((name) => name !== 'HEAD') ?? '';
    emulator.faults({ path, status: 503, retryAfter: 2 }, { path: '/v1/*', status: 429, times: 2 });
    const answer = await call(method, path, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject({ status: 503 });
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.headers.get('x-request-id')).not.toBeNull();
  });
});

describe('a fault keeps its word', () => {
  test('what it refuses is not applied, and what it drops afterwards is', async () => {
    const { call, emulator } = await routingWorld();
    emulator.faults({ status: 500 }, { drop: 'after' });
    expect((await call('POST', '/v1/routers', { slug: 'a', name: 'A' })).status).toBe(500);
    await expect(call('POST', '/v1/routers', { slug: 'b', name: 'B' })).rejects.toThrow('fetch failed');
    expect((await call('GET', '/v1/routers')).body.data).toMatchObject([{ slug: 'b' }]);
    expect(emulator.requests().map(({ applied, status }) => [applied, status])).toEqual([
      [false, 200],
      [true, null],
      [false, 500],
    ]);
  });

  test('a request that hangs holds up nobody', async () => {
    const { call, emulator } = await routingWorld();
    emulator.faults({ hang: true });
    const hanging = call('GET', '/v1/routers');
    const ended = vi.fn<() => void>();
    hanging.then(ended, ended);
    expect((await call('GET', '/v1/routers')).status).toBe(200);
    expect(ended).not.toHaveBeenCalled();
    await emulator.close();
    await expect(hanging).rejects.toThrow('fetch failed');
  });
});

describe('a body', () => {
  test('of 200 MB is 413 on a JSON route', async () => {
    const emulator = await emulatorWorld();
    const piece = new Uint8Array(1_000_000).fill(0x20);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (sent === 200) controller.close();
        else controller.enqueue(piece);
        sent += 1;
      },
    });
    const response = await emulator.fetch('/v1/generate/video', { method: 'POST', body, duplex: 'half' });
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(200);
    const declared = await emulator.fetch('/v1/routers', {
      method: 'POST',
      body: '{}',
      headers: { 'content-length': '200000000' },
    });
    expect(declared.status).toBe(413);
  });

  test.for(['', '{', 'nul', '"\\ud800', '{"a":1}}', '\u0000', "{'slug':'a'}"])(
    'that is not JSON is 400: %j',
    async (body) => {
      const { call } = await routingWorld();
      for (const path of ['/v1/routers', '/v1/generate/image', '/v1/uploads'])
        expect(await call('POST', path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
    },
  );

  test.for([
    ['POST', '/v1/generate/video', '', 'the body is empty: it must be JSON'],
    ['POST', '/v1/generate/video', ' \n', 'the body is empty: it must be JSON'],
    ['POST', '/v1/routers', '', 'Validation of body failed: the body is empty'],
    ['POST', '/v1/routers', '\uFEFF', 'the body is empty: it must be JSON'],
    [
      'POST',
      '/v1/routers',
      '\uFEFF{,',
      `the body is not JSON: "," where a key in double quotes or "}" should be at byte 4`,
    ],
  ] as const)('that is empty, or has a mistake, says so: %s %s %j', async ([method, path, body, error]) => {
    const { call } = await routingWorld();
    expect(await call(method, path, body)).toMatchObject({ status: 400, body: { error } });
  });

  test('may begin with a byte order mark', async () => {
    const { call } = await routingWorld();
    expect((await call('POST', '/v1/routers', '\uFEFF{"slug":"a","name":"A"}')).status).toBe(200);
  });

  test('that is not UTF-8 is 400', async () => {
    const { emulator } = await routingWorld();
    const response = await emulator.fetch('/v1/routers', { method: 'POST', body: Buffer.from('7b22ff227d', 'hex') });
    expect(response.status).toBe(400);
  });

  test('may be gzip', async () => {
    const { emulator } = await routingWorld();
    const stream = new Blob(['{"slug":"a","name":"A"}']).stream().pipeThrough(new CompressionStream('gzip'));
    const response = await emulator.fetch('/v1/routers', {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { 'content-encoding': 'gzip' },
    });
    expect(response.status).toBe(200);
  });

  test('with a key that means something to JavaScript alone is refused like any unknown key', async () => {
    const { call } = await routingWorld();
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const body = `{"slug":"a","name":"A","settings":{"${key}":{"optimizeFor":"quality"}}}`;
      expect({ key, status: (await call('POST', '/v1/routers', body)).status }).toEqual({ key, status: 400 });
    }
  });

  test('with a thousand mistakes is answered briefly', async () => {
    const { call } = await routingWorld();
    const keys = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${'k'.repeat(1_000)}${index}`, 1]));
    const { status, body } = await call('POST', '/v1/routers', { slug: 'a', name: 'A', ...keys });
    expect(status).toBe(400);
    expect(JSON.stringify(body).length).toBeLessThan(50_000);
  });
});

describe('the interface description', () => {
  test('is OpenAPI 3.1 of every path of both areas, made of the schemas that requests are checked by', async () => {
    const { call } = await routingWorld();
    const { status, body } = await call('GET', '/_emulator/openapi.json');
    expect(status).toBe(200);
    expect(body.openapi).toBe('3.1.0');
    const described = Object.entries<object>(body.paths).map(([path, methods]) => [
      path.replace('{id}', id),
      Object.keys(methods)
        .map((method) => method.toUpperCase())
        .sort(),
    ]);
    const served = Object.entries({ ...paths, [updatePath]: 'POST' })
      .filter(([path]) => path.startsWith('/v1') || path === updatePath)
      .map(([path, allow]) => [
        path,
        allow
          .split(', ')
          .filter((method) => method !== 'HEAD')
          .sort(),
      ]);
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(served));
    const create = body.paths['/v1/routers'].post.requestBody.content['application/json'].schema;
    expect(create).toMatchObject({ type: 'object', required: ['slug', 'name'], additionalProperties: false });
    expect(create.properties.settings.properties.optimizeFor.enum).toEqual(['cost', 'quality', 'latency']);
    const generate = body.paths['/v1/generate/video'].post.requestBody.content['application/json'].schema;
    expect(generate.properties.input.properties.duration).toMatchObject({ type: 'number', minimum: 2, maximum: 30 });
  });

  test.for([
    ['neither strict nor with a token', {}, undefined],
    ['strict', { strict: true }, 401],
    ['with a token', { token: 't' }, 401],
  ] as const)('says how every operation refuses, %s, and whether a key is needed', async ([, options, refused]) => {
    const { call } = await routingWorld(options);
    const { body } = await call('GET', '/_emulator/openapi.json');
    expect(body.security).toEqual(refused === undefined ? [{}, { ApiKeyAuth: [] }] : [{ ApiKeyAuth: [] }]);
    const described = Object.entries<Record<string, { responses: object }>>(body.paths);
    for (const [path, methods] of described) {
      for (const [method, { responses }] of Object.entries(methods)) {
        const version = { 'x-runway-version': '2000-01-01', authorization: 'Bearer t' };
        for (const headers of [{}, version, { ...version, 'x-runway-version': '2024-11-06', 'content-encoding': 'br' }])
          expect(Object.keys(responses)).toContain(
            String((await call(method.toUpperCase(), path.replace('{id}', id), undefined, headers)).status),
          );
        expect(Object.keys(responses)).toContain('413');
      }
    }
  });
});

describe('time', () => {
  test.for(['', '{}', '{"seconds":-1}', '{"seconds":"5"}', '{"seconds":1e300}', '{"minutes":1}', 'null'])(
    'is not advanced by %s',
    async (body) => {
      const { call } = await routingWorld();
      expect((await call('POST', '/_emulator/advance', body)).status).toBe(400);
    },
  );

  test('is advanced by seconds, and ends before the year 9999 does', async () => {
    const { call } = await routingWorld();
    const now = async (seconds: number): Promise<number> =>
      Date.parse((await call('POST', '/_emulator/advance', { seconds })).body.now);
    const before = await now(0);
    expect(await now(1.5)).toBe(before + 1_500);
    for (let centuries = 0; centuries < 90; centuries++) await now(3_155_760_000);
    expect(new Date(await now(0)).toISOString()).toBe('9999-01-01T00:00:00.000Z');
    expect((await call('POST', '/v1/routers', { slug: 'a', name: 'A' })).status).toBe(200);
    expect((await call('POST', '/v1/organization/usage', {})).status).toBe(200);
  });
});

describe('options that make no sense', () => {
  test.for([
    { tier: 0 },
    { tier: 6 },
    { tier: 1.5 },
    { credits: -1 },
    { credits: 0.5 },
    { speed: -1 },
    { speed: Number.NaN },
  ])('are refused: %j', async (options) => {
    await expect(routingWorld(options)).rejects.toThrow(RangeError);
  });

  test('and an invalid catalog too', async () => {
    await expect(routingWorld({ catalog: { remove: ['nope'] } })).rejects.toMatchObject({
      issues: [{ path: ['remove', 0] }],
    });
  });
});
