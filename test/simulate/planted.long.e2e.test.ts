/** Bugs that are planted one at a time: the simulated world finds each of them. `npm run campaigns` plants all. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { plants } from './planted/plants.ts';

const seedsMax = 1000;
/** Those that show within few seeds. */
const sample = plants.filter(({ name }) => name.startsWith('the guard'));
const run = promisify(execFile);

test.each(isCampaign ? plants : sample)('$name: found', async ({ name, breaks }) => {
  const script = path.resolve(import.meta.dirname, '../support/planted.ts');
  const { stdout } = await run(process.execPath, [script, name, String(seedsMax)]);
  const found = JSON.parse(stdout) as { seed?: number; promise?: string };
  expect(found.seed).toBeLessThanOrEqual(seedsMax);
  expect(breaks).toContain(found.promise);
});

test('each plant has a name of its own and names what it breaks', () => {
  expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length);
  expect(plants.every(({ breaks }) => breaks.length > 0)).toBe(true);
});
