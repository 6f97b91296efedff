import { isMainThread } from 'node:worker_threads';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { compileTimeReader, formatMonths, formatNames, timeFormatProblem } from '../../src/core/time/time.ts';
import { plainFormat, read } from '../support/moments.ts';

const require = createRequire(import.meta.url);

describe('ISO 8601', () => {
  test.each([
    ['2026-03-05', '2026-03 at 2026-03-05T00:00:00'],
    ['20260305', '2026-03 at 2026-03-05T00:00:00'],
    ['2026-03', '2026-03 at 2026-03-01T00:00:00'],
    ['1000-01-01', '1000-01 at 1000-01-01T00:00:00'],
    ['9999-12-31', '9999-12 at 9999-12-31T00:00:00'],
    ['2024-02-29', '2024-02 at 2024-02-29T00:00:00'],
    ['\u00a0 2026-03-05\r\n', '2026-03 at 2026-03-05T00:00:00'],
    ['2026-03-05T10:15', '2026-03 at 2026-03-05T10:15:00'],
    ['2026-03-05 10:15:30', '2026-03 at 2026-03-05T10:15:30'],
    ['20260305T101530', '2026-03 at 2026-03-05T10:15:30'],
    ['2026-03-05T1015', '2026-03 at 2026-03-05T10:15:00'],
    ['2026-03-05T10:15:30.5', '2026-03 at 2026-03-05T10:15:30.500000000'],
    ['2026-03-05T10:15:30,123456789999', '2026-03 at 2026-03-05T10:15:30.123456789'],
    ['20260305T101530.000001Z', '2026-03 at 2026-03-05T10:15:30.000001000'],
    [`2026-03-05T10:15:30.${'1'.repeat(300)}`, '2026-03 at 2026-03-05T10:15:30.111111111'],
    ['2026-03-05T10:15:30Z', '2026-03 at 2026-03-05T10:15:30'],
    ['2026-03-05T10:15:30+02', '2026-03 at 2026-03-05T08:15:30'],
    ['2026-03-05 10:15:30.25 +0230', '2026-03 at 2026-03-05T07:45:30.250000000'],
    ['2026-03-05T10:15-05:00', '2026-03 at 2026-03-05T15:15:00'],
    ['2026-03-05T10:15:30\u221205:00', '2026-03 at 2026-03-05T15:15:30'],
    ['2026-03-31T23:30-05:00', '2026-04 at 2026-04-01T04:30:00'],
    // As PostgreSQL, MariaDB, SQL Server and BigQuery write them.
    ['2024-01-31 23:00:00', '2024-01 at 2024-01-31T23:00:00'],
    ['2024-01-31 23:00:00.123456', '2024-01 at 2024-01-31T23:00:00.123456000'],
    ['2024-01-31 23:00:00+00', '2024-01 at 2024-01-31T23:00:00'],
    ['2024-01-31 23:00:00.5-03', '2024-02 at 2024-02-01T02:00:00.500000000'],
    ['2024-01-31 23:00:00+05:30', '2024-01 at 2024-01-31T17:30:00'],
    ['2024-01-31 23:00:00+0530', '2024-01 at 2024-01-31T17:30:00'],
    ['1880-01-01 00:00:00+00:53:28', '1879-12 at 1879-12-31T23:06:32'],
    ['2024-01-31 23:00:00.1234567 +05:30', '2024-01 at 2024-01-31T17:30:00.123456700'],
    ['2024-01-31 23:00:00 UTC', '2024-01 at 2024-01-31T23:00:00'],
  ])('reads %j as %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['', 'time is empty'],
    ['2026-02-30', 'February 2026 has days 1 to 28, not 30'],
    ['2026-13-01', 'there is no month 13'],
    ['2026-00', 'there is no month 0'],
    ['2026-03-00', 'March 2026 has days 1 to 31, not 0'],
    ['0999-12-31', 'the year 999 is outside 1000 to 9999'],
    ['12026-03-05', 'only years from 1000 to 9999'],
    ['-0044-03-15', 'not an ISO 8601 date'],
    ['2026', 'a year alone names no month; say format: yyyy'],
    ['2026-Q1', 'say format: fiscal-quarter'],
    ['45292', 'say format: excel-serial'],
    ['infinity', 'infinity is not a date'],
    ['-infinity', 'infinity is not a date'],
    ['0000-00-00', 'a date of zeros means that there is no date'],
    ['0000-00-00 00:00:00', 'a date of zeros means that there is no date'],
    ['2024-01-00', 'January 2024 has days 1 to 31, not 0'],
    ['2024-01-31 23:00:00+05:60', 'there is no zone +05:60'],
    ['2024-01-31 23:00:00+00:53:60', 'there is no zone +00:53:60'],
    ['2024-W05', 'a week may lie in two months; export the day instead'],
    ['2024W05', 'a week may lie in two months'],
    ['202603', 'say format: yyyyMM'],
    ['2026-W10-4', 'week dates are not read'],
    ['2026-064', 'dates by day of the year are not read'],
    ['2026-03-05T24:00', 'there is no hour 24'],
    ['2026-03-05T24:00:00Z', 'there is no hour 24'],
    ['2026-03-05T25:00', 'there is no hour 25'],
    ['2026-03-05T10:60', 'there is no minute 60'],
    ['2026-06-30T23:59:60Z', 'there is no second 60'],
    ['2026-03-05T10:15+25:00', 'there is no zone +25:00'],
    ['2026-03T10:15', 'a time needs a day'],
    ['1772668800', 'format: unix'],
    ['1772668800000', 'format: unix-ms'],
    ['2026-03-05T10', 'not an ISO 8601 date'],
    ['2026-03-05T10:15.5', 'not an ISO 8601 date'],
    ['2026-03-05Z', 'not an ISO 8601 date'],
    ['2026-3-5', 'not an ISO 8601 date'],
    ['2026-03-05x', 'not an ISO 8601 date'],
    ['05.03.2026', 'say format: with date-fns tokens such as dd.MM.yyyy'],
    ['２０２６-03-05', 'not an ISO 8601 date'],
  ])('rejects %j: %s', (text, reason) => {
    expect(read(text)).toContain(reason);
  });

  test('reads back every moment that is written by it', () => {
    const date = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(date, (at) => {
        const iso = at.toISOString();
        const expected = read(String(at.getTime()), { formats: ['unix-ms'] });
        for (const text of [iso, iso.replace('Z', ''), iso.replace('T', ' '), iso.replaceAll(/[-:]/g, '')]) {
          expect(read(text)).toBe(expected);
        }
      }),
    );
  });
});

