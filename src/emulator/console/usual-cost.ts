/** What a usual request costs with a model, to compare models by. */
import type { Model } from '../routing/catalog.ts';
import { audioRules } from '../routing/audio-rules.ts';
import { imageRules } from '../routing/image-rules.ts';
import { videoRules } from '../routing/video-rules.ts';
import type { Rules } from '../routing/rules.ts';
import type { Modality } from '../../contract/routing-settings.ts';

const speechCharacters = 100;
const soundSeconds = 5;

/** The usual request, in words. */
export const usualRequests: Readonly<Record<Modality, string>> = {
  video: '5 s at 720p, or the nearest',
  image: 'one, at the smallest size',
  audio: `${speechCharacters} characters of speech, or a sound of ${soundSeconds} s`,
};

const uri = 'https://example.com/first.png';

/** Credits; undefined for a model that can do none of the usual requests. */
export function usualCreditsOf(model: Model): number | undefined {
  const rules = usualRulesOf(model).find(({ lackOf }) => lackOf(model) === undefined);
  return rules?.estimate(model);
}

/** The first that the model can do is its usual one. */
function usualRulesOf({ modality }: Model): readonly Rules[] {
  const promptText = 'x'.repeat(speechCharacters);
  const rules = {
    video: () => [videoRules({ promptText }), videoRules({ promptText, referenceImages: [{ uri, role: 'first' }] })],
    image: () => [imageRules({ promptText }), imageRules({ promptText, referenceImages: [{ uri }] })],
    audio: () => [
      audioRules({ type: 'speech', promptText }),
      audioRules({ type: 'speech', promptText, voice: { type: 'preset', presetId: 'Maya' } }),
      audioRules({ type: 'audio', promptText, duration: soundSeconds }),
    ],
  };
  // The rules are those of the model's own modality.
  return rules[modality]() as unknown as readonly Rules[];
}
