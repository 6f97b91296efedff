/** The lines of one proposed source, each with what speaks for it. */
import { type Counted, type Guess, examples } from './evidence.ts';
import { type Plan, entryOf, fillLine, isAdding, showCounts, statusLines } from './entry.ts';
import { type Line, type Value, flow, plain } from './lines.ts';
import { type NumberGuess, guessNumbers, unitDoubts, withGroupsAlike } from './numbers.ts';
import { type Column, type Table, isYears, profile } from './profile.ts';
import { type Names, countRepeats, doubtsOfLeft, findNames, findValues } from './roles.ts';
import type { Layout } from './layout.ts';
import { type When, doubtsOfPeriods, findWhen } from './when.ts';
import { type Signed, doubtsOfSides, signOf } from './signs.ts';
import { escaped } from './escaped.ts';
import {
  type NamedFiles,
  countShared,
  doubtOfFileTime,
  doubtOfFolders,
  monthPiece,
  yearPiece,
  ownerPiece,
  withPiece,
} from './file-names.ts';
import { doubtsOfWhere } from './footer.ts';
import { doubtOfCopies, doubtOfOverlap, findOverlap, ownRows, partsLine } from './overlaps.ts';
import { doubtsOfTotals } from './totals.ts';
import { whyNoNumbers, whyNoTime } from './nearest.ts';
import { type Wide, findWide, freeName } from './wide.ts';

/** Files of one shape, and the layout that they have in common. */
export interface Shape extends Layout {
  /** What the names of its files have in common, as a person wrote it. */
  readonly stem: string;
  readonly named: NamedFiles;
  /** As the config names them. */
  readonly files: readonly string[];
  readonly filesBecause: string | undefined;
  /** A glob for files that may follow, where one file has a date in its name. */
  readonly filesInstead: string | undefined;
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
  const plan = planOf(shape, profile(shape.columns, shape.rows, { form: formOf(shape), hasPlaces: isTable(shape) }));
  if (typeof plan === 'string') return { name: shape.name, why: plan };
  const root = titleOf(shape.stem);
  const entries = plan.measures.map((measure, at) =>
    entryOf(plan, measure, { root, source: shape.name, isFirst: at === 0 }),
  );
  const { left, names, when } = plan;
  const folders = doubtOfFolders(plan.table, shape.named, [...names.keys, ...names.constants, ...when.columns]);
  const totals = [...doubtsOfWhere(shape.keys), ...doubtsOfTotals(names)];
  const overlaps = doubtOfOverlap(
    plan.overlap,
    plan.measures.some((measure) => isAdding(plan, measure)),
  );
  const undecided = [...plan.undecided, ...overlaps, ...unitDoubts(titlesOf(shape, plan)), ...totals, ...folders];
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
      ...withOneWhere([...shape.keys.map(lineOf), ...plan.lines]),
      drivers,
    ],
    undecided: [...shape.notes, ...sampled, ...ragged, ...undecided],
  };
}

