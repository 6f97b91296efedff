/** Types of MySQL and MariaDB, as their protocol says them. */
import type mysql from 'mysql2';

/** A column as the driver describes it. */
export interface Column {
  readonly name: string;
  readonly columnType: number;
  /** 63: bytes. */
  readonly characterSet: number;
  /** Bytes of a text; characters of a number, with its sign and point. */
  readonly columnLength: number;
  readonly decimals: number;
  readonly flags: number;
}

/** Bits of `flags`. */
const unsignedFlag = 32;
const zerofillFlag = 64;

/** The driver's word for a column's type, see `QueryColumn`. */
export function typeOf({ Types }: typeof mysql, column: Column): string {
  const { columnType, characterSet, columnLength, decimals, flags } = column;
  const word = (Types as unknown as Readonly<Record<number, string>>)[columnType] ?? String(columnType);
  // Such a number comes with leading zeros up to the width of its column, so that pushdown does not take it for a number.
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

/** Whether texts of such a column are numbers that may have a point. JSON has its own texts in quotes. */
export function isNumberText(type: string): boolean {
  return /^(?:(?:NEW)?DECIMAL\b|FLOAT$|DOUBLE$|JSON$)/.test(type);
}

/** A FLOAT without digits of its own is written with six, however many it has. */
export function isCut({ type, decimals }: { readonly type: string; readonly decimals: number }): boolean {
  return type === 'FLOAT' && decimals === noFixedDecimals;
}

/** How the protocol says that a number is written with as many decimals as it has. */
const noFixedDecimals = 31;

export function isBinary({ type }: { readonly type: string }): boolean {
  return type === 'BINARY' || type === 'BIT' || type === 'GEOMETRY' || type === 'VECTOR';
}
