/** Months as integers, and the days of the proleptic Gregorian calendar. Time zones are in zone.ts. */
import type { Month } from '../model.ts';

/** The moment that stands for a month, in UTC. */
export type Stamp = 'start' | 'middle' | 'end';

export const daySeconds = 86_400;

/** The first and last year that a moment may lie in. */
export const yearMin = 1000;
export const yearMax = 9999;

const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;

/** @param month 1 to 12 */
export function monthOf(year: number, month: number): Month {
  return year * 12 + (month - 1);
}

/** Whether the month lies in the years 1000 to 9999. */
export function isMonthInRange(month: Month): boolean {
  return month >= yearMin * 12 && month < (yearMax + 1) * 12;
}

/** `2026-03` */
export function formatMonth(month: Month): string {
  const year = Math.floor(month / 12);
  return `${String(year).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
}

/** Reads exactly what `formatMonth` writes, for the years 1000 to 9999. */
export function parseMonth(text: string): Month | undefined {
  if (!/^[1-9][0-9]{3}-(?:0[1-9]|1[0-2])$/.test(text)) return undefined;
  return monthOf(Number(text.slice(0, 4)), Number(text.slice(5)));
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** @param month 1 to 12 */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01. @param month 1 to 12 @param day 1 to 31, not checked */
export function dayNumber(year: number, month: number, day: number): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  const inYear = (daysBefore[month - 1] ?? 0) + (month > 2 && isLeapYear(year) ? 1 : 0) + day - 1;
  return past * 365 + leapDays + inYear - 719_162;
}

/** The month of a local time, given as UNIX seconds plus the zone's offset. */
export function monthOfWallSeconds(wallSeconds: number): Month {
  const day = Math.floor(wallSeconds / daySeconds);
  // 400 years are exactly 146 097 days, so this guess is wrong by at most one month.
  let month = Math.floor(((day + 719_162) * 4800) / 146_097) + 12;
  while (monthStartDay(month) > day) month--;
  while (monthStartDay(month + 1) <= day) month++;
  return month;
}

/**
 * The moment that stands for a month, as UNIX seconds in UTC: its first second, the 15th at 12:00, or its last second.
 * The middle lies in the same month in every time zone, since no zone is 14.5 days away from UTC.
 */
export function stampSeconds(month: Month, stamp: Stamp): number {
  if (stamp === 'end') return monthStartDay(month + 1) * daySeconds - 1;
  const start = monthStartDay(month) * daySeconds;
  return stamp === 'start' ? start : start + 14 * daySeconds + daySeconds / 2;
}

function monthStartDay(month: Month): number {
  const year = Math.floor(month / 12);
  return dayNumber(year, month - year * 12 + 1, 1);
}
