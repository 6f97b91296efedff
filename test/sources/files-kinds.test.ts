import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fileOf, readWhole } from '../support/source-world.ts';

const mt940 = ':20:STARTUMS\r\n:25:10020030/1234567\r\n:28C:1/1\r\n:60F:C260101EUR1000,00\r\n';
const camt = '<?xml version="1.0"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt/>';

const others: readonly (readonly [what: string, content: string | Uint8Array, hint: RegExp])[] = [
  ['a bank statement (MT940)', mt940, /convert it/],
  ['a bank statement (MT940)', '{1:F01BANKDEFFXXXX0000000000}{2:O940}{4:\r\n:20:x\r\n', /convert it/],
  ['a bank statement (OFX)', 'OFXHEADER:100\r\nDATA:OFXSGML\r\n', /convert it/],
  ['a bank statement (OFX)', '<?xml version="1.0"?>\n<?OFX OFXHEADER="200"?>\n<OFX></OFX>', /convert it/],
  ['a bank statement or payment (ISO 20022)', camt, /convert it/],
  ['a spreadsheet in XML', '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>', /\.xlsx/],
  ['an XML document', '\n<?xml version="1.0"?><rows/>', /csv/],
  ['an XML document', Buffer.from('\uFEFF<?xml version="1.0"?><rows/>', 'utf16le'), /csv/],
  ['a page of HTML', '<!DOCTYPE html>\n<html><body>Sign in</body></html>', /login page/],
  ['a page of HTML', '\uFEFF<table border=1><tr><td>a</td></tr></table>', /web page/],
  ['a PDF document', '%PDF-1.7\n', /export the data/],
  ['a workbook or another zip archive', Buffer.from('504b030414000600', 'hex'), /type: xlsx/],
  ['a Parquet file', Buffer.from('5041523115041520', 'hex'), /type: parquet/],
  ['a gzip archive', gzipSync('a,b\n'), /\.gz/],
  ['a zstd archive', zstdCompressSync('a,b\n'), /\.zst/],
  ['a bzip2 archive', Buffer.from('425a68393141592653590000', 'hex'), /unpack/],
  ['an xz archive', Buffer.from('fd377a585a000004', 'hex'), /unpack/],
  ['a SQLite database', 'SQLite format 3\0\u0010\0', /type: sqlite/],
  ['a workbook of an old Excel, or one with a password', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /\.xlsx/],
];

describe.each(['csv', 'tsv', 'json', 'jsonl'])('a file of type %s', (type) => {
  test.each(others)('says what it is instead: %s %#', async (what, content, hint) => {
    const encoding = type === 'csv' || type === 'tsv' ? { encoding: 'windows-1252' } : {};
    const source = await fileOf(type, content, { name: `books.${type}`, ...encoding });
    await expect(readWhole(source)).rejects.toMatchObject({
      code: 'part.unreadable',
      message: `books.${type} is not a table of text: it is ${what}`,
      hint: expect.stringMatching(hint),
    });
  });

  test('says that it is UTF-16 without a mark', async () => {
    const source = await fileOf(type, Buffer.from('a\tb\n1\t2\n', 'utf16le'));
    await expect(readWhole(source)).rejects.toMatchObject({
      message: `revenue.${type} line 1: a NUL character at byte offset 1`,
      hint: expect.stringContaining('it is utf-16le without a byte-order mark'),
    });
  });
});

test.each([':20:;:25:\nx;1\n', 'PAR1;PAR2\n1;2\n', 'BZh,b\n1,2\n', '"<xml>",b\n1,2\n', '{1:a},b\n1,2\n'])(
  'a header that looks a little like one is a header: %j',
  async (content) => {
    expect((await readWhole(await fileOf('csv', content))).rows).toHaveLength(1);
  },
);
