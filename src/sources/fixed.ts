/** `type: fixed`: files of text whose columns stand at fixed places. */
import { z } from 'zod';
import { fileKeys, lineEndKey } from './files/keys.ts';
import { textSource } from './files/source.ts';
import { fixedKeys, readFixed } from './formats/fixed.ts';
import { defineKind } from './kind.ts';

const schema = z.strictObject({ ...fileKeys, lineEnd: lineEndKey, ...fixedKeys });

export const fixed = defineKind(schema, (settings, context) =>
  textSource(settings, context, (file) => readFixed(file, settings)),
);
