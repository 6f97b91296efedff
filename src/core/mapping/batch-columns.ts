/** The columns that a mapping needs of a batch, whether the source gave columns or rows of texts. */
import type { Row } from '../model.ts';
import { readMantissa } from '../numbers/mantissa.ts';
import { trimWhiteSpace } from '../text.ts';
import type { Batch, CodedColumn, ColumnBatch, ColumnNeed, Texts, ValueColumn } from './column-batch.ts';
import { TextCoder } from './text-coder.ts';

const noRagged: ReadonlyMap<number, number> = new Map();

/** What a row below one that could not be read is told instead of the text above it. */
const unknown = -1;

interface FilledColumn {
  readonly column: number;
  /** The last text that was not empty; `undefined` below a row that could not be read. */
  above: string | undefined;
  codes: Int32Array;
}

/** Holds one batch at a time. */
export class BatchColumns {
  count = 0;
  /** See `ColumnBatch`. */
  ragged: ReadonlyMap<number, number> = noRagged;
  readonly #width: number;
  /** By column. */
  readonly #coded: (CodedColumn | undefined)[];
  readonly #values: (ValueColumn | undefined)[];
  readonly #fromRows: ColumnsOfRows;
  readonly #filled: readonly FilledColumn[];
  readonly #filledValues: ReadonlyMap<number, ValuesOfTexts>;

  /**
   * @param needs by column
   * @param fillDown columns whose empty fields take the text of the row above
   */
  constructor(needs: readonly ColumnNeed[], fillDown: readonly number[]) {
    this.#width = needs.length;
    this.#coded = needs.map(() => undefined);
    this.#values = needs.map(() => undefined);
    this.#fromRows = new ColumnsOfRows(needs);
    this.#filled = fillDown.map((column) => ({ column, above: '', codes: new Int32Array(0) }));
    const values = fillDown.filter((column) => needs[column]?.isValue === true);
    this.#filledValues = new Map(values.map((column) => [column, new ValuesOfTexts()]));
  }

  /** @param isFaulty of a field that stands for no text */
  take(batch: Batch, isFaulty?: (at: number, column: number) => boolean): void {
    const from: Pick<ColumnBatch, 'coded' | 'values' | 'ragged' | 'count'> =
      'rows' in batch ? this.#fromRows.take(batch.rows) : batch;
    this.count = from.count;
    this.ragged = from.ragged;
    for (let column = 0; column < this.#width; column++) {
      this.#coded[column] = from.coded[column];
      this.#values[column] = from.values[column];
    }
    for (const filled of this.#filled) this.#fill(filled, isFaulty);
    for (const [column, values] of this.#filledValues) {
      const { texts, codes } = this.coded(column);
      const textAt = (at: number): string => (codes[at] === unknown ? '' : texts.text(codes[at] as number));
      this.#values[column] = values.take(this.count, textAt);
    }
  }

  coded(column: number): CodedColumn {
    return this.#coded[column] as CodedColumn;
  }

  values(column: number): ValueColumn {
    return this.#values[column] as ValueColumn;
  }

  /** The field that a mapping needs, as a text. */
  text(column: number, at: number): string {
    const coded = this.#coded[column];
    return coded === undefined ? this.values(column).text(at) : coded.texts.text(coded.codes[at] as number);
  }

  /** Whether the text that an empty field would take is not known. */
  isUnfilled(at: number): boolean {
    return this.#filled.some(({ codes }) => codes[at] === unknown);
  }

  get hasFilled(): boolean {
    return this.#filled.length > 0;
  }

  /** Empty fields take the text of the row above, whatever `where` makes of either row. */
  #fill(filled: FilledColumn, isFaulty: ((at: number, column: number) => boolean) | undefined): void {
    const { texts, codes } = this.coded(filled.column);
    if (filled.codes.length < this.count) filled.codes = new Int32Array(codes.length);
    const isEmpty = new EmptyTexts(texts);
    let above = filled.above === undefined ? unknown : texts.code(filled.above);
    for (let at = 0; at < this.count; at++) {
      if (this.ragged.has(at) || isFaulty?.(at, filled.column) === true) above = unknown;
      else if (!isEmpty.has(codes[at] as number)) above = codes[at] as number;
      filled.codes[at] = above;
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

/** Codes the texts of rows; reads their decimals. */
class ColumnsOfRows {
  readonly #needs: readonly ColumnNeed[];
  readonly #coders: readonly (TextCoder | undefined)[];
  readonly #values: readonly (ValuesOfTexts | undefined)[];
  #codes: Int32Array[] = [];

  constructor(needs: readonly ColumnNeed[]) {
    this.#needs = needs;
    this.#coders = needs.map(({ isCoded }) => (isCoded ? new TextCoder() : undefined));
    this.#values = needs.map(({ isValue }) => (isValue ? new ValuesOfTexts() : undefined));
    this.#codes = needs.map(() => new Int32Array(0));
  }

  take(rows: readonly Row[]): Pick<ColumnBatch, 'coded' | 'values' | 'ragged' | 'count'> {
    const width = this.#needs.length;
    let ragged: Map<number, number> | undefined;
    for (const [at, row] of rows.entries()) if (row.length !== width) (ragged ??= new Map()).set(at, row.length);
    const coded = this.#coders.map((texts, column) => texts && { texts, codes: this.#code(rows, column, texts) });
    const values = this.#values.map((one, column) => one?.take(rows.length, (at) => rows[at]?.[column] ?? ''));
    return { count: rows.length, ragged: ragged ?? noRagged, coded, values };
  }

  #code(rows: readonly Row[], column: number, coder: TextCoder): Int32Array {
    coder.bound();
    let codes = this.#codes[column] as Int32Array;
    if (codes.length < rows.length) codes = this.#codes[column] = new Int32Array(rows.length);
    for (let at = 0; at < rows.length; at++) codes[at] = coder.code((rows[at] as Row)[column] ?? '');
    return codes;
  }
}

/** The decimals of texts. */
class ValuesOfTexts implements ValueColumn {
  mantissas = new Float64Array(0);
  scales = new Int8Array(0);
  #texts: (at: number) => string = () => '';

  /** Reads those of a batch. */
  take(count: number, texts: (at: number) => string): this {
    this.#texts = texts;
    if (this.scales.length < count) {
      this.mantissas = new Float64Array(count);
      this.scales = new Int8Array(count);
    }
    for (let at = 0; at < count; at++) readMantissa(texts(at), at, this);
    return this;
  }

  text(at: number): string {
    return this.#texts(at);
  }
}
