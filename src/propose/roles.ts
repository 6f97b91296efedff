/** Which column of a long table says when, which how much, and which of what. */
import { compileTimeReader } from '../core/time/time.ts';
import { type Counted, examples, isList, total, words } from './evidence.ts';
import { determines, pairCodes } from './codes.ts';
import { type Column, type Table, isCode } from './profile.ts';
import { type When, textOf } from './when.ts';

export interface Left {
  readonly name: string;
  readonly why: string;
}

/** Columns that name what a value is of, from the top of the path. */
export interface Names {
  readonly keys: readonly Column[];
  /** For a key the column of its code: each has one of the other. */
  readonly codes: ReadonlyMap<Column, Column>;
  readonly left: readonly Left[];
  /** Columns with one text in every row. Another text may come, and must not be taken for the first. */
  readonly constants: readonly Column[];
  /** Columns such as a status, which say whether a row counts. */
  readonly tests: readonly Column[];
}

function isNamable({ ref }: Column): boolean {
  return ref !== undefined;
}

/** Columns of numbers that are measured, and name nothing. */
export function findValues({ columns }: Table, taken: ReadonlySet<Column>): readonly Column[] {
  const numbers = columns.filter(
    (column) =>
      column.number !== undefined &&
      isNamable(column) &&
      !taken.has(column) &&
      !isCode(column) &&
      !isRowNumber(column) &&
      !isVoucher(column),
  );
  // Few integers that come again and again may be of either kind; where others are plainly values, they are left out.
  const isFew = ({ texts }: Column): boolean => texts.size <= 12 && texts.size * 4 < total(texts);
  const sure = numbers.filter(
    (column) =>
      isMeant(column) || column.number?.isPlainInteger !== true || (!isFew(column) && !isConsecutive(column.texts)),
  );
  return sure.length > 0 ? sure : numbers;
}

function isRowNumber({ name, texts }: Column): boolean {
  if (name !== '' && !words.row.test(name)) return false;
  return isConsecutive(texts);
}

function isMeant({ name }: Column): boolean {
  return words.flow.test(name) || words.level.test(name);
}

function isConsecutive(texts: Counted): boolean {
  const all = [...texts.keys()];
  return all.every((text, at) => at === 0 || Number(text) === Number(all[at - 1]) + 1);
}

/** Numbers of bookings, however few rows there are. */
function isVoucher(column: Column): boolean {
  return column.number?.isPlainInteger === true && words.voucher.test(column.name) && !isMeant(column);
}

/** @param when the columns that say when; none where the headers do: then every row is one of a kind */
export function findNames(table: Table, taken: ReadonlySet<Column>, when: readonly Column[]): Names {
  const left: Left[] = [];
  const tests: Column[] = [];
  const constants: Column[] = [];
  const times = when.reduce((most, { texts }) => Math.max(most, texts.size), 0);
  const rows = table.rows.length;
  const candidates = table.columns.filter((column) => {
    if (taken.has(column) || column.texts.size === 0) return false;
    if (column.number !== undefined && !isCode(column)) {
      left.push({ name: column.name, why: 'numbers that are no values of their own' });
      return false;
    }
    if (!isNamable(column)) {
      left.push({ name: column.name, why: 'a template cannot name it' });
      return false;
    }
    const why = reasonToLeave(column, { rows, times });
    if (why !== undefined) left.push({ name: column.name, why });
    else if (column.texts.size === 1 && rows > 1) constants.push(column);
    else if (words.status.test(column.name) && column.texts.size <= 12) tests.push(column);
    else return true;
    return false;
  });
  if (candidates.length === 0) candidates.push(...constants.splice(0, 1));
  const { keys, codes } = pairCodes(table, candidates);
  return { keys: inOrder(table, keys), codes, left, constants, tests };
}

/** `1501` is the 15th of January, as DATEV writes it. */
const dayAndMonth = /^(0?[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])$/;

function reasonToLeave(
  { name, texts, empty, time }: Column,
  { rows, times }: { readonly rows: number; readonly times: number },
): string | undefined {
  const filled = rows - empty;
  if ([...texts.keys()].every(isList)) return 'lists';
  if (time !== undefined && !/^\d+$/.test([...texts.keys()][0] ?? '')) return 'another time';
  if (words.time.test(name) && [...texts.keys()].every((text) => dayAndMonth.test(text))) return 'days without a year';
  if (texts.size === 1 && (empty > 0 || words.remark.test(name))) return `no other text than ${examples(texts.keys())}`;
  if (words.voucher.test(name) && texts.size === filled && filled > 2) return 'a different text in nearly every row';
  if (times < 3) return undefined;
  if (texts.size > 20 && texts.size > filled / 2) return 'a different text in nearly every row';
  if (words.remark.test(name) && texts.size > Math.max(20, filled / 20)) return `${texts.size} different texts`;
  return undefined;
}

/** A group stands above what belongs to it. */
function inOrder(table: Table, keys: readonly Column[]): readonly Column[] {
  const above = (column: Column): number =>
    keys.filter((other) => other !== column && other.texts.size < column.texts.size && determines(table, column, other))
      .length;
  return (
    keys
      .map((column, at) => ({ column, at, above: above(column) }))
      // What a file is of stands above what is in it.
      .toSorted(
        (a, b) =>
          Number(b.column.isOfFile ?? false) - Number(a.column.isOfFile ?? false) || a.above - b.above || a.at - b.at,
      )
      .map(({ column }) => column)
  );
}

export interface Repeats {
  /** Rows that have the names and the time of an earlier one. */
  readonly same: number;
  /** The most different times that one driver has in a month. */
  readonly perMonth: number;
  readonly drivers: number;
}

/** Columns of numbers that are left out, and without which rows can be told apart less well. */
export function doubtsOfLeft(
  table: Table,
  {
    named,
    values,
    when,
  }: { readonly named: readonly Column[]; readonly values: readonly Column[]; readonly when: When },
): readonly string[] {
  const { same } = countRepeats(table, named, when);
  const used = new Set([...named, ...values, ...when.columns, ...when.others]);
  if (same === 0) return [];
  return table.columns.flatMap((column) => {
    const { texts, empty, number, name } = column;
    const isMany = texts.size * 2 > table.rows.length - empty || texts.size < 2;
    if (used.has(column) || number === undefined || isMany || words.voucher.test(name)) return [];
    const without = countRepeats(table, [...named, column], when).same;
    return without < same
      ? [
          `whether ${JSON.stringify(name)} names what the numbers are of: it is left out, and ${same} rows have the names and the time of another; with it in the path ${without} have`,
        ]
      : [];
  });
}

/** How often a driver has several readings. */
export function countRepeats({ rows }: Table, names: readonly Column[], when: When): Repeats {
  const reader = compileTimeReader(
    { formats: [when.format], locales: [when.locale ?? 'en'], timezone: undefined, fiscalYear: undefined },
    'UTC',
  );
  const seen = new Set<string>();
  const months = new Map<string, number>();
  const drivers = new Set<string>();
  let same = 0;
  for (const row of rows) {
    const time = textOf(when, row);
    const driver = JSON.stringify(names.map(({ at }) => row[at]));
    const moment = reader(time);
    if (typeof moment === 'string') continue;
    drivers.add(driver);
    const key = `${driver} ${time}`;
    if (seen.has(key)) {
      same++;
      continue;
    }
    seen.add(key);
    const month = `${driver} ${moment.month}`;
    months.set(month, (months.get(month) ?? 0) + 1);
  }
  return { same, perMonth: [...months.values()].reduce((a, b) => Math.max(a, b), 0), drivers: drivers.size };
}
