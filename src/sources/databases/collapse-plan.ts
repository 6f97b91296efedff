/** What a database is to collapse, planned from the mapping and the types of the query's columns. */
import { type MappingProblem, columnIndex, columnProblems } from '../../core/mapping/columns.ts';
import { AgentError } from '../../core/errors.ts';
import type { Rule } from '../../core/model.ts';
import type { DriverEntry, Mapping, Test } from '../../core/settings.ts';
import { type Filter, type Template, templateColumns } from '../../core/mapping/template.ts';
import type { QueryColumn } from './connection.ts';
import { type Planning, decimalDigits } from './dialect.ts';
import { arePathsInIds } from './id-paths.ts';

export interface CollapseRequest {
  /** One statement that gives rows. */
  readonly query: string;
  /** Its columns, their names trimmed. */
  readonly columns: readonly QueryColumn[];
  readonly mapping: Mapping;
  /** The agent's zone, which decides the month. */
  readonly timezone: string;
}

/** How a query is collapsed. Columns are indexes into those of the query. */
export interface CollapsePlan {
  readonly keys: readonly KeyColumn[];
  readonly conditions: readonly KeyCondition[];
  /** The zone of times without one; `timezone` where the mapping names none. */
  readonly time: { readonly column: number; readonly kind: 'date' | 'wall' | 'instant'; readonly zone: string };
  /** The columns of values, each once. */
  readonly values: readonly { readonly column: number; readonly isSummed: boolean }[];
  /** Whether NULL is a value that is missing, and not a reject. */
  readonly isNullMissing: boolean;
  /** Rows to find in each group, each once: the latest of every value, and those that entries want. */
  readonly lines: readonly WantedLine[];
  /** One for each entry of the mapping. `value` is an index into `values`, `line` and `latest` are indexes into `lines`. */
  readonly entries: readonly {
    readonly value: number;
    readonly line: number;
    readonly latest: number;
    readonly shows: 'text' | 'sum' | 'count';
  }[];
  /** Whether rows are numbered in the order of the query, which decides ties. */
  readonly hasPlaces: boolean;
}

/** The row that stands for a group, among those that have the value. */
export type LineKind = 'latest' | 'earliest' | 'smallest' | 'largest';

export interface WantedLine {
  /** An index into `values`. */
  readonly value: number;
  readonly kind: LineKind;
  /** Whether the value's text is wanted beside its time. */
  readonly hasText: boolean;
}

export interface KeyColumn {
  readonly column: number;
  /** Whether a row with nothing but white space there is a reject. */
  readonly needsText: boolean;
  /**
   * Whether the agent can reject a different text in this column (empty id or path after filters); if so, rows are not grouped
   * across it. `unlessWord`: only a text that does not begin with a letter or digit of ASCII.
   */
  readonly mayFail: 'never' | 'unlessWord' | 'always';
}

/** A condition that is judged in the database. */
export interface KeyCondition {
  readonly column: number;
  readonly texts: readonly string[];
  readonly isNegated: boolean;
  /** A text that passes all tests of the column, for the agent to find in a collapsed row: the database has judged the rows' own texts. */
  readonly passing: string;
}

