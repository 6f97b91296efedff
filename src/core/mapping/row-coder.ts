/** Rows of texts to columns, for sources that give rows. */
import type { FieldKind, Row, RowBatch } from '../model.ts';
import { readMantissa } from '../numbers/mantissa.ts';
import { type Batch, type ColumnNeed, type ColumnNeeds, type ValueColumn, isNumberTold } from './column-batch.ts';
import { TextCoder } from './text-coder.ts';

const noRagged: ReadonlyMap<number, number> = new Map();

/** For the batches of one part, in their order. */
export class RowCoder {
  readonly #needs: ColumnNeeds;
  #columns: CodedColumns | undefined;

  constructor(needs: ColumnNeeds) {
    this.#needs = needs;
  }

  /** The batch holds until the next one is asked for. */
  batch({ rows, lines, isNumber, ...batch }: RowBatch): Batch {
    this.#columns ??= new CodedColumns(this.#needs(batch.columns));
    return {
      ...batch,
      ...this.#columns.take(rows, isNumber),
      row: (at) => rows[at] as Row,
      ...(lines !== undefined && { line: (at: number) => lines[at] as number }),
    };
  }
}

/** All batches of a part as columns. */
export async function* asColumns<End>(
  batches: AsyncGenerator<RowBatch | Batch, End, void>,
  { needs }: { readonly needs: ColumnNeeds },
): AsyncGenerator<Batch, End, void> {
  const coder = new RowCoder(needs);
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return next.value;
      yield 'rows' in next.value ? coder.batch(next.value) : next.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}

class CodedColumns {
  readonly #needs: readonly ColumnNeed[];
  readonly #coders: readonly (TextCoder | undefined)[];
  readonly #values: readonly (ValuesOfTexts | undefined)[];
  readonly #codes: Int32Array[];

  constructor(needs: readonly ColumnNeed[]) {
    this.#needs = needs;
    this.#coders = needs.map(({ isCoded }) => (isCoded ? new TextCoder() : undefined));
    this.#values = needs.map(({ isValue }) => (isValue ? new ValuesOfTexts() : undefined));
    this.#codes = needs.map(() => new Int32Array(0));
  }

  take(rows: readonly Row[], isNumber: FieldKind | undefined): Pick<Batch, 'coded' | 'values' | 'ragged' | 'count'> {
    const width = this.#needs.length;
    let ragged: Map<number, number> | undefined;
    for (const [at, row] of rows.entries()) if (row.length !== width) (ragged ??= new Map()).set(at, row.length);
    const coded = this.#coders.map((texts, column) => texts && { texts, codes: this.#code(rows, column, texts) });
    const values = this.#values.map((one, column) => {
      const isTold = isNumber !== undefined && isNumberTold(this.#needs[column]);
      const isOne = isTold ? (at: number): boolean => isNumber(at, column) : undefined;
      return one?.take(rows.length, (at) => rows[at]?.[column] ?? '', isOne);
    });
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
export class ValuesOfTexts implements ValueColumn {
  mantissas = new Float64Array(0);
  scales = new Int8Array(0);
  isNumber: ((at: number) => boolean) | undefined;
  #texts: (at: number) => string = () => '';

  /** Reads those of a batch. @param isNumber see `ValueColumn` */
  take(count: number, texts: (at: number) => string, isNumber?: (at: number) => boolean): this {
    this.#texts = texts;
    this.isNumber = isNumber;
    if (this.scales.length < count) {
      this.mantissas = new Float64Array(count);
      this.scales = new Int8Array(count);
    }
    for (let at = 0; at < count; at++) readMantissa(texts(at), at, this);
    if (isNumber === undefined) return this;
    for (let at = 0; at < count; at++) if ((this.scales[at] as number) > 0 && !isNumber(at)) this.scales[at] = -1;
    return this;
  }

  text(at: number): string {
    return this.#texts(at);
  }
}
