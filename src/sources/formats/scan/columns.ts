/** The columns of a batch, which a kernel fills. */
import type { CodedColumn, ColumnNeed, ValueColumn } from '../../../core/mapping/column-batch.ts';
import { mantissaText } from '../../../core/numbers/mantissa.ts';
import { Dictionary } from './dictionary.ts';
import type { Kernel } from './kernel/kernel.ts';
import {
  codesAt,
  columnBytes,
  columnsAt,
  mantissasAt,
  needsAt,
  needsCodes,
  needsValues,
  placesAt,
  scalesAt,
  widthAt,
} from './kernel/layout.ts';
import type { TextBytes } from './text-bytes.ts';

/** The numbers of a column's texts. */
export class Codes implements CodedColumn {
  readonly texts: Dictionary;
  codes!: Int32Array;

  constructor(kernel: Kernel, texts: Dictionary, rowsMax: number) {
    this.texts = texts;
    const address = kernel.allocate(4 * rowsMax);
    kernel.set(texts.column + codesAt, address);
    kernel.follow(() => {
      this.codes = kernel.ints.subarray(address >> 2, (address >> 2) + rowsMax);
    });
  }
}

/** The decimals of a column. */
export class Decimals implements ValueColumn {
  mantissas!: Float64Array;
  scales!: Int8Array;
  /** Where the fields begin whose scale is -1; -1 where the row has no such field. */
  places!: Int32Array;
  /** The text of the field that begins in the block at a place. */
  readonly #textAt: (place: number) => string;

  constructor(kernel: Kernel, column: number, rowsMax: number, textAt: (place: number) => string) {
    this.#textAt = textAt;
    const [mantissas, scales, places] = [8, 1, 4].map((bytes) => kernel.allocate(bytes * rowsMax)) as [
      number,
      number,
      number,
    ];
    kernel.set(column + mantissasAt, mantissas);
    kernel.set(column + scalesAt, scales);
    kernel.set(column + placesAt, places);
    kernel.follow(() => {
      const { buffer } = kernel.ints;
      this.mantissas = new Float64Array(buffer, mantissas, rowsMax);
      this.scales = new Int8Array(buffer, scales, rowsMax);
      this.places = new Int32Array(buffer, places, rowsMax);
    });
  }

  text(row: number): string {
    const scale = this.scales[row] as number;
    if (scale >= 0) return mantissaText(this.mantissas[row] as number, scale);
    const place = this.places[row] as number;
    return place < 0 ? '' : this.#textAt(place);
  }
}

/** What a scanner makes of the columns of its format. */
export interface ScanColumns {
  readonly coded: readonly (Codes | undefined)[];
  readonly values: readonly (Decimals | undefined)[];
}

/** Gives each column that is needed its place in the memory of the kernel. @param textAt of a field that begins in the block there */
export function placeColumns(
  kernel: Kernel,
  needs: readonly ColumnNeed[],
  { encoding, rowsMax, textAt }: { encoding: TextBytes; rowsMax: number; textAt: (place: number) => string },
): ScanColumns {
  const columns = kernel.allocate(Math.max(1, needs.length) * columnBytes);
  kernel.set(kernel.context + columnsAt, columns);
  kernel.set(kernel.context + widthAt, needs.length);
  const place = (at: number): number => columns + at * columnBytes;
  for (const [at, { isCoded, isValue }] of needs.entries()) {
    kernel.set(place(at) + needsAt, (isCoded ? needsCodes : 0) | (isValue ? needsValues : 0));
  }
  return {
    coded: needs.map(({ isCoded }, at) =>
      isCoded ? new Codes(kernel, new Dictionary(kernel, encoding, place(at)), rowsMax) : undefined,
    ),
    values: needs.map(({ isValue }, at) => (isValue ? new Decimals(kernel, place(at), rowsMax, textAt) : undefined)),
  };
}
