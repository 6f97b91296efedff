/** Offsets of IANA time zones, from the rules that Node ships (Intl). */
import type { Month } from '../model.ts';
import { daySeconds, monthOfWallSeconds } from './month.ts';

/** How many days of a zone are remembered before all are forgotten: more than 30 years of daily data. */
const daysMax = 20_000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Per UTC day: its offset in seconds, or NaN where the offset changes within the day. */
  readonly days: Map<number, number>;
}

const zones = new Map<string, Zone>();

/** The first format that Intl makes in a process takes 11 ms of CPU time, a tenth of a start: names are looked up first, in 1 ms. */
let listed: ReadonlySet<string> | undefined;

/** Whether `name` is an IANA zone that this Node knows, such as `Europe/Berlin` or `UTC`. Plain offsets such as +02:00 are not. */
export function isTimeZone(name: string): boolean {
  // What most configs have, without a look at all names.
  if (name === 'UTC') return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  listed ??= new Set(Intl.supportedValuesOf('timeZone'));
  // Others are old names, or written in other capitals.
  if (listed.has(name)) return true;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The month that it is then in a zone. */
export function monthAt(atMs: number, zone: string): Month {
  const seconds = Math.floor(atMs / 1000);
  return monthOfWallSeconds(seconds + utcOffsetSeconds(zone, seconds));
}

/**
 * Seconds that the zone is ahead of UTC at an instant (negative: behind).
 * @param zone an IANA name; RangeError for anything else
 * @param epochSeconds UNIX seconds, whole
 */
export function utcOffsetSeconds(zone: string, epochSeconds: number): number {
  if (zone === 'UTC') return 0;
  const known = zones.get(zone) ?? openZone(zone);
  const day = Math.floor(epochSeconds / daySeconds);
  let offset = known.days.get(day);
  if (offset === undefined) {
    // Asking Intl takes about 1 µs, and a file has few distinct days. No zone changes and changes back within one day.
    const start = exactOffset(known, day * daySeconds);
    offset = start === exactOffset(known, (day + 1) * daySeconds - 1) ? start : Number.NaN;
    if (known.days.size >= daysMax) known.days.clear();
    known.days.set(day, offset);
  }
  return Number.isNaN(offset) ? exactOffset(known, epochSeconds) : offset;
}

/**
 * The instant (UNIX seconds) of a local time. Of two instants it is the earlier; a time that the clocks skipped moves forward by as
 * much as they skipped (02:30 becomes 03:30), like Temporal's `compatible`.
 * @param wallSeconds the local time, as if it were UTC
 */
export function localToEpoch(zone: string, wallSeconds: number): number {
  // Offsets are shorter than a day, so these two lie before and after the instant.
  const before = utcOffsetSeconds(zone, wallSeconds - daySeconds);
  const after = utcOffsetSeconds(zone, wallSeconds + daySeconds);
  const early = wallSeconds - before;
  if (before === after) return early;
  if (utcOffsetSeconds(zone, early) === before) return early;
  const late = wallSeconds - after;
  return utcOffsetSeconds(zone, late) === after ? late : early;
}

function openZone(name: string): Zone {
  // `longOffset` alone gives seconds, which the offsets of zones had before they were standardised.
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const zone = { format, days: new Map<number, number>() };
  zones.set(name, zone);
  return zone;
}

/** Reads the end of `3/5/2026, GMT+01:00`; seconds only where there are some. */
function exactOffset(zone: Zone, epochSeconds: number): number {
  const text = zone.format.format(epochSeconds * 1000);
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) throw new Error(`no offset in ${text}`);
  if (match[1] === undefined) return 0;
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -seconds : seconds;
}
