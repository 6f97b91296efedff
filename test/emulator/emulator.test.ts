import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import type { EmulatorOptions } from '../../src/emulator/index.ts';
import { at, driver, emulatorWorld, push, send, streamOf, temporaryDirectory } from '../support/emulator-world.ts';

const march = at('2026-03-15T12:00:00Z');
const april = at('2026-04-15T12:00:00Z');

describe('an update', () => {
  test('is answered with 200, no body and no content type', async () => {
    const { url } = await emulatorWorld();
    const response = await fetch(url + updatePath, { method: 'POST', body: '{"extDrivers":[]}' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('0');
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  test('makes drivers and keeps every digit and every time as sent', async () => {
    const emulator = await emulatorWorld();
    const series = driver('revenue', `0${march} -007.50`, `${april} 123456789012345678901234567890.10`);
    expect(await push(emulator, { extDrivers: [{ ...series, path: ['Revenue', 'North'] }] })).toBe(200);
    expect(emulator.drivers()).toEqual([{ ...series, path: ['Revenue', 'North'] }]);
  });

  test('leaves other drivers and other months alone', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${march} 1`, `${april} 2`), driver('b', `${march} 3`)] });
    await push(emulator, { extDrivers: [driver('a', `${april} 9`)] });
    expect(emulator.drivers()).toEqual([driver('a', `${march} 1`, `${april} 9`), driver('b', `${march} 3`)]);
  });

  test('with shouldDeleteMissing deletes the drivers and the points that it leaves out', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${march} 1`, `${april} 2`), driver('b', `${march} 3`)] });
    await push(emulator, { shouldDeleteMissing: true, extDrivers: [driver('a', `${april} 9`)] });
    expect(emulator.drivers()).toEqual([driver('a', `${april} 9`)]);
  });

  test('with shouldDeleteMissing and no drivers deletes everything', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${march} 1`)] });
    await push(emulator, { shouldDeleteMissing: true, extDrivers: [] });
    expect(emulator.drivers()).toEqual([]);
  });

  test('may say shouldDeleteMissing after its drivers', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('old')] });
    await push(emulator, { extDrivers: [driver('new')], shouldDeleteMissing: true });
    expect(emulator.drivers()).toEqual([driver('new')]);
  });

  test('takes a month over from an earlier request even where its time is earlier', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${at('2026-03-31T23:59:59Z')} 1`)] });
    await push(emulator, { extDrivers: [driver('a', `${at('2026-03-01T00:00:00Z')} 2`)] });
    expect(emulator.drivers()).toEqual([driver('a', `${at('2026-03-01T00:00:00Z')} 2`)]);
  });

  test('keeps the latest time of a month, and of equal times the later element', async () => {
    const emulator = await emulatorWorld();
    const noon = at('2026-03-20T12:00:00Z');
    await push(emulator, { extDrivers: [driver('a', `${noon} 1`, `${noon} 2`, `${march} 3`, `${april} 4`)] });
    expect(emulator.drivers()).toEqual([driver('a', `${noon} 2`, `${april} 4`)]);
  });

  test('may hold the same id more than once: the points of both, and the later path', async () => {
    const emulator = await emulatorWorld();
    const first = { ...driver('a', `${april} 1`, `${march} 2`), path: ['Old'] };
    const second = { ...driver('a', `${at('2026-04-01T00:00:00Z')} 3`), path: ['New'] };
    await push(emulator, { extDrivers: [first, driver('b'), second] });
    expect(emulator.drivers()).toEqual([{ ...driver('a', `${march} 2`, `${april} 1`), path: ['New'] }, driver('b')]);
  });

  // Putting them together one by one would take minutes.
  test('may hold one id fifty thousand times', async () => {
    const emulator = await emulatorWorld();
    const monthSeconds = 2_700_000;
    const times = Array.from({ length: 25_000 }, (_, index) => index * monthSeconds);
    // Each month twice: the later time counts in the even ones, the later element in the odd ones, whose times are equal.
    const again = times.map((time, index) => (index % 2 === 0 ? time - 1 : time));
    const updates = [...times.map((time) => `${time} 1`), ...again.map((time) => `${time} 2`)];
    const extDrivers = updates.map((point, index) => ({ ...driver('a', point), path: [String(index)] }));
    expect(await push(emulator, { extDrivers: [driver('b'), ...extDrivers] })).toBe(200);
    const [a] = emulator.drivers();
    expect(a?.path).toEqual(['49999']);
    const months = new Map<string, string>();
    for (const { time, value } of a?.timeSeries ?? []) months.set(time, value);
    expect(times.filter((time, index) => months.get(String(time)) !== String(1 + (index % 2)))).toEqual([]);
  });

  test.for([1, 2, 100])('may begin with a byte order mark, in pieces of %i bytes', async (pieceBytes) => {
    const emulator = await emulatorWorld();
    const body = Buffer.from(`\uFEFF${JSON.stringify({ extDrivers: [driver('a')] })}`);
    expect((await send(emulator, streamOf(body, pieceBytes))).status).toBe(200);
    expect(emulator.drivers()).toEqual([driver('a')]);
  });

  test('replaces the path of a driver, also without any point', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${march} 1`)] });
    await push(emulator, { extDrivers: [{ id: 'a', path: ['Moved', 'Here'], timeSeries: [] }] });
    expect(emulator.drivers()).toEqual([{ ...driver('a', `${march} 1`), path: ['Moved', 'Here'] }]);
  });

  test.for(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    'is read as JSON when it says %s',
    async (type) => {
      const emulator = await emulatorWorld();
      expect(
        (await send(emulator, '{"extDrivers":[{"id":"é","path":["é"],"timeSeries":[]}]}', { 'content-type': type }))
          .status,
      ).toBe(200);
      expect(emulator.drivers()).toEqual([driver('é')]);
    },
  );
});

describe('the drivers', () => {
  test('are shown exactly, in the order of the UTF-8 bytes of their ids', async () => {
    const emulator = await emulatorWorld();
    // By UTF-16 the emoji would come before U+FFFD.
    const ids = ['\u{1F600}', 'b', '\uFFFD', 'a', 'B', 'é'];
    await push(emulator, { extDrivers: ids.map((id) => ({ timeSeries: [], path: ['P'], id })) });
    const response = await emulator.fetch('/_emulator/drivers');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe(
      `{"drivers":[${['B', 'a', 'b', 'é', '\uFFFD', '\u{1F600}'].map((id) => `{"id":"${id}","path":["P"],"timeSeries":[]}`).join(',')}]}`,
    );
  });

  test('are shown with their points in the order of months', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a', `${april} 2`, '-1 0', `${march} 1`)] });
    const shown = await (await emulator.fetch('/_emulator/drivers')).text();
    expect(shown).toBe(
      `{"drivers":[{"id":"a","path":["a"],"timeSeries":[{"time":"-1","value":"0"},{"time":"${march}","value":"1"},{"time":"${april}","value":"2"}]}]}`,
    );
  });

  test('are shown as they were when the reading began, however many there are', async () => {
    const emulator = await emulatorWorld();
    const ids = Array.from({ length: 3_000 }, (_, index) => `driver-${String(index).padStart(5, '0')}`);
    await push(emulator, { extDrivers: ids.map((id) => driver(id, `${march} 1`)) });
    const response = await emulator.fetch('/_emulator/drivers');
    const body = response.body as ReadableStream<Uint8Array>;
    const reader = body.getReader();
    const { value: first = new Uint8Array() } = await reader.read();
    reader.releaseLock();
    expect(await push(emulator, { shouldDeleteMissing: true, extDrivers: [] })).toBe(200);
    const rest: Uint8Array[] = [];
    for await (const piece of body) rest.push(piece);
    expect(rest.length).toBeGreaterThan(1);
    const shown = JSON.parse(Buffer.concat([first, ...rest]).toString()) as { drivers: { id: string }[] };
    expect(shown.drivers.map(({ id }) => id)).toEqual(ids);
    expect(emulator.drivers()).toEqual([]);
  });

  test('are nested by their paths in the tree, under parents that need not be drivers', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, {
      extDrivers: [
        { id: '1', path: ['Users', 'Sign Ups'], timeSeries: [] },
        { id: '2', path: ['Users'], timeSeries: [] },
        { id: '3', path: ['Revenue', 'North', 'Shoes'], timeSeries: [] },
        { id: '4', path: ['Users', 'Retention'], timeSeries: [] },
        { id: '5', path: ['Users', 'Retention'], timeSeries: [] },
        { id: '6', path: ['Users', 'Retention', 'Day 7'], timeSeries: [] },
      ],
    });
    const leaf = (name: string, ...drivers: string[]) => ({ name, drivers, children: [] });
    expect(await (await emulator.fetch('/_emulator/tree')).json()).toEqual({
      tree: [
        { name: 'Revenue', drivers: [], children: [{ name: 'North', drivers: [], children: [leaf('Shoes', '3')] }] },
        {
          name: 'Users',
          drivers: ['2'],
          children: [{ name: 'Retention', drivers: ['4', '5'], children: [leaf('Day 7', '6')] }, leaf('Sign Ups', '1')],
        },
      ],
    });
  });

  test('make an empty tree if there are none', async () => {
    const emulator = await emulatorWorld();
    expect(await (await emulator.fetch('/_emulator/tree')).json()).toEqual({ tree: [] });
  });
});

describe('the emulator', () => {
  test('forgets drivers, requests and faults on reset', async () => {
    const emulator = await emulatorWorld();
    await push(emulator, { extDrivers: [driver('a')] });
    emulator.faults({ status: 503, times: 5 });
    expect((await emulator.fetch('/_emulator/reset', { method: 'POST' })).status).toBe(204);
    expect(emulator.drivers()).toEqual([]);
    expect(emulator.requests()).toEqual([]);
    expect(await push(emulator, { extDrivers: [] })).toBe(200);
  });

  test('has everything again after a restart on the same state, and keeps it private', async () => {
    const state = join(await temporaryDirectory(), 'new', 'state');
    const first = await startEmulator({ state });
    await push(first, { extDrivers: [driver('a', `${march} 1.50`)] });
    const [request] = first.requests();
    await first.close();
    expect((await stat(state)).mode & 0o777).toBe(0o700);

    const second = await emulatorWorld({ state });
    expect(second.drivers()).toEqual([driver('a', `${march} 1.50`)]);
    expect(second.requests()).toEqual([request]);
  });

  test('keeps nothing without a state', async () => {
    const first = await startEmulator();
    await push(first, { extDrivers: [driver('a')] });
    await first.close();
    expect((await emulatorWorld()).drivers()).toEqual([]);
  });

  test('says with the code of the system that its port is in use, or its state no directory', async () => {
    const { port } = await emulatorWorld();
    await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    await expect(startEmulator({ state: file })).rejects.toMatchObject({ code: 'EEXIST' });
  });

  test('answers a wrong method with 405 and the allowed ones, and an unknown path with 404', async () => {
    const emulator = await emulatorWorld();
    const wrongMethod = await emulator.fetch(updatePath);
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers.get('allow')).toBe('POST');
    expect(await wrongMethod.json()).toEqual({ error: 'GET is not allowed here, only POST' });
    const control = await emulator.fetch('/_emulator/drivers', { method: 'DELETE' });
    expect([control.status, control.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const path of ['/', `${updatePath}/`, '/api/nothing', '/_emulator/nothing']) {
      const nothing = await emulator.fetch(path, { method: 'POST', body: '{}' });
      expect(nothing.status).toBe(404);
      expect(await nothing.json()).toEqual({ error: `there is nothing at ${path}` });
    }
  });

  test('asks for its token on the paths of the service alone', async () => {
    const emulator = await emulatorWorld({ token: 's3cret' });
    const body = JSON.stringify({ extDrivers: [driver('a')] });
    for (const authorization of ['Bearer wrong', 'Basic s3cret', 's3cret', undefined]) {
      const refused = await send(emulator, body, authorization === undefined ? {} : { authorization });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    }
    const unasked = await emulator.fetch('/v1/routers');
    expect([unasked.status, await unasked.json()]).toEqual([401, { error: 'No API key was provided.' }]);
    expect(emulator.drivers()).toEqual([]);
    expect((await send(emulator, body, { authorization: 'Bearer s3cret' })).status).toBe(200);
    expect((await send(emulator, body, { authorization: 'bearer s3cret' })).status).toBe(200);
    expect(await (await emulator.fetch('/_emulator/drivers')).json()).toEqual({ drivers: [driver('a')] });
  });

  test('needs no token if none was set', async () => {
    const emulator = await emulatorWorld();
    expect((await send(emulator, '{"extDrivers":[]}', { authorization: 'Bearer anything' })).status).toBe(200);
  });
});

test.for([
  [{ token: '' }, 'token is empty'],
  [{ token: 'é' }, 'token holds characters that no header can carry'],
  [{ token: 'a ' }, 'token holds characters that no header can carry'],
  [{ host: '' }, 'host is empty'],
  [{ keptBodyBytes: -1 }, 'keptBodyBytes must be bytes, such as 1048576, not -1'],
  [{ keptBodyBytes: Number.NaN }, 'keptBodyBytes must be bytes'],
  [{ bodyBytesMax: 1.5 }, 'bodyBytesMax must be bytes, such as 1048576, not 1.5'],
  [{ headersTimeoutMs: -1 }, 'headersTimeoutMs must be milliseconds, such as 30000, not -1'],
  [{ port: 65_536 }, 'port must be from 0 to 65535, not 65536'],
  [{ port: '0' }, 'port must be from 0 to 65535, not "0"'],
  [{ speed: '5' }, 'speed must be from 0 to 1000000, not "5"'],
  [{ tier: '1' }, 'tier must be from 1 to 5, not "1"'],
  [{ credits: '5' }, 'credits must be a whole number, not 5'],
  [{ strict: 'no' }, 'strict must be true or false, not "no"'],
  [{ host: 7 }, 'host must be text, not 7'],
  [{ token: 7 }, 'token must be text, not 7'],
] as const)('it does not start with %j, with which nobody could use it', async ([options, why]) => {
  // Programs without types give them.
  await expect(startEmulator(options as EmulatorOptions)).rejects.toThrow(why);
});

test('its time goes on by a hundred years at most, as over HTTP', async () => {
  const emulator = await emulatorWorld({ speed: 0 });
  const before = emulator.clock();
  for (const seconds of [Infinity, -1, Number.NaN, 4e9]) expect(() => emulator.advance(seconds)).toThrow('seconds');
  expect(emulator.clock()).toEqual(before);
});

test('once it is closed it says so, and what was asked of it can still be read', async () => {
  const emulator = await emulatorWorld();
  await push(emulator, { extDrivers: [] });
  await emulator.close();
  const acts = [
    () => emulator.drivers(),
    () => emulator.load({ drivers: [driver('a', '0 1')] }),
    () => emulator.snapshot('late'),
    () => emulator.reset(),
    () => emulator.advance(5),
  ];
  for (const act of acts) expect(act).toThrow('the emulator is closed');
  await expect(emulator.fork()).rejects.toThrow('the emulator is closed');
  expect(emulator.requests()).toMatchObject([{ status: 200 }]);
});
