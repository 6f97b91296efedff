/** Guesses how a column writes its numbers: marks, accounting, and the words that mean "no value". */
import { type DecimalFormat, currenciesIn, parseDecimal, plainDecimal } from '../core/numbers/decimal.ts';
import { type Counted, examples, total } from './evidence.ts';

/** The marks of a convention. */
type Marks = Pick<DecimalFormat, 'decimal' | 'group'>;

export interface NumberGuess {
  readonly decimal: string;
  readonly group: DecimalFormat['group'];
  readonly accounting: boolean;
  /** Words of the column that stand for "no value". */
  readonly missing: readonly string[];
  /** Texts that are no numbers and no such words: their rows will be rejects. */
  readonly strangers: readonly string[];
  readonly because: string;
  /** Signs and codes of currencies that stand in its texts. */
  readonly currencies: readonly string[];
  /** What the marks could mean as well, where no text decides it. */
  readonly doubt?: { readonly instead: string; readonly because: string };
  /** Whether some number has a mark, a sign or a currency: a column without any may be one of codes. */
  readonly isPlainInteger: boolean;
}

const threes = (mark: string): DecimalFormat['group'] => ({ mark, sizes: [3] });

/** In the order of preference among those that read the same texts. */
const conventions: readonly Marks[] = [
  { decimal: '.', group: undefined },
  { decimal: '.', group: threes(',') },
  { decimal: ',', group: undefined },
  { decimal: ',', group: threes('.') },
  { decimal: ',', group: threes(' ') },
  { decimal: '.', group: threes(' ') },
  { decimal: '.', group: threes("'") },
  { decimal: ',', group: threes("'") },
  { decimal: '.', group: { mark: ',', sizes: [3, 2] } },
];

