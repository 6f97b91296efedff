import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../src/core/numbers/decimal.ts';
import { columnProblems } from '../../src/core/mapping/columns.ts';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import type { CollapsedRow, RowBatch } from '../../src/core/model.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import type { DriverEntry, Mapping, Test } from '../../src/core/settings.ts';
import { readRow, sinkOf } from '../support/mapping.ts';
import { entry, mapping, readAll, utc } from '../support/row-world.ts';
import { pattern } from '../support/templates.ts';

const revenue = entry({ id: 'rev/{region}', path: ['Revenue', '{region}'] });
const columns = ['region', 'date', 'amount'];

describe('a row', () => {
  test('gives one reading per entry', () => {
    const both = mapping([revenue, entry({ path: ['Units', '{region}'], value: '{units}' })]);
    const rows = readAll(both, [...columns, 'units'], [['N', '2026-03-01', '1.50', '7']]);
    expect(rows).toEqual([['rev/N 2026-03 1.50', 'Units/N 2026-03 7']]);
  });

  test('with a missing value gives no reading and no reject, whatever else is wrong with it', () => {
    expect(readAll(mapping([revenue]), columns, [['', 'no date', ' ']])).toEqual([[]]);
    const stars = mapping([revenue], { missing: ['***'] });
    expect(readAll(stars, columns, [['N', '2026-03-01', ' *** ']])).toEqual([[]]);
    expect(readAll(stars, columns, [['N', '2026-03-01', '']])).toMatchObject([
      { reject: expect.any(String) as string },
    ]);
  });

  test('is rejected once, with all its reasons, and none of its readings is used', () => {
    const both = mapping([revenue, entry({ path: ['Units', '{region}'], value: '{units}' })]);
    const [result] = readAll(both, [...columns, 'units'], [['N', 'soon', 'many', '7']]);
    expect(result).toMatchObject({ reject: expect.stringMatching(/soon.*; .*many/) as string });
  });

  test.each([
    [['N', '2026-03-01'], '2 fields, expected 3'],
    [['N', '2026-03-01', '1', ''], '4 fields, expected 3'],
    [[' ', '2026-03-01', '1'], 'path: column "region" is empty; id: column "region" is empty'],
    [['N', ' ', '1'], 'time is empty'],
  ])('is rejected with its reason: %j', (fields, reject) => {
    expect(readAll(mapping([revenue]), columns, [fields])).toEqual([{ reject }]);
  });

  test('is known by its key columns, not by their joined text', () => {
    const two = mapping([entry({ id: '{a}-{b}', path: ['{a}', '{b}'] })]);
    const rows = readAll(
      two,
      ['a', 'b', 'date', 'amount'],
      [
        ['x\u001fy', 'z', '2026-03', '1'],
        ['x', 'y\u001fz', '2026-03', '2'],
      ],
    );
    expect(rows).toEqual([['x\u001fy-z 2026-03 1'], ['x-y\u001fz 2026-03 2']]);
  });
});

describe('where', () => {
  const oneOf = (...texts: string[]): Test => ({ kind: 'oneOf', texts });
  const rows = [
    ['N', '2026-03', '1'],
    ['n', '2026-03', '1'],
    ['North', '2026-03', '1'],
  ];
  const passing = (condition: Test): boolean[] =>
    readAll(mapping([revenue], { where: [{ column: 'region', test: condition }] }), columns, rows).map(
      (result) => result !== 'filtered',
    );

  test('compares the exact text', () => expect(passing(oneOf('N'))).toEqual([true, false, false]));
  test('takes any of a list', () => expect(passing(oneOf('N', 'n'))).toEqual([true, true, false]));
  test('matches anywhere', () =>
    expect(passing({ kind: 'matches', pattern: pattern('N') })).toEqual([true, false, true]));
  test('turns round', () => expect(passing({ kind: 'not', test: oneOf('N') })).toEqual([false, true, true]));

  test('leaves a row out before anything in it could be rejected', () => {
    const filtered = mapping([revenue], { where: [{ column: 'region', test: oneOf('S') }] });
    expect(readAll(filtered, columns, [['N', 'soon', 'many']])).toEqual(['filtered']);
  });
});

