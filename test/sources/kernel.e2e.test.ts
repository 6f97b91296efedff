import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isCampaign } from '../support/campaign.ts';
import { kernelProgram, kernels, programFile } from '../support/kernel-program.ts';

// The larger one takes five seconds to compile.
const compiled = isCampaign ? kernels : kernels.slice(0, 1);

test.each(compiled)('the program of %s is what its source compiles to; if not: npm run kernels', async (kernel) => {
  expect(await readFile(programFile(kernel), 'utf8')).toBe(kernelProgram(kernel));
});
