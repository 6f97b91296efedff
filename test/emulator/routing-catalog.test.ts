import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { videoAspectRatios } from '../../src/contract/routing-inputs.ts';
import type { Modality } from '../../src/contract/routing-settings.ts';
import { builtInCatalog, catalogView, parseCatalog } from '../../src/emulator/routing/catalog.ts';
import { film, modelNamed, onlyFrom, picture, recording, refused, routed } from '../support/routing-requests.ts';
import type { Input } from '../support/routing-requests.ts';

const idsOf = (modality: Modality) =>
  builtInCatalog.models.filter((model) => model.modality === modality).map(({ id }) => id);

describe('the catalog', () => {
  test('has every video, image and audio model that a router can reach', () => {
    expect(idsOf('video')).toEqual([
      'gen4.5',
      'gen4_turbo',
      'aleph2',
      'veo3.1',
      'veo3.1_fast',
      'gemini_omni_flash',
      'gemini_omni_flash_1.1',
      'seedance2',
      'seedance2_fast',
      'seedance2_mini',
      'seedance2_5',
      'hailuo3',
      'h3_max',
      'wan3',
      'wan3_prime',
      'grok_imagine_1_5',
      'happyhorse_1_0',
    ]);
    expect(idsOf('image')).toEqual([
      'gen4_image',
      'gen4_image_turbo',
      'gemini_2.5_flash',
      'gemini_image3_pro',
      'gemini_image3.1_flash',
      'gpt_image_2',
      'gpt_image_2_5_flare',
      'gpt_image_2_5_sunburst',
      'seedream5_pro',
      'seedream5_lite',
      'grok_imagine_image_2',
      'muse_image',
    ]);
    expect(idsOf('audio')).toEqual(['eleven_v3', 'eleven_multilingual_v2', 'seed_audio', 'eleven_text_to_sound_v2']);
  });

  test('has models that a request can be routed to, each of them', () => {
    const first = [{ uri: picture, role: 'first' as const }];
    const source = [{ uri: film, role: 'source' as const }];
    const preset = { type: 'preset' as const, presetId: 'Maya' as const };
    const requests: Readonly<Record<Modality, readonly Input[]>> = {
      video: [
        { promptText: 'waves' },
        { promptText: 'waves', referenceImages: first },
        { promptText: 'waves', referenceVideos: source },
      ],
      image: [{ promptText: 'waves' }, { promptText: 'waves', referenceImages: [{ uri: picture }] }],
      audio: [
        { type: 'speech', promptText: 'waves' },
        { type: 'speech', promptText: 'waves', voice: preset },
        { type: 'audio', promptText: 'waves' },
      ],
    };
    const picked = new Set<string>();
    for (const { id, modality } of builtInCatalog.models)
      for (const input of requests[modality]) {
        // Without the other models it is this one or none.
        const catalog = { models: [modelNamed(id)] };
        try {
          picked.add(routed(modality, input, { catalog }).model);
        } catch {
          refused(modality, input, { catalog });
        }
      }
    expect([...picked]).toEqual(builtInCatalog.models.map(({ id }) => id));
  });
});

const video = (seconds: number, more: object = {}): Input => ({ promptText: 'waves', duration: seconds, ...more });
const images = (...roles: string[]) => ({ referenceImages: roles.map((role) => ({ uri: picture, role })) });
const pictures = (count: number) => ({ referenceImages: Array.from({ length: count }, () => ({ uri: picture })) });
const videos = (...roles: string[]) => ({ referenceVideos: roles.map((role) => ({ uri: film, role })) });
const speech = (characters: number, more: object = {}): Input => ({
  type: 'speech',
  promptText: 'a'.repeat(characters),
  ...more,
});
const preset = { voice: { type: 'preset', presetId: 'Maya' } };

