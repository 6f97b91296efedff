/** `type: parquet`: files of columns. */
import { z } from 'zod';
import { fileKeys } from './files/keys.ts';
import { fileSource } from './files/source.ts';
import { readParquet } from './formats/parquet.ts';
import { defineKind } from './kind.ts';

export const parquet = defineKind(z.strictObject(fileKeys), (settings, context) =>
  fileSource(settings, context, readParquet),
);
