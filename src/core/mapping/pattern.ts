/**
 * Regular expressions of the config. They are written as JavaScript's with the flag `u` and mean the same, but run on re2js,
 * whose time grows with the length of the text alone: `^(a+)+$` on 40 letters would keep a RegExp busy for hours, and nothing
 * can interrupt it.
 */
import { RE2JS, RE2JSException } from 're2js';
import {
  type Ranges,
  codePointMax,
  digits,
  oneOf,
  others,
  propertyRanges,
  whiteSpace,
  wordCharacters,
} from './character-ranges.ts';

export interface Pattern {
  /** As written. */
  readonly source: string;
  /** Names of its groups, each once, in order. */
  readonly groupNames: readonly string[];
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** What its named groups hold in the first match, '' for a group that took no part; `undefined` where nothing matches. */
  exec(text: string): ReadonlyMap<string, string> | undefined;
}

/** Takes a piece out of a text. */
export interface Extract {
  /** What the first group of the pattern holds where the text matches, or all that matches where it has none. */
  take(text: string): string | undefined;
}

export interface PatternProblem {
  readonly problem: string;
  readonly hint?: string;
}

/** @param flags `i` ignores case */
export function parsePattern(source: string, flags: '' | 'i' = ''): Pattern | PatternProblem {
  const problem = syntaxProblem(source, flags);
  if (problem !== undefined) return problem;
  const translated = new Translator(source).translate();
  if ('problem' in translated) return translated;
  const { text, groups } = translated;
  try {
    const compiled = RE2JS.compile(text, flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0);
    return {
      source,
      groupNames: [...new Set(groups)],
      test: remembered((input) => compiled.test(input)),
      exec: (input) => {
        const match = compiled.exec(input);
        return match === null ? undefined : namedGroups(groups, match);
      },
    };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return tooLarge;
  }
}

/** A pattern whose first group, named or not, is what is wanted of a text. */
export function parseExtract(source: string): Extract | PatternProblem {
  const problem = syntaxProblem(source, '');
  if (problem !== undefined) return problem;
  const translated = new Translator(source, 'first').translate();
  if ('problem' in translated) return translated;
  const group = translated.groups.length > 0 ? 1 : 0;
  try {
    const compiled = RE2JS.compile(translated.text);
    return {
      take(text) {
        const match = compiled.exec(text);
        return match === null ? undefined : (match[group] ?? '');
      },
    };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return tooLarge;
  }
}

/** What JavaScript refuses, in its own words. RegExp is only asked to compile, which takes no time to speak of. */
function syntaxProblem(source: string, flags: string): PatternProblem | undefined {
  try {
    new RegExp(source, `u${flags}`);
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const problem = error.message.replace(/^Invalid regular expression: .*\/\w*: /s, '').toLowerCase();
    if (!problem.includes('escape')) return { problem };
    return { problem, hint: 'escape only characters that mean something: write "-", not "\\-"' };
  }
}

/**
 * Rows repeat their texts, and re2js takes 50 to 800 ns where a look into this map takes 35 to 130 and a RegExp 20 to 60.
 * A column of distinct texts pays some 100 ns for each.
 */
function remembered(test: (text: string) => boolean): (text: string) => boolean {
  const answers = new Map<string, boolean>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = test(text);
    if (answers.size < answersMax && text.length <= rememberedLengthMax) answers.set(text, answer);
    return answer;
  };
}

const answersMax = 1000;
const rememberedLengthMax = 100;

/** Two groups may have one name where only one of them can match. */
function namedGroups(names: readonly string[], match: readonly (string | undefined)[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const [index, name] of names.entries()) groups.set(name, match[index + 1] ?? (groups.get(name) || ''));
  return groups;
}

const linear = 'patterns here take time in proportion to the text, and that rules it out';

const tooLarge: PatternProblem = {
  problem: 'it is too large',
  hint: 'repeat at most 1000 times, also where one repetition is inside another',
};

const inRepetition: PatternProblem = {
  problem: 'a named group inside a repetition',
  hint: 'put the repetition inside the group: (?<name>(?:…)+)',
};

const firstInRepetition: PatternProblem = {
  problem: 'its first group, whose text is taken, is repeated',
  hint: 'put the repetition inside the group: ((?:…)+)',
};

/** Thrown and caught in this file: a problem may turn up anywhere in nested parts. */
class Unsupported extends Error {
  readonly found: PatternProblem;

  constructor(found: PatternProblem) {
    super(found.problem);
    this.found = found;
  }
}

/** Writes a pattern that JavaScript accepts in the syntax of re2, where `\s`, `.` and classes mean something else. */
class Translator {
  readonly #source: string;
  /** Which groups are kept: those with a name, or the first one, whatever it is. */
  readonly #kept: 'named' | 'first';
  readonly #groups: string[] = [];
  /** How many names there were when each open group began. */
  readonly #open: number[] = [];
  #at = 0;

  constructor(source: string, kept: 'named' | 'first' = 'named') {
    this.#source = source;
    this.#kept = kept;
  }

