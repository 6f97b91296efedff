/** `type: jsonl`: files of JSON lines, also called ndjson. */
import { z } from 'zod';
import { readOn } from './files/growing.ts';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { textSource } from './files/source.ts';
import { readJsonLines } from './formats/json-lines.ts';
import { jsonLineRanges } from './formats/scan/fold.ts';
import { readRecordsBehind } from './formats/scan/json-read.ts';
import { defineKind, needsOf } from './kind.ts';

export const jsonl = defineKind(z.strictObject({ ...fileKeys, lineEnd: lineEndKey }), (settings, context) => {
  const needs = needsOf(context);
  const source = textSource(settings, context, (file) => readJsonLines(file, needs), jsonLineRanges);
  return readOn(source, settings, context, (file, end) => readRecordsBehind(file, needs, end));
});
