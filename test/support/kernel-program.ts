/** Compiles the kernel of the scanners. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../src/sources/formats/scan/kernel/assembly/index.ts', import.meta.url));
const flags = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--initialMemory', '1'];

/** The text of `program.ts` beside the sources. @throws Error with what the compiler says */
export function kernelProgram(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'kernel-'));
  const file = path.join(dir, 'kernel.wasm');
  // Run as a program: its types would add to those of JavaScript itself.
  const compiler = fileURLToPath(import.meta.resolve('assemblyscript/bin/asc.js'));
  try {
    execFileSync(process.execPath, [compiler, source, '--outFile', file, ...flags], { stdio: 'pipe' });
    const program = readFileSync(file, 'base64');
    return `/** Made of \`assembly/\` by \`npm run kernel\`. */\nexport const program =\n  '${program}';\n`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