describe('unpivot', () => {
  const wide = mapping([entry({ path: ['{account}'], time: '{month}', value: '{value}' })], {
    unpivot: { columns: pattern('^\\d{4}-\\d{2}$'), name: 'month', value: ['value'] },
  });

  test('reads each matching column as a row of its own', () => {
    const rows = readAll(wide, ['account', '2026-01', '2026-02', 'total'], [['Rent', '10', '', '10']]);
    expect(rows).toEqual([['Rent 2026-01 10']]);
  });

  test('rejects the whole row for one bad cell', () => {
    const rows = readAll(wide, ['account', '2026-01', '2026-02'], [['Rent', '10', 'x']]);
    expect(rows).toMatchObject([{ reject: expect.stringContaining('"x"') as string }]);
  });

  test('passes a row of which any column passes', () => {
    const some = { ...wide, where: [{ column: 'month', test: { kind: 'oneOf', texts: ['2026-02'] } }] } as const;
    expect(readAll(some, ['account', '2026-01', '2026-02'], [['Rent', '10', '20']])).toEqual([['Rent 2026-02 20']]);
  });
});

describe('unpivot by groups of its pattern', () => {
  const long = { path: ['{measure}', '{account}'], time: '{month}', value: '{amount}' };

  test('gives each named group a column of its own', () => {
    const unpivot = {
      columns: pattern('^(?<measure>\\w+) (?<month>\\d{4}-\\d{2})$'),
      name: undefined,
      value: ['amount'],
    };
    const rows = readAll(
      mapping([entry(long)], { unpivot }),
      ['account', 'Actual 2026-01', 'Budget 2026-01'],
      [['Rent', '10', '12']],
    );
    expect(rows).toEqual([['Actual/Rent 2026-01 10', 'Budget/Rent 2026-01 12']]);
  });

  const several = {
    unpivot: { columns: pattern('^(?<value>units|price)_(?<month>.+)$'), name: undefined, value: ['units', 'price'] },
  };
  const both = [
    entry({ path: ['Units', '{sku}'], time: '{month}', value: '{units}' }),
    entry({ path: ['Price', '{sku}'], time: '{month}', value: '{price}' }),
  ];

  test('puts several value columns side by side in one long row for each month', () => {
    const rows = readAll(
      mapping(both, several),
      ['sku', 'units_2026-01', 'price_2026-01', 'units_2026-02'],
      [['A', '3', '9.50', '4']],
    );
    expect(rows).toEqual([['Units/A 2026-01 3', 'Price/A 2026-01 9.50', 'Units/A 2026-02 4']]);
  });

  test('judges each long row by its own value columns, also where a later one lacks a column', () => {
    const where = [{ column: 'price', test: { kind: 'not' as const, test: { kind: 'oneOf' as const, texts: ['0'] } } }];
    const rows = readAll(
      mapping(both.slice(0, 1), { ...several, where }),
      ['sku', 'units_2026-01', 'price_2026-01', 'units_2026-02'],
      [
        ['A', '5', '0', '6'],
        ['B', '5', '1', '6'],
      ],
    );
    expect(rows).toEqual([['Units/A 2026-02 6'], ['Units/B 2026-01 5', 'Units/B 2026-02 6']]);
  });

  test('needs a column for each of its values', () => {
    expect(columnProblems(mapping(both, several), ['sku', 'units_2026-01'])).toMatchObject([
      { path: ['unpivot', 'value'], message: expect.stringContaining('value column "price"') as string },
    ]);
  });

  test.each(['^nothing$', '^(?<value>\\w+)_(?<month>.+)$'])(
    'that fits no header hides no other column that is not there: %s',
    (headers) => {
      const unpivot = { ...several.unpivot, columns: pattern(headers), name: 'month' };
      const where = [{ column: 'state', test: { kind: 'oneOf' as const, texts: ['0'] } }];
      const by = mapping([entry({ path: ['{stock}'], time: '{month}', value: '{units}' })], {
        unpivot,
        where,
        fillDown: ['region'],
      });
      expect(columnProblems(by, ['sku', 'units_2026-01', 'cost_2026-01']).map(({ path }) => path)).toEqual([
        ['unpivot', 'columns'],
        ['fillDown', 0],
        ['where', 'state'],
        ['drivers', 0, 'path', 0],
      ]);
    },
  );

  test('refuses two columns that say the same value of one row', () => {
    const unpivot = {
      columns: pattern('^(?<value>units|price)_(?<month>[0-9-]{7}).*$'),
      name: undefined,
      value: ['units', 'price'],
    };
    const headers = ['sku', 'units_2026-01 Actual', 'price_2026-01', 'units_2026-01 Budget'];
    const [problem] = columnProblems(mapping(both, { unpivot }), headers);
    expect(problem).toMatchObject({
      path: ['unpivot', 'columns'],
      message: expect.stringContaining('columns "units_2026-01 Actual" and "units_2026-01 Budget"'),
    });
    expect(columnProblems(mapping(both, { unpivot }), headers.slice(0, 3))).toEqual([]);
  });

  test('names a column whose group is no value column', () => {
    const unpivot = { ...several.unpivot, columns: pattern('^(?<value>\\w+)_(?<month>.+)$') };
    expect(columnProblems(mapping(both, { unpivot }), ['sku', 'units_2026-01', 'cost_2026-01'])).toMatchObject([
      { path: ['unpivot', 'columns'], message: expect.stringContaining('column "cost_2026-01"') as string },
    ]);
  });
});

