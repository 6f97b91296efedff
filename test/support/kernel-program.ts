/** Compiles the programs in WebAssembly. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders that have a program of their own: its source in `assembly/`, and what is compiled of it in `program.ts`. */
export const kernels = [
  'core/mapping/kernel',
  'core/series/body',
  'core/series/fold',
  'sources/formats/scan/kernel',
] as const;

const fileOf = (kernel: string, file: string): string =>
  fileURLToPath(new URL(`../../src/${kernel}/${file}`, import.meta.url));

export const programFile = (kernel: string): string => fileOf(kernel, 'program.ts');

const flags = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--importMemory'];

/** The text of `program.ts`. @throws Error with what the compiler says */
export function kernelProgram(kernel: string): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'kernel-'));
  const file = path.join(dir, 'kernel.wasm');
  // Run as a program: its types would add to those of JavaScript itself.
  const compiler = fileURLToPath(import.meta.resolve('assemblyscript/bin/asc.js'));
  try {
    execFileSync(process.execPath, [compiler, fileOf(kernel, 'assembly/index.ts'), '--outFile', file, ...flags], {
      stdio: 'pipe',
    });
    const program = readFileSync(file, 'base64');
    return `/** Made of \`assembly/\` by \`npm run kernels\`. */\nexport const program =\n  '${program}';\n`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
