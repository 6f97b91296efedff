/** Rows that would fill the memory: how much of them makes a batch, and what is said of one that is too long. */
import { AgentError } from '../../core/errors.ts';
import { fieldBytesMax, rowBytesMax } from '../limits.ts';

/** Most rows of a batch. */
export const batchRows = 1000;

export const fieldTooLong = 'a field over 10 MB';
export const longFieldHint = 'leave it out in the query, or take its beginning: substr(…, 1, 1000)';
export const rowTooLong = 'a row over 64 MB';
export const longRowHint = 'select fewer columns in the query';

/** @param where database, row and column */
export function longFieldError(where: string): AgentError {
  return new AgentError('part.unreadable', `${where}: ${fieldTooLong}`, { hint: longFieldHint });
}

/**
 * How many bytes of one row of so many columns may arrive. With more than ten million for each column,
 * one field must be too long, although it is not known yet which one.
 */
export function rowBytesAllowed(columns: number): number {
  return Math.min(rowBytesMax, columns * fieldBytesMax + headerBytesMax);
}

/** Bytes around the fields of a row: about ten at most for each of 4096 columns. */
const headerBytesMax = 65_536;

/** The failure of a row with more bytes than `rowBytesAllowed`. @param where database and row */
export function longRowError(where: string, columns: number): AgentError {
  if (columns * fieldBytesMax < rowBytesMax) return longFieldError(where);
  return new AgentError('part.unreadable', `${where}: ${rowTooLong}`, { hint: longRowHint });
}
