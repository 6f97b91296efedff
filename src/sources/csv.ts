/** `type: csv`: files of delimited text. */
import { z } from 'zod';
import { fileKeys, lineEndKey, textSource } from './files/place.ts';
import { delimitedKeys, delimiterKey, readDelimited } from './formats/delimited.ts';
import { checkTable } from './formats/table.ts';
import { defineKind } from './kind.ts';

const { encoding, ...otherKeys } = delimitedKeys;

const schema = z
  .strictObject({ ...fileKeys, lineEnd: lineEndKey, encoding, delimiter: delimiterKey, ...otherKeys })
  .superRefine(checkTable);

export const csv = defineKind(schema, (settings, context) =>
  textSource(settings, context, (file) => readDelimited(file, settings)),
);
