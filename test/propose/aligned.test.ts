/** What `init --from` proposes for reports whose columns are aligned by blanks. */
import { expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

const data = [
  '4000     SALES, DOMESTIC           2026/01      45,300.00      44,000.00',
  '4010     SALES EXPORT              2026/01      12,700.00      13,000.00',
  '5000     COST OF SALES             2026/01      22,100.00-     21,000.00-',
  '4000     SALES, DOMESTIC           2026/02      47,120.50      44,500.00',
];
const header = 'ACCOUNT  DESCRIPTION               PERIOD          ACTUAL         BUDGET';
const strokes = '-------- ------------------------- ------- -------------- --------------';
const total = '         GRAND TOTAL                            83,020.50      80,500.00';
const title = ['ACME HOLDINGS LTD                 GENERAL LEDGER                 PAGE    1', ''];

test('strokes below the header say where columns are; each reaches up to the next, with the minus behind it', () => {
  const { source, text } = proposed({ 'gl.txt': lines(...title, header, strokes, ...data, strokes, total) });
  expect(source).toMatchObject({
    type: 'fixed',
    columns: { ACCOUNT: '1-9', DESCRIPTION: '10-35', PERIOD: '36-43', ACTUAL: '44-58', BUDGET: '59-73' },
    skipRows: 4,
    footer: 2,
    drivers: [
      { id: 'gl/{ACCOUNT}/ACTUAL', value: { from: '{ACTUAL}', group: ',', accounting: true } },
      { id: 'gl/{ACCOUNT}/BUDGET' },
    ],
  });
  expect(text).toContain('as the strokes below the header say');
});

test('without strokes columns are guessed from the blanks between them, and that is said', () => {
  const plain = data.map((line) => line.replace('SALES, DOMESTIC', 'SALES  DOMESTIC'.replace('  ', ' ').padEnd(15)));
  const { source, text } = proposed({ 'gl.txt': lines(...title, header, ...plain) });
  expect(source).toMatchObject({ type: 'fixed', skipRows: 3, drivers: [{ time: { format: 'yyyy/MM' } }, {}] });
  expect(Object.keys(source['columns'] as object)).toEqual(['ACCOUNT', 'DESCRIPTION', 'PERIOD', 'ACTUAL', 'BUDGET']);
  expect(text).toContain('guessed from the blanks between them: give each all places that its widest value may take');
});

test.each([
  ['commas', lines('month,  city,  amount', '2024-01,  Bonn,  1.5', '2024-02,  Bonn,  2.5', '2024-03,  Kiel,  3.5')],
  ['semicolons', lines('month;note', '2024-01;1  2  3', '2024-02;4  5  6', '2024-03;7  8  9')],
  ['tabs', lines('month\tcity\tamount', '2024-01\tBonn  am  Rhein\t1', '2024-02\tBonn  am  Rhein\t2')],
])('blanks within fields between %s make no such columns', (_mark, text) => {
  expect(proposed({ 'a.txt': text }).text ?? '').not.toContain('type: fixed');
});
