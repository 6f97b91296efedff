import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../src/core/model.ts';
import { entry, mapping } from '../support/row-world.ts';
import { type WholePart, openSourceIn, readWhole, tempDir, writeFiles } from '../support/source-world.ts';
import { numberCell, readBook, readBookFaults, sharedCell, unreadable, workbook } from '../support/workbooks.ts';
import type { TestCell, TestWorkbook } from '../support/workbooks.ts';

/** The rows of a workbook of one sheet. */
async function rowsOf(
  rows: readonly (readonly TestCell[] | undefined)[],
  more: Omit<TestWorkbook, 'sheets'> = {},
): Promise<readonly Row[]> {
  return (await readBook({ sheets: [{ name: 'Revenue', rows }], ...more })).rows;
}

/** What a cell of this inside, of the first of `formats`, is read as. */
async function textOf(cell: TestCell, more: Omit<TestWorkbook, 'sheets'> = {}): Promise<string | undefined> {
  return (
    await rowsOf(
      [
        ['a', 'b'],
        [cell, 'x'],
      ],
      more,
    )
  )[0]?.[0];
}

async function dateOf(serial: string, format: string | number, settings = ''): Promise<string | undefined> {
  return await textOf(numberCell(serial, 0), { formats: [format], settings });
}

describe('numbers', () => {
  test.each([
    ['0.30000000000000004', '0.3'],
    ['0.1', '0.1'],
    ['1234567.8900000001', '1234567.89'],
    ['123456789.12345678', '123456789.123457'],
    ['-2.5', '-2.5'],
    ['100', '100'],
    ['123456789012345', '123456789012345'],
    ['1234567890123456', '1234567890123460'],
    ['-1234567890123455', '-1234567890123460'],
    ['123456789012345680', '123456789012346000'],
    ['1.2345678901234568E+17', '123456789012346000'],
    ['999999999999999900', '1000000000000000000'],
    ['1234567890123456789012', '1.23456789012346e+21'],
    ['9.9999999999999999', '10'],
    ['100.0', '100'],
    ['1E+14', '100000000000000'],
    ['1E+20', '100000000000000000000'],
    ['1E+21', '1e+21'],
    ['1.5E-7', '1.5e-7'],
    ['1E+400', '1E+400'],
    ['NaN', 'NaN'],
  ])('%s of the file are read as Excel shows them, %s', async (inFile, text) => {
    expect(await textOf(numberCell(inFile))).toBe(text);
  });

  test('of up to 15 digits come as they were typed in', async () => {
    const typed = fc
      .tuple(fc.integer({ min: 0, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 14 }), fc.boolean())
      .map(([digits, scale, isNegative]) => {
        const text = String(digits).padStart(scale + 1, '0');
        const decimal = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '');
        return isNegative && /[1-9]/.test(decimal) ? `-${decimal}` : decimal;
      })
      .filter((text) => !/^-?0\.00000/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(typed, { minLength: 1, maxLength: 50 }), async (texts) => {
        // As Excel writes them: the 17 digits of the binary number.
        const inFile = texts.map((text) => Number(Number(text).toPrecision(17)).toString());
        expect(await rowsOf([['a'], ...inFile.map((text) => [numberCell(text)])])).toEqual(texts.map((text) => [text]));
      }),
      { numRuns: 30 },
    );
  });

  test('of a percent format come as the file has them', async () => {
    expect(await textOf(numberCell('0.25', 0), { formats: [9] })).toBe('0.25');
  });
});

