import { openState } from '../compose/state.ts';
import { AgentError } from '../core/errors.ts';
import { type Context, answer, commandLog, loadSettings } from './context.ts';
import { print } from './output.ts';

/** Rows of the newest read that could not be used, as CSV. */
export function rejects(context: Context, source: string | undefined): number {
  const settings = loadSettings(context, 'optional');
  using state = openState(settings, commandLog(context));
  if (source !== undefined && !settings.sources.some(({ name }) => name === source)) {
    const hint = `there are ${settings.sources.map(({ name }) => name).join(', ')}`;
    throw new AgentError('usage', `there is no source "${source}"`, { hint });
  }
  const found = [...state.deps.buffer.rejects(source)];
  if (context.options.json === true) {
    answer(context, { rejects: found }, () => '');
    return 0;
  }
  const lines = found.map((one) =>
    [one.source, one.part, String(one.row), one.reason, one.text].map(quoteField).join(','),
  );
  print(['source,part,row,reason,text', ...lines].join('\n'));
  return 0;
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
