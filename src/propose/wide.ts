/** Finds the columns of a wide table that stand for months, quarters or years. */
import { type Counted, words } from './evidence.ts';
import { escaped } from './escaped.ts';
import { type TimeGuess, guessTimes, monthNamesLocale } from './times.ts';
import { type Column, type Table, isYears, placeOf } from './profile.ts';

export interface Wide {
  /** A pattern of these headers, and of no others of the table. */
  readonly pattern: string;
  readonly headers: readonly string[];
  /** The new column of the header, or of its part that names a time. */
  readonly timeColumn: string;
  /** The new column of what else the header says, such as `Actual` of `Actual 2024-01`. */
  readonly measureColumn: string | undefined;
  /** Of the text that `from` gives. */
  readonly time: Pick<TimeGuess, 'format' | 'locale' | 'months' | 'because' | 'doubt'>;
  readonly from: string;
  /** A column beside these that the time needs: the year. */
  readonly yearColumn: string | undefined;
}

/** Fewer headers that name times make no wide table. */
const headersMin = 2;

export function findWide(table: Table): Wide | undefined {
  return months(table) ?? monthsOfYear(table) ?? measuresByMonth(table);
}

/** Headers that are times by themselves: `2024-01`, `Jan 24`, `Q1 2024`, `2023`. */
function months({ columns }: Table): Wide | undefined {
  const headers = columns
    .filter(({ name, number }) => /\d/.test(name) && isValue(number, name))
    .map(({ name }) => name);
  const found = largestFit(headers);
  if (found === undefined) return undefined;
  const { time, fitting } = found;
  const timeColumn = freeName(columns, time.months === 12 ? 'year' : time.months === 3 ? 'quarter' : 'month');
  return {
    pattern: patternOf(fitting, columns),
    headers: fitting,
    timeColumn,
    measureColumn: undefined,
    time,
    from: `{${timeColumn}}`,
    yearColumn: undefined,
  };
}

/** A column that is empty as yet may be one of a month to come. */
function isValue(number: Column['number'], name: string): boolean {
  return number !== undefined || name !== '';
}

function largestFit(
  headers: readonly string[],
): { readonly time: TimeGuess; readonly fitting: readonly string[] } | undefined {
  const shapes = Map.groupBy(headers, (header) =>
    header
      .replaceAll(/\d/g, '0')
      .replaceAll(/\p{L}+\.?/gu, 'a')
      .replaceAll(/0+/g, '0'),
  );
  const groups = [...shapes.values()].toSorted((a, b) => b.length - a.length);
  for (const fitting of groups) {
    const isYear = fitting.every((header) => /^(19|20)\d{2}$/.test(header));
    if (fitting.length < headersMin && !(isYear && fitting.length > 0)) return undefined;
    if (
      fitting.every((header) => /^\d+$/.test(header)) &&
      !isYear &&
      !fitting.every((header) => /^(19|20)\d{4}(\d\d)?$/.test(header))
    )
      continue;
    // A sheet with months often has a column for the year that they add up to: `2026 Total` behind `2026 Dec`.
    const monthly = fitting.filter((header) => !isSum(header));
    for (const tried of monthly.length === fitting.length ? [fitting] : [fitting, monthly]) {
      if (tried.length < Math.min(headersMin, fitting.length)) continue;
      const time = guessTimes(counted(tried), 'month');
      if (time !== undefined && time.strangers.length === 0) return { time, fitting: tried };
    }
  }
  return undefined;
}

function isSum(header: string): boolean {
  return words.total.test(header) || /(^|[^\p{L}])(FY|GJ|YTD|full year|Jahr|year)([^\p{L}]|$)/iu.test(header);
}

function counted(texts: readonly string[]): Counted {
  return new Map(texts.map((text) => [text, 1]));
}

/** `Jan` to `Dec`, or `1` to `12`, beside a column of years. */
function monthsOfYear({ columns }: Table): Wide | undefined {
  const year = columns.find((column) => column.ref !== undefined && isYears(column));
  if (year === undefined) return undefined;
  const names = columns.map(({ name }) => name);
  const numbered = names.filter((name) => /^(M|P)?(0?[1-9]|1[0-2])$/i.test(name));
  const worded = longestMonthNames(names);
  const headers = worded.headers.length >= numbered.length ? worded.headers : numbered;
  if (headers.length < headersMin) return undefined;
  const timeColumn = freeName(columns, 'month');
  const isNumbered = headers === numbered;
  if (isNumbered && headers.some((header) => /^\D/.test(header))) return undefined;
  return {
    pattern: `^(${headers.map(escaped).join('|')})$`,
    headers,
    timeColumn,
    measureColumn: undefined,
    time: {
      format: isNumbered ? 'yyyy MM' : 'yyyy MMM',
      locale: isNumbered || worded.locale === 'en' ? undefined : worded.locale,
      months: 1,
      because: `the year stands in ${placeOf(year)}, the month in the header`,
    },
    from: `{${year.ref}} {${timeColumn}}`,
    yearColumn: year.name,
  };
}

