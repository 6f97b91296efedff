/** A query names the files that it reads: what one of them had must not go, or be missing in a sum, because the file is gone. */
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type TestWorld, judged, sourceOf, world } from '../support/world.ts';

const select = 'SELECT * FROM read_csv';
const books = (keys: object = {}, query = `${select}('books/*.csv', all_varchar = true) ORDER BY ALL`): object => ({
  sources: {
    books: {
      type: 'duckdb',
      query,
      drivers: [{ path: ['{region}'], time: '{day}', value: '{amount}', collapse: 'sum' }],
      ...keys,
    },
  },
});

/** Of each region one booking in a month, or in several. */
function bookings(regions: readonly string[], days: readonly string[], amount = 10): string {
  const rows = regions.flatMap((region) => days.map((day) => `${region},${day},${amount}\n`));
  return `region,day,amount\n${rows.join('')}`;
}

const regions = ['N', 'O', 'S', 'W'];
const months = {
  'books/2026-01.csv': bookings(regions, ['2026-01-05']),
  'books/2026-02.csv': bookings(regions, ['2026-02-05']),
};
const shares = {
  'books/north.csv': bookings(regions, ['2026-01-05', '2026-02-05']),
  'books/south.csv': bookings(regions, ['2026-01-06', '2026-02-06']),
};

async function booksWorld(files: Readonly<Record<string, string>>, keys?: object): Promise<TestWorld> {
  const w = await world({ config: books(keys) as never, files });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  return w;
}

const held = judged(4, 'books', { state: 'held' });
const reasonFor = (file: string): string => `the accepted read was made of ${file} too, which is gone`;

describe('a read without a file that is gone is held', () => {
  test.each([
    ['whose points would go', months, 'books/2026-02.csv'],
    ['whose share of sums would be missing', shares, 'books/south.csv'],
  ])('%s', async (_what, files, gone) => {
    await using w = await booksWorld(files);
    const before = w.points();
    await w.remove(gone);
    const report = await w.sync();
    expect(report).toMatchObject(held);
    expect(sourceOf(report, 'books')).toMatchObject({
      reason: reasonFor(gone),
      hint: 'put it back, and the query runs again; approve to go on with what the others say',
    });
    expect(await w.sync()).toMatchObject(held);
    expect(w.points()).toEqual(before);
  });

  test('where another file comes in the same read', async () => {
    await using w = await booksWorld(months);
    await w.remove('books/2026-02.csv');
    await w.write('books/2026-03.csv', bookings(regions, ['2026-03-05']));
    expect(sourceOf(await w.sync(), 'books').reason).toBe(reasonFor('books/2026-02.csv'));
  });

  test('where the query is another one, and the source has another name', async () => {
    await using w = await booksWorld(shares);
    await w.remove('books/south.csv');
    const { books: source } = (books({}, `${select}('./books/n*.csv', all_varchar = true)`) as never)['sources'];
    await w.reconfigure({ sources: { bookings: source } });
    expect(sourceOf(await w.sync(), 'bookings').reason).toBe(reasonFor('books/south.csv'));
  });

  test('where a service keeps what a read leaves out, and a sum would be smaller', async () => {
    const config = { ...books(), destination: { shouldDeleteMissing: false } };
    await using w = await world({ config: config as never, files: shares });
    await w.sync();
    await w.remove('books/south.csv');
    expect(await w.sync()).toMatchObject(held);
  });
});

test('a file that is back is read again, and nothing is held any more', async () => {
  await using w = await booksWorld(shares);
  const away = path.join(w.dir, 'south.csv');
  await rename(path.join(w.dir, 'books/south.csv'), away);
  expect(await w.sync()).toMatchObject(held);
  await rename(away, path.join(w.dir, 'books/south.csv'));
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
});

test('an approval lets the other files count, once for each file that went', async () => {
  await using w = await booksWorld({ ...shares, 'books/west.csv': bookings(regions, ['2026-01-07', '2026-02-07']) });
  await w.remove('books/south.csv');
  await w.approve(sourceOf(await w.sync(), 'books').digest ?? '');
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  expect(w.points()).toMatchObject({ N: { '2026-01': '20', '2026-02': '20' } });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  await w.remove('books/west.csv');
  expect(sourceOf(await w.sync(), 'books').reason).toBe(reasonFor('books/west.csv'));
});

test('an approval is dropped where one more file went since', async () => {
  await using w = await booksWorld({ ...shares, 'books/west.csv': bookings(regions, ['2026-01-07', '2026-02-07']) });
  await w.remove('books/south.csv');
  await w.approve(sourceOf(await w.sync(), 'books').digest ?? '');
  await w.remove('books/west.csv');
  expect(await w.sync()).toMatchObject(held);
  expect(JSON.stringify(await w.status())).toContain(
    'a newer read of the source is made without books/west.csv, as was not approved',
  );
});

describe('nothing is held', () => {
  test('where the rows of the file are there under another name', async () => {
    await using w = await booksWorld(months);
    await rename(path.join(w.dir, 'books/2026-02.csv'), path.join(w.dir, 'books/feb.csv'));
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    await w.remove('books/feb.csv');
    expect(sourceOf(await w.sync(), 'books').reason).toBe(reasonFor('books/feb.csv'));
  });

  test('where the query names the file no more, and it is still there', async () => {
    await using w = await booksWorld(shares);
    await w.reconfigure(books({}, `${select}('books/north.csv', all_varchar = true)`) as never);
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
    expect(w.points()).toMatchObject({ N: { '2026-01': '10' } });
  });

  test('where the source says that readings go with their file', async () => {
    await using w = await booksWorld(shares, { removed: 'delete' });
    await w.remove('books/south.csv');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  });

  test('where the file had months that the source carries on', async () => {
    await using w = await booksWorld(months, { history: 'carry' });
    await w.remove('books/2026-01.csv');
    expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
    expect(w.points()).toMatchObject({ N: { '2026-01': '10', '2026-02': '10' } });
  });
});
