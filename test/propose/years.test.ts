/** Where `init --from` takes the year of a date to stand that has two digits of each number. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

interface Asked {
  readonly format: unknown;
  readonly undecided: readonly string[];
  readonly text: string;
}

function asked(...dates: readonly string[]): Asked {
  const {
    source,
    sources,
    text = '',
  } = proposed({
    'a.csv': lines('date,amount', ...dates.map((date, at) => `${date},${at}.5`)),
  });
  const time = source.drivers[0]?.time as { readonly format?: string };
  return { format: time.format, undecided: sources[0]?.undecided ?? [], text };
}

/** The dates of an export by month, October to February, as `10-23` to `02-24`. */
const winter = ['10-23', '11-23', '12-23', '01-24', '02-24'];
/** Within one year. */
const autumn = winter.slice(0, 3);

describe.each(['.', '-', '/'])('dates with a %s and one day a month', (mark) => {
  const written = (text: string): string => text.replaceAll('-', mark);

  test.each(['01', '15', '28'])('are days first where the months run on from year to year: day %s', (day) => {
    const dates = winter.map((month) => written(`${day}-${month}`));
    expect(asked(...dates)).toMatchObject({ format: written('dd-MM-yy'), undecided: [] });
    expect(asked(...dates.toReversed())).toMatchObject({ format: written('dd-MM-yy'), undecided: [] });
  });

  test.each([
    ['15', '2015-10'],
    ['28', '2028-10'],
  ])('are asked about within one year, with what else they could be: day %s', (day, month) => {
    const { format, undecided, text } = asked(...autumn.map((date) => written(`${day}-${date}`)));
    expect(format).toBe(written('dd-MM-yy'));
    expect(undecided).toEqual([
      `undecided: the year may stand first or last, so "${written(`${day}-10-23`)}" could be 2023-10 or ${month}: ask whoever makes the export`,
    ]);
    expect(text).toContain(`or time: { from: "{date}", format: ${written('yy-MM-dd')} }`);
  });

  test('are years first where it is so that they run on', () => {
    const dates = ['24-10-15', '24-11-15', '24-12-15', '25-01-15', '25-02-15'].map(written);
    expect(asked(...dates)).toMatchObject({ format: written('yy-MM-dd'), undecided: [] });
  });

  test('are decided within one year by a year far from the others', () => {
    expect(asked(...autumn.map((date) => written(`01-${date}`)))).toMatchObject({
      format: written('dd-MM-yy'),
      undecided: [],
    });
  });

  test('are decided by the last days of months', () => {
    expect(asked(...['31-10-23', '30-11-23', '31-12-23'].map(written))).toMatchObject({
      format: written('dd-MM-yy'),
      undecided: [],
    });
    expect(asked(...['23-10-31', '23-11-30', '23-12-31'].map(written))).toMatchObject({
      format: written('yy-MM-dd'),
      undecided: [],
    });
  });
});

test('one day of each quarter is the day, where the quarters run on', () => {
  const dates = ['15.03.23', '15.06.23', '15.09.23', '15.12.23', '15.03.24'];
  expect(asked(...dates)).toMatchObject({ format: 'dd.MM.yy', undecided: [] });
});

test('one date a year may be three days of a month', () => {
  expect(asked('15.01.21', '15.01.22', '15.01.23').undecided).toEqual([
    'undecided: the year may stand first or last, so "15.01.21" could be 2015-01 or 2021-01: ask whoever makes the export',
  ]);
});

test('texts that were sorted do not make a year of the day', () => {
  const months = Array.from({ length: 12 }, (_, at) => String(at + 1).padStart(2, '0'));
  const dates = months.flatMap((month) => [`28.${month}.23`, `28.${month}.24`]);
  expect(asked(...dates)).toMatchObject({ format: 'dd.MM.yy', undecided: [] });
});

test('years that nothing speaks for against the dates by month of 2009 are asked about', () => {
  expect(asked('15.10.09', '15.11.09', '15.12.09', '15.01.10').undecided[0]).toContain('could be 2009-10 or 2015-10');
});

test('the first of each month in the American order is no year, and with a - no day', () => {
  const dates = ['10/01/23', '11/01/23', '12/01/23'];
  expect(asked(...dates)).toMatchObject({ format: 'MM/dd/yy', undecided: [] });
  expect(asked(...dates.map((date) => date.replaceAll('/', '-')))).toMatchObject({ format: 'MM-dd-yy', undecided: [] });
});

test('numbers that may each be day, month or year have all their readings told', () => {
  const { format, undecided, text } = asked('10/11/12', '12/10/12');
  expect(format).toBe('dd/MM/yy');
  expect(undecided).toEqual([
    'undecided: day, month and year may stand in any order, so "10/11/12" could be 2012-11, 2012-10 or 2010-11: ask whoever makes the export',
  ]);
  for (const other of ['MM/dd/yy', 'yy/MM/dd']) expect(text).toContain(`or time: { from: "{date}", format: ${other} }`);
});

test('dates that all lie within a few months are not scattered over as many years', () => {
  const dates = ['14.01.26', '20.01.26', '28.01.26', '12.02.26', '18.02.26'];
  expect(asked(...dates)).toMatchObject({ format: 'dd.MM.yy', undecided: [] });
});

test('another column of dates decides where the year stands', () => {
  const rows = autumn.map((month, at) => `15.${month.replace('-', '.')},${at + 1}.${month.replace('-', '.')},${at}.5`);
  const { source, sources } = proposed({ 'a.csv': lines('date,booked,amount', ...rows) });
  expect(source.drivers[0]?.time).toEqual({ from: '{date}', format: 'dd.MM.yy' });
  expect(sources[0]?.undecided).toEqual([]);
});

test('headers of a wide table are read alike', () => {
  const headers = winter.map((month) => `15.${month.replace('-', '.')}`);
  const { source } = proposed({
    'a.csv': lines(['account', ...headers].join(';'), 'Rent;1;2;3;4;5', 'Staff;4;5;6;7;8'),
  });
  expect(source.drivers[0]?.time).toEqual({ from: '{month}', format: 'dd.MM.yy' });
});

test('a day and the name of a month look like a year and a month, and that is said', () => {
  expect(asked('15-Jan', '15-Feb').undecided).toEqual([
    'undecided: "15-Jan" is read as 2015-01, and could be a day and a month without a year: ask whoever makes the export',
  ]);
  expect(asked('95-Jan', '95-Feb').undecided).toEqual([]);
});
