/**
 * Rows as columns: what depends on a text is worked out once for each distinct text, and a value is a number of digits and
 * a scale, so that no string is made for a row.
 */
import type { CollapsedRow, DateSystem, FieldFault, Row, SharedTexts } from '../model.ts';
import type { NumberMarks } from '../numbers/spelling.ts';

/** The texts of a column, numbered from 0 in the order of their first appearance. Equal numbers are equal texts. */
export interface Texts {
  /** Counted up when the numbers are given anew: a column of many texts does not keep them all. Only between batches. */
  readonly generation: number;
  readonly size: number;
  text(code: number): string;
  /** The number of a text, also of one that no row has. */
  code(text: string): number;
}

/** One column of a batch, by the numbers of its texts. */
export interface CodedColumn {
  readonly texts: Texts;
  /** By row of the batch; may be longer than the batch. It means nothing for a row with another number of fields. */
  readonly codes: Int32Array;
}

/**
 * One column of a batch as decimals. A canonical decimal (`-?(0|[1-9]\d*)(\.\d+)?`, no negative zero) of at most 15 digits
 * stands here as an integer, which a double holds exactly, and the number of its decimals.
 */
export interface ValueColumn {
  /** The value without its point: -12.50 is -1250. */
  readonly mantissas: Float64Array;
  /** How many of its digits are decimals; -1: the field is anything else, see `text`. */
  readonly scales: Int8Array;
  /** Where the column was read by what `ColumnNeed.writtenBy` says: how each number is written, see `numbers/spelling.ts`. */
  readonly spelled?: Int32Array | undefined;
  /**
   * Whether a field is stored as a number, see `RowBatch`. Only where that is asked (`isNumberTold`) and the place has numbers:
   * then a text with a point has the scale -1, so that what stands here as an integer is the value by whatever marks texts are read.
   */
  readonly isNumber?: ((row: number) => boolean) | undefined;
  /** The field as it stands, whatever it holds. */
  text(row: number): string;
}

/** How a column of values is written, where a canonical decimal may be another number or other texts are numbers too. */
export interface WrittenBy extends NumberMarks {
  readonly isAccounting: boolean;
  /** The number of its marks among those of the mapping. */
  readonly marks: number;
}

/** What a mapping needs of one column. */
export interface ColumnNeed {
  readonly isCoded: boolean;
  readonly isValue: boolean;
  /** A reader may read values so, and says how each is written; or it reads canonical decimals alone. */
  readonly writtenBy?: WrittenBy | undefined;
  /** An entry reads its texts by another decimal mark than a point: a reader says which of its fields are numbers. */
  readonly isNumberAsked?: boolean;
  /** The same is wanted, and no value depends on it: see `DriverEntry`. */
  readonly isNumberNoted?: boolean;
}

/** Whether a reader says which fields of a column are stored as numbers. */
export function isNumberTold(need: ColumnNeed | undefined): boolean {
  return need?.isNumberAsked === true || need?.isNumberNoted === true;
}

/** What is needed of the columns of a part, by column. */
export type ColumnNeeds = (columns: readonly string[]) => readonly ColumnNeed[];

/** Rows as a source hands them over. */
export interface Batch {
  /** The trimmed header. The same array for every batch of a part. */
  readonly columns: readonly string[];
  readonly count: number;
  /** By column, where that was asked for; they are used again for the next batch. */
  readonly coded: readonly (CodedColumn | undefined)[];
  readonly values: readonly (ValueColumn | undefined)[];
  /** By row of the batch: how many fields it has, for rows that have more or fewer than there are columns. */
  readonly ragged: ReadonlyMap<number, number>;
  /** The fields of one row as texts: for people. Only until the next batch. */
  row(at: number): Row;
  /** The line of the file in which a row begins, counted from 1; of a workbook its row in the sheet. Only until the next batch. */
  line?(at: number): number;
  /** These six are as in `RowBatch`. */
  readonly shared?: SharedTexts;
  readonly dateSystem?: DateSystem;
  readonly share?: number;
  readonly fault?: FieldFault;
  readonly places?: readonly number[];
  readonly collapsed?: readonly CollapsedRow[];
}
