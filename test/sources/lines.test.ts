/** The line of a text file that a row begins in, which is what people look for in an editor. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calm, csvOf } from '../support/source-world.ts';
import { rowsOf } from '../support/mapping.ts';

/** The line of each row, by the text of its first field. */
async function linesOf(content: string, keys: object = {}): Promise<[string, number][]> {
  const source = await csvOf(content, keys);
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
