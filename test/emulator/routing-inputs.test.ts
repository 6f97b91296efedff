import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { generateRequestSchemas, lenientGenerateRequestSchemas } from '../../src/contract/routing-inputs.ts';
import {
  routerSettingsSchema,
  settingsCreateSchema,
  settingsPatchSchema,
  slugSchema,
} from '../../src/contract/routing-settings.ts';
import type { Modality } from '../../src/contract/routing-settings.ts';
import { film, inputs, picture, recording } from '../support/routing-requests.ts';

const issuesOf = (modality: Modality, input: unknown, schemas = generateRequestSchemas) => {
  const read = (schemas[modality] as z.ZodType).safeParse({ configId: 'preview', input });
  return read.success ? [] : read.error.issues.map(({ code, path }) => ({ code, path: path.join('.') }));
};

/** The input as the pipeline gets it without `strict`. */
const leniently = (modality: Modality, input: unknown): unknown => {
  const schema = lenientGenerateRequestSchemas[modality] as z.ZodType<{ input: unknown }>;
  return schema.parse({ configId: 'preview', input }).input;
};

/** The four fields that the service's guide shows. */
const shown = { promptText: 'waves', duration: 5, aspectRatio: '16:9', resolution: '720p' };

const image = (role: string, uri = picture) => ({ uri, role });
const keyframes = [{ uri: picture, seconds: 1.5 }];

