/** The cells of one sheet to rows of texts, as its XML streams by. */
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import type { FieldFaults, FieldProblem } from './field-faults.ts';
import type { FieldNumbers } from './field-numbers.ts';
import type { Cell, CellContext } from './workbook-cell.ts';
import { CellFault, cellProblem, cellText, isNumberText, unescapeText } from './workbook-cell.ts';
import { fieldBytesMax, isFieldTooLong, megabytes, rowBytesMax } from '../limits.ts';
import type { Sheet, Workbook } from './workbook.ts';
import { inEntry, readShapes, saveAgain } from './workbook.ts';
import type { XmlHandler, XmlTag } from './xml.ts';
import { XmlFault, streamXml } from './xml.ts';

/** Excel's own limits. */
const rowsMax = 1_048_576;
const columnsMax = 16_384;
/**
 * Limits on all distinct texts of a workbook, which stay in memory while a sheet is read: at two bytes for a character and
 * some 40 for a text at most 850 MB. Real workbooks have a tenth of that.
 */
const charactersMax = 256 * 1024 * 1024;
const stringsMax = 8 * 1024 * 1024;
const tooMuch = 'leave documents out of the sheet, and check that this is the right one';
/** The engine copies shorter parts of a text anyway. */
const slicedFrom = 13;

export interface SheetRows {
  /** How many rows at the top come empty, even where they have cells. */
  readonly skipRows: number;
  /** Gets the problems of rows as they come. */
  readonly faults: FieldFaults;
  /** Gets the numbers among the fields of rows. */
  readonly numbers: FieldNumbers;
}

export interface NumberedRows {
  readonly rows: readonly Row[];
  /** Of each the number that it has in the sheet. */
  readonly numbers: readonly number[];
}

/**
 * The rows of a sheet, in order and with no empty cells at their ends, as they come. Empty rows are left out, but for
 * those among the first `skipRows`.
 * @throws AgentError `part.unreadable`, naming the cell where there is one
 */
export async function* readSheet(
  workbook: Workbook,
  sheet: Sheet,
  settings: SheetRows,
): AsyncGenerator<NumberedRows, void, void> {
  const { zip, slices, system, isUncalculated } = workbook;
  const [strings, shapes] = [await readStrings(workbook), await readShapes(workbook)];
  const parser = new SheetParser({ strings, shapes, system, isUncalculated }, settings);
  try {
    yield* streamXml(zip.chunks(sheet.entry), parser, () => ({ value: parser.take(), isLast: parser.isAtEnd }));
  } catch (error) {
    const at = parser.rowNumber === 0 ? sheet.entry : `${sheet.entry}, at row ${parser.rowNumber},`;
    if (!(error instanceof CellFault)) throw slices.blame(inEntry(error, at), saveAgain);
    const where = `${slices.file.name} sheet ${sheet.name} cell ${parser.cellName}`;
    throw new AgentError('part.unreadable', `${where}: ${error.message}`, { cause: error, hint: error.hint });
  }
}

/** The texts that cells refer to by number. */
async function readStrings({ zip, slices, stringsEntry }: Workbook): Promise<readonly string[]> {
  if (stringsEntry === undefined || !zip.has(stringsEntry)) return [];
  const strings: string[] = [];
  const text = new RichText();
  let characters = 0;
  const handler: XmlHandler = {
    open: (tag) => text.open(tag.name),
    text: (piece) => text.add(piece),
    close(name) {
      text.close(name);
      if (name !== 'si') return;
      const string = detached(unescapeText(text.take()));
      if (isFieldTooLong(string)) throw new XmlFault(`a text of over ${megabytes(fieldBytesMax)}`);
      strings.push(string);
      characters += string.length;
      if (characters > charactersMax) throw tooMuchText(slices.file.name, `${charactersMax} characters`);
      if (strings.length > stringsMax) throw tooMuchText(slices.file.name, `${stringsMax} texts`);
    },
  };
  try {
    for await (const _ of streamXml(zip.chunks(stringsEntry), handler, () => ({ value: undefined, isLast: false })));
  } catch (error) {
    throw slices.blame(inEntry(error, `${stringsEntry}, at text ${strings.length + 1},`), saveAgain);
  }
  return strings;
}

