import { describe, expect, test } from 'vitest';
import type { PipelineEntry } from '../../src/contract/routing-answers.ts';
import type { AudioInput, ImageInput, VideoInput } from '../../src/contract/routing-inputs.ts';
import { builtInCatalog, parseCatalog } from '../../src/emulator/routing/catalog.ts';
import type { Catalog, Model } from '../../src/emulator/routing/catalog.ts';
import { decide } from '../../src/emulator/routing/pipeline.ts';
import {
  film,
  modelNamed,
  onlyFrom,
  picture,
  recording,
  refused,
  requestOf,
  routed,
} from '../support/routing-requests.ts';
import type { Input } from '../support/routing-requests.ts';

/** The input of the service's guide. */
const shown = { promptText: 'waves', duration: 5, aspectRatio: '16:9', resolution: '720p' } as const;
const order = ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price'];
const catalogOf = (...ids: string[]): Catalog => ({ models: ids.map(modelNamed) });
const survivorsOf = (pipeline: readonly PipelineEntry[], filter: string) =>
  pipeline.flatMap((entry) => (entry.type === 'filter' && entry.filter === filter ? [entry.models] : []))[0];

describe('the pipeline', () => {
  test('runs allow_deny, capability, input_support, prompt_length, price and then a rank step', () => {
    const { pipeline } = routed('video', shown);
    expect(pipeline.map((entry) => (entry.type === 'filter' ? entry.filter : entry.type))).toEqual([...order, 'rank']);
  });

  test('passes on the models that survive each filter, in the order of the catalog', () => {
    const catalog = catalogOf('muse_image', 'gen4_turbo', 'veo3.1', 'gen4.5', 'h3_max', 'wan3', 'seedance2_fast');
    const settings = {
      models: { mode: 'allow_new_except' as const, ids: ['wan3'] },
      maxCreditsPerGeneration: { video: 60 },
    };
    const { pipeline, model } = routed('video', shown, { catalog, settings });
    expect(pipeline).toEqual([
      {
        type: 'filter',
        filter: 'allow_deny',
        models: ['muse_image', 'gen4_turbo', 'veo3.1', 'gen4.5', 'h3_max', 'seedance2_fast'],
      },
      { type: 'filter', filter: 'capability', models: ['veo3.1', 'gen4.5', 'h3_max', 'seedance2_fast'] },
      { type: 'filter', filter: 'input_support', models: ['gen4.5', 'h3_max', 'seedance2_fast'] },
      { type: 'filter', filter: 'prompt_length', models: ['gen4.5', 'h3_max', 'seedance2_fast'] },
      { type: 'filter', filter: 'price', models: ['gen4.5', 'h3_max'] },
      { type: 'rank', outcome: 'cost' },
    ]);
    expect(model).toBe('h3_max');
  });

  test('says which model, whose, by which router, for which settings and input, at what cost', () => {
    const settings = { models: onlyFrom('gen4.5'), maxCreditsPerGeneration: { video: 100, image: 1 } };
    expect(routed('video', shown, { settings })).toMatchObject({
      model: 'gen4.5',
      provider: 'runway',
      configId: 'test',
      resolvedSettings: { optimizeFor: 'cost', priceCeiling: 100 },
      resolvedInput: { duration: 5, ratio: '1280:720', resolution: '720p' },
      estimatedCost: { credits: 60 },
    });
    expect(routed('video', shown).resolvedSettings).toEqual({ optimizeFor: 'cost', priceCeiling: null });
  });

  test('says of each model that fell out where and over what', () => {
    const catalog = catalogOf('muse_image', 'gen4_turbo', 'veo3.1', 'gen4.5', 'h3_max');
    const settings = { models: { mode: 'allow_new_except' as const, ids: ['h3_max'] } };
    const { dropped } = routed('video', shown, { catalog, settings });
    expect(dropped.map(({ model, filter, because }) => [model.id, filter, because])).toEqual([
      ['h3_max', 'allow_deny', 'on the deny list'],
      ['muse_image', 'capability', 'video'],
      ['gen4_turbo', 'capability', 'video without an image'],
      ['veo3.1', 'input_support', 'duration 5'],
    ]);
  });
});

