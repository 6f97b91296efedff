/** The process: one command, its exit code, and an end once everything that it printed was read. */
import { endOutput, openOutput } from './cli/output.ts';
import { runCommand } from './cli/program.ts';

openOutput();
// Else Node opens a debugger at this signal, which lets everybody on the machine read what is secret.
process.on('SIGUSR1', () => undefined);
const exit = await runCommand(process.argv.slice(2));
// Only then: `process.exit` drops what a slow reader of a pipe has not taken yet. Whatever else is open ends with it.
process.exit(await endOutput(exit));
