/** What `init --from` proposes for tables of many styles: how files are laid out, and which column is what. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

const monthly = (write: (year: number, month: number) => string, count = 14): string[] =>
  Array.from({ length: count }, (_, index) => write(2024 + Math.floor(index / 12), (index % 12) + 1));
const two = (number: number): string => String(number).padStart(2, '0');

describe('how a file is laid out', () => {
  test('a plain long table needs nothing but its columns', () => {
    const { source, text, sources } = proposed({
      'exports/rates.csv': lines(
        'Date,Country,Rate',
        '2024-01-01,Australia,0.8944',
        '2024-01-01,Brazil,5.1',
        '2024-02-01,Australia,0.89',
      ),
    });
    expect(source).toEqual({
      type: 'csv',
      files: ['exports/rates.csv'],
      drivers: [{ path: ['Rates', '{Country}'], time: '{Date}', value: '{Rate}' }],
    });
    expect(text).toContain('time: "{Date}" # such as "2024-01-01", "2024-02-01"; 2024-01 to 2024-02');
    expect(sources).toEqual([{ name: 'rates', undecided: [] }]);
  });

  test.each([
    [';', { type: 'csv', delimiter: ';' }],
    ['\t', { type: 'tsv' }],
    ['|', { type: 'csv', delimiter: '|' }],
  ])('fields between %j', (mark, expected) => {
    const rows = ['month,city,amount', '2024-01,Bonn,1', '2024-02,Bonn,2'].map((row) => row.replaceAll(',', mark));
    expect(proposed({ 'a.txt': lines(...rows) }).source).toMatchObject(expected);
  });

  test('titles above the header, blank lines among them, and a total below the data are cut off', () => {
    const { source, text } = proposed({
      'a.csv': lines(
        'Report "Q1"',
        '',
        'printed 2024-03-01',
        'month,city,amount',
        '2024-01,Bonn,1',
        '2024-01,Kiel,2',
        '2024-02,Bonn,3',
        'Total,,6',
      ),
    });
    expect(source).toMatchObject({ skipRows: 3, footer: 1 });
    expect(text).toContain('footer: 1 # below the data: "Total 6"');
  });

  test('a result below the data is no data, whatever it is called', () => {
    const rows = ['4000;Ums\u00e4tze;1,50;2', '5000;Material;-1,50;2', '6000;L\u00f6hne;-3;4', 'Ergebnis;;-3;8'];
    const { source } = proposed({ 'GuV_2025.csv': lines('Konto;Bezeichnung;Jan 25;Mrz 25', ...rows) });
    expect(source).toMatchObject({ footer: 1, drivers: [{ id: 'guv/{Konto}', path: ['GuV', '{Bezeichnung}'] }] });
  });

  test('lines that begin with # are comments, unless they are the header', () => {
    expect(
      proposed({ 'a.csv': lines('# exported by hand', 'month,amount', '2024-01,1', '2024-02,2') }).source,
    ).toMatchObject({ comment: '#' });
    expect(proposed({ 'a.csv': lines('#month,amount', '2024-01,1', '2024-02,2') }).source).not.toHaveProperty(
      'comment',
    );
  });

  test('a file without a header gets names of its own', () => {
    const { source } = proposed({ 'a.csv': lines('2024-01-31,Bonn,1.5', '2024-02-29,Bonn,2.5', '2024-02-29,Kiel,3') });
    expect(source).toMatchObject({
      columns: ['date', 'name', 'value'],
      drivers: [{ time: '{date}', value: '{value}' }],
    });
  });

  test('two rows of header are joined', () => {
    const { source } = proposed({
      'a.csv': lines('Account,2024,,2025,', ',Jan,Feb,Jan,Feb', 'Rent,1,2,3,4', 'Staff,5,6,7,8'),
    });
    expect(source).toMatchObject({
      headerRows: 2,
      unpivot: { columns: String.raw`^\d{4} \p{L}+$` },
      drivers: [{ time: { from: '{month}', format: 'yyyy MMM' } }],
    });
  });

  test('a name that two columns have is asked about, and both are read', () => {
    const { source, sources } = proposed({ 'a.csv': lines('month,amount,amount', '2024-01,1,2', '2024-02,3,4') });
    expect(source).toMatchObject({ skipRows: 1, columns: ['month', 'amount', 'amount 2'] });
    expect(sources[0]?.undecided).toEqual(['two columns are called "amount": columns need names of their own']);
  });

  test('a file that does not end with a line end may be half a file, and that is said', () => {
    const { source, text } = proposed({ 'a.csv': 'month,amount\n2024-01,1\n2024-02,2' });
    expect(source).toMatchObject({ lineEnd: 'any' });
    expect(text).toContain('leave this out if that may mean half a file');
  });
});

describe('which column is what', () => {
  test('bookings of one day add up, and numbers of bookings name nothing', () => {
    const rows = Array.from(
      { length: 60 },
      (_, index) => `B-${1000 + index},2024-${two((index % 6) + 1)}-15,${index % 2 ? 'North' : 'South'},${index}.50`,
    );
    const { source, text } = proposed({ 'orders.csv': lines('booking,date,region,amount', ...rows) });
    expect(source.drivers).toEqual([
      { path: ['Orders', '{region}'], time: '{date}', value: '{amount}', collapse: 'sum' },
    ]);
    expect(text).toContain('left out: "booking", a different text in nearly every row');
  });

  test.each([
    ['Belegnummer', ['100231', '100245', '100250', '100312']],
    ['Voucher No', ['4711', '4712', '4720', '4733']],
    ['Beleg', ['RE-1', 'RE-2', 'RE-3', 'RE-4']],
    ['Lauf', ['7', '8', '9', '10']],
  ])('of a small ledger the numbers of bookings are neither values nor names: %s', (name, numbers) => {
    const rows = numbers.map(
      (number, at) => `2024-0${(at % 2) + 1}-1${at},${number},${at < 2 ? 'Rent' : 'Staff'},1${at}0.50`,
    );
    const { source } = proposed({ 'ledger.csv': lines(`date,${name},account,amount`, ...rows) });
    expect(source.drivers).toEqual([{ path: ['Ledger', '{account}'], time: '{date}', value: '{amount}' }]);
  });

  test('balances of several days in a month are not added up', () => {
    const { source } = proposed({
      'a.csv': lines('date,balance', '2024-01-15,1.5', '2024-01-31,2.5', '2024-02-15,3.5'),
    });
    expect(source.drivers[0]).toMatchObject({ collapse: 'last' });
  });

  test('a code and its name: the id by the code, the path by the name', () => {
    const { source } = proposed({
      'a.csv': lines(
        'month,account,title,amount',
        '2024-01,6000,Salaries,1.5',
        '2024-01,6100,Rent,2.5',
        '2024-02,6000,Salaries,3.5',
        '2024-02,6100,Rent,4',
      ),
    });
    expect(source.drivers).toEqual([{ id: 'a/{account}', path: ['A', '{title}'], time: '{month}', value: '{amount}' }]);
  });

  test.each([
    ['entity,currency', ['Germany,EUR', 'United States,USD'], { path: ['A', '{entity}', '{currency}'] }],
    ['account,owner', ['Rent,Kim', 'Travel,Lee'], { path: ['A', '{account}', '{owner}'] }],
    ['Konto,Kostenstelle', ['4000,100', '4100,200'], { path: ['A', '{Konto}', '{Kostenstelle}'] }],
    ['account,type', ['4000,Revenue', '5000,Cost'], { path: ['A', '{account}', '{type}'] }],
    ['product,customer', ['A1,Bonn', 'B2,Kiel'], { path: ['A', '{product}', '{customer}'] }],
    ['entity,currency code', ['Germany,EUR', 'France,USD'], { path: ['A', '{entity}', '{currency code}'] }],
    ['country,country code', ['Germany,DE', 'France,FR'], { id: 'a/{country code}', path: ['A', '{country}'] }],
    ['AccountCode,AccountName', ['R-1,Rent', 'T-1,Travel'], { id: 'a/{AccountCode}', path: ['A', '{AccountName}'] }],
    ['item,product', ['X-1,Tea', 'X-2,Coffee'], { id: 'a/{item}', path: ['A', '{product}'] }],
    ['ref,product', ['X-1,Tea', 'X-2,Coffee', 'X-3,Milk'], { id: 'a/{ref}', path: ['A', '{product}'] }],
  ])(
    'only a code stands for a name, and two columns that happen to go together both stay: %s',
    (names, pairs, entry) => {
      const rows = pairs.flatMap((pair, at) =>
        ['2024-01', '2024-02', '2024-03'].map((month) => `${month},${pair},${at}.5`),
      );
      const { source } = proposed({ 'a.csv': lines(`month,${names},amount`, ...rows) });
      expect(source.drivers).toEqual([{ time: '{month}', value: '{amount}', ...entry }]);
    },
  );

  test('what is the same in every row tells drivers apart all the same: another text may come', () => {
    const rows = ['2024-01,EUR,Bonn,1.5', '2024-01,EUR,Kiel,2.5', '2024-02,EUR,Bonn,3'];
    const { source, text } = proposed({ 'a.csv': lines('month,currency,city,amount', ...rows) });
    expect(source.drivers[0]).toEqual({
      path: ['A', '{currency}', '{city}'],
      time: '{month}',
      value: '{amount}',
    });
    expect(text).toContain('"currency" is the same in every row as yet');
    expect(
      proposed({ 'a.csv': lines('month,city,amount', '2024-01,Bonn,1.5', '2024-02,Bonn,2.5') }).source.drivers[0],
    ).toMatchObject({
      path: ['A', '{city}'],
    });
  });

  test('a group stands above what belongs to it', () => {
    const rows = ['Espresso,Coffee', 'Filter,Coffee', 'Green,Tea', 'Black,Tea'].flatMap((pair) => [
      `2024-01,${pair},1.5`,
      `2024-02,${pair},2.5`,
    ]);
    expect(proposed({ 'sales.csv': lines('month,product,range,amount', ...rows) }).source.drivers[0]?.path).toEqual([
      'Sales',
      '{range}',
      '{product}',
    ]);
  });

  test('several measures are an entry each, and many are unpivoted', () => {
    const few = proposed({ 'kpi.csv': lines('month,signups,churn rate', '2024-01,46,5.1%', '2024-02,38,3.9%') });
    expect(few.source.drivers).toEqual([
      { path: ['Kpi', 'signups'], time: '{month}', value: '{signups}' },
      { path: ['Kpi', 'churn rate'], time: '{month}', value: { from: '{churn rate}', accounting: true } },
    ]);
    const names = Array.from({ length: 12 }, (_, index) => `measure ${String.fromCodePoint(97 + index)}`);
    const many = proposed({
      'kpi.csv': lines(
        `month,${names.join(',')}`,
        ...monthly((year, month) => `${year}-${two(month)},${names.map((_, index) => `${index}.${month}`).join(',')}`),
      ),
    });
    expect(many.source).toMatchObject({
      unpivot: { name: 'measure', value: 'amount' },
      drivers: [{ path: ['Kpi', '{measure}'], value: '{amount}' }],
    });
  });

  test('a status is no name: all rows count, and the config says so', () => {
    const { text, sources } = proposed({
      'a.csv': lines(
        'date,status,amount',
        '2024-01-01,shipped,1.5',
        '2024-01-02,cancelled,2.5',
        '2024-02-01,shipped,3',
      ),
    });
    expect(text).toContain('all rows count, whatever stands in "status": "shipped" (2), "cancelled" (1)');
    expect(sources[0]?.undecided.join()).toContain('whether all rows count');
  });

  test('names that are empty in some rows get a name, and what it stands for is said', () => {
    const { source, text } = proposed({
      'a.csv': lines('month,city,amount', '2024-01,Bonn,1.5', '2024-01,,2.5', '2024-02,Kiel,3', '2024-02,Bonn,4'),
    });
    expect(source.drivers[0]?.path).toEqual(['A', '{city|default:none}']);
    expect(text).toContain('# "city" is empty in 1 of 4 rows: they are named "none"\n');
    expect(text).toContain('# or beside "files" fillDown: [ "city" ], where an empty field means the text above it\n');
  });

  test('a table without any time, or without any number, is told', () => {
    expect(proposed({ 'a.csv': lines('city,amount', 'Bonn,1.5', 'Kiel,2.5') })).toMatchObject({
      text: undefined,
      without: [
        {
          name: 'a.csv',
          why: "no column names a date, a month or a year, and neither do the headers or the file's name",
        },
      ],
    });
    expect(proposed({ 'a.csv': lines('month,city', '2024-01,Bonn', '2024-02,Kiel') }).without).toMatchObject([
      { why: 'no column holds numbers that could be values' },
    ]);
  });
});

describe('wide tables', () => {
  test.each([
    [['2024-01', '2024-02', '2024-03'], String.raw`^\d{4}-\d{2}$`, '{month}'],
    [['Jan 24', 'Feb 24', 'Mar 24'], String.raw`^\p{L}+ \d{2}$`, { from: '{month}', format: 'MMM yy' }],
    [['01.2024', '02.2024', '03.2024'], String.raw`^\d{2}\.\d{4}$`, { from: '{month}', format: 'MM.yyyy' }],
    [['1/2024', '2/2024', '12/2024'], String.raw`^\d{1,2}\/\d{4}$`, { from: '{month}', format: 'MM/yyyy' }],
    [
      ['31.01.2024', '29.02.2024', '31.03.2024'],
      String.raw`^\d{2}\.\d{2}\.\d{4}$`,
      { from: '{month}', format: 'dd.MM.yyyy' },
    ],
    [['202401', '202402', '202403'], String.raw`^\d{6}$`, { from: '{month}', format: 'yyyyMM' }],
    [['2024M01', '2024M02', '2024M12'], String.raw`^\d{4}M\d{2}$`, { from: '{month}', format: "yyyy'M'MM" }],
    [['2024-M1', '2024-M2', '2024-M12'], String.raw`^\d{4}-M\d{1,2}$`, { from: '{month}', format: "yyyy-'M'MM" }],
    [['Q1 2024', 'Q2 2024', 'Q3 2024'], String.raw`^Q\d{1} \d{4}$`, { from: '{quarter}', format: 'fiscal-quarter' }],
    [['2022', '2023', '2024'], String.raw`^\d{4}$`, { from: '{year}', format: 'yyyy' }],
  ])('a column for each of %j', (headers, pattern, time) => {
    const { source } = proposed({
      'a.csv': lines(['account', ...headers, 'Total'].join(';'), 'Rent;1;2;3;6', 'Staff;4;5;6;15'),
    });
    expect(source).toMatchObject({
      unpivot: { columns: pattern, value: 'amount' },
      drivers: [{ path: ['A', '{account}'], time, value: '{amount}' }],
    });
  });

  test('months in the headers beside a column of years, with other columns to leave out', () => {
    const months = 'Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec';
    const { source } = proposed({
      'nasa.csv': lines(
        'Land-Ocean: Global Means',
        `Year,${months},J-D,DJF`,
        `1880,${'-.17,'.repeat(12)}-.16,***`,
        `1881,${'.04,'.repeat(12)}-.08,-.16`,
      ),
    });
    expect(source).toMatchObject({
      skipRows: 1,
      unpivot: { columns: `^(${months.replaceAll(',', '|')})$`, name: 'month', value: 'amount' },
      drivers: [{ path: ['Nasa'], time: { from: '{Year} {month}', format: 'yyyy MMM' }, value: '{amount}' }],
    });
  });

  test('measures and months in the headers', () => {
    const { source } = proposed({
      'a.csv': lines(
        'account,Actual 2024-01,Actual 2024-02,Plan 2024-01,Plan 2024-02',
        'Rent,1,2,3,4',
        'Staff,5,6,7,8',
      ),
    });
    expect(source).toMatchObject({
      unpivot: { columns: String.raw`^(?<measure>Actual|Plan) (?<month>\d{4}-\d{2})$`, value: 'amount' },
      drivers: [{ path: ['A', '{account}', '{measure}'], time: '{month}', value: '{amount}' }],
    });
  });

  test('a column without a name, or with one that no template can say, is named by its place', () => {
    const index = proposed({ 'a.csv': lines(',2024-01,2024-02', 'Rent,1.5,2', 'Staff,3,4') });
    expect(index.source.drivers).toMatchObject([{ path: ['A', '{#1}'], value: '{amount}' }]);
    const { source } = proposed({
      'b.csv': lines('month,city|branch,net {EUR}', '2024-01,Bonn,1.5', '2024-02,Bonn,2', '2024-01,Kiel,2.5'),
    });
    expect(source.drivers).toMatchObject([{ path: ['B', '{#2}'], time: '{month}', value: '{#3}' }]);
    expect(source.drivers[0]).not.toHaveProperty('collapse');
  });

  test('a column without a name behind the months is left out, since its place moves', () => {
    const { source, text } = proposed({
      'a.csv': lines('account,2024-01,2024-02,', 'Rent,1.5,2,old', 'Staff,3,4,new'),
    });
    expect(source.drivers).toMatchObject([{ path: ['A', '{account}'] }]);
    expect(text).toContain('left out: a column without a name, its place moves when a month is added');
  });

  test('a column without a name that counts the rows is no value', () => {
    const { source } = proposed({ 'a.csv': lines(',month,city,amount', '0,2024-01,Bonn,1.5', '1,2024-02,Kiel,2') });
    expect(source.drivers).toMatchObject([{ path: ['A', '{city}'], value: '{amount}' }]);
  });

  test('braces in the name of a file or a column are texts of the path', () => {
    const { source } = proposed({
      'a {x}.csv': lines('month,city,${NET},cost', '2024-01,Bonn,1.5,1', '2024-02,Kiel,2,7.5'),
    });
    expect(source.drivers).toMatchObject([
      { path: ['A {{x}}', '{city}', '$${{NET}}'], value: '{#3}' },
      { path: ['A {{x}}', '{city}', 'cost'], value: '{cost}' },
    ]);
  });

  test('a total that comes with every month is no footer', () => {
    const { source } = proposed({
      'a.csv': lines(
        'month,city,amount',
        ...['2024-01', '2024-02'].flatMap((month) => [`${month},Bonn,1`, `${month},Kiel,2`, `${month},Total,3`]),
      ),
    });
    expect(source).not.toHaveProperty('footer');
  });

  test('groups that are named once above their rows are filled down', () => {
    const { source } = proposed({
      'a.csv': lines(
        'group,account,2024-01,2024-02',
        'Costs,Rent,1,2',
        ',Staff,3,4',
        ',Energy,3,4',
        'Revenue,Shop,5,6',
        ',Web,7,8',
      ),
    });
    expect(source).toMatchObject({ fillDown: ['group'], drivers: [{ path: ['A', '{group}', '{account}'] }] });
  });
});
