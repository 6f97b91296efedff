/** The table of one sheet of a workbook, and which sheet that is. */
import { AgentError } from '../../core/errors.ts';
import type { Pattern } from '../../core/mapping/pattern.ts';
import type { Row, RowBatch } from '../../core/model.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/read-part.ts';
import { FieldFaults } from './field-faults.ts';
import { FieldNumbers } from './field-numbers.ts';
import { LinesOfRows } from './lines-of-rows.ts';
import { batchLengthMax } from '../limits.ts';
import type { TableSettings } from './table.ts';
import { Table } from './table.ts';
import { type NumberedRows, type SheetRows, readSheet } from './workbook-sheet.ts';
import type { Sheet, Workbook } from './workbook.ts';
import { openWorkbook } from './workbook.ts';

/** A sheet by its name, by its place among the tabs from 1, or (`undefined`) the first that is shown. */
export type SheetChoice = string | number | undefined;

export interface WorkbookSettings extends TableSettings {
  /** How many bytes a workbook may expand to. */
  readonly expandedMax: number;
  /** Rows whose first cell starts with this are ignored. */
  readonly comment?: string | undefined;
  /** The furthest column that is asked for by its place, from 1. Default: none is. */
  readonly furthestPlace?: number;
}

/** What is known of fields beside their texts. */
type SheetFields = Pick<SheetRows, 'faults' | 'numbers'>;

/** Rows are gathered until they are so many cells; a row has up to 16 384. */
const batchCells = 20_000;

/** @throws AgentError `part.unreadable` */
export async function* readWorkbook(
  file: PartFile,
  settings: WorkbookSettings,
  choice: SheetChoice,
): AsyncGenerator<RowBatch, FormatContent, void> {
  const workbook = await openWorkbook(file, settings.expandedMax);
  const sheet = chooseSheet(workbook, choice);
  const name = `${file.name} sheet ${sheet.name}`;
  const faults = new FieldFaults();
  const numbers = new FieldNumbers();
  const fields = { faults, numbers };
  const table = new Table(settings, name, 'skip', (rows) => checkHeader(name, rows, faults));
  const ofAll = { shared: { sheet: sheet.name }, dateSystem: workbook.system };
  let columns: readonly string[] | undefined;
  const lines = new LinesOfRows();
  for await (const all of gathered(readSheet(workbook, sheet, { skipRows: settings.skipRows, ...fields }))) {
    const { rows, numbers: rowNumbers } = withoutComments(all, settings.comment);
    lines.add(rows, rowNumbers);
    const batch = table.take(rows);
    if (batch === undefined) continue;
    columns ??= widened(batch.columns, all.rows, settings.furthestPlace ?? 0);
    yield {
      ...squared({ ...batch, columns, lines: lines.take(batch.rows) }, fields),
      ...ofAll,
      share: workbook.zip.shareOf(sheet.entry),
    };
    // Only what reads the file notices an abort, and the rest of a small one is in memory already.
    await file.byteAt(0);
  }
  const batch = table.end();
  if (batch !== undefined) yield { ...squared(batch, fields), ...ofAll };
  return {};
}

/** The names of the sheets that a pattern takes, in the order of their tabs. @throws AgentError `part.unreadable` */
export async function listSheets(file: PartFile, expandedMax: number, pattern: Pattern): Promise<readonly string[]> {
  const { sheets } = await openWorkbook(file, expandedMax);
  const matching = sheets.filter(({ name, kind }) => kind === 'worksheet' && pattern.test(name));
  const shown = matching.filter(({ isHidden }) => !isHidden);
  if (shown.length > 0) return shown.map(({ name }) => name);
  throw new AgentError('source.unreadable', `${file.name}: no sheet matches /${pattern.source}/`, {
    hint: matching.length > 0 ? hiddenHint(matching) : thereAre(sheets),
  });
}

function chooseSheet({ slices: { file }, sheets }: Workbook, choice: SheetChoice): Sheet {
  if (choice === undefined) {
    const tables = sheets.filter(({ kind }) => kind === 'worksheet');
    const shown = tables.find(({ isHidden }) => !isHidden);
    if (shown !== undefined) return shown;
    throw new AgentError('part.unreadable', `${file.name} shows no sheet`, {
      hint: tables.length > 0 ? hiddenHint(tables) : thereAre(sheets),
    });
  }
  const sheet = typeof choice === 'number' ? sheets[choice - 1] : sheets.find(({ name }) => name === choice);
  if (sheet === undefined) {
    const isName = sheets.some(({ name }) => name === String(choice));
    const hint = isName
      ? `a number is a place among the tabs: for the name write sheet: "${choice}"`
      : thereAre(sheets);
    throw new AgentError('part.unreadable', `${file.name} has no sheet ${choice}`, { hint });
  }
  if (sheet.kind !== 'worksheet') {
    throw new AgentError('part.unreadable', `${file.name}: sheet ${sheet.name} is not a table (${sheet.kind})`, {
      hint: `name one that is: ${namesOf(sheets.filter(({ kind }) => kind === 'worksheet'))}`,
    });
  }
  return sheet;
}

