/** Writes days the way that a column of the user writes its times. None of it is the agent's code. */
import { format } from 'date-fns';
import type { TimeFormat } from '../../core/time/time-format.ts';
import { knownLocale } from '../../core/time/token-time.ts';

/** A day of a month: months are counted from year 0. */
export interface Day {
  readonly month: number;
  readonly day: number;
}

const dayMs = 86_400_000;

/** How ISO 8601 is written, where that is the format. */
export type Style = 'day' | 'month';

/** Texts by format: looking a locale up costs more than a pass, and a history asks for the same days again and again. */
const written = new WeakMap<TimeFormat, Map<string, string | undefined>>();

/** `undefined`: nobody here can write this format. */
export function writeTime(day: Day, timeFormat: TimeFormat, style: Style): string | undefined {
  const known = written.get(timeFormat) ?? new Map<string, string | undefined>();
  written.set(timeFormat, known);
  const key = `${day.month} ${day.day} ${style}`;
  if (!known.has(key)) known.set(key, write(day, timeFormat, style));
  return known.get(key);
}

/** The months that a text of a format stands for: those of a quarter or a year, or one. */
export interface Period {
  readonly first: number;
  readonly months: 1 | 3 | 12;
}

export function periodOf(month: number, timeFormat: TimeFormat): Period {
  const {
    formats: [name = 'iso'],
    fiscalYear,
  } = timeFormat;
  const known = lengths.get(timeFormat);
  const months = known ?? monthsOf(name);
  if (known === undefined) lengths.set(timeFormat, months);
  const start = name.startsWith('fiscal-') ? (fiscalYear?.startsIn ?? 1) - 1 : 0;
  return { first: month - ((month - start) % months), months };
}

/** Every row of every history asks. */
const lengths = new WeakMap<TimeFormat, Period['months']>();

/** A pattern without a month or a day stands for a quarter, or for a year. */
function monthsOf(name: string): Period['months'] {
  if (name === 'fiscal-quarter') return 3;
  if (name === 'fiscal-year') return 12;
  if (namedMonths.has(name)) return 1;
  const letters = name.replaceAll(/'[^']*'/g, '');
  if (/[MLdDwIEeict]/.test(letters)) return 1;
  return /[Qq]/.test(letters) ? 3 : 12;
}

const namedMonths = new Set(['iso', 'unix', 'unix-ms', 'excel-serial', 'decimal-month', 'fiscal-period']);

function write(
  { month, day }: Day,
  { formats, locales: names, fiscalYear }: TimeFormat,
  style: Style,
): string | undefined {
  const year = Math.floor(month / 12);
  const moment = Date.UTC(year, month % 12, day, 12);
  const [name = 'iso'] = formats;
  const start = (fiscalYear?.startsIn ?? 1) - 1;
  const since = month - start;
  const fiscal = Math.floor(since / 12) + (fiscalYear?.namedAfter === 'end' && start > 0 ? 1 : 0);
  switch (name) {
    case 'iso':
      return new Date(moment).toISOString().slice(0, style === 'day' ? 10 : 7);
    case 'unix':
      return String(moment / 1000);
    case 'unix-ms':
      return String(moment);
    case 'excel-serial':
      return String(moment / dayMs + 25_569 - 0.5);
    case 'decimal-month':
      return `${year}.${String((month % 12) + 1).padStart(2, '0')}`;
    case 'fiscal-period':
      return `P${String((since % 12) + 1).padStart(2, '0')} FY${fiscal}`;
    case 'fiscal-quarter':
      return `Q${Math.floor((since % 12) / 3) + 1} FY${fiscal}`;
    case 'fiscal-year':
      return `FY${fiscal}`;
    default:
      return tokens(name, { year, month: month % 12, day }, names[0] ?? 'en');
  }
}

function tokens(
  name: string,
  { year, month, day }: { readonly year: number; readonly month: number; readonly day: number },
  locale: string,
): string | undefined {
  try {
    // Local time, as the library formats it.
    return format(new Date(year, month, day, 12), name, { locale: knownLocale(locale) });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
