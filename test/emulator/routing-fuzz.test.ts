/** Random requests to model routing: never a 500, and never half a change. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../support/campaign.ts';
import { paths, routingWorld } from '../support/routing-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';

/** The state as clients see it. */
async function everything({ call }: RoutingWorld): Promise<unknown> {
  const seen = [];
  for (const path of ['/v1/routers', '/v1/routers/a/requests', '/v1/organization'])
    seen.push((await call('GET', path)).body);
  return seen;
}

describe('random requests', () => {
  const slug = fc.constantFrom('a', 'b', 'A', '', 1, null);
  const settings = fc.record(
    {
      optimizeFor: fc.constantFrom('cost', 'quality', 'latency', 'x', 0),
      models: fc.record(
        {
          mode: fc.constantFrom('allow_new_except', 'allowlist_only', 1),
          ids: fc.oneof(fc.constant(['veo3.1']), fc.array(fc.jsonValue())),
        },
        { requiredKeys: [] },
      ),
      maxCreditsPerGeneration: fc.dictionary(
        fc.constantFrom('video', 'image', 'text'),
        fc.oneof(fc.double(), fc.constant(null)),
      ),
      fallback: fc.record({ onCapacity: fc.oneof(fc.boolean(), fc.constant('yes')) }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  const input = fc.record(
    {
      promptText: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      duration: fc.oneof(fc.integer({ min: -1, max: 40 }), fc.double()),
      aspectRatio: fc.constantFrom('16:9', '9:16', '2:3', '0:0', 'x'),
      resolution: fc.constantFrom('720p', '4k', '1k', '9p', 7),
      audio: fc.jsonValue(),
      outputCount: fc.integer({ min: 0, max: 11 }),
      type: fc.constantFrom('speech', 'audio', 'x'),
      referenceImages: fc.array(
        fc.record(
          {
            uri: fc.constantFrom('https://a.example/b.png', 'data:image/png;base64,AA', 'x'),
            role: fc.constantFrom('first', 'reference'),
          },
          { requiredKeys: [] },
        ),
      ),
      referenceVideos: fc.array(
        fc.record({ uri: fc.constant('https://a.example/b.mp4'), role: fc.constantFrom('source', 'reference', 'x') }),
      ),
      seed: fc.oneof(fc.integer(), fc.constant('x')),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fc.record(
      {
        slug,
        name: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        description: fc.jsonValue(),
        settings: fc.oneof(settings, fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        configId: fc.oneof(slug, fc.jsonValue()),
        input: fc.oneof(input, fc.jsonValue()),
        dryRun: fc.oneof(fc.boolean(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { filename: fc.jsonValue(), type: fc.constantFrom('ephemeral', 1), startDate: fc.jsonValue() },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const text = fc.oneof(
    { weight: 5, arbitrary: body.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const request = fc.tuple(
    fc.constantFrom('POST', 'PATCH', 'DELETE', 'GET'),
    fc.oneof(
      fc.constantFrom(
        ...Object.keys(paths),
        '/v1/routers/a',
        '/v1/routers/a/requests',
        '/_emulator/catalog',
        '/_emulator/advance',
        '/_emulator/faults',
      ),
      fc.webPath().map((path) => `/v1${path}`),
    ),
    text,
  );

  test('are never answered with 500, and change nothing if they are refused', async () => {
    const world = await routingWorld({ credits: 1_000_000, tier: 5 });
    await world.createRouter('a', { maxCreditsPerGeneration: { video: 1_000 } });
    const check = async (method: string, path: string, sent: string): Promise<void> => {
      const before = await everything(world);
      const { status, body: answer } = await world.call(method, path, method === 'GET' ? undefined : sent);
      world.emulator.clearFaults();
      expect(status, `${method} ${path} ${sent}`).toBeLessThan(500);
      const isRefused = status >= 400;
      expect({ method, path, sent, says: isRefused ? typeof answer.error : 'string' }).toMatchObject({
        says: 'string',
      });
      // A refusal to generate may stand in the log, and only there.
      const after = isRefused && !path.startsWith('/v1/generate') ? await everything(world) : before;
      expect(after).toEqual(before);
    };
    await fc.assert(
      fc.asyncProperty(request, ([method, path, sent]) => check(method, path, sent)),
      runsOf(130, 4500),
    );
  });

  test('either generate with a task, its cost and a log entry, or with none of them', async () => {
    const world = await routingWorld({ credits: 1_000, tier: 5 });
    const { id: routerId } = await world.createRouter('a');
    const statuses = new Set<number>();
    const check = async (modality: string, sent: object): Promise<void> => {
      const balance = await world.balance();
      const [last] = await world.log(routerId);
      const { status, body: answer } = await world.call('POST', `/v1/generate/${modality}`, {
        configId: 'a',
        input: sent,
      });
      const [logged] = await world.log(routerId);
      statuses.add(status);
      expect(logged?.id).not.toBe(last?.id);
      expect(logged?.taskId).toBe(status === 200 ? answer.id : null);
      expect(logged?.status === 'routed').toBe(status === 200);
      const taken = status === 200 ? Math.ceil(answer.routing.estimatedCost.credits) : 0;
      expect(await world.balance()).toBe(balance - taken);
    };
    // Most requests of the first generator are refused, most of the second are accepted.
    const plausible = fc.record({ promptText: fc.string({ minLength: 1 }), duration: fc.integer({ min: 2, max: 20 }) });
    const sent = fc.oneof(input, plausible);
    await fc.assert(fc.asyncProperty(fc.constantFrom('video', 'image', 'audio'), sent, check), runsOf(50, 1200));
    expect(statuses).toEqual(new Set([200, 400]));
  });
});
