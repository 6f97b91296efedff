/** Reads texts that name a moment, into months of one zone or one calendar. */
import { type Calendar, calendarRange, formatDay, periodNamed, periodOfDay } from './calendar.ts';
import { compileFiscalPeriod, compileFiscalQuarter, compileFiscalYear } from './fiscal-time.ts';
import { readIso, readUnix, readUnixMs } from './iso-time.ts';
import type { DateSystem, Moment, Month } from '../model.ts';
import { daySeconds, formatMonth, isMonthInRange, monthOfWallSeconds, yearMax, yearMin } from './month.ts';
import { compileExcelSerial, readDecimalMonth } from './spreadsheet-time.ts';
import { quote, trimWhiteSpace } from '../text.ts';
import type { FiscalYear, FormatReader, ReadTime, TimeFormat } from './time-format.ts';
import { compileTokens, localeProblem, tokenMonths, tokensProblem, weekReason } from './token-time.ts';
import { isTimeZone, localToEpoch, utcOffsetSeconds } from './zone.ts';

/** Reads one text: its moment, or one line that says why it is rejected. */
export type TimeReader = (text: string) => Moment | string;

/** How many texts a reader remembers. A file has few distinct dates, and remembering is ten times faster than reading. */
const textsMax = 10_000;

/** Longer texts are read but not remembered. */
const textLengthMax = 100;

/**
 * Builds the reader of one column. White space around a text is ignored; formats are tried in order.
 * @param timezone IANA name of the zone whose months count
 * @param calendar its periods count instead of calendar months: for a text that names a period, and for a day in one. A text
 *   that names a month or more keeps those
 * @param system by which the days of Excel count
 * @throws RangeError for a format that `timeFormatProblem` refuses
 */
export function compileTimeReader(
  format: TimeFormat,
  timezone: string,
  calendar?: Calendar,
  system: DateSystem = 1900,
): TimeReader {
  const readers = format.formats.map((name) => compileFormat(name, format, system));
  const place = placer(format.timezone ?? timezone, timezone, calendar);
  const known = new Map<string, Moment | string>();

  const read = (text: string): Moment | string => {
    const trimmed = trimWhiteSpace(text);
    if (trimmed === '') return 'time is empty';
    const period = calendar && periodNamed(calendar, trimmed);
    if (period !== undefined) {
      const seconds = localToEpoch(timezone, period.start * daySeconds);
      return { month: period.month, months: 1, seconds, nanos: 0 };
    }
    let misfit = '';
    let misplaced = '';
    for (const reader of readers) {
      const time = reader(trimmed);
      if (typeof time === 'string') {
        misfit ||= time;
        continue;
      }
      const moment = place(time);
      if (typeof moment !== 'string') return moment;
      misplaced ||= moment;
    }
    if (readers.length > 1) misfit = `it fits none of the formats ${format.formats.join(', ')}`;
    if (isoWeek.test(trimmed)) misfit = weekReason;
    if (calendar !== undefined) misfit = `it is not a period of ${calendar.name}, and ${misfit}`;
    return `time ${quote(trimmed)} cannot be read: ${misplaced || misfit}`;
  };

  // Consecutive rows often have the same time, and comparing two texts is cheaper than a look-up.
  let lastText: string | undefined;
  let lastMoment: Moment | string = '';
  return (text) => {
    if (text === lastText) return lastMoment;
    let moment = known.get(text);
    if (moment === undefined) {
      moment = read(text);
      if (known.size >= textsMax) known.clear();
      if (text.length <= textLengthMax) known.set(text, moment);
    }
    lastText = text;
    lastMoment = moment;
    return moment;
  };
}

