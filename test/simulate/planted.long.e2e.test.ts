/** Bugs that are planted one at a time: the simulated world finds each of them. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { plants } from './planted/plants.ts';

const seedsMax = 1000;
const run = promisify(execFile);

test.each(plants)('$name: found', async ({ name }) => {
  const script = path.resolve(import.meta.dirname, '../support/planted.ts');
  const { stdout } = await run(process.execPath, [script, name, String(seedsMax)]);
  const found = JSON.parse(stdout) as { seed?: number };
  expect(found.seed).toBeLessThanOrEqual(seedsMax);
});
