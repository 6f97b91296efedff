/**
 * Finds what a prompt rules out: "no people, no text", "without cars or signs", "keine Menschen". Rules of thumb over words and
 * commas, no grammar: a wrong guess costs a worse pick and nothing else.
 */

export interface Token {
  /** In lower case. */
  readonly word: string;
  /** What is between the word and the one before. */
  readonly gap: 'none' | 'comma' | 'stop';
  /** Whether the prompt rules it out. */
  readonly isRuledOut: boolean;
}

const wordPattern = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;

/** Each begins a list of what is ruled out: "avoid people, text, logos". */
const listCues = wordsOf('avoid avoiding exclude excluding omit omitting vermeide évite évitez evita evitar');

/** Each rules out the things that follow it. */
const thingCues = wordsOf(
  'no without minus lacking lacks zero sans aucun aucune sin ningún ninguna senza nessun nessuna sem nenhum nenhuma geen zonder ohne kein keine keinen keinem keiner keinerlei ni',
);

/** Each rules out the rest of its clause. */
const clauseCues = wordsOf(
  "not never nobody none nor neither cannot don't dont doesn't doesnt isn't aren't won't can't cant nicht nie jamais nunca",
);

/** "not only this" asks for it; "no doubt", "no longer" are about something else. */
const undoing = wordsOf('only just merely doubt matter problem longer nonsense wonder nur seulement sólo solo');

/** "never stops moving", "do not forget the logo" ask for it. */
const negative = wordsOf('stop stops stopped stopping end ends forget miss fail fails cease ceases skip');

/** "no more than two people", "nicht mehr als zwei Menschen". */
const comparatives = wordsOf('more less fewer mehr weniger');
const comparisons = wordsOf('than als');

/** What follows one of these is asked for again. */
const turns = wordsOf(
  'but except just only instead then while yet although however aber sondern nur mais sauf pero sino',
);

const joints = wordsOf('or nor and oder und noch ou et ni o y e of or');
const alternatives = wordsOf('or nor oder noch ou ni o');
const articles = wordsOf('a an the some many lots one two three several ein eine einen une un una');
const prepositions = wordsOf(
  'in on at over under through across near behind by from during against with into along around beside above below mit auf im dans avec sur en con',
);

/** Words that one thing of a list may have; longer parts are something new. */
const partWordsMax = 3;

/** Parts of a list that are looked at, so that the time grows with the length of the prompt alone. */
const partsMax = 12;

/** Words that a cue reaches over without a comma. */
const reachWordsMax = 7;

/** `text` in lower case. */
export function tokenise(text: string): Token[] {
  const words = wordsWithGaps(text);
  const ruledOut = new Set<number>();
  for (let at = 0; at < words.length; at += 1) {
    const cue = cueAt(words, at);
    if (cue === undefined) continue;
    for (const index of reachOf(words, cue)) ruledOut.add(index);
  }
  return words.map(({ word, gap }, index) => ({
    word,
    gap: gap === 'colon' ? 'stop' : gap,
    isRuledOut: ruledOut.has(index) || isFreeOf(words, index),
  }));
}

interface Word {
  readonly word: string;
  readonly gap: 'none' | 'comma' | 'colon' | 'stop';
}

function wordsWithGaps(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  for (const found of text.matchAll(wordPattern)) {
    const gap = text.slice(end, found.index);
    const isStop = /[.!?;\n—–()。！？；]/u.test(gap);
    const kind = isStop ? 'stop' : gap.includes(':') ? 'colon' : /[,、，]/u.test(gap) ? 'comma' : 'none';
    words.push({ word: found[0].replaceAll('’', "'"), gap: kind });
    end = found.index + found[0].length;
  }
  return words;
}

interface Cue {
  readonly kind: 'list' | 'things' | 'clause';
  /** The first word after it. */
  readonly start: number;
}

