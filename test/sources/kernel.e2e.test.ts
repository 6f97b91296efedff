import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { kernelProgram } from '../support/kernel-program.ts';

test('the program of the kernel is what its source compiles to; if not: npm run kernel', async () => {
  const program = new URL('../../src/sources/formats/scan/kernel/program.ts', import.meta.url);
  expect(await readFile(program, 'utf8')).toBe(kernelProgram());
});
