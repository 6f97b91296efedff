/** Only what was accepted can be carried: a part that was only ever in a held candidate leaves nothing behind. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { workbook } from '../support/workbooks.ts';
import {
  type TestWorld,
  collapsing,
  gridFile,
  ids,
  judged,
  longFile,
  longSource,
  sourceOf,
  world,
} from '../support/world.ts';

const held = judged(4, 'sales', { state: 'held' });
const asBefore = { exit: 0, outcome: 'unchanged', sources: [{ state: 'unchanged', carried: [] }] };

test('a sum is what it was once the file that came is gone and the old one is back', async () => {
  const files = { 'in/a1.csv': longFile({ A: { '2026-01': 10 } }), 'in/b1.csv': longFile({ A: { '2026-01': 10 } }) };
  await using w = await world({ config: { sources: { sales: collapsing('sum', 'in/*.csv') } }, files });
  await w.sync();
  await w.remove('in/b1.csv');
  await w.write('in/b2.csv', longFile({ A: { '2026-01': 11 } }));
  expect(await w.sync()).toMatchObject(held);
  await w.remove('in/b2.csv');
  await w.write('in/b1.csv', files['in/b1.csv']);
  expect(await w.sync()).toMatchObject(asBefore);
  expect(w.points()).toEqual({ A: { '2026-01': '20' } });
});

test('a driver of a held file does not outlive it', async () => {
  const config = { sources: { sales: longSource('in/*.csv', { removed: 'carry' }) } };
  await using w = await world({ config, files: { 'in/1.csv': gridFile(ids(1, 20)) } });
  await w.sync();
  await w.write('in/1.csv', gridFile(ids(1, 2)));
  await w.write('in/2.csv', gridFile(['junk']));
  expect(await w.sync()).toMatchObject(held);
  await w.remove('in/2.csv');
  await w.write('in/1.csv', gridFile(ids(1, 20)));
  expect(await w.sync()).toMatchObject(asBefore);
  expect(Object.keys(w.points())).not.toContain('junk');
});

test('a bad newest file that is deleted again leaves the one before', async () => {
  const config = { sources: { sales: longSource('in/*.csv', { parts: 'newest' }) } };
  await using w = await world({ config, files: { 'in/1.csv': gridFile(ids(1, 20)) } });
  await w.sync();
  await w.write('in/2.csv', gridFile(ids(1, 3)));
  const digest = sourceOf(await w.sync(), 'sales').digest ?? '';
  await w.remove('in/2.csv');
  expect(await w.sync()).toMatchObject(asBefore);
  await expect(w.approve(digest)).rejects.toMatchObject({ code: 'usage' });
  await w.sync();
  expect(w.drivers()).toHaveLength(20);
});

test('a file that conflicted over an id leaves nothing when it goes', async () => {
  const config = { sources: { other: longSource('other.csv'), sales: longSource('in/*.csv') } };
  await using w = await world({ config, files: { 'other.csv': gridFile(['x']), 'in/1.csv': gridFile(['A']) } });
  await w.sync();
  await w.write('in/2.csv', gridFile(['x', 'B']));
  expect(await w.sync()).toMatchObject(held);
  await w.remove('in/2.csv');
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  expect(Object.keys(w.points())).toEqual(['A', 'x']);
});

test('nothing of a first read that was held is kept of a file that went', async () => {
  const config = { sources: { sales: longSource('in/*.csv', { where: { id: { not: 'none' } } }) } };
  await using w = await world({ config, files: { 'in/1.csv': gridFile(['none']) } });
  expect(await w.sync()).toMatchObject(held);
  await w.remove('in/1.csv');
  await w.write('in/2.csv', gridFile(['A']));
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged', sources: [{ carried: [] }] });
});

test('a sheet of a held workbook leaves nothing when it goes', async () => {
  const kind = { type: 'xlsx', sheet: '/.*/' };
  await using w = await world({ config: { sources: { sales: { ...longSource('in/*.xlsx'), ...kind } } } });
  const bookOf = (sheets: Readonly<Record<string, readonly string[]>>): Promise<void> =>
    writeBook(w, Object.entries(sheets));
  await bookOf({ a: ids(1, 20) });
  await w.sync();
  await bookOf({ a: ids(1, 3), b: ['junk'] });
  expect(await w.sync()).toMatchObject(held);
  await bookOf({ a: ids(1, 20) });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
  expect(w.drivers().map(({ id }) => id)).not.toContain('junk');
});

async function writeBook(w: TestWorld, sheets: readonly (readonly [string, readonly string[]])[]): Promise<void> {
  const rowsOf = (drivers: readonly string[]) => [
    ['id', 'time', 'value'],
    ...drivers.map((id) => [id, '2026-01', '1']),
  ];
  const file = path.join(w.dir, 'in/book.xlsx');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, workbook({ sheets: sheets.map(([name, drivers]) => ({ name, rows: rowsOf(drivers) })) }));
}
