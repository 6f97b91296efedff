/** The table of one sheet of a workbook, and which sheet that is. */
import { AgentError } from '../../core/errors.ts';
import type { Row, RowBatch } from '../../core/model.ts';
import type { PartFile } from '../files/part-file.ts';
import type { FormatContent } from '../files/place.ts';
import type { TableSettings } from './table.ts';
import { Table } from './table.ts';
import { readSheet } from './workbook-sheet.ts';
import type { Sheet, Workbook } from './workbook.ts';
import { openWorkbook } from './workbook.ts';

/** A sheet by its name, by its place among the tabs from 1, or (`undefined`) the first that is shown. */
export type SheetChoice = string | number | undefined;

export interface WorkbookSettings extends TableSettings {
  /** How many bytes a workbook may expand to. */
  readonly expandedMax: number;
}

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
  const table = new Table(settings, `${file.name} sheet ${sheet.name}`);
  for await (const rows of gathered(readSheet(workbook, sheet, settings.skipRows))) {
    const batch = table.take(rows);
    if (batch === undefined) continue;
    yield { ...squared(batch), share: workbook.zip.shareOf(sheet.entry) };
    // Only what reads the file notices an abort, and the rest of a small one is in memory already.
    await file.byteAt(0);
  }
  const batch = table.end();
  if (batch !== undefined) yield squared(batch);
  return {};
}

/** The names of the sheets that a pattern takes, in the order of their tabs. @throws AgentError `part.unreadable` */
export async function listSheets(file: PartFile, expandedMax: number, pattern: RegExp): Promise<readonly string[]> {
  const { sheets } = await openWorkbook(file, expandedMax);
  const matching = sheets.filter(({ name, kind }) => kind === 'worksheet' && pattern.test(name));
  const shown = matching.filter(({ isHidden }) => !isHidden);
  if (shown.length > 0) return shown.map(({ name }) => name);
  throw new AgentError('source.unreadable', `${file.name}: no sheet matches ${String(pattern)}`, {
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
    throw new AgentError('part.unreadable', `${file.name} has no sheet ${choice}`, { hint: thereAre(sheets) });
  }
  if (sheet.kind !== 'worksheet') {
    throw new AgentError('part.unreadable', `${file.name}: sheet ${sheet.name} is no table (${sheet.kind})`, {
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

async function* gathered(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[], void, void> {
  let rows: Row[] = [];
  let cells = 0;
  for await (const batch of batches) {
    for (const row of batch) {
      rows.push(row);
      cells += row.length;
    }
    if (cells < batchCells) continue;
    yield rows;
    rows = [];
    cells = 0;
  }
  yield rows;
}

/** A spreadsheet has no ragged rows: what is missing at the end of one is empty. A surplus that says something stays. */
function squared(batch: RowBatch): RowBatch {
  const { columns } = batch;
  const missing = columns.map(() => '');
  return {
    ...batch,
    rows: batch.rows.map((row) => (row.length >= columns.length ? row : [...row, ...missing.slice(row.length)])),
  };
}
