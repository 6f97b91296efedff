/** Which fields of rows are stored as numbers, where others of their column may be texts. */
import type { FieldKind, Row } from '../../core/model.ts';

/** By column: whether the field is a number whose text has a point. */
export type NumbersOfRow = readonly (boolean | undefined)[];

/** By the row itself, as problems are in `FieldFaults`. */
export class FieldNumbers {
  readonly #numbers = new WeakMap<Row, NumbersOfRow>();
  #hasAny = false;

  set(row: Row, numbers: NumbersOfRow): void {
    this.#numbers.set(row, numbers);
    this.#hasAny = true;
  }

  of(row: Row): NumbersOfRow | undefined {
    return this.#hasAny ? this.#numbers.get(row) : undefined;
  }

  /** The `isNumber` of a batch of these rows. */
  batchOf(rows: readonly Row[]): { readonly isNumber?: FieldKind } {
    if (!this.#hasAny) return {};
    const numbers = rows.map((row) => this.#numbers.get(row));
    if (numbers.every((found) => found === undefined)) return {};
    return { isNumber: (row, column) => numbers[row]?.[column] === true };
  }
}

/** The same where columns have types. @param numbers by column: whether its fields are numbers */
export function numberColumns(numbers: readonly boolean[]): { readonly isNumber?: FieldKind } {
  return numbers.includes(true) ? { isNumber: (_row, column) => numbers[column] === true } : {};
}