describe('dates', () => {
  test.each([
    ['45322', 14, '2024-01-31'],
    ['45322', 'yyyy-mm-dd', '2024-01-31'],
    ['45322', '[$-407]d. mmmm yyyy;@', '2024-01-31'],
    ['45322', 'mmm\\-yy', '2024-01-31'],
    ['45322', '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', '2024-01-31'],
    ['45322', 'yyyy"年"m"月"d"日"', '2024-01-31'],
    ['45322.427083333336', 22, '2024-01-31T10:15:00'],
    ['45322', 'dd.mm.yyyy hh:mm', '2024-01-31T00:00:00'],
    ['45322.4270833333', 'yyyy-mm-dd', '2024-01-31T10:15:00'],
    ['45322.999999999', 'yyyy-mm-dd hh:mm:ss', '2024-02-01T00:00:00'],
    ['45322.42708912037', 'yyyy-mm-dd hh:mm:ss.000', '2024-01-31T10:15:00.5'],
    ['0.4270833333333333', 20, '10:15:00'],
    ['0.4270833333333333', 'h:mm AM/PM', '10:15:00'],
    ['0.0104166666666667', 'mm:ss', '00:15:00'],
    ['1.2604166666666667', '[h]:mm', '30:15:00'],
    ['45322.5', 'h:mm', '2024-01-31T12:00:00'],
    ['61', 14, '1900-03-01'],
    ['60', 14, '1900-02-29'],
    ['59', 14, '1900-02-28'],
    ['1', 14, '1900-01-01'],
    ['0', 14, '1900-01-00'],
    ['2958465', 14, '9999-12-31'],
  ])('are the numbers %s of the format %s: %s', async (serial, format, text) => {
    expect(await dateOf(serial, format)).toBe(text);
  });

  test('of all times are those of the calendar', async () => {
    const serials = Array.from({ length: 297 }, (_, at) => 61 + at * 9973);
    const rows = await rowsOf([['a'], ...serials.map((serial) => [numberCell(String(serial), 0)])], { formats: [14] });
    const dayZeroMs = Date.UTC(1899, 11, 30);
    expect(rows).toEqual(
      serials.map((serial) => [new Date(dayZeroMs + serial * 86_400_000).toISOString().slice(0, 10)]),
    );
  });

  test.each([
    ['43860', 14, '2024-01-31'],
    ['0', 14, '1904-01-01'],
    ['0.5', 20, '12:00:00'],
    ['43860.427083333336', 22, '2024-01-31T10:15:00'],
  ])('are counted from 1904 where the workbook says so: %s of %s', async (serial, format, text) => {
    expect(await dateOf(serial, format, '<workbookPr date1904="1"/>')).toBe(text);
  });

  test.each([
    'General',
    '0.00',
    '#,##0.00\\ "€";[Red]\\-#,##0.00\\ "€"',
    '_-* #,##0.00\\ [$kr-41D]_-',
    '0.00E+00',
    '"day "0',
    '0" months"',
    '@',
    '# ?/?',
    '[>=100]0;0.0',
    3,
    49,
  ])('are not numbers of the format %s', async (format) => {
    expect(await dateOf('45322', format)).toBe('45322');
  });

  test.each(['-1', '2958466', '1E+300'])('are not what Excel shows none of: %s', async (serial) => {
    expect(await dateOf(serial, 14)).toBe(serial.toLowerCase());
  });

  test('that are stored as text of ISO 8601 come as that', async () => {
    expect(await textOf({ attributes: 't="d"', xml: '<v>2024-01-31T10:15:00</v>' })).toBe('2024-01-31T10:15:00');
  });

  test.each(['Pacific/Kiritimati', 'America/St_Johns', 'Europe/Berlin'])('do not depend on TZ=%s', async (zone) => {
    const before = process.env['TZ'];
    process.env['TZ'] = zone;
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    expect(new Date(2024, 0, 31).toISOString()).not.toBe('2024-01-31T00:00:00.000Z');
    expect(await dateOf('45322', 14)).toBe('2024-01-31');
    expect(await dateOf('45322.427083333336', 22)).toBe('2024-01-31T10:15:00');
    // The switch to summer time in Berlin leaves out this hour.
    expect(await dateOf('45382.104166666664', 22)).toBe('2024-03-31T02:30:00');
  });
});

