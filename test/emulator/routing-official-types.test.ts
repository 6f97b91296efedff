/** The built-in catalog beside what the types of the official client say of the same models. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ImageInput, VideoInput } from '../../src/contract/routing-inputs.ts';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';
import type { ImageModel, VideoModel } from '../../src/emulator/routing/model.ts';
import { film, onlyFrom, picture, recording, refused, routed } from '../support/routing-requests.ts';

const client = path.dirname(createRequire(import.meta.url).resolve('@runwayml/sdk'));

/** The type of each property, by model and by name: `seed?` for one that may be left out. */
function typed(endpoint: string): Map<string, Map<string, string>> {
  const text = readFileSync(path.join(client, 'resources', `${endpoint}.d.ts`), 'utf8');
  const models = new Map<string, Map<string, string>>();
  for (const [, body = ''] of text.matchAll(/^ {4}interface \w+ \{\n([^]*?)^ {4}\}/gm)) {
    const properties = new Map(
      [...body.matchAll(/^ {8}(\w+\??): (.+);$/gm)].map(([, name = '', type = '']) => [name, type]),
    );
    const id = /^'(.+)'$/.exec(properties.get('model') ?? '')?.[1];
    if (id !== undefined) models.set(id, properties);
  }
  return models;
}

const endpoints = {
  text: typed('text-to-video'),
  image: typed('image-to-video'),
  video: typed('video-to-video'),
  picture: typed('text-to-image'),
};
const videoModels = builtInCatalog.models.filter((model): model is VideoModel => model.modality === 'video');
const imageModels = builtInCatalog.models.filter((model): model is ImageModel => model.modality === 'image');

/** `width:height` of a union of literals. */
const pixelsIn = (type = ''): string[] => [...type.matchAll(/'(\d{3,}:\d{3,})'/g)].map(([, pixels = '']) => pixels);
const pixelsOf = ({ sizes }: VideoModel | ImageModel): string[] =>
  Object.values(sizes).flatMap((ratios) => Object.values(ratios));

describe.each(videoModels.map((model) => [model.id, model] as const))('%s', (id, { modes, features, ...model }) => {
  const types = [endpoints.text, endpoints.image, endpoints.video].flatMap((endpoint) => endpoint.get(id) ?? []);

  test('takes a seed and a negative prompt where the client has them', () => {
    for (const feature of ['seed', 'negativePrompt'] as const)
      expect([feature, features.includes(feature)]).toEqual([feature, types.some((type) => type.has(`${feature}?`))]);
  });

  test('has the modes that the client has, and needs a prompt where it does', () => {
    const { text, image, frames = image, video } = modes;
    for (const [mode, endpoint] of [
      [text, endpoints.text],
      [frames, endpoints.image],
      [video, endpoints.video],
    ] as const) {
      expect(mode !== undefined).toBe(endpoint.has(id));
      expect(mode?.promptOptional === true).toBe(endpoint.get(id)?.has('promptText?') === true);
    }
  });

  test('makes the pixels that the client names', () => {
    const named = types.flatMap((type) => pixelsIn(type.get('ratio') ?? type.get('ratio?')));
    // The client names no pixels of some models.
    const known = named.length > 0 ? pixelsOf({ ...model, modes, features }) : [];
    expect(named).toEqual(expect.arrayContaining(known));
  });
});

describe.each(imageModels.map((model) => [model.id, model] as const))('%s', (id, model) => {
  const type = endpoints.picture.get(id);

  test('makes the pixels that the client names', () => {
    const ratio = type?.get('ratio') ?? '';
    const freeform = ratio.includes('string')
      ? pixelsOf(model).filter((pixels) => /^(?:1856|2320|2752|3440):/.test(pixels))
      : [];
    expect([...pixelsIn(ratio), ...freeform]).toEqual(expect.arrayContaining(pixelsOf(model)));
  });

  test('takes a seed, and makes several images, where the client can ask for it', () => {
    expect(model.features.includes('seed')).toBe(type?.has('seed?'));
    const isOne = Array.isArray(model.outputCounts) && model.outputCounts.length === 1;
    expect(!isOne).toBe(type?.has('outputCount?'));
  });
});

describe('images', () => {
  const made = (id: string, input: VideoInput) => {
    const settings = { models: onlyFrom(id) };
    try {
      return routed('video', input, { settings }).resolvedInput;
    } catch {
      return refused('video', input, { settings }).error;
    }
  };
  const with_ = (...roles: ('first' | 'last' | 'reference')[]) => ({
    promptText: 'waves',
    referenceImages: roles.map((role) => ({ uri: picture, role })),
  });

  test.for(['veo3.1', 'veo3.1_fast', 'h3_max', 'gemini_omni_flash_1.1'])(
    'of %s may be a last frame only behind a first one',
    (id) => {
      expect(made(id, with_('last'))).toContain('a last frame without a first one (1 model)');
      expect(made(id, with_('first', 'last'))).toHaveProperty('ratio');
    },
  );

  test('of grok_imagine_1_5 are a first frame or references, and only beside references it takes sound, up to 720p', () => {
    const sound = { referenceAudio: [{ uri: recording }] };
    const id = 'grok_imagine_1_5';
    expect(made(id, with_('first', 'last'))).toContain('2 referenceImages');
    expect(made(id, { promptText: 'waves', ...sound })).toContain('1 referenceAudio');
    expect(made(id, { ...with_('first'), ...sound })).toContain('1 referenceAudio');
    expect(made(id, { ...with_('reference'), ...sound })).toHaveProperty('ratio');
    expect(made(id, { ...with_('reference'), resolution: '1080p' })).toContain('resolution 1080p');
    expect(made(id, { ...with_('first'), resolution: '1080p' })).toMatchObject({ resolution: '1080p' });
  });

  test.for(['happyhorse_1_0', 'grok_imagine_1_5', 'wan3', 'wan3_prime'])(
    'that are frames decide the shape of %s, so that a request cannot name one',
    (id) => {
      expect(made(id, { ...with_('first'), aspectRatio: '1:1' })).toContain('aspectRatio 1:1');
      expect(made(id, with_('first'))).toMatchObject({ ratio: '1280:720' });
      expect(made(id, { promptText: 'waves', aspectRatio: '1:1' })).toHaveProperty('ratio');
    },
  );

  test('that are frames leave no place for reference videos where the client has none', () => {
    const beside = { referenceVideos: [{ uri: film, role: 'reference' as const }] };
    expect(made('seedance2', { ...with_('first'), ...beside })).toContain('1 referenceVideos');
    expect(made('seedance2', { ...with_('reference'), ...beside })).toHaveProperty('ratio');
    expect(made('wan3', { ...with_('first'), ...beside })).toHaveProperty('ratio');
  });
});

test('the cheapest image model makes several images', () => {
  const input: ImageInput = { promptText: 'a', outputCount: 2 };
  expect(routed('image', input)).toMatchObject({ model: 'muse_image', estimatedCost: { credits: 2 } });
});
