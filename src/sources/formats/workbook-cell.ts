/** One cell of a sheet, as its XML has it, to text. */
import type { DateSystem } from '../../core/model.ts';
import type { FieldProblem } from './field-faults.ts';
import type { DateShape } from './workbook-dates.ts';
import { serialText } from './workbook-dates.ts';

/** The content of a cell's element. */
export interface Cell {
  /** `t`: `n`, `s`, `str`, `inlineStr`, `b`, `e` or `d`. */
  type: string;
  /** `s`: which of the workbook's formats it has. */
  style: number;
  /** The text of `v`; `undefined` where it is not there. */
  value: string | undefined;
  /** The text of `is`. */
  inline: string;
  /** The text of `f`, which is empty where another cell has it; `undefined` where it is not there. */
  formula: string | undefined;
}

/** The tables of a workbook that its cells refer to. */
export interface CellContext {
  readonly strings: readonly string[];
  /** By style; `undefined` for numbers that are not dates. */
  readonly shapes: readonly (DateShape | undefined)[];
  readonly system: DateSystem;
  /** The file asks to be calculated when it is opened. */
  readonly isUncalculated: boolean;
}

/** A cell that no workbook has; the message says why. */
export class CellFault extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const notAWorkbook = 'open it in Excel and save it again';

/** Why a cell's text is for people only, and nothing that a driver could be made of. */
export function cellProblem(cell: Cell, context: CellContext): FieldProblem | undefined {
  if (isUncalculated(cell, context)) {
    const hint = 'open the workbook in Excel and save it';
    return { problem: 'holds a formula whose result is not in the file', hint };
  }
  if (cell.type !== 'e' || cell.value === undefined || cell.value === '') return undefined;
  const hint = 'mend the formula, or leave the row out with where';
  return { problem: `holds the error ${cell.value}`, hint };
}

/** Whether the text of a cell is a number with a point; that of a date may have one, and is no number all the same. */
export function isNumberText({ type }: Cell, text: string): boolean {
  return type === 'n' && text.includes('.');
}

/** @throws CellFault */
export function cellText(cell: Cell, context: CellContext): string {
  const { type, value } = cell;
  // Only the first of the cells that share a formula has its text.
  if (isUncalculated(cell, context)) return `=${cell.formula || '…'}`;
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
function isUncalculated({ type, value, formula }: Cell, context: CellContext): boolean {
  if (formula === undefined) return false;
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
 * A number as Excel shows it: its binary number rounded to 15 significant digits, half away from zero. What a file has
 * more of is noise, 0.30000000000000004 for 0.3, or was never known: 1234567890123456 is 1234567890123460. (Digits that
 * are typed in after the 15th become zeros instead, before they are stored.) A text that is not a number stays as it is.
 */
function numberText(value: string): string {
  if (/^-?\d{1,15}$/.test(value) || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) return value;
  const number = Number(value);
  // Beyond what a binary number holds there is nothing to round.
  if (!Number.isFinite(number) || (number === 0 && /[1-9]/.test(value))) return value;
  // The shortest text of a binary number that 15 digits made is those digits, without the zeros after the point.
  return String(Number(number.toPrecision(15)));
}
