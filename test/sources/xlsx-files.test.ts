import { stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import { isAgentError } from '../../src/core/errors.ts';
import { runsOf } from '../support/campaign.ts';
import { calm, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';
import { document, readBook, readBytes, sharedCell, unreadable, workbook, zipped } from '../support/workbooks.ts';

const file = 'books.xlsx';

describe('a workbook', () => {
  test('of another program is read: its prefixes, its places of files, its strict form, UTF-16', async () => {
    const strict = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
    const sheet =
      '\uFEFF<?xml version="1.0" encoding="utf-16"?><x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main">' +
      '<x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row>' +
      '</x:sheetData></x:worksheet>';
    const encoder = new TextEncoder();
    const bytes = zipSync({
      '_rels/.rels': encoder.encode(
        `<Relationships><Relationship Id="a" Type="${strict}/officeDocument" Target="/book/Main.xml"/></Relationships>`,
      ),
      'BOOK/main.xml': encoder.encode(
        '<x:workbook xmlns:x="x" xmlns:q="y"><x:sheets><x:sheet name="S" q:id="b"/></x:sheets></x:workbook>',
      ),
      'book/_rels/Main.xml.rels': encoder.encode(
        `<Relationships><Relationship Id="b" Type="${strict}/worksheet" Target="../S/1.xml"/></Relationships>`,
      ),
      's/1.xml': Buffer.from(sheet, 'utf16le'),
    });
    expect((await readBytes(bytes)).rows).toEqual([['1']]);
  });

  test('of write-excel-file is read', async () => {
    const buffer = await writeExcelFile([
      ['region', 'date', 'amount', 'ok'],
      ['Nörd & "Süd"', { value: new Date('2024-01-31T00:00:00Z'), format: 'dd.mm.yyyy' }, 0.1 + 0.2, true],
      [null, null, 1e21, false],
    ]).toBuffer();
    expect((await readBytes(buffer)).rows).toEqual([
      ['Nörd & "Süd"', '2024-01-31', '0.3', 'true'],
      ['', '', '1e+21', 'false'],
    ]);
  });

  test('is read compressed once more', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { 'books.xlsx.gz': gzipSync(workbook({ sheets: [{ name: 'a', rows: [['a'], ['1']] }] })) });
    expect((await readWhole(openSource('xlsx', { files: ['*.gz'] }, dir))).rows).toEqual([['1']]);
  });

  test('that somebody has open is read without the file that Excel puts beside it', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { '~$books.xlsx': Buffer.alloc(165) });
    const source = openSource('xlsx', { files: ['*.xlsx'] }, dir);
    await expect(source.parts(calm)).rejects.toMatchObject({ message: expect.stringMatching(/^nothing matches/) });
    await writeFiles(dir, { [file]: workbook({ sheets: [{ name: 'a', rows: [['a'], ['1']] }] }) });
    expect((await source.parts(calm)).map(({ name }) => name)).toEqual([file]);
  });

  test('has the hash of its bytes', async () => {
    const dir = await tempDir();
    await writeFiles(dir, { [file]: workbook({ sheets: [{ name: 'a', rows: [['a'], ['1']] }] }) });
    const source = openSource('xlsx', { files: [file] }, dir);
    const [part] = await source.parts(calm);
    const before = await readWhole(source, part);
    expect(await source.hash!(part!, calm)).toMatchObject({ hash: before.content.hash });
    const { mtime } = await stat(path.join(dir, file));
    await utimes(path.join(dir, file), mtime, new Date(mtime.getTime() + 1000));
    expect((await readWhole(source)).content.hash).toBe(before.content.hash);
  });

  const good = workbook({
    sheets: [{ name: 'a', rows: [['a'], ...Array.from({ length: 3000 }, (_, at) => [`row ${at}`])] }],
  });
  const cfb = Buffer.from('d0cf11e0a1b11ae1', 'hex');

  test.each<[string, Uint8Array, RegExp, RegExp]>([
    ['is old', Buffer.concat([cfb, Buffer.alloc(4000)]), /is a workbook of Excel 97-2003/, /save it as \.xlsx/],
    [
      'has a password',
      Buffer.concat([cfb, Buffer.alloc(70_000), Buffer.from('EncryptedPackage', 'utf16le'), Buffer.alloc(99)]),
      /is encrypted/,
      /remove the password/,
    ],
    ['is a text', Buffer.from('a,b\n1,2\n'), /is not a workbook: it does not begin as/, /under the name of a workbook/],
    ['is empty', Buffer.alloc(0), /is not a workbook: it is empty/, /./],
    ['is another archive', zipped({ 'a.csv': 'a\n' }), /a zip file, and no workbook is in it/, /./],
    ['is of OpenDocument', zipped({ mimetype: 'x', 'content.xml': '<a/>' }), /OpenDocument/, /save it as \.xlsx/],
    [
      'is binary',
      zipped({
        '_rels/.rels':
          '<Relationships><Relationship Type="a/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        'xl/workbook.bin': '',
      }),
      /binary workbook/,
      /save it as \.xlsx/,
    ],
    ['is cut short', good.subarray(0, good.length - 100), /is cut short/, /copy/],
    ['is cut in the middle', good.subarray(0, good.length / 2), /is cut short/, /copy/],
    ['is damaged', flipped(good), /is damaged/, /again/],
    ['names a file within by control characters', zipped({ '/\0': '' }), /is damaged: .*\/\\u0000/, /again/],
  ])('that %s is a failure', async (_what, bytes, message, hint) => {
    await expect(readBytes(bytes)).rejects.toMatchObject(unreadable(message, hint));
  });

  test.each([
    ['what is not there', { 'xl/_rels/workbook.xml.rels': '<Relationships/>' }, /sheet a is missing/],
    [
      'a DOCTYPE',
      { 'xl/sharedStrings.xml': '<!DOCTYPE x [<!ENTITY a "b">]><sst><si><t>&a;</t></si></sst>' },
      /sharedStrings\.xml, at text 1, has a DOCTYPE/,
    ],
    [
      'an unknown entity',
      { 'xl/sharedStrings.xml': '<sst><si><t>&a;</t></si></sst>' },
      /has &a;, which is not a character/,
    ],
    [
      'an end of its XML too early',
      { 'xl/sheets/sheet1.xml': document('worksheet', '').slice(0, -12) },
      /unexpected end of file/,
    ],
    ['no XML', { 'xl/workbook.xml': 'books' }, /xl\/workbook\.xml has missing start tag/],
    ['bytes of another encoding', { 'xl/styles.xml': '\uFEFF<a' }, /styles\.xml has /],
  ])('with %s is a failure that says where', async (_what, entries, message) => {
    const rows = [['a'], [sharedCell(0)]];
    await expect(readBook({ sheets: [{ name: 'a', rows }], entries })).rejects.toMatchObject(unreadable(message));
  });

  test('that expands beyond expandedMax is a failure, whatever its directory claims', async () => {
    const bomb = workbook({
      sheets: [{ name: 'a', rows: [['a'], ['1']] }],
      entries: { 'xl/sharedStrings.xml': document('sst', `<si><t>${'x'.repeat(3_000_000)}</t></si>`) },
    });
    expect(bomb.length).toBeLessThan(30_000);
    await expect(readBytes(bomb, { expandedMax: '1MB' })).rejects.toMatchObject(
      unreadable(/expands to more than 1000000 bytes/, /raise expandedMax/),
    );
    const claims = lessClaimed(bomb, 3_000_000);
    await expect(readBytes(claims, { expandedMax: '1MB' })).rejects.toMatchObject(unreadable(/expands to more than/));
    await expect(readBytes(claims)).rejects.toMatchObject(
      unreadable(/sharedStrings\.xml has 30\d+ bytes, and should have 5/),
    );
  });

  test('with a text of many megabytes that never ends is a failure before it is held', async () => {
    const entries = { 'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(5_000_000)}</t></si></sst>` };
    await expect(readBook({ sheets: [{ name: 'a' }], entries })).rejects.toMatchObject(
      unreadable(/a tag or text of more than/),
    );
  });

  test('with a text in pieces that never ends is a failure before it is held', async () => {
    const entries = { 'xl/sharedStrings.xml': `<sst><si>${`<t>${'x'.repeat(100_000)}</t>`.repeat(101)}</si></sst>` };
    await expect(readBook({ sheets: [{ name: 'a' }], entries })).rejects.toMatchObject(
      unreadable(/sharedStrings\.xml, at text 1, has a text of over 10 MB/),
    );
  });

  test('with any byte changed is a failure, or its rows, and never ends the process', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => [`row ${at}`]);
    const whole = workbook({ sheets: [{ name: 'a', rows: [['a'], ...rows] }] });
    const byte = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(byte, async ([at, change]) => {
        const bytes = Uint8Array.from(whole);
        bytes[at] = bytes[at]! ^ change;
        const outcome = await readBytes(bytes).then(
          (read) => read.rows,
          (error: unknown) => (isAgentError(error, 'part.unreadable') ? rows : error),
        );
        expect(outcome).toEqual(rows);
      }),
      runsOf(80, 600),
    );
  });

  test('is a failure wherever it is cut, and never fewer rows', async () => {
    for (let end = 0; end < good.length; end += 997) {
      await expect(readBytes(good.subarray(0, end))).rejects.toMatchObject({ code: 'part.unreadable' });
    }
  });
});

/** The same with one bit changed in what is stored of its sheet. */
function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const name = Buffer.from(copy).indexOf('xl/sheets/sheet1.xml');
  const at = name + 2000;
  copy[at] = copy[at]! ^ 0x10;
  return copy;
}

/** The directory of the archive claims 5 bytes for the entry of about this size. */
function lessClaimed(bytes: Uint8Array, size: number): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = copy.indexOf('PK\x01\x02', at + 4, 'latin1')) {
    if (copy.readUInt32LE(at + 24) >= size) copy.writeUInt32LE(5, at + 24);
  }
  return copy;
}
