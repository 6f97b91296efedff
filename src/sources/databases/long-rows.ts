/** Rows that would fill the memory: how much of them makes a batch, and what is said of one that is too long. */
import { AgentError } from '../../core/errors.ts';
import { fieldBytesMax, rowBytesMax } from '../limits.ts';

/** Most rows of a batch. */
export const batchRows = 1000;

/** A batch takes no more rows once it has so many characters. */
export const batchCharsMax = 4_000_000;

export const fieldTooLong = 'a field over 10 MB';
export const longFieldHint = 'leave it out in the query, or take its beginning: substr(…, 1, 1000)';
export const rowTooLong = 'a row over 64 MB';
export const longRowHint = 'select fewer columns in the query';

/** @param where database, row and column */
export function longFieldError(where: string): AgentError {
  return new AgentError('part.unreadable', `${where}: ${fieldTooLong}`, { hint: longFieldHint });
}

/**
 * How many bytes of one row of so many columns may arrive. At ten million for each column one field is too long for sure,
 * although nobody knows yet which one.
 */
export function rowBytesAllowed(columns: number): number {
  return Math.min(rowBytesMax, columns * fieldBytesMax + headerBytesMax);
}

/** What a server sends around the fields of a row: at most some ten bytes for each of 4096 columns. */
const headerBytesMax = 65_536;

/** Of a row that has more bytes than `rowBytesAllowed`. @param where database and row */
export function longRowError(where: string, columns: number): AgentError {
  if (columns * fieldBytesMax < rowBytesMax) return longFieldError(where);
  return new AgentError('part.unreadable', `${where}: ${rowTooLong}`, { hint: longRowHint });
}
