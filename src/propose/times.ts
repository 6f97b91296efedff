/** Guesses how a column, or the headers of a wide table, write their dates and months. */
import { formatMonth } from '../core/time/month.ts';
import { compileTimeReader, formatMonths } from '../core/time/time.ts';
import type { Moment } from '../core/model.ts';
import { exchangedFormat } from '../core/time/day-month.ts';
import { type Counted, examples, words } from './evidence.ts';
import { type Fit, settleYear } from './years.ts';

export interface TimeGuess {
  /** As the config writes it; `iso` needs not be written. */
  readonly format: string;
  /** Of month names; `undefined` where there are none, or they are English. */
  readonly locale: string | undefined;
  /** How many calendar months a text names: 1, 3 or 12. */
  readonly months: number;
  readonly because: string;
  /** Other formats that read the texts too; none: it says no year by itself. */
  readonly doubt?: { readonly formats: readonly string[]; readonly because: string };
  /** Texts that it does not read: their rows will be rejects. */
  readonly strangers: readonly string[];
}

/** Languages of month names, the usual ones first. */
const locales = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'sv', 'da', 'nb', 'fi', 'cs', 'hu', 'tr', 'ro'];

const days = [
  'dd.MM.yyyy',
  'dd/MM/yyyy',
  'MM/dd/yyyy',
  'dd-MM-yyyy',
  'MM-dd-yyyy',
  'yyyy/MM/dd',
  'yyyy.MM.dd',
  'yyyy_MM_dd',
];
const shortDays = ['dd.MM.yy', 'dd/MM/yy', 'MM/dd/yy', 'dd-MM-yy', 'MM-dd-yy', 'yy/MM/dd', 'yy-MM-dd', 'yy.MM.dd'];
const clocks = ['', ' HH:mm', ' HH:mm:ss', ' hh:mm a', ' hh:mm:ss a'];
const months = ['MM/yyyy', 'MM.yyyy', 'MM-yyyy', 'yyyy/MM', 'yyyy.MM', 'yyyy_MM', 'MM_yyyy', 'MM/yy'];
/** `2024M01`, as statistics offices write it. */
const lettered = ["yyyy'M'MM", "yyyy-'M'MM", "yyyy 'M'MM", "'M'MM-yyyy", "'M'MM yyyy", "'M'MMyyyy"];
const named = [
  'MMM yyyy',
  'MMM-yyyy',
  'MMM/yyyy',
  'MMM, yyyy',
  'MMMyyyy',
  'MMM yy',
  "MMM ''yy",
  'MMM-yy',
  'MMM/yy',
  'MMM.yy',
  'yyyy MMM',
  'yyyy-MMM',
  'yy-MMM',
  'dd MMM yyyy',
  'dd-MMM-yyyy',
  'dd-MMM-yy',
  'dd. MMM yyyy',
  'dd/MMM/yyyy',
  'MMM dd, yyyy',
];

/** How many texts each format is tried on before it is dropped. */
const triedFirst = 40;
/** The share of distinct texts that a format has to read. */
const shareMin = 0.95;
const yearMin = 1800;
const yearMax = 2150;

/** @param name of the column: its words decide where numbers could be times */
export function guessTimes(texts: Counted, name: string): TimeGuess | undefined {
  const distinct = [...texts.keys()];
  if (distinct.length === 0) return undefined;
  const sample = distinct.slice(0, triedFirst);
  const isNamed = words.time.test(name);
  const isNumeric = sample.every((text) => /^[\d.,\s]+$/.test(text) && !/^\d+[./-]\d+[./-]\d+/.test(text));
  // Amounts such as 202401 read as months too: they need a name that says so, or many that all fit.
  if (isNumeric && !isNamed && !(distinct.length >= 6 && isCompact(sample))) return undefined;
  return firstFit(distinct, candidatesFor(sample, isNamed), undefined) ?? firstNamed(distinct);
}

/** Dates without any mark. */
function isCompact(texts: readonly string[]): boolean {
  return texts.every((text) => /^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?$/.test(text));
}

