/** What recording takes of memory, whatever is passed on. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { place } from '../support/process.ts';

const mebibyte = 1024 * 1024;
const chunk = Buffer.alloc(mebibyte, 'a');

function* ofLength(mebibytes: number): Generator<Buffer, void, void> {
  for (let index = 0; index < mebibytes; index += 1) yield chunk;
}

async function peakMebibytesOf(pid: number): Promise<number> {
  const [, kibibytes = ''] = /VmHWM:\s*(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

async function bytesIn(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return bytes;
}

test('bodies far larger than its memory go both ways, and many at a time', async () => {
  const service = createServer((request, response) => {
    void bytesIn(request).then(() => pipeline(Readable.from(ofLength(128)), response));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => void service.close());
  await using world = await place({}, {});
  const { port } = service.address() as AddressInfo;
  await using recorder = world.start(
    'emulator',
    '--listen',
    '127.0.0.1:0',
    '--record',
    `http://127.0.0.1:${port}`,
    'tape.jsonl',
  );
  const [, url = ''] = await recorder.says(/recorder: (\S+)/);
  const pass = async (mebibytes: number): Promise<number> => {
    const response = await fetch(url, {
      method: 'POST',
      body: Readable.toWeb(Readable.from(ofLength(mebibytes))) as ReadableStream,
      duplex: 'half',
    });
    return bytesIn(response.body as ReadableStream<Uint8Array>);
  };
  expect(await pass(1)).toBe(128 * mebibyte);
  const before = await peakMebibytesOf(recorder.pid);
  expect(await Promise.all([pass(128), pass(64), pass(4), pass(4)])).toEqual(
    [128, 128, 128, 128].map((long) => long * mebibyte),
  );
  // The answers alone are 512 MiB. What is left over is what the collector has not seen to yet.
  expect((await peakMebibytesOf(recorder.pid)) - before).toBeLessThan(400);
});
