/** One cell of a sheet, as its XML has it, to text. */
import type { DateShape, DateSystem } from './workbook-dates.ts';
import { serialText } from './workbook-dates.ts';

/** What a cell's element holds. */
export interface Cell {
  /** `t`: `n`, `s`, `str`, `inlineStr`, `b`, `e` or `d`. */
  type: string;
  /** `s`: which of the workbook's formats it has. */
  style: number;
  /** The text of `v`; `undefined` where it is not there. */
  value: string | undefined;
  /** The text of `is`. */
  inline: string;
  hasFormula: boolean;
}

/** What a workbook's cells refer to. */
export interface CellContext {
  readonly strings: readonly string[];
  /** By style; `undefined` for numbers that are no dates. */
  readonly shapes: readonly (DateShape | undefined)[];
  readonly system: DateSystem;
  /** The file asks to be calculated when it is opened. */
  readonly isUncalculated: boolean;
}

/** What is wrong with a cell; the message says why. */
export class CellFault extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const notAWorkbook = 'open it in Excel and save it again';

/** @throws CellFault for a formula whose result is not in the file, and for what no workbook has */
export function cellText(cell: Cell, context: CellContext): string {
  const { type, value } = cell;
  if (cell.hasFormula && isUncalculated(cell, context)) {
    throw new CellFault('a formula whose result is not in the file', 'open it in Excel and save it: then it is');
  }
  if (type === 'inlineStr') return unescapeText(cell.inline);
  if (value === undefined || (value === '' && type !== 's')) return '';
  switch (type) {
    case 'n':
      return numberOrDate(value.trim(), context.shapes[cell.style], context.system);
    case 's':
      return sharedText(value, context.strings);
    case 'str':
      return unescapeText(value);
    case 'b':
      return value === '1' || value === 'true' ? 'true' : 'false';
    case 'e':
    case 'd':
      return value;
    default:
      throw new CellFault(`a cell of an unknown type, ${type}`, notAWorkbook);
  }
}

/**
 * openpyxl writes formulas with no result, and XlsxWriter with the result 0 in a file that asks to be calculated: a
 * driver must not become 0 by that.
 */
function isUncalculated({ type, value }: Cell, context: CellContext): boolean {
  if (value === undefined) return true;
  if (type === 'str') return false;
  return value === '' || (context.isUncalculated && type === 'n' && value === '0');
}

function sharedText(value: string, strings: readonly string[]): string {
  const text = /^\d+$/.test(value) ? strings[Number(value)] : undefined;
  if (text === undefined)
    throw new CellFault(`a text of number ${value}, and there are ${strings.length}`, notAWorkbook);
  return text;
}

/** Characters that XML cannot hold are written `_x000D_`, and an underscore before what looks so as `_x005F_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function numberOrDate(value: string, shape: DateShape | undefined, system: DateSystem): string {
  if (shape !== undefined) {
    const date = serialText(Number(value), shape, system);
    if (date !== undefined) return date;
  }
  return numberText(value);
}

/**
 * A number as Excel shows it: with 15 significant digits. What a file has more of is the noise of its binary number,
 * 0.30000000000000004 for 0.3. Whole numbers and what is no number stay as they are.
 */
function numberText(value: string): string {
  if (/^-?\d+$/.test(value) || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) return value;
  const number = Number(value);
  // Beyond what a binary number holds there is nothing to round.
  if (!Number.isFinite(number) || (number === 0 && /[1-9]/.test(value))) return value;
  const shown = number.toPrecision(15);
  return shown.includes('.') ? shown.replace(/\.?0+(?=e|$)/, '') : shown;
}
