import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { kinds } from '../../src/sources/index.ts';

import { receiver } from '../support/destination-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';
import { anyId, routingWorld } from '../support/routing-world.ts';
import { calm, laterClock, openSource, readWhole } from '../support/source-world.ts';
import { failureOf, secret } from '../support/web-world.ts';
import { world as agentWorld } from '../support/world.ts';

const film = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };

function sourceOf({ emulator }: RoutingWorld, keys: object = {}): Source {
  return openSource('routing', { url: emulator.url, ...keys }, '/');
}

type Record = Readonly<{ [column: string]: string }>;

/** The rows of a router as records. */
async function readRouter(source: Source, slug: string): Promise<readonly Record[]> {
  const part = (await source.parts(calm)).find(({ name }) => name === slug);
  const { columns, rows } = await readWhole(source, part);
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ''])));
}

describe('a row', () => {
  test('says what a request cost once its task has ended', async () => {
    const world = await routingWorld();
    const { id } = await world.createRouter('films');
    const task = await world.generate('video', 'films', film);
    world.emulator.advance(60);
    const [logged] = await world.log(id);
    expect(await readRouter(sourceOf(world), 'films')).toEqual([
      {
        router: 'films',
        routerId: id,
        modality: 'video',
        model: logged?.model,
        provider: logged?.provider,
        createdAt: logged?.createdAt,
        status: 'routed',
        outcome: 'SUCCEEDED',
        credits: String(logged?.estimatedCredits),
        estimatedCredits: String(logged?.estimatedCredits),
        generations: '1',
        taskId: task,
        requestId: logged?.requestId,
        reasonCode: 'lowest_cost',
      },
    ]);
  });

  test('has no cost while its task is under way, and none that was given back', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    world.emulator.faults({ failureCode: 'INTERNAL' });
    await world.generate('video', 'films', film);
    world.emulator.advance(60);
    await world.generate('video', 'films', film);
    expect(await readRouter(sourceOf(world), 'films')).toMatchObject([
      { outcome: 'FAILED', credits: '0' },
      { outcome: 'PENDING', credits: '' },
    ]);
  });

  test('of a request that was refused has neither model nor cost', async () => {
    const world = await routingWorld();
    await world.createRouter('films', { maxCreditsPerGeneration: { video: 1 } });
    const { status } = await world.call('POST', '/v1/generate/video', { configId: 'films', input: film });
    expect(status).toBe(400);
    expect(await readRouter(sourceOf(world), 'films')).toMatchObject([
      { status: 'no_eligible_model', modality: 'video', model: '', outcome: '', credits: '', generations: '' },
    ]);
  });

  test('of a task that was deleted keeps what was charged at its start', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    const task = await world.generate('video', 'films', film);
    world.emulator.advance(60);
    await world.call('DELETE', `/v1/tasks/${task}`);
    const [row] = await readRouter(sourceOf(world), 'films');
    expect(row).toMatchObject({ outcome: 'GONE', credits: row!['estimatedCredits'], generations: '1' });
    expect(row!['credits']).toMatch(/^[1-9]/);
  });

  test('knows the modality of models of every kind, of new ones by those they were chosen from', async () => {
    const world = await routingWorld();
    await world.createRouter('all');
    await world.generate('video', 'all', film);
    await world.generate('image', 'all', { promptText: 'waves' });
    await world.generate('audio', 'all', {
      type: 'speech',
      promptText: 'waves',
      voice: { type: 'preset', presetId: 'Maya' },
    });
    const { body } = await world.call('GET', '/_emulator/catalog');
    const like = body.models.find((model: { id: string }) => model.id === 'muse_image');
    world.emulator.catalog({ add: [{ ...like, id: 'brand_new' }] });
    await world.createRouter('new', { models: { mode: 'allowlist_only', ids: ['brand_new', 'gen4_image'] } });
    await world.createRouter('only', { models: { mode: 'allowlist_only', ids: ['brand_new'] } });
    for (const slug of ['new', 'only']) await world.generate('image', slug, { promptText: 'waves' });
    const source = sourceOf(world);
    const modalities = (await readRouter(source, 'all')).map(({ modality }) => modality);
    expect(new Set(modalities)).toEqual(new Set(['audio', 'image', 'video']));
    expect(await readRouter(source, 'new')).toMatchObject([{ model: 'brand_new', modality: 'image' }]);
    expect(await readRouter(source, 'only')).toMatchObject([{ model: 'brand_new', modality: 'unknown' }]);
    const told = sourceOf(world, { modalities: { brand_new: 'image' } });
    expect(await readRouter(told, 'only')).toMatchObject([{ modality: 'image' }]);
  });
});

