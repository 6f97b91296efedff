/** Of dated exports the newest file counts. A copy of an older one is the newest file: what is said of that, and how it is undone. */
import { expect, test } from 'vitest';
import { longFile, longSource, sourceOf, world } from '../support/world.ts';

const day = (date: number): Date => new Date(`2026-03-${String(date).padStart(2, '0')}T00:00:00Z`);
const valued = (value: number): string => longFile({ A: { '2026-01': value }, B: { '2026-01': value } });

/** Exports of three days, of which the last one counts. */
async function exported() {
  const w = await world({ config: { sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } } });
  for (const date of [1, 2, 3]) await w.write(`in/${date}.csv`, valued(date), day(date));
  await w.sync();
  const said = async (): Promise<readonly string[]> => sourceOf(await w.sync(), 'sales').warnings;
  return Object.assign(w, { said });
}

test('a copy of an older export is named beside the one whose place it takes, until it is gone and forgotten', async () => {
  await using w = await exported();
  await w.write('in/copy of 1.csv', valued(1), day(9));
  const warning = `in/copy of 1.csv counts, which has the content of in/1.csv, and in/3.csv came between them: if it is a copy, remove it, and "driver-sync forget sales 'in/copy of 1.csv'" goes back to in/3.csv`;
  expect(await w.said()).toEqual([warning]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '1' } });
  // It stands there for as long as that is so.
  expect(await w.said()).toEqual([warning]);
  await w.remove('in/copy of 1.csv');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  await w.forget('sales', 'in/copy of 1.csv');
  expect(await w.said()).toEqual([]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '3' } });
});

test('nothing is said of a copy of the newest export, of one that is touched, and of one that is new', async () => {
  await using w = await exported();
  await w.write('in/copy of 3.csv', valued(3), day(9));
  expect(await w.said()).toEqual([]);
  await w.write('in/1.csv', valued(1), day(10));
  expect(await w.said()).toEqual([]);
  await w.write('in/4.csv', valued(4), day(11));
  expect(await w.said()).toEqual([]);
  expect(w.points()).toMatchObject({ A: { '2026-01': '4' } });
});

test('nothing is said of an older export that was copied and is not the newest any more', async () => {
  await using w = await exported();
  await w.write('in/copy of 1.csv', valued(1), day(9));
  expect(await w.said()).toHaveLength(1);
  await w.write('in/4.csv', valued(4), day(10));
  expect(await w.said()).toEqual([]);
});
