/** Types of MySQL and MariaDB, as their protocol says them. */
import type mysql from 'mysql2';

/** What the driver knows of a column. */
export interface Column {
  readonly name: string;
  readonly columnType: number;
  /** 63: bytes. */
  readonly characterSet: number;
  /** Of a text in bytes; of a number in characters, sign and point among them. */
  readonly columnLength: number;
  readonly decimals: number;
  readonly flags: number;
}

/** Of a column's flags. */
const unsignedFlag = 32;
const zerofillFlag = 64;

/** The driver's word for a column's type, see `QueryColumn`. */
export function typeOf({ Types }: typeof mysql, column: Column): string {
  const { columnType, characterSet, columnLength, decimals, flags } = column;
  const word = (Types as unknown as Readonly<Record<number, string>>)[columnType] ?? String(columnType);
  // Such a number has zeros before it, as many as its column is wide: a text to whoever collapses.
  if (numberTypes.has(word) && (flags & zerofillFlag) !== 0) return `${word} ZEROFILL`;
  if (word === 'NEWDECIMAL') {
    const signs = (decimals === 0 ? 0 : 1) + ((flags & unsignedFlag) === 0 ? 1 : 0);
    return `${word}(${columnLength - signs},${decimals})`;
  }
  if (characterSet === 63 && textTypes.has(word)) return 'BINARY';
  return word === 'VAR_STRING' || word === 'STRING' ? `${word}(${columnLength})` : word;
}

const numberTypes = new Set(['TINY', 'SHORT', 'INT24', 'LONG', 'LONGLONG', 'NEWDECIMAL']);
const textTypes = new Set(['VARCHAR', 'VAR_STRING', 'STRING', 'TINY_BLOB', 'MEDIUM_BLOB', 'LONG_BLOB', 'BLOB']);

export function isBinary({ type }: { readonly type: string }): boolean {
  return type === 'BINARY' || type === 'BIT' || type === 'GEOMETRY' || type === 'VECTOR';
}
