/**
 * The traits that a prompt asks for, found by its words. Quality is ranked by them. No network and no randomness: the same
 * prompt always has the same traits. `docs/EMULATOR.md` says how each trait is found.
 */

export const traits = [
  'people',
  'lettering',
  'motion',
  'camera',
  'style',
  'realism',
  'dialogue',
  'sound',
  'music',
  'expression',
  'detail',
  'language',
] as const;
export type Trait = (typeof traits)[number];

/** The use of the prompt. The words of speech are spoken, so they do not describe the output. */
export type PromptPurpose = 'video' | 'image' | 'speech' | 'audio';

export interface Finding {
  readonly trait: Trait;
  /** The evidence: up to three words of the prompt, or a short description. */
  readonly evidence: readonly string[];
}

const lookedFor: Readonly<Record<PromptPurpose, ReadonlySet<Trait>>> = {
  video: new Set([
    'people',
    'lettering',
    'motion',
    'camera',
    'style',
    'realism',
    'dialogue',
    'sound',
    'music',
    'detail',
    'language',
  ]),
  image: new Set(['people', 'lettering', 'style', 'realism', 'detail', 'language']),
  speech: new Set(['expression', 'detail', 'language']),
  audio: new Set(['dialogue', 'sound', 'music', 'detail', 'language']),
};

const wordsOf: Partial<Record<Trait, string>> = {
  people:
    'person people man men woman women child children kid kids boy boys girl girls baby crowd face faces portrait portraits selfie actor actress couple family hand hands human humans chef dancer dancers athlete worker workers player players',
  lettering:
    'text sign signs signage logo logos label labels poster posters typography headline caption captions lettering letters title titles subtitle subtitles word words written reads slogan banner billboard infographic calligraphy font',
  motion:
    'run runs running jump jumps jumping dance dances dancing fly flies flying walk walks walking chase chases fall falls falling explode explodes explosion fight fights fighting race racing swim swims swimming spin spins spinning crash crashes splash splashes fast action slow-motion timelapse time-lapse motion moving',
  camera:
    'camera zoom zooms pan pans tilt dolly tracking drone aerial handheld close-up closeup wide-angle crane orbit steadicam shot pov bokeh lens fisheye panorama panning',
  style:
    'anime cartoon watercolor watercolour illustration illustrated painting painted sketch comic manga pixel pixel-art claymation stop-motion low-poly isometric surreal abstract stylized stylised vintage retro cyberpunk steampunk impressionist ghibli oil-painting drawing drawn origami noir',
  realism:
    'photo photos photograph photographic photorealistic realistic realism lifelike documentary raw dslr cinematic hyperrealistic footage 35mm',
  dialogue:
    'say says said saying speak speaks speaking talk talks talking dialogue dialog conversation interview asks answers whispers shouts narrator narration voiceover voice-over podcast',
  sound:
    'sound sounds noise noises ambience ambient sfx rain thunder wind footsteps footstep birdsong engine crackling hum humming echo whoosh door bell bells applause roar siren',
  music:
    'music song songs melody soundtrack piano guitar drum drums orchestra orchestral beat beats jazz techno synth violin singing sings singer chorus lo-fi lofi',
};

const traitOfWord: ReadonlyMap<string, readonly Trait[]> = new Map(
  Object.entries(
    Object.groupBy(
      Object.entries(wordsOf).flatMap(([trait, words]) =>
        words.split(' ').map((word) => ({ word, trait: trait as Trait })),
      ),
      ({ word }) => word,
    ),
  ).map(([word, entries]) => [word, (entries ?? []).map(({ trait }) => trait)]),
);

const evidenceMax = 3;

/** A prompt of this length counts as detailed. */
const detailCharactersMin = 400;

/** Text in quotation marks without a mark inside. Opening marks are excluded too, or many of them would make it quadratic. */
const quotedWords = /["“«][^"“”«»]{2,}["”»]/u;

const wordPattern = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;

/** The traits found, in the order of `traits`. An absent prompt asks for nothing. */
export function readPrompt(prompt: string | undefined, purpose: PromptPurpose): Finding[] {
  if (prompt === undefined) return [];
  const words = prompt.toLowerCase().match(wordPattern) ?? [];
  const found = new Map<Trait, Set<string>>();
  const note = (trait: Trait, evidence: string): void => {
    const evidences = found.get(trait) ?? new Set<string>();
    if (evidences.size < evidenceMax) evidences.add(evidence);
    found.set(trait, evidences);
  };
  for (const word of words) for (const trait of traitOfWord.get(word) ?? []) note(trait, word);
  if (quotedWords.test(prompt)) note(purpose === 'image' ? 'lettering' : 'dialogue', 'quoted words');
  if (/\[[a-z ]{2,30}\]/i.test(prompt)) note('expression', 'stage directions');
  if (/!|…|\.\.\./.test(prompt)) note('expression', 'its punctuation');
  if (prompt.length >= detailCharactersMin) note('detail', `${prompt.length} characters`);
  const language = foreignLanguageOf(prompt, words);
  if (language !== undefined) note('language', language);
  return traits
    .filter((trait) => lookedFor[purpose].has(trait) && found.has(trait))
    .map((trait) => ({ trait, evidence: [...(found.get(trait) ?? [])] }));
}

const scripts: readonly (readonly [language: string, letters: RegExp])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Chinese', /\p{Script=Han}/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Cyrillic script', /\p{Script=Cyrillic}/u],
  ['Arabic script', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Devanagari script', /\p{Script=Devanagari}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Thai', /\p{Script=Thai}/u],
];

// Frequent words of each language that neither English nor the other languages here have.
const functionWords: readonly (readonly [language: string, words: ReadonlySet<string>])[] = [
  ['German', new Set(['der', 'das', 'und', 'ein', 'eine', 'einer', 'mit', 'auf', 'ist', 'nicht', 'für', 'über', 'im'])],
  ['French', new Set(['le', 'les', 'une', 'des', 'dans', 'avec', 'sur', 'est', 'et', 'au', 'qui'])],
  ['Spanish', new Set(['el', 'los', 'las', 'una', 'con', 'del', 'y', 'por', 'está'])],
  ['Italian', new Set(['il', 'gli', 'della', 'di', 'nel', 'che', 'è', 'sono', 'alla'])],
  ['Portuguese', new Set(['os', 'uma', 'um', 'da', 'não', 'em', 'ao', 'na', 'dos'])],
];
const functionWordsMin = 2;
const functionWordsSharePercent = 10;

/** The language if it is recognised and not English, which every model is best at. */
function foreignLanguageOf(prompt: string, words: readonly string[]): string | undefined {
  for (const [language, letters] of scripts) if (letters.test(prompt)) return language;
  let best: { language: string; count: number } | undefined;
  for (const [language, known] of functionWords) {
    const count = words.filter((word) => known.has(word)).length;
    const isEnough = count >= functionWordsMin && count * 100 >= words.length * functionWordsSharePercent;
    if (isEnough && count > (best?.count ?? 0)) best = { language, count };
  }
  return best?.language;
}
