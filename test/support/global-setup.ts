/** Runs once before all test files, in the process that starts the workers. */
import { shareProgramsOfNpm } from './server-programs.ts';
import { openTemporaryFolder } from './temporary-folder.ts';

export function setup(): () => void {
  const ends = [openTemporaryFolder(), shareProgramsOfNpm()];
  return () => {
    for (const end of ends.toReversed()) end?.();
  };
}
