/** Tasks: their states, cost and outputs. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { organizationSchema, usageSchema } from '../../src/contract/routing-resources.ts';
import { routingWorld } from '../support/routing-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };
const speech = { type: 'speech', promptText: 'hello' };

/** A router that only uses this model, so that its limit can be reached. */
async function withModel(world: RoutingWorld, ids: string[], settings: object = {}): Promise<string> {
  return (await world.createRouter('only', { models: { mode: 'allowlist_only', ids }, ...settings })).id;
}

async function statuses(world: RoutingWorld, ids: readonly string[]): Promise<string[]> {
  const tasks = await Promise.all(ids.map((id) => world.task(id)));
  return tasks.map(({ status }) => status);
}

describe('a task', () => {
  test('is shown as of one moment, however the time goes on while it is read', async () => {
    // Each look at the clock of the machine finds a millisecond more, and each of those is a second.
    let passedMs = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (passedMs += 1));
    onTestFinished(() => void vi.restoreAllMocks());
    const world = await routingWorld({ speed: 1_000 });
    await world.createRouter('a');
    for (let round = 0; round < 20; round += 1) {
      const id = await world.generate('image', 'a', { promptText: 'waves' });
      passedMs += round / 10;
      const seen: string[] = [];
      // Every answer is held against the schema, in which progress is at most 1.
      while (seen.at(-1) !== 'SUCCEEDED') seen.push((await world.task(id)).status);
      expect(new Set(seen)).toContain('RUNNING');
    }
  });

  test('is pending, runs and succeeds in five seconds, and shows its progress', async () => {
    const world = await routingWorld();
    await world.createRouter('a');
    const id = await world.generate('video', 'a', video);
    const [estimated] = await world.log((await world.call('GET', '/v1/routers/a')).body.id);
    const estimatedCost = { credits: estimated?.estimatedCredits };
    const createdAt = expect.stringMatching(/Z$/);
    expect(await world.task(id)).toEqual({ id, createdAt, status: 'PENDING', estimatedCost });
    const seen: unknown[] = [];
    for (const seconds of [0, 0.5, 2, 2, 0.5]) {
      world.emulator.advance(seconds);
      const { status, ...rest } = await world.task(id);
      seen.push('progress' in rest ? [status, rest.progress] : [status]);
    }
    expect(seen).toEqual([['PENDING'], ['RUNNING', 0], ['RUNNING', 0.44], ['RUNNING', 0.88], ['SUCCEEDED']]);
    expect(await world.task(id)).toEqual({
      id,
      createdAt,
      status: 'SUCCEEDED',
      output: [expect.stringMatching(/^http.*\.mp4\?expires=\d+$/)],
      cost: estimatedCost,
    });
  });

  test('goes by real time unless told otherwise, as fast as it was told', async () => {
    const world = await routingWorld({ speed: 1_000 });
    await world.createRouter('a');
    const id = await world.generate('video', 'a', video);
    await expect.poll(async () => (await world.task(id)).status, { interval: 5 }).toBe('SUCCEEDED');
  });

  test('waits while its model is at its limit, and begins in the order of submission', async () => {
    const world = await routingWorld();
    await withModel(world, ['gen4.5']);
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push(await world.generate('video', 'only', video));
    expect(await statuses(world, ids)).toEqual(['PENDING', 'THROTTLED', 'THROTTLED']);
    world.emulator.advance(5);
    expect(await statuses(world, ids)).toEqual(['SUCCEEDED', 'PENDING', 'THROTTLED']);
    // Nothing is read for a while: the third has begun when the second ended.
    world.emulator.advance(7);
    expect(await statuses(world, ids)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'RUNNING']);
    world.emulator.advance(3);
    expect(await statuses(world, ids)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  });

  test('one that waits moves up when the one before it is cancelled', async () => {
    const world = await routingWorld();
    await withModel(world, ['gen4.5']);
    const first = await world.generate('video', 'only', video);
    const second = await world.generate('video', 'only', video);
    await world.call('DELETE', `/v1/tasks/${first}`);
    expect((await world.task(second)).status).toBe('PENDING');
  });

  test('with fallback on, the next-best model is picked instead of queueing', async () => {
    const world = await routingWorld();
    const id = await withModel(world, ['gen4.5', 'veo3.1'], { fallback: { onCapacity: true } });
    const input = { ...video, duration: 4 };
    const generate = async () => (await world.call('POST', '/v1/generate/video', { configId: 'only', input })).body;
    const answers = [await generate(), await generate(), await generate()];
    const [best, next] = [answers[0].routing.model, answers[1].routing.model];
    expect(new Set([best, next])).toEqual(new Set(['gen4.5', 'veo3.1']));
    expect(answers.map(({ routing }) => [routing.model, routing.capacityFallback])).toEqual([
      [best, undefined],
      [next, { skipped: [best], allExhausted: false }],
      [best, { skipped: [], allExhausted: true }],
    ]);
    expect(
      await statuses(
        world,
        answers.map((answer) => answer.id),
      ),
    ).toEqual(['PENDING', 'PENDING', 'THROTTLED']);
    const [third, second, first] = await world.log(id);
    const capacityOf = (record: typeof first) => record?.pipeline.find(({ type }) => type === 'capacity');
    expect([first, second, third].map(capacityOf)).toEqual([
      undefined,
      { type: 'capacity', skipped: [best], allExhausted: false },
      { type: 'capacity', skipped: [], allExhausted: true },
    ]);
  });

  test('is cancelled by DELETE and then gone; a second DELETE is 404', async () => {
    const world = await routingWorld();
    await world.createRouter('a');
    const id = await world.generate('video', 'a', video);
    expect(await world.call('DELETE', `/v1/tasks/${id}`)).toMatchObject({ status: 204, body: '' });
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await world.call(method, `/v1/tasks/${id}`);
      expect({ status, body }).toEqual({ status: 404, body: { error: expect.any(String) } });
    }
  });

  test('that has ended is deleted by DELETE, with its output', async () => {
    const world = await routingWorld();
    await world.createRouter('a');
    const id = await world.generate('image', 'a', { promptText: 'a cat' });
    world.emulator.advance(60);
    const task = await world.task(id);
    const [url = ''] = task.status === 'SUCCEEDED' ? task.output : [];
    expect((await world.call('GET', url)).status).toBe(200);
    await world.call('DELETE', `/v1/tasks/${id}`);
    expect((await world.call('GET', url)).status).toBe(404);
  });

  test('that is not known is 404', async () => {
    const { call } = await routingWorld();
    for (const id of ['4d5c0d1e-8f2a-4f3b-9c57-1b2a3c4d5e6f', 'x', '%00', '..%2f'])
      expect((await call('GET', `/v1/tasks/${id}`)).status).toBe(404);
  });
});

