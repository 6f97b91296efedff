import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { HeldBytes } from '../../src/sources/formats/parquet-pages.ts';
import { calledFunctions } from '../support/called-functions.ts';
import { nestedParquet, oddParquet, plainText, runOfZeros } from '../support/parquet-files.ts';
import type { OddPage } from '../support/parquet-files.ts';
import { fileOf, readWhole, tempDir, unreadable, unreadableLike, writeFiles } from '../support/source-world.ts';
import { document, workbook } from '../support/workbooks.ts';

async function failureOf(type: string, content: string | Uint8Array): Promise<unknown> {
  return await readWhole(await fileOf(type, content, { name: `books.${type}` })).then(
    ({ rows }) => `${rows.length} rows`,
    (error: unknown) => error,
  );
}

const megabyte = 1_000_000;

/** Texts of nothing, each four bytes that are 0. */
function emptyTexts(count: number): OddPage {
  return { count, bytes: zstdCompressSync(Buffer.alloc(4 * count)), expandedBytes: 4 * count };
}

function dictionaryOf(texts: readonly string[]): OddPage {
  return { kind: 'dictionary', count: texts.length, bytes: Buffer.concat(texts.map(plainText)) };
}

function indexes(count: number): OddPage {
  return { count, encoding: 'RLE_DICTIONARY', bytes: runOfZeros(count) };
}

/** A sheet of few kilobytes, nested `depth` deep. */
function nestedSheet(depth: number): Uint8Array {
  const rows = `<row r="1"><c r="A1" t="str"><v>a</v></c></row>${'<x>'.repeat(depth)}${'</x>'.repeat(depth)}`;
  return workbook({
    sheets: [{ name: 'a' }],
    entries: { 'xl/sheets/sheet1.xml': document('worksheet', `<sheetData>${rows}</sheetData>`) },
  });
}

describe('a field, a row, and what is nested', () => {
  test('a text of Parquet over 10 MB is refused with its row and column', async () => {
    const pages = [{ count: 3, bytes: Buffer.concat(['a', 'b', 'x'.repeat(10_000_001)].map(plainText)) }];
    expect(await failureOf('parquet', oddParquet(3, [{ pages }]))).toMatchObject(
      unreadable('books.parquet row 3, column a: a text of over 10 MB'),
    );
  });

  test('a row of Parquet over 64 MB is refused, though its columns share one text each', async () => {
    const pages = [dictionaryOf(['x'.repeat(9 * megabyte)]), indexes(5)];
    const wide = oddParquet(
      5,
      Array.from({ length: 8 }, () => ({ pages })),
    );
    expect(await failureOf('parquet', wide)).toMatchObject(unreadable('books.parquet row 1: over 64 MB of text'));
  });

  test('rows of long texts come in small batches', async () => {
    const pages = [dictionaryOf(['x'.repeat(3 * megabyte)]), indexes(40)];
    const { rows, batches } = await readWhole(await fileOf('parquet', oddParquet(40, [{ pages }])));
    expect(rows).toHaveLength(40);
    expect(batches).toBe(20);
  });

  test('a cell over 10 MB is refused with its name', async () => {
    const text = '年'.repeat(3_500_000);
    const cell = `<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2" t="str"><v>${text}</v></c></row>`;
    const book = workbook({
      sheets: [{ name: 'a' }],
      entries: { 'xl/sheets/sheet1.xml': document('worksheet', `<sheetData>${cell}</sheetData>`) },
    });
    expect(await failureOf('xlsx', book)).toMatchObject(unreadable('books.xlsx sheet a cell A2: a text of over 10 MB'));
  });

  test.each(['json', 'jsonl'])('a list of %s over 10 MB is refused with its place', async (type) => {
    const record = `{"a":[${`"${'x'.repeat(megabyte)}",`.repeat(11)}[]]}\n`;
    const text = type === 'json' ? `[${record}]` : record;
    expect(await failureOf(type, text)).toMatchObject(
      unreadableLike(/^books\.jsonl? line 1\b.*: a list is over 10 MB$/),
    );
  });

  test('a row of more than 100 000 fields is refused with its line', async () => {
    expect(await failureOf('csv', `a,b\n1,2\n${','.repeat(400_000)}\n`)).toMatchObject(
      unreadable('books.csv line 3: the row that starts here has over 100 000 fields'),
    );
    expect(await failureOf('csv', `${','.repeat(100_001)}\n`)).toMatchObject(
      unreadableLike(/^books\.csv line 1: .* fields$/),
    );
  });

  test('XML and structs nested more than 100 levels deep are refused', async () => {
    expect(await failureOf('xlsx', nestedSheet(90))).toBe('0 rows');
    expect(await failureOf('xlsx', nestedSheet(200))).toMatchObject(
      unreadableLike(/sheet1\.xml, at row 1, has elements nested more than 100 levels deep$/),
    );
    expect(await failureOf('parquet', nestedParquet(100))).toBe('0 rows');
    expect(await failureOf('parquet', nestedParquet(200))).toMatchObject(
      unreadable('books.parquet: s is nested more than 100 levels deep'),
    );
  });
});