test.each<[string, Modality, Input, number]>([
  ['gen4.5', 'video', video(5), 60],
  ['gen4_turbo', 'video', video(5, images('first')), 25],
  ['aleph2', 'video', video(2, videos('source')), 56],
  ['aleph2', 'video', video(10, videos('source')), 280],
  ['veo3.1', 'video', video(4), 160],
  ['veo3.1', 'video', video(4, { audio: true }), 160],
  ['veo3.1', 'video', video(4, { audio: false }), 80],
  ['veo3.1_fast', 'video', video(8, { resolution: '1080p' }), 120],
  ['veo3.1_fast', 'video', video(8, { audio: false }), 80],
  ['gemini_omni_flash', 'video', video(5), 50],
  ['gemini_omni_flash', 'video', video(5, images('first')), 51],
  ['gemini_omni_flash', 'video', video(10, { ...videos('source'), ...images('reference', 'reference') }), 112],
  ['gemini_omni_flash_1.1', 'video', video(5, images('first')), 51],
  ['gemini_omni_flash_1.1', 'video', video(5, { resolution: '4k' }), 150],
  ['seedance2', 'video', video(5, { resolution: '480p' }), 180],
  ['seedance2', 'video', video(5, { resolution: '1080p' }), 200],
  ['seedance2', 'video', video(5, { resolution: '4k' }), 750],
  ['seedance2_fast', 'video', video(5, images('first')), 145],
  ['seedance2_mini', 'video', video(4), 64],
  ['seedance2_mini', 'video', video(5), 80],
  ['seedance2_5', 'video', video(5), 150],
  ['seedance2_5', 'video', video(4, { resolution: '480p' }), 80],
  ['seedance2_5', 'video', video(5, { ...videos('source'), ...images('reference') }), 225],
  ['seedance2_5', 'video', video(5, videos('source', 'reference')), 300],
  ['hailuo3', 'video', video(5, images('reference', 'reference')), 54],
  ['hailuo3', 'video', video(5, { resolution: '1080p' }), 75],
  ['h3_max', 'video', video(5), 40],
  ['wan3', 'video', video(10, { resolution: '1080p' }), 200],
  ['wan3_prime', 'video', video(3, { resolution: '480p' }), 20.4],
  ['grok_imagine_1_5', 'video', video(5, { ...images('reference'), referenceAudio: [{ uri: recording }] }), 82],
  ['happyhorse_1_0', 'video', video(5), 75],
  ['gen4_image', 'image', { promptText: 'a' }, 5],
  ['gen4_image', 'image', { promptText: 'a', resolution: '2k' }, 8],
  ['gen4_image_turbo', 'image', { promptText: 'a', ...pictures(1) }, 2],
  ['gemini_2.5_flash', 'image', { promptText: 'a' }, 5],
  ['gemini_image3_pro', 'image', { promptText: 'a', outputCount: 4 }, 80],
  ['gemini_image3_pro', 'image', { promptText: 'a', resolution: '4k' }, 40],
  ['gemini_image3.1_flash', 'image', { promptText: 'a' }, 7],
  ['gpt_image_2', 'image', { promptText: 'a', outputCount: 10 }, 200],
  ['gpt_image_2', 'image', { promptText: 'a', resolution: '4k' }, 41],
  ['gpt_image_2_5_sunburst', 'image', { promptText: 'a' }, 16],
  ['gpt_image_2_5_flare', 'image', { promptText: 'a', outputCount: 2, ...pictures(3) }, 38],
  ['seedream5_pro', 'image', { promptText: 'a', resolution: '2k', outputCount: 4 }, 36],
  ['seedream5_lite', 'image', { promptText: 'a' }, 4],
  ['grok_imagine_image_2', 'image', { promptText: 'a', outputCount: 2, ...pictures(3) }, 15],
  ['muse_image', 'image', { promptText: 'a' }, 1],
  ['eleven_v3', 'audio', speech(1, preset), 1],
  ['eleven_v3', 'audio', speech(50, preset), 1],
  ['eleven_v3', 'audio', speech(51, preset), 2],
  ['eleven_multilingual_v2', 'audio', speech(1_000, preset), 20],
  ['seed_audio', 'audio', speech(10), 5],
  ['seed_audio', 'audio', speech(1_500), 25],
  ['seed_audio', 'audio', { type: 'audio', promptText: 'rain' }, 5],
  ['eleven_text_to_sound_v2', 'audio', { type: 'audio', promptText: 'rain' }, 2],
  ['eleven_text_to_sound_v2', 'audio', { type: 'audio', promptText: 'rain', duration: 7.5 }, 7.5],
])('%s makes %s of %o for %d credits', (id, modality, input, credits) => {
  const decision = routed(modality, input, { settings: { models: onlyFrom(id) } });
  expect(decision.estimatedCost).toEqual({ credits });
});

