/** An empty list of records: it names no columns, and it is a whole read without rows. */
import { expect, test } from 'vitest';
import { type TestWorld, world } from '../support/world.ts';

const drivers = [{ path: ['{id}'], time: '{time}', value: '{value}' }];

function records(keys: object = {}): Promise<TestWorld> {
  return world({
    config: { sources: { sales: { type: 'json', files: ['sales.json'], settle: '0s', drivers, ...keys } } },
    files: { 'sales.json': '[{"id":"a","time":"2026-01","value":1.50}]' },
  });
}

test('a source whose list turned empty is held, and keeps its data', async () => {
  await using w = await records();
  await w.sync();
  await w.write('sales.json', '[]');
  expect(await w.sync()).toMatchObject({ exit: 4, sources: [{ state: 'held', rows: 0 }] });
  expect(w.points()).toEqual({ a: { '2026-01': '1.50' } });
});

test('a source that may be empty is emptied by an empty list', async () => {
  const other = { type: 'csv', files: ['other.csv'], drivers };
  await using w = await world({
    config: {
      sources: {
        sales: { type: 'json', files: ['sales.json'], settle: '0s', drivers, mayBeEmpty: true },
        other,
      },
    },
    files: { 'sales.json': '[{"id":"a","time":"2026-01","value":1}]', 'other.csv': 'id,time,value\nb,2026-01,2\n' },
  });
  await w.sync();
  await w.write('sales.json', '[]');
  expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ state: 'accepted' }, { state: 'unchanged' }] });
  expect(w.points()).toEqual({ b: { '2026-01': '2' } });
});
