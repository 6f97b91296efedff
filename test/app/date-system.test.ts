/** The days of a workbook that are plain numbers, by the date system that the workbook says. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type TestCell, numberCell, workbook } from '../support/workbooks.ts';
import { world } from '../support/world.ts';

const since1904 = '<workbookPr date1904="1"/>';
const source = { type: 'xlsx', files: ['*.xlsx'], settle: '0s' };
const long = {
  ...source,
  drivers: [{ path: ['{k}'], time: { from: '{d}', format: ['iso', 'excel-serial'] }, value: '{v}' }],
};

function book(rows: readonly (readonly TestCell[])[], settings = ''): Uint8Array {
  return workbook({ sheets: [{ name: 'Revenue', rows }], formats: [14], settings });
}

describe('a day of a workbook that counts from 1904', () => {
  // 2026-01-31 is 46053 in a workbook that counts from 1900.
  const rows = [
    ['k', 'd', 'v'],
    ['date', numberCell('44591', 0), '1'],
    ['number', numberCell('44591'), '2'],
    ['text', '44591', '3'],
    ['first', numberCell('0'), '4'],
  ];

  test('is the same day as a date, a number and a text', async () => {
    await using w = await world({ config: { sources: { books: long } } });
    await writeFile(path.join(w.dir, 'books.xlsx'), book(rows, since1904));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({
      date: { '2026-01': '1' },
      number: { '2026-01': '2' },
      text: { '2026-01': '3' },
      first: { '1904-01': '4' },
    });
  });

  test('is counted in each workbook by its own system', async () => {
    await using w = await world({ config: { sources: { books: long } } });
    await writeFile(
      path.join(w.dir, 'a.xlsx'),
      book(
        [
          ['k', 'd', 'v'],
          ['a', numberCell('44591'), '1'],
        ],
        since1904,
      ),
    );
    await writeFile(
      path.join(w.dir, 'b.xlsx'),
      book([
        ['k', 'd', 'v'],
        ['b', numberCell('46053'), '2'],
      ]),
    );
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ a: { '2026-01': '1' }, b: { '2026-01': '2' } });
  });

  test('is such a day in a header too', async () => {
    const wide = {
      ...source,
      unpivot: { columns: '^\\d{5}$', name: 'day', value: 'v' },
      drivers: [{ path: ['{k}'], time: { from: '{day}', format: 'excel-serial' }, value: '{v}' }],
    };
    await using w = await world({ config: { sources: { books: wide } } });
    const header = ['k', numberCell('44561'), numberCell('44592')];
    await writeFile(path.join(w.dir, 'books.xlsx'), book([header, ['a', '1', '2']], since1904));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ a: { '2026-01': '1', '2026-02': '2' } });
  });

  test('is read anew where the workbook is given another system, also of sheets that are parts', async () => {
    const guard = { maxDeletes: '100%', values: 'off' };
    await using w = await world({ config: { guard, sources: { books: { ...long, sheet: '/./' } } } });
    const same = [
      ['k', 'd', 'v'],
      ['a', numberCell('44591'), '1'],
    ];
    await writeFile(path.join(w.dir, 'books.xlsx'), book(same, since1904));
    await w.sync();
    expect(w.points()).toEqual({ a: { '2026-01': '1' } });
    await writeFile(path.join(w.dir, 'books.xlsx'), book(same));
    await w.sync();
    expect(w.points()).toEqual({ a: { '2022-01': '1' } });
  });
});
