/** Ranking by quality: the prompt is analysed to pick the best model for it. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readPrompt } from '../../src/emulator/routing/prompt-traits.ts';
import { traits } from '../../src/emulator/routing/prompt-words.ts';
import { onlyFrom, picture, routed } from '../support/routing-requests.ts';

/** The input of the service's guide. */
const shown = { promptText: 'waves', duration: 5, aspectRatio: '16:9', resolution: '720p' } as const;

describe('quality', () => {
  const best = (modality: 'video' | 'image', promptText: string, settings = {}) =>
    routed(modality, { promptText }, { settings: { optimizeFor: 'quality', ...settings } });

  test('is read off the prompt, and the reason says what was found and how it counts', () => {
    const models = onlyFrom('veo3.1', 'seedance2', 'wan3');
    const spoken = best('video', 'Two men talk and whisper: "Listen to the rain"', { models });
    expect(spoken.model).toBe('veo3.1');
    expect(spoken.reason).toBe(
      'the prompt asks for people (men), dialogue (talk, whisper, quoted words); veo3.1 suits it best of 3 eligible ' +
        'models: score 65 = quality 9 + 2 × people 8 + 4 × dialogue 10, before seedance2: score 49 = quality 9 + ' +
        '2 × people 8 + 4 × dialogue 6',
    );
    const tracked = best('video', 'a tracking drone shot of a racing car, no people, no text', { models });
    expect(tracked.model).toBe('seedance2');
    expect(tracked.reason).toContain(
      'asks for motion (racing), camera (tracking, drone, shot) and rules out people (people), lettering (text); seedance2',
    );
  });

  test('does not look for what a negative prompt names', () => {
    const input = { promptText: 'a crowd cheers, anime', negativePrompt: 'crowd, watermark', duration: 6 };
    const { reason } = routed('video', input, { settings: { optimizeFor: 'quality' } });
    expect(reason).toContain('asks for style (anime) and rules out people (crowd), lettering (watermark)');
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
    expect(readPrompt(prompt, 'video').asked).toContainEqual({ trait: 'language', evidence: [language] });
  });

  test('does not take English for another language', () => {
    const prompt =
      'I do what I can: a man and a dog do a dance in the da Vinci museum, and all of them do it on their own';
    expect(readPrompt(prompt, 'image').asked.map(({ trait }) => trait)).toEqual(['people', 'animals']);
  });

  test('is read off a prompt of nothing but opening marks as fast as off any other', () => {
    const marks = '“'.repeat(100_000);
    expect(readPrompt(marks, 'image').asked).toMatchObject([{ trait: 'detail' }]);
    expect(readPrompt(`${marks}open today”`, 'image').asked).toMatchObject([
      { trait: 'lettering' },
      { trait: 'detail' },
    ]);
  });

  test('is read off a list of nothing but what is ruled out as fast as off any other prompt', () => {
    const { ruledOut } = readPrompt(`${'no a, '.repeat(8_000)}${'text, '.repeat(8_000)} or signs`, 'image');
    expect(ruledOut).toEqual([]);
    expect(readPrompt(`avoid ${'text, '.repeat(8)}signs`, 'image').ruledOut).toMatchObject([{ trait: 'lettering' }]);
  });

  test.each<[string, string]>([
    ['Good evening.', 'eleven_v3'],
    ['[whispering] Come closer…', 'eleven_v3'],
    ['Der Zug ist über die Brücke', 'eleven_multilingual_v2'],
  ])('picks a voice by how and in what language it speaks: %s is for %s', (promptText, model) => {
    const input = { type: 'speech', promptText, voice: { type: 'preset', presetId: 'Maya' } } as const;
    expect(routed('audio', input, { settings: { optimizeFor: 'quality' } }).model).toBe(model);
  });

  test('does not take spoken words for a description', () => {
    const prompt = 'The camera zooms in on a dancing woman!';
    expect(readPrompt(prompt, 'speech').asked).toEqual([{ trait: 'expression', evidence: ['its punctuation'] }]);
  });

  test('goes by traits that the manual lists', () => {
    const manual = readFileSync(new URL('../../docs/EMULATOR.md', import.meta.url), 'utf8');
    expect(
      [...manual.matchAll(/^\| `(\w+)` \|.*\| (?:all|video|image|speech).*\|$/gm)].map(([, name]) => name),
    ).toEqual(traits);
  });
});
