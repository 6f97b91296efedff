/** What `init --from` makes of the exports of ledgers: sides, periods, totals, currencies. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

describe('a column of sides', () => {
  const ledger = (name: string, sides: readonly [string, string], rows = 4): string =>
    lines(
      `month;account;${name};amount`,
      ...Array.from(
        { length: rows },
        (_, at) => `2024-0${(at >> 1) + 1};${at % 2 ? 'Rent' : 'Sales'};${sides[at % 2]};${at}1.50`,
      ),
    );

  test.each([
    ['Soll/Haben-Kennzeichen', ['H', 'S'], { S: '+', H: '-' }],
    ['SHKZG', ['H', 'S'], { S: '+', H: '-' }],
    ['Seite', ['Haben', 'Soll'], { Soll: '+', Haben: '-' }],
    ['dr_cr', ['cr', 'dr'], { dr: '+', cr: '-' }],
    ['type', ['Credit', 'Debit'], { Debit: '+', Credit: '-' }],
    ['dc', ['C', 'D'], { D: '+', C: '-' }],
    ['dc', ['D', 'D'], { D: '+', C: '-' }],
    ['Vorzeichen', ['-', '+'], { '+': '+', '-': '-' }],
    ['sign', ['-1', '1'], { '1': '+', '-1': '-' }],
  ] as const)('%s of %j stands before the number, is no name, and both sides add up', (name, sides, sign) => {
    const { source } = proposed({ 'a.csv': ledger(name, sides) });
    expect(source).toMatchObject({ maps: { sign } });
    expect(source.drivers).toEqual([
      {
        path: ['A', '{account}'],
        time: '{month}',
        value: `{${name}|map:sign|default:?}{amount}`,
        collapse: 'sum',
      },
    ]);
  });

  test('is asked about, but for a plain plus and minus', () => {
    expect(proposed({ 'a.csv': ledger('S/H', ['H', 'S']) }).sources[0]?.undecided).toEqual([
      'which side is negative: "S/H" "H" as written here, so that costs are positive and revenue is negative; exchange + and - in maps where it is the other way round',
    ]);
    expect(proposed({ 'a.csv': ledger('sign', ['-', '+']) }).sources[0]?.undecided).toEqual([]);
  });

  test('says nothing new where the numbers have its minus already', () => {
    const rows = ['2024-01,Sales,H,-1.5', '2024-01,Rent,S,2.5', '2024-02,Sales,H,-3.5'];
    const { source, text, sources } = proposed({ 'a.csv': lines('month,account,S/H,amount', ...rows) });
    expect(source.drivers).toEqual([{ path: ['A', '{account}'], time: '{month}', value: '{amount}' }]);
    expect(text).toContain('left out: "S/H", the numbers have its sign already');
    expect(sources[0]?.undecided).toEqual([]);
  });

  test('is asked about where the numbers have signs of their own', () => {
    const rows = ['2024-01,Sales,H,-1.5', '2024-01,Rent,S,-2.5', '2024-02,Sales,H,3.5', '2024-02,Rent,S,3.5'];
    const { source, sources } = proposed({ 'a.csv': lines('month,account,S/H,amount', ...rows) });
    expect(source).not.toHaveProperty('maps');
    expect(sources[0]?.undecided[0]).toMatch(/^whether "S\/H" turns numbers round: some have a minus of their own/);
  });

  test('leaves a field without a number without a value, and a rate of exchange alone', () => {
    const rows = ['2024-01,Sales,H,1.5,1.1', '2024-01,Rent,S,,1.1', '2024-02,Sales,H,3.5,1.2'];
    const { source } = proposed({ 'a.csv': lines('month,account,S/H,amount,rate', ...rows) });
    expect(source).toMatchObject({ missing: ['', '+', '-'] });
    expect(source.drivers.map(({ value }) => value)).toEqual(['{S/H|map:sign|default:?}{amount}', '{rate}']);
  });

  test('may mark one side alone', () => {
    const rows = ['2024-01,Sales,CR,1.5', '2024-01,Rent,,2.5', '2024-02,Sales,CR,3.5'];
    const { source, sources } = proposed({ 'a.csv': lines('month,account,DR/CR,amount', ...rows) });
    expect(source).toMatchObject({ maps: { sign: { DR: '+', CR: '-' } } });
    expect(source.drivers[0]?.value).toBe('{DR/CR|map:sign}{amount}');
    expect(sources[0]?.undecided.join()).toContain('where it is empty, the number is taken as it is');
  });
});

describe('periods', () => {
  const year = (header: string, period: (month: number) => string, months: number): string =>
    lines(header, ...Array.from({ length: months }, (_, at) => `4000;2026;${period(at + 1)};${at + 1}00,50`));
  const padded = (month: number): string => String(month).padStart(3, '0');

  test('of three digits beside a year are months, and where the year starts is asked', () => {
    const { source, sources } = proposed({ 'a.csv': year('Konto;Jahr;Periode;Betrag', padded, 12) });
    expect(source.drivers).toEqual([
      {
        path: ['A', '{Konto}'],
        time: { from: 'P{Periode} FY{Jahr}', format: 'fiscal-period' },
        value: { from: '{Betrag}', decimal: ',' },
      },
    ]);
    expect(sources[0]?.undecided).toEqual([
      'whether period 1 is January: "Periode" numbers periods; where the year starts in another month, say so beside "files", such as fiscalYear: { startsIn: April }',
    ]);
  });

  test('that have no month of their own are left out, and that is said', () => {
    const { source, sources } = proposed({ 'a.csv': year('Konto;Jahr;Monat;Betrag', String, 13) });
    expect(source).toMatchObject({
      where: { Monat: { not: ['13'] } },
      drivers: [{ time: { from: 'P{Monat} FY{Jahr}', format: 'fiscal-period' } }],
    });
    expect(sources[0]?.undecided.join()).toContain('periods "13" have no month of their own, and "where" leaves');
  });

  test('several rows of one period add up', () => {
    const rows = ['4000;2026;001;1,5', '4000;2026;001;2,5', '4000;2026;002;3,5'];
    const { source } = proposed({ 'a.csv': lines('Konto;Jahr;Periode;Betrag', ...rows) });
    expect(source.drivers).toMatchObject([{ path: ['A', '{Konto}'], collapse: 'sum' }]);
  });

  test.each([
    ['001.2026', String.raw`P{Periode|match:^\d{3}} FY{Periode|match:\d{4}$}`],
    ['2026003', String.raw`P{Periode|match:\d{3}$} FY{Periode|match:^\d{4}}`],
    ['2026/012', String.raw`P{Periode|match:\d{3}$} FY{Periode|match:^\d{4}}`],
  ])('joined with their year: %s', (text, from) => {
    const { source } = proposed({ 'a.csv': lines('Konto;Periode;Betrag', `4000;${text};1,5`, `4100;${text};2,5`) });
    expect(source.drivers).toMatchObject([{ time: { from, format: 'fiscal-period' } }]);
  });

  test('that are not understood leave the whole year, and that is said, as is that a year counts twelve times', () => {
    const { source, sources } = proposed({ 'a.csv': year('Konto;Jahr;Periode;Betrag', (at) => `X${at}`, 4) });
    expect(source.drivers[0]).toMatchObject({ time: { from: '{Jahr}', format: 'yyyy' }, spread: 'repeat' });
    expect(sources[0]?.undecided).toEqual([
      'undecided: each month of a year gets its whole value (spread: repeat), 12 times over; write spread: divide where the months are to add up to it',
      '"Periode" seems to name months, and its texts are not understood, such as "X1", "X2", "X3", …: {Jahr} is taken for the time, so that each number counts for all months of its year',
    ]);
  });
});

describe('totals within a table', () => {
  test.each([
    'Total premises',
    'Zwischensumme',
    'Gross Profit',
    'Net Income',
    'North Total',
    'EBITDA',
    'Jahres\u00fcberschuss',
    'Betriebsergebnis',
    'Subtotal',
  ])('are asked about, with what leaves them out: %s', (total) => {
    const long = lines(
      'month,Account,amount',
      ...['2024-01', '2024-02'].flatMap((month) => [`${month},Rent,1`, `${month},${total},3`, `${month},Staff,2`]),
    );
    const wide = lines('Account,2024-01,2024-02', 'Rent,1,2', `${total},1,2`, 'Staff,3,4', 'Energy,3,4');
    const doubt = `whether rows of "Account" are totals or results of others, and would count twice: then write beside "files" where: { "Account": { not: [ "${total}" ] } }`;
    expect(proposed({ 'a.csv': long }).sources[0]?.undecided).toEqual([doubt]);
    expect(proposed({ 'a.csv': wide }).sources[0]?.undecided).toEqual([doubt]);
  });

  test.each(['Summer sale', 'Assumption', 'Totally Tea'])('are not %s', (name) => {
    const { sources } = proposed({ 'a.csv': lines('Account,2024-01,2024-02', 'Rent,1,2', `${name},3,4`) });
    expect(sources[0]?.undecided).toEqual([]);
  });
});

test('currencies that differ within a column are told', () => {
  const doubtOf = (...texts: string[]): string | undefined =>
    proposed({ 'a.csv': lines('month;amount', ...texts.map((text, at) => `2024-0${at + 1};${text}`)) }).sources[0]
      ?.undecided[0];
  expect(doubtOf('USD 100.00', 'EUR 100.00', 'USD 3')).toBe(
    '"{amount}": "USD", "EUR" are different currencies, and their numbers count as if they were of one: keep one of them with "where", or name it in the path',
  );
  expect(doubtOf('$100.00', '\u20ac100.00', '5')).toContain('"$", "\u20ac" are different currencies');
  expect(doubtOf('$100.00', '$5', '5')).toBeUndefined();
});

describe('codes of accounts', () => {
  test.each([
    ['account', ['4000.10', '4000.20', '4100.10'], 'month'],
    ['Konto', ['4000', '4010', '4100'], 'month'],
    ['HKONT', ['400000', '476000', '480000'], 'month'],
    ['KOSTL', ['1010', '2020', '3030'], 'month'],
    ['Sachkontonummer', ['1010', '2020', '3030'], 'month'],
    ['AccountCode', ['1010', '2020', '3030'], 'month'],
  ])('%s %j names drivers, and is no value', (name, codes, month) => {
    const rows = ['2024-01', '2024-02', '2024-03'].flatMap((time) =>
      codes.map((code, at) => `${time},${code},${at}.5`),
    );
    const { source } = proposed({ 'a.csv': lines(`${month},${name},amount`, ...rows) });
    expect(source.drivers).toEqual([{ path: ['A', `{${name}}`], time: '{month}', value: '{amount}' }]);
  });

  test('an amount of an account is a value', () => {
    const rows = ['2024-01,Rent,1.5', '2024-02,Rent,2.5'];
    const { source } = proposed({ 'a.csv': lines('month,name,account balance', ...rows) });
    expect(source.drivers[0]).toMatchObject({ value: '{account balance}' });
  });

  test('numbers that are left out and would tell rows apart are asked about', () => {
    const rows = ['2024-01', '2024-02', '2024-03', '2024-04', '2024-05', '2024-06', '2024-07'].flatMap((time) =>
      ['17', '18'].map((well, at) => `${time},${well},${at}.5`),
    );
    const { sources } = proposed({ 'a.csv': lines('month,well,amount', ...rows) });
    expect(sources[0]?.undecided).toEqual([
      'whether "well" names what the numbers are of: it is left out, and 7 rows have the names and the time of another; with it in the path 0 have',
    ]);
  });
});

test('blank rows among totals below the data, and below these, are no footer', () => {
  const rows = ['month,city,amount', '2024-01,Bonn,1', '2024-01,Kiel,2', '2024-02,Bonn,3'];
  const { source, text } = proposed({ 'a.csv': lines(...rows, 'Sum,,6', ',,', 'Total,,6', ',', ',,') });
  expect(source).toMatchObject({ footer: 2 });
  expect(text).toContain('footer: 2 # below the data: "Sum 6"');
  expect(proposed({ 'b.csv': lines(...rows, ',,', ' ') }).source).not.toHaveProperty('footer');
});

test.each([
  ['Debit', 'Credit', ['100.00,', ',40.00'], true],
  ['Soll', 'Haben', ['100.00,0.00', '0.00,40.00'], true],
  ['Debit', 'Credit', ['100.00,20.00', ',40.00'], false],
])('columns %s and %s are asked about where no row has both', (debit, credit, sides, isAsked) => {
  const rows = sides.map((side, at) => `2026-0${at + 1},${1000 + at},${side}`);
  const { sources } = proposed({ 'tb.csv': lines(`Period,Account,${debit},${credit}`, ...rows) });
  const asked = sources[0]?.undecided.filter((text) => text.includes('are to be one balance'));
  expect(asked).toHaveLength(isAsked ? 1 : 0);
});
