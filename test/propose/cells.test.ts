/** What `init --from` makes of numbers and dates as people and programs write them. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

const monthly = (write: (year: number, month: number) => string, count = 14): string[] =>
  Array.from({ length: count }, (_, index) => write(2024 + Math.floor(index / 12), (index % 12) + 1));
const two = (number: number): string => String(number).padStart(2, '0');

describe('numbers', () => {
  const valueOf = (...texts: string[]): unknown =>
    proposed({ 'a.csv': lines('month;amount', ...texts.map((text, index) => `2024-${two(index + 1)};"${text}"`)) })
      .source.drivers[0]?.value;

  test.each([
    [['1.50', '2'], '{amount}'],
    [['1,50', '2'], { from: '{amount}', decimal: ',' }],
    [['1.234,50', '2'], { from: '{amount}', decimal: ',', group: '.' }],
    [['1,234.50', '2'], { from: '{amount}', group: ',' }],
    [['1 234,50', '2'], { from: '{amount}', decimal: ',', group: ' ' }],
    [["1'234.50", '2'], { from: '{amount}', group: "'" }],
    [['12,34,567.50', '2'], { from: '{amount}', group: { mark: ',', sizes: [3, 2] } }],
    [['(1,234.50)', '2.25'], { from: '{amount}', group: ',', accounting: true }],
    [['$1,234.50', '2.25'], { from: '{amount}', group: ',', accounting: true }],
    [['5.1%', '3.9%'], { from: '{amount}', accounting: true }],
    [['12.50-', '3'], { from: '{amount}', accounting: true }],
    [['-.17', '.3'], '{amount}'],
    [['1e3', '2.5E-2'], '{amount}'],
  ])('%j', (texts, value) => {
    expect(valueOf(...texts)).toEqual(value);
  });

  test('words that stand for no value are listed', () => {
    const { source } = proposed({
      'a.csv': lines('month,amount', '2024-01,1.5', '2024-02,n/a', '2024-03,***', '2024-04,2', '2024-05,entf\u00e4llt'),
    });
    expect(source).toMatchObject({ missing: ['', 'n/a', '***', 'entf\u00e4llt'] });
  });

  test('another column of the file decides what a mark means', () => {
    const { source, sources } = proposed({
      'a.csv': lines('month;price;amount', '2024-01;1.234;1,5', '2024-02;2.345;2,5'),
    });
    expect(source.drivers.map(({ value }) => value)).toEqual([
      { from: '{price}', decimal: ',', group: '.' },
      { from: '{amount}', decimal: ',', group: '.' },
    ]);
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('a column of small numbers has the groups of another one, since larger ones may follow', () => {
    const { source, text } = proposed({
      'a.csv': lines('month;debit;credit', '2024-01;300.00;"1,234.56"', '2024-02;12.50;"2,000.00"'),
    });
    expect(source.drivers.map(({ value }) => value)).toEqual([
      { from: '{debit}', group: ',' },
      { from: '{credit}', group: ',' },
    ]);
    expect(text).toContain('# such as "300.00", "12.50"; groups as in "credit"\n');
  });

  test('a mark that nothing decides is said, with what else it could mean', () => {
    const { sources, text } = proposed({ 'a.csv': lines('month,amount', '2024-01,1.234', '2024-02,2.345') });
    expect(sources[0]?.undecided).toEqual([
      '"{amount}": undecided: every "." is followed by three digits; if "1.234" is in thousands',
    ]);
    expect(text).toContain('then write group: ".", decimal: ","');
  });
});

describe('dates', () => {
  const timeOf = (...texts: string[]): unknown =>
    proposed({ 'a.csv': lines('date|amount', ...texts.map((text, index) => `${text}|${index}.5`)) }).source.drivers[0]
      ?.time;

  test.each([
    [['2024-01-31', '2024-02-29'], '{date}'],
    [['20240131', '20240229'], '{date}'],
    [['2024-01-31 10:15:00', '2024-02-29 00:00:00'], '{date}'],
    [['2024-01-31T10:15:00Z', '2024-02-29T00:00:00Z'], '{date}'],
    [['31.01.2024', '1.2.2024'], 'dd.MM.yyyy'],
    [['31.01.24', '01.02.24'], 'dd.MM.yy'],
    [['26/01/15', '26/01/16', '26/02/17'], 'yy/MM/dd'],
    [['24-12-30', '25-01-02', '25-02-03'], 'yy-MM-dd'],
    [['26.01.05', '26.02.05'], 'yy.MM.dd'],
    [['01.01.26', '01.02.26'], 'dd.MM.yy'],
    [['15/01/26', '16/01/26'], 'dd/MM/yy'],
    [['31/01/2024', '01/02/2024'], 'dd/MM/yyyy'],
    [['01/31/2024', '02/01/2024'], 'MM/dd/yyyy'],
    [['1/31/2024', '2/1/2024'], 'MM/dd/yyyy'],
    [['31-01-2024', '01-02-2024'], 'dd-MM-yyyy'],
    [['2024/01/31', '2024/02/01'], 'yyyy/MM/dd'],
    [['31.01.2024 10:15', '01.02.2024 11:00'], 'dd.MM.yyyy HH:mm'],
    [['01/31/2024 10:15:00 AM', '02/01/2024 01:00:00 PM'], 'MM/dd/yyyy hh:mm:ss a'],
    [['01/2024', '02/2024'], 'MM/yyyy'],
    [['202401', '202402'], 'yyyyMM'],
    [['Jan 2024', 'Feb 2024'], 'MMM yyyy'],
    [['January 2024', 'February 2024'], 'MMM yyyy'],
    [['Jan-24', 'Feb-24'], 'MMM-yy'],
    [['31-Jan-2024', '29-Feb-2024'], 'dd-MMM-yyyy'],
    [['Jan 31, 2024', 'Feb 1, 2024'], 'MMM dd, yyyy'],
    [['Q1 2024', 'Q2 2024'], 'fiscal-quarter'],
    [['P01 FY2024', 'P02 FY2024'], 'fiscal-period'],
    [['45292', '45323'], 'excel-serial'],
    [['1704067200', '1706745600'], 'unix'],
  ])('%j', (texts, format) => {
    const time = timeOf(...texts);
    expect(typeof time === 'string' ? time : (time as { format: string }).format).toBe(format);
  });

  test('names of months tell their language', () => {
    expect(timeOf('Januar 2024', 'M\u00e4rz 2024', 'Dez 2024')).toEqual({
      from: '{date}',
      format: 'MMM yyyy',
      locale: 'de',
    });
    expect(timeOf('f\u00e9vr. 2024', 'ao\u00fbt 2024', 'd\u00e9c. 2024')).toMatchObject({ locale: 'fr' });
  });

  test('dates of months by their first day are told from days of January', () => {
    const { source, text, sources } = proposed({
      'a.csv': lines('date,amount', ...monthly((year, month) => `01/${two(month)}/${year},${month}.5`)),
    });
    expect(source.drivers[0]?.time).toEqual({ from: '{date}', format: 'dd/MM/yyyy' });
    expect(text).toContain('as dd/MM/yyyy every date is day 1 of its month');
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('dates that could be of either order are said to be undecided, with the other format', () => {
    const { text, sources } = proposed({ 'a.csv': lines('date,amount', '02/03/2024,1.5', '04/05/2024,2.5') });
    expect(sources[0]?.undecided.join()).toMatch(
      /^undecided: no day is above 12, so "02\/03\/2024" could be 2024-03 or 2024-02/,
    );
    expect(text).toContain('or time: { from: "{date}", format: MM/dd/yyyy }');
  });

  const doubtsOf = (...texts: string[]): readonly string[] =>
    proposed({ 'a.csv': lines('date,amount', ...texts.map((text, index) => `${text},${index}.5`)) }).sources[0]
      ?.undecided ?? [];

  test('the first date whose two readings are of different months is quoted, and none where there is none', () => {
    expect(doubtsOf('02/02/2024', '02/03/2024', '05/04/2024')[0]).toContain(
      'so "02/03/2024" could be 2024-03 or 2024-02',
    );
    expect(doubtsOf('02/02/2024', '03/03/2024')).toEqual([]);
  });

  test('a year of two digits that may stand first or last is asked about', () => {
    expect(doubtsOf('26/01/15', '26/02/15')).toEqual([
      'undecided: the year may stand first or last, so "26/01/15" could be 2015-01 or 2026-01: ask whoever makes the export',
    ]);
  });

  test('a day and a month without a year look like a month and a year, and that is said', () => {
    expect(doubtsOf('01/02', '03/02')).toEqual([
      'undecided: "01/02" is read as 2002-01, and could be a day and a month without a year: ask whoever makes the export',
    ]);
    expect(doubtsOf('01/26', '02/26')).toEqual([]);
  });

  test('another column of dates decides between day and month', () => {
    const { source, sources } = proposed({
      'a.csv': lines('date,booked,amount', '02/03/2024,03/16/2024,1.5', '04/05/2024,04/20/2024,2.5'),
    });
    expect(source.drivers[0]?.time).toEqual({ from: '{date}', format: 'MM/dd/yyyy' });
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('a year and a month in two columns', () => {
    expect(
      proposed({ 'a.csv': lines('Year,Month,Sales', '2024,1,1.5', '2024,2,2.5') }).source.drivers[0],
    ).toMatchObject({
      time: { from: '{Year} {Month}', format: 'yyyy MM' },
      value: '{Sales}',
    });
    expect(
      proposed({ 'a.csv': lines('Jahr;Monat;Umsatz', '2024;M\u00e4rz;1,5', '2024;Mai;2,5') }).source.drivers[0],
    ).toMatchObject({
      time: { from: '{Jahr} {Monat}', format: 'yyyy MMM', locale: 'de' },
    });
  });

  test.each([
    [lines('Konto;2024;2025;2026', 'A;1;2;3', 'B;4;5;6'), '2024-01 to 2026-12'],
    [lines('Konto;2024', 'A;1', 'B;4'), '2024-01 to 2024-12'],
    [lines('Konto;Q1 2026;Q2 2026', 'A;1;2', 'B;4;5'), '2026-01 to 2026-06'],
    [lines('quarter;amount', 'Q3 2025;1.5', 'Q1 2026;2.5'), '2025-07 to 2026-03'],
    [lines('Konto;2026-01;2026-02', 'A;1;2', 'B;4;5'), '2026-01 to 2026-02'],
  ])('the months beside a time go up to the last one that gets a value: %j', (content, span) => {
    expect(proposed({ 'a.csv': content }).text).toMatch(new RegExp(`time: .*; ${span}$`, 'm'));
  });

  test('values of quarters and years are spread over their months', () => {
    expect(proposed({ 'a.csv': lines('year,amount', '2023,1.5', '2024,2.5') }).source.drivers[0]).toMatchObject({
      time: { from: '{year}', format: 'yyyy' },
      spread: 'repeat',
    });
  });
});
