/** Which columns of a long table say when: dates, months, years, or months and periods beside a year. */
import { examples, ownName, total, words } from './evidence.ts';
import { type Column, type Table, isYears, placeOf, shownName } from './profile.ts';
import { type TimeGuess, monthNamesLocale } from './times.ts';

export interface When extends Pick<TimeGuess, 'format' | 'locale' | 'months' | 'because' | 'doubt'> {
  /** A template. */
  readonly from: string;
  readonly columns: readonly Column[];
  readonly strangers: readonly string[];
  /** Other columns that name times. */
  readonly others: readonly Column[];
  /** The text that the template gives, from those of its columns; without it they are joined by a space. */
  readonly joined?: (texts: readonly string[]) => string;
  /** Numbers of periods, and those of them that are no months. */
  readonly periods?: { readonly column: Column; readonly special: readonly string[] };
}

/** `undefined` where no column names a time. */
export function findWhen({ columns }: Table): When | undefined {
  const named = columns.filter(({ ref }) => ref !== undefined);
  const dated = named.filter((column) => column.time !== undefined && !isYears(column));
  const monthly = dated.filter(({ time }) => time?.months === 1);
  const best = (monthly.length > 0 ? monthly : dated).toSorted((a, b) => timeScore(b) - timeScore(a));
  const [first] = best;
  const pair = yearAndMonth(named) ?? joinedPeriod(named);
  if (pair !== undefined && (first === undefined || first.time?.months !== 1)) return pair;
  if (first?.time !== undefined) {
    const others = new Set([...dated, ...(pair?.columns ?? [])]);
    others.delete(first);
    return { ...first.time, from: `{${first.ref}}`, columns: [first], others: [...others] };
  }
  const year = named.find((column) => isYears(column));
  if (year === undefined) return undefined;
  return {
    format: 'yyyy',
    locale: undefined,
    months: 12,
    because: `years, such as ${examples(year.texts.keys())}`,
    from: `{${year.ref}}`,
    columns: [year],
    strangers: [],
    others: [],
  };
}

/** A name that says so, texts in every row, and no other reading as a number. */
function timeScore({ name, texts, empty, number }: Column): number {
  const filled = total(texts);
  const usual = /^(date|datum|month|monat|period|stichtag|posting.?date|buchungsdatum|day|time)$/i.test(name) ? 2 : 0;
  return (
    usual + (words.time.test(name) ? 2 : 0) + filled / Math.max(1, filled + empty) + (number === undefined ? 0.5 : 0)
  );
}

/** The time of a row, as its template gives it. */
export function textOf({ columns, joined }: When, row: readonly string[]): string {
  const texts = columns.map(({ at }) => row[at] ?? '');
  return joined === undefined ? texts.join(' ') : joined(texts);
}

/** Periods that are no months: opening balances, and adjustments at the end of a year. */
function specialOf(numbers: readonly string[]): readonly string[] {
  return numbers.filter((text) => Number(text) === 0 || Number(text) > 12);
}

const bare = { locale: undefined, months: 1, strangers: [], others: [] } as const;

/** A column of years and one of months. */
function yearAndMonth(columns: readonly Column[]): When | undefined {
  const year = columns.find((column) => isYears(column));
  const month = columns.find((column) => column !== year && words.month.test(ownName(column.name)) && isMonths(column));
  if (year === undefined || month === undefined) return undefined;
  const all = [...month.texts.keys()];
  const because = `the year stands in ${placeOf(year)}, the month in ${JSON.stringify(month.name)}`;
  const base = { ...bare, because, columns: [year, month] };
  const locale = monthNamesLocale(all);
  if (locale !== undefined) {
    const from = `{${year.ref}} {${month.ref}}`;
    return { ...base, format: 'yyyy MMM', locale: locale === 'en' ? undefined : locale, from };
  }
  const special = specialOf(all);
  const isPeriod =
    special.length > 0 || words.period.test(ownName(month.name)) || all.some((text) => /^0\d\d$/.test(text));
  if (!isPeriod) return { ...base, format: 'yyyy MM', from: `{${year.ref}} {${month.ref}}` };
  return {
    ...base,
    format: 'fiscal-period',
    from: `P{${month.ref}} FY{${year.ref}}`,
    joined: ([inYear = '', number = '']) => `P${number} FY${inYear}`,
    periods: { column: month, special },
  };
}

function isMonths({ texts }: Column): boolean {
  const all = [...texts.keys()];
  const isNumbered = all.every((text) => /^0{0,2}\d$|^0?1[0-6]$/.test(text)) && specialOf(all).length < all.length;
  return all.length > 0 && (isNumbered || monthNamesLocale(all) !== undefined);
}

/** `001.2026`, `2026001`, `2026/001`: as ledgers write a period of three digits in one column. */
const joinedShapes = [
  { shape: /^0(0\d|1[0-6])[./-]?(19|20)\d\d$/, period: String.raw`^\d{3}`, year: String.raw`\d{4}$` },
  { shape: /^(19|20)\d\d[./-]?0(0\d|1[0-6])$/, period: String.raw`\d{3}$`, year: String.raw`^\d{4}` },
] as const;

function joinedPeriod(columns: readonly Column[]): When | undefined {
  for (const column of columns) {
    const all = [...column.texts.keys()];
    const found = joinedShapes.find(({ shape }) => all.length > 0 && all.every((text) => shape.test(text)));
    if (found === undefined || !(words.month.test(ownName(column.name)) || words.time.test(column.name))) continue;
    const special = all.filter((text) => specialOf([pick(found.period, text)]).length > 0);
    return {
      ...bare,
      format: 'fiscal-period',
      from: `P{${column.ref}|match:${found.period}} FY{${column.ref}|match:${found.year}}`,
      joined: ([text = '']) => `P${pick(found.period, text)} FY${pick(found.year, text)}`,
      because: `a period and its year, such as ${examples(all)}`,
      columns: [column],
      periods: { column, special },
    };
  }
  return undefined;
}

function pick(pattern: string, text: string): string {
  return new RegExp(pattern).exec(text)?.[0] ?? '';
}

/** What a person has to know of periods, and of years that stand beside them. */
export function doubtsOfPeriods(when: When, columns: readonly Column[]): readonly string[] {
  const { periods, months } = when;
  if (periods !== undefined) {
    const { column, special } = periods;
    const shown = examples(special, 6);
    return [
      `whether period 1 is January: ${shownName(column)} numbers periods; where the year starts in another month, say so beside "files", such as fiscalYear: { startsIn: April }`,
      ...(special.length === 0
        ? []
        : [
            `periods ${shown} have no month of their own, and "where" leaves their rows out; or count adjustments as period 12 with maps`,
          ]),
    ];
  }
  if (months !== 12) return [];
  const beside = columns.find((column) => !when.columns.includes(column) && words.month.test(ownName(column.name)));
  if (beside === undefined) return [];
  return [
    `${shownName(beside)} seems to name months, and its texts are not understood, such as ${examples(beside.texts.keys())}: ${when.from} is taken for the time, so that each number counts for all months of its year`,
  ];
}
