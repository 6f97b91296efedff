/** The cells of one sheet to rows of texts, as its XML streams by. */
import { AgentError } from '../../core/errors.ts';
import type { Row } from '../../core/model.ts';
import type { Cell, CellContext } from './workbook-cell.ts';
import { CellFault, cellText, unescapeText } from './workbook-cell.ts';
import type { Sheet, Workbook } from './workbook.ts';
import { inEntry, readShapes, saveAgain } from './workbook.ts';
import type { XmlHandler, XmlTag } from './xml.ts';
import { XmlFault, streamXml } from './xml.ts';

/** Excel's own limits. */
const rowsMax = 1_048_576;
const columnsMax = 16_384;
/** Of all distinct texts of a workbook, which stay in memory while a sheet is read. */
const stringsMax = 256 * 1024 * 1024;

/**
 * The rows of a sheet, in order and with no empty cells at their ends, as they come. Empty rows are left out, but for
 * those among the first `skipRows`, which come empty whatever is in them.
 * @throws AgentError `part.unreadable`, naming the cell where there is one
 */
export async function* readSheet(
  workbook: Workbook,
  sheet: Sheet,
  skipRows: number,
): AsyncGenerator<readonly Row[], void, void> {
  const { zip, slices, system, isUncalculated } = workbook;
  const [strings, shapes] = [await readStrings(workbook), await readShapes(workbook)];
  const parser = new SheetParser({ strings, shapes, system, isUncalculated }, skipRows);
  try {
    yield* streamXml(zip.chunks(sheet.entry), parser, () => ({ value: parser.take(), isLast: parser.isAtEnd }));
  } catch (error) {
    if (!(error instanceof CellFault)) throw slices.blame(inEntry(error, sheet.entry), saveAgain);
    const where = `${slices.file.name} sheet ${sheet.name} cell ${parser.cellName}`;
    throw new AgentError('part.unreadable', `${where}: ${error.message}`, { cause: error, hint: error.hint });
  }
}

/** The texts that cells refer to by number. */
async function readStrings({ zip, slices, stringsEntry }: Workbook): Promise<readonly string[]> {
  if (stringsEntry === undefined || !zip.has(stringsEntry)) return [];
  const strings: string[] = [];
  const text = new RichText();
  let length = 0;
  const handler: XmlHandler = {
    open: (tag) => text.open(tag.name),
    text: (piece) => text.add(piece),
    close(name) {
      text.close(name);
      if (name !== 'si') return;
      strings.push(unescapeText(text.take()));
      length += strings.at(-1)?.length ?? 0;
      if (length > stringsMax) throw new XmlFault(`more than ${stringsMax} characters of text`);
    },
  };
  try {
    for await (const _ of streamXml(zip.chunks(stringsEntry), handler, () => ({ value: undefined, isLast: false })));
  } catch (error) {
    throw slices.blame(inEntry(error, stringsEntry), saveAgain);
  }
  return strings;
}

/** The text of `t` elements, one after the other; what is there to pronounce a text by is none of it. */
class RichText {
  #text = '';
  #isText = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === 'rPh') this.#isPhonetic = true;
    this.#isText = name === 't' && !this.#isPhonetic;
  }

  add(piece: string): void {
    if (this.#isText) this.#text += piece;
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
  #rows: Row[] = [];
  #inData = false;
  /** Counted from 1. */
  #rowNumber = 0;
  #fields: string[] = [];
  /** Counted from 0. */
  #column = -1;
  #cell: Cell | undefined;
  readonly #inline = new RichText();
  #isValue = false;

  constructor(context: CellContext, skipRows: number) {
    this.#context = context;
    this.#skipRows = skipRows;
  }

  /** Where it is, such as `B3`. */
  get cellName(): string {
    return `${columnName(this.#column)}${this.#rowNumber}`;
  }

  /** The rows that came since the last time. */
  take(): readonly Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(tag: XmlTag): void {
    const cell = this.#cell;
    if (cell !== undefined) {
      this.#isValue = tag.name === 'v';
      if (tag.name === 'v') cell.value = '';
      else if (tag.name === 'f') cell.hasFormula = true;
      else this.#inline.open(tag.name);
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
    if (this.#isValue) cell.value = `${cell.value}${text}`;
    else this.#inline.add(text);
  }

  close(name: string): void {
    this.#isValue = false;
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
    this.#column = -1;
  }

  /** Rows that are not in the file, as far as they are counted. */
  #skipTo(number: number): void {
    for (let at = this.#rowNumber; at < Math.min(number, this.#skipRows); at++) this.#rows.push([]);
  }

  #closeRow(): void {
    const fields = this.#fields;
    if (this.#rowNumber <= this.#skipRows) return void this.#rows.push([]);
    const last = fields.findLastIndex((field) => field !== '');
    if (last >= 0) this.#rows.push(last === fields.length - 1 ? fields : fields.slice(0, last + 1));
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
      hasFormula: false,
    };
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    cell.inline = this.#inline.take();
    const text = this.#rowNumber <= this.#skipRows ? '' : cellText(cell, this.#context);
    if (text === '') return;
    while (this.#fields.length < this.#column) this.#fields.push('');
    this.#fields[this.#column] = text;
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
