/** Which files are of one shape, and the glob that names them. */
import type { Guess } from './evidence.ts';
import type { Layout } from './layout.ts';
import type { Shape } from './draft.ts';
import { mergedWhere } from './footer.ts';
import { monthPiece } from './file-names.ts';
import { findWide } from './wide.ts';
import { profile } from './profile.ts';

/** Rows of one shape that are looked at. */
const rowsMax = 40_000;

/**
 * @param layouts in the order in which the files were named
 * @param neighbours the names in the folder of a file, as the config names them
 */
export function shapesOf(
  layouts: readonly Layout[],
  neighbours: (file: string) => readonly string[],
): readonly Shape[] {
  const groups = [...Map.groupBy(layouts, signatureOf).values()];
  const taken = new Set<string>();
  return groups.map((group) => {
    const [first] = group as [Layout, ...Layout[]];
    const names = group.map(({ name }) => name);
    const glob = globOf(names, neighbours(first.name));
    const stem = stemOf(names);
    const name = freeSourceName(sourceNameOf(stem), taken);
    taken.add(name);
    const alike = group.filter(({ columns }) => columns.length === widest(group).columns.length);
    return {
      name,
      stem,
      named: {
        names: alike.map((layout) => layout.name.slice(folderOf(layout.name).length)),
        folders: alike.map((layout) => folderOf(layout.name)),
        fileOf: alike.flatMap(({ rows }, file) => rows.map(() => file)).slice(0, rowsMax),
      },
      type: first.type,
      files: (glob === undefined ? names : [glob]).map(escapedGlob(glob)),
      filesBecause: becauseOf(names, glob),
      filesInstead: names.length === 1 ? datedGlob(first.name) : undefined,
      keys: mergedKeys(group),
      columns: widest(group).columns,
      rows: alike.flatMap(({ rows }) => rows).slice(0, rowsMax),
      ragged: group.reduce((sum, { ragged }) => sum + ragged, 0),
      isWhole: group.every(({ isWhole }) => isWhole),
      hasSemicolons: first.hasSemicolons,
      notes: [...new Set(group.flatMap(({ notes }) => notes))],
    };
  });
}

/** Keys that a file needs, and that harm no other of its shape. */
const ofOneFile: ReadonlySet<string> = new Set(['lineEnd', 'where']);

/** Files of one shape are read by one source: the same format and the same columns, but for those of times. */
function signatureOf({ type, keys, columns, rows, hasSemicolons }: Layout): string {
  const format = keys.filter(({ key }) => !ofOneFile.has(key)).map(({ key, value }) => [key, value]);
  const wide = findWide(
    profile(columns, rows.slice(0, 200), { form: hasSemicolons ? 'semicolons' : 'text', hasPlaces: true }),
  );
  const kept = columns.filter((column) => wide?.headers.includes(column) !== true);
  return JSON.stringify([type, format, kept, wide?.time.format]);
}

function widest(group: readonly Layout[]): Layout {
  return group.reduce((a, b) => (b.columns.length > a.columns.length ? b : a));
}

function mergedKeys(group: readonly Layout[]): readonly Guess[] {
  const [first] = group as readonly [Layout, ...Layout[]];
  const open = group.flatMap(({ keys }) => keys.filter(({ key }) => key === 'lineEnd')).slice(0, 1);
  const where = mergedWhere(group.flatMap(({ keys }) => keys));
  return [...first.keys.filter(({ key }) => !ofOneFile.has(key)), ...where, ...open];
}

function becauseOf(names: readonly string[], glob: string | undefined): string | undefined {
  if (names.length === 1) return undefined;
  return glob === undefined
    ? `${names.length} files of one shape`
    : `${names.length} files of one shape, and those that come`;
}

