import { expect, test } from 'vitest';
import { collapsing, gridFile, ids, judged, longSource, world } from '../support/world.ts';

const good = gridFile(ids(1, 40));
const config = { sources: { sales: longSource('sales.csv'), other: longSource('other.csv') } };

async function accepted(file = good) {
  const w = await world({ config, files: { 'sales.csv': file, 'other.csv': gridFile(['other']) } });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
  return w;
}

test.each([
  ['has no header', ''],
  ['has another header', good.replace('value', 'amount')],
  ['has a header twice', good.replace('time', 'id')],
  ['has a NUL byte', good.replace('D07', 'D\u{0}7')],
  ['ends without a line end, where its accepted read had one', good.slice(0, -1)],
  ['ends within a row', good.slice(0, -30)],
  ['ends within quotes', `${good}"D41`],
  ['has more than 1% rejects', good.replace('D07,2026-01,1', 'D07,2026-01,one')],
])('a source whose file %s is not read: its data is carried', async (_what, text) => {
  await using w = await accepted();
  await w.write('sales.csv', text);
  await w.write('other.csv', gridFile(['other', 'more']));
  expect(await w.plan()).toMatchObject(judged(3, 'sales', { state: 'unread' }));
  const report = await w.sync();
  expect(report).toMatchObject({ ...judged(3, 'sales', { state: 'unread' }), outcome: 'acknowledged' });
  expect(w.drivers()).toHaveLength(42);
  expect(await w.sync()).toMatchObject({ exit: 3, outcome: 'unchanged' });
  await w.write('sales.csv', good);
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
});

test('a read that was held is withdrawn by one that fails', async () => {
  await using w = await accepted();
  await w.write('sales.csv', gridFile(ids(21, 40)));
  expect(await w.sync()).toMatchObject({ exit: 4 });
  await w.write('sales.csv', '');
  expect(await w.sync()).toMatchObject({ exit: 3 });
  expect((await w.status()).held).toEqual([]);
  await w.write('sales.csv', good);
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'unchanged' });
});

test('one part that fails keeps the whole source from being read', async () => {
  const files = { 'in/1.csv': gridFile(ids(1, 9)), 'in/2.csv': gridFile(ids(11, 19)) };
  await using w = await world({ config: { sources: { sales: longSource('in/*.csv') } }, files });
  await w.sync();
  await w.write('in/1.csv', gridFile(ids(1, 10)));
  await w.write('in/2.csv', '');
  expect(await w.sync()).toMatchObject({ ...judged(3, 'sales', { state: 'unread' }), outcome: 'unchanged' });
  await w.write('in/2.csv', gridFile(ids(11, 19)));
  expect(await w.sync()).toMatchObject({ exit: 0, push: { drivers: 19 } });
});

test.each(['sum', 'average', 'count'])('a %s allows no reject unless told', async (rule) => {
  const many = gridFile(ids(1, 99), ['2026-01', '2026-02', '2026-03']);
  const broken = many.replace('D07,2026-02,1', 'D07,2026-02,one');
  const sources = { sales: collapsing(rule, 'sales.csv') };
  await using w = await world({ config: { sources }, files: { 'sales.csv': broken } });
  expect(await w.sync()).toMatchObject({ exit: 4, outcome: 'blocked', sources: [{ state: 'unread' }] });
  expect(await w.rejects()).toMatch(/\nsales,sales\.csv,20,.*one/);
  await w.reconfigure({ guard: { maxRejects: 1 }, sources });
  expect(await w.sync()).toMatchObject({ exit: 0, outcome: 'acknowledged' });
});

test('maxRejects counts against the rows that where let pass', async () => {
  const rows = (name: string, count: number) => `${name},2026-01,1\n`.repeat(count);
  const keys = { where: { id: { not: 'out' } } };
  const file = `id,time,value\n${rows('out', 400)}${rows('in', 99)}in,2026-01,one\n`;
  const make = (text: string) =>
    world({ config: { sources: { s: longSource('s.csv', keys) } }, files: { 's.csv': text } });
  await using fits = await make(file);
  expect(await fits.sync()).toMatchObject({ exit: 0, sources: [{ rows: 500, rejects: 1 }] });
  await using beyond = await make(file.replace('in,2026-01,1\n', ''));
  expect(await beyond.sync()).toMatchObject({ exit: 4, sources: [{ state: 'unread' }] });
});
