/** Runs once before all test files, in the process that starts the workers. */
import { shareProgramsOfNpm } from './server-programs.ts';

export const setup = shareProgramsOfNpm;
