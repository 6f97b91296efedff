/** What `init --from` makes of several files, and of what their names say. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

describe("what only the file's name says", () => {
  const cities = lines('city,amount', 'Bonn,1.5', 'Kiel,2.5');

  test.each([
    ['in/revenue-2026-03.csv', '{file|match:\\d{4}-\\d{2}}'],
    ['revenue_2026_03.csv', { from: '{file|match:\\d{4}_\\d{2}}', format: 'yyyy_MM' }],
    ['revenue 03.2026.csv', { from: '{file|match:\\d{2}\\.\\d{4}}', format: 'MM.yyyy' }],
    ['revenue202603.csv', { from: '{file|match:(?:19|20)\\d{4}}', format: 'yyyyMM' }],
    ['revenue-2026M03.csv', { from: '{file|match:\\d{4}M\\d{2}}', format: "yyyy'M'MM" }],
  ])('is its month: %s', (name, time) => {
    const { source, sources, text } = proposed({ [name]: cities });
    expect(source.drivers).toEqual([{ path: ['Revenue', '{city}'], time, value: '{amount}' }]);
    expect(sources[0]?.undecided).toEqual([]);
    expect(text).toContain("the file's name says it, such as");
  });

  test('is the year of months that have none, in a column or in the headers', () => {
    const year = String.raw`{file|match:(?:19|20)\d{2}}`;
    const long = proposed({ 'umsatz 2026.csv': lines('Monat;Umsatz', 'Januar;1,5', 'M\u00e4rz;2,5') });
    expect(long.source.drivers).toMatchObject([
      { time: { from: `${year} {Monat}`, format: 'yyyy MMM', locale: 'de' }, value: { from: '{Umsatz}' } },
    ]);
    const wide = proposed({ 'budget2026.csv': lines('account,Jan,Feb,Mar', 'Rent,1,2,3', 'Staff,4,5,6') });
    expect(wide.source).toMatchObject({
      unpivot: { columns: '^(Jan|Feb|Mar)$', name: 'month' },
      drivers: [{ path: ['Budget', '{account}'], time: { from: `${year} {month}`, format: 'yyyy MMM' } }],
    });
    expect(proposed({ 'budget2026.csv': lines('account,amount', 'Rent,1', 'Staff,4') }).text).toBeUndefined();
  });

  test('is its month in files of several months, none of which repeats a row of another', () => {
    const { source } = proposed({ 'a-2026-01.csv': cities, 'a-2026-02.csv': cities, 'a-2026-03.csv': cities });
    expect(source).toMatchObject({ files: ['a-*.csv'] });
    expect(source.drivers).toEqual([{ path: ['A', '{city}'], time: '{file|match:\\d{4}-\\d{2}}', value: '{amount}' }]);
  });

  test('is a day on which the file may have been made, and that is asked', () => {
    const { sources } = proposed({ 'stock-2026-04-02.csv': cities });
    expect(sources[0]?.undecided).toEqual([
      'whether the day in the file\'s name, such as "2026-04-02", is of the month that the numbers are of',
    ]);
  });

  test('is whose numbers they are, where files have rows of the same names and times', () => {
    const { source, text } = proposed({
      'offices/berlin-2026-01.csv': cities,
      'offices/berlin-2026-02.csv': cities,
      'offices/paris-2026-01.csv': cities,
    });
    expect(source.drivers).toEqual([
      {
        path: ['Offices', '{file|match:^(.+)-\\d{4}-\\d{2}\\.csv$}', '{city}'],
        time: '{file|match:\\d{4}-\\d{2}}',
        value: '{amount}',
      },
    ]);
    expect(text).toContain(
      "2 rows have the names and the time of a row of another file: the file's name tells them apart",
    );
  });

  test('is whose numbers they are in wide files too', () => {
    const wide = lines('account,2024-01,2024-02', 'Rent,1,2', 'Staff,3,4');
    const { source } = proposed({ 'plan-north.csv': wide, 'plan-south.csv': wide });
    expect(source.drivers[0]?.path).toEqual(['Plan', '{file|match:^plan-(.+)\\.csv$}', '{account}']);
  });

  test('is left alone where the rows say it, or the files differ by a number', () => {
    const rows = (city: string): string => lines('month,city,amount', `2026-01,${city},1.5`, `2026-02,${city},2`);
    expect(proposed({ 'a-bonn.csv': rows('Bonn'), 'a-kiel.csv': rows('Kiel') }).source.drivers[0]?.path).toEqual([
      'A',
      '{city}',
    ]);
    expect(proposed({ 'a-1.csv': rows('Bonn'), 'a-2.csv': rows('Bonn') }).source.drivers[0]?.path).toEqual([
      'A',
      '{city}',
    ]);
    expect(proposed({ 'a-2026-01.csv': lines('file,amount', 'x,1.5', 'y,2') }).text).toBeUndefined();
  });
});

describe('several files', () => {
  const table = (year: number): string =>
    lines('month,city,amount', `${year}-01,Bonn,1.5`, `${year}-02,Bonn,2.5`, `${year}-02,Kiel,3`);

  test('files of one shape are one source, with a glob for those that come', () => {
    const { config } = proposed({ 'in/revenue-2024.csv': table(2024), 'in/revenue-2025.csv': table(2025) }, [
      'in/costs.csv',
    ]);
    expect(Object.keys(config.sources)).toEqual(['revenue']);
    expect(config.sources['revenue']?.files).toEqual(['in/revenue-*.csv']);
  });

  test('one file with a date in its name may be followed by others', () => {
    const { source, text } = proposed({ 'in/revenue-2026-03.csv': table(2026) });
    expect(source.files).toEqual(['in/revenue-2026-03.csv']);
    expect(text).toContain('# or files: ["in/revenue-*.csv"], for those of later times too');
  });

  test('a glob that would take another file too is not proposed', () => {
    const { config } = proposed({ 'in/revenue-2024.csv': table(2024), 'in/revenue-2025.csv': table(2025) }, [
      'in/revenue-old.csv',
    ]);
    expect(config.sources['revenue']?.files).toEqual(['in/revenue-2024.csv', 'in/revenue-2025.csv']);
  });

  test('files of other shapes are sources of their own', () => {
    const { config } = proposed({
      'a-2024.csv': table(2024),
      'a-2025.csv': lines('month,amount', '2025-01,1.5', '2025-02,2'),
    });
    expect(Object.keys(config.sources)).toEqual(['a', 'a-2']);
  });

  test('wide files of different months are of one shape', () => {
    const { config } = proposed({
      'wide-2024.csv': lines('account,2024-01,2024-02', 'Rent,1,2', 'Staff,3,4'),
      'wide-2025.csv': lines('account,2025-01,2025-02', 'Rent,1,2', 'Staff,3,4'),
    });
    expect(config.sources['wide']).toMatchObject({
      files: ['wide-*.csv'],
      unpivot: { columns: String.raw`^\d{4}-\d{2}$` },
    });
  });
});

describe('files of one shape in several folders', () => {
  const product = (name: string): string => lines('month,product,units', `2026-01,${name},12`, `2026-02,${name},14`);
  const doubt =
    'whether the numbers of "cities/Berlin", "cities/Hamburg" count together: 2 rows have the names and the time of a row of another folder; if not, write a source for each folder, with its name in the path';

  test('whose rows repeat those of another folder are a doubt, since no template can name a folder', () => {
    const { sources, text } = proposed({
      'cities/Berlin/sales.csv': product('Beans'),
      'cities/Hamburg/sales.csv': product('Beans'),
    });
    expect(sources[0]?.undecided).toEqual([doubt]);
    expect(text).toContain(`# look at this: ${doubt}\n`);
  });

  test('are a doubt too where their names tell other things apart', () => {
    const { sources } = proposed({
      'cities/Berlin/shop.csv': product('Beans'),
      'cities/Berlin/web.csv': product('Beans'),
      'cities/Hamburg/shop.csv': product('Beans'),
      'cities/Hamburg/web.csv': product('Beans'),
    });
    expect(sources[0]?.undecided).toEqual([doubt.replace('2 rows', '4 rows')]);
  });

  test('whose rows differ are none', () => {
    const { sources } = proposed({
      'cities/Berlin/sales.csv': product('Beans'),
      'cities/Hamburg/sales.csv': product('Cups'),
    });
    expect(sources[0]?.undecided).toEqual([]);
  });
});

describe('rows that stand in several files', () => {
  const accounts = ['Rent', 'Pay', 'Sales'];
  const days = (months: readonly number[], write: (month: number, account: number) => string): string =>
    lines(
      'date,account,amount',
      ...months.flatMap((month) => accounts.map((name, at) => `2025-0${month}-01,${name},${write(month, at)}`)),
    );
  const amount = (month: number, account: number): string => String(100 * month + account);

  test('equal to the digit, in a file that has them all, are a full export', () => {
    const { source, sources, text } = proposed({
      'full-2025-03.csv': days([1, 2, 3], amount),
      'full-2025-04.csv': days([1, 2, 3, 4], amount),
    });
    expect(source).toMatchObject({ files: ['full-*.csv'], parts: 'newest' });
    expect(source.drivers).toEqual([{ path: ['Full', '{account}'], time: '{date}', value: '{amount}' }]);
    expect(text).toContain(
      'parts: newest # 9 of 9 rows that have the names and the time of a row of another file are equal to it, and "full-2025-04.csv" has what the others have: full exports\n',
    );
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('also where a value was restated, and bookings of one day add up within the file', () => {
    const twice = (text: string): string => `${text}2025-01-01,Rent,7\n`;
    const { source, text } = proposed({
      'full-2025-03.csv': twice(days([1, 2, 3], amount)),
      'full-2025-04.csv': twice(days([1, 2, 3, 4], amount).replace(',301\n', ',999\n')),
    });
    expect(source).toMatchObject({ parts: 'newest', drivers: [{ collapse: 'sum' }] });
    expect(text).toContain('collapse: sum # 1 rows have the names and the time of another: they add up\n');
  });

  test('of which no file has all count once', () => {
    const { source, text, sources } = proposed({
      'window-2025-04.csv': days([1, 2, 3, 4], amount),
      'window-2025-06.csv': days([3, 4, 5, 6], amount),
    });
    expect(source['parts']).toBeUndefined();
    expect(source.drivers).toMatchObject([{ collapse: 'last' }]);
    expect(text).toContain('# or collapse: sum, where they add up\n');
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('are asked about where only some of them are equal, or all numbers are', () => {
    const asked = [
      expect.stringMatching(/^whether files count together: \d of 9 rows .* are equal to it; collapse: sum/),
    ];
    const some = { 'b-2025-03.csv': days([1, 2, 3], amount), 'b-2025-04.csv': days([1, 2, 3], (m, a) => amount(a, m)) };
    expect(proposed({ ...some }).sources[0]?.undecided).toEqual(asked);
    const one = days([1, 2, 3], () => '1.00');
    expect(proposed({ 'b-2025-03.csv': one, 'b-2025-04.csv': one }).sources[0]?.undecided).toEqual(asked);
  });

  test('with other numbers add up', () => {
    const { source, sources } = proposed({
      'b-1.csv': days([1, 2, 3], amount),
      'b-2.csv': days([1, 2, 3], (month, account) => amount(month + 4, account)),
    });
    expect(source.drivers).toMatchObject([{ collapse: 'sum' }]);
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('are asked about where the names of files say whose they are', () => {
    const { source, sources } = proposed({ 'led.csv': days([1, 2], amount), 'led copy.csv': days([1, 2], amount) });
    expect(source.drivers[0]?.path).toContainEqual(expect.stringContaining('{file|match:'));
    expect(sources[0]?.undecided).toEqual([
      'whether all of these files are wanted: 6 of 6 rows that have the names and the time of a row of another file are equal to it; leave out what is a copy',
    ]);
  });
});
