/** The month that each text of a time gives, format by format and zone by zone. */
import { describe, expect, test } from 'vitest';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import { readRow, sinkOf } from '../support/mapping.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import { settings } from '../support/config-world.ts';
import { months, rejected } from '../support/contract-table.ts';

describe('ISO 8601', () => {
  months({}, [
    ['2026-03-01', '2026-03'],
    ['2026-03', '2026-03'],
    ['2026-12-31', '2026-12'],
    ['2024-02-29', '2024-02'],
    ['2026-03-01T00:00:00Z', '2026-03'],
    ['2026-03-01T00:00Z', '2026-03'],
    ['2026-02-28T23:59:59.999999999Z', '2026-02'],
    ['2026-03-01T00:30:00+02:00', '2026-02'],
    ['2026-03-01T00:30:00+0200', '2026-02'],
    ['2026-02-28T23:30:00-05:00', '2026-03'],
    ['2026-03-01T00:00:00', '2026-03'],
    ['2026-03-31T23:59:59', '2026-03'],
    ['1969-12-31T23:59:59Z', '1969-12'],
    ['1000-01-01', '1000-01'],
    ['9999-12-31', '9999-12'],
    ['0999-12-31', rejected],
    ['0001-01', rejected],
    ['10000-01-01', rejected],
    ['+010000-01-01', rejected],
    ['2026-13-01', rejected],
    ['2026-00-01', rejected],
    ['2026-02-29', rejected],
    ['2026-02-30', rejected],
    ['2026-04-31', rejected],
    ['2026-03-00', rejected],
    ['2026-03-01T25:00:00Z', rejected],
    ['2026-03-01T10:61:00Z', rejected],
    ['01.03.2026', rejected],
    ['03/01/2026', rejected],
    ['26-03-01', rejected],
    ['March 2026', rejected],
    ['1772323200', rejected],
    ['', rejected],
    ['   ', rejected],
    ['today', rejected],
    ['2026-03-01x', rejected],
    ['2026-03-01T00:00:00 Europe/Berlin', rejected],
  ]);
});

describe('a moment in Berlin', () => {
  months({ timezone: 'Europe/Berlin' }, [
    ['2026-02-28T22:59:59Z', '2026-02'],
    ['2026-02-28T23:00:00Z', '2026-03'],
    ['2026-03-31T21:59:59Z', '2026-03'],
    ['2026-03-31T22:00:00Z', '2026-04'], // summer time by then
    ['2026-03-01T00:00:00', '2026-03'],
    ['2026-03-29T02:30:00', '2026-03'], // a time that the clocks skip
    ['2026-03-01', '2026-03'],
    ['2026-03', '2026-03'],
  ]);
});

describe('a moment in New York', () => {
  months({ timezone: 'America/New_York' }, [
    ['2026-03-01T04:59:59Z', '2026-02'],
    ['2026-03-01T05:00:00Z', '2026-03'],
    ['2026-03-01T00:00:00', '2026-03'],
    ['2026-03-01', '2026-03'],
  ]);
});

describe('a moment in Kiritimati', () => {
  months({ timezone: 'Pacific/Kiritimati' }, [
    ['2026-02-28T09:59:59Z', '2026-02'],
    ['2026-02-28T10:00:00Z', '2026-03'],
    ['2026-03-01', '2026-03'],
  ]);
});

describe('a moment in Kathmandu', () => {
  months({ timezone: 'Asia/Kathmandu' }, [
    ['2026-02-28T18:14:59Z', '2026-02'],
    ['2026-02-28T18:15:00Z', '2026-03'],
  ]);
});

describe('a date of Apia that did not exist, since the island skipped it', () => {
  months({ timezone: 'Pacific/Apia' }, [['2011-12-30', '2011-12']]);
});

describe("a date-time in the column's own zone", () => {
  months({ time: '{ from: "{t}", timezone: America/New_York }' }, [
    ['2026-02-28T18:59:59', '2026-02'],
    ['2026-02-28T19:00:00', '2026-03'],
    ['2026-02-28T23:00:00Z', '2026-02'],
    ['2026-03-01', '2026-03'],
    ['2026-03', '2026-03'],
  ]);
});

describe('a date in any zone', () => {
  months({ time: '{ from: "{t}", timezone: Pacific/Kiritimati }', timezone: 'Pacific/Pago_Pago' }, [
    ['2026-03-01', '2026-03'],
    ['2026-02-28', '2026-02'],
    ['2026-03-01T00:00:00', '2026-02'],
  ]);
});

describe('unix seconds', () => {
  months({ time: '{ from: "{t}", format: unix }' }, [
    ['1772323200', '2026-03'],
    ['1772323199', '2026-02'],
    ['0', '1970-01'],
    ['-1', '1969-12'],
    ['-2208988800', '1900-01'],
    ['-2208988801', '1899-12'],
    ['1772323200000', rejected],
    ['2026-03-01', rejected],
    ['1e9', rejected],
    ['', rejected],
  ]);
});

