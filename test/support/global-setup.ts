/** Runs once before all test files, in the process that starts the workers. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shareProgramsOfNpm } from './server-programs.ts';
import { openTemporaryFolder } from './temporary-folder.ts';

export function setup(): () => void {
  // Processes that a test starts from source load in half the time. This is where the command itself has its cache.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(tmpdir(), 'node-compile-cache');
  const ends = [openTemporaryFolder(), shareProgramsOfNpm()];
  return () => {
    for (const end of ends.toReversed()) end?.();
  };
}
