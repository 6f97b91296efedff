/** Pushdown as a person sees it: the same numbers, and where they came from. */
import { expect, test } from 'vitest';
import { type TestWorld, world } from '../support/world.ts';

type Booked = readonly [n: number, id: string, day: string, amount: string];

const rows: readonly Booked[] = [
  [1, 'a', '2026-04-01', '2.5'],
  // More digits than the database may rank, so that it leaves as it is.
  [2, 'a', '2026-04-01', '-1234567890123456789'],
  [3, 'a', '2026-04-20', '9'],
];

const entry = (collapse: string): object => ({
  path: [collapse, '{id}'],
  time: '{day}',
  value: '{amount}',
  collapse,
});

async function booksWorld(pushdown: boolean, booked: readonly Booked[] = rows): Promise<TestWorld> {
  const values = booked.map(([n, id, day, amount]) => `(${n}, '${id}', DATE '${day}', '${amount}'::DECIMAL(24, 1))`);
  const books = {
    type: 'duckdb',
    query: `SELECT id, day, amount FROM (VALUES ${values.join(', ')}) AS booked(n, id, day, amount) ORDER BY n`,
    pushdown,
    drivers: ['first', 'last', 'sum', 'min', 'max', 'count'].map(entry),
  };
  return await world({ config: { sources: { books } } });
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
  const booked: readonly Booked[] = [
    [1, 'a', '2026-04-01', '1'],
    [2, 'a', '0500-04-02', '2'],
    [3, 'a', '2026-04-03', '3'],
    [4, ' ', '2026-04-01', '4'],
    [5, 'c', 'infinity', '5'],
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
  const query = `SELECT region, product, day, amount FROM (VALUES
    (1, 'a', 'Old', DATE '2024-01-31', 9), (2, 'a', 'New', DATE '2024-01-31', 5), (3, 'a', 'Old', DATE '2024-01-31', 7)
  ) AS driver_sync_rows(n, region, product, day, amount) ORDER BY n`;
  return await world({ config: { sources: { books: { type: 'duckdb', query, pushdown, drivers } } } });
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
