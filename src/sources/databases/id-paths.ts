/**
 * One id has one path, where rows are not numbered: which of several would count, that of the latest row, goes by the order of rows at
 * one moment. Ids are made of several columns, and `{region}/{product}` is `a/b/c` for two keys where names have the mark
 * between. Ids of keys without that mark are told apart by it, and have fewer marks than any other: only those with one
 * can be of two keys, and are kept.
 */
import { AgentError } from '../../core/errors.ts';
import { columnIndex } from '../../core/mapping/columns.ts';
import { type Placeholder, type Template, renderName, templateColumns } from '../../core/mapping/template.ts';
import type { Row } from '../../core/model.ts';
import type { DriverEntry, Mapping } from '../../core/settings.ts';

/** Between the names of a path, where they are the id. */
const pathMark = '/';

/** Whether ids tell paths, but for ids that `IdPaths` finds to be of two. */
export function arePathsInIds(drivers: readonly DriverEntry[]): boolean {
  const paths = new Map<string, string>();
  return drivers.every((entry) => {
    const path = JSON.stringify(entry.path.map(({ text }) => text));
    const id = entry.id?.text ?? path;
    const known = paths.get(id) ?? path;
    paths.set(id, path);
    return known === path && isPathInId(entry);
  });
}

/** Whether the columns of an entry's path stand in its id as they are, with a mark between any two. */
function isPathInId({ id, path }: DriverEntry): boolean {
  if (id === undefined) return true;
  const columns = path.flatMap(templateColumns);
  const bare = new Set(
    id.pieces.flatMap((piece) => (isPlaceholder(piece) && piece.filters.length === 0 ? [piece.column] : [])),
  );
  if (!columns.every((column) => bare.has(column))) return false;
  const isMarked = id.pieces.every((piece, at) => !isPlaceholder(piece) || !isPlaceholder(id.pieces[at + 1]));
  return isMarked || columns.length === 0 || isOfOne(id);
}

/** Absent where rows are numbered: the latest one is known then. */
export function pathsOf(
  { hasPlaces }: { readonly hasPlaces: boolean },
  { mapping, columns }: { readonly mapping: Mapping; readonly columns: readonly { readonly name: string }[] },
): IdPaths | undefined {
  if (hasPlaces) return undefined;
  const names = columns.map(({ name }) => name);
  return new IdPaths(mapping, names);
}

/** Sees the rows of an answer. */
export class IdPaths {
  readonly #entries: readonly (MarkedEntry | undefined)[];

  constructor(mapping: Mapping, columns: readonly string[]) {
    const { maps, drivers } = mapping;
    const used = new Set(
      drivers.flatMap(({ id, path }) => [...path, ...(id === undefined ? [] : [id])]).flatMap(templateColumns),
    );
    const places = new Map([...used].map((column) => [column, columnIndex(columns, column)]));
    this.#entries = drivers.map((entry) => {
      const { names, marks } = namesOf(entry);
      if (marks.length === 0) return undefined;
      const render = (template: Template, row: Row): string | undefined => {
        const name = renderName(template, (column) => row[places.get(column) ?? -1] ?? '', maps);
        return typeof name === 'string' ? name : undefined;
      };
      return new MarkedEntry(entry, { names, marks, render });
    });
  }

  /** @throws AgentError `part.unreadable` where the entry has another path for the same id */
  see(row: Row, entry: number): void {
    this.#entries[entry]?.see(row);
  }
}

interface Names {
  /** What the id is made of beside its own texts. */
  readonly names: readonly Template[];
  /** The first characters of what stands between them. */
  readonly marks: readonly string[];
}

interface Rendering extends Names {
  /** `undefined` where a column is empty, which makes a reject. */
  readonly render: (template: Template, row: Row) => string | undefined;
}

class MarkedEntry {
  readonly #entry: DriverEntry;
  readonly #rendering: Rendering;
  /** The paths of ids that two keys may have: some 150 bytes for each. */
  readonly #paths = new Map<string, string>();

  constructor(entry: DriverEntry, rendering: Rendering) {
    this.#entry = entry;
    this.#rendering = rendering;
  }

  see(row: Row): void {
    const { names, marks, render } = this.#rendering;
    const mayBeTwo = names.some((name) => {
      const text = render(name, row);
      return text !== undefined && marks.some((mark) => text.includes(mark));
    });
    if (!mayBeTwo) return;
    const rendered = this.#entry.path.map((name) => render(name, row));
    const id = this.#entry.id === undefined ? rendered.join(pathMark) : render(this.#entry.id, row);
    if (id === undefined || rendered.includes(undefined)) return;
    const path = JSON.stringify(rendered);
    const known = this.#paths.get(id);
    if (known === undefined) this.#paths.set(id, path);
    else if (known !== path) {
      throw new AgentError(
        'part.unreadable',
        `the id "${id}" has two paths, ${known} and ${path}, and pushdown cannot say which counts`,
        {
          hint: 'write an id with a mark between its columns that their texts do not have, such as "{region}|{product}", or leave pushdown out',
        },
      );
    }
  }
}

function namesOf({ id, path }: DriverEntry): Names {
  if (id === undefined) {
    const names = path.filter((name) => name.pieces.some(isPlaceholder));
    return { names, marks: names.length < 2 ? [] : [pathMark] };
  }
  if (path.flatMap(templateColumns).length === 0 || isOfOne(id)) return { names: [], marks: [] };
  const at = [...id.pieces.keys()].filter((index) => isPlaceholder(id.pieces[index]));
  const names = at.map((index): Template => ({ text: '', pieces: [id.pieces[index] as Placeholder] }));
  const between = id.pieces.slice(at[0], at.at(-1));
  return { names, marks: between.flatMap((piece) => (isPlaceholder(piece) ? [] : [piece.charAt(0)])) };
}

/** Whether all of an id is one column as it is. */
function isOfOne(id: Template): boolean {
  const placeholders = id.pieces.filter(isPlaceholder);
  const columns = new Set(placeholders.map(({ column }) => column));
  return columns.size === 1 && placeholders.every(({ filters }) => filters.length === 0);
}

function isPlaceholder(piece: string | Placeholder | undefined): piece is Placeholder {
  return typeof piece === 'object';
}
