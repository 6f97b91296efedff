import { openState } from '../compose/state.ts';
import { type Context, commandLog, loadSettings, sourcesNamed } from './context.ts';
import { printCsv, printJson, say } from './output.ts';

/** Rows of the newest read that could not be used, as CSV. */
export async function rejects(context: Context, source: string | undefined): Promise<number> {
  const settings = loadSettings(context, 'optional');
  await using state = await openState(settings, commandLog(context));
  if (source !== undefined) sourcesNamed(settings, [source]);
  const found = [...state.deps.buffer.rejects.all(source)];
  if (context.options.json === true) {
    printJson({ rejects: found });
    return 0;
  }
  const rows = found.map((one) => [one.source, one.part, String(one.row), one.reason, one.text]);
  printCsv([['source', 'part', 'row', 'reason', 'text'], ...rows]);
  if (rows.length === 0) say('the last pass of the agent had no rejects; "driver-sync check" reads the sources now');
  return 0;
}
