/** Records of JSON whose keys hold a value here and an object there. */
import { expect, test } from 'vitest';
import { type TestWorld, world } from '../support/world.ts';

const entry = (value: string): object => ({ path: ['{m}'], time: '{at}', value, collapse: 'sum' });

async function eventsWorld(records: readonly object[], value: string): Promise<TestWorld> {
  const events = { type: 'jsonl', files: ['events.jsonl'], settle: '0s', drivers: [entry(value)] };
  return await world({
    config: { guard: { maxRejects: '100%' }, sources: { events } },
    files: { 'events.jsonl': records.map((record) => `${JSON.stringify(record)}\n`).join('') },
  });
}

const first = { m: 's', at: '2026-01-01', n: 3 };
const second = { m: 's', at: '2026-01-02', n: { amount: 4, currency: 'EUR' } };

test('an object where others have a value is a reject for whoever needs it, and no missing value', async () => {
  await using w = await eventsWorld([first, second], '{n}');
  expect(await w.sync()).toMatchObject({ sources: [{ rows: 2, rejects: 1 }] });
  expect(await w.rejects()).toContain('""n"" is an object in this record, and a single value in others');
  expect(w.points()).toEqual({ s: { '2026-01': '3' } });
});

test('a value where others have an object is one too', async () => {
  await using w = await eventsWorld([first, second], '{n.amount}');
  expect(await w.sync()).toMatchObject({ sources: [{ rows: 2, rejects: 1 }] });
  expect(await w.rejects()).toContain('""n"" is no object in this record, but ""3""');
  expect(w.points()).toEqual({ s: { '2026-01': '4' } });
});

test.each([
  ['null where others have an object', [{ ...first, n: null }, second], '{n.amount}', '4'],
  ['a key that is not there', [{ m: 's', at: '2026-01-01' }, second], '{n.amount}', '4'],
  [
    'a list beside values, which nobody asks for',
    [
      { ...first, tags: ['a'] },
      { ...first, tags: { b: 1 } },
    ],
    '{n}',
    '6',
  ],
])('%s is no reject', async (_what, records, value, point) => {
  await using w = await eventsWorld(records, value);
  expect(await w.sync()).toMatchObject({ exit: 0, sources: [{ rejects: 0 }] });
  expect(w.points()).toEqual({ s: { '2026-01': point } });
});
