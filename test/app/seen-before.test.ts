/** How many kept snapshots are opened for what is known of older files, and which. */
import { expect, test } from 'vitest';
import { recallSeen } from '../../src/app/read/seen-before.ts';
import { longFile, longSource, world } from '../support/world.ts';

const dayMs = 86_400_000;
const begin = Date.parse('2026-03-02T00:00:00Z');

/** What is opened of so many pushes of one day, and one of the day before, whose snapshots take this much each. */
async function opened(count: number, storedBytes: number): Promise<readonly string[]> {
  const sources = { sales: longSource('in/*.csv', { parts: 'newest' }) };
  await using w = await world({ config: { sources }, files: { 'in/1.csv': longFile({ A: { '2026-01': 1 } }) } });
  await w.sync();
  const found: string[] = [];
  await w.open(async (deps) => {
    const [push] = await deps.ledger.pushes.all();
    const pushes = Array.from({ length: count }, (_, at) => ({ ...push!, digest: `${at}`, atMs: begin + count - at }));
    pushes.push({ ...push!, digest: 'the day before', atMs: begin - dayMs });
    deps.buffer.parts.setSeen('sales', new Map());
    const archive = {
      ...deps.archive,
      storedBytes: async () => storedBytes,
      async open(digest: string) {
        found.push(digest);
        return undefined;
      },
    };
    const ledger = { ...deps.ledger, pushes: { ...deps.ledger.pushes, all: async () => pushes } };
    await recallSeen({ ...deps, archive, ledger }, AbortSignal.timeout(10_000));
  });
  return found;
}

test('all are opened where they are few, newest first', async () => {
  expect(await opened(3, 1000)).toEqual(['0', '1', '2', 'the day before']);
});

test('of many 500 are, and the last one of each day goes before others', async () => {
  const found = await opened(600, 1000);
  expect(found).toHaveLength(500);
  expect(found.slice(-2)).toEqual(['498', 'the day before']);
});

test('of large ones those are that take 1 GiB together', async () => {
  expect(await opened(20, 300 << 20)).toEqual(['0', '1', 'the day before']);
});
