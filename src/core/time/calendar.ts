/** Calendars whose months are not those of the year, such as 4-4-5: each period of days stands for one calendar month. */
import { AgentError } from '../errors.ts';
import { readIso } from './iso-time.ts';
import type { Month } from '../model.ts';
import { daySeconds, formatMonth, parseMonth } from './month.ts';
import { quote, trimWhiteSpace } from '../text.ts';

export interface Calendar {
  /** Its name in messages, such as its file. */
  readonly name: string;
  /** Without gaps, in order of time; at least one. */
  readonly periods: readonly Period[];
  /** The first of each name, by `periodKey`. */
  readonly byName: ReadonlyMap<string, Period>;
  readonly months: { readonly first: Month; readonly last: Month };
}

export interface Period {
  /** As written; empty if it has no name. */
  readonly name: string;
  /** First and last day, since 1970-01-01. */
  readonly start: number;
  readonly end: number;
  readonly month: Month;
  /** Counted from 1, the header not among them. */
  readonly row: number;
}

/**
 * Reads a calendar from a table with the columns `start`, `end` (days such as 2025-02-01, both inclusive), `month`
 * (`2025-01`) and, for texts that name periods, `period`. Other columns, blank rows and the order of rows do not matter;
 * several periods may stand for one month, and several rows for one period.
 * @param name for messages
 * @throws AgentError `source.unreadable` with the numbers of the rows that are wrong
 */
export function parseCalendar(columns: readonly string[], rows: Iterable<readonly string[]>, name: string): Calendar {
  const places = findColumns(columns, name);
  const periods: Period[] = [];
  let row = 0;
  for (const fields of rows) {
    row++;
    if (fields.every((field) => trimWhiteSpace(field) === '')) continue;
    const period = parsePeriod((column) => trimWhiteSpace(fields[places[column]] ?? ''), row);
    if (typeof period === 'string') refuse(`calendar ${name} row ${row}: ${period}`);
    periods.push(period);
  }
  if (periods.length === 0) refuse(`calendar ${name} has no periods`);
  periods.sort((a, b) => a.start - b.start);
  for (const [index, period] of periods.entries()) {
    const before = periods[index - 1];
    const fault = before === undefined ? undefined : seamFault(before, period);
    if (fault !== undefined) refuse(`calendar ${name} ${fault}`);
  }
  const months = periods.map(({ month }) => month);
  const [first, last] = [months.reduce((a, b) => Math.min(a, b)), months.reduce((a, b) => Math.max(a, b))];
  return { name, periods, byName: indexNames(periods, name), months: { first, last } };
}

/** The period that a text names. Case and the amount of white space do not matter. */
export function periodNamed(calendar: Calendar, text: string): Period | undefined {
  return calendar.byName.get(periodKey(text));
}

/** The period that a day lies in. @param day since 1970-01-01 */
export function periodOfDay({ periods }: Calendar, day: number): Period | undefined {
  let [low, high] = [0, periods.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((periods[middle] as Period).end < day) low = middle + 1;
    else high = middle;
  }
  const period = periods[low];
  return period !== undefined && period.start <= day ? period : undefined;
}

/** `2024-02-04 to 2025-02-01` */
export function calendarRange({ periods }: Calendar): string {
  return `${formatDay(periods[0]?.start ?? 0)} to ${formatDay(periods.at(-1)?.end ?? 0)}`;
}

/** `2025-02-01` @param day since 1970-01-01 */
export function formatDay(day: number): string {
  return new Date(day * daySeconds * 1000).toISOString().slice(0, 10);
}

const needed = ['start', 'end', 'month'] as const;
type Column = 'period' | (typeof needed)[number];

function findColumns(columns: readonly string[], name: string): Readonly<Record<Column, number>> {
  const written = columns.map((column) => trimWhiteSpace(column).toLowerCase());
  for (const column of needed) {
    if (written.includes(column)) continue;
    refuse(`calendar ${name} has no column ${column}; its columns are ${columns.join(', ')}`);
  }
  const [start, end, month] = needed.map((column) => written.indexOf(column)) as [number, number, number];
  return { period: written.indexOf('period'), start, end, month };
}

function parsePeriod(field: (column: Column) => string, row: number): Period | string {
  const [start, end] = [parseDay(field('start')), parseDay(field('end'))];
  if (typeof start === 'string') return `start ${start}`;
  if (typeof end === 'string') return `end ${end}`;
  const month = parseMonth(field('month'));
  if (month === undefined) return `month ${quote(field('month'))} is not a month such as 2025-01`;
  if (end < start) return `its end ${field('end')} is before its start ${field('start')}`;
  return { name: field('period'), start, end, month, row };
}

/** Days since 1970-01-01, or why there is no such day. */
function parseDay(text: string): number | string {
  if (text === '') return 'is empty';
  const time = readIso(text);
  if (typeof time === 'string') return `${quote(text)} is not a day: ${time}`;
  if (time.kind !== 'date') return `${quote(text)} is not a day such as 2025-02-01`;
  return time.seconds / daySeconds;
}

/** What is wrong between two neighbouring periods, in words: an overlap, a gap, or months that go back. */
function seamFault(before: Period, after: Period): string | undefined {
  const rows = before.row < after.row ? [before.row, after.row] : [after.row, before.row];
  const shown = `rows ${rows.join(' and ')}:`;
  if (after.start === before.end + 1) {
    if (after.month >= before.month) return undefined;
    return `${shown} ${formatDay(after.start)} counts in ${formatMonth(after.month)}, and the day before it in ${formatMonth(before.month)}`;
  }
  if (after.start <= before.end) return `${shown} both contain ${formatDay(after.start)}`;
  const [from, to] = [before.end + 1, after.start - 1];
  if (from === to) return `${shown} ${formatDay(from)} between them is in no period`;
  return `${shown} ${formatDay(from)} to ${formatDay(to)} between them are in no period`;
}

function indexNames(periods: readonly Period[], name: string): ReadonlyMap<string, Period> {
  const byName = new Map<string, Period>();
  for (const period of periods) {
    const key = periodKey(period.name);
    if (key === '') continue;
    const known = byName.get(key);
    if (known === undefined) byName.set(key, period);
    if (known === undefined || known.month === period.month) continue;
    const rows = [known, period].sort((a, b) => a.row - b.row);
    const months = rows.map(({ month }) => formatMonth(month)).join(' and ');
    refuse(
      `calendar ${name} rows ${rows.map(({ row }) => row).join(' and ')}: period ${quote(period.name)} is ${months}`,
    );
  }
  return byName;
}

function periodKey(text: string): string {
  return trimWhiteSpace(text)
    .normalize('NFC')
    .replaceAll(/[\s\u0085]+/g, ' ')
    .toLowerCase();
}

function refuse(message: string): never {
  throw new AgentError('source.unreadable', message, {
    hint: 'a calendar has the columns period, start, end and month, and contains each day from its first to its last exactly once, in months that do not go back',
  });
}
