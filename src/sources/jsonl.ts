/** `type: jsonl`: files of JSON lines, also called ndjson. */
import { z } from 'zod';
import { fileKeys, fileSource } from './files/place.ts';
import { readJsonLines } from './formats/json-lines.ts';
import { defineKind } from './kind.ts';

export const jsonl = defineKind(z.strictObject(fileKeys), (settings, context) =>
  fileSource(settings, context, readJsonLines),
);
