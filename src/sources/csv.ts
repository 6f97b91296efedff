/** `type: csv`: files of delimited text. */
import { z } from 'zod';
import { fileKeys, lineEndKey, textSource } from './files/place.ts';
import { delimitedKeys, delimiterKey } from './formats/delimited.ts';
import { foldInThreads } from './formats/scan/fold.ts';
import { readColumns } from './formats/scan/read.ts';
import { checkTable } from './formats/table.ts';
import { defineKind, needsOf } from './kind.ts';

const { encoding, ...otherKeys } = delimitedKeys;

const schema = z
  .strictObject({ ...fileKeys, lineEnd: lineEndKey, encoding, delimiter: delimiterKey, ...otherKeys })
  .superRefine(checkTable);

export const csv = defineKind(schema, (settings, context) => {
  return textSource(
    settings,
    context,
    (file) => readColumns(file, settings, needsOf(context)),
    (file, job, signal) => foldInThreads(file, settings, job, { count: context.threads, signal }),
  );
});
