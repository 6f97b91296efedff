import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Row } from '../../src/core/model.ts';
import { Table, tableKeys } from '../../src/sources/formats/table.ts';
import { kinds } from '../../src/sources/index.ts';
import { csvOf, csvRows, fileOf, readWhole, unreadable } from '../support/source-world.ts';
import type { WholePart } from '../support/source-world.ts';

async function csvWhole(content: string, keys: object): Promise<WholePart> {
  return await readWhole(await csvOf(content, keys));
}

/** Longer than what is read at once. */
const long = 70_000;

describe('skipUntil', () => {
  test('names the first line that counts, whatever stands above it', async () => {
    const content = 'Report 5" pipes\n\n"Revenue, 2026\n;;;\nid,amount\n1,2\n';
    expect(await csvWhole(content, { skipUntil: '^id\\b' })).toMatchObject({
      columns: ['id', 'amount'],
      rows: [['1', '2']],
    });
  });

  test('is tried on a line as written and without its quotes', async () => {
    const content = 'about id\n"id","amount"\n1,2\n';
    expect(await csvRows(content, { skipUntil: '^id,' })).toEqual([['1', '2']]);
    expect(await csvRows(content, { skipUntil: '^"id"' })).toEqual([['1', '2']]);
  });

  test('is not anchored, and knows code points', async () => {
    expect(await csvRows('x\ny\na,😀\n1,2\n', { skipUntil: ',.$' })).toEqual([['1', '2']]);
  });

  test('matches no comment', async () => {
    const content = '# id of what\nid\n1\n';
    expect(await csvRows(content, { skipUntil: 'id', comment: '#' })).toEqual([['1']]);
  });

  test('begins to look below the lines of skipRows', async () => {
    expect(await csvRows('id\nid\n1\n', { skipRows: 1, skipUntil: 'id' })).toEqual([['1']]);
  });

  test('may match the only line', async () => {
    expect(await csvWhole('title\nid,amount', { skipUntil: 'id' })).toMatchObject({
      columns: ['id', 'amount'],
      rows: [],
    });
  });

  test('gives the first data row where the columns are named', async () => {
    expect(await csvWhole('title\n1,2\n3,4\n', { skipUntil: '^\\d', columns: ['a', 'b'] })).toMatchObject({
      columns: ['a', 'b'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    });
  });

  test('must match something', async () => {
    const source = await csvOf('a,b\n1,2\n', { skipUntil: '^id\\b' });
    await expect(readWhole(source)).rejects.toMatchObject(unreadable('revenue.csv: no line matches skipUntil: ^id\\b'));
  });

  test.each(['\n', '\r', '\r\n'])('finds a line far into the file, after lines that end with %j', async (end) => {
    for (const length of [65_533, 65_534, 65_535, 65_536, 65_537, 3 * 65_536]) {
      const content = ['x'.repeat(length), 'y', 'id,b', '1,2', ''].join(end);
      expect(await csvRows(content, { skipUntil: '^id' })).toEqual([['1', '2']]);
    }
  });

  test('leaves the lines of a fault as they are in the file', async () => {
    const source = await csvOf(`${'x'.repeat(long)}"\n\nid,b\n1,"2\n`, { skipUntil: '^id' });
    await expect(readWhole(source)).rejects.toMatchObject(
      unreadable('revenue.csv line 4, column 2 (b): the quote that opens here is never closed'),
    );
  });
});

describe('headerRows', () => {
  test.each<[string, string, number, readonly string[]]>([
    ['are joined by one space', 'Revenue,Cost\nNorth,South\n', 2, ['Revenue North', 'Cost South']],
    ['leave empty texts out', ',Revenue\nDate,\n', 2, ['Date', 'Revenue']],
    [
      'fill merged cells to the right',
      ',Revenue,,Cost,\nDate,N,S,N,S\n',
      2,
      ['Date', 'Revenue N', 'Revenue S', 'Cost N', 'Cost S'],
    ],
    ['fill short rows to the right', ',Revenue\nDate,N,S\n', 2, ['Date', 'Revenue N', 'Revenue S']],
    ['pad a last row that is short', 'Date,Revenue,Cost\n,N\n', 2, ['Date', 'Revenue N', 'Cost']],
    ['do not fill the last of them', 'A,,\nx,,y\n', 2, ['A x', 'A', 'A y']],
    [
      'fill no further than the group above',
      '2025,,2026,\nRevenue,,,Cost\nN,S,N,S\n',
      3,
      ['2025 Revenue N', '2025 Revenue S', '2026 N', '2026 Cost S'],
    ],
    ['are trimmed', ' Revenue , \n N\t, S\n', 2, ['Revenue N', 'Revenue S']],
    ['may be one', 'a,b\n', 1, ['a', 'b']],
  ])('%s', async (_how, content, headerRows, columns) => {
    expect(await csvWhole(`${content}${'1,'.repeat(columns.length - 1)}2\n`, { headerRows })).toMatchObject({
      columns,
      rows: [[...columns.slice(1).map(() => '1'), '2']],
    });
  });

  test('of 0 call the columns by their numbers', async () => {
    expect(await csvWhole('x,y\n1,2,3\n', { headerRows: 0 })).toMatchObject({
      columns: ['1', '2'],
      rows: [
        ['x', 'y'],
        ['1', '2', '3'],
      ],
    });
  });

  test.each([
    ['', 2, 'it is empty (0 bytes)'],
    ['a,b\n', 2, 'there are 1 rows of headerRows: 2'],
    [',\n,\n', 2, 'its first 2 rows are empty'],
    ['title\n', 0, 'there is no row after skipRows: 1'],
  ])('of %j must all be there (%i)', async (content, headerRows, why) => {
    const keys = headerRows === 0 ? { headerRows, skipRows: 1 } : { headerRows };
    await expect(csvWhole(content, keys)).rejects.toMatchObject(unreadable(`revenue.csv has no header: ${why}`));
  });

  test('must not make one name twice', async () => {
    await expect(csvWhole('Revenue,\nN,N\n', { headerRows: 2 })).rejects.toMatchObject(
      unreadable('revenue.csv: columns 1 and 2 are both called Revenue N'),
    );
  });
});

describe('columns', () => {
  test('name those of a file without a header', async () => {
    expect(await csvWhole('1,2\n3\n', { columns: ['date', ' amount '] })).toMatchObject({
      columns: ['date', 'amount'],
      rows: [['1', '2'], ['3']],
    });
  });

  test('may leave several without a name', async () => {
    expect(await csvWhole('1,2,3\n', { columns: ['', '', 'amount'] })).toMatchObject({ columns: ['', '', 'amount'] });
  });

  test('are there where no row is', async () => {
    const keys = { columns: ['a'], skipRows: 1 };
    expect(await csvWhole('title\n', keys)).toMatchObject({ columns: ['a'], rows: [], batches: 1 });
  });

  test('do not make a file of any row that is empty', async () => {
    await expect(csvWhole('', { columns: ['a'] })).rejects.toMatchObject({ code: 'part.unreadable' });
  });

  test('stand below skipped rows and above a footer', async () => {
    expect(await csvRows('title\n1\n2\ntotal\n', { columns: ['a'], skipRows: 1, footer: 1 })).toEqual([['1'], ['2']]);
  });

  test('name the column of a fault', async () => {
    await expect(csvWhole('1,"2\n', { columns: ['a', 'b'] })).rejects.toMatchObject(
      unreadable('revenue.csv line 1, column 2 (b): the quote that opens here is never closed'),
    );
    await expect(csvWhole('1,"2\n', { headerRows: 0 })).rejects.toMatchObject(
      unreadable('revenue.csv line 1, column 2: the quote that opens here is never closed'),
    );
  });
});

describe('a table of rows, such as a sheet', () => {
  /** What a table makes of rows that come in pieces. */
  function tableOf(rows: readonly Row[], keys: object, pieces: readonly number[] = []): object {
    const table = new Table(z.strictObject(tableKeys).parse(keys), 'sheet');
    const cuts = [...pieces].toSorted((a, b) => a - b);
    const batches = [...cuts, rows.length].map((end, at) => table.take(rows.slice(cuts[at - 1] ?? 0, end)));
    const all = [...batches, table.end()].filter((batch) => batch !== undefined);
    expect(new Set(all.map(({ columns }) => columns)).size).toBe(1);
    return { columns: all[0]?.columns, rows: all.flatMap((batch) => batch.rows) };
  }

  const rows: readonly Row[] = [['Revenue'], [], ['date', 'amount'], ['1', '2'], ['3', '4'], ['Total', '6']];
  const expected = {
    columns: ['date', 'amount'],
    rows: [
      ['1', '2'],
      ['3', '4'],
    ],
  };

  test.each([{ skipRows: 2 }, { skipUntil: '^date,' }, { skipRows: 1, skipUntil: ',' }])(
    'begins below what %j cuts off',
    (keys) => {
      expect(tableOf(rows, { ...keys, footer: 1 })).toEqual(expected);
    },
  );

  test('is the same however its rows come in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(rows.length)), (pieces) => {
        expect(tableOf(rows, { skipUntil: '^date', footer: 1 }, pieces)).toEqual(expected);
        expect(tableOf(rows, { skipRows: 1, headerRows: 2, footer: 1 }, pieces)).toEqual(expected);
      }),
    );
  });

  test('keeps blank rows above the footer, and none in it or below it, however its rows come in pieces', () => {
    const blank = ['', '\u00a0 '];
    const data = [['1', '2'], blank, ['', '4'], blank];
    const all = [['date', 'amount'], ...data, ['Total', '6'], blank, ['', 'printed'], blank, blank];
    fc.assert(
      fc.property(fc.array(fc.nat(all.length)), (pieces) => {
        expect(tableOf(all, { footer: 2 }, pieces)).toEqual({ columns: ['date', 'amount'], rows: data });
        expect(tableOf(all, { footer: 9 }, pieces)).toEqual({ columns: ['date', 'amount'], rows: [] });
      }),
    );
  });

  test('must have a row that matches', () => {
    expect(() => tableOf(rows, { skipUntil: '^id' })).toThrow('sheet: no row matches skipUntil: ^id');
    expect(() => tableOf([], {})).toThrow('sheet has no header: there is no row');
  });
});