describe('a page of Parquet', () => {
  test('that expands to more than 128 MB is refused with its row', async () => {
    const page = { count: 1, bytes: zstdCompressSync(Buffer.alloc(130 * megabyte)), expandedBytes: 130 * megabyte };
    const message = 'books.parquet row 1, column a: a page of 130 MB, and at most 128 MB are read';
    expect(await failureOf('parquet', oddParquet(1, [{ codec: 'ZSTD', pages: [page] }]))).toMatchObject(
      unreadable(message),
    );
    const dictionary = { ...page, kind: 'dictionary' } as const;
    const pages = [dictionary, indexes(1)];
    expect(await failureOf('parquet', oddParquet(1, [{ codec: 'ZSTD', pages }]))).toMatchObject(unreadable(message));
  });

  test.each(['ZSTD', 'GZIP', 'BROTLI'] as const)('that expands to more than it says is damaged (%s)', async (codec) => {
    const { brotliCompressSync, gzipSync } = await import('node:zlib');
    const compress = { ZSTD: zstdCompressSync, GZIP: gzipSync, BROTLI: brotliCompressSync }[codec];
    const page = { count: 1, bytes: compress(Buffer.alloc(5 * megabyte)), expandedBytes: 5 };
    expect(await failureOf('parquet', oddParquet(1, [{ codec, pages: [page] }]))).toMatchObject(
      unreadableLike(/^books\.parquet is damaged: column a: /),
    );
  });

  test.each([
    ['empty texts', 20 * megabyte, { codec: 'ZSTD' as const, pages: [emptyTexts(20 * megabyte)] }],
    ['repeated values', 2_000_000_000, { pages: [dictionaryOf(['x']), indexes(2_000_000_000)] }],
  ])('of few bytes that stand for too many %s is refused with its row', async (_what, rows, column) => {
    const bytes = oddParquet(rows, [column]);
    expect(bytes.length).toBeLessThan(10_000);
    expect(await failureOf('parquet', bytes)).toMatchObject(
      unreadable(
        'books.parquet row 1, column a: the pages that have to be open together would take more than 1000 MB of memory',
      ),
    );
  });

  test('counts with those that are open in other columns', () => {
    const held = new HeldBytes();
    held.take(600 * megabyte, 100 * megabyte);
    expect(() => held.take(300 * megabyte, 200 * megabyte)).toThrow(/open together/);
    const second = new HeldBytes();
    second.take(600 * megabyte, 0);
    second.release(600 * megabyte);
    expect(() => second.take(900 * megabyte, 0)).not.toThrow();
  });

  test('whose run is longer than the page is damaged', async () => {
    const pages = [dictionaryOf(['x']), { ...indexes(1_000_000_000), count: 3 }];
    expect(await failureOf('parquet', oddParquet(3, [{ pages }]))).toMatchObject(
      unreadable('books.parquet is damaged: column a: a run of 1000000000 values in a page of 3'),
    );
  });

  test('whose texts each begin with all of the one before is refused', async () => {
    // A first length, and 4095 times one more: the n-th text has n of the characters that stand there.
    const lengths = (first: number, step: number): Buffer =>
      Buffer.concat([Buffer.from('8020048020', 'hex'), Buffer.from([first * 2, step * 2, 0, 0, 0, 0])]);
    const texts = Buffer.concat([lengths(0, 63), lengths(1, 0), Buffer.alloc(4096)]);
    const page = { count: 4096, encoding: 'DELTA_BYTE_ARRAY', bytes: texts } as const;
    expect(await failureOf('parquet', oddParquet(4096, [{ pages: [page] }]))).toMatchObject(
      unreadableLike(/^books\.parquet row 1, column a: a page whose texts are 528\.\d+ MB together/),
    );
  });

  test.each([
    ['no miniblocks', '800100', 'blocks of 128 values in 0 miniblocks'],
    // The library takes this number for a negative one, goes back in the page, and never ends.
    ['less than no miniblocks', '8001ffffffff0f', 'blocks of 128 values in 4294967295 miniblocks'],
    ['miniblocks of part of a value', '800103', 'blocks of 128 values in 3 miniblocks'],
    ['no values', '0004', 'blocks of 0 values in 4 miniblocks'],
    ['a number without an end', 'ffffffffffff01', 'a number of more than five bytes'],
  ])('of deltas in blocks of %s is damaged', async (_what, blocks, reason) => {
    for (const encoding of ['DELTA_BYTE_ARRAY', 'DELTA_LENGTH_BYTE_ARRAY'] as const) {
      const page = { count: 2, encoding, bytes: Buffer.concat([Buffer.from(blocks, 'hex'), Buffer.alloc(64)]) };
      expect(await failureOf('parquet', oddParquet(2, [{ pages: [page] }]))).toMatchObject(
        unreadable(`books.parquet is damaged: column a: ${reason}`),
      );
    }
  });

  test('of indexes without a dictionary is damaged: indexes are not values', async () => {
    expect(await failureOf('parquet', oddParquet(2, [{ type: 'INT32', pages: [indexes(2)] }]))).toMatchObject(
      unreadableLike(/a page refers to a dictionary that is missing$/),
    );
  });

  test('that is not there, or is one too many, is damaged', async () => {
    const page = { count: 2, bytes: Buffer.concat(['a', 'b'].map(plainText)) };
    expect(await failureOf('parquet', oddParquet(3, [{ pages: [page] }]))).toMatchObject(
      unreadable('books.parquet is damaged: column a: it ends after 2 rows'),
    );
    expect(await failureOf('parquet', oddParquet(1, [{ pages: [page] }]))).toMatchObject(
      unreadable('books.parquet is damaged: column a has more than 1 rows in a row group'),
    );
  });
});

