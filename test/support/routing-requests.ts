/** Requests and catalogs for tests of routing, fixed and random. */
import fc from 'fast-check';
import {
  imageAspectRatios,
  imageResolutions,
  videoAspectRatios,
  videoResolutions,
  voicePresets,
} from '../../src/contract/routing-inputs.ts';
import type { AudioInput, ImageInput, VideoInput } from '../../src/contract/routing-inputs.ts';
import { defaultRouterSettings, optimizationTargets } from '../../src/contract/routing-settings.ts';
import type { Modality, RouterSettings } from '../../src/contract/routing-settings.ts';
import { builtInCatalog } from '../../src/emulator/routing/catalog.ts';
import type { Catalog, Model } from '../../src/emulator/routing/catalog.ts';
import { decide } from '../../src/emulator/routing/pipeline.ts';
import type { NoEligible, Routed } from '../../src/emulator/routing/pipeline.ts';
import type { RoutingRequest } from '../../src/emulator/routing/request.ts';

export type Input = VideoInput | ImageInput | AudioInput;

export interface Situation {
  readonly settings?: Partial<RouterSettings>;
  readonly catalog?: Catalog;
  readonly atLimit?: readonly string[];
}

export function requestOf(modality: Modality, input: Input, settings: Partial<RouterSettings> = {}): RoutingRequest {
  return {
    modality,
    input,
    configId: 'test',
    settings: { ...defaultRouterSettings, ...settings },
    ceilingPer: 'generation',
    costOutcomeOfOne: 'cost',
  };
}

/** The decision of a request that must be routed. */
export function routed(modality: Modality, input: Input, situation: Situation = {}): Routed {
  const { settings, catalog = builtInCatalog, atLimit = [] } = situation;
  const decision = decide(requestOf(modality, input, settings), catalog, (id) => atLimit.includes(id));
  if (decision.kind !== 'routed') throw new Error(`no model was picked: ${decision.error}`);
  return decision;
}

/** The decision of a request that must be refused. */
export function refused(
  modality: Modality,
  input: Input,
  { settings, catalog = builtInCatalog }: Situation = {},
): NoEligible {
  const decision = decide(requestOf(modality, input, settings), catalog, () => false);
  if (decision.kind === 'routed') throw new Error(`${decision.model} was picked`);
  return decision;
}

export function onlyFrom(...ids: readonly string[]): RouterSettings['models'] {
  return { mode: 'allowlist_only', ids: [...ids] };
}

export function modelNamed(id: string): Model {
  const model = builtInCatalog.models.find((each) => each.id === id);
  if (model === undefined) throw new Error(`there is no model ${id}`);
  return model;
}

export const picture = 'https://example.com/picture.png';
export const film = 'https://example.com/film.mp4';
export const recording = 'https://example.com/recording.mp3';

const prompts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'waves',
      'A woman says "hello" while the camera zooms out',
      'a poster with large lettering, watercolour',
      'Ein Hund läuft mit einer Katze über das Feld, und der Himmel ist rot',
      'Rain on a tin roof, with piano music and distant thunder!',
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5_000 }).map((length) => 'a'.repeat(length)) },
);

type Fields<Body> = { readonly [Key in keyof Body]?: fc.Arbitrary<Body[Key]> };