  translate(): { readonly text: string; readonly groups: readonly string[] } | PatternProblem {
    let text = '';
    try {
      while (this.#at < this.#source.length) text += this.#piece();
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return error.found;
    }
    return { text, groups: this.#groups };
  }

  #piece(): string {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#openGroup();
      case ')':
        return this.#closeGroup();
      case '[':
        return this.#class();
      case '.':
        return '[^\\n\\r\\x{2028}\\x{2029}]';
      case '\\': {
        if (this.#takeIf('b')) return '\\b';
        if (this.#takeIf('B')) return '\\B';
        return classOf(this.#escape());
      }
      default:
        return character;
    }
  }

  #next(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #takeIf(text: string): boolean {
    const isNext = this.#source.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  #takeUntil(end: string): string {
    const from = this.#at;
    const to = this.#source.indexOf(end, from);
    this.#at = to + end.length;
    return this.#source.slice(from, to);
  }

  #openGroup(): string {
    this.#open.push(this.#groups.length);
    if (!this.#takeIf('?')) {
      if (this.#kept === 'named' || this.#groups.length > 0) return '(?:';
      this.#groups.push('');
      return '(';
    }
    for (const around of ['=', '!', '<=', '<!']) {
      if (this.#takeIf(around)) throw new Unsupported(lookaround(around));
    }
    if (this.#takeIf('<')) {
      this.#groups.push(readName(this.#takeUntil('>')));
      return '(';
    }
    const modifiers = this.#takeUntil(':');
    if (!/^(?:i|-i|)$/.test(modifiers)) {
      throw new Unsupported({ problem: `the modifiers (?${modifiers}:`, hint: 'only (?i:…) and (?-i:…) are known' });
    }
    return `(?${modifiers}:`;
  }

  /** The engines disagree on which round's text a group keeps. */
  #closeGroup(): string {
    const isNamed = this.#groups.length > (this.#open.pop() ?? 0);
    if (isNamed && /^[*+{]/.test(this.#source.slice(this.#at))) {
      throw new Unsupported(this.#kept === 'first' ? firstInRepetition : inRepetition);
    }
    return ')';
  }

  #class(): string {
    const isNegated = this.#takeIf('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#takeIf(']')) {
      const from = this.#classAtom();
      const [low] = from;
      const isRange = low !== undefined && this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']';
      if (!isRange || !this.#takeIf('-')) ranges.push(...from);
      else ranges.push([low[0], this.#classAtom()[0]?.[1] ?? low[1]]);
    }
    return classOf(isNegated ? [[0, codePointMax]] : ranges, isNegated ? ranges : []);
  }

  #classAtom(): Ranges {
    const character = this.#next();
    if (character !== '\\') return oneOf(character.codePointAt(0) ?? 0);
    return this.#takeIf('b') ? oneOf(0x08) : this.#escape();
  }

  /** What an escape stands for, from the character after the backslash on. */
  #escape(): Ranges {
    const character = this.#next();
    switch (character) {
      case 'd':
      case 'D':
        return character === 'd' ? digits : others(digits);
      case 'w':
      case 'W':
        return character === 'w' ? wordCharacters : others(wordCharacters);
      case 's':
      case 'S':
        return character === 's' ? whiteSpace : others(whiteSpace);
      case 'p':
      case 'P':
        return propertyRanges(`\\${character}${this.#takeUntil('}')}}`);
      case 'x':
        return oneOf(this.#hexadecimal(2));
      case 'u':
        return oneOf(this.#codePoint());
      case 'c':
        return oneOf((this.#next().codePointAt(0) ?? 0) % 32);
      default:
        if (character === 'k' || /[1-9]/.test(character)) throw new Unsupported(backreference);
        return oneOf(controls[character] ?? character.codePointAt(0) ?? 0);
    }
  }

  #hexadecimal(length: number): number {
    this.#at += length;
    return Number.parseInt(this.#source.slice(this.#at - length, this.#at), 16);
  }

  /** `\u{1F600}`, `\u00E9`, or the pair `\uD83D\uDE00`, which is one character. */
  #codePoint(): number {
    if (this.#takeIf('{')) return Number.parseInt(this.#takeUntil('}'), 16);
    const unit = this.#hexadecimal(4);
    const pair = /^\\u(D[C-F][0-9A-F]{2})/i.exec(this.#source.slice(this.#at))?.[1];
    if (unit < 0xd800 || unit > 0xdbff || pair === undefined) return unit;
    this.#at += 6;
    return (unit - 0xd800) * 0x400 + (Number.parseInt(pair, 16) - 0xdc00) + 0x10000;
  }
}

const controls: Readonly<Record<string, number>> = { 0: 0, t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

const backreference: PatternProblem = {
  problem: 'a reference to an earlier group',
  hint: `write out what may stand there: ${linear}`,
};

function lookaround(operator: string): PatternProblem {
  const problem = `"(?${operator}" looks ${operator.startsWith('<') ? 'behind' : 'ahead'}`;
  const instead = operator.endsWith('!') ? 'write { not: { matches: … } } in where' : 'match what stands around it too';
  return { problem, hint: `${instead}: ${linear}` };
}

/** A name may be written with escapes. */
function readName(written: string): string {
  return written.replaceAll(/\\u\{?([0-9a-f]+)\}?/gi, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

function classOf(ranges: Ranges, except: Ranges = []): string {
  return except.length > 0 ? `[^${show(except)}]` : ranges.length > 0 ? `[${show(ranges)}]` : '[^\\x{0}-\\x{10FFFF}]';
}

function show(ranges: Ranges): string {
  return ranges.map(([from, to]) => `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`).join('');
}
