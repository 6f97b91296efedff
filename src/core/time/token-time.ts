/**
 * Moments written by Unicode tokens (`dd.MM.yyyy`), read by date-fns.
 *
 * `yy` means 1950 to 2049: whatever a format leaves out comes from the fixed day 2000-01-01, so nothing depends on today.
 * Fractions of a second count to the millisecond, unless the format has digits only.
 */
import { createRequire } from 'node:module';
import type { Locale } from 'date-fns';
import { compileDigitTokens, writeDigitTokens } from './digit-tokens.ts';
import { readDate } from './iso-time.ts';
import { clashingName, compileMonthNames } from './month-names.ts';
import type { FormatReader, ReadTime } from './time-format.ts';
import { quote } from '../text.ts';

type Parse = typeof import('date-fns/parse');
type Format = typeof import('date-fns/format');

// Loaded when first used, by `require`: that takes 17 ms, and an import of all of date-fns 0.2 to 1 s.
const require = createRequire(import.meta.url);

/**
 * A Date whose local time is UTC, so that date-fns does not depend on the zone of the process and its clock changes. date-fns makes
 * its dates with the constructor of the one it is given.
 */
class WallDate extends Date {
  override getTimezoneOffset(): number {
    return 0;
  }
}
for (const field of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'] as const) {
  Object.defineProperty(WallDate.prototype, `get${field}`, { value: Date.prototype[`getUTC${field}`] });
  if (field === 'Day') continue;
  Object.defineProperty(WallDate.prototype, `set${field}`, { value: Date.prototype[`setUTC${field}`] });
}

const referenceMs = Date.UTC(2000, 0, 1);

/**
 * Builds the reader of `tokens`. All white space counts as a space. Names are tried in each locale, in this order.
 * @throws RangeError for an unknown locale
 */
export function compileTokens(tokens: string, localeNames: readonly string[]): FormatReader {
  const digits = compileDigitTokens(tokens);
  if (digits !== undefined) return digits;
  const readers = localeNames.map((name) => compileInLocale(tokens, name));
  const [only] = readers;
  if (readers.length === 1 && only !== undefined) return only;
  const misfit = `it does not fit the format ${tokens} in any of ${localeNames.join(', ')}`;
  return (text) => {
    for (const read of readers) {
      const time = read(text);
      if (typeof time !== 'string') return time;
    }
    return misfit;
  };
}

function compileInLocale(tokens: string, localeName: string): FormatReader {
  const { parse } = require('date-fns/parse') as Parse;
  const options = { locale: withOwnNames(knownLocale(localeName), tokens), useAdditionalDayOfYearTokens: true };
  const format = tokens.replaceAll(/\s/g, ' ');
  const kind = kindOf(format);
  const months = tokenMonths(format);
  const parsed = (text: string): number => parse(text, format, new WallDate(referenceMs), options).getTime();
  return (text) => {
    const written = text.normalize('NFC').replaceAll(/\s/g, ' ');
    const ms = parsed(written);
    if (Number.isNaN(ms)) return missingDay(written, parsed) ?? `it does not fit the format ${tokens}`;
    const seconds = Math.floor(ms / 1000);
    return { kind, seconds, nanos: (ms - seconds * 1000) * 1_000_000, months };
  };
}

/** Says that the month of `29 February 2026` has no such day; `undefined` where something else does not fit. */
function missingDay(text: string, parsed: (text: string) => number): string | undefined {
  const [day, more] = text.match(/(?<![0-9])(?:29|30|31)(?![0-9])/g) ?? [];
  if (day === undefined || more !== undefined) return undefined;
  const date = new Date(parsed(text.replace(day, '28')));
  if (Number.isNaN(date.getTime())) return undefined;
  const misfit = readDate(date.getUTCFullYear(), date.getUTCMonth() + 1, Number(day));
  return typeof misfit === 'string' ? misfit : undefined;
}

/** How many calendar months a text of these tokens names: 1 for a month or less, 3 for a quarter, 12 for a year. */
export function tokenMonths(tokens: string): 1 | 3 | 12 {
  const letters = unquoted(tokens);
  if (monthTokens.test(letters)) return 1;
  return /[Qq]/.test(letters) ? 3 : 12;
}

/**
 * Why `tokens` cannot be used; `undefined` if every month, quarter or year can be read back from them in each of these locales,
 * which must be known ones.
 */