describe('the model list', () => {
  test('as a deny list lets models in that were added later, as an allow list it does not', () => {
    const { id: _id, ...rest } = modelNamed('h3_max');
    const later = parseCatalog({ add: [{ ...rest, id: 'h4', price: { perSecond: { '480p': 1, '720p': 1 } } }] });
    expect(routed('video', shown, { catalog: later }).model).toBe('h4');
    const today = builtInCatalog.models.map(({ id }) => id);
    expect(routed('video', shown, { catalog: later, settings: { models: onlyFrom(...today) } }).model).toBe('h3_max');
  });

  test('may name models that are gone', () => {
    expect(routed('video', shown, { settings: { models: onlyFrom('gone', 'gen4.5') } }).model).toBe('gen4.5');
  });

  test('that leaves no model is to be widened', () => {
    for (const models of [
      onlyFrom(),
      { mode: 'allow_new_except' as const, ids: builtInCatalog.models.map(({ id }) => id) },
    ]) {
      const { error, emptiedBy, pipeline } = refused('video', shown, { settings: { models } });
      expect(error).toMatch(/widen the model list$/);
      expect(emptiedBy).toEqual(['allow_deny']);
      expect(pipeline).toEqual([{ type: 'filter', filter: 'allow_deny', models: [] }]);
    }
  });

  test('that leaves no model of the modality is to be widened too', () => {
    const { error, emptiedBy } = refused('video', shown, { settings: { models: onlyFrom('muse_image') } });
    expect(emptiedBy).toEqual(['capability']);
    expect(error).toBe("the router's model list has no model for video; widen the model list");
  });
});

describe('capability', () => {
  const able = (input: VideoInput) => survivorsOf(routed('video', { ...shown, ...input }).pipeline, 'capability');

  test('is sound, where it is asked for, and silence likewise', () => {
    expect(able({ audio: true })).toEqual(expect.arrayContaining(['wan3', 'hailuo3']));
    expect(able({ audio: true })).not.toContain('gen4.5');
    expect(able({ audio: false })).toEqual(expect.arrayContaining(['wan3', 'gen4.5']));
    expect(able({ audio: false })).not.toContain('hailuo3');
  });

  test('is what a video can be made from', () => {
    expect(able({ referenceImages: [{ uri: picture, role: 'first' }] })).toContain('gen4_turbo');
    expect(able({})).not.toContain('gen4_turbo');
    const source = [{ uri: film, role: 'source' as const }];
    expect(able({ referenceVideos: source })).toContain('aleph2');
    expect(able({ referenceVideos: source })).not.toContain('gen4.5');
    expect(able({ referenceVideos: source, keyframes: [{ uri: picture, at: 0 }] })).toEqual(['aleph2']);
  });

  test('is the kind of voice', () => {
    const speakers = (voice?: AudioInput['voice']) =>
      survivorsOf(routed('audio', { type: 'speech', promptText: 'hello', voice }).pipeline, 'capability');
    expect(speakers({ type: 'preset', presetId: 'Maya' })).toEqual(['eleven_v3', 'eleven_multilingual_v2']);
    expect(speakers({ type: 'reference-audio', audioUri: recording })).toEqual(['seed_audio']);
    expect(speakers()).toEqual(['seed_audio']);
  });

  test('that nobody has is named', () => {
    const settings = { models: onlyFrom('gen4.5', 'h3_max', 'gen4_turbo') };
    const { error, emptiedBy } = refused('video', { ...shown, audio: true }, { settings });
    expect(emptiedBy).toEqual(['capability']);
    expect(error).toContain('no eligible model can do sound (2 models), video without an image (1 model)');
  });
});