describe('a month', () => {
  test('of a date without a time is the month of that date in every zone', () => {
    for (const agent of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin']) {
      expect(read('2026-03-01', { agent, timezone: 'America/New_York' })).toMatch(/^2026-03 /);
      expect(read('2026-03-31', { agent, timezone: 'Asia/Tokyo' })).toMatch(/^2026-03 /);
      expect(read('01.03.2026', { agent, timezone: 'Asia/Tokyo', formats: ['dd.MM.yyyy'] })).toMatch(/^2026-03 /);
    }
  });

  test("of a moment with a zone is the one it has in the agent's zone", () => {
    const agent = 'Europe/Berlin';
    expect(read('2026-03-31T22:30:00Z', { agent })).toBe('2026-04 at 2026-03-31T22:30:00');
    expect(read('2026-03-31T21:59:59Z', { agent })).toBe('2026-03 at 2026-03-31T21:59:59');
    expect(read('1774996200', { agent, formats: ['unix'] })).toBe('2026-04 at 2026-03-31T22:30:00');
    expect(read('1774996200', { agent: 'UTC', formats: ['unix'] })).toBe('2026-03 at 2026-03-31T22:30:00');
    expect(read('31.03.2026 22:30 +0000', { agent, formats: ['dd.MM.yyyy HH:mm xx'] })).toMatch(/^2026-04 /);
  });

  test("of a date-time without a zone is read in its own zone, else in the agent's", () => {
    const agent = 'Europe/Berlin';
    expect(read('2026-03-31T23:30', { agent })).toBe('2026-03 at 2026-03-31T21:30:00');
    expect(read('2026-03-31T23:30', { agent, timezone: 'America/New_York' })).toBe('2026-04 at 2026-04-01T03:30:00');
    expect(read('2026-04-01T02:00', { agent, timezone: 'Asia/Tokyo' })).toBe('2026-03 at 2026-03-31T17:00:00');
  });

  test('of a date-time is as written even where its clocks skipped it', () => {
    // Manila had no 31 December 1844: it moved to the other side of the date line.
    expect(read('1844-12-31T12:00', { agent: 'Asia/Manila' })).toMatch(/^1844-12 /);
  });

  test("of a date is ordered by its midnight in the agent's zone", () => {
    expect(read('2026-03-05', { agent: 'Europe/Berlin' })).toBe('2026-03 at 2026-03-04T23:00:00');
  });

  test('never leaves the years 1000 to 9999, not even by its zone', () => {
    expect(read('9999-12-31T23:30:00Z', { agent: 'Europe/Berlin' })).toContain('outside 1000 to 9999');
    expect(read('1000-01-01T00:30:00Z', { agent: 'America/New_York' })).toContain('outside 1000 to 9999');
    expect(read('0999-12-31T23:30:00-05:00', { agent: 'UTC' })).toContain('outside 1000 to 9999');
    expect(read('9999-12-31T23:30:00', { agent: 'Europe/Berlin' })).toMatch(/^9999-12 /);
    const words = { agent: 'UTC', timezone: 'America/New_York', formats: ['d MMM yyyy HH:mm'] };
    expect(read('31 Dec 0999 23:30', words)).toContain('outside 1000 to 9999');
    expect(read('1000-01-01T00:30:00+01:00', { agent: 'Europe/Berlin' })).toMatch(/^1000-01 /);
  });
});

