/** Packs the drivers of a fold from its records, without an object or a text for a point. */
import { averageDecimal } from '../../numbers/arithmetic.ts';
import type { Place, Rule } from '../../model.ts';
import { BlobWriter } from '../blob.ts';
import type { CellTable } from './cell-table.ts';
import { type PackedDriver, type Tie, type TiedReading, packTies } from '../packing.ts';
import type { FoldKernel } from './kernel.ts';
import * as place from './layout.ts';
import type { TieFinder } from './tie-finder.ts';

const points = new BlobWriter();
const origins = new BlobWriter();

/** What a driver is packed with. */
export interface PackedWith {
  readonly driver: number;
  readonly newest: number;
  readonly rule: Rule;
  /** See `FoldedDriver`. */
  readonly pathPlace: Place;
  /** How many rows of the part stand before those that were counted from 1. */
  readonly rowsBefore: number;
}

type Packed = Pick<PackedDriver, 'points' | 'origins' | 'ties'>;

/** Packs the cells of drivers in the order of months, in the blobs of `packing.ts`. */
export class CellPacker {
  readonly #kernel: FoldKernel;
  readonly #cells: CellTable;
  readonly #ties: TieFinder;
  /** Where the kernel packs. */
  #room: { readonly order: number; readonly points: number; readonly origins: number } | undefined;

  constructor(kernel: FoldKernel, cells: CellTable, ties: TieFinder) {
    this.#kernel = kernel;
    this.#cells = cells;
    this.#ties = ties;
  }

  pack(driver: PackedWith): Packed {
    const packed = this.#packPlain(driver) ?? this.#packAny(driver);
    return { ...packed, ties: packTies(this.#ties.size === 0 ? [] : this.#tiesOf(driver)) };
  }

  /** `undefined` where it has a value or a text that is no integer. */
  #packPlain({ driver, pathPlace, rowsBefore }: PackedWith): Omit<Packed, 'ties'> | undefined {
    const { call, context, memory } = this.#kernel;
    this.#room ??= {
      order: memory.allocate(4 * place.packedCellsMax),
      points: memory.allocate(place.packedHeadBytes + place.packedCellsMax * place.packedPointBytes),
      origins: memory.allocate(place.packedHeadBytes + place.packedCellsMax * place.packedOriginBytes),
    };
    const room = this.#room;
    const isPacked = call.pack(context, driver, pathPlace.part, rowsBefore, room.order, room.points, room.origins);
    if (isPacked === 0) return undefined;
    return {
      points: Buffer.from(memory.bytes.subarray(room.points, this.#kernel.get(place.pointsEndAt))),
      origins: Buffer.from(memory.bytes.subarray(room.origins, this.#kernel.get(place.originsEndAt))),
    };
  }

  #packAny({ newest, rule, pathPlace, rowsBefore }: PackedWith): Omit<Packed, 'ties'> {
    const cells = this.#cells;
    const list = cells.inOrder(newest);
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
      packValue(cells, cell, rule);
    }
    return { points: points.copy(), origins: origins.copy() };
  }

  #tiesOf({ newest, rowsBefore }: PackedWith): { index: number; tie: Tie }[] {
    const moved = (reading: TiedReading): TiedReading => ({ ...reading, row: rowsBefore + reading.row });
    return this.#cells.inOrder(newest).flatMap((cell, index) => {
      const tie = this.#ties.of(cell);
      return tie === undefined ? [] : [{ index, tie: { ...tie, left: moved(tie.left), kept: moved(tie.kept) } }];
    });
  }
}

/** Writes a value, and the text as read of the reading that its cell has. */
function packValue(cells: CellTable, cell: number, rule: Rule): void {
  const sum = cells.valueText(cell);
  const count = cells.readings(cell);
  const value = rule === 'average' ? averageDecimal(sum, count) : rule === 'count' ? String(count) : sum;
  const text = cells.readText(cell) || sum;
  points.text(value, 0);
  if (text === value) origins.varint(0);
  else origins.text(text, 1);
  if (rule === 'average') origins.text(sum, 0);
}
