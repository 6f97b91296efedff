/** What stands below the data of a table: rows that are no records, and totals that look like records. */
import { isBlankRow } from '../core/text.ts';
import { type Guess, words } from './evidence.ts';
import { isCode, profile, refOf } from './profile.ts';

type Row = readonly string[];

export interface Below {
  /** The keys that leave out what stands below. */
  readonly keys: readonly Guess[];
  /** The rows of the data. */
  readonly kept: readonly Row[];
}

/** More rows than this are no notes below a table. */
const footerMax = 20;
/** Rows that show what stands in each column. */
const shownMax = 2_000;
/** The share of rows that have a text in a column which they need. */
const filledMin = 0.75;

/**
 * A count of rows takes away what stands last, whatever it is, so that it is proposed for rows alone that cannot be records. Totals that
 * have all that a record has, one for each period, are as many as there are periods: they go by their name.
 */
export function cutBelow(rows: readonly Row[], columns: readonly string[]): Below {
  const isBelow = testOf(rows, columns);
  let end = rows.length;
  const footer: Row[] = [];
  const cut = (test: (row: Row) => boolean): void => {
    for (let at = end - 1; at > 0 && footer.length < footerMax; at--) {
      const row = rows[at] as Row;
      if (isBlankRow(row)) continue;
      if (!test(row)) break;
      footer.unshift(row);
      end = at;
    }
  };
  cut(isBelow);
  let start = end;
  const names = new Map<number, Set<string>>();
  for (let at = end - 1; at > 0; at--) {
    const row = rows[at] as Row;
    if (isBlankRow(row)) continue;
    const column = row.findIndex((cell) => isTotalName(cell));
    if (column < 0) break;
    names.set(column, (names.get(column) ?? new Set()).add(row[column] ?? ''));
    start = at;
  }
  const above = rows.slice(0, start);
  const withTotals = (): Below => ({ keys: footerKey(footer), kept: rows.slice(0, end) });
  if (names.size === 1 && end - start === 1 && isStrokes(above.findLast((row) => !isBlankRow(row)))) {
    // A line below the table says that what follows is no row of it.
    cut((row) => isStrokes(row) || row.some((cell) => isTotalName(cell)));
    return withTotals();
  }
  const comesAgain = [...names].some(([at, texts]) => above.some((row) => texts.has(row[at] ?? '')));
  if (names.size !== 1 || comesAgain) return withTotals();
  const [[at, texts]] = [...names] as [[number, Set<string>]];
  const ref = refOf(columns, at, true);
  if (ref === undefined) return withTotals();
  return { keys: [whereKey(ref, [...texts].toReversed()), ...footerKey(footer)], kept: above };
}

function whereKey(ref: string, names: readonly string[]): Guess {
  return { key: 'where', value: { [ref]: { not: names } }, because: 'totals of the other rows, by their name' };
}

/** What a person is asked of totals that go by their name. */
export function doubtsOfWhere(keys: readonly Guess[]): readonly string[] {
  return keys
    .filter(({ key }) => key === 'where')
    .flatMap(({ value }) => Object.entries(value as Where))
    .map(
      ([ref, { not }]) =>
        `whether rows of ${JSON.stringify(ref)} that are called ${not.map((name) => JSON.stringify(name)).join(', ')} are totals of the others: "where" leaves them out; take it away where they are not`,
    );
}

/** Of files of one shape: what each leaves out. */
export function mergedWhere(keys: readonly Guess[]): readonly Guess[] {
  const found = keys.filter(({ key }) => key === 'where');
  const [first] = found;
  if (first === undefined) return [];
  const named = found.flatMap(({ value }) => Object.entries(value as Where));
  const merged = [...Map.groupBy(named, ([ref]) => ref)].map(([ref, tests]) => [
    ref,
    { not: [...new Set(tests.flatMap(([, { not }]) => not))] },
  ]);
  return [{ ...first, value: Object.fromEntries(merged) }];
}

type Where = Readonly<Record<string, { readonly not: readonly string[] }>>;

/** Whether a row at the end cannot be a record. */
function testOf(rows: readonly Row[], columns: readonly string[]): (row: Row) => boolean {
  const width = columns.length;
  const isSaid = (row: Row): boolean => row.slice(0, 3).some((cell) => words.totalRow.test(cell));
  const inUse = rows.filter((row) => !isBlankRow(row));
  const usual = median(inUse.map(filledIn));
  const shown = inUse.filter((row) => row.length === width && !isSaid(row) && !isStrokes(row)).slice(0, shownMax);
  const habits = profile(columns, shown, { form: 'text', hasPlaces: true }).columns.map((column) => {
    const filled = 1 - column.empty / Math.max(1, shown.length);
    const digits = shown.filter((row) => /^\d+$/.test(row[column.at] ?? '')).length;
    return {
      at: column.at,
      isTime: column.time !== undefined,
      // An amount may be missing; a date or a name may not.
      isKey: filled >= filledMin && (column.time !== undefined || column.number === undefined || isCode(column)),
      isAlways: column.empty === 0,
      isDigits: digits >= filledMin * shown.length,
    };
  });
  const keys = habits.filter(({ isKey }) => isKey);
  const lacks = (row: Row, among = keys): boolean => among.some(({ at }) => row[at] === '');
  // Names such as Total Wine are those of records too, unless these never come without what is missing there.
  const always = keys.filter(({ isAlways }) => isAlways);
  const isTotal = (row: Row): boolean =>
    row.some((cell, at) => isTotalName(cell) && (lacks(row) || habits[at]?.isTime === true)) ||
    (isSaid(row) && lacks(row, always));
  // A word where codes stand, and nothing where others have a name: `Result;;1.234,50`.
  const isResult = (row: Row): boolean =>
    lacks(row) && habits.some(({ at, isDigits }) => isDigits && /\p{L}/u.test(row[at] ?? ''));
  const isSparse = (row: Row): boolean => usual > 2 && filledIn(row) * 2 < usual && lacks(row);
  return (row) => row.length !== width || isStrokes(row) || isTotal(row) || isResult(row) || isSparse(row);
}

/** Nothing but a word for a total, with the unit of its numbers at most. */
function isTotalName(text: string): boolean {
  return words.totalAlone.test(text);
}

function isStrokes(row: Row | undefined): boolean {
  return row !== undefined && !isBlankRow(row) && row.every((cell) => /^[-=_]*$/.test(cell));
}

function filledIn(row: Row): number {
  return row.filter((cell) => cell !== '').length;
}

function footerKey(footer: readonly Row[]): Guess[] {
  const [first] = footer;
  if (first === undefined) return [];
  const text = first
    .filter((cell) => cell !== '')
    .join(' ')
    .slice(0, 40);
  return [{ key: 'footer', value: footer.length, because: `below the data: ${JSON.stringify(text)}` }];
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