function hiddenHint(sheets: readonly Sheet[]): string {
  return `these are hidden, and are read only by their name or number: ${namesOf(sheets)}`;
}

function thereAre(sheets: readonly Sheet[]): string {
  const hidden = sheets.filter(({ isHidden }) => isHidden);
  return `there are ${namesOf(sheets)}${hidden.length > 0 ? `; hidden: ${namesOf(hidden)}` : ''}`;
}

function namesOf(sheets: readonly Sheet[]): string {
  return sheets.length === 0 ? 'none' : sheets.map(({ name }) => name).join(', ');
}

async function* gathered(batches: AsyncIterable<NumberedRows>): AsyncGenerator<NumberedRows, void, void> {
  let rows: Row[] = [];
  let numbers: number[] = [];
  let cells = 0;
  let length = 0;
  for await (const batch of batches) {
    for (const [at, row] of batch.rows.entries()) {
      rows.push(row);
      numbers.push(batch.numbers[at] as number);
      cells += row.length;
      for (const field of row) length += field.length;
      if (cells < batchCells && length < batchLengthMax) continue;
      yield { rows, numbers };
      [rows, numbers] = [[], []];
      cells = 0;
      length = 0;
    }
  }
  yield { rows, numbers };
}

function withoutComments(all: NumberedRows, comment: string | undefined): NumberedRows {
  if (comment === undefined) return all;
  const isRow = ([first]: Row): boolean => first?.startsWith(comment) !== true;
  return { rows: all.rows.filter(isRow), numbers: all.numbers.filter((_number, at) => isRow(all.rows[at] as Row)) };
}

/** A column must not be called by what people are to mend. */
function checkHeader(name: string, rows: readonly Row[], faults: FieldFaults): void {
  const [found] = rows.flatMap((row) => [...(faults.of(row)?.values() ?? [])]);
  if (found === undefined) return;
  throw new AgentError('part.unreadable', `${name}: ${found.problem}, and is of the header`, {
    hint: 'write the name of the column there as a text, or save the workbook in Excel once more',
  });
}

/**
 * The columns, and those without a cell in the header that a place such as `{#4}` asks for, as far as any row reaches: in a
 * spreadsheet a header ends with its last text. Any other surplus is a reject.
 */
function widened(columns: readonly string[], rows: readonly Row[], furthestPlace: number): readonly string[] {
  if (furthestPlace <= columns.length) return columns;
  const widest = rows.reduce((width, row) => Math.max(width, row.length), 0);
  const more = Math.min(widest, furthestPlace) - columns.length;
  return more <= 0 ? columns : [...columns, ...Array.from({ length: more }, () => '')];
}

/** A spreadsheet has no ragged rows. */
function squared({ columns, rows, lines: rowNumbers = [] }: RowBatch, fields: SheetFields): RowBatch {
  const square: Row[] = [];
  const lines: number[] = [];
  for (const [at, row] of rows.entries()) {
    const fitted = row.length === columns.length ? row : fit(row, columns.length, fields);
    if (fitted === undefined) continue;
    square.push(fitted);
    lines.push(rowNumbers[at] as number);
  }
  return { columns, rows: square, lines, ...fields.faults.batchOf(square), ...fields.numbers.batchOf(square) };
}

/**
 * Fills up a row that is too short. Surplus cells stay where they hold something that can be used, else they are cut
 * off; a row with nothing else is left out.
 */
function fit(row: Row, width: number, { faults, numbers }: SheetFields): Row | undefined {
  const problems = faults.of(row);
  let length = row.length;
  while (length > width && (row[length - 1] === '' || problems?.has(length - 1) === true)) length--;
  if (length === row.length && length > width) return row;
  const fitted = row.slice(0, length);
  if (length < row.length && fitted.every((field) => field === '')) return undefined;
  while (fitted.length < width) fitted.push('');
  const kept = new Map([...(problems ?? [])].filter(([column]) => column < length));
  if (kept.size > 0) faults.set(fitted, kept);
  const found = numbers.of(row);
  if (found !== undefined) numbers.set(fitted, found);
  return fitted;
}
