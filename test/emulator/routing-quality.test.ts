/** Ranking by quality: the prompt is analysed to pick the best model for it. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Modality } from '../../src/contract/routing-settings.ts';
import { readPrompt, traits } from '../../src/emulator/routing/prompt-traits.ts';
import { onlyFrom, picture, routed } from '../support/routing-requests.ts';
import type { Input } from '../support/routing-requests.ts';

/** The input of the service's guide. */
const shown = { promptText: 'waves', duration: 5, aspectRatio: '16:9', resolution: '720p' } as const;
const maya = { type: 'preset', presetId: 'Maya' };

describe('quality', () => {
  const best = (modality: 'video' | 'image', promptText: string, settings = {}) =>
    routed(modality, { promptText }, { settings: { optimizeFor: 'quality', ...settings } });

  test('is read off the prompt, and the reason says what was found', () => {
    const models = onlyFrom('veo3.1', 'seedance2', 'wan3');
    const spoken = best('video', 'Two men talk and whisper: "Listen to the rain"', { models });
    expect(spoken.model).toBe('veo3.1');
    expect(spoken.reason).toContain(
      'the prompt asks for people (men), dialogue (talk, quoted words), sound (rain); veo3.1',
    );
    const tracked = best('video', 'a tracking drone shot of a racing car', { models });
    expect(tracked.model).toBe('seedance2');
    expect(tracked.reason).toContain('motion (racing), camera (tracking, drone, shot)');
  });

  test('of an image may be its lettering', () => {
    const models = onlyFrom('gemini_image3_pro', 'gpt_image_2');
    expect(best('image', 'a lifelike portrait of a woman', { models }).model).toBe('gemini_image3_pro');
    expect(best('image', 'a poster with the slogan "now"', { models }).model).toBe('gpt_image_2');
  });

  test('is that of the model as a whole where the prompt asks for nothing in particular', () => {
    expect(best('video', 'mist over a lake').reason).toMatch(
      /^the prompt asks for nothing in particular; seedance2_5 suits/,
    );
  });

  test.each([
    [40, 'gen4_turbo'],
    [80, 'gemini_omni_flash'],
    [120, 'gemini_omni_flash'],
    [200, 'seedance2_5'],
  ])('under a ceiling of %d credits is what the live service was seen to pick: %s', (video, model) => {
    const input = { ...shown, referenceImages: [{ uri: picture, role: 'first' as const }] };
    const settings = { optimizeFor: 'quality' as const, maxCreditsPerGeneration: { video } };
    expect(routed('video', input, { settings }).model).toBe(model);
  });

  test.each([
    ['ein Hund und eine Katze auf dem Feld', 'German'],
    ['un chat dans le jardin avec les enfants', 'French'],
    ['una casa con vista del mar y los árboles', 'Spanish'],
    ['夕日の海', 'Japanese'],
    ['солнце над морем', 'Cyrillic script'],
  ])('may be the language: %s', (prompt, language) => {
    expect(readPrompt(prompt, 'video')).toContainEqual({ trait: 'language', evidence: [language] });
  });

  test('does not take English for another language', () => {
    const prompt =
      'I do what I can: a man and a dog do a dance in the da Vinci museum, and all of them do it on their own';
    expect(readPrompt(prompt, 'image').map(({ trait }) => trait)).toEqual(['people']);
  });

  test('is read off a prompt of nothing but opening marks as fast as off any other', () => {
    const marks = '“'.repeat(100_000);
    expect(readPrompt(marks, 'image')).toMatchObject([{ trait: 'detail' }]);
    expect(readPrompt(`${marks}open today”`, 'image')).toMatchObject([{ trait: 'lettering' }, { trait: 'detail' }]);
  });

  test.each<[Modality, object, string]>([
    ['image', { promptText: 'a lake' }, 'gpt_image_2_5_sunburst'],
    ['image', { promptText: 'a poster with the text SALE' }, 'gpt_image_2_5_sunburst'],
    ['image', { promptText: 'an anime watercolor of a lake' }, 'gpt_image_2_5_flare'],
    ['image', { promptText: 'a portrait of a woman' }, 'gemini_image3_pro'],
    ['image', { promptText: 'a photo of a lake' }, 'gemini_image3_pro'],
    ['image', { promptText: '夕日の海' }, 'gemini_image3_pro'],
    ['video', { promptText: 'a lake', duration: 5 }, 'seedance2_5'],
    ['video', { promptText: 'a claymation of a lake', duration: 5 }, 'wan3_prime'],
    ['video', { promptText: 'a neon logo over a lake', duration: 5 }, 'gemini_omni_flash'],
    ['video', { promptText: 'two friends talk', duration: 8 }, 'veo3.1'],
    ['video', { promptText: 'a tracking shot of a race', duration: 5 }, 'seedance2_5'],
    ['audio', { type: 'speech', promptText: 'Good evening.', voice: maya }, 'eleven_v3'],
    ['audio', { type: 'speech', promptText: 'Der Zug ist über die Brücke', voice: maya }, 'eleven_multilingual_v2'],
    ['audio', { type: 'audio', promptText: 'rain on a tin roof' }, 'eleven_text_to_sound_v2'],
    ['audio', { type: 'audio', promptText: 'a slow piano melody' }, 'seed_audio'],
  ])('picks, of all models for %s, by what is asked for: %j is for %s', (modality, input, model) => {
    expect(routed(modality, input as Input, { settings: { optimizeFor: 'quality' } }).model).toBe(model);
  });

  test('does not take spoken words for a description', () => {
    const prompt = 'The camera zooms in on a dancing woman!';
    expect(readPrompt(prompt, 'speech')).toEqual([{ trait: 'expression', evidence: ['its punctuation'] }]);
  });

  test('goes by traits that the manual lists', () => {
    const manual = readFileSync(new URL('../../docs/EMULATOR.md', import.meta.url), 'utf8');
    expect(
      [...manual.matchAll(/^\| `(\w+)` \|.*\| (?:all|video|image|speech).*\|$/gm)].map(([, name]) => name),
    ).toEqual(traits);
  });
});
