/** The line that `systemctl status` shows. */
import { expect, test } from 'vitest';
import { statusText } from '../../src/cli/supervised.ts';
import { type DaemonWorld, daemonWorld, rows } from '../support/daemon-world.ts';

const shown = (w: DaemonWorld): Promise<string> => w.open((deps) => statusText(deps, w.passes.at(-1)!));

const many = (count: number): string => rows(...Array.from({ length: count }, (_, index) => `D${index},2026-01,1`));

test('says what is held and not read, what was acknowledged, and when the next push is', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', many(20));
  await w.start();
  expect(await shown(w)).toBe('20 drivers acknowledged 12:00 today; next push 02:15 tomorrow');
  await w.write('a.csv', many(5));
  await w.wait(60_000);
  expect(await shown(w)).toBe('held: sales; 20 drivers acknowledged 12:00 today; next push 02:15 tomorrow');
  await w.remove('a.csv');
  await w.wait(60_000);
  expect(await shown(w)).toBe('not read: sales; 20 drivers acknowledged 12:00 today; next push 02:15 tomorrow');
});

test('begins with the push that failed', async () => {
  await using w = await daemonWorld({ schedule: '15 2 * * *' });
  await w.write('a.csv', many(2));
  w.service.answer(422);
  await w.start();
  expect(await shown(w)).toMatch(/^refused: 422 .*; nothing acknowledged yet; next push 02:15 tomorrow$/);
});
