/** ISO 8601 dates, months and date-times, and UNIX timestamps: the formats that need no tokens. */
import type { ReadTime } from './time-format.ts';
import { dayNumber, daySeconds, daysInMonth, yearMax, yearMin } from './month.ts';

/** A time, or one line that says why the text is not one. */
type Outcome = ReadTime | string;

const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/**
 * `2026-03-05`, `20260305`, `2026-03`, and date-times with `T` or a space: `10:15`, `10:15:30`, `101530`, a fraction of a
 * second of any length after a dot or a comma (nine digits count), then `Z`, `+02`, `+0200`, `+02:00` or nothing. Databases
 * write dates in these forms too.
 */
export function readIso(text: string): Outcome {
  const plain = readPlainIso(text);
  if (plain !== undefined) return plain;
  const match = isoPattern.exec(text);
  if (match === null) return explainIso(text);
  const [, year = '', extended, basic = '', , , , , zone = ''] = match;
  const [month, day] = extended === undefined ? [basic.slice(0, 2), basic.slice(2)] : extended.split('-');
  const days = readDate(Number(year), Number(month), day === undefined ? 1 : Number(day));
  if (typeof days === 'string') return days;
  const time = match[4] ?? match[6];
  if (day === undefined && time !== undefined) return 'a time needs a day before it';
  if (time === undefined) return daysRead(day === undefined ? 'months' : 'date', days);
  const digits = time.replaceAll(':', '');
  const second = digits.length > 4 ? twoDigits(digits, 4) : 0;
  const clock = readClock(twoDigits(digits, 0), twoDigits(digits, 2), second);
  if (typeof clock === 'string') return clock;
  return withZone(days * daySeconds + clock, readNanos(match[5] ?? match[7] ?? ''), zone);
}

// Seconds: PostgreSQL writes them for times before a zone was standardised. UTC: BigQuery writes it.
const zoneSyntax = 'Z|UTC|[+\\u2212-][0-9]{2}(?::?[0-9]{2}(?::[0-9]{2})?)?';

// Year, month and day or basic month and day; then hour, minute, second and fraction, with colons or without; then zone.
const isoPattern = new RegExp(
  '^([0-9]{4})(?:-([0-9]{2}(?:-[0-9]{2})?)|([0-9]{4}))' +
    '(?:[T ](?:([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,]([0-9]+))?)?)|([0-9]{4}(?:[0-9]{2}(?:[.,]([0-9]+))?)?))' +
    ` ?(${zoneSyntax})?)?$`,
);

/**
 * Reads the common forms by character codes, which is fast: `2026-03`, `2026-03-05`, and `2026-03-05T10:15:30` with any fraction
 * and zone. `undefined` for any other form.
 */
function readPlainIso(text: string): Outcome | undefined {
  const { length } = text;
  const isTime = length >= 19;
  if ((length !== 7 && length !== 10 && !isTime) || text.charCodeAt(4) !== hyphen) return undefined;
  if (length > 7 && text.charCodeAt(7) !== hyphen) return undefined;
  // Anything but a digit makes the number NaN, which fails every comparison.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = length > 7 ? twoDigits(text, 8) : 1;
  if (!(year + month + day >= 0)) return undefined;
  const days = readDate(year, month, day);
  if (typeof days === 'string') return days;
  if (isTime) return readPlainTime(text, days);
  return daysRead(length === 7 ? 'months' : 'date', days);
}

function daysRead(kind: 'months' | 'date', days: number): ReadTime {
  return { kind, seconds: days * daySeconds, nanos: 0, months: 1 };
}

/** The rest of `2026-03-05T10:15:30`, from the letter on. */
function readPlainTime(text: string, days: number): Outcome | undefined {
  const separator = text.charCodeAt(10);
  if (separator !== 0x54 && separator !== 0x20) return undefined;
  if (text.charCodeAt(13) !== colon || text.charCodeAt(16) !== colon) return undefined;
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  if (!(hour + minute + second >= 0)) return undefined;
  const clock = readClock(hour, minute, second);
  if (typeof clock === 'string') return clock;
  if (text.length === 19) return withZone(days * daySeconds + clock, 0, '');
  const rest = restPattern.exec(text.slice(19));
  if (rest === null) return undefined;
  return withZone(days * daySeconds + clock, readNanos(rest[1] ?? ''), rest[2] ?? '');
}

const restPattern = new RegExp(`^(?:[.,]([0-9]+))? ?(${zoneSyntax})?$`);
const colon = 0x3a;
const hyphen = 0x2d;

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** The day's number, or why that day does not exist. @param month 1 to 12 */
export function readDate(year: number, month: number, day: number): number | string {
  if (year === 0 && month === 0 && day === 0) return 'a date of zeros means that there is no date';
  if (year < yearMin || year > yearMax) return `the year ${year} is outside ${yearMin} to ${yearMax}`;
  if (month < 1 || month > 12) return `there is no month ${month}`;
  const last = daysInMonth(year, month);
  if (day < 1 || day > last) return `${monthNames[month - 1]} ${year} has days 1 to ${last}, not ${day}`;
  return dayNumber(year, month, day);
}

