/** Compiling a program that uses `driver-sync/emulator`, in a project with the package and its dependencies. */
import { spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/emulator-world.ts';

const root = join(import.meta.dirname, '../..');

const program = `
import { startEmulator, StateError } from 'driver-sync/emulator';
import type { EmulatedDriver, Emulator, EmulatorOptions, FaultInput, RequestRecord } from 'driver-sync/emulator';

const options: EmulatorOptions = { port: 0, state: 'state', tier: 2 };
const fault: FaultInput = { status: 503, retryAfter: 2 };
export async function first(): Promise<[EmulatedDriver | undefined, RequestRecord | undefined]> {
  await using emulator: Emulator = await startEmulator(options);
  emulator.faults(fault);
  // @ts-expect-error: "times" must be a number.
  emulator.faults({ status: 503, times: 'twice' });
  return [emulator.drivers()[0], emulator.requests()[0]];
}
export const isHeld = (error: unknown): boolean => error instanceof StateError && error.code === 'held';
`;

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable', 'dom'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // The declarations of the package are checked too.
    skipLibCheck: false,
    types: ['node'],
  },
  files: ['program.ts'],
};

function compile(...args: readonly string[]): string {
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), args, { encoding: 'utf8' });
  return `${stdout}exit ${status}`;
}

test('compiles without the types of the database', async () => {
  const project = await temporaryDirectory();
  const installed = join(project, 'node_modules');
  const emitted = join(installed, 'driver-sync/dist');
  // As the build does, for the emulator alone.
  const build = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: join(root, 'src'),
      outDir: emitted,
      emitDeclarationOnly: true,
      noCheck: true,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: [join(root, 'src/emulator/index.ts')],
    include: [],
  };
  await writeFile(join(project, 'build.json'), JSON.stringify(build));
  expect(compile('-p', join(project, 'build.json'))).toBe('exit 0');
  for (const name of ['zod', 'better-sqlite3', '@types/node']) {
    await mkdir(dirname(join(installed, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(installed, name));
  }
  const exports = { './emulator': { types: './dist/emulator/index.d.ts' } };
  await writeFile(join(installed, 'driver-sync/package.json'), JSON.stringify({ type: 'module', exports }));
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(settings));
  await writeFile(join(project, 'program.ts'), program);
  expect(compile('-p', join(project, 'tsconfig.json'))).toBe('exit 0');
});
