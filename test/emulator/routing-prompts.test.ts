/** What is read off a prompt, and the model that is then picked of the whole catalog. */
import { expect, test } from 'vitest';
import type { Modality } from '../../src/contract/routing-settings.ts';
import { readPrompt } from '../../src/emulator/routing/prompt-traits.ts';
import { routed } from '../support/routing-requests.ts';
import type { Input } from '../support/routing-requests.ts';

/** The prompt; the traits that it asks for and, after a minus, those that it rules out; the pick. */
type Row = readonly [prompt: string, traits: string, pick: string];

const video: readonly Row[] = [
  ['mist over a lake', 'places', 'seedance2'],
  ['an empty beach at dawn, no people, no text, no signs', 'places -people -lettering', 'seedance2'],
  ['a street without people, text or logos, slow zoom in', 'places camera -people -lettering', 'seedance2'],
  [
    'avoid people, text, watermarks: only a lighthouse in a storm of lightning',
    'effects -people -lettering',
    'hailuo3',
  ],
  ['keine Menschen, kein Text, nur Berge im Nebel', 'places -people -lettering', 'seedance2'],
  ['a woman smiles at her grandmother, portrait of a family', 'people', 'hailuo3'],
  ['a dog and a cat share a blanket', 'animals', 'happyhorse_1_0'],
  ['a white horse gallops along the coastline', 'animals places motion', 'seedance2'],
  ['a tracking drone shot through a canyon', 'places camera', 'seedance2'],
  ['a close-up of a perfume bottle on a turntable, the camera orbits', 'product camera', 'gen4.5'],
  ['a neon sign with the logo of a bar', 'lettering', 'gemini_omni_flash_1.1'],
  ['an anime of a lonely robot in watercolor', 'style', 'wan3_prime'],
  ['a photorealistic documentary of a volcano', 'realism', 'veo3.1'],
  ['two chefs argue in a restaurant interview', 'dialogue', 'veo3.1'],
  ['rain and distant thunder, footsteps on gravel', 'sound', 'veo3.1'],
  ['a jazz band plays piano and drums', 'music', 'grok_imagine_1_5'],
  ['an explosion shatters glass, sparks and flames everywhere', 'effects', 'hailuo3'],
  ['parkour runner sprinting and jumping over roofs', 'motion', 'seedance2'],
  ['a cathedral and the skyline of an old city in the mountains', 'places', 'seedance2'],
  ['夕日の海', 'language', 'gemini_omni_flash_1.1'],
  ['Ein alter Mann sitzt auf der Bank und liest nicht', 'people language', 'gemini_omni_flash_1.1'],
  ['a silent film of a dancer, no dialogue, no music', 'people -dialogue -sound -music', 'hailuo3'],
  ['a crowd-free square, deserted streets', 'places -people', 'seedance2'],
  ["don't show any people, just a forest", 'places -people', 'seedance2'],
  ["don't forget the logo on the shop window", 'lettering', 'gemini_omni_flash_1.1'],
  ['not a cartoon but a photo of a kitchen', 'places realism -style', 'veo3.1'],
  ['no people but a dog that never stops running', 'animals motion -people', 'seedance2'],
  ['No text. A man reads nothing and nobody talks.', 'people -lettering -dialogue', 'hailuo3'],
  ['fast food on a clock face, sign language', '', 'seedance2_5'],
  ['claymation of a fox', 'animals style', 'seedance2_5'],
  ['a glass of water on a table', '', 'seedance2_5'],
  ['Une rue sans personnes ni texte, avec des montagnes', 'places language -people -lettering', 'seedance2_5'],
  ['un perro corre, sin música', 'animals -music', 'happyhorse_1_0'],
  ['The sign reads "No Parking", a cat sleeps below', 'animals lettering', 'gemini_omni_flash_1.1'],
  ['a table with no more than two people', 'people', 'hailuo3'],
  ['no, a logo please', 'lettering', 'gemini_omni_flash_1.1'],
  ['nicht weniger als zwei Menschen', 'people', 'hailuo3'],
  ['instead of a man, a robot waits; free of text', '-people -lettering', 'seedance2_5'],
];

const image: readonly Row[] = [
  ['a poster with the text SALE', 'lettering', 'gpt_image_2_5_sunburst'],
  ['a poster without any text', '-lettering', 'gpt_image_2_5_sunburst'],
  ['a lifelike portrait of a woman', 'people realism', 'gemini_image3_pro'],
  ['a sneaker, packshot for a commercial', 'product', 'seedream5_pro'],
  ['a kitten asleep', 'animals', 'gemini_image3.1_flash'],
  ['a ukiyo-e painting of waves', 'style', 'gpt_image_2_5_flare'],
  ['a skyline at night without lettering, people or cars', 'places -people -lettering', 'gemini_image3.1_flash'],
  ['a wizard casts a spell, magical particles', 'effects', 'gpt_image_2_5_flare'],
  ['a product on white, negative prompt: hands, shadows, watermark', 'product -people -lettering', 'seedream5_pro'],
];

const audio: readonly Row[] = [
  ['rain on a tin roof, no music', 'sound -music', 'eleven_text_to_sound_v2'],
  ['a slow piano melody without drums or vocals', 'music', 'seed_audio'],
  ['two voices whisper', 'dialogue', 'seed_audio'],
];

const rows = (Object.entries({ video, image, audio }) as [Modality, readonly Row[]][]).flatMap(([modality, some]) =>
  some.map((row) => [modality, ...row] as const),
);

function decided(modality: Modality, promptText: string) {
  const input: Input = modality === 'audio' ? { type: 'audio', promptText } : { promptText };
  return routed(modality, input, { settings: { optimizeFor: 'quality' } });
}

test.each(rows)('%s: “%s” asks for [%s] and picks %s', (modality, prompt, expected, pick) => {
  const { asked, ruledOut } = readPrompt(prompt, modality);
  const found = [...asked.map(({ trait }) => trait), ...ruledOut.map(({ trait }) => `-${trait}`)];
  expect(found.join(' ')).toBe(expected);
  expect(decided(modality, prompt).model).toBe(pick);
});

test('prompts that differ are for models that differ', () => {
  const picks = video.map(([prompt]) => decided('video', prompt).model);
  const counts = [...Map.groupBy(picks, (pick) => pick).values()].map(({ length }) => length);
  expect(new Set(picks).size).toBeGreaterThanOrEqual(8);
  expect(Math.max(...counts)).toBeLessThanOrEqual(picks.length / 3);
});
