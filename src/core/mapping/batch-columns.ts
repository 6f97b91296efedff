/** The columns that a mapping needs of a batch, with texts filled down. */
import { Inlet, type Memory } from '../memory.ts';
import { trimWhiteSpace } from '../text.ts';
import type { CodedColumn, Batch, ColumnNeed, Texts, ValueColumn } from './column-batch.ts';
import { ValuesOfTexts } from './row-coder.ts';

const noRagged: ReadonlyMap<number, number> = new Map();

/** The code of an empty field below a row that could not be read: nobody knows which text it would take. */
const unknown = -1;

interface FilledColumn {
  readonly column: number;
  /** The last text that was not empty; `undefined` below a row that could not be read. */
  above: string | undefined;
  codes: Int32Array;
  /** Whether that text is a number, see `ValueColumn`. */
  isAboveNumber: boolean;
  /** By row, 1 where the text that it has is a number; `undefined` where none is. */
  numbers: Uint8Array | undefined;
}

/** Where the values of a column are in a memory. */
export interface PlacedValues {
  readonly mantissas: number;
  readonly scales: number;
  /** 0: all that are read are canonical. */
  readonly spelled: number;
}

/** Holds one batch at a time. */
export class BatchColumns {
  count = 0;
  /** See `Batch`. */
  ragged: ReadonlyMap<number, number> = noRagged;
  readonly #width: number;
  /** By column. */
  readonly #coded: (CodedColumn | undefined)[];
  readonly #values: (ValueColumn | undefined)[];
  readonly #filled: readonly FilledColumn[];
  readonly #filledValues: ReadonlyMap<FilledColumn, ValuesOfTexts>;
  readonly #memory: Memory;
  /** By column. */
  readonly #codesIn: Inlet[] = [];
  readonly #mantissasIn: Inlet[] = [];
  readonly #scalesIn: Inlet[] = [];
  readonly #spelledIn: Inlet[] = [];
  /** By column, where they were put already. */
  readonly #placedCodes = new Map<number, number>();
  readonly #placedValues = new Map<number, PlacedValues>();

  /**
   * @param memory where the columns of a batch are put when they are needed there
   * @param needs by column
   * @param fillDown columns whose empty fields take the text of the row above
   */
  constructor(memory: Memory, needs: readonly ColumnNeed[], fillDown: readonly number[]) {
    this.#memory = memory;
    this.#width = needs.length;
    this.#coded = needs.map(() => undefined);
    this.#values = needs.map(() => undefined);
    this.#filled = fillDown.map((column) => ({
      column,
      above: '',
      codes: new Int32Array(0),
      isAboveNumber: false,
      numbers: undefined,
    }));
    const values = this.#filled.filter(({ column }) => needs[column]?.isValue === true);
    this.#filledValues = new Map(values.map((filled) => [filled, new ValuesOfTexts()]));
  }

  /** @param isFaulty whether a field stands for no text */
  take(from: Batch, isFaulty?: (at: number, column: number) => boolean): void {
    this.count = from.count;
    this.ragged = from.ragged;
    this.#placedCodes.clear();
    this.#placedValues.clear();
    for (let column = 0; column < this.#width; column++) {
      this.#coded[column] = from.coded[column];
      this.#values[column] = from.values[column];
    }
    for (const filled of this.#filled) this.#fill(filled, isFaulty);
    for (const [{ column, numbers }, values] of this.#filledValues) {
      const { texts, codes } = this.coded(column);
      const textAt = (at: number): string => (codes[at] === unknown ? '' : texts.text(codes[at] as number));
      this.#values[column] = values.take(this.count, textAt, numbers && ((at) => numbers[at] === 1));
    }
  }

  coded(column: number): CodedColumn {
    return this.#coded[column] as CodedColumn;
  }

  values(column: number): ValueColumn {
    return this.#values[column] as ValueColumn;
  }

  /** Where the codes of a column are in the memory, by row. */
  codesAddress(column: number): number {
    let address = this.#placedCodes.get(column);
    if (address === undefined) {
      address = (this.#codesIn[column] ??= new Inlet(this.#memory)).put(this.coded(column).codes, this.count);
      this.#placedCodes.set(column, address);
    }
    return address;
  }

  /** Where the values of a column are in the memory, by row. */
  valuesAddress(column: number): PlacedValues {
    let placed = this.#placedValues.get(column);
    if (placed === undefined) {
      const { mantissas, scales, spelled } = this.values(column);
      placed = {
        mantissas: (this.#mantissasIn[column] ??= new Inlet(this.#memory)).put(mantissas, this.count),
        scales: (this.#scalesIn[column] ??= new Inlet(this.#memory)).put(scales, this.count),
        spelled:
          spelled === undefined ? 0 : (this.#spelledIn[column] ??= new Inlet(this.#memory)).put(spelled, this.count),
      };
      this.#placedValues.set(column, placed);
    }
    return placed;
  }

  /** The field that a mapping needs, as a text; the empty one where the text that it would take is not known. */
  text(column: number, at: number): string {
    const coded = this.#coded[column];
    if (coded === undefined) return this.values(column).text(at);
    const code = coded.codes[at] as number;
    return code === unknown ? '' : coded.texts.text(code);
  }

  /** Whether the text that an empty field of a column would take is not known; without a column: of any. */
  isUnfilled(at: number, column?: number): boolean {
    return this.#filled.some(
      (filled) => filled.codes[at] === unknown && (column === undefined || column === filled.column),
    );
  }

  get hasFilled(): boolean {
    return this.#filled.length > 0;
  }

  /** Empty fields take the text of the row above, whatever `where` makes of either row. */
  #fill(filled: FilledColumn, isFaulty: ((at: number, column: number) => boolean) | undefined): void {
    const column = this.coded(filled.column);
    const { texts } = column;
    const isEmpty = new EmptyTexts(texts);
    const isNumber = this.#values[filled.column]?.isNumber;
    filled.numbers = isNumber === undefined && !filled.isAboveNumber ? undefined : new Uint8Array(this.count);
    let above = filled.above === undefined ? unknown : texts.code(filled.above);
    // Only now: a text that is new may move the codes.
    const { codes } = column;
    if (filled.codes.length < this.count) filled.codes = new Int32Array(codes.length);
    for (let at = 0; at < this.count; at++) {
      const isRagged = this.ragged.has(at);
      const isOwnFault = !isRagged && isFaulty?.(at, filled.column) === true;
      const isUnknown = isRagged || isOwnFault;
      if (isUnknown || !isEmpty.has(codes[at] as number)) {
        above = isUnknown ? unknown : (codes[at] as number);
        filled.isAboveNumber = !isUnknown && isNumber?.(at) === true;
      }
      // A condition may name what stands there.
      filled.codes[at] = isOwnFault ? (codes[at] as number) : above;
      if (filled.numbers !== undefined && filled.isAboveNumber) filled.numbers[at] = 1;
    }
    filled.above = above === unknown ? undefined : texts.text(above);
    this.#coded[filled.column] = { texts, codes: filled.codes };
  }
}

/** Which texts of a column are nothing but white space. */
class EmptyTexts {
  readonly #texts: Texts;
  readonly #known: (boolean | undefined)[] = [];

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  has(code: number): boolean {
    return (this.#known[code] ??= trimWhiteSpace(this.#texts.text(code)) === '');
  }
}