describe('a fault of the task', () => {
  const order = (world: RoutingWorld, fault: object) => world.call('POST', '/_emulator/faults', fault);

  test('makes the next one fail with a code, and its cost is given back', async () => {
    const world = await routingWorld({ credits: 1_000 });
    await world.createRouter('a');
    await order(world, { failureCode: 'INTERNAL.BAD_OUTPUT.01', failure: 'no luck' });
    // Neither dry runs nor other requests use the fault up.
    await world.dryRun('video', 'a', video);
    const id = await world.generate('video', 'a', video);
    const other = await world.generate('audio', 'a', speech);
    expect(await world.balance()).toBeLessThan(1_000);
    world.emulator.advance(60);
    expect(await world.task(id)).toEqual({
      id,
      createdAt: expect.any(String),
      status: 'FAILED',
      failure: 'no luck',
      failureCode: 'INTERNAL.BAD_OUTPUT.01',
      cost: { credits: 0 },
    });
    const { cost } = (await world.task(other)) as { cost: { credits: number } };
    expect(await world.balance()).toBe(1_000 - cost.credits);
  });

  test.for(['SAFETY.INPUT.TEXT', 'SAFETY.INPUT.IMAGE', 'INPUT_PREPROCESSING.SAFETY.TEXT'])(
    'with %s costs what it was estimated at: the input is to blame',
    async (failureCode) => {
      const world = await routingWorld({ credits: 1_000 });
      await world.createRouter('a');
      await order(world, { failureCode });
      const id = await world.generate('video', 'a', video);
      const after = await world.balance();
      world.emulator.advance(60);
      expect(await world.task(id)).toMatchObject({ status: 'FAILED', failureCode, cost: { credits: 1_000 - after } });
      expect(await world.balance()).toBe(after);
    },
  );

  test('may cancel it, as someone in the console would', async () => {
    const world = await routingWorld();
    await world.createRouter('a');
    await order(world, { cancelled: true });
    const id = await world.generate('video', 'a', video);
    world.emulator.advance(60);
    expect(await world.task(id)).toEqual({
      id,
      createdAt: expect.any(String),
      status: 'CANCELLED',
      cost: { credits: expect.any(Number) },
    });
  });

  test('can be for one modality, and for several tasks', async () => {
    const world = await routingWorld({ tier: 5 });
    await world.createRouter('a');
    await order(world, { path: '/v1/generate/audio', times: 2, failureCode: 'INTERNAL' });
    const ids = [await world.generate('video', 'a', video)];
    for (let index = 0; index < 3; index++) ids.push(await world.generate('audio', 'a', speech));
    world.emulator.advance(60);
    expect(await statuses(world, ids)).toEqual(['SUCCEEDED', 'FAILED', 'FAILED', 'SUCCEEDED']);
  });

  test.for([
    [{ cancelled: true, path: '/v1/routers' }, 'path'],
    [{ failureCode: 'A', path: '/v1/generate/video/' }, 'path'],
    [{ failureCode: 'A', path: '/v1/tasks/*' }, 'path'],
    [{ failureCode: 'A', method: 'GET' }, 'method'],
  ] as const)('is refused where no task could meet it: %j', async ([fault, path]) => {
    const world = await routingWorld();
    const { status, body } = await order(world, fault);
    expect([status, body.issues]).toEqual([
      400,
      [{ path, message: expect.stringContaining('no task would meet this fault') }],
    ]);
    const ordered = await order(world, { failureCode: 'A', id: 'one', path: '/v1/gen*', method: 'POST' });
    expect(ordered.status).toBe(200);
    expect(
      (await world.call('PATCH', '/_emulator/faults/one', { [path]: fault[path as keyof typeof fault] })).status,
    ).toBe(400);
  });

  test.for([
    { failure: 'x' },
    { failureCode: '' },
    { failureCode: 'A', status: 500 },
    { cancelled: true, failureCode: 'A' },
    { failureCode: 'A', delayMs: 5 },
  ])('is refused as %j', async (fault) => {
    const world = await routingWorld();
    expect((await order(world, fault)).status).toBe(400);
  });
});

