/** An entry of `drivers`, line by line. */
import { type Counted, words } from './evidence.ts';
import { type Line, type Value, flow, plain } from './lines.ts';
import type { NumberGuess } from './numbers.ts';
import { type Column, type Table, shownName } from './profile.ts';
import { type Overlap, describeOverlap } from './overlaps.ts';
import type { Left, Names, Repeats } from './roles.ts';
import type { When } from './when.ts';

/** What the entries of a source are made of. */
export interface Plan {
  readonly table: Table;
  /** Keys between those of the format and `drivers`. */
  readonly lines: readonly Line[];
  readonly when: Pick<When, 'from' | 'format' | 'locale' | 'months' | 'because' | 'doubt' | 'columns'>;
  readonly names: Names;
  /** The new column of an unpivot that names the measure, as a further element of the path. */
  readonly measureColumn: string | undefined;
  readonly measures: readonly Measure[];
  readonly repeats: Repeats;
  readonly overlap?: Overlap;
  /** Debits and credits, which add up. */
  readonly hasSides?: boolean;
  /** What speaks for an element of the path. */
  readonly pathBecause?: string;
  readonly left: readonly Left[];
  readonly undecided: readonly string[];
}

export interface Measure {
  /** The column of the value. */
  readonly column: string;
  /** The template of the value. */
  readonly from: string;
  /** The last element of the path; `undefined` where one measure needs none. */
  readonly title: string | undefined;
  readonly number: NumberGuess;
}

export interface EntryPlace {
  readonly root: string;
  readonly source: string;
  /** What all entries have in common is said at the first. */
  readonly isFirst: boolean;
}

export function entryOf(plan: Plan, measure: Measure, { root, source, isFirst }: EntryPlace): readonly Line[] {
  const { names, measureColumn } = plan;
  const unnamed = unnamedColumns(plan);
  const named = (column: Column): string =>
    unnamed.includes(column) ? `{${column.ref}|default:none}` : `{${column.ref}}`;
  const measured = [
    ...(measureColumn === undefined ? [] : [`{${measureColumn}}`]),
    ...(measure.title === undefined ? [] : [asText(measure.title)]),
  ];
  // What is the same in every row stands above what is not, in both: two ids with one path could not be told apart.
  const above = names.constants.map(named);
  const path = [asText(root), ...above, ...names.keys.map(named), ...measured];
  const id = [source, ...above, ...names.keys.map((key) => named(names.codes.get(key) ?? key)), ...measured].join('/');
  return [
    ...(names.codes.size === 0
      ? []
      : [{ key: 'id', value: plain(id), beside: isFirst ? idBecause(names) : undefined }]),
    {
      key: 'path',
      value: flow(path),
      beside: isFirst ? pathBecause(plan, unnamed) : undefined,
      above: isFirst ? insteadOfNone(plan, unnamed) : [],
    },
    timeLine(plan.when, isFirst),
    ...spreadLine(plan.when),
    valueLine(measure),
    ...collapseLine(plan, measure),
  ];
}

/** A text as a template of itself: no brace of it begins a column. */
function asText(text: string): string {
  return text.replaceAll(/[{}]/g, '$&$&');
}

function idBecause({ codes }: Names): string {
  return `by ${listed([...codes.values()])}, which has one name each: names may change`;
}

/** Columns of names that are empty in some rows, and not filled from the row above. */
function unnamedColumns({ table, names }: Plan): readonly Column[] {
  const filled = new Set(
    fillLine(table, names).flatMap(({ value }) => ('flow' in value ? (value.flow as string[]) : [])),
  );
  return [...names.constants, ...names.keys, ...names.codes.values()].filter(
    ({ empty, ref = '' }) => empty > 0 && !filled.has(ref),
  );
}

/** An empty name may mean the one above it, unless there is none. */
function insteadOfNone({ table: { rows } }: Plan, unnamed: readonly Column[]): readonly string[] {
  const below = unnamed.filter(({ at }) => (rows[0]?.[at] ?? '') !== '');
  if (below.length === 0) return [];
  const columns = below.map(({ ref }) => JSON.stringify(ref)).join(', ');
  return [`or beside "files" fillDown: [ ${columns} ], where an empty field means the text above it`];
}

function pathBecause({ table, names, pathBecause: told }: Plan, unnamed: readonly Column[]): string | undefined {
  const { constants } = names;
  const same = `${listed(constants)} is the same in every row as yet: another text is another driver`;
  const said = [
    ...(told === undefined ? [] : [told]),
    ...(constants.length === 0 ? [] : [same]),
    ...unnamed.map(
      (column) =>
        `${shownName(column)} is empty in ${column.empty} of ${table.rows.length} rows: they are named "none"`,
    ),
  ];
  return said.length === 0 ? undefined : said.join('; ');
}

