import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ColumnNeed } from '../../src/core/mapping/column-batch.ts';
import type { Row } from '../../src/core/model.ts';
import { ColumnHash } from '../../src/sources/databases/row-hash.ts';
import { BatchReader, BatchWriter, type WireBatch } from '../../src/sources/databases/wire-batch.ts';
import { checkRow } from '../support/two-ways.ts';

const columns = ['a', 'b'];
const needs = fc.record({ isCoded: fc.boolean(), isValue: fc.boolean() });
const field = fc.oneof(fc.constantFrom('', '1', '-1.50', 'null', 'ü', '😀'), fc.string({ unit: 'binary' }));
const batches = fc.array(fc.array(fc.tuple(field, field), { maxLength: 8 }), { maxLength: 5 });

/** Writes batches and reads what another process would get. */
function sent(needed: readonly ColumnNeed[], given: readonly (readonly Row[])[]): void {
  const writer = new BatchWriter(columns, needed);
  const reader = new BatchReader(columns);
  for (const rows of given) {
    const batch = reader.read(deserialize(serialize(writer.write(rows))) as WireBatch);
    expect(batch.count).toBe(rows.length);
    for (const [at, row] of rows.entries()) {
      expect(batch.row(at)).toEqual(row);
      checkRow(batch, at, row);
    }
  }
}

test('rows arrive as they were sent, whatever is needed of their columns', () => {
  expect.hasAssertions();
  fc.assert(fc.property(fc.tuple(needs, needs), batches, sent));
});

test('columns of more texts than are kept arrive too', () => {
  expect.hasAssertions();
  const rows = (from: number): Row[] => Array.from({ length: 20_000 }, (_, at) => [`voucher ${from + at}`, 'x']);
  sent(
    [
      { isCoded: true, isValue: false },
      { isCoded: true, isValue: true },
    ],
    [0, 1, 2, 3, 4, 5].map((at) => rows(at * 20_000)),
  );
});

test('other rows have another hash, wherever their fields differ', () => {
  const hashOf = (needed: readonly ColumnNeed[], rows: readonly Row[]): string => {
    const hash = new ColumnHash(columns);
    hash.add(new BatchWriter(columns, needed).write(rows), rows);
    return hash.digest();
  };
  const table = fc
    .array(fc.tuple(field, field), { maxLength: 6 })
    .filter((rows) => !/[\0\uFFFD]/.test(rows.flat().join('')));
  fc.assert(
    fc.property(fc.tuple(needs, needs), table, table, (needed, one, other) => {
      expect(hashOf(needed, one) === hashOf(needed, other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});

test.each(['a\0', '\uFFFD'])('a text that no source may give is refused with its place: %j', (text) => {
  const rows: Row[] = [
    ['a', '1'],
    ['b', text],
  ];
  for (const isCoded of [true, false]) {
    const needed = columns.map(() => ({ isCoded, isValue: !isCoded }));
    const hash = new ColumnHash(columns);
    expect(() => hash.add(new BatchWriter(columns, needed).write(rows), rows)).toThrow(
      /^row 2, column b: a text that is not/,
    );
  }
});
