/** What of SQL differs between engines where a database collapses rows: texts, bytes, numbers and times. */

import { yearMax, yearMin } from '../../core/time/month.ts';
import type { Syntax } from './query-words.ts';
import type { MonthRange } from './month-ranges.ts';

/** What a column of a query holds, as far as collapsing cares. `text` is right for any type. */
export type ColumnKind = 'integer' | 'decimal' | 'date' | 'wall' | 'instant' | 'text';

/** Forms of a text. One that has none of them is left to the agent, so that a dialect may recognise too little. */
export type Form =
  | 'number'
  | 'month'
  | 'day'
  | 'minute'
  | 'second'
  | 'fraction'
  | 'zuluSecond'
  | 'zuluFraction'
  | 'moment'
  | 'blank';

/** Subqueries of the collapsing statement, each over the one before. */
export type StepName = 'texts' | 'facts' | 'amounts';

/** A column of the query where SQL speaks of it. */
export interface SqlColumn {
  /** Its name in SQL. */
  readonly name: string;
  readonly kind: ColumnKind;
  /** The engine's own word or code for its type, see `QueryColumn`. */
  readonly type: string;
}

/** The first and the last of some years. */
export interface Years {
  readonly first: number;
  readonly last: number;
}

/** One of the sums that make up a sum: `sql` times ten to the power of `exponent`. */
export interface SumPiece {
  readonly sql: string;
  readonly exponent: number;
}

/** Every member gives SQL, or says how to read what it gave. A condition may come out NULL, which counts as false. */
export interface Dialect {
  readonly kindOf: (type: string) => ColumnKind;
  readonly syntax: Syntax;
  /** The user's query so written that its rows keep their order where it is part of another. */
  readonly ordered: (query: string) => string;
  /** Rows counted as they come: the field that counts, and the FROM clause that hands over the rows of a table for it. */
  readonly counted: (table: string) => { readonly field: string; readonly from: string };
  /** What ends a step so that the engine computes its columns once, not wherever they are used. */
  readonly once: (step: StepName) => string;
  /** The text that the plain read gives for a column; '' for NULL. */
  readonly text: (column: SqlColumn) => string;
  /** Whether `text` can be relied on for this row's value. Absent where it always can. */
  readonly isFaithful?: (column: SqlColumn, text: string) => string;
  /** The column as it leaves for the agent: its text, or what the plain read makes the text of. */
  readonly leave: (column: SqlColumn) => string;
  /** What some row of a group has in a column, which `leave` takes for the column. */
  readonly some: (column: SqlColumn) => string;
  /** Texts as one, and one of them again. Absent where a long text costs more than `some` of each column does. */
  readonly packing?: {
    readonly pack: (texts: readonly string[]) => string;
    readonly unpack: (packed: string, index: number) => string;
  };
  /** A text that is compared and ordered by its bytes. */
  readonly bytes: (text: string) => string;
  /** A constant, compared by its bytes. */
  readonly literal: (text: string) => string;
  /** Whether the engine tells keys of this length apart; `always` for what these columns hold. Absent where it tells all. */
  readonly isKey?: (keys: readonly { readonly bytes: string; readonly column: SqlColumn }[]) => string;
  /** Something that no other row has. */
  readonly unique: string;
  readonly is: (form: Form, text: string) => string;
  /** The number of a text's first character, or of its first byte where there are several. */
  readonly firstCode: (column: SqlColumn) => string;
  /** Whether a column of a kind with a time is of these years, four digits each. */
  readonly isOfYears: (column: SqlColumn, years: Years) => string;
  /** Whether what is of the years 1000 to 9999 is a day of the calendar. Absent where the engine has no others. */
  readonly isDay?: (column: SqlColumn) => string;
  /**
   * The month of a time, or anything that two times have in common only if they are of one month.
   * @param sorted the time's text, by which `ranges` go; '' where it is none
   */
  readonly month: (ranges: readonly MonthRange[], column: SqlColumn, sorted: string) => string;
  /**
   * Whether the value is a number of at most 18 digits before the point, and no more after it than `amount` and `rank`
   * have place for, written without an exponent.
   */
  readonly isNumber: (column: SqlColumn, text: string) => string;
  /** Such a number, exactly, as `sums` and `rank` want it. */
  readonly amount: (column: SqlColumn, text: string) => string;
  /** Days from 1970-01-01 to a date, and no error for whatever else there may be. Absent where no column is sure to hold dates. */
  readonly days?: (column: SqlColumn) => string;
  /** Digits after the point of a number. Absent where a sum is of one piece, whose text has as many as the longest number. */
  readonly scale: (column: SqlColumn, text: string) => string | undefined;
  /** The exact sum of amounts, NULLs left out, for any count of rows that a database can hold. */
  readonly sums: (amount: string, column: SqlColumn) => readonly SumPiece[];
  /** A text of `rankLength` characters: its bytes are ordered as the amounts are, or the other way round where `sign` is `-`. */
  readonly rank: (amount: string, sign: '+' | '-') => string;
  readonly rankLength: number;
  readonly concat: (...texts: readonly string[]) => string;
  /** Texts of ASCII joined to one of at most so many characters, which is ordered by its bytes. */
  readonly line: (texts: readonly string[], length: number) => string;
  /** The text of an integer or an exact decimal; NULL stays NULL. */
  readonly numberText: (number: string) => string;
}