describe('a constraint of the input', () => {
  test.each<[string, Input, string?]>([
    ['duration 30', { duration: 30 }],
    ['resolution 4k', { resolution: '4k' }],
    ['aspectRatio 21:9', { aspectRatio: '21:9' }],
    ['seed', { seed: 1 }, 'wan3'],
    ['negativePrompt', { negativePrompt: 'blur' }],
    ['1 referenceAudio', { referenceAudio: [{ uri: recording }] }],
    ['1 referenceVideos', { referenceVideos: [{ uri: film, role: 'reference' }] }],
  ])('that no model supports is named: %s', (constraint, input, model = 'h3_max') => {
    const { error, emptiedBy } = refused(
      'video',
      { promptText: 'waves', ...input },
      { settings: { models: onlyFrom(model) } },
    );
    expect(emptiedBy).toEqual(['input_support']);
    expect(error).toBe(
      `no eligible model supports every constraint of the input: ${constraint} (1 model); drop a constraint of the input`,
    );
  });

  test('may be one of several that no model supports together', () => {
    const { error } = refused('video', { promptText: 'waves', duration: 30, resolution: '4k' });
    expect(error).toMatch(/duration 30 \(\d+ models\), resolution 4k \(\d+ models\); drop a constraint/);
  });

  test.each<[ImageInput, string]>([
    [{ promptText: 'a', outputCount: 3 }, 'outputCount 3'],
    [{ promptText: 'a', resolution: '4k' }, 'resolution 4k'],
    [{ promptText: 'a', referenceImages: Array.from({ length: 4 }, () => ({ uri: picture })) }, '4 referenceImages'],
  ])('of an image request is named: %j', (input, constraint) => {
    expect(refused('image', input, { settings: { models: onlyFrom('gen4_image') } }).error).toContain(constraint);
  });

  test('is the role of images: frames and references do not mix, and not every model takes a last frame', () => {
    const withImages = (...roles: ('first' | 'last' | 'reference')[]) => ({
      promptText: 'waves',
      referenceImages: roles.map((role) => ({ uri: picture, role })),
    });
    const settings = { models: onlyFrom('gemini_omni_flash', 'seedance2') };
    expect(routed('video', withImages('first'), { settings }).ranked).toHaveLength(2);
    expect(routed('video', withImages('first', 'last'), { settings }).model).toBe('seedance2');
    expect(routed('video', withImages('reference', 'reference'), { settings }).model).toBe('seedance2');
    expect(refused('video', withImages('first', 'reference'), { settings }).emptiedBy).toEqual(['input_support']);
  });

  test('is the length and the loop of audio, which only models that can honour them get', () => {
    const audio = { type: 'audio' as const, promptText: 'rain' };
    expect(routed('audio', audio).ranked).toHaveLength(2);
    expect(routed('audio', { ...audio, duration: 3 }).ranked.map(({ model }) => model.id)).toEqual([
      'eleven_text_to_sound_v2',
    ]);
    expect(routed('audio', { ...audio, loop: true }).model).toBe('eleven_text_to_sound_v2');
    expect(routed('audio', { ...audio, loop: false }).ranked).toHaveLength(2);
    expect(refused('audio', { ...audio, type: 'speech', loop: true }).emptiedBy).toEqual(['input_support']);
  });
});

describe('the prompt', () => {
  test('may be as long as the model takes, in UTF-16 code units', () => {
    const settings = { models: onlyFrom('gen4.5') };
    expect(routed('video', { promptText: '😀'.repeat(500) }, { settings }).model).toBe('gen4.5');
    const { error, emptiedBy } = refused('video', { promptText: `${'😀'.repeat(500)}.` }, { settings });
    expect(emptiedBy).toEqual(['prompt_length']);
    expect(error).toBe('the prompt has 1001 characters and no eligible model takes more than 1000; shorten the prompt');
  });

  test('is needed by most models', () => {
    expect(routed('video', {}).ranked.map(({ model }) => model.id)).toEqual(['seedance2_5']);
    const { error, emptiedBy } = refused('video', {}, { settings: { models: onlyFrom('gen4.5') } });
    expect(emptiedBy).toEqual(['prompt_length']);
    expect(error).toBe('every eligible model needs a prompt; add promptText');
  });

  test('may be too short', () => {
    const { error } = refused('video', { promptText: 'a' }, { settings: { models: onlyFrom('happyhorse_1_0') } });
    expect(error).toContain('too short');
  });
});

describe('the price ceiling', () => {
  const under = (video: number) => ({ settings: { models: onlyFrom('gen4.5'), maxCreditsPerGeneration: { video } } });

  test('lets a model pass whose estimate equals it, and excludes what exceeds it', () => {
    expect(routed('video', shown, under(60)).model).toBe('gen4.5');
    expect(refused('video', shown, under(59.9)).emptiedBy).toEqual(['price']);
  });

  test('that all models exceed is to be raised, or the request shortened', () => {
    expect(refused('video', shown, under(10))).toMatchObject({
      kind: 'no_eligible_model',
      error:
        'all models exceed the configured price ceiling of 10 credits for video: the cheapest, gen4.5, is estimated at ' +
        '60 credits; raise the ceiling or shorten the request',
      pipeline: [...order.slice(0, -1).map((filter) => ({ filter })), { type: 'filter', filter: 'price', models: [] }],
    });
    expect(routed('video', { ...shown, duration: 2 }, under(24)).estimatedCost).toEqual({ credits: 24 });
  });

  test('is that of its modality', () => {
    const settings = { maxCreditsPerGeneration: { video: 1 } };
    expect(refused('video', shown, { settings }).emptiedBy).toEqual(['price']);
    expect(routed('image', { promptText: 'a' }, { settings }).resolvedSettings.priceCeiling).toBeNull();
  });

  test('is for all outputs together', () => {
    const settings = { models: onlyFrom('seedream5_pro'), maxCreditsPerGeneration: { image: 10 } };
    expect(routed('image', { promptText: 'a', outputCount: 2 }, { settings }).estimatedCost).toEqual({ credits: 10 });
    const { error, emptiedBy } = refused('image', { promptText: 'a', outputCount: 3 }, { settings });
    expect(emptiedBy).toEqual(['price']);
    expect(error).toContain('fewer outputs');
  });
});