describe('a request to generate', () => {
  test('takes a Config ID, an input and whether it is a dry run, and nothing else', () => {
    const schema = generateRequestSchemas.video;
    expect(schema.parse({ configId: 'preview', input: {}, dryRun: true })).toMatchObject({ dryRun: true });
    expect(schema.safeParse({ input: {} }).success).toBe(false);
    expect(schema.safeParse({ configId: 'preview' }).success).toBe(false);
    expect(schema.safeParse({ configId: 'preview', input: {}, dryRun: 'true' }).success).toBe(false);
    expect(schema.safeParse({ configId: 'Preview', input: {} }).success).toBe(false);
    expect(schema.safeParse({ configId: 'preview', input: {}, model: 'gen4.5' }).error?.issues).toMatchObject([
      { code: 'unrecognized_keys', keys: ['model'], path: [] },
    ]);
  });

  test.each<[Modality, object]>([
    ['video', {}],
    ['video', shown],
    ['video', { promptText: 'a'.repeat(6_000), negativePrompt: '', duration: 2, seed: 0 }],
    ['video', { duration: 30, seed: 4_294_967_295, resolution: '4k', aspectRatio: '21:9', audio: false }],
    ['video', { referenceImages: [image('first'), image('last'), image('reference'), image('reference')] }],
    [
      'video',
      { referenceVideos: [image('source', film), image('reference', film)], referenceAudio: [{ uri: recording }] },
    ],
    ['video', { referenceVideos: [image('source', film)], keyframes }],
    [
      'video',
      {
        referenceVideos: [image('source', film)],
        keyframes: [{ uri: picture, at: 1, range: { start_seconds: 0, end_seconds: 1 } }],
      },
    ],
    ['video', { contentModeration: { publicFigureThreshold: 'low' } }],
    ['image', { promptText: 'a'.repeat(32_000), outputCount: 10, resolution: '1k', aspectRatio: '5:4' }],
    ['image', { promptText: 'a', referenceImages: Array.from({ length: 16 }, () => ({ uri: picture })) }],
    ['audio', { type: 'speech', promptText: 'a'.repeat(5_000), voice: { type: 'preset', presetId: 'Maya' } }],
    ['audio', { type: 'speech', promptText: 'a', voice: { type: 'reference-audio', audioUri: recording } }],
    ['audio', { type: 'audio', promptText: 'a', duration: 0.5, loop: true, referenceAudios: [{ uri: recording }] }],
  ])('for %s may be %j', (modality, input) => {
    expect(issuesOf(modality, input)).toEqual([]);
  });

  test.each<[Modality, object, string, string]>([
    ['video', { promptText: '' }, 'too_small', 'promptText'],
    ['video', { promptText: 'a'.repeat(6_001) }, 'too_big', 'promptText'],
    ['video', { negativePrompt: 'a'.repeat(1_001) }, 'too_big', 'negativePrompt'],
    ['video', { duration: 1 }, 'too_small', 'duration'],
    ['video', { duration: 31 }, 'too_big', 'duration'],
    ['video', { duration: 2.5 }, 'invalid_type', 'duration'],
    ['video', { duration: '5' }, 'invalid_type', 'duration'],
    ['video', { aspectRatio: '1280:720' }, 'invalid_value', 'aspectRatio'],
    ['video', { resolution: '2k' }, 'invalid_value', 'resolution'],
    ['video', { seed: 4_294_967_296 }, 'too_big', 'seed'],
    ['video', { referenceImages: [{ uri: picture }] }, 'invalid_value', 'referenceImages.0.role'],
    ['video', { referenceImages: [image('first'), image('first')] }, 'custom', 'referenceImages'],
    ['video', { referenceImages: [image('last'), image('last')] }, 'custom', 'referenceImages'],
    ['video', { referenceImages: Array.from({ length: 5 }, () => image('reference')) }, 'too_big', 'referenceImages'],
    ['video', { referenceVideos: [image('source', film), image('source', film)] }, 'custom', 'referenceVideos'],
    ['video', { referenceAudio: [{ uri: recording }, { uri: recording }] }, 'too_big', 'referenceAudio'],
    ['video', { keyframes }, 'custom', 'keyframes'],
    [
      'video',
      { referenceVideos: [image('source', film)], keyframes: [{ uri: picture }] },
      'invalid_union',
      'keyframes.0',
    ],
    ['video', { contentModeration: { threshold: 'low' } }, 'unrecognized_keys', 'contentModeration'],
    ['video', { outputCount: 1 }, 'unrecognized_keys', ''],
    ['image', {}, 'invalid_type', 'promptText'],
    ['image', { promptText: 'a'.repeat(32_001) }, 'too_big', 'promptText'],
    ['image', { promptText: 'a', outputCount: 11 }, 'too_big', 'outputCount'],
    ['image', { promptText: 'a', outputCount: 0 }, 'too_small', 'outputCount'],
    ['image', { promptText: 'a', resolution: '720p' }, 'invalid_value', 'resolution'],
    ['image', { promptText: 'a', duration: 5 }, 'unrecognized_keys', ''],
    ['image', { promptText: 'a', referenceImages: [image('first')] }, 'unrecognized_keys', 'referenceImages.0'],
    ['audio', { promptText: 'a' }, 'invalid_value', 'type'],
    ['audio', { type: 'audio', promptText: 'a'.repeat(5_001) }, 'too_big', 'promptText'],
    ['audio', { type: 'audio', promptText: 'a', duration: 0.4 }, 'too_small', 'duration'],
    ['audio', { type: 'audio', promptText: 'a', duration: 30.5 }, 'too_big', 'duration'],
    [
      'audio',
      { type: 'speech', promptText: 'a', voice: { type: 'preset', presetId: 'Nobody' } },
      'invalid_value',
      'voice.presetId',
    ],
    ['audio', { type: 'speech', promptText: 'a', voice: { presetId: 'Maya' } }, 'invalid_union', 'voice.type'],
  ])('for %s may not be %j: %s', (modality, input, code, path) => {
    expect(issuesOf(modality, input)).toEqual([{ code, path: path === '' ? 'input' : `input.${path}` }]);
  });
});

