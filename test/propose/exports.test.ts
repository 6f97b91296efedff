/** What `init --from` proposes for wide budgets with sums, and for records of an API. */
import { describe, expect, test } from 'vitest';
import { propose } from '../../src/propose/propose.ts';
import { lines, proposed } from '../support/proposals.ts';

test.each(['Summe', 'Total', 'FY'])('a year of months has a column %s, which is no month', (sum) => {
  const months = ['Jan', 'Feb', 'Dez', sum];
  const { source, text } = proposed({
    'a.csv': lines(
      `Konto;2026${';'.repeat(4)}2027${';'.repeat(3)}`,
      `;${[...months, ...months].join(';')}`,
      'Miete;1;2;3;6;4;5;6;15',
      'Reise;1;1;1;3;1;1;1;3',
    ),
  });
  expect(source).toMatchObject({
    headerRows: 2,
    unpivot: { columns: String.raw`^\d{4} (?:Jan|Feb|Dez)$` },
    drivers: [{ path: ['A', '{Konto}'], time: { from: '{month}', format: 'yyyy MMM', locale: 'de' } }],
  });
  expect(text).toContain(`# left out: "2026 ${sum}", numbers that are no values of their own`);
});

describe('records with records in them', () => {
  const recordsOf = (columns: readonly string[], ...rows: readonly (readonly string[])[]) =>
    propose([{ form: 'records', type: 'json', name: 'api.json', columns, rows, isWhole: true }], () => ['api.json']);

  test('have a year and a month under one name', () => {
    const { text } = recordsOf(
      ['metric', 'period.year', 'period.month', 'amount.value'],
      ['mrr', '2026', '1', '120.50'],
      ['mrr', '2026', '2', '121.00'],
      ['churn', '2026', '2', '-7'],
    );
    expect(text).toContain('time: { from: "{period.year} {period.month}", format: yyyy MM }');
    expect(text).not.toMatch(/spread|collapse/);
  });

  test('are not named by their lists', () => {
    const { text } = recordsOf(
      ['metric', 'tags', 'month', 'value'],
      ['mrr', '["saas"]', '2026-01', '1.5'],
      ['mrr', '[]', '2026-02', '2.5'],
      ['churn', '[]', '2026-02', '3.5'],
    );
    expect(text).toContain('# left out: "tags", lists');
    expect(text).toContain('path: [ Api, "{metric}" ]');
  });

  test.each([
    ['numbers', ['invoice', 'date', 'lines'], ['R-1', '2026-01-12', '[{"sku":"A","net":100.50}]'], '"lines"'],
    ['times', ['account', 'months'], ['Rent', '[{"month":"2026-01","value":5}]'], '"months"'],
  ])('have %s in a list of their own: that is told, and where to read on', (_what, columns, row, named) => {
    expect(recordsOf(columns, row).without[0]?.why).toContain(
      `${named} holds lists of records, which are not read; docs/SOURCES.md#programs`,
    );
  });
});