describe('UNIX time', () => {
  test.each([
    ['unix', '0', '1970-01 at 1970-01-01T00:00:00'],
    ['unix', '-0', '1970-01 at 1970-01-01T00:00:00'],
    ['unix', '1772668800.25', '2026-03 at 2026-03-05T00:00:00.250000000'],
    ['unix', '-1', '1969-12 at 1969-12-31T23:59:59'],
    ['unix', '-0.25', '1969-12 at 1969-12-31T23:59:59.750000000'],
    ['unix', '\u22121.000000001', '1969-12 at 1969-12-31T23:59:58.999999999'],
    ['unix', ' 253402300799 ', '9999-12 at 9999-12-31T23:59:59'],
    ['unix-ms', '1772668800250', '2026-03 at 2026-03-05T00:00:00.250000000'],
    ['unix-ms', '1772668800250.5', '2026-03 at 2026-03-05T00:00:00.250500000'],
    ['unix-ms', '-1', '1969-12 at 1969-12-31T23:59:59.999000000'],
    ['unix-ms', '7', '1970-01 at 1970-01-01T00:00:00.007000000'],
  ])('%s %j is %s', (format, text, expected) => {
    expect(read(text, { formats: [format] })).toBe(expected);
  });

  test.each([
    ['unix', '1772668800000', 'looks like milliseconds: format: unix-ms'],
    ['unix', '-1772668800000', 'looks like milliseconds'],
    ['unix', '253402300800', 'outside 1000 to 9999'],
    ['unix', '99999999999999999999', 'too many digits'],
    ['unix', '1e9', 'not UNIX seconds'],
    ['unix', '0x10', 'not UNIX seconds'],
    ['unix', '1.', 'not UNIX seconds'],
    ['unix', '2026-03-05', 'not UNIX seconds'],
    ['unix-ms', '253402300800000', 'outside 1000 to 9999'],
    ['unix-ms', '9999999999999999', 'too many digits'],
    ['unix-ms', 'x', 'not UNIX milliseconds'],
  ])('%s rejects %j: %s', (format, text, reason) => {
    expect(read(text, { formats: [format] })).toContain(reason);
  });
});

