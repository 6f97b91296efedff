/**
 * The agent as its package has it, built once for a run. Tests start it a few hundred times, and a start takes half as long as from
 * source. `built.e2e.test.ts` compares it with the checkout.
 */
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Names the folder of this run, for the workers. */
const variable = 'DRIVER_SYNC_TESTS_BUILT';

export const root = path.resolve(import.meta.dirname, '../..');

/** Where `bin/` and `dist/` are; whoever runs outside of the tests has the checkout. */
export const builtFolder = process.env[variable] ?? root;

/** What people start. */
export const executable = path.join(builtFolder, 'bin', 'driver-sync.js');

/** The same from source. */
export const checkout = path.join(root, 'bin', 'driver-sync.js');

/** Runs once before the tests that start processes. */
export async function setup(): Promise<void> {
  if (process.env[variable] !== undefined) return;
  const folder = path.join(realpathSync(tmpdir()), 'built');
  mkdirSync(folder);
  for (const part of ['bin', 'config', 'package.json']) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await build(path.join(folder, 'dist'));
  process.env[variable] = folder;
}

/** Builds what the package has, or other programs in the same way. @param input their names, and where their source is */
export async function build(dir: string, input?: Readonly<Record<string, string>>): Promise<void> {
  const [{ rolldown }, { default: config }] = await Promise.all([
    import('rolldown'),
    import('../../rolldown.config.ts'),
  ]);
  const { output, ...options } = config;
  await using bundle = await rolldown({ ...options, cwd: root, ...(input && { input }) });
  for (const one of [output ?? []].flat()) await bundle.write({ ...one, dir });
}
