/** Columns that no row holds: the name of a file or sheet, and places. */
import { describe, expect, test } from 'vitest';
import { columnProblems } from '../../src/core/mapping/columns.ts';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import { formatMonth } from '../../src/core/time/month.ts';
import { columnsOf, readRow, sinkOf } from '../support/mapping.ts';
import { entry, mapping, readAll, utc } from '../support/row-world.ts';
import { pattern } from '../support/templates.ts';

const revenue = entry({ id: 'rev/{region}', path: ['Revenue', '{region}'] });
const columns = ['region', 'date', 'amount'];

describe('a column that all rows share', () => {
  const ofFile = mapping([entry({ path: ['{file|match:^[a-z]+}'], time: '{file|match:\\d{4}-\\d{2}}' })]);
  const shared = { file: 'berlin-2026-03.csv' };

  test('is named like any other, in every row', () => {
    const rows = [['1.50'], ['']];
    expect(readAll(ofFile, ['amount'], rows, shared)).toEqual([['berlin 2026-03 1.50'], []]);
  });

  test('gives way to one of the part, and to one that unpivot makes', () => {
    const rows = [['paris-2025-01.csv', '7']];
    expect(readAll(ofFile, ['file', 'amount'], rows, shared)).toEqual([['paris 2025-01 7']]);
    const unpivoted = mapping([entry({ path: ['x'], time: '{file}', value: '{value}' })], {
      unpivot: { columns: pattern('^\\d{4}-\\d{2}$'), name: 'file', value: ['value'] },
    });
    expect(readAll(unpivoted, ['2024-05'], [['7']], shared)).toEqual([['x 2024-05 7']]);
  });

  test('is there beside long rows', () => {
    const wide = mapping([entry({ path: ['{file|match:^[a-z]+}'], time: '{month}', value: '{value}' })], {
      unpivot: { columns: pattern('^\\d{4}-\\d{2}$'), name: 'month', value: ['value'] },
    });
    expect(readAll(wide, ['2024-05', '2024-06'], [['7', '8']], shared)).toEqual([
      ['berlin 2024-05 7', 'berlin 2024-06 8'],
    ]);
  });

  test('leaves all rows out where it does not pass, also those with faults', () => {
    const filtered = mapping([revenue], { where: [{ column: 'file', test: { kind: 'oneOf', texts: ['x'] } }] });
    expect(readAll(filtered, columns, [['', 'soon', 'many']], shared)).toEqual(['filtered']);
    const mapper = new RowMapper(filtered, columns, utc, { shared });
    const batch = { columns, rows: [['N', '#REF!', '1']], fault: () => 'a formula without a result' };
    expect(
      readRow(
        mapper,
        batch,
        0,
        sinkOf(() => expect.unreachable()),
      ),
    ).toBe('filtered');
  });

  test('leaves out a row below one that could not be read, too, whose text to fill down nobody knows', () => {
    const where = [{ column: 'file', test: { kind: 'oneOf', texts: ['x'] } } as const];
    const mapper = new RowMapper(mapping([revenue], { where, fillDown: ['region'] }), columns, utc, { shared });
    const rejected: number[] = [];
    const rows = [
      ['#REF!', '2026-01-01', '1'],
      ['', '2026-02-01', '1'],
    ];
    const fault = (row: number, column: number): string | undefined => (row + column === 0 ? 'cell #REF!' : undefined);
    mapper.read(
      columnsOf({ columns, rows, fault }),
      0,
      sinkOf(() => expect.unreachable()),
      { reject: (at) => rejected.push(at) },
    );
    expect(rejected).toEqual([]);
  });

  test('is missing where the part has none of that name', () => {
    const sheet = mapping([entry({ path: ['{sheet}'] })]);
    expect(columnProblems(sheet, columns, shared)).toEqual([
      {
        path: ['drivers', 0, 'path', 0],
        message: 'there is no column "sheet"',
        hint: expect.any(String) as string,
        column: 'sheet',
      },
    ]);
    const inherited = mapping([entry({ path: ['{constructor}'] })]);
    expect(columnProblems(inherited, columns, shared)).toHaveLength(1);
  });
});

describe('a column by its place', () => {
  const byPlace = mapping([entry({ path: ['{#1}', '{#2|upper}'], value: '{#4}' })]);

  test('is read whatever its header, also an empty one', () => {
    expect(readAll(byPlace, ['region', '', 'date', ''], [['N', 'x', '2026-03', '1.50']])).toEqual([
      ['N/X 2026-03 1.50'],
    ]);
  });

  test('is that place also where another column is called so', () => {
    const named = mapping([entry({ path: ['{#3}'] })]);
    expect(readAll(named, ['#3', 'date', 'region', 'amount'], [['x', '2026-03', 'N', '1']])).toEqual([['N 2026-03 1']]);
  });

  test('may be in where and be filled down', () => {
    const more = mapping([revenue], {
      where: [{ column: '#1', test: { kind: 'oneOf', texts: ['N'] } }],
      fillDown: ['#1'],
    });
    const mapper = new RowMapper(more, columns, utc);
    const found: string[] = [];
    const batch = columnsOf({
      columns,
      rows: [
        ['N', '2026-03', '1'],
        ['', '2026-04', '2'],
        ['S', '2026-04', '3'],
      ],
    });
    mapper.read(
      batch,
      0,
      sinkOf(({ id }, { month }, { value }) => void found.push(`${id} ${formatMonth(month)} ${value}`)),
      {
        reject: () => expect.unreachable(),
      },
    );
    expect(found).toEqual(['rev/N 2026-03 1', 'rev/N 2026-04 2']);
  });

  test('is that of the part, where rows were made of columns', () => {
    const wide = mapping([entry({ path: ['{#1}'], time: '{month}', value: '{value}' })], {
      unpivot: { columns: pattern('^\\d{4}-\\d{2}$'), name: 'month', value: ['value'] },
    });
    expect(readAll(wide, ['', '2024-05'], [['Rent', '7']])).toEqual([['Rent 2024-05 7']]);
  });

  test.each(['#0', '#5', '#01', '#1000000'])('is a problem where there is no such place: %s', (name) => {
    const wrong = mapping([entry({ path: [`{${name}}`] })]);
    expect(columnProblems(wrong, ['a', 'b', 'date', 'amount'])).toMatchObject([
      { message: `there is no column "${name}"`, hint: 'the columns are #1 to #4' },
    ]);
  });
});
