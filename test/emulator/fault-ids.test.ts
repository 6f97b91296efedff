/** Single faults of those that wait: each has an id, by which it is seen, changed and taken away. */
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, push } from '../support/emulator-world.ts';

const post = (emulator: Emulator) => push(emulator, { extDrivers: [driver('a', '0 1')] });

test('a fault is seen, changed and taken away by its id, and the others keep their places', async () => {
  const emulator = await emulatorWorld();
  const call = async (method: string, path: string, given?: object) => {
    const response = await emulator.fetch(`/_emulator/faults${path}`, { method, body: JSON.stringify(given) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const statuses = async () => [await post(emulator), await post(emulator)];
  await call('POST', '', [{ status: 429 }, { id: 'busy', status: 503, retryAfter: 2, times: 3 }, { status: 500 }]);
  expect(await statuses()).toEqual([429, 503]);
  expect((await call('GET', '/busy')).body).toMatchObject({ id: 'busy', status: 503, times: 2 });
  const changed = await call('PATCH', '/busy', { status: 502, retryAfter: null, times: 1 });
  expect(changed).toEqual({
    status: 200,
    body: { id: 'busy', status: 502, times: 1, delayMs: 0, probability: 1, fromSeconds: 0 },
  });
  // One that is ordered under the name of one that waits takes its place.
  await call('POST', '', { id: 'busy', status: 504 });
  expect(await statuses()).toEqual([504, 500]);
  await call('POST', '', [{ status: 429 }, { status: 500 }]);
  const [first] = (await call('GET', '')).body['faults'] as { id: string }[];
  expect((await call('DELETE', `/${first?.id}`)).body).toMatchObject({ faults: [{ status: 500 }] });
  expect(await statuses()).toEqual([500, 200]);
  for (const method of ['GET', 'DELETE']) expect((await call(method, '/busy')).status).toBe(404);
  expect((await call('PATCH', '/busy', { times: 1 })).status).toBe(404);
});

test('a fault is not changed into what could not be ordered', async () => {
  const emulator = await emulatorWorld();
  emulator.faults({ id: 'one', status: 503, times: 2, untilSeconds: 60 });
  const before = await (await emulator.fetch('/_emulator/faults')).json();
  for (const changes of [{ hang: true }, { times: 0 }, { id: 'two' }, { retry: 1 }, { fromSeconds: 90 }, [], 'no']) {
    const changed = JSON.stringify(changes);
    expect((await emulator.fetch('/_emulator/faults/one', { method: 'PATCH', body: changed })).status, changed).toBe(
      400,
    );
  }
  expect(await (await emulator.fetch('/_emulator/faults')).json()).toEqual(before);
  expect(() => emulator.removeFault('two')).toThrow('no fault two waits');
  emulator.changeFault('one', { times: 1 });
  expect([await post(emulator), await post(emulator)]).toEqual([503, 200]);
});

test('a fault keeps its moments when it is changed', async () => {
  const emulator = await emulatorWorld({ speed: 0 });
  emulator.faults({ id: 'one', status: 503, times: 'always', untilSeconds: 60 });
  emulator.advance(40);
  emulator.changeFault('one', { status: 500 });
  expect(await post(emulator)).toBe(500);
  emulator.advance(20);
  expect(await post(emulator)).toBe(200);
  expect((await emulator.fetch('/_emulator/faults/one')).status).toBe(404);
});
