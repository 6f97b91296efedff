/** Fields that could not be read, such as the error of a formula, and the rows that need them or do not. */
import { describe, expect, test } from 'vitest';
import { RowMapper } from '../../src/core/mapping/row-mapper.ts';
import type { Mapping, Test } from '../../src/core/settings.ts';
import { columnsOf, readRow, sinkOf } from '../support/mapping.ts';
import { entry, mapping, utc } from '../support/row-world.ts';
import { pattern } from '../support/templates.ts';

const revenue = entry({ id: 'rev/{region}', path: ['Revenue', '{region}'] });
const columns = ['region', 'date', 'amount'];

describe('a row with a field that could not be read', () => {
  const faulty = (map: Mapping, rows: string[][], at: readonly [row: number, column: number]): unknown[] => {
    const mapper = new RowMapper(map, [...columns, 'note'], utc);
    return rows.map((row, index) => {
      const ids: string[] = [];
      const sink = sinkOf(({ id }) => void ids.push(id));
      const fault = (_row: number, column: number): string | undefined =>
        index === at[0] && column === at[1] ? 'cell #N/A' : undefined;
      return readRow(mapper, { columns: [...columns, 'note'], rows: [row], fault }, index, sink) ?? ids;
    });
  };
  const good = ['N', '2026-01-01', '1', ''];

  test('is a reject where the field is needed, and read where it is not', () => {
    expect(faulty(mapping([revenue]), [['#N/A', '2026-01-01', '1', ''], good], [0, 0])).toEqual([
      { reject: 'cell #N/A' },
      ['rev/N'],
    ]);
    expect(faulty(mapping([revenue]), [['N', '2026-01-01', '1', '#N/A']], [0, 3])).toEqual([['rev/N']]);
  });

  test('is rejected where `where` tests the field, and left out where another test leaves it out', () => {
    const only = (column: string, texts: string[]): Mapping =>
      mapping([revenue], { where: [{ column, test: { kind: 'oneOf', texts } }] });
    expect(faulty(only('note', ['x']), [['N', '2026-01-01', '1', '#N/A']], [0, 3])).toEqual([{ reject: 'cell #N/A' }]);
    expect(faulty(only('region', ['S']), [['N', '#N/A', '1', '']], [0, 1])).toEqual(['filtered']);
  });

  test('is accepted where its text means "no value", or where `where` leaves out just that text', () => {
    const rows = [['N', '2026-01-01', '#N/A', '']];
    expect(faulty(mapping([revenue], { missing: ['', '#N/A'] }), rows, [0, 2])).toEqual([[]]);
    const named: Test = { kind: 'not', test: { kind: 'oneOf', texts: ['#N/A'] } };
    const where = [{ column: 'amount', test: named }];
    expect(faulty(mapping([revenue], { where }), rows, [0, 2])).toEqual(['filtered']);
  });

  test('fills no row below it', () => {
    const filled = mapping([revenue], { fillDown: ['region'] });
    const rows = [good, ['#N/A', '2026-01-01', '1', ''], ['', '2026-02-01', '1', '']];
    expect(faulty(filled, rows, [1, 0])).toEqual([
      ['rev/N'],
      { reject: 'cell #N/A' },
      { reject: expect.stringContaining('fill down is not known') as string },
    ]);
  });

  test.each<[string, Test]>([
    ['a pattern', { kind: 'matches', pattern: pattern('^N') }],
    ['what a pattern leaves out', { kind: 'not', test: { kind: 'matches', pattern: pattern('^T') } }],
    ['a text', { kind: 'not', test: { kind: 'oneOf', texts: ['T'] } }],
  ])('is a reject where `where` tests by %s what it would fill down, and so is a row below it', (_by, asked) => {
    const filled = mapping([revenue], { fillDown: ['region'], where: [{ column: 'region', test: asked }] });
    const mapper = new RowMapper(filled, columns, utc);
    const ids: string[] = [];
    const rejected: number[] = [];
    const rows = [
      ['N', '2026-01-01', '1'],
      ['#N/A', '2026-01-01', '1'],
      ['', '2026-02-01', '#N/A'],
      ['', '2026-02-01', '1'],
    ];
    const fault = (row: number, column: number): string | undefined =>
      rows[row]?.[column] === '#N/A' ? 'cell #N/A' : undefined;
    mapper.read(
      columnsOf({ columns, rows, fault }),
      0,
      sinkOf(({ id }) => void ids.push(id)),
      { reject: (at) => rejected.push(at) },
    );
    expect(ids).toEqual(['rev/N']);
    expect(rejected).toEqual([1, 2, 3]);
  });

  test('is left out where `where` leaves out just its text, also in a column that is filled down', () => {
    const named: Test = { kind: 'not', test: { kind: 'oneOf', texts: ['#N/A'] } };
    const filled = mapping([revenue], { fillDown: ['region'], where: [{ column: 'region', test: named }] });
    const rows = [good, ['#N/A', '2026-01-01', '1', ''], ['', '2026-02-01', '1', '']];
    expect(faulty(filled, rows, [1, 0])).toEqual([
      ['rev/N'],
      'filtered',
      { reject: expect.stringContaining('fill down is not known') as string },
    ]);
  });

  test('is read where only a column needs the field whose rows `where` leaves out', () => {
    const unpivot = { columns: pattern('^\\d{4}-\\d{2}$'), name: 'month', value: ['v'] };
    const wide = mapping([entry({ path: ['{region}'], time: '{month}', value: '{v}' })], {
      unpivot,
      where: [{ column: 'month', test: { kind: 'not', test: { kind: 'oneOf', texts: ['2026-02'] } } }],
    });
    const names = ['region', '2026-01', '2026-02'];
    const mapper = new RowMapper(wide, names, utc);
    const ids: string[] = [];
    const given = {
      columns: names,
      rows: [['N', '1', '#REF!']],
      fault: (_row: number, column: number) => (column === 2 ? 'cell #REF!' : undefined),
    };
    expect(
      readRow(
        mapper,
        given,
        0,
        sinkOf(({ id }) => void ids.push(id)),
      ),
    ).toBeUndefined();
    expect(ids).toEqual(['N']);
  });
});

test('a row that is rejected for another field fills down its own text', () => {
  const mapper = new RowMapper(mapping([revenue], { fillDown: ['region'] }), columns, utc);
  const ids: string[] = [];
  const rejected: number[] = [];
  const rows = [
    ['N', '2026-01-01', '1'],
    ['S', '2026-01-01', '#N/A'],
    ['', '2026-02-01', '1'],
  ];
  const fault = (row: number, column: number): string | undefined =>
    row === 1 && column === 2 ? 'cell #N/A' : undefined;
  mapper.read(
    columnsOf({ columns, rows, fault }),
    0,
    sinkOf(({ id }) => void ids.push(id)),
    { reject: (at) => rejected.push(at) },
  );
  expect(ids).toEqual(['rev/N', 'rev/S']);
  expect(rejected).toEqual([1]);
});
