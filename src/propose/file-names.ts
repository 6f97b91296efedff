/** What the names of files say and their rows do not: a month, or whose numbers they hold. */
import { type Counted, examples } from './evidence.ts';
import { escaped } from './escaped.ts';
import type { Column, Table } from './profile.ts';
import type { When } from './when.ts';
import { type TimeGuess, guessTimes } from './times.ts';

/** Files of one shape, and which of them each row is of. */
export interface NamedFiles {
  /** Without folders. */
  readonly names: readonly string[];
  /** The folder of each. */
  readonly folders: readonly string[];
  /** Numbers of names, one for each row. */
  readonly fileOf: readonly number[];
}

/** A piece of the names of all files. */
interface Piece {
  /** For `{file|match:…}`. */
  readonly pattern: string;
  /** One for each file. */
  readonly texts: readonly string[];
  readonly time: TimeGuess | undefined;
  /** What a person is told that it is. */
  readonly name?: string;
}

/** Longer ones first: each is a part of the one before it. */
const monthPatterns = [
  String.raw`\d{4}-\d{2}-\d{2}`,
  String.raw`\d{4}_\d{2}_\d{2}`,
  String.raw`\d{4}-\d{2}`,
  String.raw`\d{4}_\d{2}`,
  String.raw`\d{4}\.\d{2}`,
  String.raw`\d{4}M\d{2}`,
  String.raw`\d{2}-\d{4}`,
  String.raw`\d{2}_\d{4}`,
  String.raw`\d{2}\.\d{4}`,
  String.raw`(?:19|20)\d{6}`,
  String.raw`(?:19|20)\d{4}`,
];

/** The month that every name has; `undefined` where one has none, or has it otherwise. */
export function monthPiece(names: readonly string[]): Piece | undefined {
  for (const pattern of monthPatterns) {
    const texts = names.flatMap((name) => new RegExp(pattern).exec(name)?.[0] ?? []);
    if (texts.length < names.length) continue;
    const time = guessTimes(counted(texts), 'month');
    if (time === undefined || time.months !== 1 || time.strangers.length > 0) continue;
    return { pattern, texts, time: { ...time, because: `the file's name says it, ${time.because}` } };
  }
  return undefined;
}

/** The year that every name has, and nothing else of a date. */
export function yearPiece(names: readonly string[]): Piece | undefined {
  const pattern = String.raw`(?:19|20)\d{2}`;
  const texts = names.flatMap((name) =>
    /^\D*(?:19|20)\d{2}(?!\d)/.test(name) ? (new RegExp(pattern).exec(name)?.[0] ?? []) : [],
  );
  if (names.length === 0 || texts.length < names.length) return undefined;
  return { pattern, texts, time: undefined, name: "the year in the file's name" };
}

/** What tells the files apart beside a month, in whole words; `undefined` where it is a number, or nothing. */
export function ownerPiece(names: readonly string[]): Piece | undefined {
  const month = monthPiece(names)?.pattern;
  const bare = names.map((name) => (month === undefined ? name : name.replace(new RegExp(month), monthMark)));
  const start = commonStart(bare).replace(/[\p{L}\d]+$/u, '');
  const end = backwards(commonStart(bare.map((name) => backwards(name.slice(start.length))))).replace(
    /^[\p{L}\d]+/u,
    '',
  );
  const texts = bare.map((name) => name.slice(start.length, name.length - end.length));
  // Braces and bars have a meaning of their own in a template.
  if (/[{}|]/.test(start + end)) return undefined;
  const isTold = new Set(texts).size > 1 && texts.every((text) => /\p{L}/u.test(text) && !text.includes(monthMark));
  if (!isTold) return undefined;
  const written = (text: string): string => text.split(monthMark).map(escaped).join(month);
  return { pattern: `^${written(start)}(.+)${written(end)}$`, texts, time: undefined };
}

/** Stands in a name for its month: no name of a file has it. */
const monthMark = '\0';

function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) length++;
  return first.slice(0, length);
}

function backwards(text: string): string {
  return [...text].reverse().join('');
}

/** The table with a column for a piece of the names of its files. */
export function withPiece(
  table: Table,
  { fileOf }: NamedFiles,
  { pattern, texts, time, name = "the file's name" }: Piece,
): Table {
  const of = (row: number): string => texts[fileOf[row] ?? 0] ?? '';
  const column: Column = {
    name,
    ref: `file|match:${pattern}`,
    at: table.columns.length,
    texts: counted(table.rows.map((_row, at) => of(at))),
    empty: 0,
    time,
    number: undefined,
    isOfFile: true,
  };
  return {
    ...table,
    columns: [...table.columns, column],
    rows: table.rows.map((row, at) => [...padded(row, column.at), of(at)]),
  };
}

function padded(row: readonly string[], width: number): readonly string[] {
  return Array.from({ length: width }, (_, at) => row[at] ?? '');
}

/** How many rows have the names and the time of a row of another file. */
export function countShared({ rows }: Table, { fileOf }: NamedFiles, columns: readonly Pick<Column, 'at'>[]): number {
  const seen = new Map<string, number>();
  let shared = 0;
  for (const [index, row] of rows.entries()) {
    const key = JSON.stringify(columns.map(({ at }) => row[at]));
    const file = fileOf[index] ?? 0;
    if (!seen.has(key)) seen.set(key, file);
    else if (seen.get(key) !== file) shared++;
  }
  return shared;
}

/** No template can name a folder: what only the folder says is lost, and its numbers count together with those of another. */
export function doubtOfFolders(
  table: Table,
  { names, folders, fileOf }: NamedFiles,
  columns: readonly Pick<Column, 'at'>[],
): readonly string[] {
  const all = [...new Set(folders)];
  const shared = countShared(
    table,
    { names, folders, fileOf: fileOf.map((file) => all.indexOf(folders[file] ?? '')) },
    columns,
  );
  if (shared === 0) return [];
  const shown = examples(all.map((folder) => (folder === '' ? '.' : folder.replace(/(?<=.)\/$/, ''))));
  const rows = shared === 1 ? 'row has the names and the time of a row' : 'rows have the names and the time of a row';
  return [
    `whether the numbers of ${shown} count together: ${shared} ${rows} of another folder; if not, write a source for each folder, with its name in the path`,
  ];
}

/** A day in a name may be when the file was made. */
export function doubtOfFileTime({ columns, format }: Pick<When, 'columns' | 'format'>): readonly string[] {
  const [only] = columns;
  if (only?.isOfFile !== true || !(/d/.test(format) || /^\d{4}-\d\d-/.test([...only.texts.keys()][0] ?? ''))) return [];
  return [
    `whether the day in the file's name, such as ${examples(only.texts.keys(), 1)}, is of the month that the numbers are of`,
  ];
}

function counted(texts: readonly string[]): Counted {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