describe('credits', () => {
  test('are taken at creation, rounded up; the task says what it has cost', async () => {
    const world = await routingWorld({ credits: 500 });
    await withModel(world, ['wan3_prime']);
    const input = { ...video, resolution: '480p', duration: 6 };
    const { body } = await world.call('POST', '/v1/generate/video', { configId: 'only', input });
    const estimate = body.routing.estimatedCost.credits;
    expect(Number.isInteger(estimate)).toBe(false);
    expect(await world.balance()).toBe(500 - Math.ceil(estimate));
    world.emulator.advance(60);
    expect(await world.task(body.id)).toMatchObject({ cost: { credits: Math.ceil(estimate) } });
  });

  test('a balance below the cost is a 400, after validation, and is logged; equal is enough', async () => {
    const world = await routingWorld({ credits: 60 });
    const routerId = await withModel(world, ['gen4.5']);
    expect(
      (await world.call('POST', '/v1/generate/video', { configId: 'only', input: { duration: 99 } })).body.error,
    ).toBe('Validation of body failed');
    await world.generate('video', 'only', video);
    expect(await world.balance()).toBe(0);
    const refused = await world.call('POST', '/v1/generate/video', { configId: 'only', input: video });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: 'You do not have enough credits to run this task.', docUrl: 'https://docs.dev.runwayml.com/api' },
    });
    expect((await world.log(routerId))[0]).toMatchObject({ status: 'error', taskId: null, model: null });
    expect((await world.dryRun('video', 'only', video)).status).toBe(200);
  });

  test('of a task that is cancelled before it runs are given back, of one that runs they are not', async () => {
    const world = await routingWorld({ credits: 1_000 });
    await withModel(world, ['gen4.5']);
    const running = await world.generate('video', 'only', video);
    const throttled = await world.generate('video', 'only', video);
    expect(await world.balance()).toBe(880);
    await world.call('DELETE', `/v1/tasks/${throttled}`);
    expect(await world.balance()).toBe(940);
    world.emulator.advance(1);
    await world.call('DELETE', `/v1/tasks/${running}`);
    expect(await world.balance()).toBe(940);
  });
});

