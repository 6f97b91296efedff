/** `npm run kernel`: compiles the kernel of the scanners anew. */
import { writeFileSync } from 'node:fs';
import { kernelProgram } from './kernel-program.ts';

writeFileSync(new URL('../../src/sources/formats/scan/kernel/program.ts', import.meta.url), kernelProgram());
