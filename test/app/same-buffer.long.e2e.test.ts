/** However many threads read a file, the buffer comes to hold the same. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { daemonWorld } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { recordsOf } from '../support/state-records.ts';

/** Some 20 MB, with quotes, line breaks in them, ties, values of any size, and rows that nobody can read. */
function ledger(count: number): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const id = at % 50 === 0 ? `"Beans, ""${at % 7}""\nroasted"` : `Beans ${at % 997}`;
    const day = `2025-${String(1 + (at % 12)).padStart(2, '0')}-${String(1 + (at % 28)).padStart(2, '0')}`;
    const value = at % 5000 === 0 ? 'n/a' : at % 70 === 0 ? `-${at}.${'7'.repeat(20)}` : `${at}.25`;
    return `${id},${day},${value}`;
  });
  return ['id,time,value', ...lines, ''].join('\n');
}

test('the main thread, one thread, two, three and seven leave the same rows in every table of the state', async () => {
  await using w = await daemonWorld();
  await w.write('a.csv', ledger(800_000));
  const states: Record<string, unknown>[] = [];
  for (const workers of [0, 1, 2, 3, 7]) {
    await w.configure({ workers, sources: { sales: csv('*.csv', { settle: '0s' }) }, guard: { maxRejects: 1000 } });
    expect(await w.sync()).toMatchObject({ outcome: 'acknowledged', sources: [{ rejects: 160 }] });
    const state = path.join(w.dir, '.driver-sync');
    states.push(await recordsOf(state));
    await rm(state, { recursive: true });
  }
  const [first = {}, ...others] = states;
  expect(Object.keys(first).length).toBeGreaterThan(10);
  for (const other of others) {
    for (const [name, records] of Object.entries(first)) expect(other[name], name).toEqual(records);
  }
});