describe('unix seconds in New York', () => {
  months({ time: '{ from: "{t}", format: unix }', timezone: 'America/New_York' }, [
    ['1772323200', '2026-02'],
    ['1772341200', '2026-03'],
  ]);
});

describe('unix milliseconds', () => {
  months({ time: '{ from: "{t}", format: unix-ms }' }, [
    ['1772323200000', '2026-03'],
    ['1772323199999', '2026-02'],
    ['-1', '1969-12'],
    ['0', '1970-01'],
  ]);
});

describe('day, month, year', () => {
  months({ time: '{ from: "{t}", format: dd.MM.yyyy }' }, [
    ['01.03.2026', '2026-03'],
    ['31.12.2026', '2026-12'],
    ['29.02.2024', '2024-02'],
    ['29.02.2026', rejected],
    ['31.02.2026', rejected],
    ['01.13.2026', rejected],
    ['01.03.0999', rejected],
    ['2026-03-01', rejected],
    ['01.03.2026 10:00', rejected],
    ['01/03/2026', rejected],
  ]);
});

describe('month, day, year', () => {
  months({ time: '{ from: "{t}", format: MM/dd/yyyy }' }, [
    ['03/01/2026', '2026-03'],
    ['12/31/2026', '2026-12'],
    ['31/12/2026', rejected],
  ]);
});

describe('a month in digits', () => {
  months({ time: '{ from: "{t}", format: yyyyMM }' }, [
    ['202603', '2026-03'],
    ['202613', rejected],
    ['2026-03', rejected],
  ]);
});

describe('a day in digits', () => {
  months({ time: '{ from: "{t}", format: yyyyMMdd }' }, [
    ['20260301', '2026-03'],
    ['20260230', rejected],
  ]);
});

describe('an English month', () => {
  months({ time: '{ from: "{t}", format: MMMM yyyy, locale: en }' }, [
    ['March 2026', '2026-03'],
    ['December 1999', '1999-12'],
    ['März 2026', rejected],
    ['Smarch 2026', rejected],
  ]);
});

describe('a short English month', () => {
  months({ time: '{ from: "{t}", format: MMM yyyy, locale: en }' }, [
    ['Mar 2026', '2026-03'],
    ['May 2026', '2026-05'],
    ['Dec 2026', '2026-12'],
  ]);
});

describe('a German month', () => {
  months({ time: '{ from: "{t}", format: d. MMMM yyyy, locale: de }' }, [
    ['15. März 2026', '2026-03'],
    ['1. Dezember 2026', '2026-12'],
    ['32. März 2026', rejected],
  ]);
});

describe('a French month', () => {
  months({ time: '{ from: "{t}", format: MMMM yyyy, locale: fr }' }, [
    ['février 2026', '2026-02'],
    ['août 2026', '2026-08'],
  ]);
});

describe('a date-time with a format in its own zone', () => {
  months({ time: '{ from: "{t}", format: "dd.MM.yyyy HH:mm", timezone: America/New_York }' }, [
    ['28.02.2026 18:59', '2026-02'],
    ['28.02.2026 19:00', '2026-03'],
    ['28.02.2026 24:30', rejected],
  ]);
});

describe('a date with a format in any zone', () => {
  months({ time: '{ from: "{t}", format: dd.MM.yyyy, timezone: Pacific/Kiritimati }', timezone: 'Pacific/Pago_Pago' }, [
    ['01.03.2026', '2026-03'],
    ['28.02.2026', '2026-02'],
  ]);
});

describe('a date-time with a zone in its format', () => {
  months({ time: '{ from: "{t}", format: "yyyy-MM-dd HH:mm xxx" }', timezone: 'Europe/Berlin' }, [
    ['2026-02-28 23:00 +00:00', '2026-03'],
    ['2026-03-01 00:30 +02:00', '2026-02'],
  ]);
});

describe('several formats, just those and in order', () => {
  months({ time: '{ from: "{t}", format: [dd/MM/yyyy, MM/dd/yyyy, iso] }' }, [
    ['04/03/2026', '2026-03'],
    ['03/31/2026', '2026-03'],
    ['2026-03-01', '2026-03'],
    ['2026-03', '2026-03'],
    ['01.03.2026', rejected],
  ]);
});

test('a moment is made of several columns', () => {
  const { sources } = settings(`destination: emulator
sources:
  s:
    type: csv
    files: [a.csv]
    drivers:
      - path: [a]
        time: { from: "{year} {month}", format: yyyy MMMM, locale: en }
        value: "{v}"
`);
  const mapper = new RowMapper(sources[0]!.mapping, ['month', 'v', 'year'], {
    timezone: 'UTC',
    calendar: undefined,
  });
  const found: string[] = [];
  readRow(
    mapper,
    { columns: ['month', 'v', 'year'], rows: [['March', '1', '2026']] },
    0,
    sinkOf((_name, { month }) => void found.push(formatMonth(month))),
  );
  expect(found).toEqual(['2026-03']);
});