describe('tokens', () => {
  test.each([
    ['dd.MM.yyyy', '05.03.2026', '2026-03-05T00:00:00'],
    ['dd.MM.yyyy', '5.3.2026', '2026-03-05T00:00:00'],
    ['M/d/yy', '3/5/26', '2026-03-05T00:00:00'],
    ['M/d/yy', '3/5/50', '1950-03-05T00:00:00'],
    ['M/d/yy', '3/5/49', '2049-03-05T00:00:00'],
    ['yyyyMM', '202603', '2026-03-01T00:00:00'],
    ['yyyyMMddHHmmssSSS', '20260305101530250', '2026-03-05T10:15:30.250000000'],
    ['yyyy-MM-dd HH:mm:ss.SSSSSS', '2026-03-05 10:15:30.000001', '2026-03-05T10:15:30.000001000'],
    ["yyyy'M'MM", '2026M03', '2026-03-01T00:00:00'],
    ['MM.yyyy', '03.2026', '2026-03-01T00:00:00'],
    ['MMM-yy', 'Jan-24', '2024-01-01T00:00:00'],
    ["dd ''MM'' yyyy", "05 '03' 2026", '2026-03-05T00:00:00'],
    ['yyyy MMMM', '2026 march', '2026-03-01T00:00:00'],
    ['MMMM yyyy', 'MARCH\u00a02026', '2026-03-01T00:00:00'],
    ['MMM-yy', 'Sept-26', '2026-09-01T00:00:00'],
    ['d MMM. yyyy', '5 Mar. 2026', '2026-03-05T00:00:00'],
    ['d MMM yyyy', '5 Mar. 2026', '2026-03-05T00:00:00'],
    ['do MMMM yyyy', '5th March 2026', '2026-03-05T00:00:00'],
    ['ddMMMyyyy', '05MAR2026', '2026-03-05T00:00:00'],
    ['EEE, d MMM yyyy h:mm a', 'Thu, 5 Mar 2026 1:45 PM', '2026-03-05T13:45:00'],
    ["RRRR-'W'II-i", '2026-W10-4', '2026-03-05T00:00:00'],
    ['yyyy-DDD', '2026-064', '2026-03-05T00:00:00'],
    ['yyyy-MM-dd HH:mm X', '2026-03-05 10:15 +02', '2026-03-05T08:15:00'],
    ['T', '1772668800250', '2026-03-05T00:00:00.250000000'],
  ])('%s reads %j', (tokens, text, instant) => {
    expect(timeFormatProblem({ ...plainFormat, formats: [tokens] })).toBeUndefined();
    expect(read(text, { formats: [tokens] })).toBe(`${instant.slice(0, 7)} at ${instant}`);
  });

  test.each([
    ['dd.MM.yyyy', '30.02.2026', 'February 2026 has days 1 to 28'],
    ['dd.MM.yyyy', '05.13.2026', 'there is no month 13'],
    ['dd.MM.yyyy', '05.03.26', 'does not fit the format dd.MM.yyyy'],
    ['dd.MM.yyyy', '05.03.2026 x', 'does not fit'],
    ['dd.MM.yyyy', '05.03.02026', 'does not fit'],
    ['dd.MM.yyyy', '05-03-2026', 'does not fit'],
    ['yyyyMMdd', '2026111', 'does not fit'],
    ['yyyy MMMM', '26 March', 'outside 1000 to 9999'],
    ['yyyy MMMM', '2026 Marsh', 'does not fit'],
    ['MMM yyyy', 'J 2026', 'does not fit'],
    ['d MMMM yyyy', '31 April 2026', 'April 2026 has days 1 to 30, not 31'],
    ['d MMMM yy', '29 February 30', 'does not fit'],
    ['d MMMM yyyy', '32 April 2026', 'does not fit'],
    ['yyyy-MM-dd HH:mm', '2026-03-05 24:00', 'there is no hour 24'],
  ])('%s rejects %j: %s', (tokens, text, reason) => {
    expect(read(text, { formats: [tokens] })).toContain(reason);
  });

  test.each([
    ['QQQ yyyy', 'Q3 2026', '2026-07 and 2 more at 2026-07-01T00:00:00'],
    ["yyyy'Q'Q", '2026Q2', '2026-04 and 2 more at 2026-04-01T00:00:00'],
    ['qqq-yy', 'q1-26', '2026-01 and 2 more at 2026-01-01T00:00:00'],
    ["yyyy 'H' Q", '2026 H 4', '2026-10 and 2 more at 2026-10-01T00:00:00'],
    ['yyyy', '2026', '2026-01 and 11 more at 2026-01-01T00:00:00'],
    ["'FY'yy", 'FY26', '2026-01 and 11 more at 2026-01-01T00:00:00'],
    ['yyyy', '9999', '9999-01 and 11 more at 9999-01-01T00:00:00'],
  ])('%s reads the months of %j', (tokens, text, expected) => {
    expect(timeFormatProblem({ ...plainFormat, formats: [tokens] })).toBeUndefined();
    expect(read(text, { formats: [tokens] })).toBe(expected);
  });

  test.each([
    [["yyyy'Q'Q"], '2026Q5', 'does not fit'],
    [['QQQ yyyy'], 'Q0 2026', 'does not fit'],
    [['yyyy'], '26', 'does not fit'],
    [['yyyy'], '2026-03', 'does not fit'],
    [['MMM yyyy'], '2024-W05', 'a week may lie in two months'],
    [['iso', 'yyyyMM'], '2024-W05', 'a week may lie in two months'],
  ])('%j rejects %j: %s', (formats, text, reason) => {
    expect(read(text, { formats })).toContain(reason);
  });

  test('of digits alone read as date-fns does', () => {
    const { format, parse } = {
      ...require('date-fns/format'),
      ...require('date-fns/parse'),
    } as typeof import('date-fns/format') & typeof import('date-fns/parse');
    const tokens = fc.constantFrom(
      'dd.MM.yyyy',
      'd/M/yy',
      'yyyyMMdd',
      'yyyy-MM-dd HH:mm:ss.SSS',
      "H:m 'at' d M yyyy",
      'MM/yyyy',
    );
    const date = fc.date({ min: new Date('1950-01-02'), max: new Date('2049-12-30'), noInvalidDate: true });
    fc.assert(
      fc.property(tokens, date, (pattern, at) => {
        const text = format(at, pattern);
        const back = parse(text, pattern, new Date(2000, 0, 1));
        const wall = new Date(back.getTime() - back.getTimezoneOffset() * 60_000).toISOString();
        expect(read(text, { formats: [pattern] }).slice(11, 30)).toBe(wall.slice(0, 19));
      }),
    );
  });
});

