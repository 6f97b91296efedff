import { describeLeftOut, rejectsReport, rejectsTable } from '../app/ask/rejects-report.ts';
import { openState } from '../compose/state.ts';
import type { PassReport } from '../core/report.ts';
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
  const { lastPass } = report.total === 0 ? await state.deps.ledger.state() : {};
  const lost = countedIn(lastPass, source);
  if (context.options.json === true) {
    printJson({ ...report, ...(lost === 0 ? {} : { lost }) });
    return 0;
  }
  printCsv(rejectsTable(report));
  const { leftOut, total } = report;
  for (const one of leftOut.slice(0, partsNamed)) {
    say(`note: ${one.part} of source "${one.source}": ${describeLeftOut(one)}`);
  }
  const more = leftOut.length - partsNamed;
  if (more > 0) say(`note: and so it is with ${count(more, 'more part')}; "rejects --json" names them all`);
  if (total === 0) say(`${describeNone(lastPass, lost)}; "driver-sync check" reads the sources now`);
  return 0;
}

/** The rows are in the buffer, and their number is in the ledger too. */
function countedIn(lastPass: PassReport | undefined, source: string | undefined): number {
  const sources = lastPass?.sources.filter(({ name }) => source === undefined || name === source) ?? [];
  return sources.reduce((sum, { rejects: number }) => sum + number, 0);
}

function describeNone(lastPass: PassReport | undefined, lost: number): string {
  if (lastPass === undefined) return 'no pass of the agent has ended yet';
  if (lost === 0) return 'the last pass of the agent had no rejects';
  return `the last pass of the agent had ${count(lost, 'reject')}, and the buffer with ${lost === 1 ? 'its row' : 'their rows'} was lost`;
}
