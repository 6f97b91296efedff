/** The process: one command, its exit code, and an end once everything that it printed was read. */
import { fail } from './cli/failing.ts';
import { endOutput, openOutput } from './cli/output.ts';
import { runCommand } from './cli/program.ts';

openOutput();
const argv = process.argv.slice(2);
// Nothing is left that could wake the process, and its command has not ended: Node would end with 0, as if all were done.
const endUnsettled = (): void => {
  const bug = new Error('the command has not ended, and nothing is left that it could wait for');
  const failed = fail({ options: { json: argv.includes('--json') } }, bug);
  void endOutput(failed).then((code) => process.exit(code));
};
process.once('beforeExit', endUnsettled);
const exit = await runCommand(argv);
process.removeListener('beforeExit', endUnsettled);
process.exitCode = exit;
// Only then: `process.exit` drops what a slow reader of a pipe has not taken yet. Whatever else is open ends with it.
process.exit(await endOutput(exit));