function candidatesFor(sample: readonly string[], isNamed: boolean): string[] {
  const all = (pattern: RegExp): boolean => sample.every((text) => pattern.test(text));
  if (all(/^\d{4}$/)) return isNamed ? ['yyyy'] : [];
  if (all(/^\d{6}$/)) return ['yyyyMM'];
  if (all(/^-?\d{9,10}$/)) return isNamed ? ['unix'] : [];
  if (all(/^-?\d{12,13}$/)) return isNamed ? ['unix-ms'] : [];
  if (all(/^[2-6]\d{4}([.,]\d+)?$/)) return isNamed ? ['excel-serial'] : [];
  if (all(/^(19|20)\d{2}[.,](0?\d|1[0-2]?)$/)) return isNamed ? ['yyyy.MM', 'decimal-month'] : [];
  if (all(/^\d{4}[- ]?M\d{1,2}$|^M\d{1,2}[- ]?\d{4}$/)) return lettered;
  if (sample.some((text) => /Q|quarter/i.test(text))) return ['fiscal-quarter'];
  if (sample.some((text) => /\bP(er|eriod)?\.? ?\d/i.test(text))) return ['fiscal-period'];
  if (sample.some((text) => /^FY ?\d{2}/i.test(text))) return ['fiscal-year'];
  const dates = [...days, ...shortDays].flatMap((date) => clocks.map((clock) => date + clock));
  return ['iso', ...dates, ...months];
}