function listed(columns: readonly Column[]): string {
  return columns.map(shownName).join(', ');
}

export function statusLines({ tests }: Names): readonly string[] {
  return tests.map(
    (column) =>
      `all rows count, whatever stands in ${shownName(column)}: ${showCounts(column.texts)}; beside "files" you may say where: { ${JSON.stringify(column.ref)}: … }`,
  );
}

function timeLine({ from, format, locale, because, doubt }: Plan['when'], isFirst: boolean): Line {
  const value: Value =
    format === 'iso' ? plain(from) : flow({ from, format, ...(locale === undefined ? {} : { locale }) });
  const other = (doubt?.formats ?? []).map((one) => `or time: { from: ${JSON.stringify(from)}, format: ${one} }`);
  return { key: 'time', value, beside: isFirst ? because : undefined, above: isFirst ? other : [] };
}

function spreadLine({ months }: Plan['when']): readonly Line[] {
  if (months === 1) return [];
  const what = months === 3 ? 'a quarter' : 'a year';
  return [
    {
      key: 'spread',
      value: plain('repeat'),
      beside: `undecided: each month of ${what} gets its value`,
      above: ['or spread: divide, where the months are to add up to it; or first, or last'],
    },
  ];
}

function valueLine({ from, number }: Measure): Line {
  const { decimal, group, accounting, doubt, because } = number;
  const format = {
    ...(decimal === '.' ? {} : { decimal }),
    ...(group === undefined ? {} : { group: group.sizes.length === 1 ? group.mark : group }),
    ...(accounting ? { accounting } : {}),
  };
  const isPlain = Object.keys(format).length === 0;
  const value = isPlain ? plain(from) : flow({ from, ...format });
  const other = doubt === undefined ? [] : [`${doubt.because}: then write ${doubt.instead}`];
  return { key: 'value', value, beside: because, above: other };
}

/** What becomes of several readings of a driver in one month. */
function collapseLine(plan: Plan, measure: Measure): readonly Line[] {
  const { repeats, overlap, when } = plan;
  const { same, perMonth } = repeats;
  const adds = isAdding(plan, measure);
  if (same === 0 && perMonth <= 1) {
    if (adds) return [{ key: 'collapse', value: plain('sum'), beside: 'debits and credits of one month add up' }];
    if (overlap?.kind !== 'again') return [];
    const beside = `${describeOverlap(overlap)}: it counts once`;
    return [{ key: 'collapse', value: plain('last'), beside, above: ['or collapse: sum, where they add up'] }];
  }
  const many = same > 0 ? `${same} rows have the names and the time of another` : `up to ${perMonth} readings a month`;
  const rule = adds ? 'sum' : 'last';
  const other = adds ? 'last, where the latest stands for the month' : 'sum, where they add up; or average';
  return [
    {
      key: 'collapse',
      value: plain(rule),
      beside: `${many}: ${adds ? 'they add up' : 'the latest stands for the month'}`,
      above: when.months === 1 ? [`or collapse: ${other}`] : [],
    },
  ];
}

/** Whether several readings of one month are proposed to add up. */
export function isAdding({ repeats: { same, perMonth }, hasSides = false }: Plan, { column, title }: Measure): boolean {
  const name = title ?? column;
  const isLevel = words.level.test(name);
  if (same === 0 && perMonth <= 1) return hasSides && !isLevel;
  return words.flow.test(name) || (!isLevel && same > 0);
}

/** Grouped reports name a group once, above its rows. */
export function fillLine({ rows }: Table, { keys }: Names): readonly Line[] {
  const grouped = keys.filter(
    ({ at, empty }) => empty * 2 >= rows.length && (rows[0]?.[at] ?? '') !== '' && rows.length > 3,
  );
  if (grouped.length === 0) return [];
  const names = grouped.map(({ ref }) => ref);
  return [
    { key: 'fillDown', value: flow(names), beside: 'empty in most rows, as where a group is named once above them' },
  ];
}

/** The texts of a column, the usual ones first. */
export function showCounts(texts: Counted): string {
  const all = [...texts].toSorted(([, a], [, b]) => b - a);
  const shown = all.slice(0, 5).map(([text, count]) => `${JSON.stringify(text)} (${count})`);
  return shown.join(', ') + (all.length > 5 ? ', …' : '');
}
