/** Whether a mapping fits the columns of a part, and what to do where it does not. */
import type { SharedTexts } from '../model.ts';
import type { Mapping, Unpivot } from '../settings.ts';
import { type Template, literalText, templateColumns } from './template.ts';
import type { ColumnNeed } from './column-batch.ts';
import { unpivot, unpivotNames, valueGroup } from './unpivot.ts';
import { writtenBy } from './value-marks.ts';

/** Something that a mapping needs and its source lacks: a column, or a rule that a database can collapse by. */
export interface MappingProblem {
  /** Where the source's config needs it, such as `['drivers', 0, 'time']`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string;
  /** The column that is not there. */
  readonly column?: string;
}

/** Where a column stands that a mapping names: by its name, or by its place as `#3` whatever the headers are; -1: nowhere. */
export function columnIndex(columns: readonly string[], name: string): number {
  const place = placeNamed(name);
  if (place === 0) return columns.indexOf(name);
  return place <= columns.length ? place - 1 : -1;
}

/** The place that a name such as `#3` means, from 1; 0 for any other. */
function placeNamed(name: string): number {
  return Number(/^#([1-9]\d{0,5})$/.exec(name)?.[1] ?? 0);
}

/** The furthest place that a mapping names, from 1; 0 where it names none. */
export function furthestPlace(mapping: Mapping): number {
  return Math.max(0, ...columnsNamed(mapping).map(placeNamed));
}

/** The text that all rows share under this name; `undefined` where there is none. */
function sharedText(shared: SharedTexts, name: string): string | undefined {
  return Object.hasOwn(shared, name) ? shared[name] : undefined;
}

/** Whether a mapping names one of these. */
export function namesShared(mapping: Mapping, names: readonly string[]): boolean {
  return columnsNamed(mapping).some((name) => names.includes(name));
}

function columnsNamed({ where, fillDown, drivers }: Mapping): readonly string[] {
  const templates = drivers.flatMap(({ id, path, time, value }) => [id ?? [], path, time.from, value.from].flat());
  return [...where.map(({ column }) => column), ...fillDown, ...templates.flatMap(templateColumns)];
}

const none: SharedTexts = {};

/** All that a mapping needs and these columns of a part lack. */
export function columnProblems(mapping: Mapping, columns: readonly string[], shared = none): readonly MappingProblem[] {
  const problems: MappingProblem[] = mapping.unpivot === undefined ? [] : unpivotProblems(mapping.unpivot, columns);
  // Whatever is wrong with an unpivot, the columns that it makes are named by the config.
  const names = mapping.unpivot === undefined ? columns : unpivot(mapping.unpivot, columns).names;
  const lack = (path: MappingProblem['path'], column: string, there: readonly string[]): void => {
    const hint = /^#\d+$/.test(column) ? `the columns are #1 to #${columns.length}` : columnHint(there);
    problems.push({ path, message: `there is no column "${column}"`, hint, column });
  };
  const need = (path: MappingProblem['path'], needed: readonly string[]): void => {
    for (const column of new Set(needed)) {
      const isThere = placeNamed(column) > 0 ? columnIndex(columns, column) >= 0 : names.includes(column);
      if (!isThere && sharedText(shared, column) === undefined) lack(path, column, names);
    }
  };
  for (const [index, column] of mapping.fillDown.entries()) {
    if (columnIndex(columns, column) < 0) lack(['fillDown', index], column, columns);
  }
  for (const { column } of mapping.where) need(['where', column], [column]);
  for (const [index, entry] of mapping.drivers.entries()) {
    if (entry.id !== undefined) need(['drivers', index, 'id'], templateColumns(entry.id));
    for (const [element, template] of entry.path.entries()) {
      need(['drivers', index, 'path', element], templateColumns(template));
    }
    need(['drivers', index, 'time'], templateColumns(entry.time.from));
    need(['drivers', index, 'value'], templateColumns(entry.value.from));
  }
  return problems;
}

/**
 * Texts of entries that are also names of columns: `path: [Sales, region]` is mostly meant as `{region}`. A measure may have
 * the name of the column of its value: `path: [Sales, orders]` beside `value: "{orders}"`.
 */
export function literalWarnings(mapping: Mapping, columns: readonly string[]): readonly string[] {
  const names = mapping.unpivot === undefined ? columns : unpivot(mapping.unpivot, columns).names;
  return mapping.drivers.flatMap(({ id, path, time, value }, entry) => {
    const measures = templateColumns(value.from);
    const templates: readonly (readonly [key: string, template: Template | undefined])[] = [
      ['id', id],
      ...path.map((template, element) => [`path[${element}]`, template] as const),
      ['time', time.from],
      ['value', value.from],
    ];
    return templates.flatMap(([key, template]) => {
      const literal = template === undefined ? undefined : literalText(template)?.trim();
      if (literal === undefined || literal === '' || !names.includes(literal) || measures.includes(literal)) return [];
      return `drivers[${entry}].${key} is the text "${literal}" in every row, and "${literal}" is a column: write "{${literal}}" for its fields`;
    });
  });
}

/** Columns that a mapping takes by their place though a name would do: where a column is added before one, its place is another one's. */
export function placeWarnings(mapping: Mapping, columns: readonly string[]): readonly string[] {
  // A column that became rows can be named by its place alone.
  const names = mapping.unpivot === undefined ? columns : unpivot(mapping.unpivot, columns).names;
  return [...new Set(columnsNamed(mapping))].flatMap((named) => {
    const name = placeNamed(named) > 0 ? names[placeNamed(named) - 1] : undefined;
    const isUnique = columns.indexOf(name ?? '') === columns.lastIndexOf(name ?? '');
    if (name === undefined || name === '' || !isUnique || placeNamed(name) > 0 || /[{}|]/.test(name)) return [];
    return `"{${named}}" is the column "${name}": unless its header changes, write "{${name}}"; a column that is added before it takes its place unseen`;
  });
}

/** Headers with digits that unpivot leaves out and nothing else names, though they look like those that it takes: `2026-6` beside `2026-05`. */
export function leftOutWarnings(mapping: Mapping, columns: readonly string[]): readonly string[] {
  if (mapping.unpivot === undefined) return [];
  const { names } = unpivot(mapping.unpivot, columns);
  const taken = new Map(
    columns.flatMap((column, at) => (names[at] === '' ? [[shapeOf(column), column] as const] : [])),
  );
  const named = new Set(columnsNamed(mapping));
  return columns.flatMap((column, at) => {
    const like = taken.get(shapeOf(column));
    if (like === undefined || names[at] === '' || named.has(column) || !/\p{N}/u.test(column)) return [];
    return `column "${column}" looks like "${like}" and does not match unpivot.columns: its numbers are left out`;
  });
}

/** How a header is built: runs of letters and of digits, and what stands between them. */
function shapeOf(header: string): string {
  return header.replaceAll(/\p{L}+/gu, 'a').replaceAll(/\p{N}+/gu, '0');
}

/** Where a long row has the text of a column: in a column of the part, or the same in every row. */
export type FieldPlace = number | { readonly text: string };

/** A long row, and where it has the texts of columns. A row that is not unpivoted is one, without a label. */
export interface PlacedRow {
  /** Its name in the reason of a reject. */
  readonly label: string | undefined;
  readonly placeOf: (column: string) => FieldPlace;
}

/** @param columns of a part that the mapping fits */
export function placesOf(mapping: Mapping, columns: readonly string[], shared = none): readonly PlacedRow[] {
  const inPart = (column: string): FieldPlace => {
    const index = columnIndex(columns, column);
    const text = index < 0 ? sharedText(shared, column) : undefined;
    return text === undefined ? index : { text };
  };
  if (mapping.unpivot === undefined) return [{ label: undefined, placeOf: inPart }];
  const { names, rows } = unpivot(mapping.unpivot, columns);
  return rows.map(({ label, texts, fields }) => ({
    label,
    placeOf: (column) => {
      const index = placeNamed(column) > 0 ? -1 : names.indexOf(column);
      if (index < 0) return inPart(column);
      if (index < columns.length) return index;
      const text = texts[index - columns.length];
      return text === undefined ? (fields[index - columns.length - texts.length] ?? { text: '' }) : { text };
    },
  }));
}

/** By column. @param columns of a part; @param rows that are read, where these are not all */
export function columnNeeds(
  mapping: Mapping,
  columns: readonly string[],
  rows = placesOf(mapping, columns),
): readonly ColumnNeed[] {
  const named = mapping.drivers.flatMap(({ id, path, time }) => [
    ...(id === undefined ? [] : [id]),
    ...path,
    time.from,
  ]);
  const coded = indexesOf(rows, [...named.flatMap(templateColumns), ...mapping.where.map(({ column }) => column)]);
  for (const column of mapping.fillDown) coded.add(columnIndex(columns, column));
  const values = indexesOf(
    rows,
    mapping.drivers.flatMap(({ value }) => templateColumns(value.from)),
  );
  const marked = mapping.drivers.filter(({ value }) => value.format.decimal !== '.');
  const asked = indexesOf(
    rows,
    marked.flatMap(({ value }) => templateColumns(value.from)),
  );
  const noted = indexesOf(
    rows,
    mapping.drivers.flatMap(({ value }) => (value.isStoredNoted === true ? templateColumns(value.from) : [])),
  );
  const written = writtenBy(mapping, (column) => indexesOf(rows, [column]));
  return columns.map((_name, column) => ({
    isCoded: coded.has(column),
    isValue: values.has(column),
    writtenBy: written.get(column),
    ...(asked.has(column) && { isNumberAsked: true }),
    ...(noted.has(column) && { isNumberNoted: true }),
  }));
}

function indexesOf(rows: readonly PlacedRow[], names: readonly string[]): Set<number> {
  const places = rows.flatMap(({ placeOf }) => names.map(placeOf));
  return new Set(places.filter((place) => typeof place === 'number'));
}

function unpivotProblems(settings: Unpivot, columns: readonly string[]): MappingProblem[] {
  const { rows, strangers, doubles } = unpivot(settings, columns);
  const [stranger] = strangers;
  if (stranger !== undefined) {
    const message = `column "${stranger}" matches unpivot.columns, and its group "${valueGroup}" is not one of ${settings.value.join(', ')}`;
    return [{ path: ['unpivot', 'columns'], message, hint: 'narrow the pattern, or name that value column too' }];
  }
  const [double] = doubles;
  if (double !== undefined) {
    const [first, second] = double;
    const message = `columns "${first}" and "${second}" match unpivot.columns with the same groups, so that one would take the place of the other`;
    const hint = 'narrow the pattern to one of them, or capture in a group of its own what they differ in';
    return [{ path: ['unpivot', 'columns'], message, hint }];
  }
  if (rows.length === 0) {
    const message = `no column matches unpivot.columns ${settings.columns.source}`;
    return [{ path: ['unpivot', 'columns'], message, hint: `the columns are ${listColumns(columns)}` }];
  }
  const unmatched = settings.value.findIndex((_name, at) => rows.every(({ fields }) => fields[at] === undefined));
  if (unmatched >= 0) {
    const message = `no column that matches unpivot.columns belongs to the value column "${settings.value[unmatched]}"`;
    return [{ path: ['unpivot', 'value'], message, hint: `the columns are ${listColumns(columns)}` }];
  }
  const taken = unpivotNames(settings).find((name) => columns.includes(name));
  if (taken === undefined) return [];
  const message = `unpivot makes a column "${taken}" and the part has one of that name`;
  return [{ path: ['unpivot'], message, hint: 'choose another name under unpivot' }];
}

/** The mark in a header of one column, which may be the file's real delimiter. */
export function otherDelimiter(names: readonly string[]): string | undefined {
  return names.length === 1 ? /[;\t|,]/.exec(names[0] ?? '')?.[0] : undefined;
}

/** The hint for a column that is missing. */
export function columnHint(names: readonly string[]): string {
  const mark = otherDelimiter(names);
  if (mark === undefined) return `the columns are ${listColumns(names)}`;
  return `the header is one column, ${names[0]}: should "delimiter" be ${JSON.stringify(mark)}?`;
}

function listColumns(names: readonly string[]): string {
  const named = names.filter((name) => name !== '');
  const shown = named.slice(0, 30).join(', ');
  return named.length > 30 ? `${shown} and ${named.length - 30} more` : shown;
}
