import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../src/core/decimal.ts';
import { RowMapper, columnProblems } from '../src/core/mapping.ts';
import { formatMonth } from '../src/core/month.ts';
import type { DriverEntry, Mapping, Test } from '../src/core/settings.ts';
import { type Template, parseTemplate } from '../src/core/template.ts';

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!('template' in parsed)) throw new Error(parsed.problem);
  return parsed.template;
}

function entry(written: { id?: string; path: string[]; time?: string; value?: string }): DriverEntry {
  return {
    id: written.id === undefined ? undefined : template(written.id),
    path: written.path.map(template),
    time: { from: template(written.time ?? '{date}'), format: { formats: ['iso'], locale: 'en', timezone: undefined } },
    value: { from: template(written.value ?? '{amount}'), format: plainDecimal },
    rule: 'last',
  };
}

function mapping(drivers: DriverEntry[], more: Partial<Mapping> = {}): Mapping {
  return { where: [], missing: [''], unpivot: undefined, maps: {}, drivers, ...more };
}

/** Reads rows and gives what came of each: readings as `id month value`, `filtered`, or the reject's reason. */
function readAll(map: Mapping, columns: string[], rows: string[][]): unknown[] {
  const mapper = new RowMapper(map, columns, 'UTC');
  return rows.map((fields, index) => {
    const readings: string[] = [];
    const result = mapper.read(fields, index + 1, {
      add: ({ id }, moment, { value }) => void readings.push(`${id} ${formatMonth(moment.month)} ${value}`),
    });
    return result ?? readings;
  });
}

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

  test('is told apart by its key columns and nothing that joins them', () => {
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
  test('matches anywhere', () => expect(passing({ kind: 'matches', pattern: /N/u })).toEqual([true, false, true]));
  test('turns round', () => expect(passing({ kind: 'not', test: oneOf('N') })).toEqual([false, true, true]));

  test('leaves a row out before anything in it could be rejected', () => {
    const filtered = mapping([revenue], { where: [{ column: 'region', test: oneOf('S') }] });
    expect(readAll(filtered, columns, [['N', 'soon', 'many']])).toEqual(['filtered']);
  });
});

describe('unpivot', () => {
  const wide = mapping([entry({ path: ['{account}'], time: '{month}', value: '{value}' })], {
    unpivot: { columns: /^\d{4}-\d{2}$/u, name: 'month', value: 'value' },
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

describe('columns that do not fit', () => {
  test('are all named, with where the config asks for them and the columns that exist', () => {
    const wrong = mapping([entry({ id: '{regio}', path: ['{region}'], value: '{amout}' })], {
      where: [{ column: 'scenario', test: { kind: 'oneOf', texts: ['Actual'] } }],
    });
    const hint = 'the columns are region, date, amount';
    expect(columnProblems(wrong, columns)).toEqual([
      { path: ['where', 'scenario'], message: 'there is no column "scenario"', hint },
      { path: ['drivers', 0, 'id'], message: 'there is no column "regio"', hint },
      { path: ['drivers', 0, 'value'], message: 'there is no column "amout"', hint },
    ]);
    expect(() => new RowMapper(wrong, columns, 'UTC')).toThrow('there is no column "scenario"');
  });

  test('are found where unpivot matches none, or makes a column that is there', () => {
    const unpivot = { columns: /^\d+$/u, name: 'region', value: 'amount' };
    expect(columnProblems(mapping([revenue], { unpivot }), columns)).toMatchObject([{ path: ['unpivot', 'columns'] }]);
    expect(
      columnProblems(mapping([revenue], { unpivot: { ...unpivot, columns: /^amount$/u } }), columns),
    ).toMatchObject([
      { path: ['unpivot'], message: 'unpivot makes a column "region" and the part has one of that name' },
    ]);
  });
});