// A thread, in which mutants are judged, cannot change it.
describe.runIf(isMainThread)("the process's own zone", () => {
  const own = process.env['TZ'];
  afterEach(() => {
    if (own === undefined) delete process.env['TZ'];
    else process.env['TZ'] = own;
  });

  test.each(['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia'])('%s changes nothing', (zone) => {
    process.env['TZ'] = zone;
    expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
    // Berlin's clocks skip this half hour, Apia skipped the 30th, São Paulo a midnight.
    expect(read('29 Mar 2026 02:30', { formats: ['d MMM yyyy HH:mm'] })).toBe('2026-03 at 2026-03-29T02:30:00');
    expect(read('30 Dec 2011', { formats: ['d MMM yyyy'] })).toBe('2011-12 at 2011-12-30T00:00:00');
    expect(read('4 Nov 2018 00:30 +00', { formats: ['d MMM yyyy HH:mm x'] })).toBe('2018-11 at 2018-11-04T00:30:00');
    expect(read('2018-11-04 00:30')).toBe('2018-11 at 2018-11-04T00:30:00');
    expect(timeFormatProblem({ ...plainFormat, formats: ['d MMM yyyy HH:mm x'] })).toBeUndefined();
  });
});

describe('several formats', () => {
  test('are tried in their order, and no others', () => {
    const formats = ['dd/MM/yyyy', 'MM/dd/yyyy', 'iso'];
    expect(read('03/05/2026', { formats })).toMatch(/^2026-05 /);
    expect(read('03/25/2026', { formats })).toMatch(/^2026-03 /);
    expect(read('2026-03-05', { formats })).toMatch(/^2026-03 /);
    expect(read('1772668800', { formats })).toBe(
      'time "1772668800" cannot be read: it fits none of the formats dd/MM/yyyy, MM/dd/yyyy, iso',
    );
    expect(read('2026-03-05', { formats: ['dd/MM/yyyy'] })).toContain('does not fit');
  });

  test('read the same however many texts came before', () => {
    const reader = compileTimeReader({ ...plainFormat, formats: ['unix'] }, 'UTC');
    const first = reader('86400');
    for (let i = 0; i < 25_000; i++) reader(String(i));
    expect(reader('86400')).toEqual(first);
    expect(reader('x')).toBe(reader('x'));
  });
});

