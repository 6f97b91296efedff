/** Files of delimited text, for csv and tsv. */
import type { Source } from '../core/ports.ts';
import { readOn } from './files/growing.ts';
import type { TextSettings } from './files/keys.ts';
import type { FormatReader } from './files/read-part.ts';
import { textSource } from './files/source.ts';
import type { DelimitedSettings } from './formats/delimited.ts';
import { delimitedRanges } from './formats/scan/fold.ts';
import { readColumns, readColumnsBehind } from './formats/scan/read.ts';
import { type SourceContext, needsOf } from './kind.ts';

/** The source of such files. */
export function delimitedFiles(settings: TextSettings & DelimitedSettings, context: SourceContext): Source {
  const needs = needsOf(context);
  const read: FormatReader = (file) => readColumns(file, settings, needs);
  const source = textSource(settings, context, read, delimitedRanges(settings));
  return readOn(source, settings, context, (file, end) => readColumnsBehind(file, settings, needs, end));
}
