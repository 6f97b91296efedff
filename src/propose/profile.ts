/** What each column of a table holds, as far as a sample shows it. */
import { type Counted, ownName, spaced, words } from './evidence.ts';
import { type Habit, type NumberGuess, decimalHabit, guessNumbers } from './numbers.ts';
import { type TimeGuess, guessTimes } from './times.ts';

export interface Column {
  readonly name: string;
  /** What a mapping calls it: its name, or its place (`#3`) where a template cannot say the name; `undefined`: nothing. */
  readonly ref: string | undefined;
  readonly at: number;
  readonly texts: Counted;
  /** Rows without a text. */
  readonly empty: number;
  readonly time: TimeGuess | undefined;
  readonly number: NumberGuess | undefined;
  /** Of the names of files, and not of their rows. */
  readonly isOfFile?: true;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  readonly habit: Habit | undefined;
}

/**
 * @param how with `hasPlaces` a column keeps its place from file to file; `form` is `numbers`: the file holds real numbers, with a point; `semicolons`: its delimiter speaks for a decimal comma
 */
export function profile(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { form, hasPlaces }: { readonly form: 'numbers' | 'semicolons' | 'text'; readonly hasPlaces: boolean },
): Table {
  const texts = names.map((_name, at) => countTexts(rows, at));
  const shown = form === 'numbers' ? false : decimalHabit(texts.map(({ counted }) => counted));
  const semicolons: Habit | undefined = form === 'semicolons' ? { decimalComma: true, isSure: false } : undefined;
  const habit = shown === undefined ? semicolons : { decimalComma: shown, isSure: true };
  const columns = names.map((name, at): Column => {
    const { counted, empty } = texts[at] as Count;
    const ref = refOf(names, at, hasPlaces);
    return {
      name,
      ref,
      at,
      texts: counted,
      empty,
      time: guessTimes(counted, name),
      number: guessNumbers(counted, habit),
    };
  });
  return { columns: settleDays(columns), rows, habit };
}

/** What a mapping calls a column; `undefined`: nothing. */
export function refOf(names: readonly string[], at: number, hasPlaces: boolean): string | undefined {
  const name = names[at] ?? '';
  if (name !== '' && !/[{}|]/.test(name)) return name;
  const place = `#${at + 1}`;
  return hasPlaces && !names.includes(place) ? place : undefined;
}

/** What a person is told of a column. */
export function shownName({ name, ref }: Pick<Column, 'name' | 'ref'>): string {
  return name === '' && ref !== undefined ? `${ref}, which has no name` : JSON.stringify(name);
}

/** Where a year stands. */
export function placeOf({ name, isOfFile }: Column): string {
  return isOfFile === true ? "the file's name" : JSON.stringify(name);
}

interface Count {
  readonly counted: Counted;
  readonly empty: number;
}

function countTexts(rows: readonly (readonly string[])[], at: number): Count {
  const counted = new Map<string, number>();
  let empty = 0;
  for (const row of rows) {
    const text = row[at] ?? '';
    if (text === '') empty++;
    else counted.set(text, (counted.get(text) ?? 0) + 1);
  }
  return { counted, empty };
}

/** A file writes all its dates alike: where one column decides where day, month and year stand, it decides for the others. */
function settleDays(columns: readonly Column[]): readonly Column[] {
  const decided = columns.filter(
    ({ time }) => time !== undefined && time.doubt === undefined && /dd.MM|MM.dd/.test(time.format),
  );
  const [first] = decided;
  if (first === undefined) return columns;
  return columns.map((column) => {
    const { time } = column;
    if (time?.doubt === undefined) return column;
    const formats = [time.format, ...time.doubt.formats];
    const same = decided.find((one) => formats.includes(one.time?.format ?? '')) ?? first;
    const alike = formats.filter((format) => orderOf(format) === orderOf(same.time?.format ?? ''));
    const [format] = alike;
    if (format === undefined || alike.length > 1) return column;
    const { doubt: _doubt, ...rest } = time;
    return { ...column, time: { ...rest, format, because: `day, month and year as in ${JSON.stringify(same.name)}` } };
  });
}

/** Day, month and year as they follow each other in a format. */
function orderOf(format: string): string {
  return (format.match(/d+|M+|y+/g) ?? []).map((token) => token.charAt(0)).join('');
}

/** A number that names something: an account, a branch, a year. */
export function isCode({ name, number, texts }: Column): boolean {
  if (number === undefined) return false;
  const said = spaced(name);
  const all = [...texts.keys()];
  // Such as 4000.10: an account and its part.
  if (!number.isPlainInteger) return words.codeAlone.test(said) && all.every((text) => /^\d+([./ -]\d+)*$/.test(text));
  if (words.flow.test(said) && !words.code.test(said)) return false;
  return words.code.test(said) || all.some((text) => /^0\d/.test(text));
}

/** A column of four digits that are years. */
export function isYears({ name, texts, isOfFile }: Column): boolean {
  const all = [...texts.keys()];
  const fits = all.length > 0 && all.every((text) => /^(18|19|20)\d{2}$/.test(text));
  return fits && (isOfFile === true || words.year.test(ownName(name)) || words.time.test(name));
}
