import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/sources/index.ts';
import { calm, openSource, readWhole, tempDir, writeFiles } from '../support/source-world.ts';
import { readBook, readBookFaults, unreadable, workbook } from '../support/workbooks.ts';
import type { TestCell, TestWorkbook } from '../support/workbooks.ts';

const file = 'books.xlsx';

describe('rows', () => {
  test('have as many fields as the header, and more only where these say something', async () => {
    const rows = [['a', 'b', 'c', ''], ['1'], ['1', '', '', ''], ['1', '2', '3', '', '4']];
    expect((await readBook({ sheets: [{ name: 'a', rows }] })).rows).toEqual([
      ['1', '', ''],
      ['1', '', ''],
      ['1', '2', '3', '', '4'],
    ]);
  });

  test('without any text are left out, wherever they stand', async () => {
    const rows = [undefined, ['a', 'b'], ['', ''], ['1', '2'], undefined, [], ['3', '4'], [{ xml: '' }], ['']];
    expect((await readBook({ sheets: [{ name: 'a', rows }] })).rows).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  test('keep their place right of empty columns', async () => {
    const whole = await readBook({
      sheets: [
        {
          name: 'a',
          rows: [
            ['', '', 'a', 'b'],
            ['', '', '1', '2'],
          ],
        },
      ],
    });
    expect(whole).toMatchObject({ columns: ['', '', 'a', 'b'], rows: [['', '', '1', '2']] });
  });

  test('and cells without a place follow each other', async () => {
    const cell = (text: string): string => `<c t="str"><v>${text}</v></c>`;
    const xml = `<row>${cell('a')}${cell('b')}</row><row>${cell('1')}<c r="D2" t="str"><v>4</v></c></row>`;
    const whole = await readBook({ sheets: [{ name: 'a', xml }] });
    expect(whole.rows).toEqual([['1', '', '', '4']]);
  });

  test('above the table are counted as Excel numbers them, whatever is in them', async () => {
    const rows = [['Report'], undefined, [{ xml: '<f>NOW()</f>' }], ['a', 'b'], ['1', '2']];
    expect(await readBook({ sheets: [{ name: 'a', rows }] }, { skipRows: 3 })).toMatchObject({
      columns: ['a', 'b'],
      rows: [['1', '2']],
    });
    const late = [undefined, undefined, undefined, ['a', 'b'], ['1', '2']];
    expect(await readBook({ sheets: [{ name: 'a', rows: late }] }, { skipRows: 3 })).toMatchObject({
      columns: ['a', 'b'],
    });
  });

  test('above the table end where skipUntil matches the cells, joined by commas', async () => {
    const rows = [
      ['Report', '2024'],
      ['id', 'amount'],
      ['1', '2'],
    ];
    expect(await readBook({ sheets: [{ name: 'a', rows }] }, { skipUntil: '^id,' })).toMatchObject({
      columns: ['id', 'amount'],
    });
  });

  test('of a header of two with merged cells name every column', async () => {
    const rows = [
      ['', '2024', '', '2025'],
      ['id', 'plan', 'actual', 'plan'],
      ['1', '2', '3', '4'],
    ];
    expect(await readBook({ sheets: [{ name: 'a', rows }] }, { headerRows: 2 })).toMatchObject({
      columns: ['id', '2024 plan', '2024 actual', '2025 plan'],
      rows: [['1', '2', '3', '4']],
    });
  });

  test('of the footer are left out, as are empty ones below it', async () => {
    const rows = [['a'], ['1'], ['2'], ['Total'], undefined, [''], ['\u00a0']];
    expect((await readBook({ sheets: [{ name: 'a', rows }] }, { footer: 1 })).rows).toEqual([['1'], ['2']]);
  });

  test('of comments are ignored, whatever is in them, above the table, in it and below it', async () => {
    const refError = { attributes: 't="e"', xml: '<v>#REF!</v>' };
    const rows = [['# as of', refError], ['a', 'b'], ['1', '# no comment'], ['#'], ['', '#'], ['Total'], ['# checked']];
    expect(await readBook({ sheets: [{ name: 'a', rows }] }, { comment: '#', footer: 1 })).toMatchObject({
      columns: ['a', 'b'],
      rows: [
        ['1', '# no comment'],
        ['', '#'],
      ],
    });
    expect((await readBookFaults({ sheets: [{ name: 'a', rows }] }, { comment: '#' })).faults).toEqual([]);
  });

  test.each([
    ['<row r="2"/><row r="2"/>', /a row 2 after row 2/],
    ['<row r="1048577"/>', /a row 1048577 after row 0/],
    ['<row r="x"/>', /a row x after/],
    ['<row r="1"><c r="ZZZZ1"/></row>', /a cell ZZZZ1 in row 1/],
    ['<row r="1"><c r="1"/></row>', /a cell 1 in row 1/],
    ['<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>', /a second cell A1/],
  ])('that no sheet has are a failure: %s', async (xml, message) => {
    await expect(readBook({ sheets: [{ name: 'a', xml }] })).rejects.toMatchObject(unreadable(message));
  });
});

describe('the sheet', () => {
  const table = (text: string): readonly (readonly TestCell[])[] => [['a'], [text]];
  const sheets = [
    { name: 'Notes', state: 'hidden' as const, rows: table('hidden') },
    { name: 'Chart', kind: 'chartsheet' as const },
    { name: 'Actual > Plan', rows: table('actual') },
    { name: 'Plan 2024', rows: table('2024') },
    { name: 'Plan 2025', rows: table('2025') },
    { name: 'Plan old', state: 'veryHidden' as const, rows: table('old') },
  ];

  test.each([
    [undefined, 'actual'],
    ['Plan 2025', '2025'],
    ['Actual > Plan', 'actual'],
    ['Notes', 'hidden'],
    ['Plan old', 'old'],
    [1, 'hidden'],
    [4, '2024'],
  ])('%s is read', async (sheet, text) => {
    expect((await readBook({ sheets }, { ...(sheet !== undefined && { sheet }) })).rows).toEqual([[text]]);
  });

  test.each([
    ['Plan 2026', /has no sheet Plan 2026/, /there are Notes, Chart, .*hidden: Notes, Plan old/],
    [7, /has no sheet 7/, /there are Notes/],
    ['Chart', /sheet Chart is not a table \(chartsheet\)/, /name one that is: Notes, Actual/],
    [2, /sheet Chart is not a table/, /./],
  ])('%s cannot be read', async (sheet, message, hint) => {
    await expect(readBook({ sheets }, { sheet })).rejects.toMatchObject(unreadable(message, hint));
  });

  test('of a year wants quotes around its name, which the hint says', async () => {
    const years = [
      { name: '2024', rows: table('2024') },
      { name: '2025', rows: table('2025') },
    ];
    await expect(readBook({ sheets: years }, { sheet: 2025 })).rejects.toMatchObject(
      unreadable(/has no sheet 2025$/, /a place among the tabs: for the name write sheet: "2025"$/),
    );
    expect((await readBook({ sheets: years }, { sheet: '2025' })).rows).toEqual([['2025']]);
  });

  test('is named where all are hidden', async () => {
    await expect(readBook({ sheets: [sheets[0]!] })).rejects.toMatchObject(
      unreadable(/shows no sheet/, /hidden.*: Notes$/),
    );
  });

  test('is not found in a workbook of charts', async () => {
    await expect(readBook({ sheets: [sheets[1]!] })).rejects.toMatchObject(
      unreadable(/shows no sheet/, /there are Chart/),
    );
  });

  describe('pattern', () => {
    test('makes a part of each shown sheet that matches, in their order', async () => {
      const dir = await tempDir();
      await writeFiles(dir, { [file]: workbook({ sheets }) });
      const source = openSource('xlsx', { files: [file], sheet: '/^plan /i' }, dir);
      const parts = await source.parts(calm);
      expect(parts.map(({ name }) => name)).toEqual(['books.xlsx#Plan 2024', 'books.xlsx#Plan 2025']);
      expect((await readWhole(source, parts[1])).rows).toEqual([['2025']]);
      expect((await readWhole(source, parts[0])).rows).toEqual([['2024']]);
    });

    test('finds the sheets again when the file changes, and looks into it only then', async () => {
      const dir = await tempDir();
      const kind = kinds['xlsx']!;
      const settings = kind.schema.parse({ files: [file], sheet: '/Plan/', settle: '0s' });
      // A source is opened for each pass, with the same settings.
      const names = async (): Promise<readonly string[]> => {
        const source = kind.open(settings, {
          name: 'x',
          baseDir: dir,
          mapping: { where: [], fillDown: [], drivers: [] },
        } as never);
        return (await source.parts(calm)).map(({ name }) => name.replace(/.*#/, ''));
      };
      const target = path.join(dir, file);
      await writeFile(target, workbook({ sheets }));
      expect(await names()).toEqual(['Actual > Plan', 'Plan 2024', 'Plan 2025']);
      await writeFile(target, workbook({ sheets: sheets.slice(0, 4) }));
      expect(await names()).toEqual(['Actual > Plan', 'Plan 2024']);
    });

    test('gives a sheet the hash of its own rows, which other sheets do not change', async () => {
      const dir = await tempDir();
      const hashes = async (book: TestWorkbook): Promise<readonly string[]> => {
        await writeFiles(dir, { [file]: workbook(book) });
        const source = openSource('xlsx', { files: [file], sheet: '/./' }, dir);
        const parts = await source.parts(calm);
        return await Promise.all(parts.map(async (part) => (await readWhole(source, part)).content.hash));
      };
      const [one, two] = [
        { name: 'one', rows: table('1') },
        { name: 'two', rows: table('2') },
      ];
      const before = await hashes({ sheets: [one, two] });
      const after = await hashes({ sheets: [one, { name: 'two', rows: table('3') }] });
      expect(before[0]).not.toBe(before[1]);
      expect(after[0]).toBe(before[0]);
      expect(after[1]).not.toBe(before[1]);
    });

    test.each([
      ['/Sales/', /no sheet matches \/Sales\/$/, /there are Notes, Chart/],
      ['/Notes|old/', /no sheet matches/, /hidden.*: Notes, Plan old$/],
      ['/Chart/', /no sheet matches/, /there are/],
    ])('%s that no sheet to read matches is a failure', async (sheet, message, hint) => {
      const dir = await tempDir();
      await writeFiles(dir, { [file]: workbook({ sheets }) });
      const source = openSource('xlsx', { files: [file], sheet }, dir);
      await expect(source.parts(calm)).rejects.toMatchObject({
        ...unreadable(message, hint),
        code: 'source.unreadable',
      });
    });
  });

  test.each([
    [{ sheet: 0 }, ['sheet']],
    [{ sheet: '' }, ['sheet']],
    [{ sheet: '/(/' }, ['sheet']],
    [{ sheet: '/a/', parts: 'newest' }, ['sheet']],
    [{ comment: '' }, ['comment']],
    [{ encoding: 'utf-8' }, []],
  ])('%j is refused in the config', (keys, at) => {
    const result = kinds['xlsx']!.schema.safeParse({ files: [file], ...keys });
    expect(result.error?.issues.map((issue) => issue.path)).toEqual([at]);
  });
});
