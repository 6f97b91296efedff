/** The table of one source: its columns, and what stands in them for one fact of the books. The inverse of the source's mapping. */
import type { Mapping, SourceSettings } from '../../core/settings.ts';
import { type Template, onlyPlaceholder, renderName, templateColumns } from '../../core/mapping/template.ts';
import { unpivotNames } from '../../core/mapping/unpivot.ts';
import { sharedTexts } from '../world/place.ts';
import { fieldsOf } from './template-fields.ts';
import { textsFor } from './texts.ts';
import { type Style, writeTime } from './times.ts';

/** Columns that every part has without having them. */
const sharedColumns = new Set(Object.keys(sharedTexts('')));

export interface Grid {
  readonly mapping: Mapping;
  /** Columns of long rows that hold numbers, each with the entry whose format it has. */
  readonly valueColumns: readonly { readonly column: string; readonly entry: number }[];
  /** Texts of the columns that name drivers, by item. */
  readonly items: readonly ReadonlyMap<string, string>[];
  /** Columns of the part that are not unpivoted. */
  readonly keptColumns: readonly string[];
  readonly unpivoted: readonly string[];
  readonly isWide: boolean;
  readonly style: Style;
  /** Names of drivers have something of the name of their part. */
  readonly isNamedByPart: boolean;
}

/** Why no table can be made for a mapping. */
export interface NoGrid {
  readonly why: string;
}

/** @param itemsMax how many distinct combinations of names there may be */
export function gridFor(mapping: Mapping, itemsMax: number, style: Style): Grid | NoGrid {
  const { drivers, where, fillDown, unpivot } = mapping;
  const timeColumns = new Set(drivers.flatMap(({ time }) => templateColumns(time.from)));
  const valueColumns: { column: string; entry: number }[] = [];
  for (const [entry, { value }] of drivers.entries()) {
    const columns = templateColumns(value.from);
    const [column] = columns;
    if (column === undefined) return { why: `drivers[${entry}].value names no column` };
    if (!isNumberAlone(value.from)) return { why: `drivers[${entry}].value is not the number of a column alone` };
    if (valueColumns.every((known) => known.column !== column)) valueColumns.push({ column, entry });
  }
  const isValue = new Set(valueColumns.map(({ column }) => column));
  const named = drivers
    .flatMap(({ id, path }) => [...(id === undefined ? [] : [id]), ...path])
    .flatMap(templateColumns);
  const textColumns = [...new Set([...named, ...where.map(({ column }) => column), ...fillDown])].filter(
    (column) => !timeColumns.has(column) && !isValue.has(column) && !sharedColumns.has(column),
  );
  const asked = [...named, ...where.map(({ column }) => column), ...timeColumns].find((column) => isValue.has(column));
  if (asked !== undefined) return { why: `column "${asked}" has its numbers, and is asked for something else too` };
  const items = itemsOf(textColumns, new Set(named), mapping, itemsMax);
  if ('why' in items) return items;
  const unpivoted = unpivot === undefined ? [] : unpivotNames(unpivot);
  const all = new Set([...textColumns, ...timeColumns, ...isValue]);
  const kept = [...all].filter((column) => !unpivoted.includes(column) && !sharedColumns.has(column));
  return {
    mapping,
    valueColumns,
    items: items.list,
    keptColumns: placed(kept),
    unpivoted,
    isWide: unpivot !== undefined,
    style,
    isNamedByPart: named.some((column) => sharedColumns.has(column)),
  };
}

/** Whether a template is what stands in a column, and nothing is put before, behind or in its place. */
function isNumberAlone(template: Template): boolean {
  const harmless = new Set(['trim', 'default', 'lower', 'upper']);
  return onlyPlaceholder(template)?.filters.every(({ name }) => harmless.has(name)) === true;
}

function itemsOf(
  columns: readonly string[],
  naming: ReadonlySet<string>,
  mapping: Mapping,
  itemsMax: number,
): { readonly list: readonly ReadonlyMap<string, string>[] } | NoGrid {
  const texts = columns.map((column) => ({ column, texts: textsFor(column, mapping), isName: naming.has(column) }));
  const empty = texts.find((one) => one.texts.length === 0);
  if (empty !== undefined) return { why: `no text is known that column "${empty.column}" may hold` };
  const list: ReadonlyMap<string, string>[] = [];
  const names = new Set<string>();
  for (let number = 0; list.length < itemsMax && number < 4 * itemsMax; number++) {
    let rest = number;
    const item = new Map<string, string>();
    for (const { column, texts: all, isName } of texts) {
      item.set(column, all[isName ? rest % all.length : 0] as string);
      if (isName) rest = Math.floor(rest / all.length);
    }
    const name = JSON.stringify([...item]);
    if (!names.has(name)) list.push(item);
    names.add(name);
  }
  return { list };
}

/** `#3` is the third column, whatever its name: the others take the places that are left. */
function placed(columns: readonly string[]): readonly string[] {
  const places = new Map(
    columns.flatMap((column) => {
      const [, place] = /^#(\d+)$/.exec(column) ?? [];
      return place === undefined ? [] : [[Number(place) - 1, column] as const];
    }),
  );
  const named = columns.filter((column) => !/^#\d+$/.test(column));
  const width = Math.max(columns.length, ...[...places.keys()].map((place) => place + 1));
  const made: string[] = [];
  for (let at = 0; at < width; at++) made.push(places.get(at) ?? named.shift() ?? `column ${at + 1}`);
  return made;
}

/** A row before it is unpivoted backwards: texts by column. */
export type LongRow = ReadonlyMap<string, string>;

/** By grid and day: all histories of a config ask for the same ones. */
const knownFields = new WeakMap<Grid, Map<number, LongRow | undefined>>();

/** The texts of the time columns of a day; `undefined` where the mapping's format cannot be written. */
export function timeFields(grid: Grid, month: number, day: number): LongRow | undefined {
  const known = knownFields.get(grid) ?? new Map<number, LongRow | undefined>();
  knownFields.set(grid, known);
  const key = month * 32 + day;
  if (!known.has(key)) known.set(key, fieldsOfDay(grid, month, day));
  return known.get(key);
}

function fieldsOfDay({ mapping, style }: Grid, month: number, day: number): LongRow | undefined {
  const fields = new Map<string, string>();
  for (const { time } of mapping.drivers) {
    const text = writeTime({ month, day }, time.format, style);
    const found = text === undefined ? undefined : fieldsOf(time.from, text);
    if (found === undefined) return undefined;
    for (const [column, field] of found) {
      if (fields.has(column) && fields.get(column) !== field) return undefined;
      fields.set(column, field);
    }
  }
  return fields;
}

/** The id of a driver. Names are read by the agent's own templates; times and numbers never are. */
export function driverOf(
  { id, path }: SourceSettings['mapping']['drivers'][number],
  row: LongRow,
  { maps, part }: { readonly maps: Mapping['maps']; readonly part: string },
): string | undefined {
  const shared = sharedTexts(part);
  const field = (column: string): string => row.get(column) ?? shared[column] ?? '';
  const rendered = (template: Template): string | undefined => {
    const text = renderName(template, field, maps);
    return typeof text === 'string' ? text : undefined;
  };
  if (id !== undefined) return rendered(id);
  const elements = path.map(rendered);
  return elements.includes(undefined) ? undefined : elements.join('/');
}