describe('the rank step', () => {
  test.each([
    ['cost', 'h3_max', 'cost', 'lowest_cost'],
    ['latency', 'seedance2_fast', 'selected', 'best_latency'],
    ['quality', 'seedance2_5', 'selected', 'best_quality'],
  ] as const)('picks for %s %s, with outcome %s and reason code %s', (optimizeFor, model, outcome, reasonCode) => {
    const decision = routed('video', shown, { settings: { optimizeFor } });
    expect(decision).toMatchObject({ model, reasonCode });
    expect(decision.pipeline.at(-1)).toEqual({ type: 'rank', outcome });
    expect(decision.reason).toContain(model);
    expect(decision.ranked[0]?.model.id).toBe(model);
  });

  test.each([
    ['cost', 'cost', 'lowest_cost'],
    ['latency', 'single_candidate', 'only_eligible_model'],
    ['quality', 'single_candidate', 'only_eligible_model'],
  ] as const)('says of a single candidate for %s %s and %s', (optimizeFor, outcome, reasonCode) => {
    const decision = routed('video', shown, { settings: { optimizeFor, models: onlyFrom('wan3') } });
    expect(decision).toMatchObject({ model: 'wan3', reasonCode });
    expect(decision.pipeline.at(-1)).toEqual({ type: 'rank', outcome });
  });

  test('gives ties to the cheaper model, then to the first of the catalog', () => {
    const wan = modelNamed('wan3');
    const even = (id: string, changes: Partial<Model> = {}) => ({ ...wan, id, ...changes }) as Model;
    const cheaper = { price: { perSecond: { '480p': 4, '720p': 4, '1080p': 4 } } } as Partial<Model>;
    const catalog = { models: [even('first'), even('second'), even('cheap', cheaper), even('cheap too', cheaper)] };
    for (const optimizeFor of ['cost', 'latency', 'quality'] as const) {
      const { ranked } = routed('video', shown, { catalog, settings: { optimizeFor } });
      expect(ranked.map(({ model }) => model.id)).toEqual(['cheap', 'cheap too', 'first', 'second']);
    }
  });
});

describe('a model at its concurrency limit', () => {
  const fallback = { onCapacity: true };
  const catalog = catalogOf('gen4.5', 'h3_max', 'wan3');

  test('is skipped for the next-best eligible model with the fall-back switch on', () => {
    const decision = routed('video', shown, { catalog, settings: { fallback }, atLimit: ['h3_max', 'gen4.5'] });
    const capacityFallback = { skipped: ['h3_max'], allExhausted: false };
    expect(decision).toMatchObject({ model: 'wan3', estimatedCost: { credits: 50 }, capacityFallback });
    expect(decision.pipeline.slice(-2)).toEqual([
      { type: 'capacity', ...capacityFallback },
      { type: 'rank', outcome: 'cost' },
    ]);
    expect(decision.reason).toContain('at their concurrency limit: h3_max');
  });

  test('is picked nevertheless if every eligible model is at its limit', () => {
    const atLimit = ['h3_max', 'gen4.5', 'wan3'];
    const decision = routed('video', shown, { catalog, settings: { fallback }, atLimit });
    expect(decision).toMatchObject({ model: 'h3_max', capacityFallback: { skipped: [], allExhausted: true } });
  });

  test('changes nothing where a better one is free', () => {
    const decision = routed('video', shown, { catalog, settings: { fallback }, atLimit: ['gen4.5'] });
    expect(decision.model).toBe('h3_max');
    expect(decision).not.toHaveProperty('capacityFallback');
    expect(decision.pipeline.map(({ type }) => type)).not.toContain('capacity');
  });

  test('is picked with the switch off, and nobody is asked', () => {
    for (const settings of [{}, { fallback: {} }, { fallback: { onCapacity: false } }]) {
      const asked: string[] = [];
      const decision = decide(requestOf('video', shown, settings), catalog, (id) => asked.push(id) > 0);
      expect(decision).toMatchObject({ model: 'h3_max' });
      expect(asked).toEqual([]);
    }
  });
});