describe('a reference to media', () => {
  const ofImage = (uri: string) => issuesOf('image', { promptText: 'a', referenceImages: [{ uri }] });

  test.each([
    'https://a.example/picture.png?size=1',
    'runway://2a0f31',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:image/svg+xml;charset=utf-8,<svg/>',
    `https://example.com/${'a'.repeat(2_028)}`,
  ])('may be %s', (uri) => {
    expect(ofImage(uri)).toEqual([]);
  });

  test.each([
    'http://example.com/picture.png',
    'ftp://example.com/picture.png',
    'picture.png',
    '',
    'https://127.0.0.1/picture.png',
    'https://[::1]/picture.png',
    'https://0x7f000001/picture.png',
    'https://exa mple/picture.png',
    'https://a',
    'runway://',
    'data:image/png;base64,',
    'data:image/,abc',
    'data:video/mp4;base64,AAAA',
    'data:text/html,hello',
    `https://example.com/${'a'.repeat(2_029)}`,
    `runway://${'a'.repeat(4_992)}`,
  ])('may not be %s', (uri) => {
    expect(ofImage(uri)).toEqual([{ code: 'invalid_format', path: 'input.referenceImages.0.uri' }]);
  });

  test.each(['https://a.b', 'https://a', 'runway://x', 'runway://'])('is told how short it is: %s', (uri) => {
    const input = { promptText: 'a', referenceImages: [{ uri }] };
    const [issue] = generateRequestSchemas.image.safeParse({ configId: 'preview', input }).error?.issues ?? [];
    expect(issue?.message).toBe(`must have at least 13 characters and has ${uri.length}`);
  });

  test('may be 5 MiB of data, and no more', () => {
    const prefix = 'data:video/mp4;base64,';
    const data = (characters: number) => `${prefix}${'A'.repeat(characters - prefix.length)}`;
    const ofVideo = (uri: string) => issuesOf('video', { referenceVideos: [{ uri, role: 'source' }] });
    expect(ofVideo(data(4 * 1_024 * 1_024))).toEqual([]);
    expect(ofVideo(data(5 * 1_024 * 1_024))).toEqual([]);
    expect(ofVideo(data(5 * 1_024 * 1_024 + 1))).toHaveLength(1);
  });
});

describe('outside of strict mode', () => {
  test('the fields of the guide are taken for every modality, and ignored where they mean nothing', () => {
    expect(leniently('video', shown)).toEqual(shown);
    expect(leniently('image', shown)).toEqual({ promptText: 'waves', aspectRatio: '16:9' });
    expect(leniently('image', { promptText: 'waves', resolution: '4k' })).toEqual({
      promptText: 'waves',
      resolution: '4k',
    });
    expect(leniently('audio', shown)).toEqual({ type: 'audio', promptText: 'waves', duration: 5 });
    for (const duration of [5, 60, 0.2]) {
      const speech = { ...shown, type: 'speech', duration };
      expect(leniently('audio', speech)).toEqual({ type: 'speech', promptText: 'waves' });
    }
  });

  test.each([
    [{}, 'speech'],
    [{ voice: { type: 'preset', presetId: 'Maya' } }, 'speech'],
    [{ aspectRatio: '16:9', resolution: '720p' }, 'speech'],
    [{ duration: 5 }, 'audio'],
    [{ loop: false }, 'audio'],
    [{ referenceAudios: [{ uri: recording }] }, 'audio'],
    [{ referenceAudios: [] }, 'audio'],
    [{ type: 'audio' }, 'audio'],
    [{ type: 'speech', loop: true }, 'speech'],
  ])('audio with %j besides its prompt is %s', (input, type) => {
    expect(leniently('audio', { promptText: 'waves', ...input })).toMatchObject({ type });
  });

  test.each<[Modality, object]>([
    ['image', { ...shown, duration: '5' }],
    ['image', { ...shown, duration: -1 }],
    ['image', { ...shown, resolution: 'high' }],
    ['image', { ...shown, loop: true }],
    ['audio', { ...shown, aspectRatio: 'wide' }],
    ['audio', { ...shown, duration: 31 }],
    ['audio', { ...shown, type: 'audio', duration: 0.2 }],
    ['audio', { ...shown, type: 'speech', duration: -1 }],
    ['audio', { ...shown, seed: 1 }],
    ['video', { ...shown, outputCount: 1 }],
  ])('%s is still refused with %j', (modality, input) => {
    expect(
      issuesOf(modality, input, lenientGenerateRequestSchemas as unknown as typeof generateRequestSchemas),
    ).not.toEqual([]);
  });

  test('what the live service takes means the same, but for the length of speech', () => {
    for (const modality of ['video', 'image', 'audio'] as const) {
      fc.assert(
        fc.property(inputs[modality] as fc.Arbitrary<{ type?: string; duration?: number }>, (input) => {
          const { duration: _duration, ...withoutDuration } = input;
          expect(issuesOf(modality, input)).toEqual([]);
          expect(leniently(modality, input)).toEqual(input.type === 'speech' ? withoutDuration : input);
        }),
      );
    }
  });
});

