/** Where the rows are in a document, and what may be one. */
import { describe, expect, test } from 'vitest';
import { fileOf, readWhole, unreadableLike } from '../support/source-world.ts';
import { failureOf } from '../support/web-world.ts';

const north = { columns: ['region', 'amount'], rows: [['N', '1.50']] };

test.each<[string, string, object, object]>([
  ['/1', '[{"page":1},[{"region":"N","amount":1.50}]]', {}, north],
  ['/data/0/rows', '{"data":[{"rows":[{"region":"N","amount":1.50}]},{"rows":[]}]}', {}, north],
  ['/a~1b/c~0d', '{"a/b":{"c~d":[{"region":"N","amount":1.50}]}}', {}, north],
  ['', '[["region","amount"],["N",1.50]]', {}, north],
  ['/1', '[0,[["N",1.50]],[["x"]]]', { columns: ['region', 'amount'] }, north],
  [
    '/v',
    '{"v":[["region",null,"a"],["N",2,[1]],["S",null]]}',
    {},
    {
      columns: ['region', '#2', 'a'],
      rows: [
        ['N', '2', '[1]'],
        ['S', '', ''],
      ],
    },
  ],
  // A writer that leaves out what stands empty at the end of a row.
  [
    '',
    '[["region","amount","note"],["N"],["S",2]]',
    {},
    {
      columns: ['region', 'amount', 'note'],
      rows: [
        ['N', '', ''],
        ['S', '2', ''],
      ],
    },
  ],
  [
    '',
    '{"N":[1.50]}',
    { keys: 'region', columns: ['amount', 'note'] },
    { columns: ['region', 'amount', 'note'], rows: [['N', '1.50', '']] },
  ],
  [
    '',
    '{"2026-01":5,"2026-02":6.0}',
    { keys: 'month' },
    {
      columns: ['month', 'value'],
      rows: [
        ['2026-01', '5'],
        ['2026-02', '6.0'],
      ],
    },
  ],
  [
    '/d',
    '{"d":{"N":{"amount":1.50,"x":{"y":"z"}}}}',
    { keys: 'region' },
    { columns: ['region', 'amount', 'x.y'], rows: [['N', '1.50', 'z']] },
  ],
  [
    '/d',
    '{"d":{"N":[1.50,[2]]}}',
    { keys: 'region', columns: ['amount', 'list'] },
    { columns: ['region', 'amount', 'list'], rows: [['N', '1.50', '[2]']] },
  ],
])('rows at %j of %s', async (rows, text, keys, wanted) => {
  expect(await readWhole(await fileOf('json', text, { rows, ...keys }))).toMatchObject(wanted);
});

describe('a document is not read', () => {
  test.each<[string, string, object, RegExp]>([
    ['a list is too short', '[1]', { rows: '/1' }, /the document is a list of 1, and nothing in it is at 1$/],
    ['a key is not there', '{"a":{"c":1}}', { rows: '/a/b' }, /rows: \/a has no key "b": it has the keys "c"$/],
    ['a single value is there', '{"a":5}', { rows: '/a' }, /rows: \/a is a single value and no list$/],
    ['an object is there', '{"a":{"b":1}}', { rows: '/a' }, /rows: \/a is an object and no list: it has the keys "b"$/],
    [
      'a list is there, and keys are wanted',
      '[]',
      { rows: '', keys: 'm' },
      /the document is a list, which has no keys$/,
    ],
    ['a row is longer than its columns', '[["a"],[1,2]]', { rows: '' }, /a row has more than 1 values/],
    [
      'a row is of another form',
      '[["a"],[1],{"a":2}]',
      { rows: '' },
      /a row is an object, and the first one is a list$/,
    ],
    ['a row is single', '[["a"],1]', { rows: '' }, /a record must be an object, and this is a single value$/],
    ['two columns have one name', '[["a","a"]]', { rows: '' }, /two columns are called "a"$/],
    ['a header names nothing', '[["",null],["1","2"]]', { rows: '' }, /the first row names no column$/],
    [
      'nothing names the columns',
      '{"N":[1]}',
      { rows: '', keys: 'r' },
      /a row is a list, and nothing names its columns$/,
    ],
    ['it ends too early', '[0,[{"a":1}]', { rows: '/1' }, /the document ends too early$/],
  ])('where %s', async (_why, text, keys, message) => {
    expect(await failureOf(await fileOf('json', text, { ...keys }))).toMatchObject(unreadableLike(message));
  });

  test('where lists are rows and nobody said so', async () => {
    const error = await failureOf(await fileOf('json', '[["a"],["1"]]'));
    expect(error.message).toContain('a record must be an object, and this is a list');
  });
});

test.each([
  [{ rows: 'a' }, 'expected a JSON pointer'],
  [{ rows: '/a', items: 'a' }, 'items and rows both say where the rows are'],
])('%j is a problem of the config', async (keys, message) => {
  await expect(fileOf('json', '[]', keys)).rejects.toThrow(message);
});
