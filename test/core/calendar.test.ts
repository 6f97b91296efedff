import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Calendar, formatDay, parseCalendar } from '../../src/core/time/calendar.ts';
import { AgentError } from '../../src/core/errors.ts';
import { formatMonth, monthOf } from '../../src/core/time/month.ts';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

const columns = ['period', 'start', 'end', 'month'];

/** Three periods of 4, 4 and 5 weeks, whose first days lie in the months before theirs. */
const quarter = [
  ['P01 FY2025', '2024-12-29', '2025-01-25', '2025-01'],
  ['P02 FY2025', '2025-01-26', '2025-02-22', '2025-02'],
  ['P03 FY2025', '2025-02-23', '2025-03-29', '2025-03'],
];

const calendar = parseCalendar(columns, quarter, '445.csv');

const whatItNeeds =
  'a calendar has the columns period, start, end and month, and contains each day from its first to its last exactly once, in months that do not go back';

function refusal(rows: readonly (readonly string[])[], header: readonly string[] = columns): string {
  try {
    parseCalendar(header, rows, '445.csv');
  } catch (error) {
    if (error instanceof AgentError && error.code === 'source.unreadable' && error.hint === whatItNeeds)
      return error.message;
    throw error;
  }
  return 'none';
}

describe('by a calendar', () => {
  test.each([
    ['2024-12-29', '2025-01 at 2024-12-29T00:00:00'],
    ['2025-01-25', '2025-01 at 2025-01-25T00:00:00'],
    ['2025-01-26', '2025-02 at 2025-01-26T00:00:00'],
    ['2025-03-29T23:59:59', '2025-03 at 2025-03-29T23:59:59'],
  ])('the day %s has the month of its period', (text, expected) => {
    expect(read(text, { calendar })).toBe(expected);
  });

  test.each(['P02 FY2025', ' p02  fy2025 ', 'P02\u00a0Fy2025'])('%j is the period of that name', (text) => {
    expect(read(text, { calendar })).toBe('2025-02 at 2025-01-26T00:00:00');
    expect(read(text, { calendar, agent: 'Europe/Berlin' })).toBe('2025-02 at 2025-01-25T23:00:00');
  });

  test('the day of an instant is the one it has in the zone of the agent', () => {
    expect(read('2025-01-25T23:30:00Z', { calendar })).toMatch(/^2025-01 /);
    expect(read('2025-01-25T23:30:00Z', { calendar, agent: 'Europe/Berlin' })).toMatch(/^2025-02 /);
    const tokyo = { calendar, agent: 'Europe/Berlin', timezone: 'Asia/Tokyo' };
    expect(read('2025-01-26T02:00', tokyo)).toMatch(/^2025-01 /);
    expect(read('2025-01-26', tokyo)).toMatch(/^2025-02 /);
  });

  test('a month or a quarter by name keeps its month, though its first day lies in the period of another one', () => {
    expect(read('2025-02', { calendar })).toBe('2025-02 at 2025-02-01T00:00:00');
    expect(read('Feb 2025', { calendar, formats: ['MMM yyyy'] })).toMatch(/^2025-02 at/);
    expect(read('2025-02-26', { calendar })).toMatch(/^2025-03 at/);
    expect(read('Q1 2025', { calendar, formats: ['QQQ yyyy'] })).toMatch(/^2025-01 and 2 more at/);
  });

  test.each([
    ['2024-12-28', '2024-12-28 is outside the calendar 445.csv, which has 2024-12-29 to 2025-03-29'],
    ['2025-03-30', '2025-03-30 is outside the calendar 445.csv'],
    ['2025-04', 'outside the calendar 445.csv, which has 2024-12-29 to 2025-03-29, counted as 2025-01 to 2025-03'],
    ['P04 FY2025', 'it is not a period of 445.csv, and not an ISO 8601 date'],
  ])('%s is a reject: %s', (text, reason) => {
    expect(read(text, { calendar })).toContain(reason);
  });

  test('a day that one of several formats reads is told its range', () => {
    expect(read('30.03.2025', { calendar, formats: ['iso', 'dd.MM.yyyy'] })).toContain('which has 2024-12-29 to');
  });

  test('every day is in the period that a search through all periods finds', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: -20_000, max: 40_000 }),
        fc.integer({ min: 0, max: 1200 }),
        (days, from, at) => {
          let start = from;
          const rows = days.map((length, index) => {
            const row = ['', formatDay(start), formatDay(start + length - 1), formatMonth(monthOf(2000, 1) + index)];
            start += length;
            return row;
          });
          const made = parseCalendar(columns, rows.toReversed(), 'made');
          const day = formatDay(from + at);
          const found = rows.find(([, first = '', last = '']) => day >= first && day <= last);
          const reading = read(day, { calendar: made });
          const shown = reading.includes('is outside the calendar made') ? undefined : reading.slice(0, 7);
          expect(shown).toBe(found?.[3]);
        },
      ),
    );
  });
});

