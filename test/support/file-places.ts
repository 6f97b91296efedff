/** Places of the suite that every kind of source passes (test/sources/contract.long.e2e.test.ts): those that are one file of text. */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Source } from '../../src/core/ports.ts';
import { trimWhiteSpace } from '../../src/core/text.ts';
import { openSource, tempDir } from './source-world.ts';

/** Where a source reads a table from. */
export interface Place {
  readonly source: Source;
  /** Puts this table there, instead of the one before. */
  write(table: Table): Promise<void>;
  remove(): Promise<void>;
  /** A row of empty texts alone is no row there. */
  readonly losesEmptyRows?: boolean;
  /** Each row names its columns, so that a table without rows has none. */
  readonly namesColumnsByRow?: boolean;
  /** Where a text cannot be any: whether one can stand there. */
  readonly holds?: (text: string) => boolean;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A place that is one file, whose bytes `encode` makes of a table. */
export async function textFile(
  type: string,
  name: string,
  encode: (table: Table) => string | Uint8Array,
): Promise<Place> {
  const dir = await tempDir();
  const file = path.join(dir, name);
  return {
    source: openSource(type, { files: [name] }, dir),
    write: (table) => writeFile(file, encode(table)),
    remove: () => rm(file),
  };
}

export function delimited({ columns, rows }: Table, delimiter: string): string {
  const quoted = (fields: readonly string[]): string =>
    `${fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(delimiter)}\n`;
  return [columns, ...rows].map(quoted).join('');
}

/** Not by JSON.stringify of objects, which have no key twice. */
export function jsonRecords({ columns, rows }: Table): readonly string[] {
  return rows.map((row) => `{${columns.map((key, at) => `${JSON.stringify(key)}:${JSON.stringify(row[at])}`).join()}}`);
}

/** Its config names the columns, and no line of the file does: it is opened anew for each table. */
export async function fixedFile(): Promise<Place> {
  const dir = await tempDir();
  const file = path.join(dir, 'revenue.txt');
  const width = 60;
  const opened = (columns: readonly string[]): Source => {
    const cut = columns.map((name, at) => [name, `${at * width + 1}-${(at + 1) * width}`]);
    return openSource('fixed', { files: ['revenue.txt'], columns: Object.fromEntries(cut) as object }, dir);
  };
  let source = opened(['date', 'amount']);
  const padded = (text: string): string => text + ' '.repeat(width - [...text].length);
  return {
    get source() {
      return source;
    },
    write({ columns, rows }) {
      source = opened(columns);
      return writeFile(file, `${rows.map((row) => `${row.map(padded).join('')}\n`).join('')}\n`);
    },
    remove: () => rm(file),
    losesEmptyRows: true,
    holds: (text) => text === trimWhiteSpace(text) && [...text].length <= width && !/[\r\n\uFEFF]/.test(text),
  };
}
