/** Texts that name a moment, read into months of one zone. */
import { readIso, readUnix, readUnixMs } from './iso-time.ts';
import type { Moment, Month } from './model.ts';
import { isMonthInRange, monthOfWallSeconds, yearMax, yearMin } from './month.ts';
import type { FormatReader, ReadTime, TimeFormat } from './time-format.ts';
import { quote, trimWhiteSpace } from './text.ts';
import { compileTokens, localeProblem, tokensProblem } from './token-time.ts';
import { isTimeZone, localToEpoch, utcOffsetSeconds } from './zone.ts';

/** Reads one text: its moment, or one line that says why it is rejected. */
export type TimeReader = (text: string) => Moment | string;

/** Texts that a reader remembers. A file has few distinct dates, and remembering beats reading by an order of magnitude. */
const textsMax = 10_000;

/** Longer texts are read but not remembered. */
const textLengthMax = 100;

/**
 * Builds the reader of one column. White space around a text is ignored; formats are tried in their order.
 * @param timezone IANA name of the zone whose months count (DESIGN 4, "Months")
 * @throws RangeError for a format that `timeFormatProblem` has a word for
 */
export function compileTimeReader(format: TimeFormat, timezone: string): TimeReader {
  const readers = format.formats.map((name) => compileFormat(name, format.locale));
  const place = placer(format.timezone ?? timezone, timezone);
  const known = new Map<string, Moment | string>();

  const read = (text: string): Moment | string => {
    const trimmed = trimWhiteSpace(text);
    if (trimmed === '') return 'time is empty';
    let reason = '';
    for (const reader of readers) {
      const time = reader(trimmed);
      const moment = typeof time === 'string' ? time : place(time);
      if (typeof moment !== 'string') return moment;
      reason ||= moment;
    }
    if (readers.length > 1) reason = `it fits none of the formats ${format.formats.join(', ')}`;
    return `time ${quote(trimmed)} cannot be read: ${reason}`;
  };

  // Rows that follow each other mostly have one time, and comparing texts costs less than looking one up.
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

/** What is wrong with a declared format, as one line for the config's author; `undefined` if nothing is. */
export function timeFormatProblem(format: TimeFormat): string | undefined {
  if (format.formats.length === 0) return 'no format is given';
  if (format.timezone !== undefined && !isTimeZone(format.timezone)) {
    return `unknown time zone ${quote(format.timezone)}; say an IANA name such as Europe/Berlin`;
  }
  const locale = localeProblem(format.locale);
  if (locale !== undefined) return locale;
  for (const name of format.formats) {
    if (fixedFormats.has(name)) continue;
    const problem = tokensProblem(name, format.locale);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const fixedFormats: ReadonlyMap<string, FormatReader> = new Map([
  ['iso', readIso],
  ['unix', readUnix],
  ['unix-ms', readUnixMs],
]);

function compileFormat(name: string, locale: string): FormatReader {
  return fixedFormats.get(name) ?? compileTokens(name, locale);
}

/**
 * Puts what was read into the months of `timezone`.
 * @param sourceZone the zone that date-times without one are read in
 */
function placer(sourceZone: string, timezone: string): (time: ReadTime) => Moment | string {
  return ({ kind, seconds, nanos }) => {
    const written = monthOfWallSeconds(seconds);
    if (kind === 'date') return inRange(written, localToEpoch(timezone, seconds), nanos);
    if (kind === 'wall' && !isMonthInRange(written)) return outOfRange;
    const instant = kind === 'instant' ? seconds : localToEpoch(sourceZone, seconds);
    // A clock's own months are as written, even where the clock skipped that time.
    if (kind === 'wall' && sourceZone === timezone) return inRange(written, instant, nanos);
    return inRange(monthOfWallSeconds(instant + utcOffsetSeconds(timezone, instant)), instant, nanos);
  };
}

const outOfRange = `its year is outside ${yearMin} to ${yearMax}`;

function inRange(month: Month, seconds: number, nanos: number): Moment | string {
  return isMonthInRange(month) ? { month, seconds, nanos } : outOfRange;
}
