/** The lines of one proposed source, each with what speaks for it. */
import { type Counted, type Guess, examples, words } from './evidence.ts';
import { type Line, type Value, flow, plain } from './lines.ts';
import { type NumberGuess, guessNumbers } from './numbers.ts';
import { type Column, type Table, isYears, profile } from './profile.ts';
import {
  type Left,
  type Names,
  type Repeats,
  type When,
  countRepeats,
  findNames,
  findValues,
  findWhen,
} from './roles.ts';
import { escaped } from './escaped.ts';
import { type Wide, findWide, freeName } from './wide.ts';

/** Files of one shape. */
export interface Shape {
  readonly name: string;
  readonly type: string;
  /** As the config names them. */
  readonly files: readonly string[];
  readonly filesBecause: string | undefined;
  /** A glob for files that may follow, where one file has a date in its name. */
  readonly filesInstead: string | undefined;
  readonly keys: readonly Guess[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly ragged: number;
  readonly isWhole: boolean;
  readonly hasSemicolons: boolean;
  readonly notes: readonly string[];
}

export interface Draft {
  readonly name: string;
  readonly lines: readonly Line[];
  /** What the files leave open, for a person to decide. */
  readonly undecided: readonly string[];
}

/** Why nothing can be proposed. */
export interface NoDraft {
  readonly name: string;
  readonly why: string;
}

/** More values side by side than this become rows, or the config has an entry for each. */
const entriesMax = 6;

export function draftOf(shape: Shape): Draft | NoDraft {
  const table = profile(shape.columns, shape.rows, formOf(shape));
  const wide = findWide(table);
  const plan = wide === undefined ? planLong(table) : planWide(table, wide);
  if (typeof plan === 'string') return { name: shape.name, why: plan };
  const root = titleOf(shape.name);
  const entries = plan.measures.map((measure, at) =>
    entryOf(plan, measure, { root, source: shape.name, isFirst: at === 0 }),
  );
  const { undecided, left } = plan;
  const sampled = shape.isWhole ? [] : ['only the start, the middle and the end of the files were looked at'];
  const ragged = shape.ragged === 0 ? [] : [`${shape.ragged} rows have too few or too many fields and will be rejects`];
  const drivers: Line = {
    key: 'drivers',
    value: { list: entries },
    above: [
      ...left.map(
        ({ name, why }) => `left out: ${name === '' ? 'a column without a name' : JSON.stringify(name)}, ${why}`,
      ),
      ...statusLines(plan.names),
    ],
  };
  return {
    name: shape.name,
    lines: [
      { key: 'type', value: plain(shape.type) },
      { key: 'files', value: flow(shape.files), beside: shape.filesBecause, above: laterFiles(shape) },
      ...shape.keys.map(lineOf),
      ...plan.lines,
      drivers,
    ],
    undecided: [...shape.notes, ...sampled, ...ragged, ...undecided],
  };
}

function laterFiles({ filesInstead }: Shape): readonly string[] {
  return filesInstead === undefined
    ? []
    : [`or files: [${JSON.stringify(filesInstead)}], for those of later times too`];
}

function formOf({ type, hasSemicolons }: Shape): 'numbers' | 'semicolons' | 'text' {
  if (type !== 'csv' && type !== 'tsv') return 'numbers';
  return hasSemicolons ? 'semicolons' : 'text';
}

function lineOf({ key, value, because, instead }: Guess): Line {
  const written: Value =
    typeof value === 'object' && value !== null ? flow(value) : plain(value as string | number | boolean);
  return { key, value: written, beside: because, above: instead?.map((one) => `or ${one}`) };
}

/** What the entries of a source are made of. */
interface Plan {
  readonly table: Table;
  /** Keys between those of the format and `drivers`. */
  readonly lines: readonly Line[];
  readonly when: Pick<When, 'from' | 'format' | 'locale' | 'months' | 'because' | 'doubt'>;
  readonly names: Names;
  /** The new column of an unpivot that names the measure, as a further element of the path. */
  readonly measureColumn: string | undefined;
  readonly measures: readonly Measure[];
  readonly repeats: Repeats;
  readonly left: readonly Left[];
  readonly undecided: readonly string[];
}

interface Measure {
  /** The column of the value. */
  readonly column: string;
  /** The last element of the path; `undefined` where one measure needs none. */
  readonly title: string | undefined;
  readonly number: NumberGuess;
}

function planWide(table: Table, wide: Wide): Plan | string {
  const headers = new Set(wide.headers);
  const taken = new Set(table.columns.filter(({ name }) => headers.has(name) || name === wide.yearColumn));
  const cells = joinTexts(table.columns.filter(({ name }) => headers.has(name)));
  const number = guessNumbers(cells, table.habit);
  if (number === undefined) return `the columns ${examples(wide.headers)} name times, and hold no numbers`;
  const names = findNames(table, taken, []);
  const valueColumn = freeName(table.columns, 'amount');
  const unpivot: Line = {
    key: 'unpivot',
    value: {
      block: [
        {
          key: 'columns',
          value: plain(wide.pattern),
          beside: `${wide.headers.length} columns, such as ${examples(wide.headers, 2)}`,
        },
        ...(wide.measureColumn === undefined
          ? [{ key: 'name', value: plain(wide.timeColumn), beside: 'the new column of their headers,' }]
          : []),
        { key: 'value', value: plain(valueColumn), beside: 'and the one of their fields' },
      ],
    },
    above: ['wide: a column for each time; this makes a row of each such field'],
  };
  return {
    table,
    lines: [...missingLine([number]), ...fillLine(table, names), unpivot],
    when: { ...wide.time, from: wide.from },
    names,
    measureColumn: wide.measureColumn,
    measures: [{ column: valueColumn, title: undefined, number }],
    repeats: { same: 0, perMonth: 1, drivers: table.rows.length },
    left: names.left,
    undecided: [...doubtOf(wide.time), ...doubtsOfNumber('the amounts', number), ...statusNotes(names)],
  };
}

function joinTexts(columns: readonly Column[]): Counted {
  const joined = new Map<string, number>();
  for (const { texts } of columns) for (const [text, count] of texts) joined.set(text, (joined.get(text) ?? 0) + count);
  return joined;
}

function planLong(table: Table): Plan | string {
  const when = findWhen(table);
  if (when === undefined) return 'no column names a date, a month or a year, and no headers do';
  const times = new Set([...when.columns, ...when.others, ...table.columns.filter((one) => isYears(one))]);
  const values = findValues(table, times);
  if (values.length === 0) return 'no column holds numbers that could be values';
  const names = findNames(table, new Set([...times, ...values]), when.columns);
  const repeats = countRepeats(table, [...names.keys, ...names.constants], when);
  const base = {
    table,
    when,
    names,
    repeats,
    left: [
      ...when.others.map(({ name }) => ({
        name,
        why: `another time; it could stand in "time" instead of ${when.from}`,
      })),
      ...names.left,
    ],
    undecided: [
      ...doubtOf(when),
      ...strangersOf(when.from, when.strangers),
      ...values.flatMap(({ name, number }) => (number === undefined ? [] : doubtsOfNumber(`"{${name}}"`, number))),
      ...statusNotes(names),
    ],
  };
  const numbers = values.flatMap(({ number }) => number ?? []);
  const isAlike =
    new Set(numbers.map(({ decimal, group, accounting }) => JSON.stringify([decimal, group, accounting]))).size === 1;
  if (values.length > entriesMax && isAlike) return { ...base, ...planMeasures(table, values, numbers) };
  return {
    ...base,
    lines: [...missingLine(numbers), ...fillLine(table, names)],
    measureColumn: undefined,
    measures: values.flatMap(({ name, number }) =>
      number === undefined
        ? []
        : [{ column: name, title: values.length > 1 || names.keys.length === 0 ? name : undefined, number }],
    ),
  };
}

/** Many measures side by side: one entry for all of them. */
function planMeasures(
  table: Table,
  values: readonly Column[],
  numbers: readonly NumberGuess[],
): Pick<Plan, 'lines' | 'measureColumn' | 'measures'> {
  const measureColumn = freeName(table.columns, 'measure');
  const valueColumn = freeName(table.columns, 'amount');
  const unpivot: Line = {
    key: 'unpivot',
    value: {
      block: [
        { key: 'columns', value: plain(`^(${values.map(({ name }) => escaped(name)).join('|')})$`) },
        { key: 'name', value: plain(measureColumn), beside: 'the new column of their headers,' },
        { key: 'value', value: plain(valueColumn), beside: 'and the one of their fields' },
      ],
    },
    above: [`${values.length} columns of numbers: a driver for each, named by its header`],
  };
  const [number] = numbers as readonly [NumberGuess];
  return {
    lines: [...missingLine(numbers), unpivot],
    measureColumn,
    measures: [{ column: valueColumn, title: undefined, number }],
  };
}

function missingLine(numbers: readonly NumberGuess[]): readonly Line[] {
  const said = [...new Set(numbers.flatMap(({ missing }) => missing))];
  if (said.length === 0) return [];
  return [
    {
      key: 'missing',
      value: flow(['', ...said]),
      beside: 'texts that stand for "no value": no reading, and no reject',
    },
  ];
}

/** Grouped reports name a group once, above its rows. */
function fillLine({ rows }: Table, { keys }: Names): readonly Line[] {
  const grouped = keys.filter(
    ({ at, empty }) => empty * 2 >= rows.length && (rows[0]?.[at] ?? '') !== '' && rows.length > 3,
  );
  if (grouped.length === 0) return [];
  const names = grouped.map(({ name }) => name);
  return [
    { key: 'fillDown', value: flow(names), beside: 'empty in most rows, as where a group is named once above them' },
  ];
}

function statusNotes({ tests }: Names): string[] {
  return tests.map(
    ({ name, texts }) => `whether all rows count: column ${JSON.stringify(name)} has ${showCounts(texts)}`,
  );
}

function showCounts(texts: Counted): string {
  const all = [...texts].toSorted(([, a], [, b]) => b - a);
  const shown = all.slice(0, 5).map(([text, count]) => `${JSON.stringify(text)} (${count})`);
  return shown.join(', ') + (all.length > 5 ? ', …' : '');
}

function doubtOf({ doubt }: Pick<When, 'doubt'>): string[] {
  return doubt === undefined ? [] : [doubt.because];
}

function strangersOf(where: string, strangers: readonly string[]): string[] {
  return strangers.length === 0 ? [] : [`${where}: ${examples(strangers)} cannot be read and will be rejects`];
}

function doubtsOfNumber(where: string, { doubt, strangers }: NumberGuess): string[] {
  return [...(doubt === undefined ? [] : [`${where}: ${doubt.because}`]), ...strangersOf(where, strangers)];
}

interface EntryPlace {
  readonly root: string;
  readonly source: string;
  /** What all entries have in common is said at the first. */
  readonly isFirst: boolean;
}

function entryOf(plan: Plan, measure: Measure, { root, source, isFirst }: EntryPlace): readonly Line[] {
  const { names, measureColumn } = plan;
  const filled = new Set(
    fillLine(plan.table, names).flatMap(({ value }) => ('flow' in value ? (value.flow as string[]) : [])),
  );
  const named = (column: Column): string =>
    column.empty > 0 && !filled.has(column.name) ? `{${column.name}|default:none}` : `{${column.name}}`;
  const measured = [
    ...(measureColumn === undefined ? [] : [`{${measureColumn}}`]),
    ...(measure.title === undefined ? [] : [measure.title]),
  ];
  const path = [root, ...names.keys.map(named), ...measured];
  const same = names.constants.map(named);
  const id = [source, ...names.keys.map((key) => named(names.codes.get(key) ?? key)), ...same, ...measured].join('/');
  return [
    ...(names.codes.size + same.length === 0
      ? []
      : [{ key: 'id', value: plain(id), beside: isFirst ? idBecause(names) : undefined }]),
    { key: 'path', value: flow(path) },
    timeLine(plan.when, isFirst),
    ...spreadLine(plan.when),
    valueLine(measure),
    ...collapseLine(plan, measure),
  ];
}

function idBecause({ codes, constants }: Names): string {
  const listed = (columns: readonly Column[]): string => columns.map(({ name }) => JSON.stringify(name)).join(', ');
  const said = [
    ...(codes.size === 0 ? [] : [`by ${listed([...codes.values()])}, which has one name each: names may change`]),
    ...(constants.length === 0
      ? []
      : [`${listed(constants)} is the same in every row as yet: another text would be another driver`]),
  ];
  return said.join('; ');
}

function statusLines({ tests }: Names): readonly string[] {
  return tests.map(
    ({ name, texts }) =>
      `all rows count, whatever stands in ${JSON.stringify(name)}: ${showCounts(texts)}; beside "files" you may say where: { ${JSON.stringify(name)}: … }`,
  );
}

function timeLine({ from, format, locale, because, doubt }: Plan['when'], isFirst: boolean): Line {
  const value: Value =
    format === 'iso' ? plain(from) : flow({ from, format, ...(locale === undefined ? {} : { locale }) });
  const other = doubt === undefined ? [] : [`or time: { from: ${JSON.stringify(from)}, format: ${doubt.format} }`];
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

function valueLine({ column, number }: Measure): Line {
  const from = `{${column}}`;
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
function collapseLine({ repeats, when }: Plan, { column, title }: Measure): readonly Line[] {
  const { same, perMonth } = repeats;
  if (same === 0 && perMonth <= 1) return [];
  const name = title ?? column;
  const isLevel = words.level.test(name);
  const adds = words.flow.test(name) || (!isLevel && same > 0);
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

/** `us-employment` becomes `Us employment`. */
function titleOf(name: string): string {
  const text = name.replaceAll(/[-_.]+/g, ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
