/** `type: json`: files of one JSON document each, with a list of records in it. */
import { z } from 'zod';
import { fileKeys } from './files/keys.ts';
import { fileSource } from './files/source.ts';
import { checkRows, columnsKey, jsonKeys, readJsonArray } from './formats/json-array.ts';
import { defineKind, needsOf } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, ...jsonKeys, columns: columnsKey }).superRefine(checkRows);

export const json = defineKind(schema, (settings, context) =>
  fileSource(settings, context, (file) => readJsonArray(file, settings, needsOf(context))),
);