describe('a log', () => {
  /** A router of `count` requests, a minute apart. */
  async function busyRouter(count: number): Promise<RoutingWorld> {
    const world = await routingWorld({ credits: 1_000_000, tier: 5 });
    await world.createRouter('busy');
    for (let at = 0; at < count; at++) {
      await world.generate('image', 'busy', { promptText: `picture ${at}` });
      world.emulator.advance(60);
    }
    return world;
  }

  test('comes whole and the oldest first, over several pages', async () => {
    const world = await busyRouter(230);
    const rows = await readRouter(sourceOf(world), 'busy');
    const times = rows.map((row) => row['createdAt']);
    expect(rows).toHaveLength(230);
    expect(times.every((time, at) => at === 0 || time! > times[at - 1]!)).toBe(true);
    expect(new Set(rows.map((row) => row['taskId'])).size).toBe(230);
    expect(rows.every((row) => row['outcome'] === 'SUCCEEDED')).toBe(true);
  });

  test('is complete and has each request once though others come in meanwhile', async () => {
    const world = await busyRouter(150);
    const before = await readRouter(sourceOf(world), 'busy');
    // Every page that is given makes the log longer.
    const url = await receiver(async (request, response) => {
      const answer = await world.emulator.fetch(request.url!);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      if (request.url!.includes('/requests?')) await world.generate('image', 'busy', { promptText: 'one more' });
    });
    const rows = await readRouter(openSource('routing', { url }, '/'), 'busy');
    expect(rows.slice(0, 150)).toEqual(before);
    expect(new Set(rows.map((row) => row['taskId'])).size).toBe(rows.length);
  });

  test('that has not grown is not read again, unless a task of it was under way', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    const source = sourceOf(world);
    const [empty] = await source.parts(calm);
    expect(await readWhole(source, empty)).toMatchObject({
      rows: [],
      batches: 1,
      content: { version: empty!.version },
    });
    await world.generate('video', 'films', film);
    const [running] = await source.parts(calm);
    expect(running!.version).not.toBe(empty!.version);
    const during = await readWhole(source, running);
    expect(during.content.version).not.toBe(running!.version);
    world.emulator.advance(60);
    const after = await readWhole(source, running);
    expect(after.content).toMatchObject({ version: running!.version, revisedAtMs: running!.revisedAtMs });
    expect(after.content.hash).not.toBe(during.content.hash);
    expect(await source.parts(calm)).toEqual([running]);
  });

  test('asks for the cost of a task once, however often it is read', async () => {
    const world = await busyRouter(20);
    const source = sourceOf(world);
    const taskLooks = (): number =>
      world.emulator.requests().filter(({ path }) => path.startsWith('/v1/tasks/')).length;
    const first = await readRouter(source, 'busy');
    expect(taskLooks()).toBe(20);
    await world.generate('image', 'busy', { promptText: 'one more' });
    expect((await readRouter(source, 'busy')).slice(0, 20)).toEqual(first);
    expect(taskLooks()).toBe(21);
  });

  test('keeps the digits of its credits', async () => {
    const { url } = await fakeService({ credits: '12345678901234567890.10', estimated: '1e2' });
    expect(await readRouter(openSource('routing', { url }, '/'), 'films')).toMatchObject([
      { credits: '12345678901234567890.10', estimatedCredits: '1e2' },
    ]);
  });

  test('whose order the service does not promise is read with each look', async () => {
    const { url } = await fakeService({ credits: '5', estimated: '5', order: 'oldest first' });
    const source = openSource('routing', { url }, '/');
    const [part] = await source.parts(calm);
    expect((await readWhole(source, part)).content.version).not.toBe(part!.version);
  });

  test('of a task that is not known anywhere yet is not settled', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    const task = await world.generate('video', 'films', film);
    await world.call('DELETE', `/v1/tasks/${task}`);
    const versions = async (clock: ReturnType<typeof laterClock>): Promise<boolean> => {
      const source = openSource('routing', { url: world.emulator.url }, '/', clock);
      const [part] = await source.parts(calm);
      return (await readWhole(source, part)).content.version === part!.version;
    };
    expect(await versions(laterClock(60_000))).toBe(false);
    expect(await versions(laterClock(7_200_000))).toBe(true);
  });
});