const missingWords = new Set(
  `- -- --- – — . .. ... … * ** *** ? x n/a na #n/a n.a. n.a nan null none nil tbd tba k.a. k.a n.v. n/v nv missing
   unknown #div/0! #value! #ref! #num! #name? #null! (null) (blank) <na> \\n`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** Fewer of the texts than this that are numbers make no column of numbers. */
const shareMin = 0.8;
/** More different words than this mean something. */
const wordsMax = 8;

/** What decides between marks where the texts of a column leave it open. */
export interface Habit {
  readonly decimalComma: boolean;
  /** Other columns of the file show it, and not only its delimiter. */
  readonly isSure: boolean;
}

/** @returns `undefined` where the texts are not numbers */
export function guessNumbers(texts: Counted, habit: Habit | undefined): NumberGuess | undefined {
  const wordless = [...texts].filter(([text]) => !isMissingWord(text));
  const all = wordless.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return undefined;
  const tried = [false, true].flatMap((accounting) =>
    conventions.map((marks) => ({ marks, accounting, fits: countFits(wordless, { ...marks, accounting }) })),
  );
  const most = Math.max(...tried.map(({ fits }) => fits));
  if (most === 0) return undefined;
  const best = tried.filter(({ fits }) => fits === most);
  const isAccounting = best.every(({ accounting }) => accounting);
  const candidates = best.filter(({ accounting }) => accounting === isAccounting).map(({ marks }) => marks);
  const { marks, doubt } = decide(candidates, wordless, habit);
  const format = { ...plainDecimal, ...marks, accounting: isAccounting };
  const isNumber = (text: string): boolean => parseDecimal(text, format) !== undefined;
  const others = wordless.filter(([text]) => !isNumber(text));
  const plainWords = others.filter(([text]) => !/\p{Nd}/u.test(text) && !/\s.*\s/.test(text)).map(([text]) => text);
  const said = plainWords.length <= wordsMax ? plainWords : [];
  const strangers = others.map(([text]) => text).filter((text) => !said.includes(text));
  const strange = others.filter(([text]) => !said.includes(text)).reduce((sum, [, count]) => sum + count, 0);
  const kept = others.reduce((sum, [, count]) => sum + count, 0) - strange;
  if (all - strange - kept < shareMin * all - kept || most < all / 2) return undefined;
  const known = [...texts.keys()].filter((text) => isMissingWord(text) && !(isAccounting && isDash(text)));
  return {
    ...marks,
    accounting: isAccounting,
    missing: [...known, ...said],
    strangers,
    because: because(format, wordless),
    currencies: isAccounting
      ? [...new Set(wordless.flatMap(([text]) => (isNumber(text) ? currenciesIn(text) : [])))]
      : [],
    ...(doubt === undefined ? {} : { doubt }),
    isPlainInteger: wordless.every(([text]) => /^\d+$/.test(text)),
  };
}

/** A file writes all its numbers alike: a column whose numbers are too small for groups gets those of another one. */
export function withGroupsAlike<T extends { readonly name: string; readonly number: NumberGuess | undefined }>(
  columns: readonly T[],
): readonly T[] {
  const shown = columns.find(({ number }) => number?.group !== undefined && number.doubt === undefined);
  const { decimal, group } = shown?.number ?? {};
  if (shown === undefined || group === undefined) return columns;
  return columns.map((column) => {
    const { number } = column;
    if (number === undefined || number.decimal !== decimal || number.group !== undefined) return column;
    if (number.doubt !== undefined) return column;
    return {
      ...column,
      number: { ...number, group, because: `${number.because}; groups as in ${JSON.stringify(shown.name)}` },
    };
  });
}

export function isMissingWord(text: string): boolean {
  return missingWords.has(text.toLowerCase());
}

function isDash(text: string): boolean {
  return /^[-\u2212]$/.test(text);
}

function countFits(texts: readonly (readonly [string, number])[], format: Marks & { accounting: boolean }): number {
  const whole = { ...plainDecimal, ...format };
  return texts.reduce((sum, [text, count]) => (parseDecimal(text, whole) === undefined ? sum : sum + count), 0);
}

/** Among conventions that read all texts alike well. */
function decide(
  candidates: readonly Marks[],
  texts: readonly (readonly [string, number])[],
  habit: Habit | undefined,
): { readonly marks: Marks; readonly doubt?: NumberGuess['doubt'] } {
  const [first] = candidates as readonly [Marks];
  const other = candidates.find(({ decimal }) => decimal !== first.decimal);
  const marked = texts.map(([text]) => text).filter((text) => /\d[.,]\d/.test(text));
  const [example] = marked;
  if (other === undefined || example === undefined) return { marks: first };
  // Every mark is followed by three digits, or some reading would have failed.
  const isComma = marked.some((text) => text.includes(','));
  const wanted = candidates.find(({ decimal }) => (decimal === ',') === habit?.decimalComma);
  const marks = wanted ?? first;
  if (wanted !== undefined && habit?.isSure === true) return { marks };
  const groups = marks.group !== undefined;
  const mark = isComma ? ',' : '.';
  const [instead, meaning] = groups
    ? [`decimal: ${JSON.stringify(mark)}`, `if ${JSON.stringify(example)} is a fraction`]
    : [
        `group: ${JSON.stringify(mark)}, decimal: ${JSON.stringify(isComma ? '.' : ',')}`,
        `if ${JSON.stringify(example)} is in thousands`,
      ];
  return {
    marks,
    doubt: { instead, because: `undecided: every ${JSON.stringify(mark)} is followed by three digits; ${meaning}` },
  };
}

function because({ decimal, group, accounting }: DecimalFormat, texts: readonly (readonly [string, number])[]): string {
  const found: string[] = [];
  const show = (what: string, test: (text: string) => boolean): void => {
    const text = texts.find(([candidate]) => test(candidate))?.[0];
    if (text !== undefined) found.push(what === '' ? JSON.stringify(text) : `${what} in ${JSON.stringify(text)}`);
  };
  if (group !== undefined) show('groups', (text) => new RegExp(`\\d${markClass(group.mark)}\\d{2,3}`).test(text));
  if (decimal !== '.') show('decimal comma', (text) => /,\d{1,2}\D*$|,\d{4,}\D*$/.test(text));
  if (accounting) {
    show('brackets', (text) => text.includes('('));
    show('a sign or code', (text) => /\p{Sc}|[A-Z]{3}/u.test(text));
    show('%', (text) => text.includes('%'));
    show('a minus behind', (text) => /\d\s*[-\u2212]$/.test(text));
  }
  return found.length === 0 ? `such as ${examples(texts.map(([text]) => text))}` : found.join(', ');
}

function markClass(mark: string): string {
  if (mark === ' ') return '\\s';
  return mark === "'" ? "['\u2019]" : `\\${mark}`;
}

/** Which decimal mark the columns of a file speak for; `undefined` where none of them decides it. */
export function decimalHabit(columns: readonly Counted[]): boolean | undefined {
  let commas = 0;
  let points = 0;
  for (const texts of columns) {
    if (total(texts) === 0) continue;
    for (const [text] of texts) {
      // A mark that three digits do not follow, or that follows another mark, is a decimal one.
      const [, mark] = /^[^\d]*\d*(?:[.,' ]\d{3})*([.,])(?:\d{1,2}|\d{4,})\D*$/.exec(text) ?? [];
      if (!/^[(\-+\u2212\p{Sc}\s]*[\d.,' \u00a0\u202f]+[)%\-\p{Sc}\s]*$/u.test(text)) continue;
      if (/^\d{1,2}\.\d{1,2}\.\d{2,4}$/.test(text) || /^\d{1,2}[.]\d{4}$/.test(text)) continue;
      if (mark === ',') commas++;
      else if (mark === '.') points++;
    }
  }
  if (commas === points) return undefined;
  return commas > points;
}

const units: readonly (readonly [RegExp, string, string])[] = [
  [
    /(^|[^\p{L}])(T|k)(EUR|USD|CHF|GBP|\u20ac|\$)([^\p{L}]|$)|(^|[^\p{L}])(Tsd|[Tt]ausend|[Tt]housands?)([^\p{L}]|$)|['\u2019]000/u,
    'thousands',
    '1000',
  ],
  [/(^|[^\p{L}])(Mio|MEUR|MUSD|[Mm]illions?|[Mm]illionen)([^\p{L}]|$)/u, 'millions', '1000000'],
  [/(^|[^a-z])cents?([^a-z]|$)/i, 'cents', '0.01'],
];

/** What a header or a title says of the size of numbers. */
export function unitDoubts(texts: readonly string[]): readonly string[] {
  return units.flatMap(([pattern, what, scale]) => {
    const found = texts.find((text) => pattern.test(text));
    return found === undefined
      ? []
      : [
          `whether numbers are in ${what}, as ${JSON.stringify(found)} says: then write scale: ${scale} in "value", where whole ones are wanted`,
        ];
  });
}
