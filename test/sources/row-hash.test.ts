import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { RowHash } from '../../src/sources/databases/row-hash.ts';

function hashOf(batches: readonly (readonly Row[])[], isOrdered: boolean): string {
  const hash = new RowHash({ place: 'books', columns: ['a', 'b'], isOrdered });
  for (const batch of batches) hash.add(batch);
  return hash.digest();
}

const row = fc.tuple(fc.constantFrom('', 'x', 'y', '","'), fc.constantFrom('', '1', '2'));
const rows = fc.array(row, { maxLength: 12 });

test('the hash of a set is that of its rows in any order and in any batches', () => {
  const shuffled = rows.chain((all) =>
    fc.record({
      all: fc.constant(all),
      other: fc.shuffledSubarray(all, { minLength: all.length }),
      cut: fc.nat(all.length),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ all, other, cut }) => {
      expect(hashOf([other.slice(0, cut), other.slice(cut)], false)).toBe(hashOf([all], false));
    }),
  );
});

test('other rows, or one of them twice more, are another hash', () => {
  const sorted = (all: readonly Row[]): string => JSON.stringify(all.map((of) => JSON.stringify(of)).sort());
  fc.assert(
    fc.property(rows, rows, (some, others) => {
      expect(hashOf([some], false) === hashOf([others], false)).toBe(sorted(some) === sorted(others));
      expect(hashOf([some], true) === hashOf([others], true)).toBe(JSON.stringify(some) === JSON.stringify(others));
    }),
  );
  expect(
    hashOf(
      [
        [
          ['x', '1'],
          ['x', '1'],
        ],
      ],
      false,
    ),
  ).not.toBe(
    hashOf(
      [
        [
          ['y', '1'],
          ['y', '1'],
        ],
      ],
      false,
    ),
  );
  expect(
    hashOf(
      [
        [
          ['x', '1'],
          ['x', '1'],
        ],
      ],
      false,
    ),
  ).not.toBe(hashOf([[]], false));
});

test.each([true, false])('a bad text is refused with its row and column (in order: %j)', (isOrdered) => {
  const batches = [
    [
      ['x', '1'],
      ['y', '2'],
    ],
    [
      ['z', '3'],
      ['\0', '4'],
    ],
  ];
  expect(() => hashOf(batches, isOrdered)).toThrow('books: row 4, column a: a text that is not utf-8');
});
