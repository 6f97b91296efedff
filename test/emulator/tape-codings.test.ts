/** How the bodies of answers are passed on and recorded: as they were sent, and as what they say. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startRecorder, startReplay } from '../../src/emulator/index.ts';
import type { TapeServer } from '../../src/emulator/index.ts';
import { temporaryDirectory } from '../support/emulator-world.ts';

async function used<Server extends TapeServer>(server: Promise<Server>): Promise<Server> {
  const started = await server;
  onTestFinished(() => started.close());
  return started;
}

/** A recorder of a service that answers everything so. */
async function recorderOf(answered: Record<string, string>, body: Uint8Array) {
  const asked: (string | undefined)[] = [];
  const service = createServer((request, response) => {
    asked.push(request.headers['accept-encoding']);
    response.writeHead(200, answered).end(body);
  });
  onTestFinished(() => void service.close());
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const file = join(await temporaryDirectory(), 'exchanges.jsonl');
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  return { asked, file, recorder: await used(startRecorder({ service: url, file })) };
}

/** The answer as it is sent, which `fetch` would decode. */
async function sentBy(url: string, own: Record<string, string> = {}) {
  const [answer] = (await once(get(url, { headers: own }), 'response')) as [IncomingMessage];
  return { headers: answer.headers, body: await buffer(answer) };
}

test.for<[coding: string, body: Uint8Array]>([
  ['zstd', zstdCompressSync('{"a":1}')],
  ['br', brotliCompressSync('{"a":1}')],
  ['gzip', gzipSync('{"a":1}')],
  ['deflate, GZIP', gzipSync(deflateSync('{"a":1}'))],
])('an answer in %s is passed on as it was sent, and recorded as what it says', async ([coding, body]) => {
  const { asked, file, recorder } = await recorderOf({ 'content-encoding': coding }, body);
  const accepted = { 'accept-encoding': 'zstd, br;q=0.5, dcb, gzip' };
  const live = await sentBy(recorder.url, accepted);
  expect([live.headers['content-encoding'], live.body]).toEqual([coding, Buffer.from(body)]);
  expect(asked).toEqual(['zstd, br;q=0.5, gzip']);
  const replay = await used(startReplay({ file }));
  const again = await sentBy(replay.url, accepted);
  expect([again.headers['content-encoding'], again.body.toString()]).toEqual([undefined, '{"a":1}']);
});

test('an answer without a type has none later either', async () => {
  const { file, recorder } = await recorderOf({}, Buffer.from([255, 0]));
  const replay = () => used(startReplay({ file }));
  for (const answer of [await sentBy(recorder.url), await sentBy((await replay()).url)]) {
    const { 'content-type': type, 'content-length': length } = answer.headers;
    expect([type, length, answer.body]).toEqual([undefined, '2', Buffer.from([255, 0])]);
  }
});

test('an answer that is not in the coding that it names is passed on, and known by its digest alone', async () => {
  const { file, recorder } = await recorderOf({ 'content-encoding': 'gzip' }, Buffer.from('token=s3cret'));
  expect((await sentBy(recorder.url)).body.toString()).toBe('token=s3cret');
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain('s3cret');
  expect(text).toContain('"bytes":12');
  const replay = await used(startReplay({ file }));
  expect((await fetch(replay.url)).status).toBe(501);
});
