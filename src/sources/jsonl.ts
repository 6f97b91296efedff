/** `type: jsonl`: files of JSON lines, also called ndjson. */
import { z } from 'zod';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { textSource } from './files/source.ts';
import { readJsonLines } from './formats/json-lines.ts';
import { defineKind, needsOf } from './kind.ts';

export const jsonl = defineKind(z.strictObject({ ...fileKeys, lineEnd: lineEndKey }), (settings, context) =>
  textSource(settings, context, (file) => readJsonLines(file, needsOf(context))),
);