/** The rows above the table, and the headers of its values. */
function titlesOf({ keys, stem }: Shape, { measures }: Plan): readonly string[] {
  const above = keys
    .filter(({ key }) => key.startsWith('skip'))
    .map(({ because }) => because.replace(/^[^"]*"(.*)"$/, '$1'));
  return [...measures.map(({ column }) => column), ...above, stem];
}

/** With what only the names of the files say, where that is needed. */
function planOf({ named }: Shape, rows: Table): Plan | string {
  // A column of that name goes before.
  const isFree = rows.columns.every(({ name }) => name !== 'file');
  const { table, wide } = isFree ? datedByFile(rows, named) : { table: rows, wide: findWide(rows) };
  const make = (of: Table): Plan | string => (wide === undefined ? planLong(of, named) : planWide(of, wide));
  const plan = make(table);
  const owner = isFree && named.names.length > 1 ? ownerPiece(named.names) : undefined;
  if (typeof plan === 'string' || owner === undefined) return plan;
  const { keys, constants } = plan.names;
  const shared = countShared(table, named, [...keys, ...constants, ...plan.when.columns]);
  if (shared === 0) return plan;
  const told = make(withPiece(table, named, owner));
  const because = `${shared} rows have the names and the time of a row of another file: the file's name tells them apart`;
  if (typeof told === 'string') return told;
  return { ...told, pathBecause: because, undecided: [...told.undecided, ...doubtOfCopies(plan.overlap)] };
}

/** Where the rows name no month, the name of the file may: or the year of months that have none. */
function datedByFile(rows: Table, named: NamedFiles): { readonly table: Table; readonly wide: Wide | undefined } {
  const wide = findWide(rows);
  if (wide !== undefined || findWhen(rows) !== undefined) return { table: rows, wide };
  const month = monthPiece(named.names);
  if (month !== undefined) return { table: withPiece(rows, named, month), wide };
  const year = yearPiece(named.names);
  if (year === undefined) return { table: rows, wide };
  const table = withPiece(rows, named, year);
  const wideOfYear = findWide(table);
  return wideOfYear !== undefined || findWhen(table)?.months === 1
    ? { table, wide: wideOfYear }
    : { table: rows, wide };
}

function laterFiles({ filesInstead }: Shape): readonly string[] {
  return filesInstead === undefined
    ? []
    : [`or files: [${JSON.stringify(filesInstead)}], for those of later times too`];
}

/** Records have names for their values, and no order. */
function isTable({ type }: Shape): boolean {
  return type === 'csv' || type === 'tsv' || type === 'fixed' || type === 'xlsx';
}

function formOf({ type, hasSemicolons }: Shape): 'numbers' | 'semicolons' | 'text' {
  if (type !== 'csv' && type !== 'tsv' && type !== 'fixed') return 'numbers';
  return hasSemicolons ? 'semicolons' : 'text';
}

/** Rows are left out for more than one reason, and a source has one `where`. */
function withOneWhere(lines: readonly Line[]): readonly Line[] {
  const [first, second] = lines.filter(({ key }) => key === 'where');
  if (first === undefined || second === undefined) return lines;
  const flows = [first, second].map(({ value }) => ('flow' in value ? value.flow : {}));
  const merged = { ...first, value: flow(Object.assign({}, ...flows)), beside: `${first.beside}; ${second.beside}` };
  return lines.filter((line) => line !== second).map((line) => (line === first ? merged : line));
}

function lineOf({ key, value, because, instead }: Guess): Line {
  const written: Value =
    typeof value === 'object' && value !== null ? flow(value) : plain(value as string | number | boolean);
  return { key, value: written, beside: because, above: instead?.map((one) => `or ${one}`) };
}

function planWide(table: Table, wide: Wide): Plan | string {
  const headers = new Set(wide.headers);
  const first = table.columns.findIndex(({ name }) => headers.has(name));
  const moving = table.columns.filter(
    ({ name, ref, at, isOfFile }) => isOfFile !== true && at > first && ref !== name && !headers.has(name),
  );
  const taken = new Set([
    ...moving,
    ...table.columns.filter(({ name }) => headers.has(name) || name === wide.yearColumn),
  ]);
  const cells = joinTexts(table.columns.filter(({ name }) => headers.has(name)));
  const number = guessNumbers(cells, table.habit);
  if (number === undefined) return `the columns ${examples(wide.headers)} name times, and hold no numbers`;
  const signed = signOf(table, taken, () => table.columns.filter(({ name }) => headers.has(name)));
  const names = findNames(table, new Set([...taken, ...signed.columns]), []);
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
    lines: [...missingLine([number], signed), ...signed.lines, ...fillLine(table, names), unpivot],
    when: { ...wide.time, from: wide.from, columns: table.columns.filter(({ name }) => name === wide.yearColumn) },
    names,
    measureColumn: wide.measureColumn,
    measures: [{ column: valueColumn, from: signed.from(valueColumn), title: undefined, number }],
    repeats: { same: 0, perMonth: 1, drivers: table.rows.length },
    left: [
      ...names.left,
      ...signed.left,
      ...moving.map(({ name }) => ({ name, why: 'its place moves when a month is added' })),
    ],
    undecided: [
      ...doubtOf(wide.time),
      ...spreadDoubt(wide.time),
      ...doubtsOfNumber('the amounts', number),
      ...signed.doubts,
      ...statusNotes(names),
    ],
  };
}

function joinTexts(columns: readonly Column[]): Counted {
  const joined = new Map<string, number>();
  for (const { texts } of columns) for (const [text, count] of texts) joined.set(text, (joined.get(text) ?? 0) + count);
  return joined;
}

function planLong(table: Table, named: NamedFiles): Plan | string {
  const when = findWhen(table);
  if (when === undefined) return whyNoTime(table);
  const times = new Set([...when.columns, ...when.others, ...table.columns.filter((one) => isYears(one))]);
  const signed = signOf(table, times, (taken) => findValues(table, taken));
  const { values } = signed;
  if (values.length === 0) return whyNoNumbers(table);
  const names = findNames(table, new Set([...times, ...values, ...signed.columns]), when.columns);
  const told = [...names.keys, ...names.constants];
  const overlap = findOverlap(table, named, {
    named: [...told, ...when.columns],
    values: [...values, ...signed.columns],
  });
  // What a file shows again says nothing of how often a driver has several readings.
  const own = ownRows(table, named, overlap);
  const base = {
    table,
    when,
    names,
    repeats: countRepeats(own, told, when),
    ...(overlap === undefined ? {} : { overlap }),
    left: [
      ...when.others.map(({ name }) => ({
        name,
        why: `another time; it could stand in "time" instead of ${when.from}`,
      })),
      ...names.left,
      ...signed.left,
    ],
    hasSides: signed.lines.length > 0,
    undecided: [
      ...doubtOf(when),
      ...spreadDoubt(when),
      ...doubtsOfPeriods(when, table.columns),
      ...doubtsOfLeft(own, { named: [...told, ...signed.columns], values, when }),
      ...signed.doubts,
      ...doubtsOfSides(table, values),
      ...doubtOfFileTime(when),
      ...strangersOf(when.from, when.strangers),
      ...values.flatMap(({ ref, number }) => (number === undefined ? [] : doubtsOfNumber(`"{${ref}}"`, number))),
      ...statusNotes(names),
    ],
  };
  const written = withGroupsAlike(values);
  const numbers = written.flatMap(({ number }) => number ?? []);
  const isAlike =
    new Set(numbers.map(({ decimal, group, accounting }) => JSON.stringify([decimal, group, accounting]))).size === 1;
  const areNamed = values.every(({ name }) => name !== '');
  if (values.length > entriesMax && isAlike && areNamed) {
    const { lines, ...measures } = planMeasures(table, written, numbers, signed);
    return { ...base, ...measures, lines: [...partsLine(overlap), ...whereLine(when), ...lines] };
  }
  return {
    ...base,
    lines: [
      ...partsLine(overlap),
      ...whereLine(when),
      ...missingLine(numbers, signed),
      ...signed.lines,
      ...fillLine(table, names),
    ],
    measureColumn: undefined,
    measures: measuresOf(written, { signed, isNamed: values.length > 1 || names.keys.length === 0 }),
  };
}

function measuresOf(
  values: readonly Column[],
  { signed, isNamed }: { readonly signed: Signed; readonly isNamed: boolean },
): Plan['measures'] {
  return values.flatMap(({ name, ref, number }) => {
    if (number === undefined || ref === undefined) return [];
    return [{ column: ref, from: signed.from(ref), title: isNamed ? name || ref : undefined, number }];
  });
}

function whereLine({ periods }: When): readonly Line[] {
  if (periods === undefined || periods.special.length === 0) return [];
  const { column, special } = periods;
  return [
    {
      key: 'where',
      value: flow({ [column.ref ?? '']: { not: special } }),
      beside: 'periods without a month of their own',
    },
  ];
}

/** Many measures side by side: one entry for all of them. */
function planMeasures(
  table: Table,
  values: readonly Column[],
  numbers: readonly NumberGuess[],
  signed: Signed,
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
    lines: [...missingLine(numbers, signed), ...signed.lines, unpivot],
    measureColumn,
    measures: [{ column: valueColumn, from: signed.from(valueColumn), title: undefined, number }],
  };
}

function missingLine(numbers: readonly NumberGuess[], signed: Signed): readonly Line[] {
  const said = [...new Set([...numbers.flatMap(({ missing }) => missing), ...signed.missing])];
  if (said.length === 0) return [];
  return [
    {
      key: 'missing',
      value: flow(['', ...said]),
      beside: 'texts that stand for "no value": no reading, and no reject',
    },
  ];
}

function statusNotes({ tests }: Names): string[] {
  return tests.map(
    ({ name, texts }) => `whether all rows count: column ${JSON.stringify(name)} has ${showCounts(texts)}`,
  );
}

function doubtOf({ doubt }: Pick<When, 'doubt'>): string[] {
  return doubt === undefined ? [] : [doubt.because];
}

function spreadDoubt({ months }: Pick<When, 'months'>): string[] {
  if (months === 1) return [];
  const what = months === 3 ? 'quarter' : 'year';
  return [
    `undecided: each month of a ${what} gets its whole value (spread: repeat), ${months} times over; write spread: divide where the months are to add up to it`,
  ];
}

function strangersOf(where: string, strangers: readonly string[]): string[] {
  return strangers.length === 0 ? [] : [`${where}: ${examples(strangers)} cannot be read and will be rejects`];
}

function doubtsOfNumber(where: string, { doubt, strangers, currencies }: NumberGuess): string[] {
  return [
    ...(doubt === undefined ? [] : [`${where}: ${doubt.because}`]),
    ...(currencies.length < 2
      ? []
      : [
          `${where}: ${examples(currencies, 6)} are different currencies, and their numbers count as if they were of one: keep one of them with "where", or name it in the path`,
        ]),
    ...strangersOf(where, strangers),
  ];
}

/** `us-employment` becomes `Us employment`. */
function titleOf(name: string): string {
  const text = name.replaceAll(/[-_.\s]+/g, ' ').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
