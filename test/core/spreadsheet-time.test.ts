import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { compileTimeReader } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

describe('a decimal month', () => {
  test.each([
    ['1871.01', '1871-01 at 1871-01-01T00:00:00'],
    ['1871.1', '1871-10 at 1871-10-01T00:00:00'],
    ['1871.10', '1871-10 at 1871-10-01T00:00:00'],
    ['1871.12', '1871-12 at 1871-12-01T00:00:00'],
    ['2024,02', '2024-02 at 2024-02-01T00:00:00'],
  ])('is read from %j as %s', (text, expected) => {
    expect(read(text, { formats: ['decimal-month'] })).toBe(expected);
  });

  test.each([
    ['1871.13', 'there is no month 13'],
    ['1871.00', 'there is no month 0'],
    ['1871.0', 'there is no month 0'],
    ['1871.2', 'the only month of one decimal is .1'],
    ['1871.001', 'it is not a year with a month of two decimals'],
    ['1871.', 'it is not a year with a month of two decimals'],
    ['1,871', 'it is not a year with a month of two decimals'],
    ['1871,012', 'it is not a year with a month of two decimals'],
    ['1,871.01', 'it is not a year with a month of two decimals'],
    ['1871', 'it is not a year with a month of two decimals'],
    ['871.01', 'it is not a year with a month of two decimals'],
    ['0871.01', 'the year 871 is outside 1000 to 9999'],
  ])('is not %j: %s', (text, reason) => {
    expect(read(text, { formats: ['decimal-month'] })).toContain(reason);
  });

  test('is read whether or not a spreadsheet dropped its zero', () => {
    const at = fc.record({ year: fc.integer({ min: 1000, max: 9999 }), month: fc.integer({ min: 1, max: 12 }) });
    fc.assert(
      fc.property(at, ({ year, month }) => {
        const two = String(month).padStart(2, '0');
        for (const text of [`${year}.${two}`, String(Number(`${year}.${two}`))]) {
          expect(read(text, { formats: ['decimal-month'] })).toMatch(new RegExp(`^${year}-${two} `));
        }
      }),
    );
  });
});