const leapYear = '([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)';
const date = `([1-9][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|${leapYear}-02-29)`;

const minute = `${date}[ T]([01][0-9]|2[0-3]):[0-5][0-9]`;
const clock = `${minute}:[0-5][0-9]`;
const fraction = `${clock}[.][0-9]{1,9}`;

/** What a name is trimmed of, and U+0085. */
export const whiteSpace =
  '\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF';

/** The forms as regular expressions that every engine reads alike. */
export const formPatterns: Readonly<Record<Form, string>> = {
  number: '-?[0-9]{1,18}([.][0-9]{1,18})?',
  month: '[1-9][0-9]{3}-(0[1-9]|1[0-2])',
  day: date,
  minute,
  second: clock,
  fraction,
  zuluSecond: `${clock}Z`,
  zuluFraction: `${fraction}Z`,
  moment: '[0-9]{4}[0-9TZ:., +-]{3,40}',
  blank: `[${whiteSpace}]*`,
};

/** All that a moment may be of. */
export const everyYear: Years = { first: yearMin, last: yearMax };

/** A condition that always holds. */
export const always = '1 = 1';

/** Digits of an amount before its point, and of one that is made of a text after it too. */
export const amountDigits = 18;

/** The largest whole amount. */
export const amountMax = '9'.repeat(amountDigits);

/** Digits of the numbers of a type such as `numeric(14,2)`: of all, and after the point. */
export function decimalDigits(type: string): { readonly all: number; readonly scale: number } | undefined {
  const [, all, scale] = /\((\d+),\s*(\d+)\)$/.exec(type) ?? [];
  return all === undefined ? undefined : { all: Number(all), scale: Number(scale) };
}

/** Whether no number of such a type has more than 18 digits before its point, or than so many after it. */
export function isShortDecimal(type: string, scaleMax: number): boolean {
  const digits = decimalDigits(type);
  return digits !== undefined && digits.scale <= scaleMax && digits.all - digits.scale <= amountDigits;
}

/** What a search for the month of a time is written with. */
export interface MonthSearch {
  /** The time's text, '' where it is none. */
  readonly sorted: string;
  /** What is compared with the texts of ranges: the same, or a column that the engine compares with such texts. */
  readonly compared: string;
  /** The month that the time itself names. */
  readonly written: string;
  readonly literal: (text: string) => string;
}

/** The month that a text begins with. */
export function writtenMonth(text: string): string {
  return `substr(${text}, 1, 7)`;
}

/** A search for the range of a time: eleven comparisons for a zone with daylight saving. */
export function searchMonth(ranges: readonly MonthRange[], search: MonthSearch): string {
  const { sorted, compared, written, literal } = search;
  const [first, second] = ranges;
  if (first === undefined || (second === undefined && first.month === 'each')) return sorted;
  if (second === undefined) return first.month === 'written' ? written : literal(first.month);
  const half = Math.ceil(ranges.length / 2);
  const before = searchMonth(ranges.slice(0, half), search);
  const after = searchMonth(ranges.slice(half), search);
  return `CASE WHEN ${compared} < ${literal((ranges[half] as MonthRange).from)} THEN ${before} ELSE ${after} END`;
}

/** Where a window without an order keeps that of its rows. */
export function countedByWindow(table: string): ReturnType<Dialect['counted']> {
  return { field: 'row_number() OVER ()', from: table };
}

/** `'text'` with its quotes doubled, as standard SQL has it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