describe('fill down', () => {
  const filled = mapping([revenue], { fillDown: ['region'] });

  test('gives an empty field the text of the row above, also of one that gives no reading', () => {
    const rows = [
      ['N', '', ''],
      [' ', '2026-01-01', '1'],
      ['', '2026-02-01', '2'],
      ['S', '2026-01-01', '3'],
    ];
    expect(readAll(filled, columns, rows)).toEqual([[], ['rev/N 2026-01 1'], ['rev/N 2026-02 2'], ['rev/S 2026-01 3']]);
  });

  test('leaves what is empty from the first row on', () => {
    expect(readAll(filled, columns, [['', '2026-01-01', '1']])).toMatchObject([
      { reject: expect.stringContaining('column "region" is empty') as string },
    ]);
  });

  test('takes nothing over a row whose fields could not be told apart', () => {
    const rows = [['N', '2026-01-01', '1'], ['S'], ['', '2026-02-01', '5']];
    expect(readAll(filled, columns, rows)).toEqual([
      ['rev/N 2026-01 1'],
      { reject: '1 field, expected 3' },
      { reject: expect.stringContaining('fill down is not known') as string },
    ]);
  });

  test('is asked for nothing in a row that `where` leaves out by another column', () => {
    const asked = mapping([revenue], {
      fillDown: ['region'],
      where: [
        { column: 'region', test: { kind: 'not', test: { kind: 'oneOf', texts: ['T'] } } },
        { column: 'amount', test: { kind: 'not', test: { kind: 'oneOf', texts: ['total'] } } },
      ],
    });
    const rows = [['S'], ['', '2026-02-01', 'total'], ['', '2026-02-01', '5'], ['N', '2026-02-01', '6']];
    expect(readAll(asked, columns, rows)).toEqual([
      { reject: '1 field, expected 3' },
      'filtered',
      { reject: expect.stringContaining('fill down is not known') as string },
      ['rev/N 2026-02 6'],
    ]);
  });

  test('needs its columns', () => {
    expect(columnProblems(mapping([revenue], { fillDown: ['area'] }), columns)).toMatchObject([
      { path: ['fillDown', 0], message: 'there is no column "area"' },
    ]);
  });
});

