/** The process: one command, its exit code, and an end without noise where a pipe is closed. */
import { runCommand } from './cli/program.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `driver-sync history | head` closes the pipe when it has seen enough.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// A closed or full stderr must not end a pass: there is nowhere left to say so.
process.stderr.on('error', () => undefined);

process.exit(await runCommand(process.argv.slice(2)));