describe('a day of Excel', () => {
  test.each([
    ['1', '1900-01 at 1900-01-01T00:00:00'],
    ['31', '1900-01 at 1900-01-31T00:00:00'],
    ['32', '1900-02 at 1900-02-01T00:00:00'],
    ['59', '1900-02 at 1900-02-28T00:00:00'],
    ['61', '1900-03 at 1900-03-01T00:00:00'],
    ['45292', '2024-01 at 2024-01-01T00:00:00'],
    ['45292.0', '2024-01 at 2024-01-01T00:00:00'],
    ['45292.5', '2024-01 at 2024-01-01T12:00:00'],
    ['45292,25', '2024-01 at 2024-01-01T06:00:00'],
    // What 23:00 is as a double, and as the 15 digits that Excel shows of it.
    ['45322.958333333336', '2024-01 at 2024-01-31T23:00:00'],
    ['45322.9583333333', '2024-01 at 2024-01-31T23:00:00'],
    ['45322.9999999999', '2024-02 at 2024-02-01T00:00:00'],
    ['2958465', '9999-12 at 9999-12-31T00:00:00'],
    ['2958465.999', '9999-12 at 9999-12-31T23:58:33.600000000'],
  ])('is read from %j as %s', (text, expected) => {
    expect(read(text, { formats: ['excel-serial'] })).toBe(expected);
  });

  test.each([
    ['60', 'day 60 of Excel is 29 February 1900, which did not exist'],
    ['60.75', 'which did not exist'],
    ['0', 'it is a time of day without a day'],
    ['0.75', 'it is a time of day without a day'],
    ['-1', 'none is negative'],
    ['\u22121', 'none is negative'],
    ['2958466', 'the days of Excel end with 2958465'],
    ['2958465.99999999999', 'the days of Excel end with 2958465'],
    ['45,292', 'it is not a day of Excel such as 45292 or 45292.5; behind so few digits a comma may group thousands'],
    ['45,292.5', 'a comma may group thousands'],
    ['45292,25.5', 'it is not a day of Excel such as 45292 or 45292.5'],
    ['45292.', 'it is not a day of Excel such as 45292'],
    ['45.292.5', 'it is not a day of Excel such as 45292'],
    ['4.5E4', 'it is not a day of Excel such as 45292'],
    ['2024-01-01', 'it is not a day of Excel'],
  ])('is not %j: %s', (text, reason) => {
    expect(read(text, { formats: ['excel-serial'] })).toContain(reason);
  });

  test('counts on from 1900-01-01, with the day that did not exist', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_958_465 }), (day) => {
        fc.pre(day !== 60);
        const at = new Date(Date.UTC(1900, 0, day < 60 ? day : day - 1)).toISOString();
        expect(read(String(day), { formats: ['excel-serial'] })).toBe(`${at.slice(0, 7)} at ${at.slice(0, 19)}`);
      }),
    );
  });

  test('counts on from 1904-01-01, which is day 0, in a workbook that says so', () => {
    const since1904 = compileTimeReader({ ...plainFormat, formats: ['excel-serial'] }, 'UTC', undefined, 1904);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_957_003 }), (day) => {
        const seconds = Date.UTC(1904, 0, 1 + day) / 1000;
        expect(since1904(String(day))).toMatchObject({ seconds });
        expect(since1904(`${day}.5`)).toMatchObject({ seconds: seconds + 43_200 });
      }),
    );
    expect(since1904('-1')).toContain('Excel counts its days from 1904-01-01, so none is negative');
    expect(since1904('2957004')).toContain('the days of Excel end with 2957003');
  });

  test('has its time of day to the millisecond, by the digits that Excel shows', () => {
    const at = fc.date({ min: new Date('1927-05-18'), max: new Date('2173-10-13'), noInvalidDate: true });
    fc.assert(
      fc.property(at, (moment) => {
        const serial = (moment.getTime() - Date.UTC(1899, 11, 30)) / 86_400_000;
        for (const text of [String(serial), String(Number(serial.toPrecision(15)))]) {
          const expected = read(moment.toISOString());
          expect(read(text, { formats: ['excel-serial'] })).toBe(expected);
        }
      }),
    );
  });

  test('is a day in every zone, and with a fraction a local time', () => {
    const zones = { agent: 'Europe/Berlin', timezone: 'America/New_York', formats: ['excel-serial'] };
    expect(read('45322', zones)).toBe('2024-01 at 2024-01-30T23:00:00');
    expect(read('45322.75', zones)).toBe('2024-02 at 2024-01-31T23:00:00');
  });
});

describe("the process's own zone", () => {
  const own = process.env['TZ'];
  afterEach(() => {
    if (own === undefined) delete process.env['TZ'];
    else process.env['TZ'] = own;
  });

  test.each(['Pacific/Kiritimati', 'America/St_Johns', 'Europe/Berlin'])('%s changes no format', (zone) => {
    process.env['TZ'] = zone;
    expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
    expect(read('45322.75', { formats: ['excel-serial'] })).toBe('2024-01 at 2024-01-31T18:00:00');
    expect(read('1871.1', { formats: ['decimal-month'] })).toBe('1871-10 at 1871-10-01T00:00:00');
    expect(read('Q1 FY25', { formats: ['fiscal-quarter'] })).toBe('2025-01 and 2 more at 2025-01-01T00:00:00');
    expect(read('P01 FY25', { formats: ['fiscal-period'] })).toBe('2025-01 at 2025-01-01T00:00:00');
    expect(read('Q1 2025', { formats: ['QQQ yyyy'] })).toBe('2025-01 and 2 more at 2025-01-01T00:00:00');
    expect(read('2025', { formats: ['yyyy'] })).toBe('2025-01 and 11 more at 2025-01-01T00:00:00');
    expect(read('Jan-25', { formats: ['MMM-yy'] })).toBe('2025-01 at 2025-01-01T00:00:00');
  });
});
