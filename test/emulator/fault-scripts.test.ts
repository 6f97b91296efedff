/** Faults by chance, over time, and of the connection, ordered as a script. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { sendBent } from '../../src/emulator/bent-answer.ts';
import type { Emulator, FaultScriptInput } from '../../src/emulator/index.ts';
import { driver, emulatorWorld } from '../support/emulator-world.ts';

const body = JSON.stringify({ extDrivers: [driver('a', '0 1')] });

async function statuses(emulator: Emulator, count: number): Promise<number[]> {
  const seen = [];
  for (let request = 0; request < count; request++) {
    seen.push((await emulator.fetch(updatePath, { method: 'POST', body })).status);
  }
  return seen;
}

/** What a client sees of an answer: its status, the bytes of its body, and how it ended. */
async function seenBy(url: string, sent = body): Promise<{ status: number; bytes: number; end: string }> {
  return new Promise((resolve) => {
    let [status, bytes] = [0, 0];
    const request = httpRequest(url + updatePath, { method: 'POST' }, (response) => {
      status = response.statusCode ?? 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve({ status, bytes, end: 'end' }));
      response.on('error', (error: NodeJS.ErrnoException) => resolve({ status, bytes, end: error.code ?? '' }));
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve({ status, bytes, end: error.code ?? '' }));
    request.end(sent);
  });
}

describe('a script', () => {
  const storm: FaultScriptInput = { seed: 7, faults: [{ status: 503, probability: 0.3, times: 'always' }] };

  test('gives the same faults to the same requests, and others with another seed', async () => {
    const emulator = await emulatorWorld();
    const played = async (script: FaultScriptInput) => {
      emulator.play(script);
      return statuses(emulator, 60);
    };
    const first = await played(storm);
    expect(await played(storm)).toEqual(first);
    expect(await played({ ...storm, seed: 8 })).not.toEqual(first);
    const refused = first.filter((status) => status === 503).length;
    expect(refused).toBeGreaterThan(8);
    expect(refused).toBeLessThan(30);
  });

  test('runs over time, by the time of model routing', async () => {
    const emulator = await emulatorWorld({ speed: 0 });
    const response = await emulator.fetch('/_emulator/faults', {
      method: 'POST',
      body: JSON.stringify({
        faults: [
          { status: 503, times: 'always', fromSeconds: 60, untilSeconds: 120 },
          { status: 429, times: 1, fromSeconds: 90 },
        ],
      }),
    });
    expect(response.status).toBe(200);
    const seen = [];
    for (let minute = 0; minute < 4; minute++) {
      seen.push(await statuses(emulator, 2));
      emulator.advance(60);
    }
    expect(seen).toEqual([
      [200, 200],
      [503, 503],
      [429, 200],
      [200, 200],
    ]);
    expect(await (await emulator.fetch('/_emulator/faults')).json()).toEqual({ faults: [] });
  });

  test('takes the place of the faults before it', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ status: 500 });
    emulator.play({ faults: [{ status: 502 }] });
    expect(await statuses(emulator, 2)).toEqual([502, 200]);
  });

  test('aims at paths and methods', async () => {
    const emulator = await emulatorWorld();
    emulator.play({ faults: [{ status: 503, method: 'POST', path: '/v1/*', times: 'always' }] });
    expect((await emulator.fetch('/v1/routers')).status).toBe(200);
    expect((await emulator.fetch('/v1/routers', { method: 'POST', body: '{}' })).status).toBe(503);
    expect(await statuses(emulator, 1)).toEqual([200]);
  });

  test.for([
    { seed: -1, faults: [] },
    { faults: {} },
    { faults: [{ status: 503, probability: 0 }] },
    { faults: [{ status: 503, times: 'often' }] },
    { faults: [{ status: 503, reset: 'before' }] },
    { faults: [{ delayMs: { uniform: { minMs: 5, maxMs: 1 } } }] },
    { faults: [{ status: 503, fromSeconds: 5, untilSeconds: 5 }] },
    { faults: [{}] },
  ])('that is none is refused: %j', async (script) => {
    const emulator = await emulatorWorld();
    const response = await emulator.fetch('/_emulator/faults', { method: 'POST', body: JSON.stringify(script) });
    expect(response.status).toBe(400);
  });
});

