/** `type: tsv`: files of text between tabs, quoted as csv. */
import { z } from 'zod';
import { fileKeys, lineEndKey, textSource } from './files/place.ts';
import { delimitedKeys, readDelimited } from './formats/delimited.ts';
import { checkTable } from './formats/table.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, lineEnd: lineEndKey, ...delimitedKeys }).superRefine(checkTable);

export const tsv = defineKind(schema, (settings, context) =>
  textSource(settings, context, (file) => readDelimited(file, { ...settings, delimiter: '\t' })),
);
