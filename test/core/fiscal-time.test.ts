import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMonth, monthOf } from '../../src/core/time/month.ts';
import type { FiscalYear } from '../../src/core/time/time-format.ts';
import { compileTimeReader, timeFormatProblem } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

const april: FiscalYear = { startsIn: 4, namedAfter: 'end' };

/** The fiscal year's name and the month's number in it, counted on the fingers. */
function fiscalPlace(
  year: number,
  month: number,
  { startsIn, namedAfter }: FiscalYear,
): { year: number; period: number } {
  let period = 1;
  for (let at = startsIn; at !== month; at = (at % 12) + 1) period++;
  const startYear = month >= startsIn ? year : year - 1;
  return { year: startsIn > 1 && namedAfter === 'end' ? startYear + 1 : startYear, period };
}

const everyStart = Array.from({ length: 12 }, (_, index) => index + 1);

test.each(['FY2025', 'FY25', '2025', 'FY2024/25'])('a fiscal year %s is twelve months from April 2024 on', (text) => {
  const moment = compileTimeReader({ ...plainFormat, formats: ['fiscal-year'], fiscalYear: april }, 'UTC')(text);
  expect(moment).toMatchObject({ month: monthOf(2024, 4), months: 12 });
});

describe('a fiscal quarter', () => {
  test.each(['FY25 Q1', 'Q1 FY2025', 'FY2025Q1', 'FY2025-Q1', '2025 Q1', 'q1/25', 'Q1 FY 2025', 'Q1\u00a0\u00a0FY25'])(
    'is read from %j, in any order',
    (text) => {
      expect(read(text, { formats: ['fiscal-quarter'], fiscalYear: april })).toBe(
        '2024-04 and 2 more at 2024-04-01T00:00:00',
      );
    },
  );

  test.each([
    ['Q3 2024', '2024-07'],
    ["Q4'99", '1999-10'],
    ['Q1 50', '1950-01'],
    ['Q1 49', '2049-01'],
    ['1Q25', '2025-01'],
    ['25-3Q', '2025-07'],
    ['Qtr 2, 2025', '2025-04'],
    ['2025 Quarter 2', '2025-04'],
  ])('without a fiscal year is one of the calendar: %j begins in %s', (text, month) => {
    expect(read(text, { formats: ['fiscal-quarter'] })).toMatch(new RegExp(`^${month} and 2 more `));
  });

  test.each(['FY2024/25 Q1', 'Q1 FY2024-25', 'FY24/25Q1', 'Q1 2024/2025', 'FY2024\u201325 Q1', '2024-25-Q1'])(
    'of a year with two names, %j, needs no word about which of them counts',
    (text) => {
      for (const namedAfter of ['start', 'end'] as const) {
        expect(read(text, { formats: ['fiscal-quarter'], fiscalYear: { startsIn: 4, namedAfter } })).toMatch(
          /^2024-04 /,
        );
      }
    },
  );

  test('of the years 1999/00 is one of 1999', () => {
    expect(read('FY1999/00 Q1', { formats: ['fiscal-quarter'], fiscalYear: april })).toMatch(/^1999-04 /);
  });

  test.each([
    ['Q0 2024', 'there is no quarter 0'],
    ['Q5 2024', 'there is no quarter 5'],
    ['FY2024/26 Q1', 'the years 2024 and 26 do not follow each other'],
    ['FY2025/24 Q1', 'do not follow each other'],
    ['FY2024/2024 Q1', 'do not follow each other'],
    ['FY2025', 'it is not a quarter of a year such as FY2025 Q1'],
    ['Q1', 'it is not a quarter of a year'],
    ['Q1 202', 'it is not a quarter of a year'],
    ['Q1 2025 x', 'it is not a quarter of a year'],
    ['2025-01-31', 'it is not a quarter of a year'],
    ['FY1000 Q1', 'outside 1000 to 9999'],
    ['2024-W05', 'a week may lie in two months'],
  ])('is not %j: %s', (text, reason) => {
    expect(read(text, { formats: ['fiscal-quarter'], fiscalYear: april })).toContain(reason);
  });

  test('of two calendar years is none where the fiscal year starts in January', () => {
    expect(read('FY2024/25 Q1', { formats: ['fiscal-quarter'] })).toContain('a fiscal year that starts in January');
  });

  test('never reaches beyond the year 9999', () => {
    const fiscalYear: FiscalYear = { startsIn: 6, namedAfter: 'start' };
    expect(read('Q2 FY9999', { formats: ['fiscal-quarter'], fiscalYear })).toMatch(/^9999-09 /);
    expect(read('Q3 FY9999', { formats: ['fiscal-quarter'], fiscalYear })).toContain('outside 1000 to 9999');
  });
});

