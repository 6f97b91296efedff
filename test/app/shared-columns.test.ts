/** What only the name of a file, or of a sheet, says. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { workbook } from '../support/workbooks.ts';
import { judged, world } from '../support/world.ts';

const perCity = {
  type: 'csv',
  files: ['in/*.csv'],
  drivers: [{ path: ['{file|match:^[a-z]+}', '{region}'], time: '{month}', value: '{amount}' }],
};
const perMonth = {
  type: 'csv',
  files: ['in/*.csv'],
  drivers: [{ path: ['{region}'], time: '{file|match:[0-9]{4}-[0-9]{2}}', value: '{amount}' }],
};

describe('the name of a file', () => {
  test('says whose numbers are in it', async () => {
    await using w = await world({
      config: { sources: { cities: perCity } },
      files: {
        'in/berlin.csv': 'region,month,amount\nN,2026-01,1\n',
        'in/paris.csv': 'region,month,amount\nN,2026-01,2\n',
      },
    });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ 'berlin/N': { '2026-01': '1' }, 'paris/N': { '2026-01': '2' } });
  });

  test('says the month of all of its rows', async () => {
    await using w = await world({
      config: { sources: { months: perMonth } },
      files: { 'in/rev-2026-01.csv': 'region,amount\nN,1\n', 'in/rev-2026-02.csv': 'region,amount\nN,2\n' },
    });
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ N: { '2026-01': '1', '2026-02': '2' } });
  });

  test('makes the file of another month no new name of one that is gone, though both hold the same', async () => {
    await using w = await world({
      config: { sources: { months: perMonth } },
      files: { 'in/rev-2026-01.csv': 'region,amount\nN,5\n' },
    });
    await w.sync();
    await w.remove('in/rev-2026-01.csv');
    await w.write('in/rev-2026-02.csv', 'region,amount\nN,5\n');
    expect(await w.sync()).toMatchObject(judged(3, 'months', { carried: ['in/rev-2026-01.csv'] }));
    expect(w.points()).toEqual({ N: { '2026-01': '5', '2026-02': '5' } });
  });

  test('rejects every row where the pattern finds nothing in it, so that the part is not read', async () => {
    await using w = await world({
      config: { sources: { months: perMonth } },
      files: { 'in/rev-2026-01.csv': 'region,amount\nN,1\n' },
    });
    await w.sync();
    await w.write('in/rev-february.csv', 'region,amount\nN,2\n');
    expect(await w.sync()).toMatchObject(judged(3, 'months', { state: 'unread' }));
    expect(w.points()).toEqual({ N: { '2026-01': '1' } });
    expect(await w.rejects('months')).toContain('in/rev-february.csv,1,time is empty');
  });

  test('is known to rows that were appended', async () => {
    const rows = (count: number, value: number): string => `N,2026-01,${value},${'x'.repeat(90)}\n`.repeat(count);
    const header = 'region,month,amount,note\n';
    await using w = await world({
      config: { sources: { cities: perCity } },
      files: { 'in/berlin.csv': header + rows(12_000, 1) },
    });
    await w.sync();
    await w.write('in/berlin.csv', header + rows(12_000, 1) + rows(1, 2));
    expect(await w.sync()).toMatchObject({ exit: 0 });
    expect(w.points()).toEqual({ 'berlin/N': { '2026-01': '2' } });
  });

  test('is a column that a file of that column hides', async () => {
    await using w = await world({
      config: { sources: { cities: perCity } },
      files: { 'in/berlin.csv': 'region,month,amount,file\nN,2026-01,1,rome\n' },
    });
    await w.sync();
    expect(w.points()).toEqual({ 'rome/N': { '2026-01': '1' } });
  });
});

test('the name of a sheet says whose numbers are on it', async () => {
  const source = {
    type: 'xlsx',
    files: ['books.xlsx'],
    settle: '0s',
    sheet: '/./',
    drivers: [{ path: ['{file|match:^(.*)\\.xlsx$}', '{sheet}'], time: '{month}', value: '{amount}' }],
  };
  await using w = await world({ config: { sources: { books: source } } });
  const rows = (amount: string) => [
    ['month', 'amount'],
    ['2026-01', amount],
  ];
  const sheets = [
    { name: 'ACME', rows: rows('1') },
    { name: 'Bolt', rows: rows('2') },
  ];
  await writeFile(path.join(w.dir, 'books.xlsx'), workbook({ sheets }));
  expect(await w.sync()).toMatchObject({ exit: 0 });
  expect(w.points()).toEqual({ 'books/ACME': { '2026-01': '1' }, 'books/Bolt': { '2026-01': '2' } });
});
