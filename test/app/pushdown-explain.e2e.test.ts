/** Pushdown as a person sees it: the same numbers, and where they came from. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type TestWorld, world } from '../support/world.ts';

const rows = [
  [1, 'a', '2026-04-01', '2.5'],
  // No plain number to a database, so that it leaves as it is.
  [2, 'a', '2026-04-01', '-7e0'],
  [3, 'a', '2026-04-20', '9'],
] as const;

const entry = (collapse: string): object => ({
  path: [collapse, '{id}'],
  time: '{day}',
  value: '{amount}',
  collapse,
});

async function booksWorld(pushdown: boolean, booked: readonly (readonly unknown[])[] = rows): Promise<TestWorld> {
  const books = {
    type: 'sqlite',
    file: 'books.db',
    query: 'SELECT id, day, amount FROM booked ORDER BY n',
    pushdown,
    drivers: ['first', 'last', 'sum', 'min', 'max', 'count'].map(entry),
  };
  const w = await world({ config: { sources: { books } } });
  const database = new Database(path.join(w.dir, 'books.db'));
  database.exec('CREATE TABLE booked (n INTEGER, id TEXT, day TEXT, amount TEXT)');
  const insert = database.prepare('INSERT INTO booked VALUES (?, ?, ?, ?)');
  for (const row of booked) insert.run(...row);
  database.close();
  return w;
}

test('ties between a collapsed row and one that left as it is end as they do without', async () => {
  await using plain = await booksWorld(false);
  await using collapsed = await booksWorld(true);
  await plain.sync();
  expect(await collapsed.sync()).toMatchObject({ exit: 0, sources: [{ rows: 2, rejects: 0 }] });
  expect(collapsed.points()).toEqual(plain.points());
  expect(collapsed.points()['first/a']).toEqual({ '2026-04': '2.5' });
});

test('explain names key, time and count, and no row', async () => {
  await using w = await booksWorld(true);
  await w.sync();
  for (const [driver, time, count] of [
    ['sum/a', '2026-04-20', 3],
    ['min/a', '2026-04-01', 3],
    ['last/a', '2026-04-20', 3],
  ] as const) {
    expect(await w.explain(driver)).toMatchObject({
      points: [
        {
          row: null,
          collapsed: `collapsed in the database: key ${driver}, time ${time}, ${count} readings`,
          superseded: count - 1,
        },
      ],
    });
  }
});

test('a reject has the number of its row in the query', async () => {
  const booked = [
    [1, 'a', '2026-04-01', '1'],
    [2, 'a', '2026-04-02', 'much'],
    [3, 'a', '2026-04-03', '3'],
    [4, 'b', '2026-04-01', 'more'],
    // Of the form of a time, and none: found by the agent, of a row that was collapsed.
    [5, 'c', '2026-02-30', '5'],
  ];
  await using plain = await booksWorld(false, booked);
  await using collapsed = await booksWorld(true, booked);
  await plain.sync();
  await collapsed.sync();
  const numbersOf = async (w: TestWorld): Promise<readonly string[]> =>
    [...(await w.rejects()).matchAll(/^books,query,(\d+),/gm)].map(([, row = '']) => row);
  expect(await numbersOf(plain)).toEqual(['2', '4', '5']);
  expect(await numbersOf(collapsed)).toEqual(['2', '4', '5']);
});

async function factsWorld(pushdown: boolean): Promise<TestWorld> {
  const drivers = ['max', 'first', 'last'].map((collapse) => ({
    id: `${collapse}/{region}`,
    path: [collapse, '{region}', '{product}'],
    time: '{day}',
    value: '{amount}',
    collapse,
  }));
  const query = 'SELECT region, product, day, amount FROM facts ORDER BY n';
  const w = await world({
    config: { sources: { books: { type: 'sqlite', file: 'books.db', query, pushdown, drivers } } },
  });
  const database = new Database(path.join(w.dir, 'books.db'));
  database.exec(`CREATE TABLE facts (n INT, region TEXT, product TEXT, day TEXT, amount INT);
    INSERT INTO facts VALUES (1, 'a', 'Old', '2024-01-31', 9), (2, 'a', 'New', '2024-01-31', 5), (3, 'a', 'Old', '2024-01-31', 7)`);
  database.close();
  return w;
}

test('a driver has the path of its latest row, also where another row counts, and of a table called as a step is', async () => {
  await using plain = await factsWorld(false);
  await using collapsed = await factsWorld(true);
  await plain.sync();
  await collapsed.sync();
  expect(collapsed.points()).toEqual(plain.points());
  for (const driver of ['max/a', 'first/a', 'last/a']) {
    const shown = { path: [driver.slice(0, -2), 'a', 'Old'] };
    expect(await plain.explain(driver)).toMatchObject(shown);
    expect(await collapsed.explain(driver)).toMatchObject(shown);
  }
});
