/** The text formats of content that has no file's name: an answer of an address, the output of a program. */
import { z } from 'zod';
import type { PartFile } from './files/part-file.ts';
import type { FormatReader } from './files/read-part.ts';
import { delimitedKeys, delimiterKey } from './formats/delimited.ts';
import { jsonKeys, readJsonArray } from './formats/json-array.ts';
import { readJsonLines } from './formats/json-lines.ts';
import { type ScanNeeds, readColumns } from './formats/scan/read.ts';
import { encodingKey } from './formats/text.ts';

export const textFormats = ['csv', 'tsv', 'jsonl', 'json'] as const;
/** Another name of a format. */
const alias = 'ndjson';
export type TextFormat = (typeof textFormats)[number];

export const textFormatKey = z.enum([...textFormats, alias]).transform((name) => (name === alias ? 'jsonl' : name));

/** A schema that has them is refined by `checkTable`. */
export const textFormatKeys = {
  ...delimitedKeys,
  encoding: encodingKey.unwrap().optional(),
  delimiter: delimiterKey,
  ...jsonKeys,
};

/** The output of `textFormatKeys`. */
export type TextFormatSettings = z.output<z.ZodObject<typeof textFormatKeys>>;

/** How such content is read. */
export function textReader(
  format: TextFormat,
  settings: TextFormatSettings & { readonly encoding: string },
  needs: ScanNeeds,
): FormatReader {
  switch (format) {
    case 'jsonl':
      return (file: PartFile) => readJsonLines(file, needs);
    case 'json':
      return (file: PartFile) => readJsonArray(file, settings, needs);
    default: {
      const delimiter = format === 'tsv' ? '\t' : settings.delimiter;
      return (file: PartFile) => readColumns(file, { ...settings, delimiter }, needs);
    }
  }
}
