import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AudioInput, ImageInput, VideoInput } from '../../src/contract/routing-inputs.ts';
import type { Catalog, Model } from '../../src/emulator/routing/catalog.ts';
import type { AudioModel, ImageModel, Values, VideoModel } from '../../src/emulator/routing/model.ts';
import { decide } from '../../src/emulator/routing/pipeline.ts';
import type { RoutingRequest } from '../../src/emulator/routing/request.ts';
import { readPrompt } from '../../src/emulator/routing/prompt-traits.ts';
import { runsOf } from '../support/campaign.ts';
import { situations } from '../support/routing-requests.ts';

const order = ['allow_deny', 'capability', 'input_support', 'prompt_length', 'price'];

// --- The same rules in their simplest form: one model at a time, without regard to speed. ---

const takes = (values: Values, value: number) =>
  Array.isArray(values) ? values.some((each) => each === value) : values.min <= value && value <= values.max;
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

function naiveVideo(model: VideoModel, input: VideoInput) {
  const images = input.referenceImages ?? [];
  const videos = input.referenceVideos ?? [];
  const sounds = input.referenceAudio ?? [];
  const isEdit = videos.some(({ role }) => role === 'source');
  const roles = new Set<string>(images.map(({ role }) => role));
  const { text, image, frames = image, video } = model.modes;
  const ofImages = roles.has('first') || roles.has('last') ? frames : image;
  const mode = isEdit ? video : images.length > 0 ? ofImages : text;
  if (mode === undefined) return undefined;
  const tiers = (['720p', '480p', '1080p', '4k'] as const).filter(
    (tier) => tier in model.sizes && (!mode.resolutions || mode.resolutions.includes(tier)),
  );
  const tier = input.resolution ?? tiers[0];
  const shapes = Object.keys(model.sizes[tier ?? '720p'] ?? {}).filter(
    (ratio) =>
      mode.aspectRatios === undefined ||
      (mode.aspectRatios !== 'ofImage' && mode.aspectRatios.some((each) => each === ratio)),
  );
  const longEnough = Array.from({ length: 30 }, (_, index) => index + 1).filter((value) =>
    takes(mode.durations, value),
  );
  const seconds = input.duration ?? longEnough.find((value) => value >= 5) ?? longEnough.at(-1) ?? 0;
  const { price } = model;
  const rate =
    (input.audio === false && price.perSecondSilent) || (isEdit && price.perSecondFromVideo) || price.perSecond;
  const at = tier ?? '720p';
  return {
    can: !(input.audio === true && model.sound === 'none') && !(input.audio === false && model.sound === 'always'),
    supports:
      takes(mode.durations, seconds) &&
      tiers.some((each) => each === tier) &&
      (input.aspectRatio === undefined || shapes.includes(input.aspectRatio)) &&
      images.length <= (mode.images?.max ?? 0) &&
      (images.length === 0 ||
        (mode.images?.roles ?? []).some((set) => images.every(({ role }) => set.includes(role)))) &&
      !(mode.images?.lastNeedsFirst && roles.has('last') && !roles.has('first')) &&
      videos.length <= (mode.videos ?? 0) &&
      sounds.length <= (mode.audios ?? 0) &&
      (input.seed === undefined || model.features.includes('seed')) &&
      (input.negativePrompt === undefined || model.features.includes('negativePrompt')),
    mayLackPrompt: mode.promptOptional === true,
    credits: Math.max(
      price.min ?? 0,
      sum([
        seconds * (rate[at] ?? 0),
        seconds * videos.length * (price.perSecondOfInput?.[at] ?? 0),
        images.length * (price.perImage ?? 0),
        sounds.length * (price.perAudio ?? 0),
      ]),
    ),
  };
}

function naiveImage(model: ImageModel, input: ImageInput) {
  const references = input.referenceImages?.length ?? 0;
  const outputs = input.outputCount ?? 1;
  const tier = input.resolution ?? (['1k', '2k', '4k'] as const).find((each) => each in model.sizes) ?? '1k';
  const { perImage, perReference } = model.price;
  const times = perReference?.each === 'image' ? outputs : 1;
  return {
    can: references === 0 ? model.references.min === 0 : model.references.max > 0,
    supports:
      tier in model.sizes &&
      (input.aspectRatio === undefined || input.aspectRatio in (model.sizes[tier] ?? {})) &&
      references >= model.references.min &&
      references <= model.references.max &&
      takes(model.outputCounts, outputs) &&
      (input.seed === undefined || model.features.includes('seed')),
    mayLackPrompt: false,
    credits: outputs * (perImage[tier] ?? 0) + times * references * (perReference?.credits ?? 0),
  };
}

function naiveAudio(model: AudioModel, input: AudioInput) {
  const { price, speech, audio } = model;
  const isSpeech = input.type === 'speech';
  const references = input.referenceAudios?.length ?? 0;
  const spoken =
    price.by === 'seconds' && price.charactersPerSecond ? input.promptText.length / price.charactersPerSecond : 0;
  const seconds = isSpeech ? spoken : (input.duration ?? 0);
  const isOpen =
    price.by === 'seconds' && price.withoutDuration !== undefined && (isSpeech || input.duration === undefined);
  return {
    can: isSpeech
      ? (speech?.voices ?? []).includes(input.voice?.type ?? 'default')
      : audio !== undefined && input.voice === undefined,
    supports: isSpeech
      ? input.duration === undefined && !input.loop && references === 0
      : (input.duration === undefined || (audio?.durations !== undefined && takes(audio.durations, input.duration))) &&
        (!input.loop || audio?.loop === true) &&
        references <= (audio?.references ?? 0),
    mayLackPrompt: false,
    credits:
      price.by === 'characters'
        ? Math.ceil(input.promptText.length / price.characters) * price.credits
        : isOpen
          ? (price.withoutDuration ?? 0)
          : Math.max(price.min ?? 0, price.perSecond * seconds),
  };
}