describe('routers', () => {
  test('are parts, each of them, where the config names none', async () => {
    const world = await routingWorld();
    for (let at = 0; at < 103; at++) await world.createRouter(`router-${at}`);
    expect(await sourceOf(world).parts(calm)).toHaveLength(103);
  });

  test('may be chosen by slug or by id, once each', async () => {
    const world = await routingWorld();
    const { id } = await world.createRouter('films');
    await world.createRouter('pictures');
    await world.createRouter('voices');
    const parts = await sourceOf(world, { routers: ['voices', id, 'films'] }).parts(calm);
    expect(parts.map(({ name }) => name)).toEqual(['voices', 'films']);
  });

  test('that are not there are a failure that says which are', async () => {
    const world = await routingWorld();
    const { id } = await world.createRouter('films');
    const message = 'there is no router "film"';
    const failure = { code: 'source.unreadable', message, hint: 'there are films' };
    await expect(sourceOf(world, { routers: ['film'] }).parts(calm)).rejects.toMatchObject(failure);
    const source = sourceOf(world);
    const [part] = await source.parts(calm);
    await world.call('DELETE', `/v1/routers/${id}`);
    await expect(readWhole(source, part)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: 'there is no router "films"',
      hint: 'the service has no router',
    });
    await expect(source.parts(calm)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: 'the service has no router',
    });
  });

  test('that go while their log is read are a failure', async () => {
    const { url, forget } = await fakeService({ credits: '5', estimated: '5' });
    const source = openSource('routing', { url }, '/');
    const [part] = await source.parts(calm);
    forget();
    await expect(readWhole(source, part)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: 'router "films" is gone',
    });
  });
});

