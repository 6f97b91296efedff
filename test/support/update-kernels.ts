/** `npm run kernels`: compiles the programs in WebAssembly anew. */
import { writeFileSync } from 'node:fs';
import { kernelProgram, kernels, programFile } from './kernel-program.ts';

for (const kernel of kernels) writeFileSync(programFile(kernel), kernelProgram(kernel));