test('all requests can be described as JSON Schema', () => {
  for (const schemas of [generateRequestSchemas, lenientGenerateRequestSchemas])
    for (const schema of Object.values(schemas))
      expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({
        type: 'object',
        required: ['configId', 'input'],
        additionalProperties: false,
      });
});

describe('the settings of a router', () => {
  const complete = { schemaVersion: 1, optimizeFor: 'cost', models: { mode: 'allowlist_only', ids: [] } };

  test('have exactly one target and a model list, which may be empty', () => {
    expect(routerSettingsSchema.safeParse(complete).success).toBe(true);
    expect(routerSettingsSchema.safeParse({ ...complete, optimizeFor: ['cost', 'quality'] }).success).toBe(false);
    expect(routerSettingsSchema.safeParse({ ...complete, optimizeFor: undefined }).success).toBe(false);
    expect(routerSettingsSchema.safeParse({ ...complete, models: { mode: 'allow_all', ids: [] } }).success).toBe(false);
  });

  test.each([0.5, 1, 1_000])('may have %d credits as a ceiling, for each modality', (credits) => {
    const maxCreditsPerGeneration = { video: credits, image: credits, audio: credits };
    expect(routerSettingsSchema.safeParse({ ...complete, maxCreditsPerGeneration }).success).toBe(true);
  });

  test.each([0, -1, '10', Infinity])('may not have %s as a ceiling', (video) => {
    for (const schema of [routerSettingsSchema, settingsCreateSchema, settingsPatchSchema])
      expect(schema.safeParse({ ...complete, maxCreditsPerGeneration: { video } }).success).toBe(false);
  });

  test('may be changed in part: a list without its mode, a ceiling cleared by null', () => {
    expect(settingsPatchSchema.safeParse({ models: { ids: ['gen4.5'] } }).success).toBe(true);
    expect(settingsPatchSchema.safeParse({ maxCreditsPerGeneration: { video: null } }).success).toBe(true);
    expect(settingsCreateSchema.safeParse({ models: { ids: ['gen4.5'] } }).success).toBe(false);
    expect(routerSettingsSchema.safeParse({ ...complete, maxCreditsPerGeneration: { video: null } }).success).toBe(
      false,
    );
  });

  test('have no unknown keys, at any depth', () => {
    for (const extra of [
      { a: 1 },
      { fallback: { a: 1 } },
      { maxCreditsPerGeneration: { text: 1 } },
      { schemaVersion: 2 },
    ])
      for (const schema of [settingsCreateSchema, settingsPatchSchema])
        expect(schema.safeParse(extra).success).toBe(false);
  });

  test('belong to a slug of at most 64 lower-case characters that begins with a letter', () => {
    for (const slug of ['a', 'preview-fast_2', `a${'0'.repeat(63)}`])
      expect(slugSchema.safeParse(slug).success).toBe(true);
    for (const slug of ['', '1a', '-a', 'Preview', 'a b', 'ä', 'a\n', `a${'0'.repeat(64)}`])
      expect(slugSchema.safeParse(slug).success).toBe(false);
  });
});