/** Seconds since midnight, or why that time does not exist. */
export function readClock(hour: number, minute: number, second: number): number | string {
  if (hour === 24) return 'there is no hour 24; midnight is 00:00 of the next day';
  if (hour > 24) return `there is no hour ${hour}`;
  if (minute > 59) return `there is no minute ${minute}`;
  if (second > 59) return `there is no second ${second}`;
  return hour * 3600 + minute * 60 + second;
}

function withZone(wallSeconds: number, nanos: number, zone: string): Outcome {
  if (zone === '') return { kind: 'wall', seconds: wallSeconds, nanos, months: 1 };
  const offset = zone === 'Z' || zone === 'UTC' ? 0 : readOffset(zone);
  if (offset === undefined) return `there is no zone ${zone}`;
  return { kind: 'instant', seconds: wallSeconds - offset, nanos, months: 1 };
}

/** Seconds ahead of UTC of `+02`, `+0200`, `+02:00` or `+02:00:00`. No zone was ever further from UTC than 15:13. */
function readOffset(zone: string): number | undefined {
  const hours = twoDigits(zone, 1);
  const minutes = zone.length === 3 ? 0 : twoDigits(zone, zone.charCodeAt(3) === colon ? 4 : 3);
  const rest = zone.length === 9 ? twoDigits(zone, 7) : 0;
  if (hours > 15 || minutes > 59 || rest > 59) return undefined;
  const seconds = hours * 3600 + minutes * 60 + rest;
  return zone.charCodeAt(0) === 0x2b ? seconds : -seconds;
}

/** The first nine digits of a fraction. */
function readNanos(fraction: string): number {
  return Number(fraction.slice(0, 9).padEnd(9, '0'));
}

function explainIso(text: string): string {
  for (const [pattern, reason] of likelySlips) {
    if (pattern.test(text)) return reason;
  }
  return 'not an ISO 8601 date; say format: with date-fns tokens such as dd.MM.yyyy or MMMM yyyy';
}

/** Likely meanings of a text, and what to declare for them. */
const likelySlips: readonly (readonly [RegExp, string])[] = [
  [/^[0-9]{6}$/, 'not an ISO 8601 date; say format: yyyyMM if this is a month'],
  [/^[0-9]{4}$/, 'a year alone names no month; say format: yyyy if the value is one of the whole year'],
  [/^[0-9]{5}(?:\.[0-9]+)?$/, 'not an ISO 8601 date; say format: excel-serial if this is a day as Excel counts them'],
  [/^[0-9]{10}$/, 'looks like UNIX seconds: format: unix'],
  [/^[0-9]{13}$/, 'looks like UNIX milliseconds: format: unix-ms'],
  [/^[0-9]{4}-?W[0-9]{2}-?[0-9]/, "week dates are not read; say format: with tokens such as RRRR-'W'II-i"],
  [/^[0-9]{4}-?[0-9]{3}(?![0-9])/, 'dates by day of the year are not read; say format: with tokens such as yyyy-DDD'],
  [/^[+\u2212-]?[0-9]{5,}-/, `only years from ${yearMin} to ${yearMax} are read`],
  [/^[+\u2212-]?infinity$/i, 'infinity is not a date'],
  [/Q ?[1-4]|[1-4] ?Q/i, 'not an ISO 8601 date; say format: fiscal-quarter if this is a quarter'],
];

/** Seconds since 1970, with an optional minus and an optional fraction. */
export function readUnix(text: string): Outcome {
  const match = unixPattern.exec(text);
  if (match === null) return 'not UNIX seconds';
  const [, sign = '', whole = '', fraction = ''] = match;
  if (whole.length === 13) return 'too many digits for seconds; looks like milliseconds: format: unix-ms';
  if (whole.length > 13) return 'too many digits for seconds';
  return signedInstant(sign, Number(whole), readNanos(fraction));
}

/** Milliseconds since 1970, with an optional minus and an optional fraction. */
export function readUnixMs(text: string): Outcome {
  const match = unixPattern.exec(text);
  if (match === null) return 'not UNIX milliseconds';
  const [, sign = '', whole = '', fraction = ''] = match;
  if (whole.length > 15) return 'too many digits for milliseconds';
  const padded = whole.padStart(4, '0');
  return signedInstant(sign, Number(padded.slice(0, -3)), readNanos(padded.slice(-3) + fraction));
}

const unixPattern = /^([\u2212-]?)([0-9]+)(?:\.([0-9]+))?$/;

/** Rounds a moment before 1970 down, so that its nanoseconds count forward as everywhere. */
function signedInstant(sign: string, seconds: number, nanos: number): ReadTime {
  if (sign === '') return { kind: 'instant', seconds, nanos, months: 1 };
  if (nanos === 0) return { kind: 'instant', seconds: seconds === 0 ? 0 : -seconds, nanos, months: 1 };
  return { kind: 'instant', seconds: -seconds - 1, nanos: 1_000_000_000 - nanos, months: 1 };
}
