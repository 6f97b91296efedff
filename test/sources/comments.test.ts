/** Comments of delimited text: what begins one, and what does not. */
import { expect, test } from 'vitest';
import { csvOf, csvRows, readWhole } from '../support/source-world.ts';

test('a line that starts with the comment text is no row', async () => {
  const content = '# made by "ledger\na,b\n#1,2\n1,#2\n"#3",4\n# end';
  expect(await csvRows(content, { comment: '#' })).toEqual([
    ['1', '#2'],
    ['#3', '4'],
  ]);
  expect(await csvRows('a,b\n--x\n-1,2\n', { comment: '--' })).toEqual([['-1', '2']]);
});

test('no line is a comment where no comment text was declared', async () => {
  expect(await csvRows('a,b\n#1,2\n')).toEqual([['#1', '2']]);
});

test.each(['"a"#b,1', '1,"a"#b', '"a"#', '""#b,1'])(
  'the comment text behind a closing quote is text that follows it, with a comment text and without: %s',
  async (row) => {
    for (const keys of [{}, { comment: '#' }]) {
      await expect(readWhole(await csvOf(`a,b\n1,2\n${row}\n`, keys))).rejects.toMatchObject({
        message: expect.stringMatching(/^revenue.csv line 3, column .*: text follows the closing quote/),
      });
    }
  },
);

test('a row may begin with an empty quoted field where comments begin with the delimiter', async () => {
  expect(await csvRows('a,b\n"",2\n,3\n', { comment: ',' })).toEqual([['', '2']]);
});
