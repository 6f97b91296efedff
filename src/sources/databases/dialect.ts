/** How the SQL of engines differs where a database collapses rows. A new engine is one value of this type. */
import { yearMax, yearMin } from '../../core/time/month.ts';
import type { Syntax } from './query-words.ts';

/** Kind of a column of a query. `other`: a text, or anything else that is neither a time nor an exact number. */
export type ColumnKind = 'integer' | 'decimal' | 'date' | 'wall' | 'instant' | 'other';

/** A column of the query where SQL speaks of it. */
export interface SqlColumn {
  /** Its name in SQL. */
  readonly name: string;
  readonly kind: ColumnKind;
  /** The engine's own word for its type, see `QueryColumn`. */
  readonly type: string;
}

/** The first and the last of some years. */
export interface Years {
  readonly first: number;
  readonly last: number;
}

/** What a mapping is planned by. */
export interface Planning {
  readonly syntax: Syntax;
  readonly types: TypeRules;
}

/** An engine. Every member of its parts gives SQL unless it says otherwise; a condition may come out NULL, which counts as false. */
export interface Dialect extends Planning {
  readonly queries: QuerySql;
  readonly texts: TextSql;
  readonly numbers: NumberSql;
  readonly times: TimeSql;
  readonly groups: GroupSql;
}

/** What the engine's types are to the agent. */
export interface TypeRules {
  /** Not SQL: an exact number has at most 38 digits after its point, and a sum of any count of them is exact. */
  readonly kindOf: (type: string) => ColumnKind;
  /** Cast to write in the query where a column of another type holds numbers. */
  readonly numberCast: (name: string) => string;
  /** Cast to write in the query where a column of another type holds times. */
  readonly timeCast: (name: string) => string;
}

/** The user's query as part of another. */
export interface QuerySql {
  /** The query, so written that its rows keep their order. */
  readonly ordered: (query: string) => string;
  /** Rows counted as they come: the field that counts, and the FROM clause that hands over the rows of a table for it. */
  readonly counted: (table: string) => { readonly field: string; readonly from: string };
  /** Ends a subquery whose columns the engine would compute wherever they are used. */
  readonly once: string;
}

export interface TextSql {
  /** The text that the plain read gives for a column; '' for NULL. */
  readonly of: (column: SqlColumn) => string;
  /** The column as it leaves for the agent: its text, or what the plain read makes the text of. */
  readonly leave: (column: SqlColumn) => string;
  /** A text that is compared by its bytes. */
  readonly bytes: (text: string) => string;
  /** A constant that is compared by its bytes. */
  readonly literal: (text: string) => string;
  readonly concat: (...texts: readonly string[]) => string;
  /** Texts of ASCII joined to one of at most so many characters, which is ordered by its bytes. */
  readonly line: (texts: readonly string[], length: number) => string;
  /** Whether a text has nothing but `whiteSpace`. */
  readonly isBlank: (text: string) => string;
  /** The number of a column's first character, or of its first byte where there are several. */
  readonly firstCode: (column: SqlColumn) => string;
}

export interface NumberSql {
  /** The text of an integer or an exact number; NULL stays NULL. */
  readonly text: (number: string) => string;
  /** Whether a number has at most 18 digits before its point, and after it no more than `rank` has place for. */
  readonly isShort: (column: SqlColumn) => string;
  /** A text of `rankLength` characters: its bytes are ordered as such numbers are, or the other way round where `sign` is `-`. */
  readonly rank: (number: string, sign: '+' | '-') => string;
  /** Not SQL. */
  readonly rankLength: number;
}

export interface TimeSql {
  /** Whether a time is a day of the calendar in these years, which have four digits. */
  readonly isOfYears: (column: SqlColumn, years: Years) => string;
  /** The month of a time moved by so many seconds, as a value that other months do not have. */
  readonly month: (column: SqlColumn, seconds: number) => string;
  /** The day of a time, which is compared with constants such as '2026-03-29'. */
  readonly day: (column: SqlColumn) => string;
  /** Days from 1970-01-01 to a date. A value that `isOfYears` refuses must not raise an error. */
  readonly daysSinceEpoch: (column: SqlColumn) => string;
}

export interface GroupSql {
  /** The value of any row of a group, which `TextSql.leave` takes for the column. */
  readonly some: (column: SqlColumn) => string;
  /** A value that no other row has. */
  readonly unique: string;
  /** Texts as one, and one of them again. Absent where a long text costs more than `some` of each column does. */
  readonly packing?: {
    readonly pack: (texts: readonly string[]) => string;
    readonly unpack: (packed: string, index: number) => string;
  };
  /** Whether the engine tells keys of this length apart; `always` for what these columns hold. Absent where it tells all. */
  readonly isKey?: (keys: readonly { readonly bytes: string; readonly column: SqlColumn }[]) => string;
}

/** The white space that names are trimmed of. */
export const whiteSpace =
  '\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF';

/** The years that the agent reads. */
export const everyYear: Years = { first: yearMin, last: yearMax };

/** A condition that always holds. */
export const always = '1 = 1';

/** Digits of a number before its point. */
export const wholeDigits = 18;

/** The largest whole number of so many digits. */
export const numberMax = '9'.repeat(wholeDigits);

/** Digits of the numbers of a type such as `numeric(14,2)`: of all, and after the point. */
export function decimalDigits(type: string): { readonly all: number; readonly scale: number } | undefined {
  const [, all, scale] = /\((\d+),\s*(\d+)\)$/.exec(type) ?? [];
  return all === undefined ? undefined : { all: Number(all), scale: Number(scale) };
}

/** Whether no number of such a type has more than 18 digits before its point, or than so many after it. */
export function isShortDecimal(type: string, scaleMax: number): boolean {
  const digits = decimalDigits(type);
  return digits !== undefined && digits.scale <= scaleMax && digits.all - digits.scale <= wholeDigits;
}

/** The type without its digits: `numeric` where it is `numeric(14,2)`. */
export function wordOf(type: string): string {
  return type.replace(/\(.*/, '');
}

/** For engines where a window without an order keeps the order of its rows. */
export function countedByWindow(table: string): ReturnType<QuerySql['counted']> {
  return { field: 'row_number() OVER ()', from: table };
}

/** `'text'` with its quotes doubled, as standard SQL has it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
