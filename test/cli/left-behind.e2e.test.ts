/** The copy of the buffer that `plan` works on, where it does not come to its end. */
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { twoPushes } from '../support/commands-world.ts';
import { csv } from '../support/process.ts';
import { longFile } from '../support/world.ts';

const copiesIn = async (state: string): Promise<readonly string[]> =>
  (await readdir(state)).filter((name) => name.startsWith('scratch'));

test.each(['SIGTERM', 'SIGINT'] as const)('plan takes its copy away on %s', async (signal) => {
  const { at, configure } = await twoPushes();
  await configure({ revenue: csv('a.csv', { settle: '50s' }) });
  await at.write('a.csv', longFile({ North: { '2026-01': '7' } }));
  await using plan = at.start('plan');
  await expect.poll(() => copiesIn(at.state), { timeout: 20_000 }).toHaveLength(1);
  plan.kill(signal);
  expect(await plan.exit).toMatchObject({ code: 75 });
  expect(await copiesIn(at.state)).toEqual([]);
});

test('a copy that a killed command left is taken away by the next one', async () => {
  const { at, run } = await twoPushes();
  await mkdir(path.join(at.state, 'scratch-4194305'));
  await mkdir(path.join(at.state, `scratch-${process.ppid}`));
  expect((await run('plan')).code).toBe(0);
  expect(await copiesIn(at.state)).toEqual([`scratch-${process.ppid}`]);
});