describe('what a request leaves open', () => {
  const resolved = (id: string, modality: Modality, input: Input) =>
    routed(modality, input, { settings: { models: onlyFrom(id) } }).resolvedInput;

  test('is five seconds of 16:9 at 720p for video, as near to that as the model comes', () => {
    expect(resolved('gen4.5', 'video', { promptText: 'a' })).toEqual({
      duration: 5,
      ratio: '1280:720',
      resolution: '720p',
    });
    expect(resolved('veo3.1', 'video', { promptText: 'a' })).toMatchObject({ duration: 6 });
  });

  test('is a square of the smallest size for images', () => {
    const square = { aspectRatio: '1:1', ratio: '1024:1024', resolution: '1k' };
    expect(resolved('gemini_2.5_flash', 'image', { promptText: 'a' })).toEqual(square);
    expect(resolved('gpt_image_2', 'image', { promptText: 'a' })).toMatchObject({
      ratio: '1920:1920',
      resolution: '2k',
    });
  });

  test.each([
    ['seed_audio', {}, 'default'],
    ['eleven_v3', preset, 'preset'],
    ['seed_audio', { voice: { type: 'reference-audio', audioUri: recording } }, 'reference-audio'],
  ])('is how %s speaks with %j: %s', (id, more, voice) => {
    expect(resolved(id, 'audio', speech(5, more))).toEqual({ type: 'speech', voice });
  });

  test('is no voice for audio by description', () => {
    expect(resolved('seed_audio', 'audio', { type: 'audio', promptText: 'rain' })).toEqual({
      type: 'audio',
      voice: 'none',
    });
  });
});

test.each([
  ['gen4_turbo', '720p', ['1280:720', '720:1280', '960:960', '1104:832', '832:1104', '1584:672']],
  ['veo3.1', '1080p', ['1920:1080', '1080:1920', null, null, null, null]],
  ['seedance2', '480p', ['864:496', '496:864', '640:640', '752:560', '560:752', '992:432']],
  ['seedance2_5', '480p', ['854:480', '480:854', '640:640', '752:560', '560:752', '992:432']],
  ['seedance2', '4k', ['3840:2160', '2160:3840', '3840:3840', '3840:2880', '2880:3840', '3840:1646']],
  ['wan3', '720p', ['1280:720', '720:1280', '960:960', '1104:832', '832:1104', null]],
  ['happyhorse_1_0', '1080p', ['1920:1080', '1080:1920', '1440:1440', '1662:1248', '1248:1662', null]],
] as const)('%s at %s makes these pixels: %j', (id, resolution, pixels) => {
  const made = videoAspectRatios.map((aspectRatio) => {
    const input = {
      promptText: 'waves',
      aspectRatio,
      resolution,
      ...(id === 'gen4_turbo' && images('first')),
    } as Input;
    try {
      const decision = routed('video', input, { settings: { models: onlyFrom(id) } });
      return 'ratio' in decision.resolvedInput ? decision.resolvedInput.ratio : undefined;
    } catch {
      return null;
    }
  });
  expect(made).toEqual(pixels);
});

test('a model makes fewer shapes and sizes in one mode than in another where it says so', () => {
  const settings = { models: onlyFrom('gen4.5', 'seedance2_fast', 'grok_imagine_1_5') };
  const square = { promptText: 'a', aspectRatio: '1:1' as const };
  expect(routed('video', { ...square, ...images('first') }, { settings }).ranked).toHaveLength(2);
  expect(routed('video', { ...square, audio: false }, { settings }).ranked).toHaveLength(1);
  const large = { promptText: 'a', resolution: '1080p' as const };
  expect(routed('video', large, { settings }).model).toBe('grok_imagine_1_5');
  expect(refused('video', { ...large, ...images('reference') } as Input, { settings }).emptiedBy).toEqual([
    'input_support',
  ]);
});