/** A copy. A part of a larger text keeps all of that in memory, which here is the XML around it. */
function detached(text: string): string {
  // The way to copy that keeps every character and takes one byte for each where that is enough.
  return text.length < slicedFrom ? text : (JSON.parse(JSON.stringify(text)) as string);
}

function tooMuchText(name: string, limit: string): AgentError {
  return new AgentError('part.unreadable', `${name} has more than ${limit} in its table of texts`, {
    hint: 'split the workbook into several, or export its data as csv',
  });
}

/** The text of `t` elements, one after the other, without phonetic guides. */
class RichText {
  #text = '';
  #isText = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === 'rPh') this.#isPhonetic = true;
    this.#isText = name === 't' && !this.#isPhonetic;
  }

  add(piece: string): void {
    if (!this.#isText) return;
    this.#text += piece;
    if (this.#text.length > fieldBytesMax) throw new XmlFault(`a text of over ${megabytes(fieldBytesMax)}`);
  }

  close(name: string): void {
    this.#isText = false;
    if (name === 'rPh') this.#isPhonetic = false;
  }

  /** All since the last time. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

class SheetParser implements XmlHandler {
  /** No cells come any more. */
  isAtEnd = false;
  readonly #context: CellContext;
  readonly #skipRows: number;
  readonly #faults: FieldFaults;
  readonly #numbers: FieldNumbers;
  #rows: Row[] = [];
  /** Of each row its number in the sheet. */
  #places: number[] = [];
  #inData = false;
  /** Counted from 1. */
  #rowNumber = 0;
  #fields: string[] = [];
  /** UTF-16 units of the fields together. */
  #rowLength = 0;
  #problems: Map<number, FieldProblem> | undefined;
  /** By column, those of the present row. */
  #rowNumbers: boolean[] | undefined;
  /** Counted from 0. */
  #column = -1;
  #cell: Cell | undefined;
  readonly #inline = new RichText();
  /** The element that text belongs to; `undefined` within `is`. */
  #part: 'value' | 'formula' | undefined;

  constructor(context: CellContext, { skipRows, faults, numbers }: SheetRows) {
    this.#context = context;
    this.#skipRows = skipRows;
    this.#faults = faults;
    this.#numbers = numbers;
  }

  /** Where it is, such as `B3`. */
  get cellName(): string {
    return `${columnName(this.#column)}${this.#rowNumber}`;
  }

  /** The number of the present or last row; 0 before the first. */
  get rowNumber(): number {
    return this.#rowNumber;
  }

  /** The rows that came since the last time. */
  take(): NumberedRows {
    const [rows, numbers] = [this.#rows, this.#places];
    [this.#rows, this.#places] = [[], []];
    return { rows, numbers };
  }

  open(tag: XmlTag): void {
    const cell = this.#cell;
    if (cell !== undefined) {
      this.#part = tag.name === 'v' ? 'value' : tag.name === 'f' ? 'formula' : undefined;
      if (this.#part === undefined) this.#inline.open(tag.name);
      else cell[this.#part] = '';
    } else if (tag.name === 'c' && this.#inData) {
      this.#openCell(tag);
    } else if (tag.name === 'row' && this.#inData) {
      this.#openRow(tag.attribute('r'));
    } else if (tag.name === 'sheetData') {
      this.#inData = true;
    }
  }

  text(text: string): void {
    const cell = this.#cell;
    if (cell === undefined) return;
    if (this.#part === undefined) this.#inline.add(text);
    else cell[this.#part] = `${cell[this.#part]}${text}`;
  }

  close(name: string): void {
    this.#part = undefined;
    if (name === 'c') this.#closeCell();
    else if (this.#cell !== undefined) this.#inline.close(name);
    else if (name === 'row' && this.#inData) this.#closeRow();
    else if (name === 'sheetData') {
      this.#inData = false;
      this.isAtEnd = true;
    }
  }

  #openRow(number: string | undefined): void {
    const next = number === undefined ? this.#rowNumber + 1 : parseCount(number);
    if (next <= this.#rowNumber || next > rowsMax) throw new XmlFault(`a row ${number} after row ${this.#rowNumber}`);
    this.#skipTo(next - 1);
    this.#rowNumber = next;
    this.#fields = [];
    this.#rowLength = 0;
    this.#problems = undefined;
    this.#rowNumbers = undefined;
    this.#column = -1;
  }

  /** Rows that are not in the file, as far as they are counted. */
  #skipTo(number: number): void {
    for (let at = this.#rowNumber; at < Math.min(number, this.#skipRows); at++) this.#push([], at + 1);
  }

  #closeRow(): void {
    const fields = this.#fields;
    if (this.#rowNumber <= this.#skipRows) return this.#push([], this.#rowNumber);
    const last = fields.findLastIndex((field) => field !== '');
    if (last < 0) return;
    const row = last === fields.length - 1 ? fields : fields.slice(0, last + 1);
    this.#push(row, this.#rowNumber);
    if (this.#problems !== undefined) this.#faults.set(row, this.#problems);
    if (this.#rowNumbers !== undefined) this.#numbers.set(row, this.#rowNumbers);
  }

  #push(row: Row, number: number): void {
    this.#rows.push(row);
    this.#places.push(number);
  }

  #openCell(tag: XmlTag): void {
    const place = tag.attribute('r');
    this.#column = place === undefined ? this.#column + 1 : parseColumn(place);
    if (this.#column < 0 || this.#column >= columnsMax) throw new XmlFault(`a cell ${place} in row ${this.#rowNumber}`);
    this.#cell = {
      type: tag.attribute('t') ?? 'n',
      style: Number(tag.attribute('s') ?? 0),
      value: undefined,
      inline: '',
      formula: undefined,
    };
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    cell.inline = this.#inline.take();
    if (this.#rowNumber <= this.#skipRows) return;
    const text = cellText(cell, this.#context);
    if (text === '') return;
    if (isFieldTooLong(text)) throw new CellFault(`a text of over ${megabytes(fieldBytesMax)}`, tooMuch);
    this.#rowLength += text.length;
    if (this.#rowLength > rowBytesMax)
      throw new CellFault(`over ${megabytes(rowBytesMax)} of text up to here in its row`, tooMuch);
    if ((this.#fields[this.#column] ?? '') !== '') throw new XmlFault(`a second cell ${this.cellName}`);
    while (this.#fields.length < this.#column) this.#fields.push('');
    this.#fields[this.#column] = text;
    if (isNumberText(cell, text)) (this.#rowNumbers ??= [])[this.#column] = true;
    const found = cellProblem(cell, this.#context);
    if (found === undefined) return;
    this.#problems ??= new Map();
    this.#problems.set(this.#column, { ...found, problem: `cell ${this.cellName} ${found.problem}` });
  }
}

function parseCount(text: string): number {
  return /^\d{1,7}$/.test(text) ? Number(text) : 0;
}

/** The column, from 0, of the letters that a cell's name begins with; -1 where there are none. */
function parseColumn(place: string): number {
  let column = 0;
  for (let at = 0; at < place.length; at++) {
    // `A` is 1; letters may be small.
    const letter = (place.charCodeAt(at) | 0x20) - 0x60;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return column - 1;
}

function columnName(column: number): string {
  if (column < 0) return '';
  return columnName(Math.floor(column / 26) - 1) + String.fromCharCode(65 + (column % 26));
}
