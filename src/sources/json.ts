/** `type: json`: files of one JSON document each, with a list of records in it. */
import { z } from 'zod';
import { fileKeys, fileSource } from './files/place.ts';
import { itemsKey, readJsonArray } from './formats/json-array.ts';
import { defineKind, needsOf } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, items: itemsKey });

export const json = defineKind(schema, (settings, context) =>
  fileSource(settings, context, (file) => readJsonArray(file, settings, needsOf(context))),
);
