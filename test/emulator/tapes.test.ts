/** Recording the exchanges with a service through a proxy, and playing them without it. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { updatePath } from '../../src/contract/update-path.ts';
import { startRecorder, startReplay } from '../../src/emulator/index.ts';
import type { TapeServer } from '../../src/emulator/index.ts';
import { driver, emulatorWorld, temporaryDirectory } from '../support/emulator-world.ts';

async function used<Server extends TapeServer>(server: Promise<Server>): Promise<Server> {
  const started = await server;
  onTestFinished(() => started.close());
  return started;
}

/** Text of a length, so that it is recorded as text. */
function bytesOf(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, index) => 97 + ((index * 7) % 23));
}

async function sha256Of(stream: Readable): Promise<string> {
  return hash('sha256', await buffer(stream));
}

const headers = { authorization: 'Bearer s3cret', 'x-runway-version': '2024-11-06' };

/** What a client of both areas does: more than 200 exchanges, each told as its method, path, status and body. */
async function conversation(url: string, advance: () => void): Promise<string[]> {
  const told: string[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    told.push(`${method} ${path} ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as { id?: string; nextCursor?: string });
  };
  for (let index = 0; index < 40; index++) {
    const slug = `router-${index}`;
    const { id } = await ask('POST', '/v1/routers', { slug, name: slug });
    const made = await ask('POST', '/v1/generate/video', {
      configId: slug,
      input: { promptText: 'waves', duration: 5 },
    });
    await ask('GET', `/v1/tasks/${made.id}`);
    advance();
    await ask('GET', `/v1/tasks/${made.id}`);
    await ask('PATCH', `/v1/routers/${id}`, { settings: { optimizeFor: 'latency' } });
    await ask('POST', updatePath, {
      extDrivers: [driver(`driver-${index}`, `${index * 3_000_000} 12345678901234567890.10`)],
    });
  }
  const page = await ask('GET', '/v1/routers?limit=30');
  await ask('GET', `/v1/routers?limit=30&cursor=${page.nextCursor}`);
  await ask('GET', '/v1/routers/none');
  await ask('POST', '/v1/routers', { slug: 'a', name: 'A', colour: 'red', passengers: ['Ann'] });
  return told;
}

test('a client hears from the recording what it heard from the service, digit by digit', async () => {
  const live = await emulatorWorld({ strict: true, token: 's3cret', speed: 0, credits: 1_000_000 });
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  const heard = await conversation(recorder.url, () => live.advance(20));
  expect(heard).toHaveLength(244);
  await live.close();
  await recorder.close();
  const replay = await used(startReplay({ file }));
  const again = await conversation(replay.url, () => {});
  // Links to outputs name where the client found the service, and a recording has them as they were.
  expect(again).toEqual(heard);
});

test('a replayed answer has the headers that came, but for those of its connection, its coding and its secrets', async () => {
  const kept = {
    etag: '"v1"',
    link: '<https://api.example.com/next?page=2&token=***>; rel="next"',
    'last-modified': 'Mon, 02 Mar 2026 10:00:00 GMT',
    vary: 'accept, accept-encoding',
    'content-disposition': 'attachment; filename="a.json"',
    'content-type': 'application/json',
    'www-authenticate': 'Bearer realm="x", error="invalid_token"',
    'x-ratelimit-remaining-tokens': '7',
    'access-control-allow-credentials': 'true',
    'x-anything': 'else',
  };
  const sent = {
    ...kept,
    link: kept.link.replace('***', 's3cret'),
    connection: 'close, x-hop',
    'x-hop': 'here',
    'proxy-authenticate': 'Basic',
    'set-cookie': ['session=s3cret', 'a=b'],
    'x-api-key': 's3cret',
    'content-encoding': 'gzip',
  };
  const service = createServer((_request, response) => response.writeHead(200, sent).end(gzipSync('{"a":1}')));
  onTestFinished(() => void service.close());
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const recorder = await used(startRecorder({ service: url, file }));
  const live = await fetch(recorder.url);
  expect(await live.json()).toEqual({ a: 1 });
  expect(live.headers.getSetCookie()).toEqual(sent['set-cookie']);
  expect(Object.fromEntries(live.headers)).toMatchObject({ ...kept, link: sent.link });
  expect(await readFile(file, 'utf8')).not.toContain('s3cret');
  const replay = await used(startReplay({ file }));
  const again = await fetch(replay.url);
  expect(await again.json()).toEqual({ a: 1 });
  const ofThisConnection = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);
  const seen = [...again.headers].filter(([name]) => !ofThisConnection.has(name));
  expect(Object.fromEntries(seen)).toEqual(kept);
});

test('a body in a coding that nobody decodes keeps the name of its coding', async () => {
  const service = createServer((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'rot13', 'content-type': 'text/plain' }).end('uryyb'),
  );
  onTestFinished(() => void service.close());
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const recorder = await used(startRecorder({ service: url, file }));
  const replay = async () => used(startReplay({ file }));
  for (const answer of [await fetch(recorder.url), await fetch((await replay()).url)]) {
    expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual(['rot13', 'uryyb']);
  }
});

test('no secret is in the file, which only its owner can read', async () => {
  const live = await emulatorWorld({ token: 's3cret' });
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: `${live.url}/`, file }));
  const sent = { slug: 'a', name: 'A', description: 'kept', api_key: 's3cret' };
  await fetch(`${recorder.url}/v1/routers?access_token=s3cret`, {
    method: 'POST',
    headers: { ...headers, cookie: 'session=s3cret' },
    body: JSON.stringify(sent),
  });
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain('s3cret');
  expect(text).toContain('kept');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(live.requests()[0]?.headers['authorization']).toBe('Bearer ***');
});

test('a compressed push is passed on as it was sent', async () => {
  const live = await emulatorWorld();
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  const body = gzipSync(JSON.stringify({ extDrivers: [driver('a', '0 1')] }));
  const answer = await fetch(recorder.url + updatePath, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip' },
    body,
  });
  expect(answer.status).toBe(200);
  expect(live.drivers()).toEqual([driver('a', '0 1')]);
});

test.for<[what: string, headers: Record<string, string>, body: Uint8Array<ArrayBuffer>]>([
  ['compressed', { 'content-encoding': 'gzip' }, gzipSync('{"tokens":["s3cret"]}')],
  ['compressed in another way', { 'content-encoding': 'br' }, brotliCompressSync('{"token":"s3cret"}')],
  ['said to be compressed', { 'content-encoding': 'gzip' }, Uint8Array.from(Buffer.from('{"token":"s3cret"}'))],
  ['not UTF-8', {}, Uint8Array.from(Buffer.from('name=\xe9&token=s3cret', 'latin1'))],
])('no secret of a body that is %s is in the file, and the request is known again', async ([, own, body]) => {
  const live = await emulatorWorld();
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  const statusOf = async ({ url }: TapeServer) =>
    (await fetch(`${url}/v1/routers`, { method: 'POST', headers: own, body })).status;
  const status = await statusOf(recorder);
  const text = await readFile(file, 'utf8');
  const [, inBase64 = ''] = /"base64":"([^"]*)"/.exec(text) ?? [];
  expect(text + Buffer.from(inBase64, 'base64').toString('latin1')).not.toContain('s3cret');
  expect(await statusOf(await used(startReplay({ file })))).toBe(status);
});

test('what is wrong with JSON is said without a word of it', async () => {
  const emulator = await emulatorWorld();
  const answer = await emulator.fetch('/v1/routers', { method: 'POST', body: '{"slug": s3cret}' });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'the body is not JSON: "s" where a value should be at byte 9' },
  ]);
});

test('equal requests get their answers in their order, and the last one again', async () => {
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const exchange = (status: number) =>
    JSON.stringify({
      method: 'POST',
      path: '/a',
      body: { text: '{"a":1,"b":2}' },
      answer: { status, headers: {}, body: null },
    });
  await writeFile(file, [exchange(503), exchange(200), ''].join('\n'));
  const { url } = await used(startReplay({ file }));
  const statusOf = async (body: string) => (await fetch(`${url}/a`, { method: 'POST', body })).status;
  expect(await statusOf('{"b": 2, "a": 1}')).toBe(503);
  expect(await statusOf('{"a":1,"b":2}')).toBe(200);
  expect(await statusOf('{"a":1,"b":2}')).toBe(200);
  expect(await statusOf('{"a":1,"b":2.0000000000000000001}')).toBe(501);
  const other = await fetch(`${url}/a`, { method: 'POST', body: '{}' });
  expect([other.status, await other.json()]).toEqual([
    501,
    { error: 'the recording has no such request: POST /a (2 with another body)' },
  ]);
});

test('bodies of any length are passed on as they are, and long ones are known by their digest', async () => {
  const heard: { length: string | undefined; sha256: string }[] = [];
  const service = createServer((request, response) => {
    void sha256Of(request).then((sha256) => {
      heard.push({ length: request.headers['content-length'], sha256 });
      response.end(request.url === '/long' ? bytesOf(300_000) : 'short');
    });
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => void service.close());
  const folder = await temporaryDirectory();
  const file = join(folder, 'exchanges.jsonl');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const recorder = await used(startRecorder({ service: url, file, bodyBytesMax: 200_000 }));
  const ask = async (to: string, path: string, bytes: number) => {
    const response = await fetch(to + path, { method: 'POST', body: bytesOf(bytes) });
    return { status: response.status, sha256: hash('sha256', new Uint8Array(await response.arrayBuffer())) };
  };
  const short = hash('sha256', 'short');
  // One in memory, one on disk, one that is not recorded.
  for (const bytes of [1_000, 150_000, 250_000]) {
    expect(await ask(recorder.url, '/short', bytes)).toEqual({ status: 200, sha256: short });
    expect(heard.pop()).toEqual({ length: String(bytes), sha256: hash('sha256', bytesOf(bytes)) });
  }
  expect(await ask(recorder.url, '/long', 1_000)).toEqual({ status: 200, sha256: hash('sha256', bytesOf(300_000)) });
  expect(await readdir(folder)).toEqual(['exchanges.jsonl']);
  expect((await stat(file)).size).toBeLessThan(250_000);
  await recorder.close();
  const replay = await used(startReplay({ file }));
  for (const bytes of [1_000, 150_000, 250_000]) {
    expect(await ask(replay.url, '/short', bytes)).toEqual({ status: 200, sha256: short });
  }
  expect((await ask(replay.url, '/short', 250_001)).status).toBe(501);
  const long = await fetch(`${replay.url}/long`, { method: 'POST', body: bytesOf(1_000) });
  expect(await long.json()).toEqual({
    error: 'the answer to POST /long was too long to be recorded, or could not be decoded',
  });
});

test('an exchange that cannot be written fails, and the next one is written', async () => {
  const live = await emulatorWorld();
  const folder = await temporaryDirectory();
  const file = join(folder, 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  await rm(file);
  await mkdir(file);
  expect((await fetch(`${recorder.url}/v1/routers`)).status).toBe(500);
  await rm(file, { recursive: true });
  expect((await fetch(`${recorder.url}/v1/routers`)).status).toBe(200);
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(1);
});

test('a service that does not answer is 502, and is not recorded', async () => {
  const live = await emulatorWorld();
  await live.close();
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  expect((await fetch(`${recorder.url}/v1/routers`)).status).toBe(502);
  expect(await readFile(file, 'utf8')).toBe('');
});

test('pages of other sites use neither', async () => {
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: 'http://127.0.0.1:9', file }));
  const replay = await used(startReplay({ file }));
  for (const { url } of [recorder, replay]) {
    expect((await fetch(`${url}/v1/routers`, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  }
});

test('a line that breaks off is left out, and the next recording begins a line of its own', async () => {
  const live = await emulatorWorld();
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const record = async (path: string) => {
    const recorder = await used(startRecorder({ service: live.url, file }));
    await fetch(recorder.url + path);
    await recorder.close();
  };
  await record('/v1/routers');
  await record('/v1/organization');
  const whole = await readFile(file, 'utf8');
  // Within the first word, within an exchange, and a whole one without its line end.
  for (const left of [whole.indexOf('\n') + 5, whole.length - 20, whole.length - 1]) {
    await writeFile(file, whole.slice(0, left));
    const torn = await used(startReplay({ file }));
    expect(torn.leftOut).toEqual(left === whole.length - 1 ? [] : [2]);
    expect((await fetch(`${torn.url}/v1/routers`)).status).toBe(200);
    await record('/v1/routers/a');
    const mended = await used(startReplay({ file }));
    expect(mended.leftOut).toEqual(torn.leftOut);
    expect((await fetch(`${mended.url}/v1/routers/a`)).status).toBe(404);
    expect((await readFile(file, 'utf8')).startsWith(whole.slice(0, left))).toBe(true);
  }
});

test('what cannot be recorded or played says why', async () => {
  const folder = await temporaryDirectory();
  const file = join(folder, 'exchanges.jsonl');
  await writeFile(file, '\n{"method":"GET"}\n');
  await expect(startReplay({ file })).rejects.toThrow('line 2 is no exchange');
  await expect(startReplay({ file: join(folder, 'none') })).rejects.toThrow('cannot be read');
  await expect(startRecorder({ service: 'localhost', file })).rejects.toThrow('is not the address of a service');
  await expect(startRecorder({ service: 'http://localhost', file: folder })).rejects.toThrow('cannot be written');
});

test('an exchange that cannot be recorded is refused with the reason, and the next one is recorded', async () => {
  const live = await emulatorWorld();
  const folder = join(await temporaryDirectory(), 'tapes');
  await mkdir(folder);
  const file = join(folder, 'exchanges.jsonl');
  const recorder = await used(startRecorder({ service: live.url, file }));
  const ask = async (length: number): Promise<[number, string]> => {
    const body = JSON.stringify({ extDrivers: [driver('a', '0 1'), driver('b'.repeat(length), '0 1')] });
    const response = await fetch(recorder.url + updatePath, { method: 'POST', body });
    return [response.status, await response.text()];
  };
  await rm(file);
  await mkdir(file);
  const why = expect.stringContaining(`the service answered 200, and ${file} cannot be written: EISDIR`) as string;
  expect(await ask(1)).toEqual([500, why]);
  expect(live.drivers()).toHaveLength(2);
  await rm(folder, { recursive: true });
  expect(await ask(100_000)).toEqual([500, expect.stringContaining(`a body cannot be kept in ${folder}: ENOENT`)]);
  expect(live.drivers()).toHaveLength(2);
  await mkdir(folder);
  expect(await ask(3)).toEqual([200, '']);
  const replay = await startReplay({ file });
  await replay.close();
  expect(replay.leftOut).toEqual([]);
});