/** @throws AgentError `part.unreadable` where the query lacks a column or has another type, or the mapping cannot be pushed down */
export function planCollapse(dialect: Planning, request: CollapseRequest): CollapsePlan {
  const { columns: described, mapping, timezone } = request;
  const { drivers, where, missing } = mapping;
  const names = described.map(({ name }) => name);
  const [problem] = [...columnProblems(mapping, names), ...pushdownProblems(mapping)];
  if (problem !== undefined) throw new AgentError('part.unreadable', problem.message, { hint: problem.hint });
  const indexOf = (column: string): number => columnIndex(names, column);
  const judged = where.map(({ column, test }) => ({ column: indexOf(column), ...flatten(test) }));
  const time = (drivers[0] as DriverEntry).time;
  const timeColumn = indexOf(columnOf(time.from) as string);
  const timeType = timeKind(dialect, described[timeColumn] as QueryColumn);
  const columns = [...new Set(drivers.map(({ value }) => indexOf(columnOf(value.from) as string)))];
  for (const column of columns) checkNumber(dialect, described[column] as QueryColumn);
  const wanted = drivers.map(
    (entry) =>
      ({
        value: columns.indexOf(indexOf(columnOf(entry.value.from) as string)),
        kind: kindOf(entry),
        shows: isSum(entry.rule) ? 'sum' : entry.rule === 'count' ? 'count' : 'text',
      }) as const,
  );
  const lines = columns.flatMap((_column, value) =>
    (['latest', 'earliest', 'smallest', 'largest'] as const).flatMap((kind) => {
      const wants = wanted.filter((entry) => entry.value === value && entry.kind === kind);
      // A driver's path is always that of the latest row.
      if (kind !== 'latest' && wants.length === 0) return [];
      return [{ value, kind, hasText: wants.some(({ shows }) => shows === 'text') }];
    }),
  );
  const lineOf = (value: number, kind: LineKind): number =>
    lines.findIndex((line) => line.value === value && line.kind === kind);
  const matched = judged.filter(({ texts }) => texts === undefined).map(({ column }) => column);
  return {
    keys: keyColumns(drivers, indexOf, matched),
    conditions: judged.flatMap(({ column, texts, isNegated }) => {
      if (texts === undefined) return [];
      // `where` may name one column twice, by its name and by its place.
      const ofColumn = judged.filter((test) => test.column === column);
      return [{ column, texts, isNegated, passing: passingText(ofColumn) }];
    }),
    time: {
      column: timeColumn,
      kind: timeType,
      zone: time.format.timezone ?? timezone,
    },
    values: columns.map((column, at) => ({
      column,
      isSummed: wanted.some(({ value, shows }) => value === at && shows === 'sum'),
    })),
    isNullMissing: missing.includes(''),
    lines,
    entries: wanted.map(({ value, kind, shows }) => ({
      value,
      line: lineOf(value, kind),
      latest: lineOf(value, 'latest'),
      shows,
    })),
    // Also without an ORDER BY: the plain read uses the order that the engine happens to give.
    hasPlaces: wanted.some(({ shows }) => shows === 'text') || !arePathsInIds(drivers),
  };
}

function timeKind(dialect: Planning, column: QueryColumn): CollapsePlan['time']['kind'] {
  const kind = dialect.types.kindOf(column.type);
  if (kind === 'date' || kind === 'wall' || kind === 'instant') return kind;
  throw wrongType(dialect, column, 'time');
}

function checkNumber(dialect: Planning, column: QueryColumn): void {
  const kind = dialect.types.kindOf(column.type);
  if (kind !== 'integer' && kind !== 'decimal') throw wrongType(dialect, column, 'number');
}

const wantedTypes = { number: 'an exact number', time: 'a date or a time' } as const;

function wrongType({ types, syntax }: Planning, { name, type }: QueryColumn, wanted: 'number' | 'time'): AgentError {
  const mark = syntax === 'mysql' ? '`' : '"';
  const sql = /^[a-z_][a-z\d_]*$/.test(name) ? name : `${mark}${name}${mark}`;
  const cast = wanted === 'number' ? types.numberCast(sql) : types.timeCast(sql);
  const digits = /decimal/i.test(cast) ? ' with all digits that it has' : '';
  const why =
    wanted === 'number' && decimalDigits(type) !== undefined
      ? 'has more digits than are sure to be added up exactly'
      : `is of type ${type}, and pushdown takes only ${wantedTypes[wanted]} there`;
  return new AgentError('part.unreadable', `the column ${name} ${why}`, {
    hint: `write ${cast} AS ${sql} in the query${digits}, or leave pushdown out`,
  });
}

/** Columns whose texts are the key: of every id and path, and those that the agent tests by a pattern. */
function keyColumns(
  drivers: readonly DriverEntry[],
  indexOf: (column: string) => number,
  matched: readonly number[],
): readonly KeyColumn[] {
  const keys = new Map<number, KeyColumn>();
  const add = (column: number, needsText: boolean, mayFail: KeyColumn['mayFail']): void => {
    const known = keys.get(column);
    const worst = (['always', 'unlessWord'] as const).find((how) => how === mayFail || how === known?.mayFail);
    keys.set(column, { column, needsText: needsText || known?.needsText === true, mayFail: worst ?? 'never' });
  };
  for (const column of matched) add(column, false, 'never');
  for (const template of drivers.flatMap(({ id, path }) => (id === undefined ? path : [id, ...path]))) {
    for (const piece of template.pieces) {
      if (typeof piece === 'string') continue;
      const column = indexOf(piece.column);
      const last = piece.filters.at(-1);
      const has = (name: Filter['name']): boolean => piece.filters.some((filter) => filter.name === name);
      if (last?.name === 'default' && last.text.trim() !== '') add(column, false, 'never');
      else if (has('map') || has('match') || has('default')) add(column, false, 'always');
      else add(column, true, has('slug') ? 'unlessWord' : 'never');
    }
  }
  return [...keys.values()];
}