function cueAt(words: readonly Word[], at: number): Cue | undefined {
  const word = words[at]?.word ?? '';
  const next = words[at + 1];
  if (next === undefined) return undefined;
  if (word === 'negative' && next.word === 'prompt') return { kind: 'list', start: at + 2 };
  // "No. 5" is a number, and "sans serif" a font.
  if (word === 'no' && next.gap === 'stop' && /^\d/.test(next.word)) return undefined;
  if (word === 'sans' && next.word === 'serif') return undefined;
  // "No, a logo please" is an answer, and "no more than two people" asks for some.
  if (word === 'no' && next.gap === 'comma') return undefined;
  if (comparatives.has(next.word) && comparisons.has(words[at + 2]?.word ?? '')) return undefined;
  if ((word === 'free' || word === 'devoid' || word === 'empty') && (next.word === 'of' || next.word === 'from')) {
    return { kind: 'things', start: at + 2 };
  }
  if ((word === 'instead' && next.word === 'of') || (word === 'rather' && next.word === 'than')) {
    return { kind: 'things', start: at + 2 };
  }
  if (word === 'pas' && (next.word === 'de' || next.word === 'd')) return { kind: 'things', start: at + 2 };
  const kind = listCues.has(word)
    ? 'list'
    : thingCues.has(word)
      ? 'things'
      : clauseCues.has(word)
        ? 'clause'
        : undefined;
  if (kind === undefined || undoing.has(next.word) || negative.has(next.word)) return undefined;
  return { kind, start: at + 1 };
}

/** The words that a cue rules out. */
function* reachOf(words: readonly Word[], { kind, start }: Cue): Generator<number, void, void> {
  const first = endOfPart(words, start, kind);
  const isList = kind !== 'clause' && words[first]?.gap === 'comma';
  const end = isList ? endOfList(words, first, kind) : first;
  for (let index = start; index < end; index += 1) yield index;
}

/** The end of the part of a list, or of the clause, that begins at `from`. */
function endOfPart(words: readonly Word[], from: number, kind: Cue['kind']): number {
  for (let at = from; at < words.length && at < from + reachWordsMax; at += 1) {
    const { word, gap } = words[at] as Word;
    if (at > from && gap !== 'none') return at;
    if (turns.has(word)) return at;
    if (kind !== 'clause' && at > from && prepositions.has(word)) return at;
    // "no people and a red car": the article begins something that is asked for.
    if (kind !== 'clause' && at > from && articles.has(word) && joints.has(words[at - 1]?.word ?? '')) return at - 1;
  }
  return Math.min(words.length, from + reachWordsMax);
}

/**
 * Where a list ends that may go on after a comma. After "avoid" every short part belongs to it; after "no" and "without" only
 * where an "or" joins its last part: "no people, text or signs" is a list, and in "no people, slow zoom" the zoom is asked for.
 */
function endOfList(words: readonly Word[], from: number, kind: 'list' | 'things'): number {
  let listed = from;
  let start = from;
  for (let parts = 0; parts < partsMax && start < words.length; parts += 1) {
    let end = start + 1;
    while (end < words.length && words[end]?.gap === 'none') end += 1;
    const part = words.slice(start, end).map(({ word }) => word);
    const isJoined = part.some((word) => alternatives.has(word));
    if (!isPartOfList(part, isJoined)) return listed;
    if (kind === 'list' || isJoined) listed = end;
    if (words[end]?.gap !== 'comma') return listed;
    start = end;
  }
  return listed;
}

function isPartOfList(part: readonly string[], isJoined: boolean): boolean {
  if (part.filter((word) => !joints.has(word)).length > partWordsMax) return false;
  if (part.some((word) => articles.has(word) || prepositions.has(word) || turns.has(word))) return false;
  return isJoined || !part.some((word) => thingCues.has(word) || clauseCues.has(word));
}

/** "text-free", "crowd-free". */
function isFreeOf(words: readonly Word[], index: number): boolean {
  return /^[\p{L}]+-free$/u.test(words[index]?.word ?? '');
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
