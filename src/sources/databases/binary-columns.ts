/** Columns of binary numbers, which are not the decimals that somebody wrote: for a word of `check`. */
import { trimWhiteSpace } from '../../core/text.ts';
import type { QueryColumn } from './connection.ts';

/** As engines call them. In SQLite a value has a type, and not a column. */
const binary = /^(?:Nullable\()?(?:FLOAT[48]?|B?Float\d+|DOUBLE|REAL)\b/i;
const short = /^(?:FLOAT\b|float4|(?:Nullable\()?B?Float(?:16|32))/;

export function isBinaryNumber({ type }: Pick<QueryColumn, 'type'>): boolean {
  return binary.test(type);
}

export function binaryNote({ name, type }: Pick<QueryColumn, 'name' | 'type'>): string {
  const digits = short.test(type) ? 6 : 15;
  return `the column ${trimWhiteSpace(name)} is a binary number (${type}), of which only the first ${digits} digits are sure to be those that were written: store it as a DECIMAL, or cast it to one in the query, with the decimals that are meant`;
}
