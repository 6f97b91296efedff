/** The columns of a batch, which a kernel fills. */
import {
  type CodedColumn,
  type ColumnNeed,
  type ValueColumn,
  type WrittenBy,
  isNumberTold,
} from '../../../core/mapping/column-batch.ts';
import { mantissaText } from '../../../core/numbers/mantissa.ts';
import { currencySigns } from '../../../core/numbers/spelling.ts';
import { canonical, marksShift, written } from '../../../core/numbers/spelling-bits.ts';
import { Dictionary } from './dictionary.ts';
import type { Kernel } from './kernel/kernel.ts';
import {
  codesAt,
  columnBytes,
  columnsAt,
  currenciesAt,
  currencyBytes,
  mantissasAt,
  marksAt,
  needsAt,
  needsCodes,
  needsKinds,
  needsValues,
  placesAt,
  scalesAt,
  spelledAt,
  spellingAt,
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
  /** Where the fields begin that are not canonical; -1 where the row has no such field. */
  places!: Int32Array;
  /** Where the column is read by its marks. */
  spelled?: Int32Array;
  isNumber?: (row: number) => boolean;
  /** The text of the field that begins in the block at a place. */
  readonly #textAt: (place: number) => string;
  readonly #kernel: Kernel;
  readonly #column: number;
  readonly #rowsMax: number;

  constructor(kernel: Kernel, column: number, rowsMax: number, textAt: (place: number) => string) {
    this.#kernel = kernel;
    this.#column = column;
    this.#rowsMax = rowsMax;
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

  /** Has the kernel read values by these marks too. @param currencies where the encoding's signs are */
  readBy({ decimal, group = '', isAccounting, marks }: WrittenBy, currencies: number): void {
    const spelled = this.#kernel.allocate(4 * this.#rowsMax);
    const bytes = decimal.charCodeAt(0) | ((group.charCodeAt(0) || 0) << 8) | ((isAccounting ? 1 : 0) << 16);
    for (const [at, value] of [
      [marksAt, bytes],
      [spellingAt, written | (marks << marksShift)],
      [spelledAt, spelled],
      [currenciesAt, currencies],
    ] as const) {
      this.#kernel.set(this.#column + at, value);
    }
    this.#kernel.follow(() => {
      this.spelled = this.#kernel.ints.subarray(spelled >> 2, (spelled >> 2) + this.#rowsMax);
    });
  }

  /** Has the kernel leave texts alone. @param numberAt whether the field that begins in the block at a place is a number */
  tellNumbers(numberAt: (place: number) => boolean): void {
    this.#kernel.set(this.#column + needsAt, this.#kernel.get(this.#column + needsAt) | needsKinds);
    this.isNumber = (row) => {
      const place = this.places[row] as number;
      return (this.scales[row] as number) >= 0 || (place >= 0 && numberAt(place));
    };
  }

  text(row: number): string {
    const scale = this.scales[row] as number;
    if (scale >= 0 && (this.spelled === undefined || this.spelled[row] === canonical))
      return mantissaText(this.mantissas[row] as number, scale);
    const place = this.places[row] as number;
    return place < 0 ? '' : this.#textAt(place);
  }
}

/** What a scanner makes of the columns of its format. */
export interface ScanColumns {
  readonly coded: readonly (Codes | undefined)[];
  readonly values: readonly (Decimals | undefined)[];
}

/**
 * Gives each column that is needed its place in the memory of the kernel.
 * @param textAt of a field that begins in the block there; @param isMarked whether values are read by the marks of their column
 * @param numberAt whether such a field is a number, where others are texts
 */
export function placeColumns(
  kernel: Kernel,
  needs: readonly ColumnNeed[],
  {
    encoding,
    rowsMax,
    textAt,
    isMarked,
    numberAt,
  }: {
    encoding: TextBytes;
    rowsMax: number;
    textAt: (place: number) => string;
    isMarked: boolean;
    numberAt?: (place: number) => boolean;
  },
): ScanColumns {
  const columns = kernel.allocate(Math.max(1, needs.length) * columnBytes);
  kernel.set(kernel.context + columnsAt, columns);
  kernel.set(kernel.context + widthAt, needs.length);
  const place = (at: number): number => columns + at * columnBytes;
  for (const [at, { isCoded, isValue }] of needs.entries()) {
    kernel.set(place(at) + needsAt, (isCoded ? needsCodes : 0) | (isValue ? needsValues : 0));
  }
  const values = needs.map(({ isValue }, at) =>
    isValue ? new Decimals(kernel, place(at), rowsMax, textAt) : undefined,
  );
  if (isMarked && needs.some(({ writtenBy }) => writtenBy !== undefined)) {
    const currencies = placeCurrencies(kernel, encoding);
    for (const [at, { writtenBy }] of needs.entries()) if (writtenBy) values[at]?.readBy(writtenBy, currencies);
  }
  if (numberAt !== undefined) {
    for (const [at, need] of needs.entries()) if (isNumberTold(need)) values[at]?.tellNumbers(numberAt);
  }
  return {
    coded: needs.map(({ isCoded }, at) =>
      isCoded ? new Codes(kernel, new Dictionary(kernel, encoding, place(at)), rowsMax) : undefined,
    ),
    values,
  };
}

/** @returns where they are, as `layout.ts` says */
function placeCurrencies(kernel: Kernel, encoding: TextBytes): number {
  const address = kernel.allocate(currencySigns.length * currencyBytes);
  for (const [sign, text] of currencySigns.entries()) {
    const bytes = encoding.encode(text) ?? Buffer.alloc(0);
    kernel.bytes.set([bytes.length, ...bytes], address + sign * currencyBytes);
  }
  return address;
}
