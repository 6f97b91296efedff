/** The line of a text file that a row begins in, which is what people look for in an editor. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Source } from '../../src/core/ports.ts';
import { calm, csvOf, fileOf } from '../support/source-world.ts';
import { rowsOf } from '../support/mapping.ts';
import { workbook } from '../support/workbooks.ts';

/** The line of each row, by the text of its first field. */
async function linesOf(content: string, keys: object = {}): Promise<[string, number][]> {
  return await linesIn(await csvOf(content, keys));
}

async function linesIn(source: Source): Promise<[string, number][]> {
  const [part] = await source.parts(calm);
  const found: [string, number][] = [];
  const rows = source.rows(part!, calm);
  for (;;) {
    const next = await rows.next();
    if (next.done === true) return found;
    for (const [at, row] of rowsOf(next.value).entries()) found.push([row[0]!, next.value.line!(at)]);
  }
}

test('rows are found by their line below titles, blank lines, comments and a header of two rows', async () => {
  const content = 'Export of June\n\nregion,\n,amount\n# note\nNorth,1\n\n  \n"So\nuth",2\nWest,3\nTotal,6\n';
  const keys = { skipRows: 1, headerRows: 2, comment: '#', footer: 1 };
  expect(await linesOf(content, keys)).toEqual([
    ['North', 6],
    ['So\nuth', 9],
    ['West', 11],
  ]);
});

test('skipUntil counts what it cuts off', async () => {
  expect(await linesOf('a title\nanother\nid,v\nx,1\n', { skipUntil: '^id' })).toEqual([['x', 4]]);
});

test('any mix of line ends, blank lines and fields of several lines is counted as an editor does', async () => {
  const end = fc.constantFrom('\n', '\r\n');
  const field = fc.array(fc.constantFrom('x', 'y,', '\n', '\r\n'), { maxLength: 6 }).map((texts) => texts.join(''));
  const line = fc.record({ field, end, blanks: fc.array(end, { maxLength: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (rows) => {
      let content = 'id,v\n';
      const expected: [string, number][] = [];
      for (const [at, row] of rows.entries()) {
        content += row.blanks.join('');
        expected.push([`${at} ${row.field}`, content.split(/\r\n|\n/).length]);
        content += `"${at} ${row.field}",1${row.end}`;
      }
      expect(await linesOf(content)).toEqual(expected);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('lines hold across the pieces that a long file is read in', async () => {
  const rows = Array.from({ length: 40_000 }, (_, at) => (at % 7 === 0 ? `"${at}\r\n",${'x'.repeat(20)}` : `${at},1`));
  const found = await linesOf(`id,v\r\n${rows.join('\r\n')}\r\n`);
  const expected = rows.map((row, at) => [row.startsWith('"') ? `${at}\r\n` : String(at), 2 + at + Math.ceil(at / 7)]);
  expect(found).toEqual(expected);
});

test.each([
  ['plain records', '{"id":"x","v":1}'],
  ['records with lists', '{"id":"x","v":[1]}'],
])('JSON lines are counted with blank ones: %s', async (_what, first) => {
  const content = `\n${first}\r\n\n \t\n{"id":"y","v":2}\n{"v":3,"id":"z"}`;
  expect(await linesIn(await fileOf('jsonl', content))).toEqual([
    ['x', 2],
    ['y', 5],
    ['z', 6],
  ]);
});

test('JSON lines are counted over many batches', async () => {
  const records = Array.from({ length: 30_000 }, (_, at) => `{"id":"${at}","v":${at}}${at % 3 === 0 ? '\n' : ''}`);
  const expected = records.map((_record, at) => [String(at), 1 + at + Math.ceil(at / 3)]);
  expect(await linesIn(await fileOf('jsonl', records.join('\n')))).toEqual(expected);
});

test('rows of a workbook have the numbers that they have in the sheet', async () => {
  const rows = [
    ['Export'],
    undefined,
    ['id', 'v'],
    ['# note'],
    ['x', '1'],
    undefined,
    ['', '', '#N/A'],
    ['y', '2'],
    ['Total', '3'],
  ];
  const bytes = workbook({ sheets: [{ name: 'a', rows }] });
  const keys = { skipRows: 2, comment: '#', footer: 1 };
  expect(await linesIn(await fileOf('xlsx', bytes, keys))).toEqual([
    ['x', 5],
    ['', 7],
    ['y', 8],
  ]);
});

test.each([0, 1])('lines at fixed places are counted, also with a footer of %d', async (footer) => {
  const content = 'Export\n\nx 1\n# note\ny 2\n\nz 3\n';
  const keys = { name: 'a.txt', columns: { id: '1', v: '3' }, skipRows: 1, comment: '#', footer };
  const all = [
    ['x', 3],
    ['y', 5],
    ['z', 7],
  ];
  expect(await linesIn(await fileOf('fixed', content, keys))).toEqual(all.slice(0, 3 - footer));
});