function longestMonthNames(names: readonly string[]): { readonly headers: readonly string[]; readonly locale: string } {
  const texts = names.filter((name) => /^\p{L}{3,}\.?$/u.test(name));
  const english = texts.filter((name) => monthNamesLocale([name]) !== undefined);
  const locale = monthNamesLocale(english);
  return locale === undefined ? { headers: [], locale: 'en' } : { headers: english, locale };
}

/** Headers with a month and something else: `Actual 2024-01`, `Jan 2024 Plan`. */
function measuresByMonth({ columns }: Table): Wide | undefined {
  const names = columns.map(({ name }) => name).filter((name) => /\d/.test(name));
  for (const side of ['behind', 'before'] as const) {
    const cut = names.flatMap((name) => cutMonth(name, side) ?? []);
    if (cut.length < headersMin * 2) continue;
    const time = guessTimes(counted([...new Set(cut.map(({ month }) => month))]), 'month');
    const measures = new Set(cut.map(({ measure }) => measure));
    if (time === undefined || time.strangers.length > 0 || measures.size * 2 > cut.length) continue;
    const timeColumn = freeName(columns, 'month');
    const measureColumn = freeName(columns, 'measure');
    const month = `(?<${timeColumn}>${generalised(cut.map((one) => one.month))})`;
    const measure = `(?<${measureColumn}>${[...measures].map(escaped).join('|')})`;
    const { mark } = cut[0] as Cut;
    return {
      pattern: side === 'behind' ? `^${measure}${escaped(mark)}${month}$` : `^${month}${escaped(mark)}${measure}$`,
      headers: cut.map(({ header }) => header),
      timeColumn,
      measureColumn,
      time,
      from: `{${timeColumn}}`,
      yearColumn: undefined,
    };
  }
  return undefined;
}

interface Cut {
  readonly header: string;
  readonly measure: string;
  readonly mark: string;
  readonly month: string;
}

const monthText = String.raw`\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{4}|\p{L}{3,9}\.?[ \-]\d{2,4}|\d{4} \p{L}{3,9}|(?:19|20)\d{4}|\d{4}[ \-]?M\d{1,2}|Q[1-4][ \-]?\d{4}|\d{4}[ \-]?Q[1-4]`;
const monthBehind = new RegExp(`^(.*\\S)([ _:|-]+)(${monthText})$`, 'u');
const monthBefore = new RegExp(`^(${monthText})([ _:|-]+)(.*\\S)$`, 'u');

function cutMonth(header: string, side: 'behind' | 'before'): Cut | undefined {
  const found = (side === 'behind' ? monthBehind : monthBefore).exec(header);
  if (found === null) return undefined;
  const [, first = '', mark = '', last = ''] = found;
  return side === 'behind'
    ? { header, measure: first, mark, month: last }
    : { header, measure: last, mark, month: first };
}

/** A pattern that months to come will match too, where it matches no other column. */
function patternOf(headers: readonly string[], columns: readonly Column[]): string {
  for (const wording of ['any word', 'these words'] as const) {
    const general = `^${generalised(headers, wording)}$`;
    const pattern = new RegExp(general, 'u');
    if (columns.every(({ name }) => !pattern.test(name) || headers.includes(name))) return general;
  }
  return `^(${headers.map(escaped).join('|')})$`;
}

function generalised(headers: readonly string[], wording: 'any word' | 'these words' = 'any word'): string {
  const pieces = headers.map((header) => header.match(/\d+|\p{L}+|[^\d\p{L}]+/gu) ?? []);
  const [first = []] = pieces;
  if (pieces.some(({ length }) => length !== first.length)) return `(?:${headers.map(escaped).join('|')})`;
  return first
    .map((_piece, at) => {
      const texts = pieces.map((one) => one[at] ?? '');
      const distinct = [...new Set(texts)];
      if (texts.every((text) => /^\d+$/.test(text))) return digitsOf(texts);
      if (distinct.length === 1) return escaped(distinct[0] ?? '');
      return wording === 'any word' && texts.every((text) => /^\p{L}+$/u.test(text))
        ? String.raw`\p{L}+`
        : `(?:${distinct.map(escaped).join('|')})`;
    })
    .join('');
}

function digitsOf(texts: readonly string[]): string {
  const lengths = texts.map(({ length }) => length);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  return least === most ? `\\d{${least}}` : `\\d{${least},${most}}`;
}

/** A name that no column has. */
export function freeName(columns: readonly { readonly name: string }[], wanted: string): string {
  const isFree = (name: string): boolean => columns.every((column) => column.name !== name);
  if (isFree(wanted)) return wanted;
  for (let number = 2; ; number++) if (isFree(`${wanted}${number}`)) return `${wanted}${number}`;
}