describe('a connection', () => {
  test.for([
    ['before', []],
    ['after', [driver('a', '0 1')]],
  ] as const)('is reset %s the request is applied', async ([reset, drivers]) => {
    const emulator = await emulatorWorld();
    emulator.faults({ reset });
    const ended = new Promise<string>((resolve) => {
      const socket = connect(emulator.port, '127.0.0.1');
      socket.write(`POST ${updatePath} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('end', () => resolve('closed in order'));
    });
    expect(await ended).toBe('ECONNRESET');
    expect(emulator.drivers()).toEqual(drivers);
  });

  test('is closed in order by a drop', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ drop: 'after' });
    const ended = new Promise<string>((resolve) => {
      const socket = connect(emulator.port, '127.0.0.1');
      socket.write(`POST ${updatePath} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('end', () => resolve('closed in order'));
    });
    expect(await ended).toBe('closed in order');
  });
});

describe('an answer', () => {
  const refusal = { status: 400, body: 'x'.repeat(1_000) };

  test('is cut: it declares its whole length and ends before', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ ...refusal, truncate: 100 }, { ...refusal, truncate: 0 }, { ...refusal, truncate: 5_000 });
    expect(await seenBy(emulator.url)).toEqual({ status: 400, bytes: 100, end: 'ECONNRESET' });
    expect(await seenBy(emulator.url)).toEqual({ status: 400, bytes: 0, end: 'ECONNRESET' });
    expect(await seenBy(emulator.url)).toEqual({ status: 400, bytes: 1_000, end: 'end' });
  });

  test('that is cut is of a request that was applied', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ truncate: 10, path: '/v1/routers' });
    const created = emulator.fetch('/v1/routers', { method: 'POST', body: '{"slug":"a","name":"A"}' });
    await expect(created.then(async (response) => response.text())).rejects.toThrow('terminated');
    expect((await emulator.fetch('/v1/routers/a')).status).toBe(200);
  });

  test('arrives in pieces', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ ...refusal, trickle: { bytes: 300, everyMs: 1 } });
    const response = await fetch(emulator.url + updatePath, { method: 'POST', body });
    const pieces = [];
    for await (const piece of response.body ?? []) pieces.push((piece as Uint8Array).length);
    expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBe(1_000);
    expect(pieces.length).toBeGreaterThan(1);
    emulator.faults({ ...refusal, trickle: { bytes: 300, everyMs: 0 }, truncate: 700 });
    expect(await seenBy(emulator.url)).toEqual({ status: 400, bytes: 700, end: 'ECONNRESET' });
  });

  test.for([204, 205, 304])('of %i has no pieces, over the network and in memory', async (status) => {
    const emulator = await emulatorWorld();
    for (const how of [{ trickle: { bytes: 1, everyMs: 1 } }, { truncate: 1 }]) {
      emulator.faults({ status, ...how, times: 2 });
      expect(await seenBy(emulator.url)).toEqual({ status, bytes: 0, end: 'end' });
      expect(await statuses(emulator, 1)).toEqual([status]);
    }
  });

  const slowly = { trickle: { bytes: 1, everyMs: 600_000 } };

  test('in pieces ends in memory when its client leaves, or the emulator is closed', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ ...refusal, ...slowly, times: 2 });
    const leaving = new AbortController();
    const left = await emulator.fetch(updatePath, { method: 'POST', body, signal: leaving.signal });
    const reading = left.text();
    leaving.abort();
    await expect(reading).rejects.toThrow('This operation was aborted');
    const open = await emulator.fetch(updatePath, { method: 'POST', body });
    const [closed] = await Promise.allSettled([open.text(), emulator.close()]);
    expect(closed).toMatchObject({ status: 'rejected', reason: new TypeError('terminated') });
  });

  test.for(['client', 'emulator'])('in pieces waits for nothing when its %s has ended', async (ending) => {
    const closing = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = createServer((incoming, outgoing) => {
      sendBent(new Response('abc'), slowly, { incoming, outgoing }, closing.signal).then(resolve, reject);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const leaving = new AbortController();
    const { port } = server.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}`, { signal: leaving.signal });
    if (ending === 'emulator') closing.abort();
    else leaving.abort();
    await expect(promise).resolves.toBeUndefined();
    leaving.abort();
  });

  test('redirects, and nothing is applied', async () => {
    const emulator = await emulatorWorld();
    emulator.faults({ redirect: 'http://127.0.0.1:9/elsewhere' });
    const response = await fetch(emulator.url + updatePath, { method: 'POST', body, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'http://127.0.0.1:9/elsewhere']);
    expect(emulator.drivers()).toEqual([]);
  });

  test.for([[{ uniform: { minMs: 1, maxMs: 3 } }], [{ logNormal: { medianMs: 1, sigma: 0.5, maxMs: 5 } }]] as const)(
    'waits for a time that is drawn: %j',
    async ([delayMs]) => {
      const emulator = await emulatorWorld();
      emulator.play({ faults: [{ delayMs, times: 'always' }] });
      expect(await statuses(emulator, 5)).toEqual([200, 200, 200, 200, 200]);
    },
  );
});

test('a request whose body is read slowly is applied in the end', async () => {
  const emulator = await emulatorWorld();
  emulator.faults({ slowRead: { bytesPerSecond: 1_000_000 } });
  const startedMs = performance.now();
  const many = JSON.stringify({ extDrivers: Array.from({ length: 4_000 }, (_, at) => driver(`d${at}`, '0 1')) });
  expect(await seenBy(emulator.url, many)).toMatchObject({ status: 200 });
  expect(performance.now() - startedMs).toBeGreaterThan((many.length / 1_000_000) * 1_000 * 0.5);
  expect(emulator.drivers()).toHaveLength(4_000);
});