describe('tsv', () => {
  test('is what csv is with a tab between its fields', async () => {
    const content = 'Title "x\nregion\tdate\tamount\n"No\trth"\t2026-01-31\t1,50\n# end\nTotal\t\t1,50\n';
    const keys = { skipUntil: '^region', comment: '#', footer: 1 };
    const whole = await readWhole(await fileOf('tsv', content, keys));
    expect(whole).toMatchObject({
      columns: ['region', 'date', 'amount'],
      rows: [['No\trth', '2026-01-31', '1,50']],
    });
    const { batches: _, content: __, ...same } = await csvWhole(content, { ...keys, delimiter: '\\t' });
    expect(whole).toMatchObject(same);
  });

  test('has no delimiter to choose', async () => {
    await expect(fileOf('tsv', 'a\n', { delimiter: ';' })).rejects.toThrow('delimiter');
  });
});

test.each([
  [{ skipUntil: '' }, 'skipUntil'],
  [{ skipUntil: '(' }, 'skipUntil'],
  [{ skipUntil: '\\-' }, 'skipUntil'],
  [{ headerRows: -1 }, 'headerRows'],
  [{ columns: [] }, 'columns'],
  [{ columns: ['a', 'a '] }, 'columns'],
  [{ columns: ['a'], headerRows: 1 }, 'columns'],
])('the keys %j are refused at %s', (keys, key) => {
  const { error } = kinds['csv']!.schema.safeParse({ files: ['*.csv'], ...keys });
  expect(error?.issues.map(({ path }) => path[0])).toEqual([key]);
});
