/** `type: csv`: files of delimited text. */
import { z } from 'zod';
import { delimitedFiles } from './delimited-files.ts';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { delimitedKeys, delimiterKey } from './formats/delimited.ts';
import { checkTable } from './formats/table.ts';
import { defineKind } from './kind.ts';

const { encoding, ...otherKeys } = delimitedKeys;

const schema = z
  .strictObject({ ...fileKeys, lineEnd: lineEndKey, encoding, delimiter: delimiterKey, ...otherKeys })
  .superRefine(checkTable);

export const csv = defineKind(schema, (settings, context) => delimitedFiles(settings, context));
