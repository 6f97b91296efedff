/** A damaged footer gives a column any meaning: what is stored becomes text all the same, or the column has none. */
import type { SchemaElement } from 'hyparquet';
import { expect, test } from 'vitest';
import { NoText, columnText } from '../../src/sources/formats/parquet-column.ts';

/** As the library gives the values of each type. */
const stored: Readonly<Record<string, readonly unknown[]>> = {
  BOOLEAN: [true, false],
  INT32: [0, -1, 2 ** 31 - 1, -(2 ** 31)],
  INT64: [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)],
  INT96: [0n, -1n, 2n ** 95n, -(2n ** 95n)],
  FLOAT: [0, -0, 0.1, NaN, -Infinity],
  DOUBLE: [0, -0, 1e-300, NaN, Infinity],
  BYTE_ARRAY: [[], [0], [0xff, 0xfe], [...Buffer.from('7.5')]].map((bytes) => Uint8Array.from(bytes)),
  FIXED_LEN_BYTE_ARRAY: [[], [1], [0x80, 0, 0], Array<number>(16).fill(255)].map((bytes) => Uint8Array.from(bytes)),
};

const logical = [
  undefined,
  {},
  ...['STRING', 'ENUM', 'DATE', 'NULL', 'JSON', 'BSON', 'UUID', 'FLOAT16', 'LIST', 'VARIANT'].map((type) => ({ type })),
  ...[0, 2, -1, 1.5, 1000, 2 ** 31 - 1, NaN].map((scale) => ({ type: 'DECIMAL', scale, precision: 9 })),
  { type: 'DECIMAL' },
  ...['MILLIS', 'MICROS', 'NANOS'].flatMap((unit) => [
    { type: 'TIME', isAdjustedToUTC: true, unit },
    { type: 'TIMESTAMP', isAdjustedToUTC: false, unit },
  ]),
  ...[8, 64, 0, -7].flatMap((bitWidth) => [true, false].map((isSigned) => ({ type: 'INTEGER', bitWidth, isSigned }))),
];
const converted = [
  undefined,
  'UTF8',
  'ENUM',
  'DECIMAL',
  'DATE',
  'TIME_MILLIS',
  'TIME_MICROS',
  'TIMESTAMP_MILLIS',
  'JSON',
  'BSON',
  'TIMESTAMP_MICROS',
  'UINT_8',
  'UINT_64',
  'INT_8',
  'INT_64',
  'INTERVAL',
  'MAP_KEY_VALUE',
  'LIST',
];

test.each(Object.keys(stored))('%s with any meaning has texts, or none', (type) => {
  let texts = 0;
  for (const logical_type of logical) {
    for (const converted_type of converted) {
      for (const scale of [undefined, 3, -3, 5000]) {
        const element = { name: 'a', type, logical_type, converted_type, scale } as SchemaElement;
        const text = columnText(element);
        if (text === undefined) continue;
        for (const value of stored[type]!) {
          const made = text.textOf(value);
          expect(typeof made === 'string' || made instanceof NoText, JSON.stringify(element)).toBe(true);
          texts++;
        }
      }
    }
  }
  expect(texts).toBeGreaterThan(0);
});

test('a date has 32 bits', () => {
  const date = { type: 'DATE' } as const;
  expect(columnText({ name: 'a', type: 'INT32', logical_type: date })?.textOf(19_753)).toBe('2024-01-31');
  expect(columnText({ name: 'a', type: 'INT64', logical_type: date })).toBeUndefined();
});