describe('texts', () => {
  test('stand in the cell, in the table of texts or in a formula', async () => {
    const cells = ['in the cell', sharedCell(1), { attributes: 't="str"', xml: '<f>A1</f><v>of a formula</v>' }];
    expect(await rowsOf([['a', 'b', 'c'], cells], { strings: ['<t>no</t>', '<t>in the table</t>'] })).toEqual([
      ['in the cell', 'in the table', 'of a formula'],
    ]);
  });

  test('of several fonts are one, without what they are pronounced by', async () => {
    const rich = '<r><t>Nord</t></r><r><rPr><b/></rPr><t xml:space="preserve"> und Süd</t></r>';
    const read = '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/>';
    const inline = { attributes: 't="inlineStr"', xml: `<is>${rich}</is>` };
    expect(
      await rowsOf(
        [
          ['a', 'b', 'c'],
          [inline, sharedCell(0), sharedCell(1)],
        ],
        { strings: [rich, read] },
      ),
    ).toEqual([['Nord und Süd', 'Nord und Süd', '東京']]);
  });

  test.each([
    ['&lt;&amp;&gt;&quot;&apos;', '<&>"\''],
    ['&#228;&#x1F600;', 'ä😀'],
    ['<![CDATA[<a> & b]]>', '<a> & b'],
    ['a_x000D_\nb_x005F_x0041_', 'a\r\nb_x0041_'],
    ['a\r\nb', 'a\nb'],
  ])('written %s are %j', async (written, text) => {
    expect(await textOf(sharedCell(0), { strings: [`<t>${written}</t>`] })).toBe(text);
  });

  test('far into the table of texts are whole', async () => {
    const texts = Array.from({ length: 5000 }, (_, at) => `Text ${at} – ${'ü€😀'.repeat(at % 30)}`);
    const cells = texts.map((_, at) => [sharedCell(at)]);
    expect(await rowsOf([['a'], ...cells], { strings: texts.map((text) => `<t>${text}</t>`) })).toEqual(
      texts.map((text) => [text]),
    );
  });

  test('of a number that is not in the table are a failure', async () => {
    await expect(textOf(sharedCell(3), { strings: ['<t>a</t>'] })).rejects.toMatchObject(
      unreadable(/sheet Revenue cell A2: a text of number 3/),
    );
  });
});

describe('other cells', () => {
  test.each([
    ['t="b"', '<v>1</v>', 'true'],
    ['t="b"', '<v>0</v>', 'false'],
    ['t="e"', '<v>#REF!</v>', '#REF!'],
    ['t="e"', '<f>1/0</f><v>#DIV/0!</v>', '#DIV/0!'],
    ['', '<f>SUM(B1:B9)</f><v>12.5</v>', '12.5'],
    ['', '<f t="shared" si="0"/><v>3</v>', '3'],
    ['t="str"', '<f>IF(1,"","")</f><v></v>', ''],
    ['s="0"', '', ''],
    ['', '<v/>', ''],
  ])('%s %s come as %j', async (attributes, xml, text) => {
    expect(await textOf({ attributes, xml })).toBe(text);
  });

  test('with a formula whose result is given count, in a file that is to be calculated too', async () => {
    const settings = '<calcPr fullCalcOnLoad="1"/>';
    expect(await textOf({ xml: '<f>1+1</f><v>2</v>' }, { settings })).toBe('2');
    expect(await textOf(numberCell('0'), { settings })).toBe('0');
  });

  test('of a type that there is not are a failure', async () => {
    await expect(textOf({ attributes: 't="x"', xml: '<v>1</v>' })).rejects.toMatchObject(
      unreadable(/cell A2: a cell of an unknown type, x/),
    );
  });
});

describe('a column at the end whose header has no cell', () => {
  const rows = [
    ['region', 'month'],
    ['North', '2026-01', '1.50'],
    ['South', '2026-01'],
    ['West', '2026-01', '2', 'a note'],
  ];
  const read = async (value: string, keys: object = {}): Promise<WholePart> => {
    const baseDir = await tempDir();
    await writeFiles(baseDir, { 'books.xlsx': workbook({ sheets: [{ name: 'Revenue', rows }] }) });
    const context = { baseDir, mapping: mapping([entry({ path: ['{region}'], value })]) };
    return await readWhole(openSourceIn(context, 'xlsx', { files: ['books.xlsx'], ...keys }));
  };

  test.each([[{}], [{ sheet: '/./' }]])('is there where it is asked for by its place: %j', async (keys) => {
    expect(await read('{#3}', keys)).toMatchObject({
      columns: ['region', 'month', ''],
      rows: [
        ['North', '2026-01', '1.50'],
        ['South', '2026-01', ''],
        ['West', '2026-01', '2', 'a note'],
      ],
    });
  });

  test('is there only as far as a row reaches', async () => {
    expect(await read('{#9}')).toMatchObject({ columns: ['region', 'month', '', ''] });
  });

  test('is a surplus where nobody asks for it', async () => {
    expect(await read('{month}')).toMatchObject({
      columns: ['region', 'month'],
      rows: [
        ['North', '2026-01', '1.50'],
        ['South', '2026-01'],
        ['West', '2026-01', '2', 'a note'],
      ],
    });
  });
});

