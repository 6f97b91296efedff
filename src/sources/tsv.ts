/** `type: tsv`: files of text between tabs, quoted as csv. */
import { z } from 'zod';
import { delimitedFiles } from './delimited-files.ts';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { delimitedKeys } from './formats/delimited.ts';
import { checkTable } from './formats/table.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, lineEnd: lineEndKey, ...delimitedKeys }).superRefine(checkTable);

export const tsv = defineKind(schema, (settings, context) => delimitedFiles({ ...settings, delimiter: '\t' }, context));
