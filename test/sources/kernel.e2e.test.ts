import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { kernelProgram, kernels, programFile } from '../support/kernel-program.ts';

test.each(kernels)('the program of %s is what its source compiles to; if not: npm run kernels', async (kernel) => {
  expect(await readFile(programFile(kernel), 'utf8')).toBe(kernelProgram(kernel));
});