export function tokensProblem(tokens: string, localeNames: readonly string[]): string | undefined {
  // Of line breaks alone date-fns makes nothing at all, and fails.
  if (tokens.trim() === '') return 'the format is empty';
  const letters = unquoted(tokens);
  const shown = `format ${quote(tokens)}`;
  if (/week/i.test(tokens)) return `${shown}: ${weekReason}`;
  // date-fns would print this on the console too.
  if (/Y/.test(letters)) return `${shown}: ${yearHint}`;
  if (/MMMMM|LLLLL/.test(letters)) return `${shown}: months of one letter cannot be told apart`;
  // Noon would be midnight, and a day before in another zone. What `B` writes ("at night") is read as the morning too.
  if (/[hK]/.test(letters) && !/[ab]/.test(letters))
    return `${shown}: h and K count to 12 and need a beside them (am, pm); say HH for 24 hours`;
  if (zoneTokens.test(letters) && !timeTokens.test(letters)) return `${shown}: a zone needs a time of day`;
  if (/[IRw]/.test(letters) && !/[^GILMQRquwy\P{L}]/u.test(letters)) {
    return `${shown}: ${/[Iw]/.test(letters) ? weekReason : 'R is the year that weeks belong to; say yyyy'}`;
  }
  try {
    const problem = firstProblem(localeNames, (name) => readBackProblem(tokens, name)) ?? clash(tokens, localeNames);
    return problem && `${shown}: ${problem}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${shown}: ${explainRefusal(error.message, letters)}`;
  }
}

