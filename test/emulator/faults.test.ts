import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, push, send, temporaryDirectory } from '../support/emulator-world.ts';

const body = JSON.stringify({ extDrivers: [driver('a', '0 1')] });

/** Sends over the network. */
async function post(emulator: Emulator, init: RequestInit = {}): Promise<Response> {
  return fetch(emulator.url + updatePath, { method: 'POST', body, ...init });
}

/** Begins an update and never ends it. */
function endlessBody(): RequestInit {
  const start = Buffer.from('{"extDrivers":[');
  return { body: new ReadableStream({ start: (controller) => controller.enqueue(start) }), duplex: 'half' };
}

/** The message of a request that fails later, or the status of one that does not fail. */
async function failureOf(request: Promise<Response>): Promise<string> {
  try {
    return `answered ${(await request).status}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a fault', () => {
  test('answers the next requests with its status, and nothing is applied', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 503, retryAfter: 7, times: 2 });
    for (let request = 0; request < 2; request++) {
      const response = await post(emulator);
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('7');
      expect(await response.json()).toEqual({ error: 'a fault that answers 503' });
    }
    expect(emulator.drivers()).toEqual([]);
    expect((await post(emulator)).status).toBe(200);
    expect(emulator.drivers()).toEqual([driver('a', '0 1')]);
  });

  test('answers with any body, content type and headers, such as a login page or a redirect', async () => {
    const emulator = await emulatorWorld();
    emulator.faults(
      { status: 200, body: '<html>', contentType: 'text/html' },
      { status: 302, headers: { location: '/login' } },
      { status: 204 },
    );
    const page = await post(emulator);
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([200, 'text/html', '<html>']);
    const redirect = await post(emulator, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location'), await redirect.text()]).toEqual([302, '/login', '']);
    expect((await post(emulator)).status).toBe(204);
    expect(emulator.drivers()).toEqual([]);
  });

  test('is not for what a browser asks for by itself beside a page, which needs no token and is not recorded', async () => {
    const emulator = await emulatorWorld({ token: 's3cret' });
    emulator.faults({ status: 503 });
    const icon = await emulator.fetch('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect((await emulator.fetch('/favicon.ico', { method: 'HEAD' })).status).toBe(200);
    const devtools = '/.well-known/appspecific/com.chrome.devtools.json';
    for (const path of ['/apple-touch-icon.png', '/apple-touch-icon-120x120-precomposed.png', '/robots.txt', devtools])
      expect((await emulator.fetch(path)).status).toBe(404);
    expect(emulator.requests()).toEqual([]);
    const authorization = 'Bearer s3cret';
    expect((await post(emulator, { headers: { authorization } })).status).toBe(503);
  });

  test('may apply the request and still answer with its status', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 502, apply: true, times: 2 });
    expect((await post(emulator)).status).toBe(502);
    expect(emulator.drivers()).toEqual([driver('a', '0 1')]);
    expect(emulator.requests()[0]).toMatchObject({ status: 502, applied: true });
    expect((await post(emulator, { body: '{"extDrivers":[7]}' })).status).toBe(502);
    expect(emulator.requests()[0]).toMatchObject({ status: 502, applied: false });
  });

  test.for([
    ['before', []],
    ['after', [driver('a', '0 1')]],
  ] as const)('drops the connection %s applying', async ([drop, drivers]) => {
    const emulator = await emulatorWorld();
    emulator.faults({ drop, times: 2 });
    await expect(post(emulator)).rejects.toThrow('fetch failed');
    await expect(send(emulator, body)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    });
    expect(emulator.drivers()).toEqual(drivers);
    expect(emulator.requests()).toMatchObject(
      [1, 2].map(() => ({ status: null, applied: drop === 'after', bytes: body.length })),
    );
  });

  test.for([undefined, true] as const)('hangs until the client leaves (apply: %s)', async (apply) => {
    const emulator = await emulatorWorld();
    emulator.faults({ hang: true, times: 2, ...(apply && { apply }) });
    for (const request of [
      post,
      (_: Emulator, init: RequestInit) => emulator.fetch(updatePath, { method: 'POST', body, ...init }),
    ]) {
      const client = new AbortController();
      const failure = failureOf(request(emulator, { signal: client.signal }));
      await expect.poll(() => emulator.requests()[0]).toMatchObject({ bytes: body.length, applied: apply === true });
      client.abort(new Error('enough'));
      expect(await failure).toBe('enough');
    }
    expect(emulator.requests()).toMatchObject([{ status: null }, { status: null }]);
    expect(emulator.drivers()).toHaveLength(apply ? 1 : 0);
  });

  test('delays what it does, so that a later request is done first', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ delayMs: 1000 });
    const done: string[] = [];
    const slow = push(emulator, { extDrivers: [driver('a', '0 1')] }).then(() => done.push('slow'));
    const quick = push(emulator, { extDrivers: [driver('a', '0 2')] }).then(() => done.push('quick'));
    await Promise.all([slow, quick]);
    expect(done).toEqual(['quick', 'slow']);
    expect(emulator.drivers()).toEqual([driver('a', '0 1')]);
  });

  test('that delays lets a request land whose client has long gone', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ delayMs: 1000 });
    const client = new AbortController();
    const failure = failureOf(post(emulator, { signal: client.signal }));
    await expect.poll(() => emulator.requests()[0]).toMatchObject({ bytes: body.length, applied: false });
    client.abort(new Error('gone'));
    expect(await failure).toBe('gone');
    expect(emulator.drivers()).toEqual([]);
    await expect.poll(() => emulator.drivers()).toEqual([driver('a', '0 1')]);
  });

  test('is for its own path, to the letter or with a star at its end', async () => {
    const emulator = await emulatorWorld();
    emulator.faults(
      { path: '/v1/*', status: 500 },
      { path: '/api/extDrivers', status: 501 },
      { path: updatePath, status: 502 },
    );
    expect((await post(emulator)).status).toBe(502);
    expect((await emulator.fetch('/v1/tasks/7')).status).toBe(500);
    expect((await emulator.fetch('/api/extDrivers')).status).toBe(501);
    expect((await post(emulator)).status).toBe(200);
  });

  test('never meets the paths of the emulator itself', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 500 });
    expect((await emulator.fetch('/_emulator/drivers')).status).toBe(200);
    expect((await post(emulator)).status).toBe(500);
  });

  test('can be ordered, seen and cleared over HTTP, one or a list', async () => {
    const emulator = await emulatorWorld();
    const order = async (faults: unknown) =>
      emulator.fetch('/_emulator/faults', { method: 'POST', body: JSON.stringify(faults) });
    expect(await (await order({ status: 503, times: 2 })).json()).toEqual({
      faults: [{ id: '1', status: 503, times: 2, delayMs: 0, probability: 1, fromSeconds: 0 }],
    });
    expect((await order([{ status: 429 }, { drop: 'before' }])).status).toBe(200);
    expect([(await post(emulator)).status, (await post(emulator)).status, (await post(emulator)).status]).toEqual([
      503, 503, 429,
    ]);
    expect(await (await emulator.fetch('/_emulator/faults')).json()).toEqual({
      faults: [{ id: '3', drop: 'before', times: 1, delayMs: 0, probability: 1, fromSeconds: 0 }],
    });
    expect(await (await emulator.fetch('/_emulator/faults', { method: 'DELETE' })).json()).toEqual({ faults: [] });
    expect((await post(emulator)).status).toBe(200);
  });

  test.for([
    [
      {},
      '',
      'must have one of status, redirect, hang, drop, reset, failureCode and cancelled, or a delayMs, truncate, trickle or slowRead alone',
    ],
    [
      { status: 503, hang: true },
      '',
      'has status and hang, and must have exactly one of status, redirect, hang, drop, reset, failureCode and cancelled',
    ],
    [
      { cancelled: true, failureCode: 'A' },
      '',
      'has failureCode and cancelled, and must have exactly one of status, redirect, hang, drop, reset, failureCode and cancelled',
    ],
    [{ cancelled: true, failure: 'x' }, '', 'failure needs a failureCode'],
    [
      { cancelled: true, delayMs: 5 },
      '',
      'for a task can have no delayMs, truncate, trickle and slowRead: another fault can have them',
    ],
    [{ drop: 'before', retryAfter: 1 }, '', 'retryAfter, headers, body and contentType need a status'],
    [{ drop: 'before', apply: true }, '', 'apply needs a status or hang'],
    [[{ status: 503 }, { status: 503, retry: 1 }], '[1].retry', 'is not a known key'],
    [{ status: 503, path: 'api' }, 'path', 'must begin with "/", and may end with "*"'],
    [{ status: 503, headers: { 'x-a': 'a\nb' } }, 'headers["x-a"]', 'cannot be sent in a header'],
    [{ status: 503, headers: { 'x-a': 'é' } }, 'headers["x-a"]', 'cannot be sent in a header'],
    [{ status: 503, contentType: 'a\nb' }, 'contentType', 'cannot be sent in a header'],
    [{ status: 503, headers: { 'bad header': 'x' } }, 'headers["bad header"]', 'is not a valid header name'],
    [{ status: 503, headers: { '': 'x' } }, 'headers[""]', 'is not a valid header name'],
    [{ status: 503, retryAfter: 'a\nb' }, 'retryAfter', 'cannot be sent in a header'],
    [{ status: 503, retryAfter: 1.5 }, 'retryAfter', 'must be whole seconds, or a date as text'],
    [{ status: 503, times: 'often' }, 'times', 'must be a whole number above 0, or "always"'],
    [
      { delayMs: '5' },
      'delayMs',
      'must be whole milliseconds, or {"uniform": {minMs, maxMs}} or {"logNormal": {medianMs, sigma}}',
    ],
  ] as const)('that makes no sense is refused: %o', async ([faults, path, message]) => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch('/_emulator/faults', { method: 'POST', body: JSON.stringify(faults) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ issues: [{ path, message }] });
    expect((await post(emulator)).status).toBe(200);
  });

  test('may have every header that can be sent', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 503, headers: { 'x-_~!': ' a\t"1" ' } });
    expect((await post(emulator)).headers.get('x-_~!')).toBe('a\t"1"');
  });
});

describe('the requests', () => {
  test('are shown newest first, with what they held and what became of them', async () => {
    const emulator = await emulatorWorld();
    const zipped = gzipSync(body);
    await send(emulator, zipped, { 'content-encoding': 'gzip', 'user-agent': 'agent/1' });
    await emulator.fetch('/api/nothing?a=b', { method: 'PUT', body: 'abc' });
    const { requests } = (await (await emulator.fetch('/_emulator/requests')).json()) as { requests: unknown[] };
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(requests).toEqual([
      {
        id: 2,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        method: 'PUT',
        path: '/api/nothing?a=b',
        headers: { 'content-type': 'text/plain;charset=UTF-8' },
        bytes: 3,
        sha256: sha256('abc'),
        status: 404,
        applied: false,
        counts: null,
        warnings: [],
        requestBody: { text: 'abc', encoding: 'utf8', isCut: false },
        responseBody: { text: '{"error":"there is nothing at /api/nothing"}', encoding: 'utf8', isCut: false },
      },
      expect.objectContaining({
        id: 1,
        method: 'POST',
        path: updatePath,
        headers: { 'content-encoding': 'gzip', 'user-agent': 'agent/1' },
        bytes: body.length,
        sha256: sha256(body),
        status: 200,
        applied: true,
        counts: { drivers: 1, points: 1 },
      }),
    ]);
    expect(emulator.requests()).toEqual(requests);
  });

  test('show no secret', async () => {
    const emulator = await emulatorWorld({ token: 'hush' });
    await send(emulator, body, {
      authorization: 'Bearer hush',
      'x-api-key': 'hush',
      cookie: 'hush',
      'x-tenant': 'acme',
    });
    await send(emulator, body, { authorization: 'hush' });
    const shown = await (await emulator.fetch('/_emulator/requests')).text();
    expect(shown).not.toContain('hush');
    expect(emulator.requests()[1]?.headers).toMatchObject({ authorization: 'Bearer ***', 'x-tenant': 'acme' });
    expect(emulator.requests()[0]?.headers).toMatchObject({ authorization: '***' });
  });

  test('shows no secret that a path or another header holds', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    const query = 'access_token=s1cret&page=2&api%5Fkey=s2cret&code=s3cret&X-Amz-Signature=s4cret&state=s5cret';
    await first.fetch(`/v1/routers?${query}`, {
      headers: {
        referer: 'http://localhost/callback?page=2&id_token=s6cret',
        'x-session': 's7cret',
        link: '<https://a.example/?sig=s8cret>',
      },
    });
    const [record] = first.requests();
    expect(record?.path).toBe(
      '/v1/routers?access_token=***&page=2&api%5Fkey=***&code=***&X-Amz-Signature=***&state=***',
    );
    expect(record?.headers).toMatchObject({
      referer: 'http://localhost/callback?page=2&id_token=***',
      'x-session': '***',
    });
    expect(await (await first.fetch('/console/requests')).text()).not.toMatch(/s\dcret/);
    expect(await (await first.fetch('/_emulator/requests')).text()).not.toMatch(/s\dcret/);
    await first.close();
    expect(await readFile(join(state, 'emulator.sqlite'), 'latin1')).not.toMatch(/s\dcret/);
  });

  test('shows no secret of a record that was kept before parameters were masked', async () => {
    const state = await temporaryDirectory();
    const first = await startEmulator({ state });
    await first.fetch('/v1/routers?access_token=***');
    await first.close();
    const database = new Database(join(state, 'emulator.sqlite'));
    database.exec(`UPDATE request SET record = replace(record, '=***', '=s1cret')`);
    database.close();
    const again = await emulatorWorld({ state });
    expect(again.requests()[0]?.path).toBe('/v1/routers?access_token=***');
  });

  test('are the newest thousand', async () => {
    const emulator = await emulatorWorld();
    for (let request = 0; request < 1_005; request++) await emulator.fetch('/');
    const ids = emulator.requests().map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, 1_005, 6]);
  });
});

describe('close', () => {
  test('ends requests that hang, wait or are half received, and applies none of them', async () => {
    const state = await temporaryDirectory();
    const emulator = await startEmulator({ state });
    emulator.faults({ hang: true, times: 2 }, { delayMs: 60_000, times: 2 });
    const whole = [post(emulator), send(emulator, body), post(emulator), send(emulator, body)];
    await expect.poll(() => emulator.requests()).toHaveLength(4);
    const half = [post(emulator, endlessBody()), emulator.fetch(updatePath, { method: 'POST', ...endlessBody() })];
    await expect.poll(() => emulator.requests()).toHaveLength(6);
    const failures = Promise.all([...whole, ...half].map(failureOf));
    await emulator.close();
    expect(await failures).toEqual([...whole, ...half].map(() => 'fetch failed'));
    expect((await emulatorWorld({ state })).drivers()).toEqual([]);
  });

  test('may be called twice', async () => {
    const emulator = await startEmulator();
    await emulator.close();
    await expect(emulator.close()).resolves.toBeUndefined();
  });

  test('frees the port, and later requests fail', async () => {
    const emulator = await startEmulator();
    await emulator.close();
    await expect(post(emulator)).rejects.toThrow('fetch failed');
    await expect(send(emulator, body)).rejects.toThrow('fetch failed');
    const next = await emulatorWorld({ port: emulator.port });
    expect(next.port).toBe(emulator.port);
  });

  test('comes at the end of its block', async () => {
    let url: string;
    {
      await using emulator = await startEmulator();
      url = emulator.url;
      expect((await fetch(`${url}/_emulator/drivers`)).status).toBe(200);
    }
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

test.each([
  { needs: 'a token', options: { token: 'hush' }, path: '/api/extDrivers/update' },
  { needs: 'a token', options: { token: 'hush' }, path: '/v1/routers' },
  { needs: 'any key', options: { strict: true }, path: '/v1/routers' },
])('a request without what is needed ($needs, $path) meets no fault, and leaves it to the next one', async (one) => {
  const emulator = await emulatorWorld(one.options);
  emulator.faults({ status: 503 });
  const sent = (headers: Record<string, string>) => emulator.fetch(one.path, { method: 'POST', body: '{}', headers });
  expect((await sent({})).status).toBe(401);
  expect((await sent({ authorization: 'Bearer hush' })).status).toBe(503);
  expect((await sent({ authorization: 'Bearer hush' })).status).toBe(400);
  expect(emulator.requests().map(({ status }) => status)).toEqual([400, 503, 401]);
});
