/** Outputs of tasks, and uploads. */
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { routingWorld } from '../support/routing-world.ts';
import type { RoutingWorld } from '../support/routing-world.ts';

const video = { promptText: 'waves', duration: 5, aspectRatio: '16:9' };
const speech = { type: 'speech', promptText: 'hello' };

describe('output', () => {
  async function outputsOf(modality: string, input: object): Promise<{ world: RoutingWorld; urls: readonly string[] }> {
    const world = await routingWorld();
    await world.createRouter('a');
    const id = await world.generate(modality, 'a', input);
    world.emulator.advance(60);
    const task = await world.task(id);
    return { world, urls: task.status === 'SUCCEEDED' ? task.output : [] };
  }

  async function download(world: RoutingWorld, url: string): Promise<{ type: string | null; bytes: Buffer }> {
    const response = await world.emulator.fetch(url);
    expect(response.status).toBe(200);
    return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) };
  }

  test('is an MP4 of the shape and length that was resolved', async () => {
    const { world, urls } = await outputsOf('video', { ...video, aspectRatio: '9:16' });
    const { type, bytes } = await download(world, urls[0] ?? '');
    expect(type).toBe('video/mp4');
    expect(bytes.toString('latin1', 4, 12)).toBe('ftypisom');
    const [track, header] = [bytes.indexOf('tkhd'), bytes.indexOf('mvhd')];
    const size = [bytes.readUInt32BE(track + 80) / 0x10000, bytes.readUInt32BE(track + 84) / 0x10000];
    expect(size).toEqual([36, 64]);
    expect(bytes.readUInt32BE(header + 20) / bytes.readUInt32BE(header + 16)).toBe(5);
  });

  const strictHeaders = { authorization: 'Bearer key', 'x-runway-version': '2024-11-06' };

  test.for([false, true])('can be the input of the next request, strict: %s', async (strict) => {
    const world = await routingWorld({ strict });
    const post = (path: string, body: object) => world.call('POST', path, body, strictHeaders);
    await post('/v1/routers', { slug: 'a', name: 'A' });
    const outputOf = async (modality: string, input: object) => {
      const { body } = await post(`/v1/generate/${modality}`, { configId: 'a', input });
      world.emulator.advance(600);
      return (await world.call('GET', `/v1/tasks/${body.id}`, undefined, strictHeaders)).body.output[0];
    };
    const image = await outputOf('image', { promptText: 'a cat' });
    const clip = await outputOf('video', { promptText: 'waves' });
    const sound = await outputOf('audio', { type: 'audio', promptText: 'rain' });
    expect(image).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/media\//);
    const input = (uri: string, role: string) => ({ promptText: 'it moves', referenceImages: [{ uri, role }] });
    const edit = { referenceVideos: [{ uri: clip, role: 'source' }], keyframes: [{ uri: image, seconds: 0 }] };
    const answers = await Promise.all([
      post('/v1/generate/video', { configId: 'a', input: input(image, 'first') }),
      post('/v1/generate/video', { configId: 'a', input: { promptText: 'snow', ...edit } }),
      post('/v1/generate/image', { configId: 'a', input: { promptText: 'a cat', referenceImages: [{ uri: image }] } }),
      post('/v1/generate/audio', {
        configId: 'a',
        input: { type: 'speech', promptText: 'hello', voice: { type: 'reference-audio', audioUri: sound } },
      }),
      post('/v1/generate/video', { configId: 'a', input: input(image.replace('/media/', '/files/'), 'first') }),
      post('/v1/generate/video', { configId: 'a', input: input('http://example.com/media/0.png', 'first') }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 400]);
  });

  test('is as many PNGs as were asked for', async () => {
    const { world, urls } = await outputsOf('image', { promptText: 'a cat', outputCount: 3 });
    expect(new Set(urls).size).toBe(3);
    for (const url of urls) {
      const { type, bytes } = await download(world, url);
      expect(type).toBe('image/png');
      const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      const data = bytes.indexOf('IDAT');
      const pixels = inflateSync(bytes.subarray(data + 4, data + 4 + bytes.readUInt32BE(data - 4)));
      expect(pixels).toHaveLength(height * (1 + 3 * width));
    }
  });

  test('is a WAV', async () => {
    const { world, urls } = await outputsOf('audio', speech);
    const { type, bytes } = await download(world, urls[0] ?? '');
    expect([type, bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12)]).toEqual([
      'audio/wav',
      'RIFF',
      'WAVE',
    ]);
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  });

  test('links end after a day, and reading the task again gives new ones', async () => {
    const { world, urls } = await outputsOf('audio', speech);
    const [url = ''] = urls;
    world.emulator.advance(25 * 60 * 60);
    expect((await world.call('GET', url)).status).toBe(403);
    const id = url.split('/').at(-2) ?? '';
    const { output } = (await world.task(id)) as { output: string[] };
    expect((await world.call('GET', output[0] ?? '')).status).toBe(200);
  });

  test('is nowhere else', async () => {
    const { world, urls } = await outputsOf('audio', speech);
    const [url = ''] = urls;
    for (const other of ['1.wav', '-1.wav', '00.wav', '0.mp4', '0', 'x', '0.wav%00'])
      expect((await world.call('GET', url.replace('0.wav', other))).status).toBe(404);
  });
});

describe('uploads', () => {
  test('a place is given, takes the form that the client sends, and is named by runway://', async () => {
    const world = await routingWorld();
    await world.createRouter('a');
    const { status, body } = await world.call('POST', '/v1/uploads', { filename: 'cat.png', type: 'ephemeral' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        uploadUrl: expect.stringMatching(/^http/),
        fields: expect.any(Object),
        runwayUri: expect.stringMatching(/^runway:\/\/.{4,}/),
      },
    });
    const form = new FormData();
    for (const [name, value] of Object.entries<string>(body.fields)) form.append(name, value);
    form.append('file', new Blob(['png']), 'cat.png');
    expect((await world.emulator.fetch(body.uploadUrl, { method: 'POST', body: form })).status).toBe(204);
    const input = { ...video, referenceImages: [{ uri: body.runwayUri, role: 'first' }] };
    expect((await world.dryRun('video', 'a', input)).status).toBe(200);
  });

  test.for([
    {},
    { filename: 'a', type: 'ephemeral' },
    { filename: 'cat.png', type: 'eternal' },
    { filename: 'c'.repeat(256), type: 'ephemeral' },
  ])('are refused with %j', async (body) => {
    const { call } = await routingWorld();
    expect((await call('POST', '/v1/uploads', body)).status).toBe(400);
  });

  test('a form without the fields or the file, or for nothing, is refused', async () => {
    const world = await routingWorld();
    const { body } = await world.call('POST', '/v1/uploads', { filename: 'cat.png', type: 'ephemeral' });
    const post = async (url: string, fields: Record<string, string | Blob>): Promise<number> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      return (await world.emulator.fetch(url, { method: 'POST', body: form })).status;
    };
    expect(await post(body.uploadUrl, { file: new Blob(['x']) })).toBe(400);
    expect(await post(body.uploadUrl, body.fields)).toBe(400);
    expect(await post(`${body.uploadUrl}x`, { ...body.fields, file: new Blob(['x']) })).toBe(404);
    expect((await world.call('POST', body.uploadUrl, 'x')).status).toBe(400);
  });
});
