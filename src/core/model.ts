/**
 * The glossary, as types.
 *
 * - *source*: a configured place; *part*: one file, sheet or query of it; *row*: one data record of a part.
 * - *reading*: a value of one driver at one moment, from one row; *reject*: a row that could not be read.
 * - *month*: a calendar month; *point*: one value in one month; *driver*: a named series of points under a path.
 * - *candidate*: a source's newest complete read; *accepted*: the read that snapshots use; *held*: a candidate that the
 *   guard stopped; *snapshot*: all drivers at once; *push*: one attempt to send one; *acknowledged*: the service took it.
 */

/** Months are counted from year 0: `year * 12 + (month - 1)`. 2026-03 is 24314. */
export type Month = number;

/** How readings of one driver in one month become one point. */
export type Rule = 'last' | 'first' | 'sum' | 'average' | 'min' | 'max' | 'count';

/** A point of time as read: its month in the agent's zone, and its place in time, which orders readings. */
export interface Moment {
  readonly month: Month;
  /** How many calendar months the text names, from `month` on: 3 for a quarter, 12 for a year, else 1. */
  readonly months: number;
  /** UNIX seconds, rounded down; a date without a time is its midnight in the agent's zone. */
  readonly seconds: number;
  /** 0 to 999 999 999. */
  readonly nanos: number;
}

/** Where in time and place a reading stands; orders readings of one driver and month. */
export interface Place {
  readonly seconds: number;
  readonly nanos: number;
  /** Its order in the part: see `row-origin.ts`. */
  readonly row: number;
  /** The id of the part's read in the buffer, see `PartOrigin`. */
  readonly part: number;
}

/** One file, sheet or query of a source, as `parts()` sees it: no row was read for this. */
export interface Part {
  /**
   * Stable and unique in its source: the path relative to the config file, or the name of the query. Where agents share a ledger it is
   * the same on all machines: the directory as the config has it, and the path below it.
   */
  readonly name: string;
  /** Of a file whose directory each machine may have elsewhere: its path below that. */
  readonly below?: string;
  /** Names of the same file that the source matches too, through links: they are no parts of their own. */
  readonly otherNames?: readonly string[];
  /** Cheap evidence of content: equal versions mean that nothing needs to be read. */
  readonly version: string;
  /** Milliseconds since 1970: when this content was last revised, as far as the place can tell. */
  readonly revisedAtMs: number;
}

/** The fields of one data record, as text, in the order of its batch's columns. Its length may differ from theirs. */
export type Row = readonly string[];

/** What all rows of a part have in common and none of them holds: `file`, its name without folders, and `sheet`. */
export type SharedTexts = Readonly<Record<string, string>>;

/** The year with which the days of a workbook begin. Outside of workbooks it is 1900. */
export type DateSystem = 1900 | 1904;

/** Rows of a source that has no columns: `RowCoder` makes a batch of them. */
export interface RowBatch {
  /** The trimmed header. The same array for every batch of a part. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Columns beside these, by name. The same with every batch of a part. A column of the same name wins. */
  readonly shared?: SharedTexts;
  /** For a workbook: by which its days count. The same with every batch of a part. Default: 1900. */
  readonly dateSystem?: DateSystem;
  /** The line of the file that each row begins in, counted from 1; of a workbook its row in the sheet. For people only. */
  readonly lines?: readonly number[];
  /** How much of the part has been read so far, 0 to 1, where the place can tell. For progress only. */
  readonly share?: number;
  /**
   * Why a field cannot be used (an error of a formula, a list in a column), by indexes into `rows` and
   * `columns`; its text is for people only. A row that needs such a field is a reject.
   */
  readonly fault?: FieldFault;
  /**
   * Whether the place stores a field as a number, whose text has a point; by indexes into `rows` and `columns`. May be false for one
   * without a point, which every format reads alike. Left out where all fields are texts.
   */
  readonly isNumber?: FieldKind;
  /** For rows of an answer that collapses others: the place of each in the query, 0 where it is not known. */
  readonly places?: readonly number[];
  /** Where a database collapsed the rows (`pushdown`): what each of `rows` stands for, whose fields are those of its key. */
  readonly collapsed?: readonly CollapsedRow[];
}

export type FieldFault = (row: number, column: number) => string | undefined;

export type FieldKind = (row: number, column: number) => boolean;

/** The rows of one key and month, collapsed by a database. */
export interface CollapsedRow {
  /** How many rows of the query it stands for. */
  readonly rows: number;
  /** One for each entry of the mapping; `undefined` where no row has a value for it. */
  readonly entries: readonly (CollapsedValue | undefined)[];
}

/** What one entry's rule made of a key and month. */
export interface CollapsedValue {
  /** The time of the reading that counts (of a sum, average or count: the latest), as its column's text. */
  readonly time: string;
  /** That reading's text; for a sum or average, the sum. A count does not use it. */
  readonly value: string;
  /** How many readings went into it. */
  readonly count: number;
  /** Where the reading that counts stands in the order of the query, as far as that is known. */
  readonly place?: number;
  /** Time and place of the latest of them, where that is another one (`first`, `min`, `max`): its path is the driver's. */
  readonly latest?: { readonly time: string; readonly place: number };
}

/** Facts about a part's content, once all its rows were read. */
export interface Content {
  /** Equal for equal content: for a file, made of its bytes as they are stored; for a query, of its rows. */
  readonly hash: string;
  /** The version of exactly the content that was read. */
  readonly version: string;
  readonly revisedAtMs: number;
  /** Text files only, and not with `lineEnd: any`: whether the last row was ended by a line end. */
  readonly endsWithLineEnd?: boolean | undefined;
  /** The files that a query read, where it names them itself: relative to the config file, where they lie below it. */
  readonly files?: readonly string[] | undefined;
  /** Only of a part whose later growth can be read alone. */
  readonly end?: ReadEnd | undefined;
}

/** Where a read of a file ended: the rows that are appended later can be read from there on. */
export interface ReadEnd {
  /** The length of the file. */
  readonly bytes: number;
  /** The sha256 of each block of these bytes, one behind the other. */
  readonly blocks: Uint8Array;
  /** What the format has to know to go on. Only the format reads it. */
  readonly format: string;
}

/** A row that could not be read. */
export interface Reject {
  /** Counted from 1, the header not among them. */
  readonly row: number;
  /** All its reasons, joined by `; `. */
  readonly reason: string;
  /** The row as read, its fields joined by commas. */
  readonly text: string;
}
