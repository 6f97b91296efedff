/** Whether an audio model can serve a request, and the estimated cost. */
import type { AudioInput } from '../../contract/routing-inputs.ts';
import type { AudioModel } from './model.ts';
import { allows, roundCredits } from './rules.ts';
import type { Rules } from './rules.ts';

export function audioRules(input: AudioInput): Rules<AudioModel> {
  return input.type === 'speech' ? speechRules(input) : describedRules(input);
}

function speechRules(input: AudioInput): Rules<AudioModel> {
  const voice = input.voice?.type ?? 'default';
  const lackOfVoice = voice === 'default' ? 'speech without a voice' : `a ${voice} voice`;
  return {
    lackOf: ({ speech }) => {
      if (speech === undefined) return 'speech';
      return speech.voices.includes(voice) ? undefined : lackOfVoice;
    },
    limitOf: () => {
      if (input.duration !== undefined) return `duration ${input.duration}`;
      if (input.loop) return 'loop';
      return input.referenceAudios?.length ? 'referenceAudios' : undefined;
    },
    needsPrompt: () => true,
    estimate: ({ price }) => {
      if (price.by === 'characters') return creditsByCharacters(price, input.promptText);
      const seconds = price.charactersPerSecond ? input.promptText.length / price.charactersPerSecond : 0;
      return price.withoutDuration ?? Math.max(roundCredits(price.perSecond * seconds), price.min ?? 0);
    },
    resolve: () => ({ type: 'speech', voice }),
  };
}

/** Rules for sounds that the prompt describes. */
function describedRules(input: AudioInput): Rules<AudioModel> {
  const { duration, loop } = input;
  const references = input.referenceAudios?.length ?? 0;
  return {
    lackOf: ({ audio }) => {
      if (audio === undefined) return 'audio by description';
      return input.voice === undefined ? undefined : 'a voice for audio by description';
    },
    limitOf: ({ audio }) => {
      if (audio === undefined) return 'type';
      if (duration !== undefined && !(audio.durations && allows(audio.durations, duration)))
        return `duration ${duration}`;
      if (loop && !audio.loop) return 'loop';
      return references > audio.references ? `${references} referenceAudios` : undefined;
    },
    needsPrompt: () => true,
    estimate: ({ price }) => {
      if (price.by === 'characters') return creditsByCharacters(price, input.promptText);
      if (duration === undefined && price.withoutDuration !== undefined) return price.withoutDuration;
      return Math.max(roundCredits(price.perSecond * (duration ?? 0)), price.min ?? 0);
    },
    resolve: () => ({ type: 'audio', voice: 'none' }),
  };
}

type CharacterPrice = Extract<AudioModel['price'], { by: 'characters' }>;

function creditsByCharacters({ characters, credits }: CharacterPrice, prompt: string): number {
  return roundCredits(Math.ceil(prompt.length / characters) * credits);
}
