/** What the daemon does for files that grew while it has nothing else to do. */
import { expect, test } from 'vitest';
import { type DaemonWorld, daemonWorld, minutes } from '../support/daemon-world.ts';
import { csv } from '../support/process.ts';
import { pointsOf } from '../support/receiver.ts';

const sources = { sources: { books: csv('ledger.csv', { poll: '1m' }) }, pushOnChange: '1s' };

/** So many rows of 20 bytes, more than 4 MB: evidence looks at some of its blocks only. */
const rowsMany = 220_000;
const header = 'id,time,value\n';

/** A row of a driver of its own, in a block that no evidence looks at. */
const unseenRow = 90_000;

function ledger(rows: number, unseen: string): string {
  const line = (at: number): string =>
    at === unseenRow ? `X0000,2026-01,${unseen}\n` : `D${String(at % 9000).padStart(4, '0')},2026-01,12345\n`;
  return header + Array.from({ length: rows }, (_, at) => line(at)).join('');
}

function held(w: DaemonWorld): Record<string, unknown> {
  return pointsOf(w.service.posts.at(-1)!);
}

async function grown(unseen: string): Promise<DaemonWorld> {
  const w = await daemonWorld(sources);
  await w.write('ledger.csv', ledger(rowsMany, '10000'));
  await w.start();
  await w.wait(minutes);
  await w.write('ledger.csv', `${ledger(rowsMany, unseen)}E0001,2026-01,54321\n`);
  await w.wake('source');
  await w.wait(2 * minutes);
  return w;
}

test('a file that only grew is proven to hold what was read of it', async () => {
  await using w = await grown('10000');
  expect(held(w)).toMatchObject({ E0001: { '2026-01': '54321' } });
  await expect.poll(() => w.open(({ buffer }) => buffer.growths.unproven())).toEqual([]);
  expect(JSON.stringify(w.log.lines)).not.toContain('changed above');
});

test('a file that was changed above its new rows is read again once that shows, and it is told', async () => {
  await using w = await grown('99999');
  await expect.poll(() => JSON.stringify(w.log.lines)).toContain('changed above its new rows');
  await w.wait(2 * minutes);
  expect(held(w)).toMatchObject({ X0000: { '2026-01': '99999' }, E0001: { '2026-01': '54321' } });
  expect(await w.open(({ buffer }) => buffer.growths.unproven())).toEqual([]);
});
