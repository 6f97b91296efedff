/** Dates that are plain numbers: the days that Excel counts, and months behind a decimal point. */
import type { DateSystem } from '../model.ts';
import { readDate } from './iso-time.ts';
import { dayNumber, daySeconds } from './month.ts';
import type { FormatReader, ReadTime } from './time-format.ts';

/** Day 0 of each system; of 1900 so that day 61 is 1900-03-01. */
const excelStart = { 1900: dayNumber(1899, 12, 30), 1904: dayNumber(1904, 1, 1) };
const excelEnd = dayNumber(9999, 12, 31);

/**
 * Reads days as Excel counts them; a fraction is a time of day, to the millisecond. In the system of 1900 they go from 1 (1900-01-01) to
 * 2958465 (9999-12-31). There Excel, like Lotus 1-2-3, counts 1900 as a leap year: day 60 never existed, and the days before it are
 * shifted by one. In the system of 1904 they begin with 0.
 */
export function compileExcelSerial(system: DateSystem): FormatReader {
  return (text) => readExcelSerial(text, system);
}

const notSerial = 'it is not a day of Excel such as 45292 or 45292.5';
// 45,292 could be a day of 2024 with a mark between its thousands, or one of February 1900 with a time.
const mayGroup = `${notSerial}; behind so few digits a comma may group thousands`;

function readExcelSerial(text: string, system: DateSystem): ReadTime | string {
  // More than three digits before a comma are no group.
  const match = /^([\u2212-]?)([0-9]{1,7}(?=\.|$)|[0-9]{4,7}(?=,))(?:[.,]([0-9]+))?$/.exec(text);
  if (match === null) return /^[0-9]{1,3},/.test(text) ? mayGroup : notSerial;
  const [, sign = '', whole = '', fraction = ''] = match;
  if (sign !== '') return `Excel counts its days from ${system}-01-01, so none is negative`;
  // A double has 15 digits, so a time of day is exact to a few microseconds; 0.9999999999 means the end of the day.
  const clockMs = Math.round(Number(`0.${fraction}`) * daySeconds * 1000);
  const isNextDay = clockMs === daySeconds * 1000;
  const day = Number(whole) + (isNextDay ? 1 : 0);
  const dayMax = excelEnd - excelStart[system];
  if (day > dayMax) return `the days of Excel end with ${dayMax}, which is 9999-12-31`;
  if (system === 1900) {
    if (Number(whole) === 0) return 'it is a time of day without a day; Excel counts its days from 1';
    if (day === 60) return 'day 60 of Excel is 29 February 1900, which did not exist';
  }
  const start = (excelStart[system] + day + (system === 1900 && day < 60 ? 1 : 0)) * daySeconds;
  if (!/[1-9]/.test(fraction)) return { kind: 'date', seconds: start, nanos: 0, months: 1 };
  const ms = isNextDay ? 0 : clockMs;
  const seconds = start + Math.floor(ms / 1000);
  return { kind: 'wall', seconds, nanos: (ms % 1000) * 1_000_000, months: 1 };
}

/**
 * `1871.01` is January 1871, `1871.12` December, and `1871.1` October: spreadsheets drop the zero of `1871.10`.
 * A comma in place of the point is read too: four digits before it and one or two behind it are no groups of thousands.
 */
export function readDecimalMonth(text: string): ReadTime | string {
  const match = /^([0-9]{4})[.,]([0-9]{1,2})$/.exec(text);
  if (match === null) return 'it is not a year with a month of two decimals such as 1871.01';
  const [, year = '', decimals = ''] = match;
  if (/^[2-9]$/.test(decimals)) {
    return `the only month of one decimal is .1, which is October without its zero; say .0${decimals} for month ${decimals}`;
  }
  const days = readDate(Number(year), Number(decimals.padEnd(2, '0')), 1);
  if (typeof days === 'string') return days;
  return { kind: 'months', seconds: days * daySeconds, nanos: 0, months: 1 };
}