describe('a value of a quarter or a year', () => {
  const spreading = (spread: DriverEntry['spread'], more: { format?: string; round?: number } = {}): Mapping => {
    const plain = entry({ path: ['P'] });
    return mapping([
      {
        ...plain,
        time: { ...plain.time, format: { ...plain.time.format, formats: [more.format ?? 'QQQ yyyy'] } },
        value: { ...plain.value, format: { ...plainDecimal, round: more.round } },
        spread,
      },
    ]);
  };
  const q3 = (spread: DriverEntry['spread'], amount: string, round?: number): unknown =>
    readAll(spreading(spread, round === undefined ? {} : { round }), columns, [['', 'Q3 2024', amount]])[0];

  test('is repeated, or stands in the first or the last month', () => {
    expect(q3('repeat', '9.0')).toEqual(['P 2024-07 9.0', 'P 2024-08 9.0', 'P 2024-09 9.0']);
    expect(q3('first', '9')).toEqual(['P 2024-07 9']);
    expect(q3('last', '9')).toEqual(['P 2024-09 9']);
  });

  test('is divided so that the months add up to it exactly', () => {
    expect(q3('divide', '300')).toEqual(['P 2024-07 100', 'P 2024-08 100', 'P 2024-09 100']);
    expect(q3('divide', '-100')).toEqual(['P 2024-07 -33.333333', 'P 2024-08 -33.333333', 'P 2024-09 -33.333334']);
    expect(q3('divide', '100', 2)).toEqual(['P 2024-07 33.33', 'P 2024-08 33.33', 'P 2024-09 33.34']);
  });

  test('of a year goes to all its months', () => {
    const rows = readAll(spreading('divide', { format: 'yyyy' }), columns, [['', '2024', '12.00']]);
    const months = Array.from({ length: 12 }, (_, at) => `P 2024-${String(at + 1).padStart(2, '0')} 1`);
    expect(rows).toEqual([months]);
  });

  test('is a reject where the entry does not say', () => {
    expect(q3(undefined, '9')).toMatchObject({ reject: expect.stringContaining('3 months') as string });
  });
});

describe('a row that a database collapsed', () => {
  const collapsed = (fields: string[], row: CollapsedRow): RowBatch => ({ columns, rows: [fields], collapsed: [row] });

  test('is a reading of its key that counts for all that went into it', () => {
    const mapper = new RowMapper(mapping([revenue]), columns, utc);
    const given: unknown[] = [];
    const value = { time: '2026-03-31', value: '7.50', count: 12, place: 7 };
    const result = readRow(
      mapper,
      collapsed(['N', '', ''], { rows: 14, entries: [value] }),
      0,
      sinkOf((name, { month }, { count, row }) => void given.push([name.id, formatMonth(month), count, row])),
    );
    expect(result).toBeUndefined();
    expect(given).toEqual([['rev/N', '2026-03', 12, 2 ** 40 + 7]]);
  });

  test('without a value gives nothing, and with an empty key a reject', () => {
    const mapper = new RowMapper(mapping([revenue]), columns, utc);
    const none = sinkOf(() => expect.unreachable());
    expect(readRow(mapper, collapsed(['N', '', ''], { rows: 2, entries: [undefined] }), 0, none)).toBeUndefined();
    const value = { time: '2026-03-31', value: '1', count: 2 };
    expect(readRow(mapper, collapsed(['', '', ''], { rows: 2, entries: [value] }), 0, none)).toMatchObject({
      reject: expect.any(String) as string,
    });
  });
});

describe('columns that do not fit', () => {
  test('are all named, with where the config asks for them and the columns that exist', () => {
    const wrong = mapping([entry({ id: '{regio}', path: ['{region}'], value: '{amout}' })], {
      where: [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Actual'] } }],
    });
    const hint = 'the columns are region, date, amount';
    expect(columnProblems(wrong, columns)).toEqual([
      { path: ['where', 'scenario'], message: 'there is no column "scenario"', hint, column: 'scenario' },
      { path: ['drivers', 0, 'id'], message: 'there is no column "regio"', hint, column: 'regio' },
      { path: ['drivers', 0, 'value'], message: 'there is no column "amout"', hint, column: 'amout' },
    ]);
    expect(() => new RowMapper(wrong, columns, utc)).toThrow('there is no column "scenario"');
  });

  test('are found where unpivot matches none, or makes a column that is there', () => {
    const unpivot = { columns: pattern('^\\d+$'), name: 'region', value: ['amount'] };
    expect(columnProblems(mapping([revenue], { unpivot }), columns)).toMatchObject([{ path: ['unpivot', 'columns'] }]);
    expect(
      columnProblems(mapping([revenue], { unpivot: { ...unpivot, columns: pattern('^amount$') } }), columns),
    ).toMatchObject([
      { path: ['unpivot'], message: 'unpivot makes a column "region" and the part has one of that name' },
    ]);
  });
});