/** A glob for all of these and for no other name in their folder. */
function globOf(names: readonly string[], neighbours: readonly string[]): string | undefined {
  const [first = '', ...others] = names;
  if (others.length === 0) return undefined;
  const folder = folderOf(first);
  if (names.some((name) => folderOf(name) !== folder)) return undefined;
  const bare = names.map((name) => name.slice(folder.length));
  const start = commonStart(bare);
  const rest = bare.map((name) => name.slice(start.length));
  const end = [...commonStart(rest.map((name) => [...name].reverse().join('')))].reverse().join('');
  // What differs begins and ends with whole words and numbers. Of months in the names, those of another year may follow.
  const month = monthPiece(bare)?.texts[0];
  const undated = month === undefined ? start : start.slice(0, (bare[0] ?? '').indexOf(month));
  const suffix = /\.[A-Za-z][\w.]*$/.exec(end)?.[0] ?? '';
  for (const before of new Set([undated, start])) {
    const prefix = before.replace(/\d+$/, '').replace(/(?<=[^\p{L}])\p{L}+$/u, '');
    if (suffix === '' || (prefix === '' && bare.length < 3)) continue;
    if (takesOnly(bare, { prefix, suffix }, namesIn(folder, neighbours))) {
      return `${globText(folder + prefix)}*${globText(suffix)}`;
    }
  }
  return undefined;
}

/** With the slash at its end; empty for the folder of the config. */
function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

function namesIn(folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => name.slice(folder.length));
}

/** Whether a glob of these ends takes all of these names and no other. */
function takesOnly(
  names: readonly string[],
  { prefix, suffix }: { readonly prefix: string; readonly suffix: string },
  neighbours: readonly string[],
): boolean {
  const matches = (name: string): boolean =>
    name.startsWith(prefix) &&
    name.endsWith(suffix) &&
    name.length > prefix.length + suffix.length &&
    !name.startsWith('.');
  return names.every(matches) && neighbours.every((name) => !matches(name) || names.includes(name));
}

/** `revenue-2026-03.csv` may be followed by others: `revenue-*.csv`. */
function datedGlob(name: string): string | undefined {
  const [, before = '', after] = /^(.*[^\d/])(?:19|20)\d{2}(?:[-_.]?\d{2}){0,2}(\.\D.*)$/.exec(name) ?? [];
  return after === undefined ? undefined : `${globText(before)}*${globText(after)}`;
}

function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) length++;
  return first.slice(0, length);
}

function escapedGlob(glob: string | undefined): (name: string) => string {
  return (name) => (glob === undefined ? globText(name) : name);
}

/** A name as a glob of itself alone. */
function globText(name: string): string {
  return name.replaceAll(/[*?[\]{}()!@+]/g, (mark) =>
    mark === ']' || mark === ')' || mark === '}' ? mark : `[${mark}]`,
  );
}

/** `exports/Revenue-2024.csv.gz` and its like become `Revenue`. */
function stemOf(names: readonly string[]): string {
  const bare = names.map((name) =>
    name
      .slice(name.lastIndexOf('/') + 1)
      .replace(/\.(gz|zst)$/i, '')
      .replace(/\.\w+$/, ''),
  );
  // Of `2024` and `2025` the start says nothing.
  const shared = bare.length > 1 ? commonStart(bare).replace(/(?<=[^\d])\d+$/, '') : (bare[0] ?? '');
  const stem = shared
    .replace(/[-_.\s]+$/, '')
    .replace(/[-_.\s]*((19|20)\d{2}([-_.M]?\d{2}){0,2}|\d{2}[-_.](19|20)\d{2})$/, '')
    .replaceAll(/^[-_.\s]+|[-_.\s]+$/g, '');
  if (stem !== '') return stem;
  const folder = names[0]?.split('/').at(-2) ?? '';
  return /\p{L}/u.test(folder) ? folder : 'source';
}

function sourceNameOf(stem: string): string {
  const name = stem
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .toLowerCase();
  return name === '' ? 'source' : name;
}

function freeSourceName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
}
