/** Requests that are under way when what the emulator holds is replaced, or their client leaves. */
import { expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, push, send, temporaryDirectory } from '../support/emulator-world.ts';
import { routingWorld } from '../support/routing-world.ts';

const update = JSON.stringify({ extDrivers: [driver('ghost', '0 1')] });

/** How a request ends. */
async function endOf(request: Promise<Response>): Promise<string | number> {
  return request.then(
    ({ status }) => status,
    (error: unknown) => (error as Error).message,
  );
}

/** Resolves when so many bodies are there. */
async function haveArrived(emulator: Emulator, count: number): Promise<void> {
  await expect.poll(() => emulator.requests().filter(({ sha256 }) => sha256 !== null)).toHaveLength(count);
}

/** An update whose end comes when `finish` is called. */
function halfPush(emulator: Emulator): { readonly ended: Promise<string | number>; readonly finish: () => void } {
  let finish = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(update.slice(0, 20)));
      finish = () => {
        controller.enqueue(Buffer.from(update.slice(20)));
        controller.close();
      };
    },
    // Whoever receives it may have left.
    cancel: () => void (finish = () => undefined),
  });
  return { ended: endOf(send(emulator, body)), finish: () => finish() };
}

const locationOf = (answer: Response): string => answer.headers.get('location') ?? '';

const post = async (emulator: Emulator, path: string): Promise<number> =>
  (await emulator.fetch(path, { method: 'POST' })).status;

const replacements: Readonly<Record<string, (emulator: Emulator) => unknown>> = {
  'a reset': (emulator) => emulator.reset(),
  'going back to a snapshot': (emulator) => emulator.restore('empty'),
  'POST /_emulator/reset': async (emulator) => post(emulator, '/_emulator/reset'),
  'POST /_emulator/snapshots/empty/restore': async (emulator) => post(emulator, '/_emulator/snapshots/empty/restore'),
  'the console': async (emulator) => post(emulator, '/console/snapshots/reset'),
};

test.for(Object.keys(replacements))('%s ends them, applies none, and leaves no record', async (how) => {
  const state = await temporaryDirectory();
  const emulator = await startEmulator({ state });
  emulator.snapshot('empty');
  emulator.faults({ hang: true, apply: true }, { delayMs: 60_000, times: 4 });
  const half = halfPush(emulator);
  const requests = [
    send(emulator, update),
    fetch(emulator.url + updatePath, { method: 'POST', body: update }),
    emulator.fetch('/v1/routers', { method: 'POST', body: '{"slug":"ghost","name":"Ghost"}' }),
    emulator.fetch('/v1/organization'),
  ].map(endOf);
  await haveArrived(emulator, 4);
  await replacements[how]?.(emulator);
  expect(await Promise.all([...requests, half.ended])).toEqual(Array.from({ length: 5 }, () => 'fetch failed'));
  half.finish();
  expect([emulator.drivers(), emulator.requests()]).toEqual([[], []]);
  expect(await (await emulator.fetch('/v1/routers')).json()).toMatchObject({ data: [] });
  expect(emulator.requests().map(({ path }) => path)).toEqual(['/v1/routers']);
  await emulator.close();
  const again = await emulatorWorld({ state });
  expect([again.drivers(), again.requests().map(({ path }) => path)]).toEqual([[], ['/v1/routers']]);
});

test.for(['in memory', 'over the network'])(
  'whose client leaves during a delay are applied, and have no status: %s',
  async (how) => {
    const emulator = await emulatorWorld();
    const isInMemory = how === 'in memory';
    // The network needs time to tell that the client has left.
    emulator.faults({ delayMs: isInMemory ? 1 : 1_000 }, { delayMs: isInMemory ? 1 : 1_000, status: 503 });
    const client = new AbortController();
    const init = { method: 'POST', body: update, signal: client.signal };
    const ask = async () => (isInMemory ? emulator.fetch(updatePath, init) : fetch(emulator.url + updatePath, init));
    const ends = Promise.all([endOf(ask()), endOf(ask())]);
    if (!isInMemory) await haveArrived(emulator, 2);
    client.abort();
    expect(await ends).toEqual(['This operation was aborted', 'This operation was aborted']);
    await expect.poll(() => emulator.drivers()).toHaveLength(1);
    await emulator.close();
    const seen = emulator.requests().map(({ status, applied, responseBody }) => ({ status, applied, responseBody }));
    expect(seen).toEqual([
      { status: null, applied: false, responseBody: null },
      { status: null, applied: true, responseBody: null },
    ]);
  },
);

test('a task that was delayed costs nothing afterwards', async () => {
  const { emulator, call, createRouter, balance } = await routingWorld({ credits: 100 });
  await createRouter('cheap');
  emulator.snapshot('with-a-router');
  emulator.faults({ delayMs: 60_000 });
  const input = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };
  const delayed = call('POST', '/v1/generate/video', { configId: 'cheap', input });
  const failed = delayed.catch((error: Error) => error.message);
  await expect.poll(() => emulator.requests()[0]?.sha256).toBeTypeOf('string');
  emulator.restore('with-a-router');
  expect(await failed).toBe('fetch failed');
  expect(await balance()).toBe(100);
});

test('an answer that a fault sends in pieces ends as well', async () => {
  const emulator = await emulatorWorld();
  emulator.faults({ trickle: { bytes: 1, everyMs: 60_000 }, times: 2 });
  const answers = [await emulator.fetch('/v1/routers'), await fetch(`${emulator.url}/v1/routers`)];
  const ends = answers.map(async (answer) => answer.text().catch((error: Error) => error.message));
  emulator.reset();
  expect(await Promise.all(ends)).toEqual(['terminated', 'terminated']);
});

test('Undo of fixtures ends them, and their records stay', async () => {
  const emulator = await emulatorWorld();
  const form = new FormData();
  form.set('text', JSON.stringify({ drivers: [driver('seeded', '0 1')] }));
  const tried = await emulator.fetch('/console/fixtures', { method: 'POST', body: form });
  const loaded = await emulator.fetch(locationOf(tried), { method: 'POST' });
  const undo = new URL(locationOf(loaded), emulator.url).searchParams.get('removed') ?? '';
  expect(emulator.drivers()).toHaveLength(1);
  emulator.faults({ delayMs: 60_000 });
  const delayed = endOf(send(emulator, update));
  await expect.poll(() => emulator.requests()[0]?.sha256).toBeTypeOf('string');
  expect(await post(emulator, `/console/undo/${undo}`)).toBe(303);
  expect(await delayed).toBe('fetch failed');
  expect([emulator.drivers(), emulator.requests()[0]?.status]).toEqual([[], null]);
});

test('a fork, and what is changed in it, ends no requests of its parent', async () => {
  const emulator = await emulatorWorld();
  const half = halfPush(emulator);
  await expect.poll(() => emulator.requests()).toHaveLength(1);
  const fork = await emulator.fork();
  fork.reset();
  await fork.close();
  half.finish();
  expect(await half.ended).toBe(200);
  expect(emulator.drivers()).toHaveLength(1);
  expect(await push(emulator, { extDrivers: [] })).toBe(200);
});
