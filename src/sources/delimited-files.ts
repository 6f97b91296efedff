/** Files of delimited text, for csv and tsv. */
import type { Source } from '../core/ports.ts';
import { type TextSettings, textSource } from './files/place.ts';
import type { DelimitedSettings } from './formats/delimited.ts';
import { foldInThreads } from './formats/scan/fold.ts';
import { readColumns } from './formats/scan/read.ts';
import { type SourceContext, needsOf } from './kind.ts';

/** The source of such files. Large ones are folded by threads, where the context has some. */
export function delimitedFiles(settings: TextSettings & DelimitedSettings, context: SourceContext): Source {
  const { threads = 0 } = context;
  return textSource(
    settings,
    context,
    (file) => readColumns(file, settings, needsOf(context)),
    threads === 0 ? undefined : (file, job, signal) => foldInThreads(file, settings, job, { count: threads, signal }),
  );
}