/** Why a declared format cannot be used, as one line; `undefined` if it can. */
export function timeFormatProblem(format: TimeFormat): string | undefined {
  if (format.formats.length === 0) return 'no format is given';
  if (format.timezone !== undefined && !isTimeZone(format.timezone)) {
    return `unknown time zone ${quote(format.timezone)}; say an IANA name such as Europe/Berlin`;
  }
  if (format.locales.length === 0) return 'no locale is given';
  for (const locale of format.locales) {
    const problem = localeProblem(locale);
    if (problem !== undefined) return problem;
  }
  for (const name of format.formats) {
    if (namedFormats.has(name)) continue;
    const problem = tokensProblem(name, format.locales);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** How many calendar months its longest format names: 1, 3 or 12. */
export function formatMonths(format: TimeFormat): number {
  return Math.max(...format.formats.map((name) => namedFormats.get(name)?.months ?? tokenMonths(name)));
}

interface NamedFormat {
  /** How many calendar months a text of this format names. */
  readonly months: number;
  readonly compile: (fiscalYear: FiscalYear | undefined, system: DateSystem) => FormatReader;
}

/** The formats that name calendar quarters or years, whatever the fiscal year. */
export function calendarFormats({ formats }: TimeFormat): readonly string[] {
  return formats.filter((name) => !namedFormats.has(name) && tokenMonths(name) > 1);
}

/** Formats that have a name of their own. */
export const formatNames = (): readonly string[] => [...namedFormats.keys()];

const namedFormats: ReadonlyMap<string, NamedFormat> = new Map<string, NamedFormat>([
  ['iso', { months: 1, compile: () => readIso }],
  ['unix', { months: 1, compile: () => readUnix }],
  ['unix-ms', { months: 1, compile: () => readUnixMs }],
  ['fiscal-year', { months: 12, compile: compileFiscalYear }],
  ['fiscal-quarter', { months: 3, compile: compileFiscalQuarter }],
  ['fiscal-period', { months: 1, compile: compileFiscalPeriod }],
  ['decimal-month', { months: 1, compile: () => readDecimalMonth }],
  ['excel-serial', { months: 1, compile: (_fiscalYear, system) => compileExcelSerial(system) }],
]);

function compileFormat(name: string, { locales, fiscalYear }: TimeFormat, system: DateSystem): FormatReader {
  return namedFormats.get(name)?.compile(fiscalYear, system) ?? compileTokens(name, locales);
}

/** A week of ISO 8601, without a day. */
const isoWeek = /^[0-9]{4}-?W[0-9]{2}$/i;

/**
 * The month of `timezone` or of `calendar` for a time that was read.
 * @param sourceZone the zone that date-times without one are read in
 */
function placer(
  sourceZone: string,
  timezone: string,
  calendar: Calendar | undefined,
): (time: ReadTime) => Moment | string {
  return ({ kind, seconds, nanos, months }) => {
    // A local time of `timezone` has its month as written, even where the clocks skipped that time.
    let shown = seconds;
    let instant = seconds;
    if (kind === 'instant') {
      shown = seconds + utcOffsetSeconds(timezone, seconds);
    } else if (kind !== 'wall' || sourceZone === timezone) {
      instant = localToEpoch(timezone, seconds);
    } else {
      if (!isMonthInRange(monthOfWallSeconds(seconds))) return outOfRange;
      instant = localToEpoch(sourceZone, seconds);
      shown = instant + utcOffsetSeconds(timezone, instant);
    }
    const written = monthOfWallSeconds(shown);
    if (!isMonthInRange(written) || !isMonthInRange(written + months - 1)) return outOfRange;
    if (calendar === undefined) return { month: written, months, seconds: instant, nanos };
    const month = kind === 'months' ? keepMonths(calendar, written, months) : monthOfDay(calendar, shown);
    return typeof month === 'string' ? month : { month, months, seconds: instant, nanos };
  };
}

const outOfRange = `its year is outside ${yearMin} to ${yearMax}`;

function monthOfDay(calendar: Calendar, shownSeconds: number): Month | string {
  const day = Math.floor(shownSeconds / daySeconds);
  const period = periodOfDay(calendar, day);
  if (period !== undefined) return period.month;
  return `${formatDay(day)} is outside the calendar ${calendar.name}, which has ${calendarRange(calendar)}`;
}

/** A text that names months keeps them: the first day of a month may lie in the period of another one. */
function keepMonths(calendar: Calendar, month: Month, months: number): Month | string {
  const { first, last } = calendar.months;
  if (month >= first && month + months - 1 <= last) return month;
  const range = `${calendarRange(calendar)}, counted as ${formatMonth(first)} to ${formatMonth(last)}`;
  return `it is outside the calendar ${calendar.name}, which has ${range}`;
}
