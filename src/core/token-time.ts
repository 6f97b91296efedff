/**
 * Moments written by Unicode tokens (`dd.MM.yyyy`), read by date-fns.
 *
 * `yy` means 1950 to 2049, since whatever a format leaves out comes from a fixed day, 2000-01-01: nothing depends on
 * today. Fractions of a second count to the millisecond, where there is more than digits in the format.
 */
import { createRequire } from 'node:module';
import type { Locale } from 'date-fns';
import { compileDigitTokens } from './digit-tokens.ts';
import type { FormatReader } from './time-format.ts';
import { compileMonthNames } from './month-names.ts';
import { quote } from './text.ts';

type Parse = typeof import('date-fns/parse');
type Format = typeof import('date-fns/format');

// Loaded when first used, and by `require`: 17 ms, where an import of date-fns takes 0.2 to 1 s.
const require = createRequire(import.meta.url);

/**
 * A Date whose local time is UTC, so that what date-fns computes depends neither on the process's zone nor on its
 * clock changes. date-fns makes its dates by the constructor of the one it is given.
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

/** Reads by `tokens`, white space of any kind being one space. @throws RangeError for an unknown locale */
export function compileTokens(tokens: string, localeName: string): FormatReader {
  const digits = compileDigitTokens(tokens);
  if (digits !== undefined) return digits;
  const { parse } = require('date-fns/parse') as Parse;
  const locale = loadLocale(localeName);
  if (locale === undefined) throw new RangeError(`unknown locale ${quote(localeName)}`);
  const options = { locale: withOwnMonthNames(locale, tokens), useAdditionalDayOfYearTokens: true };
  const format = tokens.replaceAll(/\s/g, ' ');
  const kind = kindOf(format);
  return (text) => {
    const written = text.normalize('NFC').replaceAll(/\s/g, ' ');
    const ms = parse(written, format, new WallDate(referenceMs), options).getTime();
    if (Number.isNaN(ms)) return `it does not fit the format ${tokens}`;
    const seconds = Math.floor(ms / 1000);
    return { kind, seconds, nanos: (ms - seconds * 1000) * 1_000_000 };
  };
}

/** What is wrong with `tokens`, for the config's author; `undefined` if every month can be read back from them. */
export function tokensProblem(tokens: string, localeName: string): string | undefined {
  const { format } = require('date-fns/format') as Format;
  const locale = loadLocale(localeName);
  if (locale === undefined) return localeProblem(localeName);
  const letters = unquoted(tokens);
  const shown = `format ${quote(tokens)}`;
  if (tokens === '') return 'the format is empty';
  // date-fns would also say this on the console.
  if (/Y/.test(letters)) return `${shown}: ${yearHint}`;
  if (/MMMMM|LLLLL/.test(letters)) return `${shown}: months of one letter cannot be told apart`;
  if (zoneTokens.test(letters) && !timeTokens.test(letters)) return `${shown}: a zone needs a time of day`;
  const read = compileTokens(tokens, localeName);
  try {
    for (let month = 0; month < 12; month++) {
      // Not the reference's year, and a first day of the month, whose week mostly begins in the month before.
      const written = new WallDate(Date.UTC(2026, month, 1, 13, 45, 56));
      const time = read(format(written, tokens, { locale, useAdditionalDayOfYearTokens: true }));
      if (typeof time === 'string')
        return `${shown}: not even what it writes in ${localeName} can be read back; ${otherFormats}`;
      const back = new Date(time.seconds * 1000);
      if (back.getUTCFullYear() !== 2026 && back.getUTCMonth() === month) return `${shown}: no year in it (yyyy)`;
      if (back.getUTCMonth() !== month) return `${shown}: no month in it (MM; mm is the minute)`;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${shown}: ${explainRefusal(error.message, letters)}`;
  }
  return undefined;
}

const otherFormats = "say iso, unix, unix-ms, or date-fns tokens with other letters in 'quotes'";
const yearHint = 'say yyyy for the year and dd for the day (YYYY and DD mean other things)';

/** date-fns's own words, shortened, with a hint at the usual slips. */
function explainRefusal(message: string, letters: string): string {
  if (/D/.test(letters)) return yearHint;
  const fact = message.replace(/^[A-Z]/, (first) => first.toLowerCase()).replace(/; see: .*$/, '');
  return `${fact}; ${otherFormats}`;
}

export function localeProblem(localeName: string): string | undefined {
  if (loadLocale(localeName) !== undefined) return undefined;
  return `unknown locale ${quote(localeName)}; say one of date-fns, such as en, de or fr`;
}

const locales = new Map<string, Locale | undefined>();

/** The date-fns locale of a name (`de`, `en-GB`, `de_DE`), or of its language where there is none for the country. */
function loadLocale(name: string): Locale | undefined {
  if (!locales.has(name)) {
    const tag = name.replace('_', '-');
    locales.set(name, requireLocale(tag === 'en' ? 'en-US' : tag) ?? requireLocale(tag.replace(/-.*/, '')));
  }
  return locales.get(name);
}

function requireLocale(tag: string): Locale | undefined {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z]{2,8})*$/.test(tag)) return undefined;
  try {
    return Object.values(require(`date-fns/locale/${tag}`) as Record<string, Locale>)[0];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return undefined;
    throw error;
  }
}

/** date-fns hands every month name to its locale, so that is where our own reading of them goes in. */
function withOwnMonthNames(locale: Locale, tokens: string): Locale {
  const readName = compileMonthNames(locale, /(?:MMM|LLL)\./.test(tokens) ? 'follows' : 'belongs');
  const month: Locale['match']['month'] = (text) => {
    const name = readName(text);
    return name === undefined ? null : { value: name.month as 0, rest: text.slice(name.length) };
  };
  return { ...locale, match: { ...locale.match, month } };
}

const timeTokens = /[abBhHkKmsSp]/;
const zoneTokens = /[xX]/;

function kindOf(tokens: string): 'date' | 'wall' | 'instant' {
  const letters = unquoted(tokens);
  if (/[tT]/.test(letters)) return 'instant';
  if (!timeTokens.test(letters)) return 'date';
  return zoneTokens.test(letters) ? 'instant' : 'wall';
}

const quoted = /''|'(?:''|[^'])+(?:'|$)/g;

function unquoted(tokens: string): string {
  return tokens.replaceAll(quoted, '');
}