describe('a calendar', () => {
  test('has its columns in any order, more of them, blank rows and periods without a name', () => {
    const made = parseCalendar(
      ['Month', 'note', ' End ', 'START'],
      [['2025-02', 'x', '20250222', '2025-01-26'], [], ['', ' ', '', ''], ['2025-01', '', '2025-01-25', '2024-12-29']],
      'made',
    );
    expect(read('2025-01-26', { calendar: made })).toMatch(/^2025-02 /);
    expect(made.byName.size).toBe(0);
  });

  test('may count several periods as one month, and name one over several rows', () => {
    const weeks: Calendar = parseCalendar(
      columns,
      [
        ['JAN', '2025-01-05', '2025-01-11', '2025-01'],
        ['jan ', '2025-01-12', '2025-01-18', '2025-01'],
        ['extra', '2025-01-19', '2025-02-01', '2025-01'],
      ],
      'weeks',
    );
    const texts = ['2025-01-11', '2025-01-12', '2025-02-01', 'Jan', 'EXTRA'];
    const reader = compileTimeReader(plainFormat, 'UTC', weeks);
    expect(texts.map(reader)).toEqual(texts.map(() => expect.objectContaining({ month: monthOf(2025, 1), months: 1 })));
    expect(read('Jan', { calendar: weeks })).toBe('2025-01 at 2025-01-05T00:00:00');
  });

  test('knows its first and its last month, in whatever order its rows are', () => {
    expect(parseCalendar(columns, quarter.toReversed(), 'c').months).toEqual({
      first: monthOf(2025, 1),
      last: monthOf(2025, 3),
    });
  });

  const [first = [], second = [], third = []] = quarter;
  test.each([
    [[], 'calendar 445.csv has no periods'],
    [[['', '', '', '']], 'has no periods'],
    [
      [first, ['x', '2025-02-30', '2025-03-01', '2025-02']],
      'row 2: start "2025-02-30" is not a day: February 2025 has',
    ],
    [[['x', '2025-02-01', '2025-02', '2025-02']], 'row 1: end "2025-02" is not a day such as 2025-02-01'],
    [[['x', '2025-02-01', '2025-02-28T00:00:00', '2025-02']], 'row 1: end "2025-02-28T00:00:00" is not a day'],
    [[['x', '', '2025-02-28', '2025-02']], 'row 1: start is empty'],
    [[['x', '2025-02-01', '2025-02-28', 'Feb 2025']], 'row 1: month "Feb 2025" is not a month such as 2025-01'],
    [[['x', '2025-02-01', '2025-02-28', '2025-13']], 'row 1: month "2025-13" is not a month'],
    [[['x', '2025-02-01', '2025-02-28']], 'row 1: month "" is not a month'],
    [[first, ['x', '2025-01-26', '2025-01-25', '2025-02']], 'row 2: its end 2025-01-25 is before its start 2025-01-26'],
    [[first, ['x', '2025-01-25', '2025-02-22', '2025-02']], 'rows 1 and 2: both contain 2025-01-25'],
    [[second, first, ['', '2025-01-01', '2025-01-02', '2025-01']], 'rows 2 and 3: both contain 2025-01-01'],
    [[third, first], 'rows 1 and 2: 2025-01-26 to 2025-02-22 between them are in no period'],
    [[first, ['x', '2025-01-27', '2025-02-22', '2025-02']], 'rows 1 and 2: 2025-01-26 between them is in no period'],
    [
      [['x', '2025-01-26', '2025-02-22', '2024-02'], first],
      'rows 1 and 2: 2025-01-26 counts in 2024-02, and the day before it in 2025-01',
    ],
    [
      [first, ['p01  fy2025', '2025-01-26', '2025-02-22', '2025-02']],
      'rows 1 and 2: period "p01  fy2025" is 2025-01 and 2025-02',
    ],
    [
      [['p01  fy2025', '2025-01-26', '2025-02-22', '2025-02'], first],
      'rows 1 and 2: period "p01  fy2025" is 2025-02 and 2025-01',
    ],
  ])('is not %j: %s', (rows, message) => {
    expect(refusal(rows)).toContain(message);
  });

  test('needs the columns start, end and month', () => {
    expect(refusal(quarter, ['period', 'from', 'end', 'month'])).toBe(
      'calendar 445.csv has no column start; its columns are period, from, end, month',
    );
  });
});
