/**
 * Names of months, in any language. date-fns writes them well but reads them badly: 23 of its 95 locales do not read their
 * own names back, six of these confuse months, and all read `J` as January. So this file matches the names that date-fns writes and
 * those that Intl knows.
 */
import type { Locale } from 'date-fns';

/** Abbreviations in use that date-fns does not write, by language; Intl writes a few of them. */
const furtherNames: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  bg: { ян: 0, септ: 8, ноем: 10 },
  cs: { brez: 2, kvet: 4, list: 10, pros: 11 },
  da: { sept: 8 },
  de: { jänner: 0, jän: 0, jaenner: 0, jaen: 0, feber: 1, mrz: 2, maer: 2, maerz: 2, sept: 8 },
  el: { σεπτ: 8 },
  en: { sept: 8 },
  es: { set: 8, sept: 8, setiembre: 8 },
  et: { jan: 0, veb: 1, mar: 2, jun: 5, jul: 6, sep: 8 },
  // `mar` would be marraskuu (November), but could also be taken for March.
  fi: { tam: 0, hel: 1, maa: 2, huh: 3, tou: 4, kes: 5, hei: 6, syy: 8, lok: 9, jou: 11 },
  fr: { jan: 0, fev: 1, mar: 2, jun: 5, jul: 6, juill: 6, aou: 7, sep: 8 },
  hu: { feb: 1, mar: 2, szep: 8 },
  it: { genn: 0, febb: 1, magg: 4, giug: 5, lugl: 6, sett: 8 },
  lv: { jan: 0, feb: 1, mar: 2, mai: 4, sep: 8 },
  nb: { sept: 8 },
  nl: { maa: 2, sept: 8 },
  nn: { sept: 8 },
  pl: { stycz: 0, kwiec: 3, czerw: 5, sierp: 7, wrzes: 8, pazdz: 9, listop: 10, grudz: 11 },
  ru: { сен: 8, ноя: 10 },
  sv: { mar: 2, jun: 5, jul: 6, sept: 8 },
};

/**
 * Locales for which Intl writes no month that is not known without it. To ask it all the same would cost a process that makes no other
 * format 11 ms of CPU time and 7 MB.
 */
export const withoutIntl: ReadonlySet<string> = new Set(
  'cs da de de-AT en-AU en-CA en-GB en-IE en-IN en-NZ en-US en-ZA es fi fr fr-CA fr-CH hu it it-CH nl nl-BE pl pt pt-BR sk sl sv tr'.split(
    ' ',
  ),
);

interface MonthName {
  /** 0 to 11 */
  readonly month: number;
  /** How many UTF-16 units of the text it takes, with its full stop. */
  readonly length: number;
}

/**
 * Builds the reader of the month name that a text begins with, long or short, in any case, with or without accents. A name that
 * could be two months in this language is not read.
 * @param stop `belongs` where a full stop after a short name is part of it, `follows` where the format has one of its own
 */
export function compileMonthNames(
  locale: Locale,
  stop: 'belongs' | 'follows',
): (text: string) => MonthName | undefined {
  const names = [...collectNames(locale)].sort(([a], [b]) => b.length - a.length);
  const lengthMax = names[0]?.[0].length ?? 0;
  const stops = stop === 'belongs' ? '.' : '..';
  return (text) => {
    const start = fold(text.slice(0, lengthMax));
    const found = names.find(([name]) => start.startsWith(name));
    if (found === undefined) return undefined;
    const [{ length }, month] = found;
    return { month, length: text.startsWith(stops, length) ? length + 1 : length };
  };
}

/** A name that stands for one month in `a` and for another in `b`. */
export function clashingName(a: Locale, b: Locale): string | undefined {
  const others = collectNames(b);
  for (const [name, month] of collectNames(a)) {
    if ((others.get(name) ?? month) !== month) return name;
  }
  return undefined;
}

/** By locale. With Intl, making the names of one takes 10 ms and, until it is collected, 5 MB; a config has few locales. */
const known = new Map<string, ReadonlyMap<string, number>>();

function collectNames(locale: Locale): ReadonlyMap<string, number> {
  let names = known.get(locale.code);
  if (names === undefined) {
    names = unambiguousNames(locale);
    known.set(locale.code, names);
  }
  return names;
}

function unambiguousNames(locale: Locale): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  const ambiguous = new Set<string>();
  const add = (written: string, month: number): void => {
    const name = fold(written.normalize('NFC')).replace(/\.$/, '');
    // Intl writes some months as plain numbers.
    if (!/\p{L}/u.test(name)) return;
    if ((names.get(name) ?? month) !== month) ambiguous.add(name);
    names.set(name, month);
  };
  for (const write of monthWriters(locale)) {
    for (let month = 0; month < 12; month++) add(write(month), month);
  }
  const language = locale.code.replace(/-.*/, '');
  for (const [name, month] of Object.entries(furtherNames[language] ?? {})) add(name, month);
  for (const name of ambiguous) names.delete(name);
  return names;
}

type MonthWriter = (month: number) => string;

/** Ways in which date-fns and Intl write a month, alone and within a date ("mars", "1 марта"). */
function monthWriters(locale: Locale): MonthWriter[] {
  return (['long', 'short'] as const).flatMap((style) => {
    const width = style === 'long' ? 'wide' : 'abbreviated';
    // Some locales use another calendar than the Gregorian one.
    const options = { month: style, calendar: 'gregory', timeZone: 'UTC' } as const;
    return [
      (month) => locale.localize.month(month as 0, { width, context: 'formatting' }),
      (month) => locale.localize.month(month as 0, { width, context: 'standalone' }),
      ...(withoutIntl.has(locale.code)
        ? []
        : [intlWriter(locale.code, options), intlWriter(locale.code, { ...options, day: 'numeric' })]),
    ];
  });
}

function intlWriter(tag: string, options: Intl.DateTimeFormatOptions): MonthWriter {
  const format = new Intl.DateTimeFormat(tag, options);
  return (month) => {
    const parts = format.formatToParts(new Date(Date.UTC(2026, month, 1)));
    return parts.find((part) => part.type === 'month')?.value ?? '';
  };
}

/**
 * Lower case without the accents of Latin, Greek and Cyrillic, so that `FEVRIER` is février and `EKİM` and `KASIM` are
 * Turkish. The text must be composed (NFC), so that a name and its folded form have the same length.
 */
function fold(text: string): string {
  const base = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '');
  return base.replaceAll('ı', 'i').normalize('NFC');
}
