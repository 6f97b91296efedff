/** Times as people say them: `02:15 tomorrow, in 9 h`. */
import { utcOffsetSeconds } from './zone.ts';

export interface Now {
  readonly nowMs: number;
  /** IANA name. */
  readonly timezone: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** @param at ISO 8601, or milliseconds since 1970 */
export function showTime(at: string | number, { nowMs, timezone }: Now): string {
  const atMs = typeof at === 'number' ? at : Date.parse(at);
  return `${showMoment(atMs, { nowMs, timezone })}, ${distance(atMs - nowMs)}`;
}

/** Whose times these are: `in Europe/Berlin, where it is 2026-03-14 02:15`. */
export function showNow({ nowMs, timezone }: Now): string {
  const wall = wallTime(nowMs, timezone);
  return `in ${timezone}, where it is ${wall.slice(0, 10)} ${wall.slice(11, 16)}`;
}

/** The day by its name where it is at most one away, else its date. */
export function showMoment(atMs: number, { nowMs, timezone }: Now): string {
  const [wall, today] = [wallTime(atMs, timezone), wallTime(nowMs, timezone)];
  const days = Math.round((Date.parse(wall.slice(0, 10)) - Date.parse(today.slice(0, 10))) / dayMs);
  const day = { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)];
  return day === undefined ? `${wall.slice(0, 10)} ${wall.slice(11, 16)}` : `${wall.slice(11, 16)} ${day}`;
}

/** The local time, written as if it were UTC. */
function wallTime(atMs: number, timezone: string): string {
  return new Date(atMs + utcOffsetSeconds(timezone, Math.floor(atMs / 1000)) * 1000).toISOString();
}

/** `in 9 h`, `5 min ago`, `now`. */
function distance(ms: number): string {
  const awayMs = Math.abs(ms);
  if (awayMs < minuteMs) return 'now';
  const amount =
    awayMs < 90 * minuteMs
      ? `${Math.round(awayMs / minuteMs)} min`
      : awayMs < 36 * hourMs
        ? `${Math.round(awayMs / hourMs)} h`
        : `${Math.round(awayMs / dayMs)} days`;
  return ms > 0 ? `in ${amount}` : `${amount} ago`;
}