describe('a catalog from a file', () => {
  const { id: _id, ...gen45 } = modelNamed('gen4.5');
  const newModel = { ...gen45, id: 'gen5', price: { perSecond: { '720p': 1 } } };
  const problemsOf = (json: unknown): string => {
    try {
      parseCatalog(json);
    } catch (error) {
      return z.prettifyError(error as z.ZodError);
    }
    throw new Error('the catalog was taken');
  };

  test('is what the emulator shows of one', () => {
    const shown: unknown = JSON.parse(JSON.stringify(catalogView(builtInCatalog)));
    expect(parseCatalog(shown)).toEqual(builtInCatalog);
    expect(parseCatalog((shown as { models: unknown }).models)).toEqual(builtInCatalog);
  });

  test('adds models at the end, which then are picked', () => {
    const catalog = parseCatalog({ add: [newModel] });
    expect(catalog.models.map(({ id }) => id)).toEqual([...builtInCatalog.models.map(({ id }) => id), 'gen5']);
    expect(routed('video', video(5), { catalog }).model).toBe('gen5');
  });

  test('replaces a model in its place by one of the same id', () => {
    const catalog = parseCatalog({ add: [{ ...newModel, id: 'gen4.5' }] });
    expect(catalog.models).toHaveLength(builtInCatalog.models.length);
    expect(catalog.models[0]).toMatchObject({ id: 'gen4.5', price: { perSecond: { '720p': 1 } } });
  });

  test('removes models', () => {
    const catalog = parseCatalog({ remove: ['h3_max', 'muse_image'] });
    expect(catalog.models).toHaveLength(builtInCatalog.models.length - 2);
    expect(routed('video', video(5), { catalog }).model).not.toBe('h3_max');
  });

  test('may be empty', () => {
    expect(parseCatalog([])).toEqual({ models: [] });
    expect(parseCatalog({})).toEqual(builtInCatalog);
    expect(refused('video', video(5), { catalog: { models: [] } }).emptiedBy).toEqual(['allow_deny']);
  });

  test('shows each problem and its place', () => {
    expect(problemsOf('models')).toContain('expected object');
    expect(problemsOf({ remove: ['gen9'] })).toContain('there is no model gen9 to remove; the models are gen4.5, ');
    expect(problemsOf({ add: [newModel, newModel] })).toMatch(/gen5 is there already\n.*add\[1\]\.id/);
    expect(problemsOf({ add: [{ ...newModel, sizes: {} }] })).toMatch(/must not be empty\n.*add\[0\]\.sizes/);
    expect(problemsOf({ add: [{ ...newModel, modes: {} }] })).toMatch(/must not be empty\n.*add\[0\]\.modes/);
    expect(problemsOf({ add: [{ ...newModel, price: { perSecond: {} } }] })).toMatch(
      /each resolution.*\n.*price\.perSecond/,
    );
    expect(problemsOf({ add: [{ ...newModel, quality: 11 }] })).toMatch(/\n.*add\[0\]\.quality/);
    expect(problemsOf({ add: [{ ...newModel, strengths: { charm: 1 } }] })).toMatch(/add\[0\]\.strengths/);
    expect(problemsOf({ add: [{ ...newModel, colour: 'red' }] })).toContain('colour');
    expect(problemsOf({ add: [], models: [] })).toContain('add');
    const narrow = { ...newModel, modes: { text: { durations: [5], resolutions: ['4k'] } } };
    expect(problemsOf({ add: [narrow] })).toMatch(/must be in sizes\n.*modes\.text\.resolutions/);
    const wide = { ...newModel, sizes: { '720p': { '16:9': '1280:720' } } };
    expect(problemsOf({ add: [wide] })).toMatch(/must be in sizes at each resolution\n.*modes\.text\.aspectRatios/);
    expect(problemsOf([{ ...modelNamed('muse_image'), references: { min: 2, max: 1 } }])).toMatch(
      /min must not be above max/,
    );
    const promptCharacters = { min: 10, max: 5 };
    expect(problemsOf([{ ...newModel, promptCharacters }])).toMatch(/min must not be above max\n.*promptCharacters/);
    expect(problemsOf([{ ...newModel, price: { perSecond: { '720p': 1e308 } } }])).toMatch(/\n.*price\.perSecond/);
    expect(problemsOf([{ ...newModel, expectedSeconds: 1e308 }])).toMatch(/\n.*expectedSeconds/);
    expect(problemsOf([{ ...newModel, modes: { text: { durations: [1e300] } } }])).toMatch(/\n.*durations/);
    expect(problemsOf([{ ...modelNamed('eleven_v3'), speech: undefined }])).toMatch(/must have speech or audio/);
  });
});
