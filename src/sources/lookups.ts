/** Tables beside a source: maps and a calendar, each a file of delimited text that is read anew with its source. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Calendar, parseCalendar } from '../core/time/calendar.ts';
import { columnHint } from '../core/mapping/columns.ts';
import { AgentError } from '../core/errors.ts';
import type { Content, Row, RowBatch } from '../core/model.ts';
import type { Clock, LookupText, Lookups, TextEnd } from '../core/ports.ts';
import type { LookupFile, LookupFiles, MapFile } from '../core/settings.ts';
import { trimWhiteSpace } from '../core/text.ts';
import { fileKeys } from './files/keys.ts';
import { listParts } from './files/list-parts.ts';
import { placeOf } from './files/place.ts';
import { type FormatContent, readPart, readTextEnd } from './files/read-part.ts';
import { delimiterKey, readDelimited } from './formats/delimited.ts';
import { megabytes } from './limits.ts';
import { isRemote, unknownAddress } from './remote/address.ts';
import { encodingKey } from './formats/encoding-key.ts';
import { filePath } from './path-key.ts';

/** The keys of a file with a table. */
export const lookupKeys = {
  file: filePath
    .superRefine((text, context) => {
      if (!isRemote(text) && unknownAddress(text) === undefined) return;
      const hint = 'bring a copy beside the config, with rclone, curl or scp';
      context.addIssue({ code: 'custom', message: 'a map or a calendar is a file of this machine', params: { hint } });
    })
    .describe('Its name, relative to the config file. It is a file of this machine.'),
  delimiter: delimiterKey
    .unwrap()
    .optional()
    .describe('As in a source. Default: a comma, or a tab for a name that ends in `.tsv`.'),
  encoding: encodingKey,
  settle: fileKeys.settle,
};

export interface LookupPlace {
  /** Absolute; paths of the config are relative to it. */
  readonly baseDir: string;
  readonly clock: Clock;
  /** As of a source. */
  readonly forbidden?: readonly string[];
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** @throws AgentError `source.unreadable` or `part.unreadable`: what is wrong with which file */
export async function readLookups(files: LookupFiles, place: LookupPlace, signal: AbortSignal): Promise<Lookups> {
  const hash = createHash('sha256');
  const named: LookupText[] = [];
  const read = async <T>(file: LookupFile, parse: (table: Table) => T): Promise<T> => {
    const { parsed, content, end } = await readTable(file, place, signal, parse);
    hash.update(`${JSON.stringify(file.file)} ${content.hash}\n`);
    named.push({ file: file.file, version: content.version, end });
    return parsed;
  };
  const maps: Record<string, Readonly<Record<string, string>>> = {};
  for (const [name, map] of Object.entries(files.maps)) maps[name] = await read(map, (table) => parseMap(map, table));
  const { calendar: year } = files;
  const calendar = year && (await read(year, ({ columns, rows }): Calendar => parseCalendar(columns, rows, year.file)));
  const isNone = calendar === undefined && Object.keys(maps).length === 0;
  return { maps, calendar, hash: isNone ? '' : hash.digest('hex'), files: named };
}

/** UTF-16 units of all texts of a table: a million lines of a chart of accounts. */
const tableLengthMax = 64_000_000;

/** The other keys are as in a source of one file. Made for each table: few configs have one, and every start would wait for them. */
const fileDefaults = () => z.object(fileKeys).omit({ files: true, settle: true }).parse({});

/** Reads the whole table and parses it as part of the read, so that a bad table is a failure of its file. */
async function readTable<T>(
  { file, delimiter, encoding, settle }: LookupFile,
  where: LookupPlace,
  signal: AbortSignal,
  parse: (table: Table) => T,
): Promise<{ readonly parsed: T; readonly content: Content; readonly end: TextEnd }> {
  const place = placeOf({ ...fileDefaults(), files: [file], settle }, where);
  const parts = await listParts(place, signal);
  const part = parts[0];
  if (part === undefined || parts.length > 1) {
    throw new AgentError('source.unreadable', `${file} names ${parts.length} files`, { hint: 'name one file' });
  }
  const mark = delimiter ?? (file.endsWith('.tsv') ? '\t' : ',');
  const settings = { delimiter: mark, encoding, skipRows: 0, footer: 0 };
  let parsed: { readonly value: T } | undefined;
  const reading = readPart(place, part, signal, async function* whole(opened) {
    const { table, content } = await gather(file, readDelimited(opened, settings));
    parsed = { value: parse(table) };
    yield { columns: [], rows: [] };
    return content;
  });
  for (;;) {
    const next = await reading.next();
    if (next.done !== true) continue;
    const { value } = parsed as unknown as { readonly value: T };
    const content = next.value;
    const end =
      content.endsWithLineEnd === false
        ? await readTextEnd(place, part, signal, encoding)
        : { endsWithLineEnd: true, quietMs: 0, quietNeededMs: 0 };
    return { parsed: value, content, end };
  }
}

/** All rows of a table, as far as they may be held. */
async function gather(
  file: string,
  reading: AsyncGenerator<RowBatch, FormatContent, void>,
): Promise<{ readonly table: Table; readonly content: FormatContent }> {
  const rows: Row[] = [];
  let length = 0;
  let columns: readonly string[] = [];
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { table: { columns, rows }, content: next.value };
    columns = next.value.columns;
    for (const row of next.value.rows) {
      length += row.reduce((sum, field) => sum + field.length, 0);
      if (length > tableLengthMax) {
        throw new AgentError(
          'part.unreadable',
          `${file} row ${rows.length + 1}: the table is over ${megabytes(tableLengthMax)}`,
          { hint: 'a map or calendar is held in memory whole: is this the right file?' },
        );
      }
      rows.push(row);
    }
  }
}

function parseMap({ file, from, to }: MapFile, { columns, rows }: Table): Readonly<Record<string, string>> {
  const fromAt = columnAt(file, columns, from, 0);
  const toAt = columnAt(file, columns, to, 1);
  const map = new Map<string, { readonly text: string; readonly row: number }>();
  for (const [index, row] of rows.entries()) {
    if (row.length !== columns.length) {
      throw new AgentError(
        'part.unreadable',
        `${file} row ${index + 1}: ${row.length} fields, expected ${columns.length}`,
      );
    }
    const key = trimWhiteSpace(row[fromAt] as string);
    const text = row[toAt] as string;
    const before = map.get(key);
    if (before !== undefined && before.text !== text) {
      const both = `rows ${before.row} and ${index + 1} give ${JSON.stringify(key)} two meanings`;
      throw new AgentError('part.unreadable', `${file}: ${both}`, { hint: 'leave one of the two out' });
    }
    map.set(key, before ?? { text, row: index + 1 });
  }
  return Object.fromEntries([...map].map(([key, { text }]) => [key, text]));
}

function columnAt(file: string, columns: readonly string[], name: string | undefined, byDefault: number): number {
  const at = name === undefined ? byDefault : columns.indexOf(name);
  if (at >= 0 && at < columns.length) return at;
  const missing = name === undefined ? 'a map needs two columns' : `there is no column "${name}"`;
  throw new AgentError('part.unreadable', `${file}: ${missing}`, { hint: columnHint(columns) });
}