/** Leaves most keys out most of the time, since few models can do everything at once. */
function sparse<Body extends object>(required: Fields<Body>, optional: Fields<Body>): fc.Arbitrary<Body> {
  const absent = fc.constant(undefined);
  const rarely = Object.entries<fc.Arbitrary<unknown> | undefined>(optional).map(([key, arbitrary = absent]) => [
    key,
    fc.oneof({ weight: 4, arbitrary: absent }, { weight: 1, arbitrary }),
  ]);
  const fields: Record<string, fc.Arbitrary<unknown>> = { ...required, ...Object.fromEntries(rarely) };
  return fc
    .record(fields)
    .map((body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Body);
}

const seeds = fc.constant(7);

const videoInputs = fc.oneof(
  { weight: 9, arbitrary: videoInputsOf({ promptText: prompts }) },
  { weight: 1, arbitrary: videoInputsOf({}) },
);

function videoInputsOf(required: { promptText?: fc.Arbitrary<string> }): fc.Arbitrary<VideoInput> {
  return sparse<VideoInput>(required, {
    negativePrompt: fc.constantFrom('blur', 'people, text'),
    referenceImages: fc
      .subarray(['first', 'last', 'reference'] as const, { minLength: 1 })
      .map((roles) => roles.map((role) => ({ role, uri: picture }))),
    referenceVideos: fc
      .subarray(['source', 'reference'] as const, { minLength: 1 })
      .map((roles) => roles.map((role) => ({ role, uri: film }))),
    referenceAudio: fc.constant(recording).map((uri) => [{ uri }]),
    duration: fc.oneof(fc.integer({ min: 4, max: 10 }), fc.integer({ min: 2, max: 30 })),
    aspectRatio: fc.constantFrom(...videoAspectRatios),
    resolution: fc.constantFrom(...videoResolutions),
    audio: fc.boolean(),
    seed: seeds,
  });
}

const imageInputs = sparse<ImageInput>(
  { promptText: prompts },
  {
    referenceImages: fc.integer({ min: 1, max: 16 }).map((length) => Array.from({ length }, () => ({ uri: picture }))),
    aspectRatio: fc.constantFrom(...imageAspectRatios),
    resolution: fc.constantFrom(...imageResolutions),
    outputCount: fc.integer({ min: 1, max: 10 }),
    seed: seeds,
  },
);

const audioInputs = sparse<AudioInput>(
  { promptText: prompts, type: fc.constantFrom('speech', 'audio') },
  {
    voice: fc.oneof(
      fc.constantFrom(...voicePresets).map((presetId) => ({ type: 'preset' as const, presetId })),
      fc.constant(recording).map((audioUri) => ({ type: 'reference-audio' as const, audioUri })),
    ),
    referenceAudios: fc.integer({ min: 1, max: 3 }).map((length) => Array.from({ length }, () => ({ uri: recording }))),
    duration: fc.integer({ min: 1, max: 60 }).map((halves) => halves / 2),
    loop: fc.boolean(),
  },
);

export const inputs = { video: videoInputs, image: imageInputs, audio: audioInputs };

/** Models of the built-in catalog in random order, some twice under another name, with other speeds and limits. */
function catalogsFor(modality: Modality): fc.Arbitrary<Catalog> {
  const fitting = builtInCatalog.models.filter((model) => model.modality === modality);
  const changed = fc.record({
    base: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...fitting) },
      { weight: 1, arbitrary: fc.constantFrom(...builtInCatalog.models) },
    ),
    quality: fc.integer({ min: 4, max: 8 }),
    expectedSeconds: fc.integer({ min: 1, max: 4 }),
    promptCharacters: fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.record({ min: fc.constantFrom(1, 10), max: fc.constantFrom(40, 1_000) }) },
    ),
  });
  return fc.array(changed, { maxLength: 16, size: 'max' }).map((models) => ({
    models: models.map(({ base, ...changes }, index) => ({ ...base, ...changes, id: `${base.id}-${index}` })),
  }));
}

function settingsFor(modality: Modality, ids: string[]): fc.Arbitrary<Partial<RouterSettings>> {
  const denied = fc.subarray([...ids, 'gone'], { maxLength: Math.min(3, ids.length + 1) });
  const allowed = fc.subarray([...ids, 'gone'], { minLength: Math.ceil(ids.length / 2) });
  return fc.record(
    {
      optimizeFor: fc.constantFrom(...optimizationTargets),
      models: fc.oneof(
        denied.map((some) => ({ mode: 'allow_new_except' as const, ids: some })),
        allowed.map((some) => ({ mode: 'allowlist_only' as const, ids: some })),
      ),
      maxCreditsPerGeneration: fc
        .oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 800 }))
        .map((halves) => ({ [modality]: halves / 2 })),
      fallback: fc.record({ onCapacity: fc.boolean() }),
    },
    { requiredKeys: [] },
  );
}

/** A request, a catalog, and the models that are at their limit. */
export const situations = fc
  .constantFrom<Modality[]>('video', 'image', 'audio')
  .chain((modality) => fc.tuple(fc.constant(modality), catalogsFor(modality)))
  .chain(([modality, catalog]) => {
    const ids = catalog.models.map(({ id }) => id);
    return fc.record({
      catalog: fc.constant(catalog),
      atLimit: fc.subarray(ids),
      request: fc
        .tuple(inputs[modality] as fc.Arbitrary<Input>, settingsFor(modality, ids))
        .map(([input, settings]) => requestOf(modality, input, settings)),
    });
  });
