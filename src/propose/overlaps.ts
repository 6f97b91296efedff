/** Rows that stand in more than one file: exports that show again what an earlier one had, or bookings that add up. */
import { examples } from './evidence.ts';
import type { NamedFiles } from './file-names.ts';
import { type Line, plain } from './lines.ts';
import type { Column, Table } from './profile.ts';

export interface Overlap {
  /**
   * `full`: one file has the rows of all others. `again`: files have rows of each other, and none has all of them. `unclear`: some of
   * these rows are equal, which may be chance.
   */
  readonly kind: 'full' | 'again' | 'unclear';
  /** Rows that have the names and the time of a row of another file. */
  readonly rows: number;
  /** Those of them that have its values too, to the digit. */
  readonly equal: number;
  /** The largest of the files, which alone says how often a driver has several readings. */
  readonly file: number;
  readonly fileName: string;
}

/** Rows of one key in one file, by what they say. */
type InFiles = ReadonlyMap<number, readonly string[]>;

type Placed = readonly Pick<Column, 'at'>[];

/** @param named the columns of the names and the time. @param values those of the numbers */
export function findOverlap(
  { rows }: Table,
  { names, folders, fileOf }: NamedFiles,
  { named, values }: { readonly named: Placed; readonly values: Placed },
): Overlap | undefined {
  // What a folder says is asked elsewhere.
  if (names.length < 2 || new Set(folders).size > 1 || values.length === 0) return undefined;
  const byKey = new Map<string, Map<number, string[]>>();
  for (const [index, row] of rows.entries()) {
    const key = textsOf(row, named);
    const files = byKey.get(key) ?? new Map<number, string[]>();
    byKey.set(key, files);
    const file = fileOf[index] ?? 0;
    files.set(file, [...(files.get(file) ?? []), textsOf(row, values)]);
  }
  const keys = [...byKey.values()];
  const told = { rows: 0, equal: 0, texts: new Set<string>() };
  for (const files of keys) countEqual(files, told);
  // Few rows, and numbers that are nearly all the same, are equal by chance.
  if (told.rows === 0 || told.equal * 5 < told.rows) return undefined;
  const isSure = told.equal * 5 >= told.rows * 4 && told.rows >= 3 && told.texts.size >= Math.min(told.rows, 5);
  const { file, hasAll } = largestOf(keys);
  const kind = !isSure ? 'unclear' : hasAll ? 'full' : 'again';
  return { kind, rows: told.rows, equal: told.equal, file, fileName: names[file] ?? '' };
}

function textsOf(row: readonly string[], columns: Placed): string {
  return JSON.stringify(columns.map(({ at }) => (row[at] ?? '').trim()));
}

function countEqual(files: InFiles, told: { rows: number; equal: number; readonly texts: Set<string> }): void {
  const [first = [], ...others] = [...files.values()].map((texts) => texts.toSorted());
  for (const texts of others) {
    told.rows += texts.length;
    if (JSON.stringify(texts) !== JSON.stringify(first)) continue;
    told.equal += texts.length;
    for (const text of texts) told.texts.add(text);
  }
}

/** The file with the most keys, and whether it has nearly all of those that any other one has: a few are taken back from export to export. */
function largestOf(keys: readonly InFiles[]): { readonly file: number; readonly hasAll: boolean } {
  const sizes = new Map<number, number>();
  for (const files of keys) for (const file of files.keys()) sizes.set(file, (sizes.get(file) ?? 0) + 1);
  // Of equal ones the later name, as a later export has.
  const [[file] = [0]] = [...sizes].toSorted(([a, many], [b, more]) => more - many || b - a);
  const shared = new Map<number, number>();
  for (const files of keys) {
    if (files.has(file)) for (const other of files.keys()) shared.set(other, (shared.get(other) ?? 0) + 1);
  }
  return { file, hasAll: [...sizes].every(([other, size]) => (shared.get(other) ?? 0) * 10 >= size * 9) };
}

export function describeOverlap({ rows, equal }: Overlap): string {
  return `${equal} of ${rows} rows that have the names and the time of a row of another file are equal to it`;
}

/** The rows of one file, where others show them again. */
export function ownRows(table: Table, { fileOf }: NamedFiles, overlap: Overlap | undefined): Table {
  if (overlap === undefined || overlap.kind === 'unclear') return table;
  return { ...table, rows: table.rows.filter((_row, at) => fileOf[at] === overlap.file) };
}

export function partsLine(overlap: Overlap | undefined): readonly Line[] {
  if (overlap?.kind !== 'full') return [];
  const beside = `${describeOverlap(overlap)}, and ${examples([overlap.fileName])} has what the others have: full exports`;
  return [{ key: 'parts', value: plain('newest'), beside }];
}

/** @param adds what the files are proposed to do with several readings */
export function doubtOfOverlap(overlap: Overlap | undefined, adds: boolean): readonly string[] {
  if (overlap === undefined || overlap.kind === 'full' || (overlap.kind === 'again' && !adds)) return [];
  const ways =
    'where an export shows again what an earlier one had, write parts: newest (each has all of it), or collapse: last';
  return [`whether files count together: ${describeOverlap(overlap)}; collapse: sum counts them twice: ${ways}`];
}

/** Files whose names say whose they are, and that have the same numbers. */
export function doubtOfCopies(overlap: Overlap | undefined): readonly string[] {
  if (overlap === undefined || overlap.kind === 'unclear') return [];
  return [`whether all of these files are wanted: ${describeOverlap(overlap)}; leave out what is a copy`];
}