describe('cells that cannot be used', () => {
  const refError: TestCell = { attributes: 't="e"', xml: '<v>#REF!</v>' };
  const uncalculated: TestCell = { xml: '<f>SUM(B1:B9)</f>' };
  const book = (...rows: readonly (readonly TestCell[] | undefined)[]): TestWorkbook => ({
    sheets: [{ name: 'Revenue', rows }],
  });

  test('are those of errors: a fault of their field, whose text says which', async () => {
    const divided: TestCell = { attributes: 't="e"', xml: '<f>1/0</f><v>#DIV/0!</v>' };
    const { faults, texts } = await readBookFaults(book(['a', 'b'], [refError, '1'], undefined, ['2', divided]));
    expect(faults).toEqual([
      'row 1 a: cell A2 holds the error #REF!: mend the formula, or leave the row out with where',
      'row 2 b: cell B4 holds the error #DIV/0!: mend the formula, or leave the row out with where',
    ]);
    expect(texts).toEqual(['#REF!', '#DIV/0!']);
  });

  test.each([
    ['openpyxl', '<f>SUM(B1:B9)</f><v></v>', '', '=SUM(B1:B9)'],
    ['any program', '<f>B1&amp;"é"</f>', '', '=B1&"é"'],
    ['a program that shares formulas', '<f t="shared" si="0"/>', '', '=…'],
    ['XlsxWriter', '<f>SUM(B1:B9)</f><v>0</v>', '<calcPr calcId="124519" fullCalcOnLoad="1"/>', '=SUM(B1:B9)'],
  ])(
    'are those of formulas that %s did not calculate, whose text is the formula',
    async (_who, xml, settings, text) => {
      const { faults, texts } = await readBookFaults({ ...book(['a', 'b'], ['x', { xml }]), settings });
      expect(faults).toEqual([
        'row 1 b: cell B2 holds a formula whose result is not in the file: open the workbook in Excel and save it',
      ]);
      expect(texts).toEqual([text]);
    },
  );

  test('cost nothing where nobody reads them: above the table, in the footer, and right of it', async () => {
    const rows = book(
      [uncalculated],
      ['Report', refError],
      ['a', 'b'],
      ['1', '2', '', refError],
      ['3', '', uncalculated],
      ['', '', '', uncalculated],
      ['Total', uncalculated, refError],
    );
    const keys = { skipRows: 1, skipUntil: '^a,b$', footer: 1 };
    expect((await readBook(rows, keys)).rows).toEqual([
      ['1', '2'],
      ['3', ''],
    ]);
    expect(await readBookFaults(rows, keys)).toEqual({ faults: [], texts: [], faultyBatches: 0 });
  });

  test('do not hide a surplus behind them', async () => {
    expect((await readBook(book(['a'], ['1', refError, '3', refError]))).rows).toEqual([['1', '#REF!', '3']]);
  });

  test('keep their faults where their rows are filled up, withheld for a footer, or cut', async () => {
    const rows = [['1', refError], [refError], ['2', '3', uncalculated, refError], ['Total']];
    const { faults } = await readBookFaults(book(['a', 'b', 'c'], ...rows), { footer: 1 });
    expect(faults.map((fault) => fault.replace(/ holds.*/, ''))).toEqual([
      'row 1 b: cell B2',
      'row 2 a: cell A3',
      'row 3 c: cell C4',
    ]);
  });

  test('have their faults in their own batch of many', async () => {
    const good = Array.from({ length: 30_000 }, (_, at) => [String(at)]);
    const { faults, faultyBatches } = await readBookFaults(book(['a'], ...good, [refError]));
    expect(faults).toEqual([expect.stringMatching(/^row 30001 a: cell A30002 holds/)]);
    expect(faultyBatches).toBe(1);
  });

  test.each([
    ['an error', [[refError, refError]], /cell A1 holds the error #REF!, and is of the header$/],
    ['a formula', [['a', uncalculated]], /cell B1 holds a formula whose result is not in the file, and is of the/],
    ['two rows', [['2024'], ['a', refError]], /cell B2 holds the error #REF!, and is of the header$/],
  ])('are a failure of the part in a header of %s', async (_what, header, message) => {
    await expect(readBook(book(...header, ['1', '2']), { headerRows: header.length })).rejects.toMatchObject(
      unreadable(message, /name of the column there as a text/),
    );
  });

  test('make another hash of a sheet than texts that look like them', async () => {
    const hashOf = async (cell: TestCell): Promise<string> =>
      (await readBook(book(['a'], [cell]), { sheet: '/./' })).content.hash;
    expect(await hashOf(refError)).toBe(await hashOf(refError));
    expect(await hashOf(refError)).not.toBe(await hashOf('#REF!'));
  });
});