test('a footer over 16 MB is refused before it is read', async () => {
  const footer = Buffer.alloc(17 * megabyte);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  const bytes = Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]);
  expect(await failureOf('parquet', bytes)).toMatchObject(unreadable('books.parquet: its footer is over 16 MB'));
});

test('opening a Parquet file takes work in proportion to its columns', async () => {
  const work = async (columns: number): Promise<number> => {
    const pages = [{ count: 1, bytes: plainText('a') }];
    const source = await fileOf(
      'parquet',
      oddParquet(
        1,
        Array.from({ length: columns }, () => ({ pages })),
      ),
    );
    return await calledFunctions(() => readWhole(source));
  };
  // What is loaded once does not count.
  await work(1);
  expect((await work(400)) / (await work(200))).toBeLessThan(2.3);
});

test('small files that stand for gigabytes are refused in little memory', async () => {
  const dir = await tempDir();
  const files = {
    'texts.parquet': oddParquet(30 * megabyte, [{ codec: 'ZSTD', pages: [emptyTexts(30 * megabyte)] }]),
    'deep.xlsx': nestedSheet(megabyte),
    'commas.csv': `a,b\n${','.repeat(30 * megabyte)}\n`,
    'page.parquet': oddParquet(1, [
      {
        codec: 'ZSTD',
        pages: [{ count: 1, bytes: zstdCompressSync(Buffer.alloc(megabyte)), expandedBytes: 2_000_000_000 }],
      },
    ]),
  };
  await writeFiles(dir, files);
  const child = new URL('../support/read-child.ts', import.meta.url).pathname;
  const found: { readonly message: string | undefined; readonly peakMb: number }[] = [];
  for (const name of Object.keys(files)) {
    const keys = JSON.stringify({ files: [name], settle: '0s' });
    const args = [child, name.slice(name.lastIndexOf('.') + 1), keys, dir];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { failure, peakMb } = JSON.parse(stdout) as { failure?: Error; peakMb: number };
    found.push({ message: failure?.message.split(':')[0], peakMb });
  }
  expect(found.map(({ message }) => message)).toEqual([
    'texts.parquet row 1, column a',
    'deep.xlsx is damaged',
    'commas.csv line 2',
    'page.parquet row 1, column a',
  ]);
  expect(Math.max(...found.map(({ peakMb }) => peakMb))).toBeLessThan(300);
});