describe('the organization', () => {
  test('shows the limits, the balance and the last day', async () => {
    const world = await routingWorld({ tier: 2, credits: 777 });
    await withModel(world, ['gen4.5']);
    await world.generate('video', 'only', video);
    const { body } = await world.call('GET', '/v1/organization');
    const organization = organizationSchema.parse(body);
    expect(organization.tier.maxMonthlyCreditSpend).toBe(50_000);
    expect(organization.tier.models['gen4.5']).toEqual({ maxConcurrentGenerations: 3, maxDailyGenerations: 500 });
    expect(organization.tier.models['gpt_image_2']).toEqual({
      maxConcurrentGenerations: 3,
      maxDailyGenerations: 1_000,
    });
    expect(organization.creditBalance).toBe(717);
    expect(organization.usage.models['gen4.5']).toEqual({ dailyGenerations: 1 });
  });

  test('has no daily caps unless a tier was set', async () => {
    const { call } = await routingWorld();
    const { body } = await call('GET', '/v1/organization');
    expect(body.tier.models['gen4.5']).toEqual({ maxConcurrentGenerations: 1, maxDailyGenerations: null });
  });

  test('a daily cap is a 429 and goes by the last 24 hours; dry runs count for nothing', async () => {
    const world = await routingWorld({ tier: 1 });
    const routerId = await withModel(world, ['gen4_turbo', 'gen4.5'], {
      models: { mode: 'allowlist_only', ids: ['gen4.5'] },
    });
    for (let index = 0; index < 50; index++) {
      await world.generate('video', 'only', video);
      await world.dryRun('video', 'only', video);
    }
    const refused = await world.call('POST', '/v1/generate/video', { configId: 'only', input: video });
    expect(refused).toMatchObject({ status: 429, body: { error: expect.stringContaining('50') } });
    expect((await world.log(routerId))[0]).toMatchObject({ status: 'error' });
    world.emulator.advance(24 * 60 * 60);
    await world.generate('video', 'only', video);
  });

  test('usage adds up credits by day and model, refunds included', async () => {
    const world = await routingWorld();
    // Five seconds later it is the same day.
    world.emulator.clock({ now: '2026-03-14T12:00:00Z' });
    await withModel(world, ['gen4.5']);
    await world.generate('video', 'only', video);
    const { body: first } = await world.call('POST', '/v1/organization/usage', {});
    const today = usageSchema.parse(first).results.at(-1);
    expect(today?.usedCredits).toEqual([{ model: 'gen4.5', amount: 60 }]);
    expect(first.results).toHaveLength(30);
    expect(first.models).toEqual(['gen4.5']);
    world.emulator.advance(24 * 60 * 60);
    await world.call('POST', '/_emulator/faults', { failureCode: 'INTERNAL' });
    await world.generate('video', 'only', video);
    world.emulator.advance(5);
    const { body: second } = await world.call('POST', '/v1/organization/usage');
    expect(second.results.slice(-2)).toEqual([
      today,
      { date: expect.any(String), usedCredits: [{ model: 'gen4.5', amount: 0 }] },
    ]);
    const { body: range } = await world.call('POST', '/v1/organization/usage', {
      startDate: today?.date,
      beforeDate: second.results.at(-1).date,
    });
    expect(range.results).toEqual([today]);
  });

  test('usage knows the first and the last day of the calendar', async () => {
    const { call } = await routingWorld();
    for (const [startDate, beforeDate] of [
      ['0000-01-01', '0000-01-02'],
      ['9999-12-30', '9999-12-31'],
    ]) {
      const { body } = await call('POST', '/v1/organization/usage', { startDate, beforeDate });
      expect(usageSchema.parse(body).results).toEqual([{ date: startDate, usedCredits: [] }]);
    }
  });

  test.for([
    { startDate: 'yesterday' },
    { startDate: '2026-02-30' },
    { startDate: '2026-01-01', beforeDate: '2026-01-01' },
    { startDate: '2026-01-01', beforeDate: '2026-12-01' },
    { days: 3 },
    { startDate: '9999-12-31' },
    { beforeDate: '0000-01-02' },
  ])('usage refuses %j', async (query) => {
    const { call } = await routingWorld();
    expect((await call('POST', '/v1/organization/usage', query)).status).toBe(400);
  });
});
