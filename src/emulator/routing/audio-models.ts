/**
 * Audio models. Voices, limits and prices are the vendor's. The emulator chose `quality`, `strengths`,
 * `expectedSeconds` and the speed of speech.
 */
import type { ModelData } from './model.ts';

const common = { modality: 'audio', concurrencyGroup: 'audio' } as const;

export const audioModels: readonly ModelData[] = [
  {
    ...common,
    id: 'eleven_v3',
    provider: 'elevenlabs',
    speech: { voices: ['preset'] },
    promptCharacters: { max: 5_000 },
    price: { by: 'characters', characters: 50, credits: 1 },
    quality: 9,
    strengths: { expression: 10, detail: 9 },
    expectedSeconds: 8,
  },
  {
    ...common,
    id: 'eleven_multilingual_v2',
    provider: 'elevenlabs',
    speech: { voices: ['preset'] },
    promptCharacters: { max: 1_000 },
    price: { by: 'characters', characters: 50, credits: 1 },
    quality: 7,
    strengths: { language: 10 },
    expectedSeconds: 4,
  },
  {
    ...common,
    id: 'seed_audio',
    provider: 'bytedance',
    speech: { voices: ['reference-audio', 'default'] },
    audio: { loop: false, references: 3 },
    promptCharacters: { max: 2_048 },
    price: { by: 'seconds', perSecond: 0.25, charactersPerSecond: 15, min: 5 },
    quality: 7,
    strengths: { music: 8, dialogue: 9 },
    expectedSeconds: 12,
  },
  {
    ...common,
    id: 'eleven_text_to_sound_v2',
    provider: 'elevenlabs',
    audio: { durations: { min: 0.5, max: 30 }, loop: true, references: 0 },
    promptCharacters: { max: 3_000 },
    price: { by: 'seconds', perSecond: 1, withoutDuration: 2 },
    quality: 7,
    strengths: { sound: 9, music: 5, dialogue: 2 },
    expectedSeconds: 6,
  },
];
