/** `type: tsv`: files of text between tabs, quoted as csv. */
import { z } from 'zod';
import { fileKeys, lineEndKey, textSource } from './files/place.ts';
import { delimitedKeys } from './formats/delimited.ts';
import { foldInThreads } from './formats/scan/fold.ts';
import { readColumns } from './formats/scan/read.ts';
import { checkTable } from './formats/table.ts';
import { defineKind, needsOf } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, lineEnd: lineEndKey, ...delimitedKeys }).superRefine(checkTable);

export const tsv = defineKind(schema, (settings, context) => {
  const text = { ...settings, delimiter: '	' };
  return textSource(
    settings,
    context,
    (file) => readColumns(file, text, needsOf(context)),
    (file, job, signal) => foldInThreads(file, text, job, { count: context.threads, signal }),
  );
});
