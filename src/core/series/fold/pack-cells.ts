/** Packs the drivers of a fold from its columns, without an object or a text for a point. */
import { averageDecimal } from '../../numbers/arithmetic.ts';
import type { Place, Rule } from '../../model.ts';
import { BlobWriter } from '../blob.ts';
import type { CellTable } from './cell-table.ts';
import { type PackedDriver, type Tie, type TiedReading, packTies } from '../packing.ts';
import { isAdding } from '../rule.ts';
import type { TieFinder } from './tie-finder.ts';

const points = new BlobWriter();
const origins = new BlobWriter();

/** What cells are packed with. */
export interface PackedWith {
  readonly rule: Rule;
  /** See `FoldedDriver`. */
  readonly pathPlace: Place;
  /** How many rows of the part stand before those that were counted from 1. */
  readonly rowsBefore: number;
}

/** The cells of one driver, in the order of months, in the blobs of `packing.ts`. */
export function packCells(
  list: readonly number[],
  { cells, ties }: { readonly cells: CellTable; readonly ties: TieFinder },
  { rule, pathPlace, rowsBefore }: PackedWith,
): Pick<PackedDriver, 'points' | 'origins' | 'ties'> {
  points.reset();
  origins.reset();
  points.varint(list.length);
  origins.place(pathPlace);
  let month = 0;
  for (const cell of list) {
    const cellMonth = cells.month(cell);
    points.varint(cellMonth - month);
    month = cellMonth;
    origins.seconds(cells.seconds(cell));
    origins.varint(cells.nanos(cell));
    origins.varint(rowsBefore + cells.row(cell));
    origins.varint(pathPlace.part);
    origins.varint(cells.readings(cell));
    if (isAdding(rule)) packAdded(cells, cell, rule);
    else packTaken(cells, cell);
  }
  const found = ties.size === 0 ? [] : tiesOf(list, ties, rowsBefore);
  return { points: points.copy(), origins: origins.copy(), ties: packTies(found) };
}

/** Writes the value of a single reading, and its text as read. */
function packTaken(cells: CellTable, cell: number): void {
  const scale = cells.scale(cell);
  const text = cells.readText(cell);
  if (scale >= 0) points.decimal(cells.mantissa(cell), scale, 0);
  else points.text(cells.valueText(cell), 0);
  if (text === '' || text === cells.valueText(cell)) origins.varint(0);
  else origins.text(text, 1);
}

/** Writes a value that readings were added to, and the text of the latest one. */
function packAdded(cells: CellTable, cell: number, rule: Rule): void {
  const sum = cells.valueText(cell);
  const count = cells.readings(cell);
  const value = rule === 'average' ? averageDecimal(sum, count) : rule === 'count' ? String(count) : sum;
  const text = cells.readText(cell) || sum;
  points.text(value, 0);
  if (text === value) origins.varint(0);
  else origins.text(text, 1);
  if (rule === 'average') origins.text(sum, 0);
}

function tiesOf(list: readonly number[], ties: TieFinder, rows: number): { index: number; tie: Tie }[] {
  const moved = (reading: TiedReading): TiedReading => ({ ...reading, row: rows + reading.row });
  return list.flatMap((cell, index) => {
    const tie = ties.of(cell);
    return tie === undefined ? [] : [{ index, tie: { ...tie, left: moved(tie.left), kept: moved(tie.kept) } }];
  });
}
