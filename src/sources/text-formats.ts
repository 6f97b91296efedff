/** The text formats of content that has no file's name: an answer of an address, the output of a program. */
import { z } from 'zod';
import type { PartFile } from './files/part-file.ts';
import type { FormatReader } from './files/read-part.ts';
import { delimitedKeys, delimiterKey } from './formats/delimited.ts';
import { jsonKeys, readJsonArray } from './formats/json-array.ts';
import { readJsonLines } from './formats/json-lines.ts';
import { type ScanNeeds, readColumns } from './formats/scan/read.ts';
import { encodingKey } from './formats/encoding-key.ts';

export const textFormats = ['csv', 'tsv', 'jsonl', 'json'] as const;
/** Another name of a format. */
const alias = 'ndjson';
export type TextFormat = (typeof textFormats)[number];

/** What of `textFormatKeys`, and of `lineEnd`, each format has. */
const keysOf: Readonly<Record<TextFormat, readonly string[]>> = {
  csv: ['delimiter', 'lineEnd', ...Object.keys(delimitedKeys)],
  tsv: ['lineEnd', ...Object.keys(delimitedKeys)],
  jsonl: ['lineEnd'],
  json: ['columns', ...Object.keys(jsonKeys)],
};

/** For `foreignKey` of a kind: the formats that have a key, where the one that is named does not. */
export function formatsWith(key: string, { format }: Readonly<Record<string, unknown>>): string | undefined {
  const named = format === alias ? 'jsonl' : textFormats.find((name) => name === format);
  const having = textFormats.filter((name) => keysOf[name].includes(key));
  const isForeign = named !== undefined && having.length > 0 && !having.includes(named);
  return isForeign ? `to format: ${having.join(' or ')}` : undefined;
}

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