describe('a failure says what, where and what to do, and nothing secret', () => {
  test('a token that is missing or wrong', async () => {
    const world = await routingWorld({ token: 'right-and-long', strict: true });
    for (const keys of [{}, { token: secret }]) {
      const failure = await failureOf(sourceOf(world, keys));
      expect(failure).toMatchObject({
        code: 'source.unreadable',
        message: expect.stringContaining(`${world.emulator.url}: it answered 401`),
        hint: 'check the credentials: token, tokenFile and headers',
      });
      expect(JSON.stringify([failure, failure.message])).not.toContain(secret);
    }
    const failure = await failureOf(sourceOf(world, { token: 'right-and-long' }));
    expect(failure.message).toBe('the service has no router');
  });

  test('a service that fails in the middle of its pages, or while tasks are read', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    for (let at = 0; at < 3; at++) await world.generate('video', 'films', film);
    const source = sourceOf(world);
    const [part] = await source.parts(calm);
    world.emulator.faults({ path: '/v1/tasks/*', status: 500, times: 2 });
    await expect(readWhole(source, part)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining('answered 500'),
    });
    world.emulator.clearFaults();
    world.emulator.faults({ path: '/v1/routers*', drop: 'before' });
    await expect(readWhole(source, part)).rejects.toMatchObject({
      code: 'source.unreadable',
      message: expect.stringContaining(`${world.emulator.url}: the connection was cut`),
    });
    expect((await readWhole(source, part)).rows).toHaveLength(3);
  });

  test.each([
    ['a web page', '<html>Log in</html>', 'a web page answered'],
    ['no JSON', '{"data":[', 'is not the list of routers'],
    ['another list', '{"data":[{"id":1}],"nextCursor":null}', 'is not the list of routers at data.0.slug'],
    ['a page that says there is more and not where', '{"data":[],"hasMore":true}', 'is not the list of routers'],
    ['pages without an end', '{"data":[],"hasMore":true,"nextCursor":"x"}', 'the list of routers did not end after 2'],
  ])('an answer that is %s', async (_what, body, message) => {
    const url = await receiver((_request, response) => response.end(body));
    const failure = await failureOf(openSource('routing', { url, headers: { 'x-key': secret } }, '/'));
    expect(failure).toMatchObject({ code: 'source.unreadable', message: expect.stringContaining(message) });
  });

  test('a service that is not there', async () => {
    const gone = createServer();
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const { port } = gone.address() as { port: number };
    await new Promise((closed) => gone.close(closed));
    expect(await failureOf(openSource('routing', { url: `http://127.0.0.1:${port}` }, '/'))).toMatchObject({
      code: 'source.unreadable',
      message: `http://127.0.0.1:${port}: the connection was refused: nothing listens there (ECONNREFUSED)`,
    });
  });

  test('a signal that aborts', async () => {
    const world = await routingWorld();
    await world.createRouter('films');
    const source = sourceOf(world);
    const [part] = await source.parts(calm);
    const reason = new Error('enough');
    await expect(source.parts(AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(source.rows(part!, AbortSignal.abort(reason)).next()).rejects.toBe(reason);
    world.emulator.faults({ path: '/v1/routers*', hang: true });
    const controller = new AbortController();
    const reading = source.rows(part!, controller.signal).next();
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test('what is wrong with the keys', () => {
    const problems = (keys: object): string[] =>
      (kinds['routing']!.schema.safeParse(keys).error?.issues ?? []).map(
        (issue) => `${issue.path.join('.')}: ${issue.message}`,
      );
    const url = 'https://api.example.com';
    expect(problems({ url, routers: [anyId], token: secret })).toEqual([]);
    expect(problems({ url: `${url}/v1/` })).toEqual(['url: /v1 in the address: leave it out, it is appended']);
    expect(problems({ url: `${url}?key=${secret}` })).toEqual(['url: a query in the address']);
    expect(problems({ url, token: secret, tokenFile: 'x' })).toEqual(['tokenFile: token and tokenFile are both there']);
    expect(problems({ url, modalities: { a: 'smell' } })[0]).toContain('modalities.a: ');
  });
});

test('its own drivers are what each model was paid and how often it was used, by month', async () => {
  const service = await routingWorld();
  const { id } = await service.createRouter('films');
  await service.createRouter('strict', { maxCreditsPerGeneration: { video: 1 } });
  for (let at = 0; at < 2; at++) await service.generate('video', 'films', film);
  await service.call('POST', '/v1/generate/video', { configId: 'strict', input: film });
  service.emulator.advance(600);
  const [logged] = await service.log(id);
  await using agent = await agentWorld({
    config: { sources: { ai: { type: 'routing', url: service.emulator.url } } },
  });
  expect(await agent.sync()).toMatchObject({ exit: 0, sources: [{ rows: 3, rejects: 0 }] });
  const month = logged!.createdAt.slice(0, 7);
  const name = `routing/films/video/${logged!.model!}`;
  expect(agent.points()).toEqual({
    [`${name}/credits`]: { [month]: String(2 * logged!.estimatedCredits!) },
    [`${name}/generations`]: { [month]: '2' },
  });
  const path = ['AI spending', 'films', 'video', logged!.model, 'Credits'];
  expect(agent.drivers()).toContainEqual(expect.objectContaining({ id: `${name}/credits`, path }));
});

interface FakeService {
  readonly url: string;
  /** The router goes, though the list still has it. */
  readonly forget: () => void;
}

/** A service with one router, whose log may be in the other order, and of two pages then. */
async function fakeService(log: { credits: string; estimated: string; order?: 'oldest first' }): Promise<FakeService> {
  let isGone = false;
  const requestOf = (at: number): string =>
    `{"id":"request-${at}","status":"routed","model":"gen4.5","estimatedCredits":${log.estimated},` +
    `"taskId":"task-${at}","createdAt":"2026-01-0${at}T00:00:00.000Z","pipeline":[]}`;
  const listed = log.order === undefined ? [[1]] : [[1, 2], [3]];
  const answer = (request: IncomingMessage, response: ServerResponse): unknown => {
    const url = new URL(request.url!, 'http://x');
    if (url.pathname === '/v1/routers') return response.end('{"data":[{"id":"r","slug":"films"}],"hasMore":false}');
    if (isGone) return response.writeHead(404).end('{}');
    if (url.pathname.startsWith('/v1/tasks/')) {
      return response.end(`{"status":"SUCCEEDED","cost":{"credits":${log.credits}}}`);
    }
    const page = Number(url.searchParams.get('cursor') ?? 0);
    const next = page + 1 < listed.length ? `"${page + 1}"` : 'null';
    return response.end(`{"data":[${listed[page]!.map(requestOf).join(',')}],"nextCursor":${next}}`);
  };
  return { url: await receiver(answer), forget: () => void (isGone = true) };
}