function naiveView(model: Model, { modality, input }: RoutingRequest) {
  if (model.modality !== modality) return undefined;
  if (model.modality === 'video') return naiveVideo(model, input as VideoInput);
  return model.modality === 'image' ? naiveImage(model, input as ImageInput) : naiveAudio(model, input as AudioInput);
}

function naiveDecision(request: RoutingRequest, catalog: Catalog, atLimit: readonly string[]) {
  const { settings, modality, input } = request;
  const { models, optimizeFor, maxCreditsPerGeneration, fallback } = settings;
  const creditsOf = (model: Model) => Math.round((naiveView(model, request)?.credits ?? 0) * 1e4) / 1e4;
  const length = input.promptText?.length;
  const passes: Record<string, (model: Model) => boolean> = {
    allow_deny: ({ id }) => (models.mode === 'allowlist_only') === models.ids.includes(id),
    capability: (model) => naiveView(model, request)?.can === true,
    input_support: (model) => naiveView(model, request)?.supports === true,
    prompt_length: (model) =>
      length === undefined
        ? naiveView(model, request)?.mayLackPrompt === true
        : length >= (model.promptCharacters.min ?? 0) && length <= (model.promptCharacters.max ?? length),
    price: (model) => creditsOf(model) <= (maxCreditsPerGeneration?.[modality] ?? creditsOf(model)),
  };
  const stages = order.map((_, index) =>
    catalog.models.filter((model) => order.slice(0, index + 1).every((filter) => passes[filter]?.(model))),
  );
  const emptied = stages.findIndex((stage) => stage.length === 0);
  const survivors = (emptied === -1 ? stages : stages.slice(0, emptied + 1)).map((stage) => stage.map(({ id }) => id));
  if (emptied !== -1) return { survivors, emptiedBy: [order[emptied]] };
  const { asked } = readPrompt(
    input.promptText,
    modality === 'audio' && 'type' in input && input.type === 'speech' ? 'speech' : modality,
    'negativePrompt' in input ? input.negativePrompt : undefined,
  );
  const merit = (model: Model) => {
    if (optimizeFor === 'cost') return creditsOf(model);
    if (optimizeFor === 'latency') return model.expectedSeconds;
    return -sum([
      model.quality,
      ...asked.map(({ trait, evidence }) => (1 + evidence.length) * (model.strengths[trait] ?? model.quality - 3)),
    ]);
  };
  const ranked = (stages.at(-1) ?? [])
    .map((model, index) => ({ id: model.id, keys: [merit(model), creditsOf(model), index], credits: creditsOf(model) }))
    .sort((one, other) => {
      const differing = one.keys.findIndex((key, index) => key !== other.keys[index]);
      return (one.keys[differing] ?? 0) - (other.keys[differing] ?? 0);
    });
  const free = fallback?.onCapacity ? ranked.findIndex(({ id }) => !atLimit.includes(id)) : 0;
  const pick = ranked[Math.max(free, 0)];
  const ids = ranked.map(({ id }) => id);
  const capacityFallback =
    free === 0 ? undefined : { skipped: ids.slice(0, Math.max(free, 0)), allExhausted: free < 0 };
  return { survivors, pick: pick?.id, credits: pick?.credits, ranked: ids, capacityFallback };
}

describe('any request to any catalog', () => {
  test('is decided as the rules say', () => {
    fc.assert(
      fc.property(situations, ({ request, catalog, atLimit }) => {
        const decision = decide(request, catalog, (id) => atLimit.includes(id));
        const survivors = decision.pipeline.flatMap((entry) => (entry.type === 'filter' ? [entry.models] : []));
        const seen =
          decision.kind === 'routed'
            ? {
                pick: decision.model,
                credits: decision.estimatedCost.credits,
                ranked: decision.ranked.map(({ model }) => model.id),
                capacityFallback: decision.capacityFallback,
              }
            : { emptiedBy: decision.emptiedBy };
        expect({ survivors, ...seen }).toEqual(naiveDecision(request, catalog, atLimit));
      }),
      runsOf(500, 4000),
    );
  });

  test('is picked for cost or latency as before when a model is taken away that was not picked', () => {
    fc.assert(
      fc.property(situations, fc.nat(), ({ request, catalog }, chosen) => {
        const before = decide(request, catalog, () => false);
        if (before.kind !== 'routed' || request.settings.optimizeFor === 'quality') return;
        const others = catalog.models.filter(({ id }) => id !== before.model);
        const gone = others[chosen % others.length];
        const after = decide(request, { models: catalog.models.filter((model) => model !== gone) }, () => false);
        expect(after).toMatchObject({ model: before.model, estimatedCost: before.estimatedCost });
      }),
      runsOf(500, 4000),
    );
  });

  test('either drops a model at one filter or ranks it', () => {
    fc.assert(
      fc.property(situations, ({ request, catalog }) => {
        const decision = decide(request, catalog, () => false);
        const ranked = decision.kind === 'routed' ? decision.ranked : [];
        const accounted = [...decision.dropped, ...ranked].map(({ model }) => model.id);
        expect(accounted.sort()).toEqual(catalog.models.map(({ id }) => id).sort());
      }),
    );
  });
});
