/** The remedy of a refusal under a price ceiling: what costs less than the request, or a higher ceiling alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imageResolutions, videoResolutions } from '../../src/contract/routing-inputs.ts';
import type { ImageInput, VideoInput } from '../../src/contract/routing-inputs.ts';
import type { Modality } from '../../src/contract/routing-settings.ts';
import { decide } from '../../src/emulator/routing/pipeline.ts';
import { onlyFrom, refused, requestOf, situations } from '../support/routing-requests.ts';
import type { Input } from '../support/routing-requests.ts';

const remedyOf = (error: string): string => /; raise the ceiling(?: or (.*))?$/.exec(error)?.[1] ?? 'nothing else';

const fewer = 'ask for fewer outputs';
const lower = 'ask for a lower resolution';
const shorter = 'shorten the request';
const nothing = 'nothing else';
const promptText = 'waves';
const voice = { type: 'preset', presetId: 'Maya' };

test.for<[modality: Modality, model: string, input: object, remedy: string]>([
  ['image', 'gpt_image_2', {}, nothing],
  ['image', 'gpt_image_2', { outputCount: 1 }, nothing],
  ['image', 'gpt_image_2', { outputCount: 2 }, fewer],
  ['image', 'gpt_image_2', { resolution: '2k' }, nothing],
  ['image', 'gpt_image_2', { resolution: '4k', outputCount: 1 }, lower],
  ['image', 'gpt_image_2', { resolution: '4k', outputCount: 2 }, fewer],
  ['image', 'seedream5_lite', { resolution: '4k' }, nothing],
  ['image', 'gen4_image', { resolution: '2k' }, lower],
  ['image', 'gemini_image3_pro', { resolution: '2k' }, nothing],
  ['video', 'gen4.5', {}, shorter],
  ['video', 'gen4.5', { duration: 5 }, shorter],
  ['video', 'gen4.5', { duration: 2 }, nothing],
  ['audio', 'eleven_v3', { type: 'speech', voice, promptText: 'a'.repeat(51) }, shorter],
  ['audio', 'eleven_v3', { type: 'speech', voice }, nothing],
  ['audio', 'eleven_text_to_sound_v2', { type: 'audio', duration: 10 }, shorter],
])('for %s of %s with %j: %s', ([modality, model, input, remedy]) => {
  const settings = { models: onlyFrom(model), maxCreditsPerGeneration: { [modality]: 0.1 } };
  const { emptiedBy, error } = refused(modality, { promptText, ...input }, { settings });
  expect([emptiedBy, remedyOf(error)]).toEqual([['price'], remedy]);
});

/** Smaller requests, by the remedy that stands for them. */
function smaller(modality: Modality, input: Input): Record<string, object[]> {
  const { outputCount = 1 } = input as ImageInput;
  const { duration = 30, resolution = '720p' } = input as VideoInput;
  const { promptText: text = '' } = input;
  const tiers: readonly string[] = modality === 'image' ? imageResolutions : videoResolutions;
  const halves = Array.from({ length: 60 }, (_, index) => (index + 1) / 2);
  const seconds = halves.filter((each) => each < duration && each >= (modality === 'video' ? 2 : 0.5));
  return {
    [fewer]: Array.from({ length: outputCount - 1 }, (_, index) => ({ outputCount: index + 1 })),
    [lower]: tiers.slice(0, Math.max(0, tiers.indexOf(resolution))).map((tier) => ({ resolution: tier })),
    [shorter]: [
      ...seconds.map((each) => ({ duration: each })),
      ...[1, 10, 40].filter((length) => length < text.length).map((length) => ({ promptText: text.slice(0, length) })),
    ],
  };
}

/** What has no such field has no use for its remedy. */
const waysOf: Readonly<Record<Modality, readonly string[]>> = {
  image: [fewer, lower],
  video: [shorter, lower],
  audio: [shorter],
};

test('a remedy makes the request cheaper, and where none is named nothing would', () => {
  fc.assert(
    fc.property(situations, ({ request: { modality, input, settings }, catalog }) => {
      const maxCreditsPerGeneration = { [modality]: 0.01 };
      const ceiled = requestOf(modality, input, { ...settings, maxCreditsPerGeneration });
      const decision = decide(ceiled, catalog, () => false);
      if (decision.kind === 'routed' || decision.emptiedBy[0] !== 'price') return;
      const models = decision.dropped.filter(({ filter }) => filter === 'price').map(({ model }) => model);
      const costOf = (id: string, changed: Input): number => {
        const only = models.filter((model) => model.id === id);
        const alone = decide(requestOf(modality, changed, { optimizeFor: 'cost' }), { models: only }, () => false);
        return alone.kind === 'routed' ? alone.estimatedCost.credits : Infinity;
      };
      const helps = (changes: object): boolean =>
        models.some(({ id }) => costOf(id, { ...input, ...changes }) < costOf(id, input));
      const helpful = waysOf[modality].filter((way) => smaller(modality, input)[way]?.some(helps));
      expect(helpful.length === 0 ? [nothing] : helpful).toContain(remedyOf(decision.error));
    }),
    { numRuns: 200 },
  );
});