describe('a fiscal period', () => {
  test.each(['P07 FY2025', 'FY25 P7', 'FY2025P07', '2025-P07', 'Period 7 2025', 'P007.2025', 'FY2024/25 P07', 'p7/25'])(
    'is read from %j',
    (text) => {
      expect(read(text, { formats: ['fiscal-period'], fiscalYear: april })).toBe('2024-10 at 2024-10-01T00:00:00');
    },
  );

  test.each([
    ['P13 FY2025', 'period 13 is an adjustment period'],
    ['FY2025-P16', 'period 16 is an adjustment period'],
    ['P100 2025', 'period 100 is an adjustment period'],
    ['P00 2025', 'there is no period 0'],
    ['2025-07', 'it is not a period of a year such as FY2025 P07'],
    ['P1225', 'it is not a period of a year'],
    ['P7', 'it is not a period of a year'],
  ])('is not %j: %s', (text, reason) => {
    expect(read(text, { formats: ['fiscal-period'], fiscalYear: april })).toContain(reason);
  });
});

describe.each(['start', 'end'] as const)(
  'every month from 1900 to 2100, by a year named after its %s',
  (namedAfter) => {
    test.each(everyStart)('that starts in month %i, is read back', (startsIn) => {
      const fiscalYear: FiscalYear = { startsIn, namedAfter };
      const readQuarter = compileTimeReader({ ...plainFormat, formats: ['fiscal-quarter'], fiscalYear }, 'UTC');
      const readPeriod = compileTimeReader({ ...plainFormat, formats: ['fiscal-period'], fiscalYear }, 'UTC');
      const misread: string[] = [];
      for (let year = 1900; year <= 2100; year++) {
        for (let month = 1; month <= 12; month++) {
          const place = fiscalPlace(year, month, fiscalYear);
          const quarter = readQuarter(`FY${place.year} Q${Math.ceil(place.period / 3)}`);
          const period = readPeriod(`${place.year}-P${String(place.period).padStart(2, '0')}`);
          const expected = monthOf(year, month);
          const isQuarter =
            typeof quarter === 'object' &&
            quarter.months === 3 &&
            quarter.month === expected - ((place.period - 1) % 3);
          if (!isQuarter || typeof period !== 'object' || period.month !== expected)
            misread.push(formatMonth(expected));
        }
      }
      expect(misread).toEqual([]);
    });
  },
);

test('two digits of a year mean 1950 to 2049', () => {
  const fiscalYear = fc.record({
    startsIn: fc.constantFrom(...everyStart),
    namedAfter: fc.constantFrom('start' as const, 'end' as const),
  });
  const year = fc.integer({ min: 1950, max: 2049 });
  fc.assert(
    fc.property(fiscalYear, year, fc.integer({ min: 1, max: 4 }), (by, named, quarter) => {
      const read4 = read(`Q${quarter} FY${named}`, { formats: ['fiscal-quarter'], fiscalYear: by });
      const two = String(named).slice(2);
      expect(read(`FY${two}Q${quarter}`, { formats: ['fiscal-quarter'], fiscalYear: by })).toBe(read4);
    }),
  );
});

test('the formats with names have no problem', () => {
  const formats = ['fiscal-quarter', 'fiscal-period', 'decimal-month', 'excel-serial'];
  expect(timeFormatProblem({ ...plainFormat, formats, fiscalYear: april })).toBeUndefined();
});
