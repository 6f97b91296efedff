import { describeLeftOut, rejectsReport, rejectsTable } from '../app/ask/rejects-report.ts';
import { openState } from '../compose/state.ts';
import { count } from '../core/text.ts';
import { type Context, commandLog, loadSettings, sourcesNamed } from './context.ts';
import { printCsv, printJson, say } from './output.ts';

/** How many parts are named of which not all rejects are listed. */
const partsNamed = 10;

/** Rows of the newest read that could not be used, as CSV. */
export async function rejects(context: Context, source: string | undefined): Promise<number> {
  const settings = loadSettings(context, 'optional');
  await using state = await openState(settings, commandLog(context));
  if (source !== undefined) sourcesNamed(settings, [source]);
  const report = rejectsReport(state.deps.buffer, source);
  if (context.options.json === true) {
    printJson(report);
    return 0;
  }
  printCsv(rejectsTable(report));
  const { leftOut, total } = report;
  for (const one of leftOut.slice(0, partsNamed)) {
    say(`note: ${one.part} of source "${one.source}": ${describeLeftOut(one)}`);
  }
  const more = leftOut.length - partsNamed;
  if (more > 0) say(`note: and so it is with ${count(more, 'more part')}; "rejects --json" names them all`);
  if (total === 0) say('the last pass of the agent had no rejects; "driver-sync check" reads the sources now');
  return 0;
}
