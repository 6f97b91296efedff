/** A damaged footer says anything, and the library passes it on: what is used of it is checked before. */
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { isAgentError } from '../../src/core/errors.ts';
import type { PartFile } from '../../src/sources/files/part-file.ts';
import { checkFooter } from '../../src/sources/formats/parquet-footer.ts';

const bytes = parquetWriteBuffer({ columnData: [{ name: 'a', data: [1, 2, 3] }] });
const file = { name: 'books.parquet' } as PartFile;

/** What is said of a footer that has something else at this place. */
function saidOf(path: string, other: unknown): string {
  const metadata: FileMetaData = parquetMetadata(bytes);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const above = names.reduce((at, name) => (at as Record<string, unknown>)[name] as never, metadata as unknown);
  (above as Record<string, unknown>)[last] = other;
  try {
    checkFooter(file, metadata);
    return '';
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return error.message;
  }
}

test('a footer as it was written passes', () => {
  expect(saidOf('version', 2)).toBe('');
});

const chunk = 'row_groups.0.columns.0.meta_data';
test.each([
  'num_rows',
  'row_groups.0.num_rows',
  `${chunk}.total_compressed_size`,
  `${chunk}.data_page_offset`,
  'schema',
  'schema.0',
  'schema.1.name',
  'schema.0.num_children',
  'schema.1.type_length',
  'schema.1.scale',
  'schema.1.logical_type',
  'row_groups',
  'row_groups.0',
  'row_groups.0.columns',
  'row_groups.0.columns.0',
  chunk,
  `${chunk}.path_in_schema`,
  `${chunk}.path_in_schema.0`,
  `${chunk}.dictionary_page_offset`,
  `${chunk}.codec`,
])('%s that is something else is damage', (path) => {
  for (const other of [null, false, true, Symbol('another')]) {
    expect(saidOf(path, other)).toBe(`books.parquet is damaged: its footer is wrong at ${path}`);
  }
});

test.each([
  ['num_rows', 3],
  ['schema.0.num_children', 1n],
  [`${chunk}.total_compressed_size`, '7'],
  [`${chunk}.path_in_schema`, 'a'],
])('%s of another type is damage', (path, other) => {
  expect(saidOf(path, other)).toBe(`books.parquet is damaged: its footer is wrong at ${path}`);
});

test('a column without a description is encrypted', () => {
  expect(saidOf(chunk, undefined)).toBe('books.parquet: a column is encrypted');
});