/** The formats with month names, in the first language that has them all. */
function firstNamed(distinct: readonly string[]): TimeGuess | undefined {
  if (!distinct.slice(0, triedFirst).every((text) => /\p{L}{3}/u.test(text) && /\d{2}/.test(text))) return undefined;
  for (const locale of locales) {
    const found = firstFit(distinct, named, locale);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstFit(
  distinct: readonly string[],
  formats: readonly string[],
  locale: string | undefined,
): TimeGuess | undefined {
  const fits = formats.flatMap((format) => fit(distinct, format, locale) ?? []);
  const most = fits.reduce((max, { read }) => Math.max(max, read.length), 0);
  const best = fits.filter(({ read }) => read.length === most);
  const { kept, others } = settleYear(best);
  const [first] = kept;
  if (first === undefined) return undefined;
  const exchanged = exchangedFormat(first.format);
  const other = kept.find(({ format }) => format === exchanged);
  const guess = other === undefined ? guessOf(first, locale, distinct) : settle(first, other, distinct);
  const alternatives = [...(guess.doubt?.formats ?? []), ...others.map(({ format }) => format)];
  const because =
    others.length > 0
      ? orderDoubt([guess.format, ...alternatives].flatMap((format) => best.find((one) => one.format === format) ?? []))
      : yearlessDoubt(first);
  if (because === undefined) return guess;
  const chosen = guess.format === first.format ? first : (other ?? first);
  return { ...guess, because: `${because}${spanOf(chosen.read)}`, doubt: { formats: alternatives, because } };
}

/** Which other months a text could be of, where the year may stand first or last. */
function orderDoubt(fits: readonly Fit[]): string {
  const readings = (text: string): readonly string[] => [
    ...new Set(
      fits.flatMap(({ read, texts }) => {
        const moment = read[texts.indexOf(text)];
        return moment === undefined ? [] : [formatMonth(moment.month)];
      }),
    ),
  ];
  const texts = fits[0]?.texts.slice(0, triedFirst) ?? [];
  const text = texts.find((one) => readings(one).length > 1) ?? texts[0] ?? '';
  const what = fits.length === 2 ? 'the year may stand first or last' : 'day, month and year may stand in any order';
  const could = readings(text);
  const listed = `${could.slice(0, -1).join(', ')} or ${could.at(-1)}`;
  return `undecided: ${what}, so ${JSON.stringify(text)} could be ${listed}: ask whoever makes the export`;
}

/** `01/02` may be a day and a month as well, and so may `15-Jan`. */
function yearlessDoubt({ format, texts, read }: Fit): string | undefined {
  const day = format === 'MM/yy' ? /\/(0\d|1[0-2])$/ : format === 'yy-MMM' ? /^(0[1-9]|[12]\d|3[01])\D/ : undefined;
  if (day === undefined || !texts.every((text) => day.test(text))) return undefined;
  return `undecided: ${JSON.stringify(texts[0] ?? '')} is read as ${formatMonth(read[0]?.month ?? 0)}, and could be a day and a month without a year: ask whoever makes the export`;
}

/** `undefined` where too few texts fit. */
function fit(distinct: readonly string[], format: string, locale: string | undefined): Fit | undefined {
  const reader = compileTimeReader(
    { formats: [format], locales: [locale ?? 'en'], timezone: undefined, fiscalYear: undefined },
    'UTC',
  );
  const read: Moment[] = [];
  const texts: string[] = [];
  const strangers: string[] = [];
  for (const [index, text] of distinct.entries()) {
    const moment = reader(text);
    const year = typeof moment === 'string' ? 0 : Math.floor(moment.month / 12);
    if (typeof moment === 'string' || year < yearMin || year > yearMax) strangers.push(text);
    else {
      read.push(moment);
      texts.push(text);
    }
    if (index === triedFirst && read.length < triedFirst / 2) return undefined;
  }
  return read.length >= shareMin * distinct.length && read.length > 0 ? { format, read, texts, strangers } : undefined;
}

function guessOf(
  { format, strangers, read }: Fit,
  locale: string | undefined,
  distinct: readonly string[],
  decided?: string,
): TimeGuess {
  const exchanged = exchangedFormat(format);
  const day = exchanged === undefined ? undefined : distinct.find((text) => hasDayAbove12(text));
  const because =
    decided ?? (day === undefined ? `such as ${examples(distinct)}` : `${JSON.stringify(day)} has a day above 12`);
  return {
    format,
    locale: locale === 'en' ? undefined : locale,
    months: formatMonths({ formats: [format], locales: ['en'], timezone: undefined, fiscalYear: undefined }),
    because: `${because}${spanOf(read)}`,
    strangers,
  };
}

function hasDayAbove12(text: string): boolean {
  const [, first, second] = /^(\d{1,2})[./-](\d{1,2})[./-]/.exec(text) ?? [];
  return Number(first) > 12 || Number(second) > 12;
}

/** From the first month to the last one that gets a value: those of a quarter or a year all do, see `spreadLine`. */
function spanOf(read: readonly Moment[]): string {
  const first = read.reduce((least, { month }) => Math.min(least, month), Infinity);
  const last = read.reduce((most, { month, months: all }) => Math.max(most, month + all - 1), -Infinity);
  return first === last ? `; all of ${formatMonth(first)}` : `; ${formatMonth(first)} to ${formatMonth(last)}`;
}

/** Day and month could be exchanged in every text: the one that makes more sense, and the other as a doubt. */
function settle(first: Fit, other: Fit, distinct: readonly string[]): TimeGuess {
  const [a, b] = [first, other].map((one) => ({ one, days: daysOf(one.read) })) as [Reading, Reading];
  // Exports of months have one day in each: always the first.
  if (a.days.size === 1 && b.days.size > 1) return guessOf(first, undefined, distinct, sameDay(first, a));
  if (b.days.size === 1 && a.days.size > 1) return guessOf(other, undefined, distinct, sameDay(other, b));
  const exchanged = new Map(other.texts.map((text, at) => [text, other.read[at]?.month]));
  const at = first.texts.findIndex((text, index) => exchanged.get(text) !== first.read[index]?.month);
  // Such as 02/02/2024: it makes no difference.
  if (at < 0) return guessOf(first, undefined, distinct);
  const text = first.texts[at] ?? '';
  const because = `undecided: no day is above 12, so ${JSON.stringify(text)} could be ${formatMonth(first.read[at]?.month ?? 0)} or ${formatMonth(exchanged.get(text) ?? 0)}: ask whoever makes the export`;
  return {
    ...guessOf(first, undefined, distinct, because),
    doubt: { formats: [other.format], because },
  };
}

interface Reading {
  readonly one: Fit;
  readonly days: ReadonlySet<number>;
}

function sameDay({ format }: Fit, { days: all }: Reading): string {
  return `as ${format} every date is day ${[...all].join('')} of its month, as in exports by month`;
}

function daysOf(read: readonly Moment[]): ReadonlySet<number> {
  return new Set(read.map(({ seconds }) => new Date(seconds * 1000).getUTCDate()));
}

/** Month names without a year, as headers beside a column of years; the locale that has them all. */
export function monthNamesLocale(texts: readonly string[]): string | undefined {
  if (!texts.every((text) => /^\p{L}{3,}\.?$/u.test(text))) return undefined;
  return locales.find((locale) => {
    const reader = compileTimeReader(
      { formats: ['yyyy MMM'], locales: [locale], timezone: undefined, fiscalYear: undefined },
      'UTC',
    );
    return texts.every((text) => typeof reader(`2000 ${text}`) !== 'string');
  });
}
