import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { kinds } from '../../src/sources/index.ts';
import { csvOf, csvRows, readWhole, unreadable, unreadableLike } from '../support/source-world.ts';

/** Longer than what is read at once, so that anything may stand across two chunks. */
const manyChunks = 200_000;

async function failureOf(content: string | Uint8Array, keys: object = {}): Promise<unknown> {
  const source = await csvOf(content, keys);
  return await readWhole(source).then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('rows', () => {
  test.each([
    ['\\n', 'a,b\n1,2\n3,4\n'],
    ['\\r\\n', 'a,b\r\n1,2\r\n3,4\r\n'],
    ['a lone \\r', 'a,b\r1,2\r3,4\r'],
    ['each another', 'a,b\n1,2\r\n3,4\r'],
    ['none at the end', 'a,b\n1,2\n3,4'],
  ])('end with %s', async (_end, content) => {
    expect(await csvRows(content)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  test('keep the line breaks, delimiters and doubled quotes of a quoted field', async () => {
    expect(await csvRows('a,b\n"x\r\ny\rz\n","1,""2"""\n')).toEqual([['x\r\ny\rz\n', '1,"2"']]);
  });

  test('keep the white space of their fields', async () => {
    expect(await csvRows('a,b\n 1 ,\t2\n')).toEqual([[' 1 ', '\t2']]);
  });

  test('are passed on with too few or too many fields, for the mapping to reject', async () => {
    expect(await csvRows('a,b\n1\n1,2\n1,2,3\n')).toEqual([['1'], ['1', '2'], ['1', '2', '3']]);
  });

  test('do not come from a blank line', async () => {
    expect(await csvRows('\n\na,b\n\n1,2\n \t \n\r\n3,4\n\n')).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  test('of one column may be empty when quoted, or white space', async () => {
    expect(await csvRows('a\n""\n\n \n1\n')).toEqual([[''], [' '], ['1']]);
  });

  test.each([
    [';', 'a;b\n1,5;2\n'],
    ['\t', 'a\tb\n1,5\t2\n'],
    ['\\t', 'a\tb\n1,5\t2\n'],
    ['|', 'a|b\n1,5|2\n'],
    ['¦', 'a¦b\n1,5¦2\n'],
  ])('are cut at the delimiter %j', async (delimiter, content) => {
    expect(await csvRows(content, { delimiter })).toEqual([['1,5', '2']]);
  });

  test('begin after the lines that skipRows names, whatever stands in these', async () => {
    const titles = 'Report 5" pipes\r\n\r\n"Revenue, 2026\r\n';
    expect(await csvRows(`${titles}a,b\r\n1,2\r\n`, { skipRows: 3 })).toEqual([['1', '2']]);
  });

  test.each(['\n', '\r', '\r\n'])('begin after skipped lines that end with %j far into the file', async (end) => {
    for (let length = 65_533; length < 65_538; length += 1) {
      const content = ['x'.repeat(length), 'y', 'a,b', '1,2', ''].join(end);
      expect(await csvRows(content, { skipRows: 2 })).toEqual([['1', '2']]);
    }
  });

  test('leave out as many below as footer names', async () => {
    const content = 'a,b\n1,2\n3,4\n\nTotal,6\nPrinted,today\n';
    expect(await csvRows(content, { footer: 2 })).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(await csvRows(content, { footer: 9 })).toEqual([]);
  });

  test.each([',', ',,', '""," "', '\u00a0,', ' '])(
    'below the data are counted without blank ones, such as %j among them or below them',
    async (blank) => {
      const content = `a,b\n1,2\n3,4\nTotal,6\n${blank}\nPrinted,today\n${blank}\n${blank}\n`;
      const rows = [
        ['1', '2'],
        ['3', '4'],
      ];
      expect(await csvRows(content, { footer: 2 })).toEqual(rows);
      expect(await csvRows(content, { footer: 5 })).toEqual([]);
    },
  );

  test('leave out a footer that stands across two chunks', async () => {
    const lines = Array.from({ length: manyChunks / 10 }, (_, at) => `row,${at}`);
    const rows = await csvRows(`a,b\n${lines.join('\n')}\n`, { footer: lines.length - 3 });
    expect(rows).toEqual([
      ['row', '0'],
      ['row', '1'],
      ['row', '2'],
    ]);
  });

  test('may have ten thousand columns', async () => {
    const fields = Array.from({ length: 10_000 }, (_, at) => `c${at}`);
    const whole = await readWhole(await csvOf(`${fields.join(',')}\n${fields.join(',')}\n`));
    expect(whole).toMatchObject({ columns: fields, rows: [fields] });
  });

  test('say how much of the file they are', async () => {
    const source = await csvOf(`a,b\n${'1,2\n'.repeat(4 * manyChunks)}`);
    const shares: (number | undefined)[] = [];
    for await (const batch of source.rows(
      (await source.parts(new AbortController().signal))[0]!,
      new AbortController().signal,
    )) {
      shares.push(batch.share);
    }
    expect(shares).toEqual(shares.toSorted((a = 0, b = 0) => a - b));
    expect(shares[0]).toBeLessThan(0.5);
    expect(shares.at(-1)).toBe(1);
  });
});

describe('the header', () => {
  test('may be all there is', async () => {
    expect(await readWhole(await csvOf('a,b'))).toMatchObject({ columns: ['a', 'b'], rows: [], batches: 1 });
  });

  test('may leave several columns without a name', async () => {
    expect(await readWhole(await csvOf('a,, ,b\n1,2,3,4\n'))).toMatchObject({ columns: ['a', '', '', 'b'] });
  });

  test('must not be missing', async () => {
    expect(await failureOf('')).toMatchObject(unreadable('revenue.csv has no header: it is empty (0 bytes)'));
    expect(await failureOf('\uFEFF')).toMatchObject(unreadable('revenue.csv has no header: there is no row'));
    expect(await failureOf('\n\n')).toMatchObject(unreadable('revenue.csv has no header: there is no row'));
    expect(await failureOf(',,\n1,2,3\n')).toMatchObject(unreadableLike(/no header: its first row is empty/));
    expect(await failureOf('title\n', { skipRows: 2 })).toMatchObject(unreadableLike(/no header.* after skipRows: 2$/));
  });

  test('must not name a column twice', async () => {
    expect(await failureOf('date,amount, date \n')).toMatchObject(
      unreadable('revenue.csv: columns 1 and 3 are both called date'),
    );
  });
});

describe('an encoding', () => {
  const table = 'name,amount\nMünchen – 5 €,1\n';
  const expected = [['München – 5 €', '1']];
  const littleEndian = (text: string): Buffer => Buffer.from(text, 'utf16le');
  const bigEndian = (text: string): Buffer => littleEndian(text).swap16();

  test.each([
    ['utf-8', Buffer.from(table)],
    ['windows-1252', Buffer.from(table.replace('–', '\x96').replace('€', '\x80'), 'latin1')],
    ['latin1', Buffer.from(table.replace('–', '\x96').replace('€', '\x80'), 'latin1')],
    ['utf-16le', littleEndian(table)],
    ['utf-16be', bigEndian(table)],
  ])('may be %s', async (encoding, bytes) => {
    expect(await csvRows(bytes, { encoding })).toEqual(expected);
  });

  test('may be one of several bytes, or a DOS code page', async () => {
    const japanese = Buffer.concat([Buffer.from('a\n'), Buffer.from([0x83, 0x5c, 0x0a])]);
    expect(await csvRows(japanese, { encoding: 'shift_jis' })).toEqual([['ソ']]);
    const dos = Buffer.concat([Buffer.from('a\n'), Buffer.from([0x81, 0xe1, 0x0a])]);
    expect(await csvRows(dos, { encoding: 'cp850' })).toEqual([['üß']]);
  });

  test.each([
    ['utf-8', Buffer.from(`\uFEFF${table}`)],
    ['utf-16le', littleEndian(`\uFEFF${table}`)],
    ['utf-16be', bigEndian(`\uFEFF${table}`)],
  ])('gives way to a byte-order mark of %s', async (_mark, bytes) => {
    expect(await readWhole(await csvOf(bytes, { encoding: 'windows-1252' }))).toMatchObject({
      columns: ['name', 'amount'],
      rows: expected,
    });
  });

  test.each([
    ['utf-8', (text: string) => Buffer.from(text)],
    ['utf-16le', littleEndian],
    ['utf-16be', bigEndian],
  ])('of %s keeps every character that stands across two chunks', async (encoding, encode) => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const long = shift + '😀é€'.repeat(manyChunks / 9);
      expect(await csvRows(encode(`a\n${long}\n`), { encoding })).toEqual([[long]]);
    }
  });

  test('keeps a replacement character that is in the file', async () => {
    expect(await csvRows('a\n\uFFFD\n')).toEqual([['\uFFFD']]);
  });

  test('with an invalid byte is a failure that says where', async () => {
    const bytes = Buffer.concat([Buffer.from('name\nMünchen\nK'), Buffer.from([0xf6]), Buffer.from('ln\n')]);
    expect(await failureOf(bytes)).toMatchObject({
      ...unreadable('revenue.csv line 3: invalid utf-8 byte 0xF6 at byte offset 15'),
      hint: expect.stringContaining('windows-1252'),
    });
    const maltese = Buffer.from([0x61, 0x0a, 0xc4, 0xa5]);
    expect(await failureOf(maltese, { encoding: 'iso-8859-3' })).toMatchObject(
      unreadable('revenue.csv line 2: invalid iso-8859-3 byte 0xA5 at byte offset 3'),
    );
  });

  const windows = 'declare encoding: windows-1252 if it comes from an older Windows program';
  const dos = 'encoding: cp850 if it comes from a DOS program';
  test.each<[string, readonly number[], string]>([
    ['a letter of DOS that windows-1252 lacks', [0x81], `declare ${dos}; else the file is damaged`],
    ['a letter of DOS', [0x94], `declare ${dos}, or ${windows.slice('declare '.length)}; else the file is damaged`],
    ['a letter of windows-1252', [0xfc], `${windows}; else the file is damaged`],
    ['one that both have', [0xe1], `${windows}, or ${dos}; else the file is damaged`],
    ['UTF-8 around it', [0xc3, 0x9d, 0xff, 0xc3, 0x81], `${windows}; else the file is damaged`],
  ])('that is not the declared one is advised by its bytes: %s', async (_what, bytes, hint) => {
    const text = Buffer.concat([Buffer.from('name\nM'), Buffer.from(bytes), Buffer.from('ller\n')]);
    expect(await failureOf(text)).toMatchObject({ hint });
  });

  test('with an invalid byte far into the file, beside a chunk or not, says where all the same', async () => {
    const line = 'zwölf,1\r\n';
    for (const at of [65_534, 65_535, 65_536, 65_537, 150_000]) {
      const before = Buffer.concat([Buffer.from('a,b\r\n'), Buffer.from(line.repeat(manyChunks / 10))]).subarray(0, at);
      // Cut between characters, or the cut itself would be the fault.
      const clean = before.at(-1) === 0xc3 ? before.subarray(0, -1) : before;
      const lineNumber = clean.toString('latin1').split(/\r\n?/).length;
      expect(await failureOf(Buffer.concat([clean, Buffer.from([0xff]), Buffer.from(line)]))).toMatchObject(
        unreadable(`revenue.csv line ${lineNumber}: invalid utf-8 byte 0xFF at byte offset ${clean.length}`),
      );
    }
  });

  test.each([
    ['utf-8', Buffer.from([0x61, 0x0a, 0xe2, 0x82]), 2],
    ['utf-16le', Buffer.from([0x61, 0, 0x0a, 0, 0x62]), 4],
    ['utf-16le', Buffer.from([0x61, 0, 0x0a, 0, 0x3d, 0xd8]), 4],
    ['shift_jis', Buffer.from([0x61, 0x0a, 0x83]), 2],
  ])('of %s must not end inside a character', async (encoding, bytes, offset) => {
    expect(await failureOf(bytes, { encoding })).toMatchObject(
      unreadableLike(new RegExp(`^revenue.csv line 2: invalid ${encoding} byte .* at byte offset ${offset}$`)),
    );
  });

  test('of utf-16 must not hold half a pair', async () => {
    const bytes = Buffer.concat([littleEndian('a\nb'), Buffer.from([0x00, 0xdc]), littleEndian('c')]);
    expect(await failureOf(bytes, { encoding: 'utf-16le' })).toMatchObject(
      unreadable('revenue.csv line 2: invalid utf-16le byte 0x00 at byte offset 6'),
    );
  });

  test('with a NUL character is a failure that says where', async () => {
    expect(await failureOf('a,b\n1,2\n3,\0\n')).toMatchObject(
      unreadable('revenue.csv line 3: a NUL character at byte offset 10'),
    );
    expect(await failureOf(littleEndian('a\n1\n'))).toMatchObject({
      ...unreadable('revenue.csv line 1: a NUL character at byte offset 1'),
      hint: expect.stringContaining('utf-16le'),
    });
    expect(await failureOf(littleEndian('\uFEFFa\n\0\n'))).toMatchObject(
      unreadable('revenue.csv line 2: a NUL character at byte offset 6'),
    );
  });
});

describe('a quote', () => {
  test('that is never closed is named by the line that it opens on', async () => {
    expect(await failureOf('a,b\n1,2\n3,"4\n5,6\n')).toMatchObject(
      unreadable('revenue.csv line 3, column 2 (b): the quote that opens here is never closed'),
    );
  });

  test('is named by its line after all that makes lines but no rows', async () => {
    const content = 'title"\ra,b\r\n"x\r\ny",2\r\n\r\n# note\r\n\n"3,4\r\n5,6\r\n';
    expect(await failureOf(content, { skipRows: 1, comment: '#' })).toMatchObject(
      unreadable('revenue.csv line 8, column 1 (a): the quote that opens here is never closed'),
    );
  });

  test('that is never closed is found without reading the whole file', async () => {
    const source = await csvOf(`a,b\n1,2\n"3,4\n${'5,6\n'.repeat(6_000_000)}`);
    expect(await readWhole(source).catch((error: unknown) => error)).toMatchObject(
      unreadable('revenue.csv line 3: the field that starts here is over 10 MB'),
    );
  });

  test('that stands inside a field which does not start with one is a failure', async () => {
    expect(await failureOf('size,n\n5" pipe,2\n')).toMatchObject(
      unreadable('revenue.csv line 2, column 1 (size): a quote inside a field that does not start with one'),
    );
  });

  test('that is closed before the field ends is a failure', async () => {
    expect(await failureOf('size,n\n"x\n"y,2\n')).toMatchObject(
      unreadable('revenue.csv line 2, column 1 (size): text follows the closing quote of the field that starts here'),
    );
  });
});

describe('a field', () => {
  test('may be 10 MB long', async () => {
    const [row] = await csvRows(`a,b\n1,${'x'.repeat(10_000_000)}\n`);
    expect(row![1]).toHaveLength(10_000_000);
    const [quoted] = await csvRows(`a,b\n1,"${'""'.repeat(10_000_000)}"\n`);
    expect(quoted![1]).toHaveLength(10_000_000);
  });

  test.each([['x'.repeat(10_000_001)], ['é'.repeat(5_000_001)], [`"${'x'.repeat(12_000_000)}"`]])(
    'must not be longer (%#)',
    async (long) => {
      expect(await failureOf(`a,b\n1,2\n3,${long}\n`)).toMatchObject(
        unreadable('revenue.csv line 3, column 2 (b): the field that starts here is over 10 MB'),
      );
    },
  );
});

describe('the content', () => {
  test('has the hash of the bytes of the file', async () => {
    const bytes = Buffer.from('\uFEFFa,b\r\n"1",2\r\n');
    const { content } = await readWhole(await csvOf(bytes));
    expect(content.hash).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  test.each([
    ['a\n1\n', true],
    ['a\r1\r', true],
    ['a\n1', false],
    ['a\n1\n ', false],
    ['a\n"1\n', false],
  ])('of %j ends with a line end: %s', async (text, isEnded) => {
    const outcome = await readWhole(await csvOf(text)).catch(() => undefined);
    // An unclosed quote is a failure before anybody asks for the end.
    expect(outcome?.content.endsWithLineEnd ?? false).toBe(isEnded);
  });

  test('ends with a line end in utf-16 too', async () => {
    const { content } = await readWhole(await csvOf(Buffer.from('a\n1\n', 'utf16le'), { encoding: 'utf-16le' }));
    expect(content.endsWithLineEnd).toBe(true);
  });
});

describe('the keys', () => {
  const check = (keys: object): z.ZodSafeParseResult<unknown> => kinds['csv']!.schema.safeParse(keys);

  test('have defaults for all but the files', () => {
    expect(check({ files: ['*.csv'] }).data).toEqual({
      files: ['*.csv'],
      settle: 2000,
      lineEnd: 'expected',
      parts: 'all',
      expandedMax: 4_000_000_000,
      encoding: 'utf-8',
      delimiter: ',',
      skipRows: 0,
      footer: 0,
    });
  });

  test.each([
    [{}, 'files'],
    [{ files: [] }, 'files'],
    [{ files: [''] }, 'files'],
    [{ files: ['{a,b/c}.csv'] }, 'files'],
    [{ files: ['*/../x.csv'] }, 'files'],
    [{ encoding: 'utf-9' }, 'encoding'],
    [{ encoding: 'hex' }, 'encoding'],
    [{ delimiter: '' }, 'delimiter'],
    [{ delimiter: ';;' }, 'delimiter'],
    [{ delimiter: '"' }, 'delimiter'],
    [{ delimiter: '\n' }, 'delimiter'],
    [{ skipRows: -1 }, 'skipRows'],
    [{ footer: 1.5 }, 'footer'],
    [{ comment: '' }, 'comment'],
    [{ settle: '2' }, 'settle'],
    [{ parts: 'last' }, 'parts'],
  ])('refuse %j at %s', (keys, key) => {
    const isWhole = Object.keys(keys).length === 0 || 'files' in keys;
    const issues = check(isWhole ? keys : { files: ['*.csv'], ...keys }).error?.issues ?? [];
    expect(issues.map(({ path }) => path[0])).toEqual([key]);
  });

  test.each(Object.keys(kinds))('of %s are all described, and no others are taken', (type) => {
    const schema = z.toJSONSchema(kinds[type]!.schema, { io: 'input' });
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      expect(property, key).toHaveProperty('description');
    }
    expect(schema.additionalProperties).toBe(false);
  });
});