function firstProblem(names: readonly string[], problemOf: (name: string) => string | undefined): string | undefined {
  for (const name of names) {
    const problem = problemOf(name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The first day of each month of one year, as a locale writes it. @throws RangeError for unknown tokens */
function writeMonths(tokens: string, localeName: string): string[] {
  // Another year than the fixed one above; and first days of months, whose weeks mostly begin in the month before.
  const months = Array.from({ length: 12 }, (_, index) => ({ year: 2026, month: index + 1, day: 1 }));
  const digits = months.flatMap((day) => writeDigitTokens(tokens, day) ?? []);
  if (digits.length > 0) return digits;
  const { format } = require('date-fns/format') as Format;
  const options = { locale: knownLocale(localeName), useAdditionalDayOfYearTokens: true };
  return months.map(({ year, month, day }) =>
    format(new WallDate(Date.UTC(year, month - 1, day, 13, 45, 56)), tokens, options),
  );
}

function readBackProblem(tokens: string, localeName: string): string | undefined {
  const read = compileTokens(tokens, [localeName]);
  const months = tokenMonths(tokens);
  const noMonth = 'no month in it (MM; mm is the minute)';
  for (const [month, text] of writeMonths(tokens, localeName).entries()) {
    const time = read(text);
    if (typeof time === 'string') return `not even what it writes in ${localeName} can be read back; ${otherFormats}`;
    const back = new Date(time.seconds * 1000);
    const isMonth = back.getUTCMonth() === month - (month % months);
    if (back.getUTCFullYear() !== 2026 && isMonth) return 'no year in it (yyyy)';
    // A day or a minute beside a quarter or a year is a mistake for a month.
    if (!isMonth || (months > 1 && !/^[GQquyo\P{L}]*$/u.test(unquoted(tokens)))) return noMonth;
  }
  return undefined;
}

/** A name that means different months in two of the locales, such as `lip`: June in hr, July in pl. */
function clash(tokens: string, localeNames: readonly string[]): string | undefined {
  if (!/MMM|LLL/.test(unquoted(tokens))) return undefined;
  for (const [index, name] of localeNames.entries()) {
    for (const earlier of localeNames.slice(0, index)) {
      const shared = clashingName(knownLocale(earlier), knownLocale(name));
      if (shared === undefined) continue;
      return `${quote(shared)} is one month in ${earlier} and another in ${name}; give each an entry of its own`;
    }
  }
  return undefined;
}

const otherFormats =
  "say iso, unix, unix-ms, fiscal-year, fiscal-quarter, fiscal-period, decimal-month, excel-serial, or date-fns tokens with other letters in 'quotes'";
const yearHint = 'say yyyy for the year and dd for the day (YYYY and DD mean other things)';

/** Why weeks are not read, and what to do instead. */
export const weekReason = 'a week may lie in two months; export the day instead, such as the last day of the week';

/** The words of date-fns, shortened, with a hint for usual mistakes. */
function explainRefusal(message: string, letters: string): string {
  if (/D/.test(letters)) return yearHint;
  const fact = message.replace(/^[A-Z]/, (first) => first.toLowerCase()).replace(/; see: .*$/, '');
  return `${fact}; ${otherFormats}`;
}

export function localeProblem(localeName: string): string | undefined {
  if (moduleOf(localeName) !== undefined) return undefined;
  return `unknown locale ${quote(localeName)}; say one of date-fns, such as en, de or fr`;
}

export function knownLocale(name: string): Locale {
  const module = moduleOf(name);
  if (module === undefined) throw new RangeError(`unknown locale ${quote(name)}`);
  // Asking Node for a module that it has loaded already takes 50 us, and a reader of times is made for each part.
  const known = loaded.get(module);
  if (known !== undefined) return known;
  const locales = (builtIn[module]?.() ?? require(module)) as Record<string, Locale>;
  const [locale] = Object.values(locales);
  if (locale === undefined) throw new Error(`no locale in ${module}`);
  loaded.set(module, locale);
  return locale;
}

const loaded = new Map<string, Locale>();

/** Parts of the built files: finding one of the others makes Node read 200 KB of package.json, and ten small files. */
const builtIn: Readonly<Record<string, () => unknown>> = {
  'en-US': () => require('date-fns/locale/en-US'),
  de: () => require('date-fns/locale/de'),
};

const modules = new Map<string, string | undefined>();

/** The date-fns locale for a name (`de`, `en-GB`, `de_DE`), or else for its language: its file, or its name in `builtIn`. Loads nothing. */
function moduleOf(name: string): string | undefined {
  if (!modules.has(name)) {
    const tag = name.replace('_', '-');
    modules.set(name, resolveLocale(tag === 'en' ? 'en-US' : tag) ?? resolveLocale(tag.replace(/-.*/, '')));
  }
  return modules.get(name);
}

function resolveLocale(tag: string): string | undefined {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z]{2,8})*$/.test(tag)) return undefined;
  if (Object.hasOwn(builtIn, tag)) return tag;
  try {
    return require.resolve(`date-fns/locale/${tag}`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return undefined;
    throw error;
  }
}

/** date-fns asks the locale to read names and ordinals, so a locale of ours reads them our way. */
function withOwnNames(locale: Locale, tokens: string): Locale {
  const readName = compileMonthNames(locale, /(?:MMM|LLL)\./.test(tokens) ? 'follows' : 'belongs');
  const month: Locale['match']['month'] = (text) => {
    const name = readName(text);
    return name === undefined ? null : { value: name.month as 0, rest: text.slice(name.length) };
  };
  return { ...locale, match: { ...locale.match, month, ...withoutBareDigits(locale, tokens) } };
}

/**
 * For the name of a quarter, or the ordinal of a quarter or a month (`Q1`, `1st`), date-fns reads a bare digit too, and so takes
 * the month of another format in the list for a quarter. A digit is read only where the language writes no more than that.
 */
function withoutBareDigits(
  { match, localize }: Locale,
  tokens: string,
): Pick<Locale['match'], 'quarter' | 'ordinalNumber'> {
  const letters = unquoted(tokens);
  const width = /Q{5}|q{5}/.test(letters) ? 'narrow' : /Q{4}|q{4}/.test(letters) ? 'wide' : 'abbreviated';
  const hasLetter = (text: string): boolean => /\p{L}/u.test(text);
  const isDigitMeant = !hasLetter(localize.quarter(1, { width }));
  return {
    quarter: (text, options) => {
      const found = match.quarter(text, options);
      if (found === null || isDigitMeant) return found;
      return hasLetter(takenBy(text, found)) ? found : null;
    },
    ordinalNumber: (text, options) => {
      const found = match.ordinalNumber(text, options);
      const unit = options?.unit;
      if (found === null || (unit !== 'quarter' && unit !== 'month')) return found;
      const isBare = /^[0-9]+$/.test(takenBy(text, found));
      return isBare && !/^[0-9]+$/.test(localize.ordinalNumber(found.value, { unit })) ? null : found;
    },
  };
}

/** What of a text a match has read. */
function takenBy(text: string, { rest }: { readonly rest: string }): string {
  return text.slice(0, text.length - rest.length);
}

const timeTokens = /[abBhHkKmsSp]/;
const zoneTokens = /[xX]/;

// All other tokens name a day by itself or in a week, or a date in the locale's own order.
const monthTokens = /[MLDPtTIRw]/;
const dayTokens = /[dDPEceiw]/;

function kindOf(tokens: string): ReadTime['kind'] {
  const letters = unquoted(tokens);
  if (/[tT]/.test(letters)) return 'instant';
  if (!timeTokens.test(letters)) return dayTokens.test(letters) ? 'date' : 'months';
  return zoneTokens.test(letters) ? 'instant' : 'wall';
}

const quoted = /''|'(?:''|[^'])+(?:'|$)/g;

function unquoted(tokens: string): string {
  return tokens.replaceAll(quoted, '');
}
