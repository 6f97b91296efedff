/**
 * The traits that a prompt asks for and rules out, found by its words. Quality is ranked by them. No network and no
 * randomness: the same prompt always has the same traits. `docs/EMULATOR.md` says how each trait is found.
 */
import { tokenise } from './negation.ts';
import type { Token } from './negation.ts';
import { isPhrase, isWholeTrait, traits, traitsAbsentBy, traitsOfWord } from './prompt-words.ts';
import type { Trait } from './prompt-words.ts';

/** The use of the prompt. The words of speech are spoken, so they do not describe the output. */
export type PromptPurpose = 'video' | 'image' | 'speech' | 'audio';

export interface Finding {
  readonly trait: Trait;
  /** The evidence: up to three words of the prompt, or a short description. */
  readonly evidence: readonly string[];
}

/** Both in the order of `traits`. */
export interface PromptReading {
  readonly asked: readonly Finding[];
  /** A trait that is ruled out counts for no model. */
  readonly ruledOut: readonly Finding[];
}

const described = ['people', 'animals', 'places', 'product', 'lettering', 'style', 'realism'] as const;
const heard = ['dialogue', 'sound', 'music'] as const;

const lookedFor: Readonly<Record<PromptPurpose, ReadonlySet<Trait>>> = {
  video: new Set([...described, ...heard, 'motion', 'effects', 'camera', 'detail', 'language']),
  image: new Set([...described, 'effects', 'detail', 'language']),
  speech: new Set(['expression', 'detail', 'language']),
  audio: new Set([...heard, 'detail', 'language']),
};

const evidenceMax = 3;

/** A prompt of this length counts as detailed. */
const detailCharactersMin = 400;

/** Text in quotation marks without a mark inside. Opening marks are excluded too, or many of them would make it quadratic. */
const quotedWords = /["“«][^"“”«»]{2,}["”»]/gu;

/** Evidence by trait, in the order in which it was found. */
class Notes {
  readonly #found = new Map<Trait, Set<string>>();

  add(trait: Trait, evidence: string): void {
    const evidences = this.#found.get(trait) ?? new Set<string>();
    if (evidences.size < evidenceMax) evidences.add(evidence);
    this.#found.set(trait, evidences);
  }

  has(trait: Trait): boolean {
    return this.#found.has(trait);
  }

  delete(trait: Trait): void {
    this.#found.delete(trait);
  }

  findings(purpose: PromptPurpose): Finding[] {
    return traits
      .filter((trait) => lookedFor[purpose].has(trait) && this.has(trait))
      .map((trait) => ({ trait, evidence: [...(this.#found.get(trait) ?? [])] }));
  }
}

/** An absent prompt asks for nothing. Every trait that `negativePrompt` names is ruled out. */
export function readPrompt(prompt: string | undefined, purpose: PromptPurpose, negativePrompt = ''): PromptReading {
  const asked = new Notes();
  const ruledOut = new Notes();
  const length = prompt?.length ?? 0;
  const text = (prompt ?? '').toLowerCase();
  // Words in quotation marks are shown or spoken; they describe nothing.
  const tokens = tokenise(text.replaceAll(quotedWords, ' . '));
  noteWords(tokens, asked, ruledOut);
  for (const { word } of tokenise(negativePrompt.toLowerCase())) {
    for (const trait of traitsOfWord.get(word) ?? []) {
      ruledOut.add(trait, word);
      asked.delete(trait);
    }
  }
  if (text.search(quotedWords) !== -1) {
    // In "a sign reads …" they are shown, in "a man says …" they are spoken.
    const isShown = purpose === 'image' || (asked.has('lettering') && !asked.has('dialogue'));
    asked.add(isShown ? 'lettering' : 'dialogue', 'quoted words');
  }
  if (/\[[a-z ]{2,30}\]/.test(text)) asked.add('expression', 'stage directions');
  if (/!|…|\.\.\./.test(text)) asked.add('expression', 'its punctuation');
  if (length >= detailCharactersMin) asked.add('detail', `${length} characters`);
  const language = foreignLanguageOf(
    text,
    tokens.map(({ word }) => word),
  );
  if (language !== undefined) asked.add('language', language);
  for (const trait of traits) if (asked.has(trait)) ruledOut.delete(trait);
  return { asked: asked.findings(purpose), ruledOut: ruledOut.findings(purpose) };
}

function noteWords(tokens: readonly Token[], asked: Notes, ruledOut: Notes): void {
  const whole = new Set<Trait>();
  for (let at = 0; at < tokens.length; at += 1) {
    const { word, isRuledOut } = tokens[at] as Token;
    if (isPhrase(word, tokens[at + 1]?.word)) {
      at += 1;
      continue;
    }
    for (const trait of traitsAbsentBy(word)) {
      ruledOut.add(trait, word);
      // "A man walks down a deserted street": somebody is there all the same.
      if (trait !== 'people') whole.add(trait);
    }
    const plain = word.replace(/-free$|'s$/, '');
    for (const trait of traitsOfWord.get(plain) ?? []) {
      (isRuledOut ? ruledOut : asked).add(trait, word);
      if (isRuledOut && isWholeTrait(plain)) whole.add(trait);
    }
  }
  for (const trait of whole) asked.delete(trait);
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