describe('a format with a problem', () => {
  test.each([
    [{ formats: [] }, 'no format is given'],
    [{ formats: [''] }, 'the format is empty'],
    [{ formats: ['\n'] }, 'the format is empty'],
    [{ timezone: 'Europe/Bearlin' }, 'unknown time zone "Europe/Bearlin"'],
    [{ timezone: '+02:00' }, 'say an IANA name'],
    [{ locales: ['xx'] }, 'unknown locale "xx"'],
    [{ locales: ['en', '../../package'] }, 'unknown locale'],
    [{ locales: [] }, 'no locale is given'],
    [{ formats: ['yyyy-dd'] }, 'no month in it'],
    [{ formats: ['yyyy-mm'] }, 'no month in it (MM; mm is the minute)'],
    [{ formats: ['QQQ yyyy HH:mm'] }, 'no month in it'],
    [{ formats: ['MM/dd'] }, 'no year in it'],
    [{ formats: ['yyyy-mm-dd'] }, 'mm is the minute'],
    [{ formats: ['QQQ'] }, 'no year in it'],
    [{ formats: ["'FY'"] }, 'no year in it'],
    [{ formats: ['RRRR-II'] }, 'a week may lie in two months; export the day instead'],
    [{ formats: ["yyyy-'W'ww"] }, 'a week may lie in two months'],
    [{ formats: ['RRRR'] }, 'say yyyy'],
    [{ formats: ["yyyy-MM'"] }, 'not even what it writes in en'],
    [{ formats: ['yyyy-M1'] }, 'not even what it writes in en'],
    [{ formats: ['yyyy\nMM'] }, 'not even what it writes in en'],
    [{ formats: ['yyyy年'] }, 'no month in it'],
    [{ formats: ['QQQ yyyy'], locales: ['en', 'hu'] }, 'not even what it writes in hu'],
    [{ formats: ['d MMM yyyy'], locales: ['en', 'cs', 'hr'] }, 'is one month in cs and another in hr'],
    [{ formats: ['YYYY-MM-dd'] }, 'say yyyy for the year'],
    [{ formats: ['yyyy-MM-DD'] }, 'dd for the day'],
    [{ formats: ['MMMMM yyyy'] }, 'months of one letter'],
    [{ formats: ['dd.MM.yyyy hh:mm'] }, 'say HH for 24 hours'],
    [{ formats: ['dd.MM.yyyy KK:mm B'] }, 'need a beside them'],
    [{ formats: ['yyyy-MM-dd X'] }, 'a zone needs a time of day'],
    [{ formats: ['yyyy-MM-ddTHH:mm'] }, "other letters in 'quotes'"],
    [{ formats: ['yyyy-MM-dd z'] }, 'unescaped latin alphabet character `z`'],
    [{ formats: ['iso', 'timestamp'] }, 'say iso, unix, unix-ms'],
    [{ formats: ['ISO'] }, 'say iso, unix, unix-ms'],
  ])('%j is told: %s', (format, problem) => {
    expect(timeFormatProblem({ ...plainFormat, ...format })).toContain(problem);
  });

  test('is told all formats that have a name', () => {
    const problem = timeFormatProblem({ ...plainFormat, formats: ['timestamp'] });
    for (const name of formatNames()) expect(problem).toContain(`${name}, `);
  });

  test('is not one that can be read', () => {
    const formats = ['iso', 'unix', 'unix-ms', 'dd.MM.yyyy', 'MMM yy'];
    expect(timeFormatProblem({ ...plainFormat, formats, locales: ['de-DE'], timezone: 'Asia/Tokyo' })).toBeUndefined();
  });

  test('may be used with languages that disagree on names if it has digits only', () => {
    expect(timeFormatProblem({ ...plainFormat, formats: ['dd.MM.yyyy'], locales: ['cs', 'hr'] })).toBeUndefined();
  });
});

test.each([
  [['iso', 'unix', 'unix-ms', 'fiscal-period', 'decimal-month', 'excel-serial'], 1],
  [["d 'Q' MMM yyyy", 'yyyy-DDD', "RRRR-'W'II-i", 'P', 'T', 'LLLL yyyy'], 1],
  [['iso', 'fiscal-quarter'], 3],
  [['QQQ yyyy'], 3],
  [["'M' yyyy", 'iso'], 12],
  [['QQQ yyyy', 'yyyy'], 12],
])('the longest span that %j name is %i months', (formats, months) => {
  expect(formatMonths({ ...plainFormat, formats })).toBe(months);
});
