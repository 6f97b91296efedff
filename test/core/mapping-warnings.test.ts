/** What a mapping may mean otherwise than it says. */
import { describe, expect, test } from 'vitest';
import { leftOutWarnings, literalWarnings, placeWarnings } from '../../src/core/mapping/columns.ts';
import { entry, mapping } from '../support/row-world.ts';
import { pattern } from '../support/templates.ts';

const columns = ['region', 'date', 'amount'];

describe('a column that is taken by its place', () => {
  const warningsOf = (value: string, header: readonly string[]): readonly string[] =>
    placeWarnings(mapping([entry({ path: ['{region}', '{date}'], value })]), header);

  test('though it has a name of its own, is warned of once', () => {
    expect(warningsOf('{#3}', ['region', 'date', 'amount'])).toEqual([
      '"{#3}" is the column "amount": unless its header changes, write "{amount}"; a column that is added before it takes its place unseen',
    ]);
  });

  test.each([
    ['an empty header', ''],
    ['the name of another one', 'region'],
    ['a name that no template can say', 'a|b'],
    ['a name like a place', '#2'],
  ])('where it has %s, is not', (_name, header) => {
    expect(warningsOf('{#3}', ['region', 'date', header])).toEqual([]);
  });

  test('where unpivot makes rows of it, is not', () => {
    const unpivot = { columns: pattern('^\\d+$'), name: 'year', value: ['sum'] };
    const placed = mapping([entry({ path: ['{region}'], time: '{year}', value: '{#2}' })], { unpivot });
    expect(placeWarnings(placed, ['region', '2025', '2026'])).toEqual([]);
  });
});

describe("a text that is a column's name", () => {
  const text = (where: string, name: string): string =>
    `drivers[0].${where} is the text "${name}" in every row, and "${name}" is a column: write "{${name}}" for its fields`;

  test('is found wherever an entry has it', () => {
    const slips = mapping([entry({ id: 'region', path: ['Sales', ' date '], time: 'date', value: '{amount}' })]);
    expect(literalWarnings(slips, columns)).toEqual([
      text('id', 'region'),
      text('path[1]', 'date'),
      text('time', 'date'),
    ]);
  });

  test('is found among the columns that unpivot makes', () => {
    const unpivot = { columns: pattern('^\\d+$'), name: 'year', value: ['sum'] };
    const slips = mapping([entry({ path: ['year'], time: '{year}', value: '{sum}' })], { unpivot });
    expect(literalWarnings(slips, ['region', '2025'])).toEqual([text('path[0]', 'year')]);
  });

  test('is a label where the value stands in that column, and where another word stands beside it', () => {
    const labels = mapping([entry({ id: 'sales/region', path: ['Sales', 'amount'], value: '{amount}' })]);
    expect(literalWarnings(labels, columns)).toEqual([]);
  });
});

describe('a column that unpivot leaves out', () => {
  const unpivot = { columns: pattern('^\\d{4}-\\d{2}$'), name: 'month', value: ['amount'] };
  const wide = (more: string): ReturnType<typeof mapping> =>
    mapping([entry({ path: ['{account}', more], time: '{month}', value: '{amount}' })], { unpivot });

  test('though it looks like those that it takes, is told', () => {
    expect(leftOutWarnings(wide('x'), ['account', '2026-05', '2026-6', '2026-07', 'Q3', 'Total 2026'])).toEqual([
      'column "2026-6" looks like "2026-07" and does not match unpivot.columns: its numbers are left out',
    ]);
  });

  test('and that a template names, or that has no digit, is not', () => {
    expect(leftOutWarnings(wide('{2026-6}'), ['account', '2026-05', '2026-6'])).toEqual([]);
    const names = { ...unpivot, columns: pattern('^(North|South)$') };
    expect(leftOutWarnings(mapping([entry({ path: ['x'] })], { unpivot: names }), ['note', 'North', 'South'])).toEqual(
      [],
    );
  });

  test('without unpivot there is none', () => {
    expect(leftOutWarnings(mapping([entry({ path: ['x'] })]), ['2026-05', '2026-6'])).toEqual([]);
  });
});
