/** Files of delimited text, for csv and tsv. */
import type { Source } from '../core/ports.ts';
import { growingFiles } from './files/growing.ts';
import type { TextSettings } from './files/keys.ts';
import { textSource } from './files/source.ts';
import type { DelimitedSettings } from './formats/delimited.ts';
import { foldInThreads } from './formats/scan/fold.ts';
import { readColumns, readColumnsBehind } from './formats/scan/read.ts';
import { type SourceContext, needsOf } from './kind.ts';

/** The source of such files. Large ones are folded by threads, where the context has some. */
export function delimitedFiles(settings: TextSettings & DelimitedSettings, context: SourceContext): Source {
  const { threads } = context;
  const source = textSource(
    settings,
    context,
    (file) => readColumns(file, settings, needsOf(context)),
    threads === undefined || threads.count === 0
      ? undefined
      : (file, job, signal) => foldInThreads(file, settings, job, { ...threads, signal }),
  );
  // An empty field that is filled down takes a text of rows that were read earlier.
  if (context.mapping.fillDown.length > 0) return source;
  const needs = needsOf(context);
  return {
    ...source,
    growing: growingFiles(settings, context, (file, end) => readColumnsBehind(file, settings, needs, end)),
  };
}