interface FlatTest {
  /** The texts that it asks for or, negated, excludes; `undefined` where a pattern decides. */
  readonly texts: readonly string[] | undefined;
  readonly isNegated: boolean;
}

function flatten(test: Test): FlatTest {
  switch (test.kind) {
    case 'oneOf':
      return { texts: test.texts.filter((text) => !text.includes('\0')), isNegated: false };
    case 'matches':
      return { texts: undefined, isNegated: false };
    case 'not': {
      const { texts, isNegated } = flatten(test.test);
      return { texts, isNegated: !isNegated };
    }
  }
}

/** A text that passes all tests of a column; where none does, no row is left to hold it. */
function passingText(tests: readonly FlatTest[]): string {
  const passes = (text: string): boolean =>
    tests.every(({ texts, isNegated }) => texts === undefined || texts.includes(text) !== isNegated);
  const asked = tests.find(({ texts, isNegated }) => texts !== undefined && !isNegated)?.texts;
  if (asked !== undefined) return asked.find(passes) ?? '';
  let text = '';
  while (!passes(text)) text += '-';
  return text;
}

function isSum(rule: Rule): boolean {
  return rule === 'sum' || rule === 'average';
}

/** The row that an entry wants, by amounts as written: a negative scale reverses them, and a scale of zero makes all equal. */
function kindOf({ rule, value: { format } }: DriverEntry): LineKind {
  if (rule === 'first') return 'earliest';
  if (rule !== 'min' && rule !== 'max') return 'latest';
  if (format.scale !== undefined && !/[1-9]/.test(format.scale)) return 'latest';
  const isTurned = (format.scale?.startsWith('-') === true) !== format.negate;
  return (rule === 'max') === isTurned ? 'smallest' : 'largest';
}

/** The column of a template that is one column and nothing else. */
function columnOf(template: Template): string | undefined {
  const [only] = template.pieces;
  const isBare = template.pieces.length === 1 && typeof only === 'object' && only.filters.length === 0;
  return isBare ? templateColumns(template)[0] : undefined;
}

/** The parts of a mapping that no database can be asked to do. */
export function pushdownProblems(mapping: Mapping): readonly MappingProblem[] {
  const problems: MappingProblem[] = [];
  const without = 'or leave pushdown out';
  const say = (path: MappingProblem['path'], message: string, hint: string): void => {
    problems.push({ path, message: `${message} cannot be pushed down`, hint: `${hint}, ${without}` });
  };
  if (mapping.unpivot !== undefined) say(['unpivot'], 'unpivot', 'unpivot in the query (UNION ALL)');
  if (mapping.fillDown.length > 0) say(['fillDown'], 'fillDown', 'fill in the query');
  // Typed columns are not compared with texts.
  const number = mapping.missing.find((text) => /^-?\d+(\.\d+)?$/.test(text));
  if (number !== undefined) {
    say(['missing'], `the missing value ${number}`, `make it NULL in the query, such as NULLIF(amount, ${number})`);
  }
  const [first] = mapping.drivers;
  for (const [at, entry] of mapping.drivers.entries()) {
    const { time, value } = entry;
    const path = ['drivers', at] as const;
    if (entry.spread !== undefined) say([...path, 'spread'], 'spread', 'spread in the query');
    if (columnOf(time.from) === undefined) {
      say([...path, 'time'], `the time "${time.from.text}"`, 'make it one column in the query, such as {date}');
    }
    if (time.format.formats.join() !== 'iso') {
      const format = time.format.formats.join(', ');
      say([...path, 'time', 'format'], `the format ${format}`, 'make it a date in the query and leave format out');
    }
    if (first !== undefined && !isSameTime(entry, first)) {
      say([...path, 'time'], 'entries with different times', 'make them sources of their own');
    }
    if (columnOf(value.from) === undefined) {
      say([...path, 'value'], `the value "${value.from.text}"`, 'make it one column in the query, such as {amount}');
    }
    if (value.format.decimal !== '.' || value.format.group !== undefined || value.format.accounting) {
      say([...path, 'value'], 'decimal, group and accounting', 'make the value a number in the query');
    }
    if (value.format.round !== undefined && isSum(entry.rule)) {
      say([...path, 'value', 'round'], `round with collapse ${entry.rule}`, 'round in the query');
    }
  }
  return problems;
}

function isSameTime({ time: a }: DriverEntry, { time: b }: DriverEntry): boolean {
  return a.from.text === b.from.text && a.format.timezone === b.format.timezone;
}
