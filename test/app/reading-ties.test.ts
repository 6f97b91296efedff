/** Readings of one driver at one same time: a last or first keeps one of them, and everything that reports a source says so. */
import { describe, expect, test } from 'vitest';
import { arrange, reportOf } from '../support/pushed-world.ts';
import { type TestWorld, collapsing, longFile, longSource, longEntry } from '../support/world.ts';

const twoBookings = 'id,time,value\nRent,2026-01-15,5\nRent,2026-01-15,3\nFuel,2026-01-15,1\n';

async function synced(source: object, files: Readonly<Record<string, string>>): Promise<TestWorld> {
  const made = await arrange({ timezone: 'Europe/Berlin', sources: { revenue: source } });
  for (const [name, text] of Object.entries(files)) await made.write(name, text);
  expect(await made.sync()).toMatchObject({ exit: 0 });
  return made;
}

async function warnings(made: TestWorld): Promise<readonly string[]> {
  return reportOf(await made.plan()).warnings;
}

describe('two bookings of one day under the default last', () => {
  const said = [
    'drivers[0]: 1 point has rows of one same time with different values, such as driver "Rent" at 2026-01-15: 5 (books.csv row 1) and 3 (books.csv row 2); "last" keeps the later row; say collapse: sum if they add up',
  ];

  test('are told by plan, sync and status, also once nothing changes any more', async () => {
    const made = await arrange({ timezone: 'Europe/Berlin', sources: { revenue: longSource('books.csv') } });
    await made.write('books.csv', twoBookings);
    expect(await warnings(made)).toEqual(said);
    for (const outcome of ['acknowledged', 'unchanged']) {
      const report = await made.sync();
      expect(report).toMatchObject({ exit: 0, outcome });
      expect(reportOf(report).warnings).toEqual(said);
      expect(reportOf(await made.status()).warnings).toEqual(said);
    }
  });

  test('are told of a part that is not read again, and no more once they are booked apart', async () => {
    const made = await synced(longSource('books*.csv'), { 'books.csv': twoBookings });
    await made.write('books-2.csv', longFile({ Taxi: { '2026-01': 1 } }));
    expect(reportOf(await made.sync()).warnings).toEqual(said);
    await made.write('books.csv', twoBookings.replace('15,3', '16,3'));
    expect(reportOf(await made.sync()).warnings).toEqual([]);
  });

  test('are right under sum, which says nothing', async () => {
    const made = await synced(collapsing('sum', 'books.csv'), { 'books.csv': twoBookings });
    expect(await warnings(made)).toEqual([]);
    expect(made.points()).toMatchObject({ Rent: { '2026-01': '8' } });
  });

  test('are told where a later day of the month is taken, too', async () => {
    const made = await synced(longSource('books.csv'), { 'books.csv': `${twoBookings}Rent,2026-01-20,9\n` });
    expect(await warnings(made)).toEqual(said);
  });
});

test('are told of two columns of one row, which the path does not tell apart', async () => {
  const unpivot = { columns: '^(?<scenario>Actual|Budget) (?<time>.+)$', value: 'value' };
  const made = await synced(longSource('wide.csv', { unpivot }), {
    'wide.csv': 'id,Actual 2026-01,Budget 2026-01\nRent,5,3\n',
  });
  expect(made.points()).toMatchObject({ Rent: { '2026-01': '3' } });
  expect(await warnings(made)).toEqual([
    'drivers[0]: 1 point has readings of one row and one same time with different values, such as driver "Rent" at 2026-01-01: 5 and 3 (wide.csv row 1); "last" keeps the later one; name in the path what tells them apart, or say collapse: sum if they add up',
  ]);
});

test('are told where a row of another day stands between them, before or behind', async () => {
  const made = await synced(
    longSource('*.csv', { drivers: [longEntry('l/{id}', 'last'), longEntry('f/{id}', 'first')] }),
    {
      'a.csv': 'id,time,value\nx,2026-01-31,10\nx,2026-01-05,5\nx,2026-01-31,20\n',
      'b.csv': 'id,time,value\ny,2026-01-05,5\ny,2026-01-31,10\ny,2026-01-05,7\n',
    },
  );
  expect(await warnings(made)).toEqual([
    expect.stringMatching(
      /^drivers\[1\]: 1 point has .* "f\/y" at 2026-01-05: 7 \(b.csv row 3\) and 5 \(b.csv row 1\)/,
    ),
    expect.stringMatching(
      /^drivers\[0\]: 1 point has .* "l\/x" at 2026-01-31: 10 \(a.csv row 1\) and 20 \(a.csv row 3\)/,
    ),
  ]);
});

test('are counted for each entry, each with its own example', async () => {
  const made = await synced(
    longSource('books.csv', { drivers: [longEntry('l/{id}', 'last'), longEntry('f/{id}', 'first')] }),
    {
      'books.csv': `${twoBookings}Fuel,2026-01-15,2\n`,
    },
  );
  expect(await warnings(made)).toEqual([
    expect.stringMatching(
      /^drivers\[1\]: 2 points have .* "f\/Fuel" at 2026-01-15: 2 .*row 4.*1 .*row 3.* "first" keeps the earlier row/,
    ),
    expect.stringMatching(
      /^drivers\[0\]: 2 points have .* "l\/Fuel" at 2026-01-15: 1 .*row 3.*2 .*row 4.* "last" keeps the later row/,
    ),
  ]);
});

describe('a reading that is there twice with one value', () => {
  test('in one file is no booking to add up', async () => {
    const made = await synced(longSource('books.csv'), { 'books.csv': twoBookings.replace(',3\n', ',5.00\n') });
    expect(await warnings(made)).toEqual([]);
  });

  test('in two files is an export that overlaps', async () => {
    const text = longFile({ Rent: { '2026-01': 5, '2026-02': 6 } });
    const made = await synced(longSource('books-*.csv'), { 'books-1.csv': text, 'books-2.csv': text });
    expect(await warnings(made)).toEqual([]);
  });
});

test('other values of one time in two files are told apart: a restated month is right as it is', async () => {
  const made = await synced(longSource('books-*.csv'), {
    'books-1.csv': longFile({ Rent: { '2026-01': 5, '2026-02': 6 } }),
    'books-2.csv': longFile({ Rent: { '2026-01': 5, '2026-02': 7, '2026-03': 8 } }),
  });
  expect(await warnings(made)).toEqual([
    'drivers[0]: 1 point has rows in several parts of one same time with different values, such as driver "Rent" at 2026-02-01: 6 (books-1.csv row 2) and 7 (books-2.csv row 2); "last" keeps the row of the part revised later, as is right for exports that restate months; say collapse: sum if they add up',
  ]);
});

test('an example whose file is gone still names it', async () => {
  const made = await synced(longSource('books-*.csv'), {
    'books-1.csv': longFile({ Rent: { '2026-02': 6 } }),
    'books-2.csv': longFile({ Rent: { '2026-02': 7 } }),
  });
  await made.remove('books-1.csv');
  expect(reportOf(await made.sync()).warnings).toEqual([
    expect.stringContaining('6 (books-1.csv row 1) and 7 (books-2.csv row 1)'),
  ]);
  expect(reportOf(await made.sync()).warnings).toHaveLength(1);
});
