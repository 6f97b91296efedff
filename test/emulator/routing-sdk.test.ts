/** The official client, unmodified, over the network against the emulator. */
import * as newest from '@runwayml/sdk';
import * as oldest from 'runwayml-sdk-4-12';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { emulatorWorld } from '../support/emulator-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9' } as const;
const image = { promptText: 'a cat' };
const audio = { type: 'speech', promptText: 'hello' } as const;

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

/** The error of a client, which does not repeat the request here. */
async function refusalOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => 'not refused',
    (error: unknown) => error,
  );
}

/** The clients look at a task every 4.5 to 7.5 seconds: those pass at once, and at the emulator too. */
function hurry(emulator: Emulator): void {
  const { setTimeout } = globalThis;
  // Node's own HTTP client gives its timers an argument.
  vi.stubGlobal('setTimeout', (call: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): NodeJS.Timeout => {
    const isLook = ms >= 4500 && ms <= 7500;
    if (isLook) emulator.advance(6);
    return setTimeout(call, isLook ? 0 : ms, ...given);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
}

interface ClientWorld {
  readonly client: newest.default;
  readonly emulator: Emulator;
}

const clients = [
  ['4.20.1', newest],
  ['4.12.0', oldest as unknown as typeof newest],
] as const;

describe.each(clients)('@runwayml/sdk %s', (_version, sdk) => {
  const { default: RunwayML, AuthenticationError, BadRequestError, ConflictError } = sdk;
  const { InternalServerError, NotFoundError, RateLimitError, TaskFailedError } = sdk;

  async function clientWorld(options: EmulatorOptions = {}): Promise<ClientWorld> {
    const emulator = await emulatorWorld({ speed: 0, ...options });
    return { emulator, client: new RunwayML({ baseURL: emulator.url, apiKey: 'key_local_test' }) };
  }

  describe.each([{}, { strict: true }])('with %j', (manners) => {
    test('creates, reads, lists, updates and deletes routers', async () => {
      const { client } = await clientWorld(manners);
      const created = await client.routers.create({ slug: 'a', name: 'A', settings: { optimizeFor: 'latency' } });
      expect(await client.routers.retrieve(created.id)).toEqual(created);
      for (const slug of ['b', 'c', 'd']) await client.routers.create({ slug, name: slug });
      const listed = await all(client.routers.list({ limit: 3 }));
      expect(listed.map(({ slug }) => slug)).toEqual(['d', 'c', 'b', 'a']);
      const settings = { maxCreditsPerGeneration: { video: 100 } };
      expect(await client.routers.update(created.id, { settings })).toMatchObject({
        version: 2,
        settings: { optimizeFor: 'latency', ...settings },
      });
      expect(await client.routers.update(created.id)).toMatchObject({ version: 2 });
      await client.routers.delete(created.id);
      expect(await refusalOf(client.routers.retrieve(created.id))).toBeInstanceOf(NotFoundError);
    });

    test('dry-runs all three modalities', async () => {
      const { client } = await clientWorld(manners);
      await client.routers.create({ slug: 'a', name: 'A' });
      const dryRun = { configId: 'a', dryRun: true };
      const answers = [
        await client.generate.video.create({ ...dryRun, input: video }),
        await client.generate.image.create({ ...dryRun, input: image }),
        await client.generate.audio.create({ ...dryRun, input: audio }),
      ];
      for (const answer of answers) expect(answer).toMatchObject({ dryRun: true, routing: { configId: 'a' } });
      const { usage } = await client.organization.retrieve();
      expect(new Set(Object.values(usage.models).map((model) => model.dailyGenerations))).toEqual(new Set([0]));
    });

    test('generates, reads the task and its log, and downloads the output', async () => {
      const { client, emulator } = await clientWorld(manners);
      const router = await client.routers.create({ slug: 'a', name: 'A' });
      for (let index = 0; index < 3; index++) await client.generate.audio.create({ configId: 'a', input: audio });
      const { id, routing } = await client.generate.image.create({ configId: 'a', input: image });
      emulator.advance(600);
      const task = await client.tasks.retrieve(id).waitForTaskOutput();
      expect(task).toMatchObject({ status: 'SUCCEEDED', cost: { credits: routing.estimatedCost.credits } });
      const download = await fetch(task.output[0] ?? '');
      expect([download.status, download.headers.get('content-type')]).toEqual([200, 'image/png']);
      // The older client has no call for the log.
      const log = await (client.routers.listRequests === undefined
        ? client.get<{ data: unknown[] }>(`/v1/routers/${router.id}/requests`).then(({ data }) => data)
        : all(client.routers.listRequests(router.id, { limit: 1 })));
      expect(log).toHaveLength(4);
      expect(log[0]).toMatchObject({ status: 'routed', taskId: id, model: routing.model, reasonCode: 'lowest_cost' });
    });
  });

  describe('strict or not', () => {
    test('waits for a task', async () => {
      const { client, emulator } = await clientWorld();
      hurry(emulator);
      await client.routers.create({ slug: 'a', name: 'A' });
      const task = await client.generate.video.create({ configId: 'a', input: video }).waitForTaskOutput();
      expect(task).toMatchObject({ status: 'SUCCEEDED', output: [expect.stringMatching(/\.mp4/)] });
    });

    test('sees a task fail, and one cancelled', async () => {
      const { client, emulator } = await clientWorld();
      await client.routers.create({ slug: 'a', name: 'A' });
      emulator.faults({ failureCode: 'SAFETY.INPUT.TEXT', failure: 'not this' }, { cancelled: true });
      const failing = await client.generate.video.create({ configId: 'a', input: video });
      const cancelled = await client.generate.image.create({ configId: 'a', input: image });
      emulator.advance(60);
      const errors = [
        await refusalOf(client.tasks.retrieve(failing.id).waitForTaskOutput()),
        await refusalOf(client.tasks.retrieve(cancelled.id).waitForTaskOutput()),
      ];
      expect(errors.map((error) => error instanceof TaskFailedError && error.message)).toEqual([
        'not this',
        'Task cancelled',
      ]);
    });

    test('cancels a task, and may do so twice', async () => {
      const { client } = await clientWorld();
      await client.routers.create({ slug: 'a', name: 'A' });
      const { id } = await client.generate.video.create({ configId: 'a', input: video });
      await client.tasks.delete(id);
      expect(await refusalOf(client.tasks.retrieve(id))).toBeInstanceOf(NotFoundError);
      expect(await refusalOf(client.tasks.delete(id))).toBeInstanceOf(NotFoundError);
    });

    test('uploads a file', async () => {
      const { client } = await clientWorld();
      await client.routers.create({ slug: 'a', name: 'A' });
      const { uri } = await client.uploads.createEphemeral({ file: new File(['png'], 'cat.png') });
      const referenceImages = [{ uri, role: 'first' as const }];
      const answer = await client.generate.video.create({ configId: 'a', input: { ...video, referenceImages } });
      expect(answer.id).toEqual(expect.any(String));
    });

    test('reads credits, limits and usage', async () => {
      const { client } = await clientWorld({ credits: 300, tier: 1 });
      await client.routers.create({ slug: 'a', name: 'A' });
      const { routing } = await client.generate.video.create({ configId: 'a', input: video });
      const organization = await client.organization.retrieve();
      expect(organization.creditBalance).toBe(300 - routing.estimatedCost.credits);
      const { results } = await client.organization.retrieveUsage({});
      expect(results.at(-1)?.usedCredits).toEqual([{ model: routing.model, amount: routing.estimatedCost.credits }]);
    });

    test('gets the class of error that each refusal has, at once where repeating it is no use', async () => {
      const { client, emulator } = await clientWorld({ credits: 1, token: 'key_local_test' });
      await client.routers.create({ slug: 'a', name: 'A', settings: { maxCreditsPerGeneration: { audio: 0.5 } } });
      const stranger = new RunwayML({ baseURL: emulator.url, apiKey: 'key_other' });
      const hasty = new RunwayML({ baseURL: emulator.url, apiKey: 'key_local_test', maxRetries: 0 });
      expect(await refusalOf(stranger.routers.list({ limit: 1 }))).toBeInstanceOf(AuthenticationError);
      expect(await refusalOf(client.routers.create({ slug: 'a', name: 'A' }))).toBeInstanceOf(ConflictError);
      expect(await refusalOf(client.routers.create({ slug: 'A', name: 'A' }))).toBeInstanceOf(BadRequestError);
      const unrouted = await refusalOf(client.generate.video.create({ configId: 'b', input: video }));
      expect(unrouted).toBeInstanceOf(NotFoundError);
      expect(unrouted).toMatchObject({ error: { code: 'router_config_not_found' } });
      const empty = await refusalOf(client.generate.audio.create({ configId: 'a', input: audio }));
      expect(empty).toBeInstanceOf(BadRequestError);
      expect(empty).toMatchObject({ error: { code: 'no_eligible_model', emptiedBy: ['price'] } });
      const poor = await refusalOf(client.generate.video.create({ configId: 'a', input: video }));
      expect(poor).toMatchObject({ status: 400, error: { error: expect.stringContaining('credits') } });
      emulator.faults({ status: 429 }, { status: 503 });
      expect(await refusalOf(hasty.routers.list({ limit: 1 }))).toBeInstanceOf(RateLimitError);
      expect(await refusalOf(hasty.routers.list({ limit: 1 }))).toBeInstanceOf(InternalServerError);
      const conflicts = emulator.requests().filter(({ status }) => status === 409);
      expect(conflicts).toHaveLength(1);
    });
  });
});
